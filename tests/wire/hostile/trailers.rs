//! Trailer sections (RFC 9112 7.1.2, RFC 9110 6.5).

use super::row::*;

const FORM: &str = "9112 7.1.2: trailers are header lines, and are held to the same form";
const END: &str = "9112 7.1.3: the section ends at its empty line, and nowhere else";
const DROPPED: &str = "9110 6.5.1: a trailer is no header: it is read and dropped";

pub fn rows() -> Vec<Row> {
    let prey = smuggled();
    let with = |section: &str| chunked(format!("{}0\r\n{section}\r\n{prey}", chunk(PING)));
    let good = |section: &str| chunked(format!("{}0\r\n{section}\r\n", chunk(PING)));
    vec![
        refused("a trailer without a colon", FORM, 400, with("X\r\n")),
        refused("a trailer with an empty name", FORM, 400, with(": y\r\n")),
        refused("a space before a trailer's colon", FORM, 400, with("X : y\r\n")),
        refused("a space in a trailer's name", FORM, 400, with("X Y: z\r\n")),
        refused("a space before a trailer", FORM, 400, with(" X: y\r\n")),
        refused("a folded trailer", FORM, 400, with("X: y\r\n z\r\n")),
        refused("a NUL in a trailer", FORM, 400, with("X: a\0b\r\n")),
        refused("a control character in a trailer's name", FORM, 400, with("X\x01: y\r\n")),
        refused("DEL in a trailer", FORM, 400, with("X: a\x7f\r\n")),
        refused(
            "a request line among the trailers",
            FORM,
            400,
            with("GET /hidden HTTP/1.1\r\nHost: localhost\r\n"),
        ),
        refused("a line of whitespace among the trailers", FORM, 400, with(" \r\n")),
        refused("a bare LF behind a trailer", END, 400, with("X: y\n")),
        refused("a bare CR in a trailer", END, 400, with("X: a\rb\r\n")),
        refused("two CRs behind a trailer", END, 400, with("X: y\r\r\n")),
        refused("a bare LF for the section's end", END, 400, {
            chunked(format!("{}0\r\nX: y\r\n\n{prey}", chunk(PING)))
        }),
        refused("two LFs for the section's end", END, 400, {
            chunked(format!("{}0\r\nX: y\n\n{prey}", chunk(PING)))
        }),
        refused(
            "a chunk behind the last one",
            END,
            400,
            chunked(format!("{}0\r\n{}0\r\n\r\n", chunk(PING), chunk(PING))),
        ),
        served("trailers", DROPPED, 200, good("X: y\r\nEmpty:\r\nX: \u{e9}\t z\r\n")),
        served("a length among the trailers", DROPPED, 200, good(&length(PING.len()))),
        served("a coding among the trailers", DROPPED, 200, good("Transfer-Encoding: gzip, chunked\r\n")),
        served("a host among the trailers", DROPPED, 200, good("Host: evil.example\r\n")),
        served("an expectation among the trailers", DROPPED, 200, good("Expect: anything\r\n")),
        served("the connection's end among the trailers", DROPPED, 200, good("Connection: close\r\n")),
        served("a type and a coding of the content among the trailers", DROPPED, 200, {
            good("Content-Type: text/plain\r\nContent-Encoding: gzip\r\n")
        }),
        served("a foreign origin among the trailers", DROPPED, 200, good("Origin: http://evil.example\r\n")),
        served("trailers that were announced", DROPPED, 200, {
            let wire = format!("{}0\r\nContent-Length: 5\r\n\r\n", chunk(PING));
            post("Trailer: Content-Length\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\n", wire)
        }),
        refused(
            "a trailer of nine kilobytes",
            "9112 5.4: limited, 431",
            431,
            with(&format!("X: {}\r\n", "t".repeat(9_000))),
        ),
    ]
}
