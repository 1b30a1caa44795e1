//! `notifications/cancelled` on the legacy lane: which calls it ends, and what becomes of who waits for them.

use std::time::Duration;

use serde_json::{Value, json};
use twolane::Limits;

use crate::get_streams::get;
use crate::limits::changed;
use crate::resuming::{call, server};
use crate::support::{Protocol, Request, Server, Source, messages};

fn cancelled(session: &str, id: &Value) -> Request {
    let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}});
    messages::legacy(session, &message).without("MCP-Protocol-Version")
}

/// A call that sends nothing before its answer.
fn quiet(session: &str, id: &Value) -> Request {
    let message = messages::request(id.clone(), "tools/call", messages::call("gate", json!({})));
    messages::legacy(session, &message).without("MCP-Protocol-Version")
}

/// Sends a request on a connection of its own, and waits until its call has been going on for a while.
fn begun<'s>(
    scope: &'s std::thread::Scope<'s, '_>,
    server: &'s Server,
    protocol: Protocol,
    request: Request,
) -> std::thread::ScopedJoinHandle<'s, crate::support::Response> {
    let before = server.tools.gate.fates().begun;
    let waiting = scope.spawn(move || server.client(protocol).send(&request));
    server.tools.gate.await_begun(before + 1);
    // Its connection's turn is over when the server answers the next one: one thread serves them all.
    assert_eq!(server.send(&messages::modern(1, "server/discover", Value::Null)).status, 200);
    waiting
}

#[test]
fn a_call_is_cancelled_by_its_id() {
    let server = Server::start();
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        for protocol in Protocol::BOTH {
            for (sent, named) in [
                (json!(7), json!(7)),
                (json!("7"), json!("7")),
                (json!(1.0), json!(1)),
                (json!("\u{e9}\"\\"), json!("\u{e9}\"\\")),
            ] {
                let session = server.session_of(version);
                let before = server.tools.gate.fates().dropped;
                std::thread::scope(|scope| {
                    let waiting = begun(scope, &server, protocol, quiet(&session, &sent));
                    for other in [json!(8), json!("x"), json!(null), json!([7]), json!({})] {
                        assert_eq!(server.send(&cancelled(&session, &other)).status, 202);
                    }
                    let foreign = server.session_of(version);
                    assert_eq!(server.send(&cancelled(&foreign, &named)).status, 202);
                    assert_eq!(
                        server.tools.gate.fates().dropped,
                        before,
                        "neither another id nor another session"
                    );
                    assert_eq!(server.send(&cancelled(&session, &named)).status, 202);
                    let response = waiting.join().unwrap();
                    let error = json!({"code": -32000, "message": "Request was cancelled"});
                    assert_eq!((response.status, &response.json()["error"]), (200, &error), "{response}");
                    assert_eq!(response.json()["id"], sent);
                });
                server.tools.gate.await_fates(|fates| fates.dropped == before + 1);
            }
        }
    }
}

/// Two calls with one id, as careless clients have them: each is answered on its own POST, and both are cancelled by it.
#[test]
fn one_id_twice_in_flight() {
    let server = Server::start();
    let session = server.session();
    for (round, protocol) in (0..).zip(Protocol::BOTH) {
        let id = json!("same");
        // First both are let go.
        let echo = |text: &str| {
            messages::legacy(
                &session,
                &messages::request("same", "tools/call", messages::call("sleep", json!({"ms": text.len()}))),
            )
        };
        let (server, echo) = (&server, &echo);
        let answers = std::thread::scope(|scope| {
            ["a", "longer"]
                .map(|text| scope.spawn(move || server.client(protocol).send(&echo(text))))
                .map(|waiting| waiting.join().unwrap().json()["id"].clone())
        });
        assert_eq!(answers, ["same", "same"]);
        std::thread::scope(|scope| {
            let waiting: Vec<_> =
                (0..2).map(|_| begun(scope, server, protocol, quiet(&session, &id))).collect();
            assert_eq!(server.send(&cancelled(&session, &id)).status, 202);
            for waiting in waiting {
                assert_eq!(waiting.join().unwrap().code(), -32000);
            }
        });
        server.tools.gate.await_fates(|fates| fates.dropped == 2 * (round + 1));
    }
}

/// A client that reads nothing of its stream holds its call up, but neither its time nor its end.
#[test]
fn a_stream_that_nobody_reads() {
    for cancels in [true, false] {
        for protocol in Protocol::BOTH {
            let (server, gate) = server(changed(&[
                ("replay_events", 4),
                ("replay_bytes", 4_096),
                ("stream_buffer", 8),
                ("tool_timeout", if cancels { 60_000 } else { 3_000 }),
            ]));
            let session = server.session();
            // More than sockets and windows hold.
            let arguments = json!({"paces": 100, "bytes": 2_000_000});
            gate.open(8);
            let mut post = Source::open(&server, protocol, &call(&session, 5, arguments));
            post.priming();
            gate.await_begun(9);
            std::thread::sleep(Duration::from_millis(50));
            // It goes on, until there is no room for what it sends either.
            gate.open(8);
            gate.await_begun(17);
            if cancels {
                assert_eq!(server.send(&cancelled(&session, &json!(5))).status, 202);
            }
            gate.await_fates(|fates| fates.dropped == 1);
            let last = post.rest().pop().expect("what was sent before");
            let answered = last.data.as_deref().unwrap_or_default().contains("did not finish within 3000 ms");
            assert_eq!(answered, !cancels);
        }
    }
}

