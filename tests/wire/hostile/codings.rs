//! Forms of `Transfer-Encoding` (RFC 9112 6.1 and 7). Every body is chunked and holds a request, behind the one that would be found if it
//! were not.

use super::row::*;

const LAST: &str = "9112 6.3: without `chunked` for its last coding, a request has no end and is 400";
const UNSERVED: &str = "9112 6.1: another coding is 501";
const ONCE: &str = "9112 7.1: `chunked` stands once; stricter: and has no parameters";
const EMPTY: &str =
    "9110 5.6.1.2: some empty members may be skipped; stricter: none, where framing hangs on it";
const TOKEN: &str = "9112 7: a coding is a token";

pub fn rows() -> Vec<Row> {
    let body = format!("{}0\r\n\r\n", chunk(&smuggled()));
    let coded = |value: &str| post(format!("Transfer-Encoding: {value}\r\n"), &body);
    let bytes = |value: &[u8]| post([b"Transfer-Encoding: ", value, b"\r\n"].concat(), &body);
    let lines = |one: &str, two: &str| {
        post(format!("Transfer-Encoding: {one}\r\nTransfer-Encoding: {two}\r\n"), &body)
    };
    let good = format!("{}0\r\n\r\n", chunk(PING));
    vec![
        refused("identity", LAST, 400, coded("identity")),
        refused("gzip alone", LAST, 400, coded("gzip")),
        refused("chunked and then gzip", LAST, 400, coded("chunked, gzip")),
        refused("chunked and then identity", LAST, 400, coded("chunked, identity")),
        refused("gzip and then chunked", UNSERVED, 501, coded("gzip, chunked")),
        refused("identity and then chunked", UNSERVED, 501, coded("identity, chunked")),
        refused("chunked twice", ONCE, 400, coded("chunked, chunked")),
        refused("chunked on two lines", ONCE, 400, lines("chunked", "chunked")),
        refused("chunked and identity on two lines", ONCE, 400, lines("chunked", "identity")),
        refused("identity and chunked on two lines", ONCE, 400, lines("identity", "chunked")),
        refused("an empty line and chunked", ONCE, 400, lines("", "chunked")),
        refused("a parameter of chunked", ONCE, 400, coded("chunked;q=1")),
        refused("a comma before chunked", EMPTY, 400, coded(",chunked")),
        refused("a comma behind chunked", EMPTY, 400, coded("chunked,")),
        refused("an empty coding", LAST, 400, coded("")),
        refused("a quoted coding", TOKEN, 400, coded("\"chunked\"")),
        refused("a letter too many", TOKEN, 400, coded("xchunked")),
        refused("a letter too few", TOKEN, 400, coded("chunke")),
        refused("a Kelvin sign for a k", TOKEN, 400, coded("chun\u{212a}ed")),
        refused("two codings without a comma", TOKEN, 400, coded("identity chunked")),
        refused("a colon before chunked", TOKEN, 400, coded(": chunked")),
        refused("a vertical tab behind chunked", TOKEN, 400, coded("chunked\x0b")),
        refused("a form feed before chunked", TOKEN, 400, coded("\x0cchunked")),
        refused("a NUL behind chunked", TOKEN, 400, coded("chunked\0")),
        refused("a bare CR behind chunked", TOKEN, 400, coded("chunked\rX")),
        refused("a no-break space behind chunked", TOKEN, 400, bytes(b"chunked\xa0")),
        refused("a next-line character behind chunked", TOKEN, 400, bytes(b"chunked\x85")),
        refused("chunked on HTTP/1.0", "9112 6.1: faulty, whatever follows; stricter: refused", 400, {
            let head = format!("POST /mcp HTTP/1.0\r\n{HOST}{TYPE}Connection: keep-alive\r\n");
            format!("{head}Transfer-Encoding: chunked\r\n\r\n{body}")
        }),
        served("chunked", "9112 7.1", 200, chunked(&good)),
        served("chunked in capitals", "9112 7: codings in any case", 200, {
            post("TRANSFER-ENCODING: CHUNKED\r\n", &good)
        }),
        served("chunked with whitespace around it", "9110 5.5: it is no part of the value", 200, {
            post("Transfer-Encoding: \t chunked \t\r\n", &good)
        }),
        served("a coding that may answer only", "9110 10.1.4: `TE` says nothing about the request", 200, {
            post(format!("TE: chunked\r\nConnection: TE\r\n{}", length(PING.len())), PING)
        }),
    ]
}
