//! HTTP/2 requests that are malformed (RFC 9113 8.1.1): their stream is reset, or the connection ends, and nothing runs.

use serde_json::json;

use crate::frames::{Frames, Outcome, PREFACE};
use crate::support::{Server, messages};

type Send = fn(&mut Frames);
type Fields = Vec<(&'static str, &'static str)>;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// The head of a ping.
fn good() -> Fields {
    vec![
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/mcp"),
        (":authority", "localhost"),
        ("content-type", "application/json"),
    ]
}

/// The head of a call that counts.
fn calling() -> Fields {
    let mirrored =
        [("mcp-protocol-version", messages::MODERN), ("mcp-method", "tools/call"), ("mcp-name", "count")];
    [good(), mirrored.to_vec()].concat()
}

fn with(field: (&'static str, &'static str)) -> Fields {
    let mut fields = calling();
    fields.push(field);
    fields
}

fn without(name: &str) -> Fields {
    let mut fields = calling();
    fields.retain(|(other, _)| *other != name);
    fields
}

/// A call that counts, to be sent in a malformed request.
fn counted() -> String {
    String::from_utf8(messages::modern_call(9, "count", json!({})).body).unwrap()
}

/// What the answer to a ping is.
fn pong() -> Outcome {
    Outcome::Answered(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_vec())
}

/// The stream is reset and the next one is served, or the connection is gone.
#[track_caller]
fn assert_malformed(server: &Server, context: &str, send: impl FnOnce(&mut Frames)) {
    let mut client = Frames::connect(server.address);
    send(&mut client);
    match client.outcome(1) {
        Outcome::Reset(code) => {
            assert_eq!(code, 1, "{context}: PROTOCOL_ERROR");
            client.headers(3, &good(), false);
            client.data(3, PING.as_bytes(), true);
            assert_eq!(client.outcome(3), pong(), "{context}");
        }
        Outcome::Gone(code) => assert!(code.is_some_and(|code| code != 0), "{context}: a reason"),
        answered @ Outcome::Answered(_) => panic!("{context}: {answered:?}"),
    }
    assert_eq!(server.tools.runs(), 0, "{context}");
}

#[test]
fn fields_that_have_no_place() {
    let server = Server::start();
    let body = counted();
    let mut client = Frames::connect(server.address);
    client.headers(1, &calling(), false);
    client.data(1, body.as_bytes(), true);
    assert!(matches!(client.outcome(1), Outcome::Answered(_)));
    assert_eq!(server.tools.runs(), 1, "without a fault it runs");
    let server = Server::start();
    for fields in [
        with(("connection", "keep-alive")),
        with(("connection", "close")),
        with(("keep-alive", "timeout=5")),
        with(("proxy-connection", "keep-alive")),
        with(("transfer-encoding", "chunked")),
        with(("upgrade", "websocket")),
        with(("te", "gzip")),
        with(("te", "trailers, gzip")),
        with(("Content-Type", "application/json")),
        with(("X-Upper", "x")),
        with(("x y", "x")),
        with(("x\0y", "x")),
        with(("", "x")),
        with(("x", "a\rb")),
        with(("x", "a\nb")),
        with(("x", "a\r\nmcp-session-id: b")),
        with(("x", "a\0b")),
        with((":path", "/mcp")),
        with((":method", "GET")),
        with((":status", "200")),
        with((":unknown", "x")),
        [vec![("x", "y")], calling()].concat(),
        [calling(), vec![(":authority", "localhost")]].concat(),
        without(":method"),
        without(":scheme"),
        without(":path"),
        [vec![(":path", "")], without(":path")].concat(),
        [vec![(":path", "mcp")], without(":path")].concat(),
        [vec![(":path", "/m cp")], without(":path")].concat(),
        [vec![(":method", "P ST")], without(":method")].concat(),
        [vec![(":method", "")], without(":method")].concat(),
        [vec![(":authority", "a b")], without(":authority")].concat(),
    ] {
        let context = format!("{fields:?}");
        assert_malformed(&server, &context, |client| {
            client.headers(1, &fields, false);
            client.data(1, body.as_bytes(), true);
        });
    }
}

