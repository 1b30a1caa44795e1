//! How connections end on HTTP/1.x: disconnects under a call, deadlines, and the server's own end.

use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;
use socket2::SockRef;

use crate::limits::server;
use crate::support::{Http1, Request, Response, Server, messages};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn ping() -> Request {
    Request::post(PING)
}

/// A modern call that waits, with and without an open stream.
fn gated() -> [Request; 2] {
    [messages::modern_call(1, "gate", json!({})), messages::modern_call_with_progress(1, "gate", json!({}))]
}

/// The same from a session.
fn gated_legacy(server: &Server) -> [Request; 2] {
    let session = server.session();
    let mut params = messages::call("gate", json!({}));
    let plain = messages::request(1, "tools/call", params.clone());
    params["_meta"]["progressToken"] = 1.into();
    let streamed = messages::request(1, "tools/call", params);
    [messages::legacy(&session, &plain), messages::legacy(&session, &streamed)]
}

/// Ends a connection without a word.
fn reset(client: Http1) {
    SockRef::from(client.socket()).set_linger(Some(Duration::ZERO)).unwrap();
}

#[test]
fn a_modern_call_is_cancelled_after_the_grace() {
    let server = server(&[("half_close_grace", 20)]);
    for (at, request) in (1..).zip(gated()) {
        let mut client = server.http1();
        client.write(&request.bytes());
        server.tools.gate.await_begun(at);
        client.finish();
        server.tools.gate.await_fates(|fates| fates.dropped == at);
        client.read_to_end();
    }
}

#[test]
fn a_modern_call_is_cancelled_at_once_by_a_reset() {
    let server = server(&[("half_close_grace", 600_000)]);
    for (at, request) in (1..).zip(gated()) {
        let mut client = server.http1();
        client.write(&request.bytes());
        server.tools.gate.await_begun(at);
        reset(client);
        server.tools.gate.await_fates(|fates| fates.dropped == at);
    }
    // A blocking call cannot be dropped; it is told.
    let mut client = server.http1();
    client.write(&messages::modern_call(1, "block", json!({})).bytes());
    server.tools.gate.await_begun(3);
    reset(client);
    server.tools.gate.await_fates(|fates| fates.cancelled == 1);
}

#[test]
fn a_legacy_call_runs_on() {
    let server = server(&[("half_close_grace", 20)]);
    let requests = gated_legacy(&server);
    let mut begun = 0;
    for request in &requests {
        begun += 1;
        let mut client = server.http1();
        client.write(&request.bytes());
        server.tools.gate.await_begun(begun);
        client.finish();
        client.read_to_end();
        begun += 1;
        let mut client = server.http1();
        client.write(&request.bytes());
        server.tools.gate.await_begun(begun);
        reset(client);
    }
    server.tools.gate.open(begun);
    let fates = server.tools.gate.await_fates(|fates| fates.ended == begun);
    assert_eq!(fates.dropped, 0);
}

/// The answer says that time is up and that the connection ends.
#[track_caller]
fn assert_late(client: &mut Http1) {
    let response = client.read("POST");
    assert_eq!((response.status, response.header("connection")), (408, Some("close")), "{response}");
    client.assert_closed();
}

#[test]
fn silence() {
    let server = server(&[("head_timeout", 30), ("idle_timeout", 30)]);
    server.http1().assert_closed();
    let mut client = server.http1();
    assert_eq!(client.send(&ping()).status, 200);
    client.assert_closed();
}

#[test]
fn slow_heads() {
    let server = server(&[("head_timeout", 30)]);
    let mut preface = server.http1();
    preface.write(b"PRI * HTTP/2.0\r\n");
    assert_late(&mut preface);
    for start in ["P", "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n", "\r\n"] {
        let mut client = server.http1();
        client.write(start.as_bytes());
        assert_late(&mut client);
        let mut client = server.http1();
        client.write(&[&ping().bytes(), start.as_bytes()].concat());
        assert_eq!(client.read("POST").status, 200);
        assert_late(&mut client);
    }
}

