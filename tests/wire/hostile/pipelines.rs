//! Several requests in one row (RFC 9112 9.3.2): in order, each answered once, and none behind the last answer.

use super::row::*;

const ORDER: &str = "9112 9.3.2: answers in the order of their requests";
const LAST: &str = "9112 9.6: no request behind the last answer is looked at";
const BETWEEN: &str = "9112 2.2: an empty line that a client sends behind its body is skipped";

pub fn rows() -> Vec<Row> {
    let ping = sized(PING);
    let in_chunks = chunked(format!("{}0;a\r\nX: y\r\n\r\n", chunk(PING)));
    let get = with_body("GET /mcp HTTP/1.1\r\n", smuggled());
    let notification = sized(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#);
    let behind = |bytes: &[u8]| [&ping[..], bytes].concat();
    let prey = smuggled().into_bytes();
    vec![
        several("forty requests at once", ORDER, &[200; 40], Then::Open, ping.repeat(40)),
        several("twenty chunked requests at once", ORDER, &[200; 20], Then::Open, in_chunks.repeat(20)),
        several("both framings in turn", ORDER, &[200, 200, 200, 200], Then::Open, {
            [&ping[..], &in_chunks, &ping, &in_chunks].concat()
        }),
        several("bodies that are read and bodies that are not", ORDER, &[200, 405, 200, 405], Then::Open, {
            [&ping[..], &get, &in_chunks, &get].concat()
        }),
        several("a message without an answer of its own", ORDER, &[400, 200], Then::Open, {
            [&notification[..], &ping].concat()
        }),
        several("an empty line behind a body", BETWEEN, &[200, 200], Then::Open, {
            [&ping[..], b"\r\n", &ping].concat()
        }),
        several("two empty lines behind a chunked body", BETWEEN, &[200, 200], Then::Open, {
            [&in_chunks[..], b"\r\n\r\n", &ping].concat()
        }),
        several("a bare LF behind a body", "9112 2.2: an empty line is CR LF", &[200, 400], Then::Closed, {
            [&ping[..], b"\n", &prey].concat()
        }),
        several("a NUL behind a body", LAST, &[200, 400], Then::Closed, [&ping[..], b"\0", &prey].concat()),
        several("a byte too many behind a body", LAST, &[200, 400], Then::Closed, {
            [&ping[..], b"}\r\n", &prey].concat()
        }),
        several("a request behind a head that is none", LAST, &[200, 400], Then::Closed, {
            behind(&[b"GET /mcp\r\n", &prey[..]].concat())
        }),
        several("a request behind two framings", LAST, &[200, 400], Then::Closed, {
            let fields = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n";
            behind(&post(fields, [b"0\r\n\r\n", &prey[..]].concat()))
        }),
        several("a request behind an unknown coding", LAST, &[200, 501], Then::Closed, {
            behind(&post("Transfer-Encoding: br, chunked\r\n", &prey))
        }),
        several("a request behind a body that is no JSON", LAST, &[200, 400], Then::Closed, {
            behind(&[&sized("{")[..], &prey].concat())
        }),
        several("a request behind a body that is too long", LAST, &[200, 413], Then::Closed, {
            behind(&post("Content-Length: 8000001\r\n", &prey))
        }),
        several("a request behind a chunk that is too long", LAST, &[200, 413], Then::Closed, {
            behind(&chunked([b"7a1201\r\n", &prey[..]].concat()))
        }),
        several("a request behind the last one", LAST, &[200, 200], Then::Closed, {
            let last = post(format!("Connection: close\r\n{}", length(PING.len())), PING);
            behind(&[&last[..], &prey].concat())
        }),
        several("a request behind one of HTTP/1.0", LAST, &[200, 200], Then::Closed, {
            let last = format!("POST /mcp HTTP/1.0\r\n{HOST}{TYPE}{}\r\n{PING}", length(PING.len()));
            behind(&[last.as_bytes(), &prey].concat())
        }),
    ]
}
