//! What a connection lives through on HTTP/1.x: one request after another, expectations, ends from either side.

use serde_json::json;

use crate::limits::server;
use crate::support::{Framing, Request, Server, messages};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn ping() -> Request {
    Request::post(PING)
}

fn echo(id: usize) -> Vec<u8> {
    messages::modern_call(id, "echo", json!({"message": id.to_string()})).bytes()
}

/// The same request, from an older client.
fn as_http10(request: &Request) -> Vec<u8> {
    let text = String::from_utf8(request.bytes()).unwrap();
    text.replacen(" HTTP/1.1\r\n", " HTTP/1.0\r\n", 1).into_bytes()
}

#[test]
fn one_after_another() {
    let server = Server::start();
    let mut client = server.http1();
    for id in 0..100 {
        client.write(&echo(id));
        let response = client.read("POST");
        assert_eq!((response.tool_text(), response.header("connection")), (id.to_string(), None));
    }
}

#[test]
fn pipelined() {
    let server = Server::start();
    let mut client = server.http1();
    let mut wire: Vec<u8> = (0..20).flat_map(echo).collect();
    wire.extend(messages::modern_call(20, "gate", json!({})).bytes());
    wire.extend((21..60).flat_map(echo));
    client.write(&wire);
    for id in 0..20 {
        assert_eq!(client.read("POST").tool_text(), id.to_string());
    }
    server.tools.gate.await_begun(1);
    server.tools.gate.open(1);
    assert_eq!(client.read("POST").tool_text(), "let go");
    for id in 21..60 {
        assert_eq!(client.read("POST").tool_text(), id.to_string());
    }
}

/// Every kind of answer can be followed by the next one.
#[test]
fn pipelined_behind_every_kind_of_answer() {
    let server = Server::start();
    let session = server.session();
    let notification = messages::notification("notifications/whatever");
    let kinds = [
        (202, messages::legacy(&session, &notification)),
        (200, messages::modern_call_with_progress(1, "steps", json!({"steps": 5}))),
        (200, messages::modern_call(1, "echo", json!({"message": "x"})).set("Accept", "text/event-stream")),
        (200, messages::modern_call(1, "big", json!({"bytes": 300_000}))),
        (200, messages::modern_call(1, "sleep", json!({"ms": 1}))),
        (200, ping().framing(Framing::Chunks(3))),
        (204, {
            Request::new("OPTIONS", "/mcp")
                .header("Origin", "http://localhost:1")
                .header("Access-Control-Request-Method", "POST")
        }),
        (404, Request::new("GET", "/nowhere")),
        (405, Request::new("HEAD", "/mcp")),
        (405, Request::new("PUT", "/mcp").body("{}")),
        (404, messages::legacy("nobody", &notification)),
        (415, ping().set("Content-Type", "text/plain")),
    ];
    for (status, request) in &kinds {
        let mut client = server.http1();
        client.write(&[request.bytes(), echo(1), request.bytes(), request.bytes(), echo(2)].concat());
        for next in [None, Some("1"), None, None, Some("2")] {
            match next {
                None => assert_eq!(client.read(&request.verb).status, *status, "{request:?}"),
                Some(text) => assert_eq!(client.read("POST").tool_text(), text, "{request:?}"),
            }
        }
    }
}

#[test]
fn http10() {
    let server = Server::start();
    let mut client = server.http1();
    client.write(&as_http10(&ping()));
    let response = client.read("POST");
    assert_eq!((response.status, response.header("connection")), (200, Some("close")), "{response}");
    client.assert_closed();

    let mut client = server.http1();
    for _ in 0..3 {
        client.write(&as_http10(&ping().header("Connection", "Keep-Alive")));
        let response = client.read("POST");
        assert_eq!((response.status, response.header("connection")), (200, Some("keep-alive")), "{response}");
    }
    client.write(&as_http10(&ping().without("Host")));
    assert_eq!(client.read("POST").header("connection"), Some("close"));
    client.assert_closed();

    // There are no chunks: a stream goes on until the connection ends, whatever was asked.
    for connection in ["keep-alive", "close"] {
        let request = messages::modern_call_with_progress(1, "steps", json!({"steps": 3}))
            .header("Connection", connection);
        let mut client = server.http1();
        client.write(&as_http10(&request));
        let response = client.read("POST");
        assert_eq!(response.header("transfer-encoding"), None, "{response}");
        assert_eq!(response.header("connection"), Some("close"), "{response}");
        assert_eq!(response.events().len(), 4, "{response}");
    }
}

#[test]
fn close_is_kept() {
    let server = Server::start();
    for request in [
        ping().header("Connection", "close"),
        ping().header("Connection", "x, Close"),
        ping().header("Connection", "keep-alive").header("Connection", "close"),
        messages::modern_call_with_progress(1, "steps", json!({"steps": 3})).header("Connection", "close"),
        Request::new("HEAD", "/mcp").header("Connection", "close"),
        Request::new("GET", "/nowhere").header("Connection", "close"),
    ] {
        let mut client = server.http1();
        let next = messages::modern_call(2, "count", json!({})).bytes();
        client.write_until_refused(&[request.bytes(), next].concat());
        let response = client.read(&request.verb);
        assert_eq!(response.header("connection"), Some("close"), "{request:?}\n{response}");
        client.assert_closed();
    }
    assert_eq!(server.tools.runs(), 1, "the steps alone");
}

