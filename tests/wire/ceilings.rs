//! Bounds at their edge: the last thing that passes and the first that does not, however its length is told, and what becomes of the
//! connection.

use std::io::Read;

use serde_json::json;
use twolane::Limits;
use twolane::tables::rejection::Rejection;

use crate::support::door::Keys;
use crate::support::{Framing, Protocol, Request, Response, Server, messages};

const FRAMINGS: [Framing; 2] = [Framing::Length, Framing::Chunks(60_000)];

fn ping(bytes: usize) -> Request {
    let mut body = messages::request(1, "ping", json!({})).to_string().into_bytes();
    body.resize(bytes, b' ');
    Request::post(body)
}

#[track_caller]
fn assert_met(server: &Server, before: &[(Rejection, u64)], row: Rejection, response: &Response) {
    assert_eq!(server.met_since(before), [row], "{response}");
    assert_eq!(response.status, row.row().status, "{response}");
}

/// The default ceiling, inclusive.
#[test]
fn bodies_may_have_8_000_000_bytes() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        for framing in FRAMINGS {
            let context = format!("{protocol:?} {framing:?}");
            let response = server.client(protocol).send(&ping(8_000_000).framing(framing));
            assert_eq!(response.status, 200, "{context}: {response}");
            let before = server.met();
            let response = server.client(protocol).send(&ping(8_000_001).framing(framing));
            assert_met(&server, &before, Rejection::BodyTooLarge, &response);
            let message = response.json()["error"]["message"].take();
            assert!(message.as_str().unwrap().contains("8000000 bytes"), "{context}: {message}");
            let close = (protocol == Protocol::Http1).then_some("close");
            assert_eq!(response.header("connection"), close, "{context}");
        }
    }
}

/// A length over the ceiling is refused before a byte of the body is there.
#[test]
fn a_declared_length_is_refused_unread() {
    let server = Server::start();
    let mut client = server.http1();
    let head = ping(0).without("Content-Length").header("Content-Length", "8000001").framing(Framing::AsIs);
    client.write(&Request { body: Vec::new(), ..head }.bytes());
    let response = client.read("POST");
    assert_eq!((response.status, response.code()), (413, -32600), "{response}");
    client.finish();
    client.assert_closed();
}

/// The request line and the head have lower limits by default; with those raised the query's own ceiling is met.
#[test]
fn queries_may_have_1_000_000_bytes() {
    let mut limits = Limits::default();
    limits.request_line = 1_100_000;
    limits.head = 1_200_000;
    let server = Server::with(|builder| builder.limits(limits));
    let with_query = |bytes: usize| Request { target: format!("/mcp?{}", "q".repeat(bytes)), ..ping(100) };
    let mut client = server.http1();
    assert_eq!(client.send(&with_query(1_000_000)).status, 200);
    let before = server.met();
    let response = client.send(&with_query(1_000_001));
    assert_met(&server, &before, Rejection::QueryTooLong, &response);
    assert!(response.text().contains("1000000 bytes"), "{response}");
    assert_eq!(client.send(&ping(100)).status, 200, "the connection stays open");
}

#[test]
fn arrays_and_objects_nest_128_deep() {
    let server = Server::start();
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 2), "]".repeat(depth - 2));
        Request::post(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{open}{close}}}}}"#))
    };
    for protocol in Protocol::BOTH {
        assert_eq!(server.client(protocol).send(&nested(128)).status, 200);
        let before = server.met();
        let response = server.client(protocol).send(&nested(129));
        assert_met(&server, &before, Rejection::MalformedJson, &response);
        assert!(response.text().contains("deeper than 128"), "{response}");
    }
}

