//! Requests whose body is framed in a hostile or odd way (RFC 9112 sections 6 and 7). A refused one ends its connection, and what stands behind it is
//! never run as a request of its own; a good one leaves the connection as it found it.

use serde_json::json;

use crate::support::{Request, Server, messages};

/// A message that is answered without a session: 40 bytes.
pub const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// What a request smuggler would like to see run: it counts.
pub fn smuggled() -> Vec<u8> {
    messages::modern_call(99, "count", json!({})).bytes()
}

/// A POST with `fields` besides those that every POST has, and whatever follows the head.
fn post(fields: &str, rest: &str) -> Vec<u8> {
    format!("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{fields}\r\n{rest}")
        .into_bytes()
}

/// A chunked POST.
fn chunked(wire: &str) -> Vec<u8> {
    post("Transfer-Encoding: chunked\r\n", wire)
}

/// A chunked POST of a ping whose last chunk is followed by `end`.
fn pinged(end: &str) -> Vec<u8> {
    chunked(&format!("28\r\n{PING}\r\n{end}"))
}

/// Every case is refused with its status, tells that the connection ends, ends it, and runs nothing.
#[track_caller]
pub fn assert_refused(cases: impl IntoIterator<Item = (u16, Vec<u8>)>) {
    let server = Server::start();
    let mut count = 0;
    for (status, bytes) in cases {
        let text = bytes[..bytes.len().min(300)].escape_ascii().to_string();
        let mut client = server.http1();
        client.write_until_refused(&[bytes, smuggled()].concat());
        let response = client.read("POST");
        assert_eq!(response.status, status, "{text}\n{response}");
        assert_eq!(response.header("connection"), Some("close"), "{text}\n{response}");
        client.assert_closed();
        assert_eq!(server.tools.runs(), 0, "{text}");
        count += 1;
    }
    assert!(count > 0);
}

/// Every case is answered with its status, and so is the request behind it on the same connection.
#[track_caller]
pub fn assert_served(cases: impl IntoIterator<Item = (u16, Vec<u8>)>) {
    let server = Server::start();
    let next = messages::modern_call(2, "echo", json!({"message": "next"})).bytes();
    for (status, bytes) in cases {
        let text = bytes[..bytes.len().min(300)].escape_ascii().to_string();
        let mut client = server.http1();
        client.write(&[&bytes[..], &next].concat());
        let response = client.read("POST");
        assert_eq!(response.status, status, "{text}\n{response}");
        assert_eq!(response.header("connection"), None, "{text}\n{response}");
        let second = client.read("POST");
        assert_eq!((second.status, second.tool_text().as_str()), (200, "next"), "{text}");
    }
}

#[test]
fn two_framings_or_none_that_can_be_trusted() {
    let both = |fields: &str| post(fields, &format!("28\r\n{PING}\r\n0\r\n\r\n"));
    assert_refused([
        (400, both("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")),
        (400, both("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")),
        (400, both("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n")),
        (400, both("content-length: 0\r\nTRANSFER-ENCODING: CHUNKED\r\n")),
        (400, both("Content-Length: 0\r\nTransfer-Encoding: identity\r\n")),
        (400, both("Content-Length:\r\nTransfer-Encoding: chunked\r\n")),
        (400, both("Transfer-Encoding: gzip\r\n")),
        (400, both("Transfer-Encoding: identity\r\n")),
        (400, both("Transfer-Encoding:\r\n")),
        (400, both("Transfer-Encoding: chunked, gzip\r\n")),
        (400, both("Transfer-Encoding: chunked, identity\r\n")),
        (400, both("Transfer-Encoding: chunked, chunked\r\n")),
        (400, both("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")),
        (400, both("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n")),
        (400, both("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n")),
        (400, both("Transfer-Encoding: chunked;q=1\r\n")),
        (400, both("Transfer-Encoding: \"chunked\"\r\n")),
        (400, both("Transfer-Encoding: xchunked\r\n")),
        (400, both("Transfer-Encoding: chunke\r\n")),
        (400, both("Transfer-Encoding: ,chunked\r\n")),
        (400, both("Transfer-Encoding: chunked,\r\n")),
        (400, both("Transfer-Encoding: chunked\x0b\r\n")),
        (501, both("Transfer-Encoding: gzip, chunked\r\n")),
        (501, both("Transfer-Encoding: deflate,gzip,chunked\r\n")),
        (
            400,
            format!(
                "POST /mcp HTTP/1.0\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n28\r\n{PING}\r\n0\r\n\r\n"
            )
            .into_bytes(),
        ),
    ]);
}

