//! Streams that clients come back to: event ids, what is kept and for how long, and calls that run on without their clients.

use std::collections::HashSet;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use twolane::Limits;
use twolane::tools::{Context, Typed};

use crate::get_streams::{REVISIONS, change_tools, get, listen};
use crate::limits::changed;
use crate::support::gate::Gate;
use crate::support::{Protocol, Request, Server, Source, messages};

#[derive(Deserialize, JsonSchema)]
struct Paces {
    paces: u32,
    /// How long each report and the result are.
    #[serde(default)]
    bytes: usize,
    /// How long the result is, if not as long as that.
    answer: Option<usize>,
    /// Behind which step the stream's connection ends.
    close_after: Option<u32>,
}

/// Reports at each pace, and waits to be let go for the next; the last one ends it.
fn paces(gate: Gate) -> Typed {
    Typed::new("paces", "Goes step by step.", move |paces: Paces, context: Context| {
        let gate = gate.clone();
        async move {
            if paces.close_after == Some(0) {
                context.close_stream(Duration::from_millis(70));
            }
            for pace in 1..=paces.paces {
                context.progress(f64::from(pace), None, Some(&"x".repeat(paces.bytes)));
                if paces.close_after == Some(pace) {
                    context.close_stream(Duration::from_millis(70));
                }
                gate.clone().pass().await;
            }
            "y".repeat(paces.answer.unwrap_or(paces.bytes).max(1))
        }
    })
}

pub fn server(limits: Limits) -> (Server, Gate) {
    let gate = Gate::default();
    let server = Server::with(|builder| builder.limits(limits).tool(paces(gate.clone())));
    (server, gate)
}

/// Connections that have gone are noticed at once.
fn quick(changes: &[(&str, u64)]) -> (Server, Gate) {
    let mut limits = changed(changes);
    limits.half_close_grace = 0;
    server(limits)
}

pub fn call(session: &str, id: impl Into<Value>, arguments: Value) -> Request {
    let mut params = messages::call("paces", arguments);
    params["_meta"] = json!({"progressToken": "p"});
    messages::legacy(session, &messages::request(id, "tools/call", params)).without("MCP-Protocol-Version")
}

fn back(session: &str, last: &str) -> Request {
    get(session).header("Last-Event-ID", last)
}

/// A progress report.
#[track_caller]
fn pace(source: &mut Source) -> (String, u64) {
    let (id, message) = source.message();
    assert_eq!(message["method"], "notifications/progress", "{message}");
    (id, message["params"]["progress"].as_u64().unwrap())
}

/// The answer, and the end behind it.
#[track_caller]
fn answer(source: &mut Source) -> (String, Value) {
    let (id, message) = source.message();
    assert!(message.get("id").is_some(), "{message}");
    assert_eq!(source.next(), None);
    (id, message)
}

/// Every event of a session has an id of its own, the answer too, and the ids of one stream have much in common.
#[test]
fn events_have_ids() {
    for (revision, primed) in REVISIONS {
        let (server, gate) = server(Limits::default());
        let session = server.session_of(revision);
        gate.open(100);
        let mut seen = HashSet::new();
        for protocol in Protocol::BOTH {
            for _ in 0..3 {
                let events = server.client(protocol).send(&call(&session, 1, json!({"paces": 3}))).events();
                assert_eq!(events.len(), 4 + usize::from(primed), "{revision}");
                assert_eq!(events[0].data.as_deref() == Some(""), primed, "{events:?}");
                let ids: Vec<_> = events.iter().map(|event| event.id.clone().expect("an id")).collect();
                let stream = |id: &str| id.rsplit_once('-').unwrap().0.to_owned();
                assert!(ids.iter().all(|id| stream(id) == stream(&ids[0])), "{ids:?}");
                for id in ids {
                    assert!(seen.insert(id.clone()), "{id} came twice");
                }
            }
        }
        // Another session's differ.
        let other = server.session_of(revision);
        let events = server.send(&call(&other, 1, json!({"paces": 1}))).events();
        assert!(events.iter().all(|event| !seen.contains(event.id.as_ref().unwrap())));
    }
}

