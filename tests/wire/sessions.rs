//! Legacy sessions: how they begin and end, who may use them, and what they take.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::limits::server;
use crate::support::door::Keys;
use crate::support::{Protocol, Request, Server, Source, messages};

pub fn list() -> Value {
    messages::request(7, "tools/list", Value::Null)
}

/// `tools/list` in a session, with a version header or without one.
pub fn listing(session: &str, version: Option<&str>) -> Request {
    let request = messages::legacy(session, &list()).without("MCP-Protocol-Version");
    match version {
        Some(version) => request.header("MCP-Protocol-Version", version),
        None => request,
    }
}

#[track_caller]
fn assert_unknown(server: &Server, session: &str) {
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let post = client.send(&messages::legacy(session, &list()));
        assert_eq!((post.status, post.code()), (404, -32001), "{session}: {post}");
        assert_eq!(
            post.text(),
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"Session not found"}}"#
        );
        assert_eq!(post.header("mcp-session-id"), None);
        for message in
            [messages::notification("notifications/x"), json!({"jsonrpc": "2.0", "id": 1, "result": {}})]
        {
            let empty = client.send(&messages::legacy(session, &message));
            assert_eq!((empty.status, empty.body.len()), (404, 0), "{session}: {empty}");
        }
        for request in [Request::get(), Request::delete()] {
            let plain = client.send(&request.session(session));
            assert_eq!((plain.status, plain.text()), (404, r#"{"error":"Session not found"}"#), "{plain}");
        }
    }
}

#[test]
fn sessions_that_are_not_there() {
    let server = Server::start();
    let mut live = server.session();
    let cut = live[..42].to_owned();
    let long = format!("{live}A");
    let other = if live.ends_with('A') { "B" } else { "A" };
    live.replace_range(42.., other);
    let names = ["", "0f8fad5b-d9cb-469f-a165-70867728950e", "with a space", "null", &cut, &long, &live];
    for session in names.into_iter().chain([&*"x".repeat(300), &"A".repeat(43)]) {
        assert_unknown(&server, session);
    }
    assert_eq!(server.handle.sessions(), 1);
    let two = messages::legacy(&live, &list()).header("Mcp-Session-Id", &live);
    assert_eq!(server.send(&two).status, 400);
}

#[test]
fn requests_without_a_session() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for version in [None, Some(messages::LEGACY), Some("2025-03-26")] {
            let request = listing("", version).without("Mcp-Session-Id");
            let refused = client.send(&request);
            assert_eq!((refused.status, refused.code()), (400, -32600), "{refused}");
            assert_eq!(refused.json()["id"], 7, "{refused}");
        }
        assert_eq!(client.send(&Request::get()).status, 405);
        assert_eq!(client.send(&Request::delete()).status, 400);
        let modern = client.send(&messages::modern(7, "tools/list", Value::Null));
        assert_eq!((modern.status, modern.header("mcp-session-id")), (200, None));
    }
    assert_eq!(server.handle.sessions(), 0);
}

#[test]
fn a_session_ends_when_it_is_deleted() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        let (session, other) = (server.session(), server.session());
        let mut client = server.client(protocol);
        assert_eq!(client.send(&listing(&session, None)).status, 200);
        let deleted = client.send(&Request::delete().session(&session));
        assert_eq!(
            (deleted.status, deleted.body.len(), deleted.header("content-length")),
            (200, 0, Some("0"))
        );
        assert_unknown(&server, &session);
        assert_eq!(client.send(&listing(&other, None)).status, 200);
        assert_eq!(client.send(&Request::delete().session(&other)).status, 200);
        assert_eq!(server.handle.sessions(), 0);
    }
}

/// A session that is deleted takes its calls with it: their handlers are dropped, and whoever waits for an answer is told.
#[test]
fn deleting_under_a_call() {
    let server = Server::start();
    for (at, protocol) in (1..).zip(Protocol::BOTH) {
        let session = server.session();
        let message = messages::request("gone", "tools/call", messages::call("gate", json!({})));
        let mut streamed = message.clone();
        streamed["params"]["_meta"] = json!({"progressToken": 1});
        let mut stream = Source::open(&server, protocol, &messages::legacy(&session, &streamed));
        stream.priming();
        assert_eq!(stream.message().1["method"], "notifications/progress");
        let (ended, deleted) = std::thread::scope(|scope| {
            let quiet = scope.spawn(|| server.client(protocol).send(&messages::legacy(&session, &message)));
            server.tools.gate.await_begun(2 * at);
            // The call is known to its session once it has begun and was polled; the request behind it comes later still.
            assert_eq!(server.send(&listing(&session, None)).status, 200);
            let deleted = server.send(&Request::delete().session(&session));
            (quiet.join().unwrap(), deleted)
        });
        assert_eq!(deleted.status, 200);
        assert_eq!(
            ended.text(),
            r#"{"jsonrpc":"2.0","id":"gone","error":{"code":-32000,"message":"Request was cancelled"}}"#
        );
        assert_eq!(stream.rest(), []);
        server.tools.gate.await_fates(|fates| fates.dropped == 2 * at);
        assert_eq!((server.handle.sessions(), server.handle.streams()), (0, 0));
    }
}

