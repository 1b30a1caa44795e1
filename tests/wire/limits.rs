//! Every limit that a request can meet: at it, below it and above it.

use serde_json::json;
use twolane::base::limits::Limits;
use twolane::tables::rejection::Rejection;

use crate::support::door::Keys;
use crate::support::{Framing, Http1, Protocol, Request, Response, Server, messages};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// The defaults with some changed.
pub fn changed(changes: &[(&str, u64)]) -> Limits {
    let mut limits = Limits::default();
    for (name, value) in changes {
        limits.set(name, *value).unwrap();
    }
    limits
}

/// A server whose limits are the defaults with some changed.
pub fn server(changes: &[(&str, u64)]) -> Server {
    Server::with(|builder| builder.limits(changed(changes)))
}

fn ping() -> Request {
    Request::post(PING)
}

/// A ping of so many bytes.
fn padded(length: usize) -> Request {
    ping().body(PING.to_owned() + &" ".repeat(length - PING.len()))
}

/// The request behind the last one is answered.
#[track_caller]
fn assert_open(client: &mut Http1) {
    assert_eq!(client.send(&ping()).status, 200);
}

/// The answer says that the connection ends, and it does.
#[track_caller]
fn assert_ended(client: &mut Http1, response: &Response, status: u16) {
    assert_eq!((response.status, response.header("connection")), (status, Some("close")), "{response}");
    client.assert_closed();
}

/// Sends what fits and what does not, on connections of their own.
#[track_caller]
fn at_and_above(server: &Server, request: impl Fn(usize) -> Request, at: usize, status: u16) {
    let mut client = server.http1();
    let response = client.send(&request(at));
    assert_eq!(response.status, 200, "{response}");
    assert_open(&mut client);
    let mut client = server.http1();
    client.write_until_refused(&request(at + 1).bytes());
    let response = client.read("POST");
    assert_ended(&mut client, &response, status);
}

#[test]
fn heads() {
    let server = Server::start();
    let line = |length: usize| {
        let mut request = ping();
        request.target = format!("/mcp?{}", "q".repeat(length - "POST /mcp? HTTP/1.1".len()));
        request
    };
    at_and_above(&server, line, 10_000, 414);
    at_and_above(&server, |length| ping().header("X-Pad", "p".repeat(length - 7)), 10_000, 431);
    // Host, Content-Type, Accept and Content-Length are there already.
    let lines = |count: usize| (4..count).fold(ping(), |request, at| request.header(&format!("X-{at}"), "x"));
    at_and_above(&server, lines, 100, 431);
    let head = |length: usize| {
        let mut request = (0..7).fold(ping(), |request, _| request.header("X-Pad", "p".repeat(9_000)));
        let rest = length - (request.bytes().len() - PING.len()) - "X-Rest: \r\n".len();
        request = request.header("X-Rest", "r".repeat(rest));
        assert_eq!(request.bytes().len() - PING.len(), length);
        request
    };
    at_and_above(&server, head, 65_536, 431);
}

/// A head that never ends is refused as soon as it is too long, not when it has timed out.
#[test]
fn heads_without_an_end() {
    let server = Server::start();
    for (status, start, more) in [
        (414, "POST /", "a"),
        (414, "X", "X"),
        (431, "POST /mcp HTTP/1.1\r\nX: ", "a"),
        (431, "POST /mcp HTTP/1.1\r\n", "X: y\r\n"),
    ] {
        let mut client = server.http1();
        client.write_until_refused(format!("{start}{}", more.repeat(10_100)).as_bytes());
        let response = client.read("POST");
        assert_ended(&mut client, &response, status);
    }
}

#[test]
fn bodies() {
    let server = Server::start();
    for framing in [Framing::Length, Framing::Chunks(65_536)] {
        at_and_above(&server, |length| padded(length).framing(framing), 8_000_000, 413);
        let mut client = server.http2();
        assert_eq!(client.send(&padded(8_000_000).framing(framing)).status, 200);
        let refused = client.send(&padded(8_000_001).framing(framing));
        assert_eq!(refused.status, 413, "{refused}");
        assert!(refused.text().contains("8000000"), "{refused}");
        assert_eq!(client.send(&ping()).status, 200);
    }
}

/// A length is refused before a byte of the body has come.
#[test]
fn declared_lengths() {
    let server = Server::start();
    let mut client = server.http1();
    client.write(&ping().body("").framing(Framing::AsIs).header("Content-Length", "8000001").bytes());
    let response = client.read("POST");
    assert_ended(&mut client, &response, 413);
}