/// A client that has lost its connection gets what it has missed, then what comes, and then the end; nothing of any other stream.
#[test]
fn a_client_comes_back_for_the_rest() {
    for (revision, primed) in REVISIONS {
        for protocol in Protocol::BOTH {
            let (server, gate) = quick(&[]);
            let session = server.session_of(revision);
            let mut other = Source::open(&server, protocol, &call(&session, "other", json!({"paces": 1})));
            let mut post = Source::open(&server, protocol, &call(&session, "mine", json!({"paces": 4})));
            if primed {
                other.priming();
                post.priming();
            }
            pace(&mut other);
            let (first, number) = pace(&mut post);
            assert_eq!(number, 1);
            post.leave();
            server.wait_until("it is noticed", |server| server.handle.detached_calls() == 1);
            gate.open(3);
            gate.await_fates(|fates| fates.ended == 3);
            let mut source = Source::open(&server, protocol, &back(&session, &first));
            assert_eq!(server.handle.detached_calls(), 0, "somebody reads it again");
            let mut paces = vec![pace(&mut source)];
            // Whichever call took the permits: one pace at least has been missed, and the rest comes as it is let go.
            gate.open(2);
            while paces.last().unwrap().1 < 4 {
                paces.push(pace(&mut source));
            }
            assert_eq!(paces.iter().map(|(_, number)| *number).collect::<Vec<_>>(), [2, 3, 4]);
            let (last, message) = answer(&mut source);
            assert_eq!(
                (&message["id"], &message["result"]["content"][0]["text"]),
                (&json!("mine"), &json!("y"))
            );
            // From any event on, as often as the client likes.
            for _ in 0..2 {
                let mut source = Source::open(&server, protocol, &back(&session, &paces[1].0));
                assert_eq!(pace(&mut source), paces[2]);
                assert_eq!(answer(&mut source).0, last);
            }
            // A client that has everything has nothing to come back for.
            assert_eq!(server.client(protocol).send(&back(&session, &last)).status, 405);
            assert_eq!(answer(&mut other).1["id"], "other");
        }
    }
}

/// Each message goes to one connection: the one that came last.
#[test]
fn who_comes_back_takes_the_stream_over() {
    for protocol in Protocol::BOTH {
        let (server, gate) = server(changed(&[("stream_retry", 321)]));
        let session = server.session();
        let mut post = Source::open(&server, protocol, &call(&session, 1, json!({"paces": 3})));
        let primed = post.priming();
        let (first, _) = pace(&mut post);
        let mut one = Source::open(&server, protocol, &back(&session, &first));
        assert_eq!(post.assert_cut(), 321);
        gate.open(1);
        assert_eq!(pace(&mut one).1, 2);
        // From the beginning, by way of the priming event.
        let mut two = Source::open(&server, protocol, &back(&session, &primed));
        assert_eq!(one.assert_cut(), 321);
        assert_eq!((pace(&mut two).1, pace(&mut two).1), (1, 2));
        gate.open(2);
        assert_eq!(pace(&mut two).1, 3);
        assert_eq!(answer(&mut two).1["id"], 1);
        // The first connection serves on.
        assert_eq!(post.again(&call(&session, 2, json!({"paces": 0}))).tool_text(), "y");
        assert_eq!(server.handle.detached_calls(), 0);
    }
}

/// What leads nowhere counts as absent: the client gets a stream like any other, and a warning is told.
#[test]
fn ids_that_lead_nowhere() {
    let (server, gate) = server(changed(&[("replay_events", 2), ("get_streams", 100)]));
    let (session, foreign) = (server.session(), server.session());
    gate.open(100);
    let ids = |session: &str| -> Vec<String> {
        let events = server.send(&call(session, 1, json!({"paces": 4}))).events();
        events.into_iter().map(|event| event.id.unwrap()).collect()
    };
    let (own, others) = (ids(&session), ids(&foreign));
    assert_eq!(own.len(), 6);
    let evicted = &own[1];
    let not_yet = own[5].replace("-5", "-6");
    let no_stream = own[5].replace("-1-", "-99-");
    let garbage = "x".repeat(5_000);
    for protocol in Protocol::BOTH {
        for id in
            ["", "0", "nonsense", &own[0], evicted, &others[4], &not_yet, &no_stream, "\u{e9}", &garbage]
        {
            server.told.take();
            let mut source = Source::open(&server, protocol, &back(&session, id));
            let priming = source.priming();
            assert!(!own.contains(&priming), "a stream of its own: {id}");
            let told = server.told.take();
            let warned = told.iter().filter(|told| told.level == tracing::Level::WARN).count();
            assert_eq!(warned, 1, "{id}: {told:?}");
            source.leave();
        }
        let twice = back(&session, &own[4]).header("Last-Event-ID", &own[4]);
        let mut source = Source::open(&server, protocol, &twice);
        assert!(!own.contains(&source.priming()));
        assert_eq!(server.told.take().len(), 1);
        // One event before: what is left is there.
        let mut source = Source::open(&server, protocol, &back(&session, &own[3]));
        assert_eq!(pace(&mut source).1, 4);
        assert_eq!(answer(&mut source).1["id"], 1);
    }
    // A client of another session of the same owner learns nothing by it either.
    let mut source = Source::open(&server, Protocol::Http1, &back(&foreign, &own[4]));
    assert!(!own.contains(&source.priming()));
}