#[test]
fn lengths_that_are_none() {
    let length = |value: &str| (400, post(&format!("Content-Length: {value}\r\n"), PING));
    assert_refused([
        length("+40"),
        length("-40"),
        length("-0"),
        length("4 0"),
        length("40, 40"),
        length("40,40"),
        length("40,"),
        length("40, 0"),
        length("40;"),
        length("40.0"),
        length("0x28"),
        length("28h"),
        length("4_0"),
        length("\"40\""),
        length("1111111111111111111111111"),
        length("18446744073709551616"),
        length("\u{664}\u{660}"),
        length(""),
        (400, post("Content-Length: 40\r\nContent-Length: 40\r\n", PING)),
        (400, post("Content-Length: 40\r\nContent-Length: 0\r\n", PING)),
        (400, post("Content-Length: 0\r\nContent-Length: 40\r\n", PING)),
        (400, post("Content-Length: 40\r\nX: y\r\ncontent-length: 41\r\n", PING)),
        (413, post("Content-Length: 18446744073709551615\r\n", PING)),
        (413, post("Content-Length: 9223372036854775808\r\n", PING)),
    ]);
}

#[test]
fn chunks_that_are_none() {
    let huge = "e".repeat(70_000);
    assert_refused(
        [
            "+28\r\n",
            "-0\r\n\r\n",
            "-28\r\n",
            "0x28\r\n",
            "2_8\r\n",
            "28 \r\n",
            " 28\r\n",
            "28\t\r\n",
            "28;\r\n",
            "28;a=\"b\r\n",
            "28 a=b\r\n",
            "28,\r\n",
            "\r\n",
            ";a=b\r\n",
            "G\r\n",
            "28.0\r\n",
            "\u{662}8\r\n",
            "00000000000000028\r\n",
            "10000000000000000\r\n",
            "fffffffffffffffff\r\n",
        ]
        .into_iter()
        .map(|size| (400, chunked(&format!("{size}{PING}\r\n0\r\n\r\n")))),
    );
    let with_end = |between: &str| (400, chunked(&format!("28\r\n{PING}{between}0\r\n\r\n")));
    assert_refused([
        with_end(""),
        with_end("\n"),
        with_end("\r"),
        with_end("\r\r\n"),
        with_end(" \r\n"),
        with_end("}\r\n"),
        (400, chunked(&format!("28\n{PING}\r\n0\r\n\r\n"))),
        (400, chunked(&format!("28\r{PING}\r\n0\r\n\r\n"))),
        (400, chunked(&format!("28\r\r\n{PING}\r\n0\r\n\r\n"))),
        (400, chunked(&format!("28;a\n{PING}\r\n0\r\n\r\n"))),
        (400, chunked(&format!("28;a\0\r\n{PING}\r\n0\r\n\r\n"))),
        (400, chunked(&format!("28;a\rb\r\n{PING}\r\n0\r\n\r\n"))),
        (400, chunked(&format!("28;{huge}\r\n{PING}\r\n0\r\n\r\n"))),
        (413, chunked(&format!("ffffffffffffffff\r\n{PING}\r\n0\r\n\r\n"))),
        (413, chunked(&format!("8000000000000000\r\n{PING}\r\n0\r\n\r\n"))),
        (400, pinged("0\n\r\n")),
        (400, pinged("0\r\n\n")),
        (400, pinged("0\r\n\rX")),
        (400, pinged("0;a\n\r\n")),
        (400, pinged("0x0\r\n\r\n")),
        (400, pinged("0\r\n Folded: x\r\n\r\n")),
        (400, pinged("0\r\nA: b\r\n c\r\n\r\n")),
        (400, pinged("0\r\nA: b\n\r\n")),
        (400, pinged("0\r\nNo-Colon\r\n\r\n")),
        (400, pinged("0\r\nSpace : x\r\n\r\n")),
        (400, pinged("0\r\n: x\r\n\r\n")),
        (400, pinged("0\r\nA: b\0\r\n\r\n")),
        (431, pinged(&format!("0\r\nA: {huge}\r\n\r\n"))),
    ]);
}