#[test]
fn heads_alone() {
    let server = Server::start();
    let mut client = server.http1();
    for (target, status) in [("/mcp", 405), ("/nowhere", 404)] {
        let head = client.send(&Request::new("HEAD", target));
        let full = client.send(&Request::new("PUT", target));
        assert_eq!((head.status, full.status), (status, status));
        assert_eq!(head.header("content-length"), full.header("content-length"));
        assert_eq!(head.header("allow"), full.header("allow"));
        assert!(head.body.is_empty() && !full.body.is_empty());
    }
}

#[test]
fn leave_is_given_at_once() {
    let server = Server::start();
    for framing in [Framing::Length, Framing::Chunks(10)] {
        let mut client = server.http1();
        for _ in 0..2 {
            let bytes = ping().header("Expect", "100-continue").framing(framing).bytes();
            let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
            // An answer that waits before it goes out first.
            client.write(&[echo(1), bytes[..end].to_vec()].concat());
            assert_eq!(client.read("POST").tool_text(), "1");
            let leave = client.read_head();
            assert_eq!((leave.status, leave.headers.len()), (100, 0));
            client.write(&bytes[end..]);
            let response = client.read("POST");
            assert_eq!((response.status, response.interim.len()), (200, 0), "{response}");
        }
    }
}

#[test]
fn leave_that_is_not_needed() {
    let server = Server::start();
    let mut client = server.http1();
    let whole = client.send(&ping().header("Expect", "100-continue"));
    assert_eq!((whole.status, whole.interim.len()), (200, 0), "{whole}");
    let none = client.send(&Request::new("GET", "/mcp").header("Expect", "100-continue"));
    assert_eq!((none.status, none.interim.len(), none.header("connection")), (405, 0, None), "{none}");
    let empty = client.send(&ping().body("").header("Expect", "100-continue"));
    assert_eq!((empty.status, empty.interim.len()), (400, 0), "{empty}");
    client.assert_closed();
    // Older clients do not wait.
    for expectation in ["100-continue", "anything"] {
        let bytes = as_http10(&ping().header("Expect", expectation));
        let (head, body) = bytes.split_at(bytes.len() - PING.len());
        let mut client = server.http1();
        client.write(head);
        client.write(body);
        let response = client.read("POST");
        assert_eq!((response.status, response.interim.len()), (200, 0), "{response}");
    }
}

#[test]
fn leave_that_is_not_given() {
    let server = Server::start();
    let next = messages::modern_call(2, "count", json!({})).bytes();
    let waiting = |request: Request| request.framing(Framing::AsIs).header("Expect", "100-continue").bytes();
    let refused = [
        (415, Request::post("").set("Content-Type", "text/plain").header("Content-Length", "1000000")),
        (415, Request::post("").set("Content-Type", "text/plain").header("Content-Length", "10")),
        (413, Request::post("").header("Content-Length", "8000001")),
        (406, Request::post("").set("Accept", "text/html").header("Transfer-Encoding", "chunked")),
        (403, Request::post("").header("Origin", "http://evil.example").header("Content-Length", "10")),
        (405, Request::new("PUT", "/mcp").header("Content-Length", "10")),
        (404, Request::new("POST", "/nowhere").header("Content-Length", "10")),
    ];
    for (status, request) in refused {
        let mut client = server.http1();
        client.write_until_refused(&[waiting(request), next.clone()].concat());
        let response = client.read("POST");
        assert_eq!((response.status, response.header("connection")), (status, Some("close")), "{response}");
        assert!(response.interim.is_empty(), "{response}");
        client.assert_closed();
    }
    for expectation in ["200-ok", "100-continue, x", "", "100-continue;q=1"] {
        let mut client = server.http1();
        client.write_until_refused(&[ping().header("Expect", expectation).bytes(), next.clone()].concat());
        let response = client.read("POST");
        assert_eq!((response.status, response.header("connection")), (417, Some("close")), "{response}");
        client.assert_closed();
    }
    assert_eq!(server.tools.runs(), 0);
}

/// What was received whole before the client's side ended is answered.
#[test]
fn half_closed() {
    let server = server(&[("half_close_grace", 600_000)]);
    let mut client = server.http1();
    client.write(&(0..20).flat_map(echo).collect::<Vec<_>>());
    client.finish();
    for id in 0..20 {
        assert_eq!(client.read("POST").tool_text(), id.to_string());
    }
    client.assert_closed();
    let mut client = server.http1();
    client.write(&[messages::modern_call(1, "gate", json!({})).bytes(), echo(2)].concat());
    client.finish();
    server.tools.gate.await_begun(1);
    server.tools.gate.open(1);
    assert_eq!(client.read("POST").tool_text(), "let go");
    assert_eq!(client.read("POST").tool_text(), "2");
    client.assert_closed();
    // A request that will never be whole has no answer.
    for cut in [10, 60, ping().bytes().len() - 1] {
        let mut client = server.http1();
        client.write(&ping().bytes()[..cut]);
        client.finish();
        client.assert_closed();
    }
}