/// How many events, bytes and streams are kept: at, below and above each limit.
#[test]
fn what_is_kept_is_bounded() {
    let resumable = |server: &Server, session: &str, id: &str| {
        server.told.take();
        let response = Source::try_open(server, Protocol::Http1, &back(session, id));
        response.head.status == 405 || server.told.take().is_empty()
    };
    // Events: 3 paces, their answer and the priming event.
    for (most, kept) in [(5, true), (4, true), (3, false)] {
        let (server, gate) = server(changed(&[("replay_events", most)]));
        let session = server.session();
        gate.open(3);
        let events = server.send(&call(&session, 1, json!({"paces": 3}))).events();
        assert_eq!(resumable(&server, &session, events[0].id.as_ref().unwrap()), kept, "{most} events");
    }
    // Bytes of one stream, of all streams of a session, of all sessions.
    for limit in ["replay_bytes", "session_replay", "replay_memory"] {
        let (server, gate) = server(Limits::default());
        let session = server.session();
        gate.open(100);
        server.send(&call(&session, 1, json!({"paces": 2, "bytes": 2_000})));
        let bytes = server.handle.replay_bytes();
        drop(server);
        for (most, kept) in [(bytes + 1, true), (bytes, true), (bytes - 1, false)] {
            let (server, gate) = self::server(changed(&[(limit, most)]));
            let session = server.session();
            gate.open(100);
            server.send(&call(&session, 1, json!({"paces": 2, "bytes": 2_000})));
            server.wait_until("the reader has gone", |server| server.handle.replay_bytes() <= most);
            assert_eq!(server.handle.replay_bytes() == bytes, kept, "{limit} {most}");
            assert!(server.handle.replay_bytes() <= most);
        }
    }
    // Streams that are over.
    for (most, kept) in [(3, 3), (2, 2), (0, 0)] {
        let (server, gate) = server(changed(&[("replay_streams", most)]));
        let session = server.session();
        gate.open(3);
        let ids: Vec<_> = (0..3)
            .map(|_| server.send(&call(&session, 1, json!({"paces": 1}))).events()[0].id.clone().unwrap())
            .collect();
        server.wait_until("as many as may are kept", |server| server.handle.streams() == kept);
        for (at, id) in (0..).zip(&ids) {
            assert_eq!(resumable(&server, &session, id), at >= 3 - kept, "{most} streams, stream {at}");
        }
    }
}

#[test]
fn what_is_kept_is_forgotten_in_time() {
    let (server, gate) = quick(&[("replay_time", 5_000)]);
    let session = server.session();
    gate.open(1);
    let events = server.send(&call(&session, 1, json!({"paces": 1}))).events();
    let id = events[0].id.as_ref().unwrap();
    server.wait_until("the reader has gone", |server| {
        server.handle.sweep();
        server.handle.streams() == 1
    });
    let settle = || {
        (0..20).for_each(|_| {
            server.handle.sweep();
            std::thread::sleep(Duration::from_millis(1))
        })
    };
    settle();
    server.clock.advance_ms(4_999);
    server.handle.sweep();
    assert_eq!(server.handle.streams(), 1);
    server.clock.advance_ms(1);
    server.handle.sweep();
    assert_eq!((server.handle.streams(), server.handle.replay_bytes()), (0, 0));
    let mut source = Source::open(&server, Protocol::Http1, &back(&session, id));
    assert_ne!(&source.priming(), id, "ids are not used again");
}