/// A stream ends without an answer, also for a client that comes back to it, or that reads it somewhere else.
#[test]
fn a_stream_ends_without_an_answer() {
    for protocol in Protocol::BOTH {
        let (server, gate) = server(changed(&[("half_close_grace", 0)]));
        let session = server.session();
        let mut post = Source::open(&server, protocol, &call(&session, 5, json!({"paces": 2})));
        let primed = post.priming();
        let (first, _) = post.message();
        assert_eq!(server.send(&cancelled(&session, &json!(5))).status, 202);
        assert_eq!(post.rest(), []);
        gate.await_fates(|fates| fates.dropped == 1);
        let back = |last: &str| get(&session).header("Last-Event-ID", last);
        let rest = Source::open(&server, protocol, &back(&primed)).rest();
        assert_eq!(rest.len(), 1, "{rest:?}");
        assert_eq!(server.client(protocol).send(&back(&first)).status, 405);
        // One that nobody reads, and one that is read by whoever came back.
        for comes_back in [false, true] {
            let mut post = Source::open(&server, protocol, &call(&session, 6, json!({"paces": 2})));
            post.priming();
            let (first, _) = post.message();
            post.leave();
            server.wait_until("it is noticed", |server| server.handle.detached_calls() == 1);
            let source = comes_back.then(|| Source::open(&server, protocol, &back(&first)));
            assert_eq!(server.send(&cancelled(&session, &json!(6))).status, 202);
            if let Some(mut source) = source {
                assert_eq!(source.rest(), []);
            }
            server.wait_until("it is over", |server| server.handle.detached_calls() == 0);
        }
        gate.await_fates(|fates| fates.dropped == 3);
    }
}

/// In a batch the others are answered all the same.
#[test]
fn a_call_of_a_batch() {
    let server = Server::start();
    let session = server.session_of("2025-03-26");
    for protocol in Protocol::BOTH {
        let call = |id: &str| messages::request(id, "tools/call", messages::call("gate", json!({})));
        let batch = json!([call("one"), call("two")]).to_string();
        let begun_before = server.tools.gate.fates().begun;
        std::thread::scope(|scope| {
            let request = Request::post(batch).header("Mcp-Session-Id", &session);
            let server = &server;
            let waiting = scope.spawn(move || server.client(protocol).send(&request));
            server.tools.gate.await_begun(begun_before + 2);
            assert_eq!(server.send(&messages::modern(1, "server/discover", Value::Null)).status, 200);
            assert_eq!(server.send(&cancelled(&session, &json!("one"))).status, 202);
            server.tools.gate.open(1);
            let answers = waiting.join().unwrap().json();
            assert_eq!((&answers[0]["id"], &answers[0]["error"]["code"]), (&json!("one"), &json!(-32000)));
            assert_eq!(answers[1]["result"]["content"][0]["text"], "let go");
        });
    }
}

/// A blocking handler cannot be dropped, but it is told.
#[test]
fn a_blocking_handler_is_told() {
    let server = Server::start();
    let session = server.session();
    for (round, protocol) in (1..).zip(Protocol::BOTH) {
        let message = messages::request(1, "tools/call", messages::call("block", json!({})));
        std::thread::scope(|scope| {
            let waiting = begun(scope, &server, protocol, messages::legacy(&session, &message));
            assert_eq!(server.send(&cancelled(&session, &json!(1))).status, 202);
            assert_eq!(waiting.join().unwrap().code(), -32000);
        });
        server.tools.gate.await_fates(|fates| fates.cancelled == round);
    }
}

/// On the modern lane closing the response cancels; the notification is accepted and does nothing.
#[test]
fn the_modern_lane_takes_it_and_does_nothing() {
    let server = Server::start();
    let session = server.session();
    for protocol in Protocol::BOTH {
        std::thread::scope(|scope| {
            let waiting = begun(scope, &server, protocol, messages::modern_call(1, "gate", json!({})));
            let message =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
            let modern = Request::post(message.to_string()).header("MCP-Protocol-Version", messages::MODERN);
            assert_eq!(server.send(&modern).status, 202);
            assert_eq!(server.send(&cancelled(&session, &json!(1))).status, 202);
            server.tools.gate.open(1);
            assert_eq!(waiting.join().unwrap().tool_text(), "let go");
        });
    }
}

/// What has been answered, or never was, is cancelled without a word.
#[test]
fn too_late() {
    let (server, gate) = server(Limits::default());
    gate.open(100);
    let session = server.session();
    for protocol in Protocol::BOTH {
        let events = server.client(protocol).send(&call(&session, 5, json!({"paces": 2}))).messages();
        assert_eq!(events.len(), 3);
        assert_eq!(server.client(protocol).send(&cancelled(&session, &json!(5))).status, 202);
        assert_eq!(server.client(protocol).send(&call(&session, 5, json!({"paces": 1}))).messages().len(), 2);
    }
}
