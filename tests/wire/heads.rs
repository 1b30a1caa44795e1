//! Request lines and header lines that are hostile or odd (RFC 9112 sections 2 to 5). Refused and served ones are told apart as those of
//! `framing` are.

use crate::framing::{PING, assert_refused, assert_served, smuggled};
use crate::support::Server;

/// A ping with another first line.
fn with_line(line: &[u8]) -> Vec<u8> {
    let rest = format!(
        "\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{PING}",
        PING.len()
    );
    [line, rest.as_bytes()].concat()
}

/// A ping with header lines before the ones it needs.
fn with_fields(fields: &[u8]) -> Vec<u8> {
    let rest = format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{PING}", PING.len());
    [b"POST /mcp HTTP/1.1\r\n", fields, rest.as_bytes()].concat()
}

#[test]
fn request_lines_that_are_none() {
    let line = |status, line: &str| (status, with_line(line.as_bytes()));
    assert_refused([
        line(400, "POST /mcp"),
        line(400, "POST"),
        line(400, "POST /mcp "),
        line(400, "POST  /mcp HTTP/1.1"),
        line(400, "POST /mcp  HTTP/1.1"),
        line(400, "POST\t/mcp\tHTTP/1.1"),
        line(400, "POST /mcp HTTP/1.1 "),
        line(400, " POST /mcp HTTP/1.1"),
        line(400, "POST /m cp HTTP/1.1"),
        line(400, "POST /mcp HTTP/1"),
        line(400, "POST /mcp HTTP/1."),
        line(400, "POST /mcp HTTP/.1"),
        line(400, "POST /mcp http/1.1"),
        line(400, "POST /mcp HTTP/1.1x"),
        line(400, "POST /mcp HTTPS/1.1"),
        line(400, "POST /mcp HTTP/+1.1"),
        line(505, "POST /mcp HTTP/1.2"),
        line(400, "POST /mcp HTTP/1.10"),
        line(505, "POST /mcp HTTP/0.9"),
        line(505, "POST /mcp HTTP/2.0"),
        line(505, "POST /mcp HTTP/3.0"),
        line(400, "P(ST /mcp HTTP/1.1"),
        line(400, "POST: /mcp HTTP/1.1"),
        line(400, "POST /mcp#x HTTP/1.1"),
        line(400, "POST /mcp?a#x HTTP/1.1"),
        line(400, "POST /m\u{1}cp HTTP/1.1"),
        line(400, "POST /m\u{7f}cp HTTP/1.1"),
        line(400, "POST /m\u{e9}cp HTTP/1.1"),
        line(400, "POST /m\0cp HTTP/1.1"),
        line(400, "POST /m\rcp HTTP/1.1"),
        line(400, "POST mcp HTTP/1.1"),
        line(400, "POST \\mcp HTTP/1.1"),
        line(400, "POST ?a HTTP/1.1"),
        line(400, "POST * HTTP/1.1"),
        line(400, "GET * HTTP/1.1"),
        line(400, "POST 127.0.0.1:80 HTTP/1.1"),
        line(400, "CONNECT 127.0.0.1:80 HTTP/1.1"),
        line(400, "CONNECT /mcp HTTP/1.1"),
        line(400, "POST ftp://127.0.0.1/mcp HTTP/1.1"),
        line(400, "POST http:///mcp HTTP/1.1"),
        line(400, "POST http:/mcp HTTP/1.1"),
        line(400, "POST http://u@127.0.0.1/mcp HTTP/1.1"),
        line(400, "POST http://[::1/mcp HTTP/1.1"),
        (400, with_line(b"POST /\xff HTTP/1.1")),
        (400, with_line(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")),
        (400, with_line(b"\0")),
        (400, b"\nPOST /mcp HTTP/1.1\r\n\r\n".to_vec()),
        (400, b"\rPOST /mcp HTTP/1.1\r\n\r\n".to_vec()),
        (400, "\r\n".repeat(100).into_bytes()),
    ]);
}

#[test]
fn header_lines_that_are_none() {
    let fields = |fields: &[u8]| (400, with_fields(fields));
    assert_refused([
        fields(b""),
        fields(b"Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n"),
        fields(b"Host: 127.0.0.1\r\nhost: evil.example\r\n"),
        fields(b"Host: a b\r\n"),
        fields(b"Host: 127.0.0.1, evil.example\r\n"),
        fields(b"Host: u@127.0.0.1\r\n"),
        fields(b"Host: 127.0.0.1/x\r\n"),
        fields(b"Host: 127.0.0.1:x\r\n"),
        fields(b"Host: 127.0.0.1:80:80\r\n"),
        fields(b"Host: [::1\r\n"),
        fields(b"Host: \xff\r\n"),
        fields(b"Host : 127.0.0.1\r\n"),
        fields(b"Host: 127.0.0.1\r\nTransfer-Encoding : chunked\r\n"),
        fields(b"Host: 127.0.0.1\r\nContent-Length : 0\r\n"),
        fields(b"Host: 127.0.0.1\r\nContent-Length\t: 0\r\n"),
        fields(b"\tTransfer-Encoding: chunked\r\nHost: 127.0.0.1\r\n"),
        fields(b" X: y\r\nHost: 127.0.0.1\r\n"),
        fields(b"Host: 127.0.0.1\r\nX: y\r\n folded\r\n"),
        fields(b"Host: 127.0.0.1\r\nX: y\r\n\tfolded\r\n"),
        fields(b"Host: 127.0.0.1\r\n: y\r\n"),
        fields(b"Host: 127.0.0.1\r\nNo-Colon\r\n"),
        fields(b"Host: 127.0.0.1\r\nX Y: z\r\n"),
        fields(b"Host: 127.0.0.1\r\nX(Y): z\r\n"),
        fields(b"Host: 127.0.0.1\r\nX\xe9: z\r\n"),
        fields(b"Host: 127.0.0.1\r\nX\0: z\r\n"),
        fields(b"Host: 127.0.0.1\r\nX: a\0b\r\n"),
        fields(b"Host: 127.0.0.1\r\nX: a\x01b\r\n"),
        fields(b"Host: 127.0.0.1\r\nX: a\x7fb\r\n"),
        fields(b"Host: 127.0.0.1\r\nX: a\rTransfer-Encoding: chunked\r\n"),
        fields(b"Host: 127.0.0.1\r\nX: a\r\r\n"),
        fields(b"Host: 127.0.0.1\nX: y\r\n"),
        fields(b"Host: 127.0.0.1\r\nX: y\n"),
        fields(b"Host: 127.0.0.1\r\n\n"),
        (400, format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nContent-Length: 40\n\n{PING}").into_bytes()),
        (400, b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\r\n".to_vec()),
    ]);
}

#[test]
fn good_heads() {
    let line = |status, line: &str| (status, with_line(line.as_bytes()));
    let fields = |status, fields: &[u8]| (status, with_fields(fields));
    let get = |text: &str| text.as_bytes().to_vec();
    assert_served([
        line(200, "POST /mcp HTTP/1.1"),
        line(200, "POST /mcp/ HTTP/1.1"),
        line(200, "POST /mcp? HTTP/1.1"),
        line(200, "POST /mcp?a=b&c=%20[]{}\"<>^`|\\ HTTP/1.1"),
        line(200, "POST http://127.0.0.1:8080/mcp HTTP/1.1"),
        line(200, "POST HTTP://LOCALHOST/mcp HTTP/1.1"),
        line(200, "POST https://[::1]:9/mcp?x HTTP/1.1"),
        // The authority of the target wins over Host, both ways.
        line(403, "POST http://evil.example/mcp HTTP/1.1"),
        (
            200,
            format!(
                "POST http://127.0.0.1/mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{PING}"
            )
            .into_bytes(),
        ),
        line(404, "POST http://127.0.0.1 HTTP/1.1"),
        line(404, "POST //mcp HTTP/1.1"),
        line(404, "POST /MCP HTTP/1.1"),
        line(404, "POST /mcp/.. HTTP/1.1"),
        line(404, "POST /%6dcp HTTP/1.1"),
        line(404, "OPTIONS * HTTP/1.1"),
        line(405, "post /mcp HTTP/1.1"),
        line(405, "PATCH /mcp HTTP/1.1"),
        line(405, "TRACE /mcp HTTP/1.1"),
        line(405, "!#$%&'*+-.^_`|~ /mcp HTTP/1.1"),
        line(405, "GET /mcp HTTP/1.1"),
        (405, get("PUT /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")),
        (200, [b"\r\n\r\n\r\n\r\n", &with_line(b"POST /mcp HTTP/1.1")[..]].concat()),
        fields(200, b"hOsT:127.0.0.1\r\n"),
        fields(200, b"Host:\t 127.0.0.1 \t\r\n"),
        fields(200, b"Host: 127.0.0.1:\r\n"),
        fields(200, b"Host: 127.0.0.1\r\nX: \xff\xfe \t caf\xc3\xa9\r\nY:\r\n"),
        fields(200, b"Host: 127.0.0.1\r\nX: y\r\nX: z\r\nx-\x7e: ,\r\n"),
        fields(200, b"Host: 127.0.0.1\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n"),
        fields(200, b"Host: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"),
        fields(200, b"Host: 127.0.0.1\r\nContent_Length: 1\r\nTransfer_Encoding: chunked\r\n"),
        fields(403, b"Host:\r\n"),
        fields(403, b"Host: evil.example\r\n"),
    ]);
}

/// The preface is a preface only where a connection begins, and only when it is whole.
#[test]
fn a_preface_in_the_middle() {
    let server = Server::start();
    for (before, preface) in [
        (&with_line(b"POST /mcp HTTP/1.1")[..], "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        (b"", "PRI * HTTP/2.0\r\n\r\nXM\r\n\r\n"),
        (b"", "PRI * HTTP/2.0\r\nHost: 127.0.0.1\r\n\r\n"),
        (b"\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ] {
        let mut client = server.http1();
        client.write_until_refused(&[before, preface.as_bytes(), &smuggled()].concat());
        if before.len() > 2 {
            assert_eq!(client.read("POST").status, 200);
        }
        let refused = client.read("PRI");
        assert_eq!((refused.status, refused.header("connection")), (505, Some("close")), "{refused}");
        client.assert_closed();
    }
    assert_eq!(server.tools.runs(), 0);
}