#[test]
fn idle_sessions_leave_nothing_behind() {
    let server = server(&[("session_idle", 1_000)]);
    let mut client = server.http1();
    let mut seen = HashSet::new();
    for _ in 0..20 {
        let burst: Vec<u8> = (0..50).flat_map(|_| messages::initialize(messages::LEGACY).bytes()).collect();
        client.write(&burst);
        for _ in 0..50 {
            let response = client.read("POST");
            let session = response.header("mcp-session-id").unwrap();
            assert_eq!(session.len(), 43);
            assert!(
                session.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)),
                "{session}"
            );
            assert!(seen.insert(session.to_owned()), "an id came twice");
        }
    }
    assert_eq!(server.handle.sessions(), 1_000);
    server.clock.advance_ms(999);
    server.handle.sweep();
    assert_eq!(server.handle.sessions(), 1_000);
    let kept = seen.iter().next().unwrap();
    assert_eq!(client.send(&listing(kept, None)).status, 200);
    server.clock.advance_ms(1);
    // The server's own sweeper finds them.
    let patience = Instant::now() + Duration::from_secs(20);
    while server.handle.sessions() > 1 {
        assert!(Instant::now() < patience, "nobody sweeps");
        std::thread::yield_now();
    }
    for session in seen.iter().skip(1).take(50) {
        assert_eq!(client.send(&listing(session, None)).status, 404);
    }
    assert_eq!(client.send(&listing(kept, None)).status, 200);
}

#[test]
fn initialize_starts_over_whatever_is_sent() {
    let server = Server::start();
    let live = server.session();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for stale in ["", "gone", &"x".repeat(300), &live] {
            let response =
                client.send(&messages::initialize(messages::LEGACY).header("Mcp-Session-Id", stale));
            let fresh = response.header("mcp-session-id").expect("a session").to_owned();
            assert_ne!(fresh, stale);
            assert_eq!(response.result()["protocolVersion"], messages::LEGACY);
            assert_eq!(client.send(&Request::delete().session(&fresh)).status, 200);
        }
        assert_eq!(client.send(&listing(&live, None)).status, 200);
    }
    assert_eq!(server.handle.sessions(), 1);
}

/// A session belongs to whoever opened it: to others it is not there.
#[test]
fn principals() {
    let server = Server::with(|builder| builder.authenticator(Keys::default()));
    let as_who = |request: Request, who: &str| request.set("Authorization", format!("Bearer {who}"));
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let opened = client.send(&as_who(messages::initialize(messages::LEGACY), "alice"));
        let session = opened.header("mcp-session-id").expect("a session").to_owned();
        let requests = [listing(&session, None), Request::delete().session(&session)];
        for request in &requests {
            let foreign = client.send(&as_who(request.clone(), "bob"));
            assert_eq!(foreign.status, 404, "{foreign}");
            // Whether it exists is not told to strangers either.
            assert_eq!(client.send(request).status, 401);
            assert_eq!(client.send(&as_who(request.clone(), "nobody")).status, 401);
        }
        let get = Request::get().session(&session);
        assert_eq!(client.send(&as_who(get.clone(), "bob")).status, 404);
        assert_eq!(client.send(&as_who(requests[0].clone(), "alice")).status, 200);
        let stale = messages::initialize(messages::LEGACY).header("Mcp-Session-Id", &session);
        assert_eq!(client.send(&as_who(stale, "bob")).status, 200);
        assert_eq!(client.send(&as_who(requests[1].clone(), "alice")).status, 200);
        assert_eq!(client.send(&as_who(requests[0].clone(), "alice")).status, 404);
    }
}

#[test]
fn responses_and_notifications_are_taken() {
    let server = Server::start();
    let session = server.session();
    let error = |code: Value, message: Value| json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message}});
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for (message, status) in [
            (json!({"jsonrpc": "2.0", "id": "srv-1", "result": {}}), 202),
            (json!({"jsonrpc": "2.0", "id": 1, "result": {"a": [1]}}), 202),
            (error(json!(-1), json!("m")), 202),
            (error(json!(1.0), json!("")), 202),
            (messages::notification("notifications/foo"), 202),
            (messages::notification("tools/call"), 202),
            (
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}),
                202,
            ),
            (error(json!(1.5), json!("m")), 400),
            (error(json!("1"), json!("m")), 400),
            (error(json!(1), json!(null)), 400),
            (json!({"jsonrpc": "2.0", "id": 1, "error": "m"}), 400),
            (json!({"jsonrpc": "2.0", "id": 1, "result": []}), 400),
            (json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": "m"}}), 400),
            (json!({"jsonrpc": "1.0", "id": 1, "result": {}}), 400),
            (json!({"jsonrpc": "2.0", "method": "notifications/foo", "params": []}), 400),
        ] {
            let response = client.send(&messages::legacy(&session, &message));
            assert_eq!(response.status, status, "{message}: {response}");
            if status == 202 {
                assert_eq!((response.body.len(), response.header("content-length")), (0, Some("0")));
                assert_eq!(response.header("content-type"), None);
            } else {
                assert_eq!((response.code(), &response.json()["id"]), (-32600, &json!(null)), "{message}");
                assert!(response.json()["error"]["data"]["errors"][0]["path"].is_string(), "{response}");
            }
        }
    }
    assert_eq!(server.tools.runs(), 0);
}
