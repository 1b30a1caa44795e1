//! Whitespace where none may stand, folded lines, and line ends that are none (RFC 9112 2.2 and 5).

use super::row::*;

const COLON: &str = "9112 5.1: whitespace before the colon must be 400";
const START: &str = "9112 2.2: whitespace before the first header line: refused";
const FOLD: &str = "9112 5.2: a folded line is refused with 400 or read as one; stricter: refused";
const LF: &str = "9112 2.2: a bare LF may be taken for a line end; stricter: refused";
const CR: &str = "9112 2.2: a bare CR is invalid";

pub fn rows() -> Vec<Row> {
    let with = |fields: &str| ping_with(format!("{HOST}{fields}"));
    let body = format!("{}0\r\n\r\n", chunk(&smuggled()));
    let bare = |end: &str| String::from_utf8(sized(PING)).expect("text").replace("\r\n", end);
    vec![
        refused("a space before Host's colon", COLON, 400, ping_with("Host : localhost\r\n")),
        refused("a space before a length's colon", COLON, 400, {
            post("Content-Length : 0\r\n", smuggled())
        }),
        refused("a tab before a length's colon", COLON, 400, post("Content-Length\t: 0\r\n", smuggled())),
        refused(
            "a space before a coding's colon",
            COLON,
            400,
            post("Transfer-Encoding : chunked\r\n", &body),
        ),
        refused("a space before an unknown colon", COLON, 400, with("X : y\r\n")),
        refused("a space before the first header line", START, 400, ping_with(format!(" X: y\r\n{HOST}"))),
        refused("a tab before the first header line", START, 400, {
            ping_with(format!("\tTransfer-Encoding: chunked\r\n{HOST}"))
        }),
        refused("a folded line", FOLD, 400, with("X: y\r\n z\r\n")),
        refused("a line folded by a tab", FOLD, 400, with("X: y\r\n\tz\r\n")),
        refused("a folded length", FOLD, 400, post("Content-Length:\r\n 0\r\n", smuggled())),
        refused("a folded coding", FOLD, 400, post("Transfer-Encoding:\r\n chunked\r\n", &body)),
        refused(
            "a folded second coding",
            FOLD,
            400,
            post("Transfer-Encoding: chunked\r\n , identity\r\n", &body),
        ),
        refused("a length behind a fold", FOLD, 400, post("X: y\r\n Content-Length: 0\r\n", smuggled())),
        refused("a coding behind a fold", FOLD, 400, post("X: y\r\n\tTransfer-Encoding: chunked\r\n", &body)),
        refused("a folded Host", FOLD, 400, ping_with("Host:\r\n localhost\r\n")),
        refused("a line of whitespace for the last one", FOLD, 400, post(" \r\n", smuggled())),
        refused("a line of whitespace and an empty one", FOLD, 400, with("X: y\r\n \r\n")),
        refused("bare LFs everywhere", LF, 400, bare("\n")),
        refused("a bare LF behind the request line", LF, 400, {
            format!("POST /mcp HTTP/1.1\n{HOST}{TYPE}{}\r\n{PING}", length(PING.len()))
        }),
        refused("a bare LF behind a header line", LF, 400, with("X: y\n")),
        refused("a coding behind a bare LF", LF, 400, post("X: y\nTransfer-Encoding: chunked\r\n", &body)),
        refused("a bare LF for the last line", LF, 400, post("\n", smuggled())),
        refused("a bare LF behind the last header line", LF, 400, {
            format!("POST /mcp HTTP/1.1\r\n{HOST}{TYPE}Content-Length: 40\n\r\n{PING}")
        }),
        refused("bare CRs everywhere", CR, 400, format!("{}\r\n", bare("\r"))),
        refused("a bare CR behind a header line", CR, 400, with("X: y\rY: z\r\n")),
        refused("two CRs and one LF", CR, 400, with("X: y\r\r\n")),
        refused("two CRs and one LF for the last line", CR, 400, post("\r", smuggled())),
        refused("LF and CR for CR and LF", LF, 400, with("X: y\n\r")),
    ]
}