/// An answer that is too long to be kept gives way to one that says so; a reader that is there gets the whole.
#[test]
fn answers_too_long_to_be_kept() {
    for protocol in Protocol::BOTH {
        let (server, gate) = quick(&[("replay_bytes", 4_096)]);
        let session = server.session();
        for stays in [true, false] {
            let mut post = Source::open(
                &server,
                protocol,
                &call(&session, "long", json!({"paces": 1, "bytes": 10_000})),
            );
            let primed = post.priming();
            if stays {
                pace(&mut post);
                gate.open(1);
                let (_, message) = answer(&mut post);
                assert_eq!(message["result"]["content"][0]["text"].as_str().unwrap().len(), 10_000);
            } else {
                let (first, _) = pace(&mut post);
                post.leave();
                server.wait_until("it is noticed", |server| server.handle.detached_calls() == 1);
                gate.open(1);
                server.wait_until("it is over", |server| server.handle.detached_calls() == 0);
                let mut source = Source::open(&server, protocol, &back(&session, &first));
                let (_, message) = answer(&mut source);
                assert_eq!((&message["id"], &message["error"]["code"]), (&json!("long"), &json!(-32000)));
                assert_ne!(primed, first);
            }
        }
    }
}

/// An answer that is on its way when its connection breaks is too long to be kept as well: the client that comes back learns of it.
#[test]
fn answers_too_long_to_be_kept_that_were_on_their_way() {
    for protocol in Protocol::BOTH {
        let (server, gate) = quick(&[("replay_bytes", 4_096)]);
        let session = server.session();
        // More than sockets and windows hold.
        let arguments = json!({"paces": 1, "answer": 20_000_000});
        let mut post = Source::open(&server, protocol, &call(&session, "long", arguments));
        post.priming();
        let (first, _) = pace(&mut post);
        gate.open(1);
        gate.await_fates(|fates| fates.ended == 1);
        std::thread::sleep(Duration::from_millis(50));
        post.leave();
        let mut source = Source::open(&server, protocol, &back(&session, &first));
        let (last, message) = answer(&mut source);
        assert_eq!((&message["id"], &message["error"]["code"]), (&json!("long"), &json!(-32000)));
        // Now it has everything.
        let over = server.client(protocol).send(&back(&session, &last));
        let text = r#"{"error":"There is no event stream to open: Mcp-Session-Id is missing, or Last-Event-ID names the end of a stream; use POST"}"#;
        assert_eq!((over.status, over.text()), (405, text));
    }
}

/// Of a batch whose answers are too long to be kept, those that are long give way; where even the ids are too long, all of them.
#[test]
fn batches_too_long_to_be_kept() {
    for protocol in Protocol::BOTH {
        let (server, gate) = quick(&[("replay_bytes", 4_096)]);
        let session = server.session_of("2025-03-26");
        for (id, fits) in [("one".to_owned(), true), ("1".repeat(4_096), false)] {
            let mut batch = call(&session, id.as_str(), json!({"paces": 1, "answer": 10_000}));
            let one: Value = serde_json::from_slice(&batch.body).unwrap();
            batch.body = json!([one, messages::request("two", "ping", Value::Null)]).to_string().into_bytes();
            let mut post = Source::open(&server, protocol, &batch);
            let (first, _) = pace(&mut post);
            post.leave();
            server.wait_until("it is noticed", |server| server.handle.detached_calls() == 1);
            gate.open(1);
            server.wait_until("it is over", |server| server.handle.detached_calls() == 0);
            let mut source = Source::open(&server, protocol, &back(&session, &first));
            let answers = source.message().1;
            if fits {
                assert_eq!(
                    (&answers[0]["id"], &answers[0]["error"]["code"]),
                    (&json!("one"), &json!(-32000))
                );
                assert_eq!(answers[1], json!({"jsonrpc": "2.0", "id": "two", "result": {}}));
            } else {
                assert_eq!((&answers["id"], &answers["error"]["code"]), (&Value::Null, &json!(-32000)));
            }
            assert_eq!(source.next(), None);
        }
    }
}

/// Calls run on without their clients, but only so many.
#[test]
fn calls_that_run_on_are_bounded() {
    for (limit, most) in [("session_detached", 2), ("detached", 2), ("session_detached", 0)] {
        for protocol in Protocol::BOTH {
            let (server, gate) = quick(&[(limit, most)]);
            let session = server.session();
            let streamed =
                (0..2).map(|_| Source::open(&server, protocol, &call(&session, 1, json!({"paces": 1}))));
            let streamed: Vec<_> = streamed.collect();
            for (gone, source) in (1..).zip(streamed) {
                source.leave();
                let kept = most.min(gone);
                server.wait_until("it is noticed", |server| {
                    server.handle.detached_calls() == kept && gate.fates().dropped == gone - kept
                });
            }
            // One that has sent nothing so far.
            let mut quiet = messages::call("gate", json!({}));
            quiet["_meta"] = Value::Null;
            let quiet = messages::legacy(&session, &messages::request(3, "tools/call", quiet));
            let begun = server.tools.gate.fates().begun;
            match protocol {
                Protocol::Http1 => {
                    let mut client = server.http1();
                    client.write(&quiet.bytes());
                    server.tools.gate.await_begun(begun + 1);
                }
                Protocol::Http2 => {
                    let mut client = server.http2();
                    let stream = client.start(&quiet);
                    client.turn();
                    server.tools.gate.await_begun(begun + 1);
                    client.reset(stream);
                }
            }
            server.tools.gate.await_fates(|fates| fates.dropped == 1);
            gate.open(2);
            server.wait_until("they have ended", |server| server.handle.detached_calls() == 0);
            assert_eq!(gate.fates().ended, most);
        }
    }
}