#[test]
fn lengths_that_differ_from_the_body() {
    let server = Server::start();
    let body = counted();
    for length in ["0", "1", "10", "100000", "x", "-1", "+1", "1, 1", "18446744073709551616"] {
        assert_malformed(&server, length, |client| {
            client.headers(1, &with(("content-length", length)), false);
            client.data(1, body.as_bytes(), true);
        });
    }
    assert_malformed(&server, "no body at all", |client| {
        client.headers(1, &with(("content-length", "5")), true);
    });
    assert_malformed(&server, "two lengths", |client| {
        client.headers(1, &[with(("content-length", "1")), vec![("content-length", "2")]].concat(), false);
        client.data(1, body.as_bytes(), true);
    });
}

#[test]
fn trailers() {
    let server = Server::start();
    for trailers in [
        &[("x-check", "ok")][..],
        &[("authorization", "Bearer x"), ("mcp-session-id", "nobody"), ("content-type", "text/plain")],
    ] {
        let mut client = Frames::connect(server.address);
        client.headers(1, &good(), false);
        client.data(1, PING.as_bytes(), false);
        client.headers(1, trailers, true);
        assert_eq!(client.outcome(1), pong(), "{trailers:?}");
    }
    let body = counted();
    for (context, trailers, ends) in [
        ("trailers that do not end the stream", ("x-check", "ok"), false),
        ("a connection header", ("connection", "close"), true),
        ("a line end", ("x", "a\r\nb"), true),
    ] {
        assert_malformed(&server, context, |client| {
            client.headers(1, &calling(), false);
            client.data(1, body.as_bytes(), false);
            client.headers(1, &[trailers], ends);
            if !ends {
                client.data(1, b"", true);
            }
        });
    }
}

/// Frames that no connection survives.
#[test]
fn frames_out_of_order() {
    let server = Server::start();
    let cases: [(&str, Send); 9] = [
        ("data on a stream that was never opened", |client| client.data(1, b"x", true)),
        ("a stream of the server's", |client| client.headers(2, &good(), true)),
        ("stream 0", |client| client.headers(0, &good(), true)),
        ("a lower stream than before", |client| {
            client.headers(5, &good(), true);
            client.headers(1, &good(), true);
        }),
        ("a continuation of nothing", |client| client.frame(9, 4, 1, b"")),
        ("a frame between two of one block", |client| {
            client.frame(1, 0, 1, b"");
            client.frame(6, 0, 0, &[0; 8]);
        }),
        ("a block that is none", |client| client.frame(1, 5, 1, b"\xff\xff\xff\xff\xff\xff\xff\xff")),
        ("a frame larger than allowed", |client| client.frame(0, 0, 1, &[0; 20_000])),
        ("a push promise", |client| client.frame(5, 4, 1, &[0; 8])),
    ];
    for (context, send) in cases {
        let mut client = Frames::connect(server.address);
        send(&mut client);
        let ended = client.outcome(1);
        assert!(matches!(ended, Outcome::Gone(Some(code)) if code != 0), "{context}: {ended:?}");
    }
    let mut client = Frames::silent(server.address);
    client.write(PREFACE);
    client.frame(0, 0, 0, b"no settings");
    assert!(matches!(client.outcome(1), Outcome::Gone(_)));
    assert_eq!(server.tools.runs(), 0);
}

#[test]
fn head_lists_that_are_too_long() {
    let server = Server::start();
    let pad = "p".repeat(9_000);
    for (lines, answered) in [(6, true), (8, false)] {
        let mut fields: Vec<(&str, &str)> = good();
        fields.extend((0..lines).map(|_| ("x-pad", pad.as_str())));
        let mut client = Frames::connect(server.address);
        client.headers(1, &fields, false);
        client.data(1, PING.as_bytes(), true);
        let outcome = client.outcome(1);
        assert_eq!(outcome == pong(), answered, "{lines} lines: {outcome:?}");
        if !matches!(outcome, Outcome::Gone(_)) {
            client.headers(3, &good(), false);
            client.data(3, PING.as_bytes(), true);
            assert_eq!(client.outcome(3), pong());
        }
    }
}