#[test]
fn slow_bodies() {
    let server = server(&[("body_timeout", 30)]);
    for body in [
        "Content-Length: 40\r\n\r\n",
        "Content-Length: 40\r\n\r\n{\"jsonrpc\":",
        "Content-Length: 1000000\r\n\r\n{",
        "Transfer-Encoding: chunked\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2",
        "Transfer-Encoding: chunked\r\n\r\n28\r\n{",
        "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX: y\r\n",
        "Expect: 100-continue\r\nContent-Length: 40\r\n\r\n",
    ] {
        let mut client = server.http1();
        let head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
        client.write(format!("{head}{body}").as_bytes());
        assert_late(&mut client);
        // One that has been answered already gets no second answer.
        let mut client = server.http1();
        let head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n";
        client.write(format!("{head}{}", body.replace("1000000", "1000")).as_bytes());
        assert_eq!(client.read("POST").status, 415);
        client.assert_closed();
    }
}

/// A client that does not read loses its connection, and its place goes to the next.
#[test]
fn stalled_readers() {
    let server = server(&[("write_timeout", 50), ("connections", 1)]);
    for request in [
        messages::modern_call(1, "big", json!({"bytes": 30_000_000})),
        messages::modern_call(1, "big", json!({"bytes": 30_000_000})).set("Accept", "text/event-stream"),
    ] {
        let mut stalled = server.http1();
        stalled.write(&request.bytes());
        let mut next = server.http1();
        assert_eq!(next.send(&ping()).status, 200);
        let mut rest = Vec::new();
        let _ = stalled.socket().read_to_end(&mut rest);
        assert!(rest.len() < 30_000_000);
    }
}

#[track_caller]
fn assert_draining(response: &Response) {
    assert_eq!((response.status, response.header("connection")), (503, Some("close")), "{response}");
    assert_eq!((response.code(), &response.json()["id"]), (-32600, &json!(null)), "{response}");
    assert!(response.header("retry-after").is_some(), "{response}");
}

#[test]
fn a_server_that_drains() {
    let server = Server::start();
    let [plain, streamed] = gated();
    let (mut busy, mut stream) = (server.http1(), server.http1());
    busy.write(&[plain.bytes(), messages::modern_call(2, "count", json!({})).bytes()].concat());
    stream.write(&streamed.bytes());
    assert_eq!(stream.read_head().status, 200);
    assert_eq!(stream.next_event().unwrap().json()["params"]["message"], "waiting");
    server.tools.gate.await_begun(2);
    let (mut idle, mut fresh, mut begun) = (server.http1(), server.http1(), server.http1());
    assert_eq!(idle.send(&ping()).status, 200);
    let late = ping().bytes();
    // The answer before it shows that the start of the second has been read too, or will be in the same turn.
    begun.write(&[&late[..], &late[..30]].concat());
    assert_eq!(begun.read("POST").status, 200);

    server.handle.shut_down();
    idle.assert_closed();
    fresh.assert_closed();
    begun.write(&late[30..]);
    assert_draining(&begun.read("POST"));
    begun.assert_closed();
    let patience = Instant::now() + Duration::from_secs(20);
    while let Ok(mut refused) = TcpStream::connect(server.address) {
        // Taken by the system before the listener was closed: nobody answers it.
        assert!(!matches!(refused.read(&mut [0]), Ok(1..)), "a new connection was served");
        assert!(Instant::now() < patience, "new connections are taken");
    }
    server.tools.gate.open(2);
    let response = busy.read("POST");
    assert_eq!((response.tool_text().as_str(), response.header("connection")), ("let go", Some("close")));
    busy.assert_closed();
    assert_eq!(stream.next_event().unwrap().json()["result"]["content"][0]["text"], "let go");
    assert_eq!(stream.next_event(), None);
    stream.assert_closed();
    assert_eq!(server.tools.runs(), 2, "what was pipelined behind has not run");
}

#[test]
fn a_server_that_has_waited_long_enough() {
    let server = server(&[("shutdown_grace", 30)]);
    let mut busy = server.http1();
    busy.write(&gated()[0].bytes());
    server.tools.gate.await_begun(1);
    server.handle.shut_down();
    server.tools.gate.await_fates(|fates| fates.dropped == 1);
    let _ = busy.socket().read_to_end(&mut Vec::new());
}
