//! Forms of `Content-Length` (RFC 9110 8.6, RFC 9112 6.3). Every body holds a request, which a wrong length would let loose.

use super::row::*;

const FORM: &str = "9110 8.6: digits, else 400 and the connection ends";
const LIST: &str = "9112 6.3: equal members may be read as one; stricter: there is no list of lengths";
const ONE: &str = "9112 6.3: differing lengths are 400; stricter: so are equal ones on two lines";
const EXACT: &str = "9112 6.3: the body is as long as the length says, and what follows is the next request";
const MOST: &str = "9110 15.5.14: a length beyond the ceiling is refused unread";

pub fn rows() -> Vec<Row> {
    let prey = smuggled();
    let len = prey.len();
    let told = |value: &str| post(format!("Content-Length: {value}\r\n"), &prey);
    let bytes = |value: &[u8]| post([b"Content-Length: ", value, b"\r\n"].concat(), &prey);
    let two = |one: &str, two: &str| post(format!("Content-Length: {one}\r\n{two}\r\n"), &prey);
    vec![
        refused("a plus before the length", FORM, 400, told("+0")),
        refused("a minus before the length", FORM, 400, told("-1")),
        refused("minus zero", FORM, 400, told("-0")),
        refused("a hexadecimal length", FORM, 400, told("0x0")),
        refused("a letter in the length", FORM, 400, told("4a")),
        refused("a space in the length", FORM, 400, told("0 0")),
        refused("an underscore in the length", FORM, 400, told("0_0")),
        refused("a point in the length", FORM, 400, told("0.0")),
        refused("an exponent in the length", FORM, 400, told("0e1")),
        refused("a semicolon behind the length", FORM, 400, told("0;")),
        refused("a quoted length", FORM, 400, told("\"0\"")),
        refused("a length of Arabic digits", FORM, 400, told("\u{660}")),
        refused("a length of wide digits", FORM, 400, told("\u{ff10}")),
        refused("a vertical tab behind the length", FORM, 400, told("0\x0b")),
        refused("a NUL behind the length", FORM, 400, told("0\0")),
        refused("a no-break space behind the length", FORM, 400, bytes(b"0\xa0")),
        refused("an empty length", FORM, 400, told("")),
        refused("a length of a word", FORM, 400, told("zero")),
        refused("a length of 64 bits and one", FORM, 400, told("18446744073709551616")),
        refused("a length that wraps around to zero", FORM, 400, told("36893488147419103232")),
        refused("a length of thirty digits", FORM, 400, told(&"1".repeat(30))),
        refused("a list of equal lengths", LIST, 400, told("0, 0")),
        refused("a list of differing lengths", LIST, 400, told(&format!("0, {len}"))),
        refused("a comma behind the length", LIST, 400, told("0,")),
        refused("a comma before the length", LIST, 400, told(",0")),
        refused("two equal lengths", ONE, 400, two("0", "Content-Length: 0")),
        refused("a length and none", ONE, 400, two(&len.to_string(), "Content-Length: 0")),
        refused("none and a length", ONE, 400, two("0", &format!("Content-Length: {len}"))),
        refused("two lengths in two spellings", ONE, 400, two("0", &format!("CONTENT-LENGTH: {len}"))),
        refused("two lengths, one empty", ONE, 400, two("0", "Content-Length:")),
        refused("two lengths far apart", ONE, 400, two("0", &format!("X: y\r\nContent-Length: {len}"))),
        refused("a length of 64 bits", MOST, 413, told("18446744073709551615")),
        refused("a length of 63 bits", MOST, 413, told("9223372036854775807")),
        refused("a length of 32 bits", MOST, 413, told("4294967296")),
        refused("a length that falls short", EXACT, 400, {
            post("Content-Length: 5\r\n", format!("{PING}{}", smuggled()))
        }),
        refused("a length of zero before a body", "WIRE: an empty body is no JSON", 400, told("0")),
        refused("no length before a body", "9112 6.3: then there is no body", 400, post("", &prey)),
        refused("a length that takes the next request", EXACT, 400, {
            post(length(PING.len() + len), format!("{PING}{prey}"))
        }),
        served("a length with whitespace around it", "9110 5.5: it is no part of the value", 200, {
            post("Content-Length: \t40 \t\r\n", PING)
        }),
        served("a length with leading zeros", "9110 8.6: digits, and decimal ones", 200, {
            post("Content-Length: 0000000040\r\n", PING)
        }),
        served("a length in capitals", "9110 5.1: names in any case", 200, {
            post("CONTENT-LENGTH: 40\r\n", PING)
        }),
        served("a body that is a request", EXACT, 415, {
            let head = format!("POST /mcp HTTP/1.1\r\n{HOST}Content-Type: text/plain\r\n{}\r\n", length(len));
            format!("{head}{prey}")
        }),
        served("a JSON body that holds a request", EXACT, 200, {
            let text = HIDDEN.replace("\r\n", "\\r\\n");
            sized(format!(r#"{{"jsonrpc":"2.0","id":"{text}","method":"ping"}}"#))
        }),
    ]
}