#[test]
fn good_chunks() {
    let whole = |wire: String| (200, chunked(&wire));
    let single: String = PING.chars().map(|c| format!("1\r\n{c}\r\n")).collect();
    let (one, two) = PING.split_at(7);
    assert_served([
        whole(format!("28\r\n{PING}\r\n0\r\n\r\n")),
        whole(format!("0000000000000028\r\n{PING}\r\n0000\r\n\r\n")),
        whole(format!("28;a=b;c=\"d; e\"\r\n{PING}\r\n0;x\r\n\r\n")),
        whole(format!("28 ;\ta = \"\u{e9}\t x\"\r\n{PING}\r\n0\r\n\r\n")),
        whole(format!("{single}0\r\n\r\n")),
        whole(format!("7\r\n{one}\r\n21\r\n{two}\r\n0\r\n\r\n")),
        whole(format!("2A\r\n {PING} \r\n0\r\n\r\n")),
        whole(format!("2a\r\n {PING} \r\n0\r\n\r\n")),
        (200, pinged("0\r\nX-Check: ok\r\nEmpty:\r\n\r\n")),
        (200, pinged("0\r\nContent-Length: 5\r\nTransfer-Encoding: gzip\r\nHost: evil.example\r\n\r\n")),
        (200, pinged("0\r\nContent-Type: text/plain\r\nOrigin: http://evil.example\r\nExpect: x\r\n\r\n")),
        (200, pinged("0\r\nConnection: close\r\nContent-Encoding: gzip\r\nAccept: text/html\r\n\r\n")),
        (200, post("Transfer-Encoding: CHUNKED\r\n", &format!("28\r\n{PING}\r\n0\r\n\r\n"))),
        (200, post("Transfer-Encoding:\t chunked \r\n", &format!("28\r\n{PING}\r\n0\r\n\r\n"))),
        (
            200,
            post(
                "TE: trailers\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n",
                &format!("28\r\n{PING}\r\n0\r\nX: y\r\n\r\n"),
            ),
        ),
        (200, post("Content-Length:\t40 \r\n", PING)),
        (200, post("Content-Length: 00000000000000000040\r\n", PING)),
        // The body is data even where it looks like a request.
        (415, {
            let body = smuggled();
            let head = format!(
                "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            [head.as_bytes(), &body].concat()
        }),
    ]);
}

/// A trailer is never a header: neither credentials nor a session come in behind the body.
#[test]
fn trailers_open_no_door() {
    let server = Server::with(|builder| builder.authenticator(crate::support::door::Keys::default()));
    let mut client = server.http1();
    client.write(&pinged("0\r\nAuthorization: Bearer alice\r\n\r\n"));
    assert_eq!(client.read("POST").status, 401);
    let server = Server::start();
    let session = server.session();
    let list = messages::request(1, "tools/list", json!(null)).to_string();
    let wire = format!("{:x}\r\n{list}\r\n0\r\nMcp-Session-Id: {session}\r\n\r\n", list.len());
    let mut client = server.http1();
    client.write(&chunked(&wire));
    assert_eq!(client.read("POST").status, 400);
    assert_eq!(client.send(&Request::post(list).session(&session)).status, 200);
}