/// A stream that listens is come back to as well: what was sent into a dead connection is not lost.
#[test]
fn a_stream_that_listens_is_come_back_to() {
    for protocol in Protocol::BOTH {
        let (server, _) = quick(&[]);
        let session = server.session();
        let mut source = Source::open(&server, protocol, &get(&session));
        let primed = source.priming();
        change_tools(&server, "late-1");
        let (first, _) = source.message();
        source.leave();
        let mut source = Source::open(&server, protocol, &back(&session, &primed));
        assert_eq!(source.message().0, first);
        // It goes on as the stream it was.
        change_tools(&server, "late-2");
        let (second, _) = source.message();
        assert_eq!(first.rsplit_once('-').unwrap().0, second.rsplit_once('-').unwrap().0);
        // One that has everything goes on all the same: more may come.
        let mut again = Source::open(&server, protocol, &back(&session, &second));
        source.assert_cut();
        change_tools(&server, "late-3");
        assert_ne!(again.message().0, second);
        assert_eq!(server.send(&Request::delete().session(&session)).status, 200);
        assert_eq!(again.rest(), []);
        assert_eq!((server.handle.streams(), server.handle.replay_bytes()), (0, 0));
    }
}

/// What was told into a connection that may have been dead is told again to a client that comes back without an id, until it has been
/// served the list.
#[test]
fn what_may_not_have_been_heard_is_told_again() {
    for protocol in Protocol::BOTH {
        let (server, _) = quick(&[]);
        let session = server.session();
        let mut dead = Source::open(&server, protocol, &get(&session));
        dead.priming();
        change_tools(&server, "late");
        let (_, told) = dead.message();
        // Before the server notices, and after.
        let mut source = Source::open(&server, protocol, &get(&session));
        source.priming();
        dead.leave();
        assert_eq!(source.message().1, told);
        source.leave();
        let mut source = Source::open(&server, protocol, &get(&session));
        source.priming();
        assert_eq!(source.message().1, told);
        let list = messages::legacy(&session, &messages::request(1, "tools/list", Value::Null));
        assert_eq!(server.send(&list.without("MCP-Protocol-Version")).status, 200);
        source.leave();
        let mut source = Source::open(&server, protocol, &get(&session));
        source.priming();
        assert_eq!(server.send(&Request::delete().session(&session)).status, 200);
        assert_eq!(source.rest(), []);
    }
}

/// A handler ends its own connection, works on, and is come back to (SEP-1699).
#[test]
fn a_handler_has_its_client_come_back() {
    for (revision, primed) in REVISIONS {
        for protocol in Protocol::BOTH {
            let (server, gate) = server(Limits::default());
            let session = server.session_of(revision);
            for close_after in [0, 1, 2] {
                let arguments = json!({"paces": 2, "close_after": close_after});
                let mut post = Source::open(&server, protocol, &call(&session, "poll", arguments));
                let mut last = primed.then(|| post.priming());
                for number in 1..=2 {
                    if primed && number > close_after {
                        break;
                    }
                    let (id, pace) = pace(&mut post);
                    assert_eq!(pace, number);
                    last = Some(id);
                    if number < close_after || !primed {
                        gate.open(1);
                    }
                }
                if !primed {
                    // Elsewhere nothing comes of it.
                    assert_eq!(answer(&mut post).1["id"], "poll");
                    continue;
                }
                assert_eq!(post.assert_cut(), 70);
                server.wait_until("it runs on", |server| server.handle.detached_calls() == 1);
                let mut source = Source::open(&server, protocol, &back(&session, &last.unwrap()));
                gate.open(2 - close_after.saturating_sub(1).min(1));
                for number in close_after + 1..=2 {
                    assert_eq!(pace(&mut source).1, number);
                }
                assert_eq!(answer(&mut source).1["result"]["content"][0]["text"], "y");
                // The connection that was ended serves on.
                assert_eq!(post.again(&call(&session, 2, json!({"paces": 0}))).tool_text(), "y");
            }
            assert_eq!(server.handle.detached_calls(), 0);
        }
    }
    // Nor where nobody may run on, where the client takes no stream, and on the modern lane.
    let (server, gate) = server(changed(&[("session_detached", 0)]));
    gate.open(100);
    let session = server.session();
    let arguments = json!({"paces": 1, "close_after": 1});
    for protocol in Protocol::BOTH {
        assert_eq!(server.client(protocol).send(&call(&session, 1, arguments.clone())).messages().len(), 2);
        let json = call(&session, 1, arguments.clone()).set("Accept", "application/json");
        assert_eq!(server.client(protocol).send(&json).tool_text(), "y");
        let modern = messages::modern_call_with_progress(1, "paces", arguments.clone());
        assert_eq!(server.client(protocol).send(&modern).messages().len(), 2);
    }
}

