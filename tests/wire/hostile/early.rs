//! Answers that go out before the body is read (RFC 9112 9.3): the body is read and dropped, or the connection ends. In no case is it the
//! next request.

use super::row::*;

const DROPPED: &str =
    "9112 9.3: the rest of the message is read, or the connection ends: read, up to a bound";
const BOUND: &str = "9112 9.3: beyond the bound the connection ends";
const UNREADABLE: &str = "9112 6.3: where the body cannot be read the connection ends";

pub fn rows() -> Vec<Row> {
    let prey = smuggled();
    let told = |head: &str| with_body(head, &prey);
    let wired =
        |wire: &str| format!("POST /nowhere HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n{wire}");
    let whole = format!("{}0\r\n\r\n", chunk(&prey));
    vec![
        served("a request in a body that nobody wants", DROPPED, 404, told("POST /nowhere HTTP/1.1\r\n")),
        served("a request in a body without a type", DROPPED, 415, told("POST /mcp HTTP/1.1\r\n")),
        served("a request in a body of two types", DROPPED, 400, {
            told(&format!("POST /mcp HTTP/1.1\r\n{TYPE}{TYPE}"))
        }),
        served("a request in a compressed body", DROPPED, 415, {
            told(&format!("POST /mcp HTTP/1.1\r\n{TYPE}Content-Encoding: gzip\r\n"))
        }),
        served("a request in a body that cannot be answered", DROPPED, 406, {
            told(&format!("POST /mcp HTTP/1.1\r\n{TYPE}Accept: text/html\r\n"))
        }),
        served("a request in the body of a foreign origin", DROPPED, 403, {
            told(&format!("POST /mcp HTTP/1.1\r\n{TYPE}Origin: http://evil.example\r\n"))
        }),
        served("a request in the body of two origins", DROPPED, 400, {
            let origin = "Origin: http://localhost\r\n";
            told(&format!("POST /mcp HTTP/1.1\r\n{TYPE}{origin}{origin}"))
        }),
        served("a request behind a query that is no text", DROPPED, 400, {
            told(&format!("POST /mcp?%zz HTTP/1.1\r\n{TYPE}"))
        }),
        served("a request in the body of a stream that is not there", DROPPED, 404, {
            told("GET /mcp HTTP/1.1\r\nMcp-Session-Id: none\r\n")
        })
        .verb("GET"),
        served("a request in the body of a health check", DROPPED, 404, told("GET /nowhere HTTP/1.1\r\n"))
            .verb("GET"),
        served("a request in chunks that nobody wants", DROPPED, 404, wired(&whole)),
        served("a request in many chunks that nobody wants", DROPPED, 404, {
            let chunks: String = prey.split_inclusive('\n').map(chunk).collect();
            wired(&format!("{chunks}0\r\n\r\n"))
        }),
        served("trailers of chunks that nobody wants", DROPPED, 404, {
            wired(&format!("{}0;a=b\r\nContent-Length: 9\r\nHost: evil.example\r\n\r\n", chunk(&prey)))
        }),
        served("no chunks that nobody wants", DROPPED, 404, wired("0\r\n\r\n")),
        served("a body of zero that nobody wants", DROPPED, 404, {
            format!("POST /nowhere HTTP/1.1\r\n{HOST}Content-Length: 0\r\n\r\n")
        }),
        refused("a long body that nobody wants", BOUND, 404, {
            format!("POST /nowhere HTTP/1.1\r\n{HOST}{}\r\n{prey}", length(65_537))
        }),
        refused("an endless body that nobody wants", BOUND, 404, {
            format!("POST /nowhere HTTP/1.1\r\n{HOST}{}\r\n{prey}", length(usize::MAX))
        }),
        dropped("a long chunk that nobody wants", BOUND, 404, wired(&format!("10001\r\n{prey}"))),
        dropped(
            "an endless chunk that nobody wants",
            BOUND,
            404,
            wired(&format!("ffffffffffffffff\r\n{prey}")),
        ),
        dropped(
            "a chunk size that is none, and nobody wants it",
            UNREADABLE,
            404,
            wired(&format!("0x1\r\n{whole}")),
        ),
        dropped("a bare LF in an extension that nobody wants", UNREADABLE, 404, {
            wired(&format!("2;\nxx\r\n{whole}"))
        }),
        dropped("two other bytes behind data that nobody wants", UNREADABLE, 404, {
            wired(&format!("{:x}\r\n{prey}XX0\r\n\r\n", prey.len()))
        }),
        dropped("a trailer that is none, and nobody wants it", UNREADABLE, 404, {
            wired(&format!("{}0\r\nGET /hidden HTTP/1.1\r\n\r\n{prey}", chunk(&prey)))
        }),
        dropped(
            "no end of chunks that nobody wants",
            UNREADABLE,
            404,
            wired(&format!("{}0\r\n{prey}", chunk(&prey))),
        ),
    ]
}
