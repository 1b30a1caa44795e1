//! Chunk sizes, and what stands between chunks (RFC 9112 7.1). Behind every fault stands a request.

use super::row::*;

const SIZE: &str = "9112 7.1: a size is hexadecimal digits, and nothing else";
const LINE: &str = "9112 7.1: a size line ends in CR LF; the leave to take a bare LF is for heads";
const DATA: &str = "9112 7.1: CR LF follows the data, and is looked at";
const MOST: &str = "9112 7.1: large sizes must not overflow";

pub fn rows() -> Vec<Row> {
    let prey = smuggled();
    let len = PING.len();
    let sized = |line: &str| chunked(format!("{line}{PING}\r\n0\r\n\r\n{prey}"));
    let ended = |end: &str| chunked(format!("{len:x}\r\n{PING}{end}0\r\n\r\n{prey}"));
    let good = |wire: String| chunked(wire);
    let single: String = PING.chars().map(|c| chunk(&c.to_string())).collect();
    vec![
        refused("a plus before the size", SIZE, 400, sized("+28\r\n")),
        refused("a minus before the size", SIZE, 400, sized("-28\r\n")),
        refused("minus zero for a size", SIZE, 400, chunked(format!("-0\r\n\r\n{prey}"))),
        refused("a size with 0x", SIZE, 400, sized("0x28\r\n")),
        refused("an underscore in the size", SIZE, 400, sized("2_8\r\n")),
        refused("a space before the size", SIZE, 400, sized(" 28\r\n")),
        refused("a space behind the size", SIZE, 400, sized("28 \r\n")),
        refused("a tab behind the size", SIZE, 400, sized("28\t\r\n")),
        refused("a space in the size", SIZE, 400, sized("2 8\r\n")),
        refused("a comma behind the size", SIZE, 400, sized("28,\r\n")),
        refused("a point in the size", SIZE, 400, sized("28.0\r\n")),
        refused("a letter that is no digit", SIZE, 400, sized("2g\r\n")),
        refused("a quoted size", SIZE, 400, sized("\"28\"\r\n")),
        refused("a size of Arabic digits", SIZE, 400, sized("\u{662}\u{668}\r\n")),
        refused("a NUL behind the size", SIZE, 400, sized("28\0\r\n")),
        refused("an empty size", SIZE, 400, sized("\r\n")),
        refused("an extension and no size", SIZE, 400, sized(";a=b\r\n")),
        refused("no chunk at all", SIZE, 400, chunked(format!("\r\n\r\n{prey}"))),
        refused("a request for a chunk", SIZE, 400, chunked(&prey)),
        refused("a size of 64 bits and one digit", MOST, 400, sized("10000000000000028\r\n")),
        refused(
            "a size that wraps around to zero",
            MOST,
            400,
            chunked(format!("10000000000000000\r\n\r\n{prey}")),
        ),
        refused(
            "seventeen digits that are small",
            "9112 7.1 sets no bound; stricter: sixteen digits",
            400,
            sized("00000000000000028\r\n"),
        ),
        refused("a size of 64 bits", "9110 15.5.14: beyond the ceiling", 413, sized("ffffffffffffffff\r\n")),
        refused("a size of 63 bits", "9110 15.5.14: beyond the ceiling", 413, sized("7fffffffffffffff\r\n")),
        refused("a bare LF behind the size", LINE, 400, sized("28\n")),
        refused("a bare CR behind the size", LINE, 400, sized("28\r")),
        refused("two CRs behind the size", LINE, 400, sized("28\r\r\n")),
        refused("an empty line before the size", LINE, 400, sized("\r\n28\r\n")),
        refused("a bare LF behind the data", DATA, 400, ended("\n")),
        refused("a bare CR behind the data", DATA, 400, ended("\r")),
        refused("nothing behind the data", DATA, 400, ended("")),
        refused("two other bytes behind the data", DATA, 400, ended("XX")),
        refused("a CR and another byte behind the data", DATA, 400, ended("\rX")),
        refused("LF and CR behind the data", DATA, 400, ended("\n\r")),
        refused("a space before the line end of the data", DATA, 400, ended(" \r\n")),
        refused("two line ends behind the data", DATA, 400, ended("\r\n\r\n")),
        refused("data that spills over its size", DATA, 400, {
            chunked(format!("{:x}\r\n{PING}\r\n0\r\n\r\n{prey}", len - 1))
        }),
        refused("data that ends two bytes early", DATA, 400, {
            chunked(format!("{:x}\r\n{PING}0\r\n\r\n{prey}", len + 2))
        }),
        refused(
            "a bare LF behind the last chunk",
            LINE,
            400,
            chunked(format!("{}0\n\r\n{prey}", chunk(PING))),
        ),
        refused("a bare LF for the end", LINE, 400, chunked(format!("{}0\r\n\n{prey}", chunk(PING)))),
        refused("a bare CR for the end", LINE, 400, chunked(format!("{}0\r\n\rX{prey}", chunk(PING)))),
        refused("no end behind the last chunk", LINE, 400, chunked(format!("{}0\r\n{prey}", chunk(PING)))),
        served(
            "a size with leading zeros",
            SIZE,
            200,
            good(format!("0000000000000028\r\n{PING}\r\n000\r\n\r\n")),
        ),
        served(
            "a size in capitals",
            SIZE,
            200,
            good(format!("{}0\r\n\r\n", chunk(&format!("{PING}  "))).replace("2a", "2A")),
        ),
        served("chunks of one byte", "9112 7.1", 200, good(format!("{single}0\r\n\r\n"))),
        served("a chunk that holds an end", "9112 7.1: data is data", 200, {
            good(format!("{}0\r\n\r\n", chunk(&format!("{PING} \r\n \r\n"))))
        }),
        served("a chunk that holds a request", "9112 7.1: data is data", 415, {
            let head = format!("POST /mcp HTTP/1.1\r\n{HOST}Content-Type: text/plain\r\n");
            format!("{head}Transfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n", chunk(&prey))
        }),
        refused("an empty chunked body", "WIRE: an empty body is no JSON", 400, chunked("0\r\n\r\n")),
    ]
}