/// A batch that streams is come back to like any call, as one.
#[test]
fn a_batch_is_come_back_to() {
    for protocol in Protocol::BOTH {
        let (server, gate) = quick(&[]);
        let session = server.session_of("2025-03-26");
        let mut batch = call(&session, "one", json!({"paces": 2}));
        let one: Value = serde_json::from_slice(&batch.body).unwrap();
        batch.body = json!([one, messages::request("two", "ping", Value::Null)]).to_string().into_bytes();
        let mut post = Source::open(&server, protocol, &batch);
        let (first, _) = pace(&mut post);
        post.leave();
        server.wait_until("it is noticed", |server| server.handle.detached_calls() == 1);
        gate.open(2);
        let mut source = Source::open(&server, protocol, &back(&session, &first));
        assert_eq!(pace(&mut source).1, 2);
        let answers = source.message().1;
        assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!("one"), &json!("two")));
        assert_eq!(source.next(), None);
    }
}

/// Idle expiry frees everything that a session has kept.
#[test]
fn an_idle_session_takes_all_of_it_along() {
    let (server, gate) = quick(&[("session_idle", 1_000)]);
    gate.open(1_000);
    for protocol in Protocol::BOTH {
        for _ in 0..20 {
            let session = server.session();
            server.client(protocol).send(&call(&session, 1, json!({"paces": 2, "bytes": 100})));
            listen(&server, protocol, &session).leave();
        }
    }
    assert!(server.handle.replay_bytes() > 0);
    server.wait_until("all are idle", |server| {
        server.clock.advance_ms(1_000);
        server.handle.sweep();
        server.handle.sessions() == 0
    });
    assert_eq!(
        (server.handle.streams(), server.handle.replay_bytes(), server.handle.detached_calls()),
        (0, 0, 0)
    );
}

/// While the server drains, a client that has come back still gets the rest of its call.
#[test]
fn a_call_that_is_read_ends_before_a_draining_server_does() {
    for protocol in Protocol::BOTH {
        let (server, gate) = server(Limits::default());
        let session = server.session();
        let mut post = Source::open(&server, protocol, &call(&session, 1, json!({"paces": 2})));
        post.priming();
        let (first, _) = pace(&mut post);
        let mut source = Source::open(&server, protocol, &back(&session, &first));
        post.assert_cut();
        server.handle.shut_down();
        gate.open(2);
        assert_eq!(pace(&mut source).1, 2);
        assert_eq!(answer(&mut source).1["id"], 1);
    }
}

/// A reader that takes nothing holds its call up, and gets everything once it takes it: what is not taken is not dropped.
#[test]
fn slow_readers_hold_their_streams_up() {
    let (server, gate) = server(changed(&[("replay_events", 4), ("replay_bytes", 4_096)]));
    let session = server.session();
    gate.open(1_000);
    for protocol in Protocol::BOTH {
        let request = call(&session, 1, json!({"paces": 200, "bytes": 40_000}));
        let mut post = Source::open(&server, protocol, &request);
        post.priming();
        // More than sockets and windows hold, while nobody reads.
        std::thread::sleep(Duration::from_millis(50));
        for number in 1..=200 {
            assert_eq!(pace(&mut post).1, number);
        }
        assert_eq!(answer(&mut post).1["id"], 1);
        gate.open(200);
    }
    assert!(server.handle.replay_bytes() <= 4_096);
}
