//! Chunk extensions (RFC 9112 7.1.1). Servers that skim over them disagree where the line ends: what one takes for an extension is the
//! next chunk for another.

use super::row::*;

const LINE: &str =
    "9112 7.1.1: neither CR nor LF can stand in an extension; the leave to take a bare LF is for heads";
const FORM: &str = "9112 7.1.1: a name, and perhaps a value; stricter: what is no extension is 400";
const QUOTED: &str =
    "9110 5.6.4: no line end stands in a quoted string; stricter: one that stays open is 400";
const UNKNOWN: &str = "9112 7.1.1: extensions that are not known are ignored";
const MOST: &str = "9112 7.1.1: their length is limited";

pub fn rows() -> Vec<Row> {
    let prey = smuggled();
    let with = |extension: &str| chunked(format!("28{extension}\r\n{PING}\r\n0\r\n\r\n{prey}"));
    let good = |extension: &str| chunked(format!("28{extension}\r\n{PING}\r\n0{extension}\r\n\r\n"));
    let hidden = format!("{:x}", HIDDEN.len());
    let many = |count: usize| {
        let body = format!("{PING}{}", " ".repeat(count - PING.len()));
        let extension = "e".repeat(249);
        let chunks: String = body.chars().map(|c| format!("1;{extension}\r\n{c}\r\n")).collect();
        chunked(format!("{chunks}0\r\n\r\n"))
    };
    vec![
        // The line ends at the LF for one, at the CR LF for the other.
        refused("a bare LF in an extension", LINE, 400, with(";\nX")),
        refused("a bare LF for the extension", LINE, 400, with(";\n")),
        refused("a bare LF before the semicolon", LINE, 400, with("\n;a")),
        refused("a chunk behind a bare LF in an extension", LINE, 400, {
            chunked(format!("2;\nxx\r\n{hidden}\r\n{HIDDEN}\r\n0\r\n\r\n"))
        }),
        refused("a last chunk behind a bare LF in an extension", LINE, 400, {
            chunked(format!("2;a\nxx\r\n0\r\n\r\n{prey}"))
        }),
        refused("a bare CR in an extension", LINE, 400, with(";a\rb")),
        refused("a bare CR before the extension", LINE, 400, with("\r;a")),
        refused("two CRs behind an extension", LINE, 400, with(";a\r")),
        refused("LF and CR in an extension", LINE, 400, with(";a\n\r")),
        refused("a NUL in an extension", FORM, 400, with(";a\0")),
        refused("a control character in an extension", FORM, 400, with(";a\x01b")),
        refused("DEL in an extension", FORM, 400, with(";a\x7f")),
        refused("a semicolon alone", FORM, 400, with(";")),
        refused("two semicolons", FORM, 400, with(";;a")),
        refused("a semicolon behind an extension", FORM, 400, with(";a;")),
        refused("a value without a name", FORM, 400, with(";=b")),
        refused("a name without its value", FORM, 400, with(";a=")),
        refused("two equals signs", FORM, 400, with(";a==b")),
        refused("a bracket in an extension", FORM, 400, with(";a(b)")),
        refused("a comma in an extension", FORM, 400, with(";a,b")),
        refused("a space in an extension's name", FORM, 400, with(";a b")),
        refused("a space behind an extension", FORM, 400, with(";a ")),
        refused("a letter beyond ASCII in an extension's name", FORM, 400, with(";\u{e9}")),
        refused("a quoted name", FORM, 400, with(";\"a\"")),
        refused("a quoted string that stays open", QUOTED, 400, with(";a=\"b")),
        refused("a quoted string with an escaped end", QUOTED, 400, with(";a=\"b\\\"")),
        refused("words behind a quoted string", QUOTED, 400, with(";a=\"b\"c")),
        refused("a line end in a quoted string", QUOTED, 400, with(";a=\"b\r\nc\"")),
        refused("a chunk in a quoted string", QUOTED, 400, {
            chunked(format!("28;a=\"\r\n{PING}\r\n0\r\n\r\n{prey}\"\r\n"))
        }),
        refused("a bare LF in a quoted string", QUOTED, 400, with(";a=\"b\nc\"")),
        refused("an escaped LF in a quoted string", QUOTED, 400, with(";a=\"b\\\nc\"")),
        refused("an escaped CR LF in a quoted string", QUOTED, 400, with(";a=\"b\\\r\n\"")),
        refused("a bare LF in the last chunk's extension", LINE, 400, {
            chunked(format!("{}0;a\n\r\n{prey}", chunk(PING)))
        }),
        refused("an open quote in the last chunk's extension", QUOTED, 400, {
            chunked(format!("{}0;a=\"\r\n\r\n{prey}", chunk(PING)))
        }),
        refused("an extension of a kilobyte", MOST, 400, with(&format!(";{}", "e".repeat(1_024)))),
        refused("extensions that are short one by one", MOST, 400, many(70)),
        served("sixty extensions", UNKNOWN, 200, many(60)),
        served("an extension", UNKNOWN, 200, good(";a")),
        served("an extension with a value", UNKNOWN, 200, good(";a=b")),
        served("an extension with a quoted value", UNKNOWN, 200, good(";a=\"b;c\\\"\\\\ \t\u{e9}\"")),
        served("three extensions", UNKNOWN, 200, good(";a;b=c;d=\"\"")),
        served(
            "an extension with every character of a token",
            UNKNOWN,
            200,
            good(";!#$%&'*+-.^_`|~=!#$%&'*+-.^_`|~"),
        ),
        served(
            "whitespace around semicolons and equals signs",
            "9110 5.6.3: bad whitespace must be read",
            200,
            good(" ;\ta \t= b\t; c = \"d\" ;e"),
        ),
        served("a signed chunk", UNKNOWN, 200, good(&format!(";chunk-signature={}", "0f".repeat(32)))),
    ]
}