/// Arms 1 to 6 leave the body unread: up to a bound it is drained, and beyond it the connection ends.
#[test]
fn an_unread_body_is_never_the_next_request() {
    let server = Server::start();
    // A body that would be a request if it were read as one.
    let trap = messages::modern_call(1, "count", json!({})).bytes();
    let refused = |bytes: usize, framing: Framing| {
        let mut body = trap.repeat(bytes / trap.len() + 1);
        body.truncate(bytes);
        Request::post(body).set("Content-Type", "text/plain").framing(framing)
    };
    for framing in FRAMINGS {
        let mut client = server.http1();
        for bytes in [0, trap.len(), 65_536] {
            let response = client.send(&refused(bytes, framing));
            assert_eq!(response.status, 415, "{framing:?} {bytes}: {response}");
            assert_eq!(response.header("connection"), None, "{framing:?} {bytes}");
        }
        assert_eq!(client.send(&ping(100)).status, 200, "{framing:?}");
        client.write_until_refused(&refused(65_537, framing).bytes());
        assert_eq!(client.read("POST").status, 415, "{framing:?}");
        client.finish();
        client.assert_closed();
    }
    assert_eq!(server.tools.runs(), 0);
}

/// Who waits for leave to send is refused without it, and nobody knows then whether the body comes.
#[test]
fn a_refusal_before_100_continue_closes() {
    let server = Server::start();
    for (request, status) in [
        (ping(100).set("Content-Type", "text/plain"), 415),
        (ping(100).set("Accept", "text/html"), 406),
        (ping(100).set("Origin", "null"), 403),
    ] {
        let mut client = server.http1();
        let bytes = request.header("Expect", "100-continue").bytes();
        client.write(&bytes[..bytes.len() - 100]);
        let response = client.read("POST");
        assert_eq!((response.status, response.interim.len()), (status, 0), "{response}");
        assert_eq!(response.header("connection"), Some("close"), "{response}");
        client.finish();
        client.assert_closed();
    }
    let mut client = server.http1();
    let bytes = ping(100).header("Expect", "100-continue").bytes();
    client.write(&bytes[..bytes.len() - 100]);
    let mut leave = [0; 25];
    client.socket().read_exact(&mut leave).unwrap();
    assert_eq!(&leave, b"HTTP/1.1 100 Continue\r\n\r\n");
    client.write(&bytes[bytes.len() - 100..]);
    assert_eq!(client.read("POST").status, 200);
}

/// Without `Authorization`, where it is asked for, a large body is not read.
#[test]
fn strangers_fill_no_memory() {
    let server = Server::with(|builder| builder.authenticator(Keys::default()));
    for protocol in Protocol::BOTH {
        for framing in FRAMINGS {
            let context = format!("{protocol:?} {framing:?}");
            let send = |bytes: usize, token: Option<&str>| {
                let request = ping(bytes).framing(framing);
                server.client(protocol).send(&match token {
                    Some(token) => request.header("Authorization", token),
                    None => request,
                })
            };
            let before = server.met();
            let response = send(65_536, None);
            assert_met(&server, &before, Rejection::Unauthenticated, &response);
            assert_eq!(response.json()["id"], 1, "{context}: it has been read");
            let before = server.met();
            let response = send(65_537, None);
            assert_met(&server, &before, Rejection::Unauthenticated, &response);
            assert_eq!(response.json()["id"], json!(null), "{context}: it has not");
            assert_eq!(response.header("www-authenticate"), Some("Bearer realm=\"mcp\""), "{context}");
            // A credential is judged after the body is there, so a wrong one is told with the id.
            assert_eq!(send(65_537, Some("Bearer nobody")).json()["id"], 1, "{context}");
            assert_eq!(send(65_537, Some("Bearer alice")).status, 200, "{context}");
        }
    }
}

/// Memory for large bodies is given back: what is refused for want of it is taken once it is there again.
#[test]
fn memory_comes_back() {
    let mut limits = Limits::default();
    limits.body_memory = 1 << 20;
    let server = Server::with(|builder| builder.limits(limits));
    for (protocol, free) in [(Protocol::Http1, 65_536), (Protocol::Http2, 8_192)] {
        let most = (1 << 20) + free;
        for framing in FRAMINGS {
            for _ in 0..3 {
                assert_eq!(server.client(protocol).send(&ping(most).framing(framing)).status, 200);
                let before = server.met();
                let response = server.client(protocol).send(&ping(most + 1).framing(framing));
                assert_met(&server, &before, Rejection::Overloaded, &response);
            }
            // Small bodies never ask.
            assert_eq!(server.client(protocol).send(&ping(free)).status, 200);
        }
    }
}
