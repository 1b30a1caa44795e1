//! Versions (RFC 9110 2.5, RFC 9112 2.3), and the other version's preface where none may stand (RFC 9113 3.4).

use super::row::*;

const FORM: &str = "9112 2.3: `HTTP/` in capitals, a digit, a point, a digit";
const UNSERVED: &str = "9110 15.6.6: a version that is not served";
const PREFACE: &str = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const MIDDLE: &str =
    "9113 3.4: a preface begins a connection; anywhere else it is a request of a version that is not served";

pub fn rows() -> Vec<Row> {
    let http10 =
        |fields: &str| format!("POST /mcp HTTP/1.0\r\n{fields}{TYPE}{}\r\n{PING}", length(PING.len()));
    vec![
        refused("a request of HTTP/0.9", FORM, 400, "GET /mcp\r\n"),
        refused("a request of HTTP/0.9 with a space", FORM, 400, "GET /mcp \r\n"),
        refused("a version in lower case", FORM, 400, line("POST /mcp http/1.1")),
        refused("a version without a minor number", FORM, 400, line("POST /mcp HTTP/1")),
        refused("a version with two minor digits", FORM, 400, line("POST /mcp HTTP/1.10")),
        refused("a version with a leading zero", FORM, 400, line("POST /mcp HTTP/01.1")),
        refused("a version with two major digits", FORM, 400, line("POST /mcp HTTP/11.1")),
        refused("a version with three numbers", FORM, 400, line("POST /mcp HTTP/1.1.1")),
        refused("a version with a comma", FORM, 400, line("POST /mcp HTTP/1,1")),
        refused("a version with a sign", FORM, 400, line("POST /mcp HTTP/+1.1")),
        refused("another protocol's name", FORM, 400, line("POST /mcp ICAP/1.0")),
        refused("HTTP/0.9 spelled out", UNSERVED, 505, line("POST /mcp HTTP/0.9")),
        refused(
            "HTTP/1.2",
            "9110 2.5: it should be read as HTTP/1.1; stricter: there is none",
            505,
            line("POST /mcp HTTP/1.2"),
        ),
        refused("HTTP/2.0 in a request line", UNSERVED, 505, line("POST /mcp HTTP/2.0")),
        refused("HTTP/3.0 in a request line", UNSERVED, 505, line("POST /mcp HTTP/3.0")),
        several("a preface behind a request", MIDDLE, &[200, 505], Then::Closed, {
            [&sized(PING), PREFACE.as_bytes()].concat()
        }),
        refused("a preface behind an empty line", MIDDLE, 505, format!("\r\n{PREFACE}")),
        refused("a preface with a changed byte", MIDDLE, 505, PREFACE.replace("SM", "XM")),
        refused("a preface with a header line", MIDDLE, 505, PREFACE.replacen("\r\n", "\r\nHost: a\r\n", 1)),
        refused("HTTP/1.0 ends the connection", "9112 9.3: it does unless asked not to", 200, http10(HOST)),
        served("HTTP/1.0 that asks to stay", "9112 9.3: keep-alive is obeyed", 200, {
            http10("Host: localhost\r\nConnection: Keep-Alive\r\n")
        }),
        refused("HTTP/1.0 that asks for both", "9112 9.3: close comes first", 200, {
            http10("Host: localhost\r\nConnection: keep-alive, close\r\n")
        }),
        refused("HTTP/1.0 with two hosts", "9112 3.2: whatever the version", 400, {
            http10("Host: localhost\r\nHost: localhost\r\nConnection: keep-alive\r\n")
        }),
    ]
}