#[test]
fn queries() {
    let with_query = |length: usize| {
        let mut request = ping();
        request.target = format!("/mcp?{}", "q".repeat(length));
        request
    };
    for (server, at) in [
        (server(&[("query", 10)]), 10),
        (server(&[("query", 0)]), 0),
        (server(&[("request_line", 2_000_000), ("head", 4_000_000)]), 1_000_000),
    ] {
        let mut client = server.http1();
        assert_eq!(client.send(&with_query(at)).status, 200);
        let refused = client.send(&with_query(at + 1));
        assert_eq!((refused.status, refused.code()), (414, -32600), "{refused}");
        assert!(refused.text().contains(&at.to_string()), "{refused}");
        assert_open(&mut client);
        assert_eq!(server.handle.rejections(Rejection::QueryTooLong), 1);
    }
}

#[test]
fn nesting() {
    let nested = |depth: usize| {
        let arrays = depth - 2;
        let value = format!("{}{}", "[".repeat(arrays), "]".repeat(arrays));
        ping().body(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{value}}}}}"#))
    };
    for (server, at) in [(Server::start(), 128), (server(&[("json_depth", 8)]), 8)] {
        for protocol in Protocol::BOTH {
            let mut client = server.client(protocol);
            assert_eq!(client.send(&nested(at - 1)).status, 200);
            assert_eq!(client.send(&nested(at)).status, 200);
            let refused = client.send(&nested(at + 1));
            assert_eq!((refused.status, refused.code()), (400, -32700), "{refused}");
            assert!(refused.text().contains(&at.to_string()), "{refused}");
        }
        let mut client = server.http1();
        assert_eq!(client.send(&nested(100_000)).status, 400);
    }
}

