//! Request lines, and what stands before them (RFC 9112 2.2 and 3).

use super::row::*;

const LINE: &str =
    "9112 3: a request line is three pieces and two spaces; stricter: no other whitespace is taken for one";

pub fn rows() -> Vec<Row> {
    vec![
        refused("two spaces before the target", LINE, 400, line("POST  /mcp HTTP/1.1")),
        refused("two spaces before the version", LINE, 400, line("POST /mcp  HTTP/1.1")),
        refused("a space before the method", LINE, 400, line(" POST /mcp HTTP/1.1")),
        refused("a space behind the version", LINE, 400, line("POST /mcp HTTP/1.1 ")),
        refused("a tab for a space", LINE, 400, line("POST\t/mcp HTTP/1.1")),
        refused("a vertical tab for a space", LINE, 400, line("POST\x0b/mcp HTTP/1.1")),
        refused("a form feed for a space", LINE, 400, line("POST /mcp\x0cHTTP/1.1")),
        refused("a carriage return for a space", LINE, 400, line("POST\r/mcp HTTP/1.1")),
        refused("a space in the target", LINE, 400, line("POST /m cp HTTP/1.1")),
        refused("a second version", LINE, 400, line("POST /mcp HTTP/1.1 HTTP/1.1")),
        refused("a method alone", LINE, 400, line("POST")),
        refused("a response for a request", LINE, 400, line("HTTP/1.1 200 OK")),
        refused("a line of a load balancer's protocol", LINE, 400, {
            [&b"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n"[..], &sized(PING)].concat()
        }),
        refused("a TLS handshake", LINE, 400, line(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")),
        refused("a leading NUL", LINE, 400, line("\0POST /mcp HTTP/1.1")),
        refused("a byte-order mark", LINE, 400, line("\u{feff}POST /mcp HTTP/1.1")),
        served("an empty line before the request", "9112 2.2: at least one is skipped", 200, {
            [b"\r\n", &sized(PING)[..]].concat()
        }),
        served("four empty lines before the request", "9112 2.2: chosen: four", 200, {
            [b"\r\n\r\n\r\n\r\n", &sized(PING)[..]].concat()
        }),
        refused("five empty lines before the request", "9112 2.2: chosen: four", 400, {
            [b"\r\n\r\n\r\n\r\n\r\n", &sized(PING)[..]].concat()
        }),
        refused("a bare LF before the request", "9112 2.2: an empty line is CR LF", 400, {
            [b"\n", &sized(PING)[..]].concat()
        }),
        refused("a bare CR before the request", "9112 2.2: an empty line is CR LF", 400, {
            [b"\r", &sized(PING)[..]].concat()
        }),
        refused("a line of spaces before the request", LINE, 400, [b"  \r\n", &sized(PING)[..]].concat()),
    ]
}
