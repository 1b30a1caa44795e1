//! Clients that go at every moment of every kind of request, by an end or by a reset: what they held is given back.

use std::net::Shutdown;
use std::time::Duration;

use serde_json::{Value, json};

use crate::limits::changed;
use crate::support::{Http1, Request, Server, messages};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leave {
    /// Both sides are ended.
    Close,
    /// This side is ended, and then the connection.
    Half,
    Reset,
}

fn leave(client: Http1, how: Leave) {
    match how {
        Leave::Close => {}
        Leave::Half => drop(client.socket().shutdown(Shutdown::Write)),
        Leave::Reset => {
            socket2::SockRef::from(client.socket()).set_linger(Some(Duration::ZERO)).unwrap();
        }
    }
}

fn listen() -> Request {
    messages::modern(1, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
}

/// What can be open, of either lane.
fn requests(session: &str) -> Vec<Request> {
    let legacy = |params: Value| messages::legacy(session, &messages::request(1, "tools/call", params));
    let mut streamed = messages::call("gate", json!({}));
    streamed["_meta"] = json!({"progressToken": "token"});
    vec![
        messages::modern_call(1, "gate", json!({})),
        messages::modern_call_with_progress(1, "gate", json!({})),
        messages::modern_call(1, "block", json!({})),
        messages::modern_call(1, "big", json!({"bytes": 3_000_000})),
        messages::modern_call_with_progress(1, "steps", json!({"steps": 2000})),
        legacy(messages::call("gate", json!({}))),
        legacy(streamed),
        legacy(messages::call("big", json!({"bytes": 3_000_000}))),
        Request::get().session(session),
        listen(),
    ]
}

fn server() -> Server {
    Server::with(|builder| builder.limits(changed(&[("half_close_grace", 20), ("replay_time", 0)])))
}

/// Everything is given back, and the server serves.
#[track_caller]
fn assert_nothing_left(server: &Server, session: &str) {
    server.tools.gate.open(1_000_000);
    assert_eq!(server.send(&Request::delete().session(session)).status, 200);
    server.wait_until("all of it is given back", |server| {
        let handle = &server.handle;
        let kept = (handle.sessions(), handle.streams(), handle.detached_calls(), handle.listeners());
        kept == (0, 0, 0, 0) && handle.replay_bytes() == 0
    });
    let fates =
        server.tools.gate.await_fates(|fates| fates.begun == fates.ended + fates.dropped + fates.cancelled);
    assert!(fates.begun > 0, "{fates:?}");
    assert_eq!(server.send(&messages::modern_call(1, "echo", json!({"message": "x"}))).tool_text(), "x");
}

/// At every stage of the request's bytes: in the head, behind it, in the body, behind all of it.
#[test]
fn while_it_is_sent() {
    let server = server();
    let session = server.session();
    for request in requests(&session) {
        let bytes = request.bytes();
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        for cut in [1, head / 2, head - 1, head, head + (bytes.len() - head) / 2, bytes.len()] {
            for how in [Leave::Close, Leave::Half, Leave::Reset] {
                let mut client = server.http1();
                client.write(&bytes[..cut]);
                leave(client, how);
            }
        }
    }
    assert_nothing_left(&server, &session);
}

/// Once it has begun, and while its answer comes.
#[test]
fn while_it_is_answered() {
    let server = server();
    let session = server.session();
    for request in requests(&session) {
        for how in [Leave::Close, Leave::Half, Leave::Reset] {
            for wait in [0, 1, 3] {
                let mut client = server.http1();
                client.write(&request.bytes());
                std::thread::sleep(Duration::from_millis(wait));
                // The first byte of an answer, where one comes so soon.
                client.socket().set_nonblocking(true).unwrap();
                let _ = std::io::Read::read(&mut client.socket(), &mut [0; 10]);
                leave(client, how);
            }
        }
    }
    assert_nothing_left(&server, &session);
}

#[test]
fn over_http2() {
    let server = server();
    let session = server.session();
    for request in requests(&session) {
        for (ends, reset) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut client = server.http2();
            let stream = if ends {
                client.start(&request)
            } else {
                client.start_with(&Request { body: Vec::new(), ..request.clone() }, false)
            };
            client.turn();
            if reset {
                client.reset(stream);
            }
            drop(client);
            // Its streams are there, the connection goes under them.
            let mut client = server.http2();
            let streams = [client.start(&request), client.start(&request)];
            client.turn();
            // Now before they are looked at, now behind.
            std::thread::sleep(Duration::from_millis(if ends { 4 } else { 0 }));
            drop(client);
            drop(streams);
        }
    }
    assert_nothing_left(&server, &session);
}