#[test]
fn values() {
    // Eleven values beside those of the array.
    let of = |values: usize| {
        let array = vec!["1"; values - 11].join(",");
        ping().body(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":[{array}]}}}}"#))
    };
    for (server, at) in [(Server::start(), 1_000_000), (server(&[("json_values", 1_000)]), 1_000)] {
        for protocol in Protocol::BOTH {
            let mut client = server.client(protocol);
            assert_eq!(client.send(&of(at - 1)).status, 200);
            assert_eq!(client.send(&of(at)).status, 200);
            let refused = client.send(&of(at + 1));
            assert_eq!((refused.status, refused.code()), (400, -32700), "{refused}");
            assert!(refused.text().contains(&at.to_string()), "{refused}");
        }
        // What stands in a string is one value.
        let text = ",".repeat(at);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":"{text}"}}}}"#);
        assert_eq!(server.http1().send(&ping().body(body)).status, 200);
    }
}

#[test]
fn chunk_lines_and_trailers() {
    let chunked =
        |wire: String| ping().body(wire).framing(Framing::AsIs).header("Transfer-Encoding", "chunked");
    let line = |length: usize| chunked(format!("28;{}\r\n{PING}\r\n0\r\n\r\n", "e".repeat(length - 3)));
    let trailers = |length: usize| {
        let last = length - 2 * "A: b\r\n".len() - "C: \r\n".len();
        chunked(format!("28\r\n{PING}\r\n0\r\nA: b\r\nA: b\r\nC: {}\r\n\r\n", "t".repeat(last)))
    };
    let defaults = Server::start();
    at_and_above(&defaults, line, 256, 400);
    at_and_above(&defaults, trailers, 8_192, 431);
    let lowered = server(&[("chunk_line", 16), ("trailers", 64)]);
    at_and_above(&lowered, line, 16, 400);
    at_and_above(&lowered, trailers, 64, 431);
}

/// An unread body is never the next request: up to the bound it is dropped, beyond it the connection ends.
#[test]
fn unread_bodies() {
    let server = Server::start();
    let inside = messages::modern_call(9, "count", json!({})).bytes();
    let unread = |length: usize, framing| {
        let mut body = inside.repeat(length / inside.len() + 1);
        body.truncate(length);
        Request::post(body).set("Content-Type", "text/plain").framing(framing)
    };
    for framing in [Framing::Length, Framing::Chunks(1_000), Framing::Chunks(inside.len())] {
        for length in [1, inside.len(), 65_535, 65_536] {
            let mut client = server.http1();
            let response = client.send(&unread(length, framing));
            assert_eq!((response.status, response.header("connection")), (415, None), "{response}");
            assert_open(&mut client);
        }
        let mut client = server.http1();
        client.write_until_refused(&unread(65_537, framing).bytes());
        client.write_until_refused(&inside);
        let response = client.read("POST");
        assert_eq!(response.status, 415, "{response}");
        // Only a length tells beforehand that the connection will end.
        let told = (framing == Framing::Length).then_some("close");
        assert_eq!(response.header("connection"), told, "{response}");
        client.assert_closed();
    }
    assert_eq!(server.tools.runs(), 0);
    let none = self::server(&[("drain", 0)]);
    let mut client = none.http1();
    let response = client.send(&unread(1, Framing::Length));
    assert_ended(&mut client, &response, 415);
    let mut client = none.http1();
    assert_eq!(client.send(&unread(0, Framing::Length)).status, 415);
    assert_open(&mut client);
}

/// Strangers do not get to fill the memory.
#[test]
fn bodies_of_strangers() {
    let limits = changed(&[("unauthenticated_body", 100)]);
    let server = Server::with(|builder| builder.limits(limits).authenticator(Keys::default()));
    for framing in [Framing::Length, Framing::Chunks(50)] {
        for protocol in Protocol::BOTH {
            let mut client = server.client(protocol);
            let read = client.send(&padded(100).framing(framing));
            assert_eq!((read.status, &read.json()["id"]), (401, &json!(1)), "{read}");
            let unread = client.send(&padded(101).framing(framing));
            assert_eq!((unread.status, &unread.json()["id"]), (401, &json!(null)), "{unread}");
            assert_eq!(unread.header("www-authenticate"), Some("Bearer realm=\"mcp\""), "{unread}");
            let known = padded(101).framing(framing).header("Authorization", "Bearer alice");
            let mut client = server.client(protocol);
            assert_eq!(client.send(&known).status, 200);
        }
    }
}

/// Pipelined requests are answered in order, however small a batch is.
#[test]
fn batches_of_answers() {
    for changes in [&[("pipeline", 1)][..], &[("pipeline", 3)], &[("batch_bytes", 1_024)], &[]] {
        let server = server(changes);
        let mut client = server.http1();
        let requests: Vec<u8> = (0..40)
            .flat_map(|id| messages::modern_call(id, "big", json!({"bytes": id * 100})).bytes())
            .collect();
        client.write(&requests);
        for id in 0..40 {
            let response = client.read("POST");
            assert_eq!(response.json()["id"], id);
            assert_eq!(response.tool_text().len(), id * 100);
        }
    }
}

#[test]
fn connections() {
    let server = server(&[("connections", 2)]);
    let mut one = server.http1();
    assert_open(&mut one);
    let mut two = server.http2();
    assert_eq!(two.send(&ping()).status, 200);
    let mut three = server.http1();
    three.write(&ping().bytes());
    // A turn for the server, so that the third would have been served if it were going to be.
    assert_open(&mut one);
    assert_eq!(two.send(&ping()).status, 200);
    three.socket().set_nonblocking(true).unwrap();
    let error = three.socket().peek(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    three.socket().set_nonblocking(false).unwrap();
    drop(one);
    assert_eq!(three.read("POST").status, 200);
}

#[test]
fn sessions() {
    let server = server(&[("sessions", 2)]);
    let (one, two) = (server.session(), server.session());
    for protocol in Protocol::BOTH {
        let refused = server.client(protocol).send(&messages::initialize(messages::LEGACY));
        assert_eq!((refused.status, refused.code()), (503, -32600), "{refused}");
        assert_eq!(refused.json()["id"], 0, "{refused}");
        assert!(refused.header("retry-after").is_some() && refused.header("mcp-session-id").is_none());
    }
    assert_eq!(server.handle.sessions(), 2);
    assert_eq!(server.send(&Request::delete().session(&one)).status, 200);
    let three = server.session();
    assert_ne!(three, one);
    let list = messages::request(1, "tools/list", json!(null));
    assert_eq!(server.send(&messages::legacy(&two, &list)).status, 200);
}

/// More than the budget holds is shed, and what was taken is given back.
#[test]
fn body_memory() {
    let server = server(&[("body_memory", 1_048_576)]);
    for framing in [Framing::Length, Framing::Chunks(40_000)] {
        for (protocol, free) in [(Protocol::Http1, 65_536), (Protocol::Http2, 8_192)] {
            let most = 1_048_576 + free;
            for _ in 0..3 {
                assert_eq!(server.client(protocol).send(&padded(most).framing(framing)).status, 200);
            }
            let mut client = server.client(protocol);
            let shed = client.send(&padded(most + 1).framing(framing));
            assert_eq!((shed.status, shed.code()), (503, -32600), "{shed}");
            assert!(shed.header("retry-after").is_some(), "{shed}");
        }
    }
    assert_eq!(server.handle.rejections(Rejection::Overloaded), 4);
}
