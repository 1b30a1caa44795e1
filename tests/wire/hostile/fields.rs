//! Names and values of header lines (RFC 9110 5, RFC 9112 5).

use super::row::*;

const NAME: &str = "9110 5.1: a name is a token, and a colon follows it";
const VALUE: &str = "9110 5.5: CR, LF and NUL are refused; stricter: so is every other control character";
const UNKNOWN: &str = "9110 5.1: a header that is not known is left alone";

pub fn rows() -> Vec<Row> {
    let with = |fields: &[u8]| ping_with([HOST.as_bytes(), fields].concat());
    vec![
        refused("an empty name", NAME, 400, with(b": y\r\n")),
        refused("a pseudo-header", NAME, 400, with(b":method: POST\r\n")),
        refused("a line without a colon", NAME, 400, with(b"X\r\n")),
        refused("a space in a name", NAME, 400, with(b"Transfer Encoding: chunked\r\n")),
        refused("a tab in a name", NAME, 400, with(b"Transfer\tEncoding: chunked\r\n")),
        refused("a bracket in a name", NAME, 400, with(b"X(Y): z\r\n")),
        refused("a slash in a name", NAME, 400, with(b"X/Y: z\r\n")),
        refused("a quote in a name", NAME, 400, with(b"\"X\": z\r\n")),
        refused("a NUL in a name", NAME, 400, with(b"Content-Length\0: 0\r\n")),
        refused("a letter beyond ASCII in a name", NAME, 400, with(b"Content-Length\xa0: 0\r\n")),
        refused("a control character before a name", NAME, 400, with(b"\x01Transfer-Encoding: chunked\r\n")),
        refused("a vertical tab before a name", NAME, 400, with(b"\x0bTransfer-Encoding: chunked\r\n")),
        refused("a request line among the header lines", NAME, 400, with(b"GET /hidden HTTP/1.1\r\n")),
        refused("a NUL in a value", VALUE, 400, with(b"X: a\0b\r\n")),
        refused("a control character in a value", VALUE, 400, with(b"X: a\x01b\r\n")),
        refused("DEL in a value", VALUE, 400, with(b"X: a\x7fb\r\n")),
        refused("an escape sequence in a value", VALUE, 400, with(b"X: \x1b[2J\r\n")),
        refused("a header line behind a bare CR", VALUE, 400, with(b"X: a\rTransfer-Encoding: chunked\r\n")),
        refused("a header line behind a vertical tab", VALUE, 400, {
            with(b"X: a\x0bTransfer-Encoding: chunked\r\n")
        }),
        served("bytes beyond ASCII in a value", "9110 5.5: they are opaque", 200, {
            with(b"X: \x85\xff\xfe caf\xc3\xa9\r\n")
        }),
        served("a line separator of Unicode in a value", "9110 5.5: opaque, and no line end", 200, {
            with("X: a\u{2028}Content-Length: 0\u{85}Content-Length: 0\r\n".as_bytes())
        }),
        served("an encoded line end in a value", "9110 5.5: it is data", 200, {
            with(b"X: a%0d%0aTransfer-Encoding: chunked\r\n")
        }),
        served("an empty value", UNKNOWN, 200, with(b"X:\r\nY: \t \r\n")),
        served("one name on three lines", UNKNOWN, 200, with(b"X: a\r\nX: b\r\nx: a\r\n")),
        served("underscores for hyphens", UNKNOWN, 200, {
            with(b"Content_Length: 1\r\nTransfer_Encoding: chunked\r\n")
        }),
        served("names that begin alike", UNKNOWN, 200, {
            with(b"Content-Lengths: 1\r\nTransfer-Encodin: chunked\r\nX-Content-Length: 1\r\n")
        }),
        served("a colon in a value", UNKNOWN, 200, with(b"X:: Transfer-Encoding: chunked\r\n")),
    ]
}
