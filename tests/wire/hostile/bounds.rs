//! At a limit and one past it, on a server whose limits are as low as they can be (`cells::NARROW`): the answer is the same however the
//! bytes arrive, also where the limit falls between two of them.

use super::row::*;

const LINE: &str = "9112 3: a request line that is too long is 414 where its target makes it so";
const FIELD: &str = "6585 5: header lines that are too long or too many are 431";
const BODY: &str = "9110 15.5.14: a body beyond the ceiling is 413";
const CHUNK: &str = "9112 7.1.1: size lines and their extensions are limited";
const DRAIN: &str = "9112 9.3: an unread body is dropped up to a bound, beyond it the connection ends";

pub fn rows() -> Vec<Row> {
    let prey = smuggled();
    let target =
        |len: usize| line(format!("POST /mcp?{} HTTP/1.1", "q".repeat(len - "POST /mcp? HTTP/1.1".len())));
    let field = |len: usize| ping_with(format!("{HOST}X: {}\r\n", "x".repeat(len - 3)));
    let fields = |count: usize| ping_with(format!("{HOST}{}", "X: y\r\n".repeat(count - 3)));
    let head = |len: usize| {
        let lines = format!("X: {}\r\n", "x".repeat(60)).repeat(6);
        let empty = ping_with(format!("{HOST}{lines}X: \r\n")).len() - PING.len();
        ping_with(format!("{HOST}{lines}X: {}\r\n", "x".repeat(len - empty)))
    };
    let padded = |len: usize| format!("{PING}{}", " ".repeat(len - PING.len()));
    let size_line = |len: usize| chunked(format!("28;{}\r\n{PING}\r\n0\r\n\r\n", "e".repeat(len - 3)));
    let extensions = |len: usize| {
        let ten = |at: usize| format!("a;1234567\r\n{}\r\n", &PING[at * 10..at * 10 + 10]);
        let chunks: String = (0..4).map(ten).collect();
        chunked(format!("{chunks}0;{}\r\n\r\n", "e".repeat(len - 32 - 1)))
    };
    let section = |len: usize| chunked(format!("{}0\r\nX: {}\r\n\r\n", chunk(PING), "t".repeat(len - 5)));
    let unread = |len: usize| with_body("POST /nowhere HTTP/1.1\r\n", &prey.repeat(2).as_bytes()[..len]);
    let unread_chunk = |len: usize| {
        let wire = format!("{}0\r\n\r\n", chunk(&prey.repeat(2)[..len]));
        format!("POST /nowhere HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n{wire}")
    };
    [
        served("a request line at its limit", LINE, 200, target(64)),
        refused("a request line past its limit", LINE, 414, target(65)),
        refused("a request line far past its limit", LINE, 414, target(200)),
        refused("a method past the limit", "9112 3: stricter than 501", 414, line("M".repeat(65))),
        served("a header line at its limit", FIELD, 200, field(64)),
        refused("a header line past its limit", FIELD, 431, field(65)),
        served("as many header lines as may be", FIELD, 200, fields(12)),
        refused("a header line too many", FIELD, 431, fields(13)),
        served("a head at its limit", FIELD, 200, head(512)),
        refused("a head past its limit", FIELD, 431, head(513)),
        served("a body at the ceiling", BODY, 200, sized(padded(64))),
        refused("a body past the ceiling", BODY, 413, sized(padded(65))),
        served("chunks at the ceiling", BODY, 200, chunked(format!("{}0\r\n\r\n", chunk(&padded(64))))),
        refused("chunks past the ceiling", BODY, 413, chunked(format!("{}0\r\n\r\n", chunk(&padded(65))))),
        refused("a second chunk past the ceiling", BODY, 413, {
            chunked(format!("{}{}0\r\n\r\n{prey}", chunk(&padded(64)), chunk("x")))
        }),
        served("a size line at its limit", CHUNK, 200, size_line(16)),
        refused("a size line past its limit", CHUNK, 400, size_line(17)),
        served("extensions at their limit", CHUNK, 200, extensions(40)),
        refused("extensions past their limit", CHUNK, 400, extensions(41)),
        served("trailers at their limit", FIELD, 200, section(64)),
        refused("trailers past their limit", FIELD, 431, section(65)),
        served("an unread body at the bound", DRAIN, 404, unread(100)),
        refused("an unread body past the bound", DRAIN, 404, unread(101)),
        served("an unread chunk at the bound", DRAIN, 404, unread_chunk(100)),
        dropped("an unread chunk past the bound", DRAIN, 404, unread_chunk(101)),
        several(
            "more requests than are answered at once",
            "9112 9.3.2: all are answered",
            &[200; 7],
            Then::Open,
            sized(PING).repeat(7),
        ),
    ]
    .into_iter()
    .map(Row::narrow)
    .collect()
}
