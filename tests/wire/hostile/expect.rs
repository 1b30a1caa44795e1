//! `Expect` (RFC 9110 10.1.1). A body that the client may hold back, or may send all the same, is where two parties lose each other: an
//! answer before it ends the connection.

use super::row::*;

const CONTINUE: &str = "9110 10.1.1: 100-continue is obeyed; no leave is needed for what is there";
const OTHER: &str = "9110 10.1.1: any other expectation may be 417; stricter: it is, and the connection ends";
const EARLY: &str = "9110 10.1.1: a final answer before the body; stricter: the connection ends, as the body may or may not come";

pub fn rows() -> Vec<Row> {
    let prey = smuggled();
    let with = |value: &str| post(format!("Expect: {value}\r\n{}", length(PING.len())), PING);
    let early = |head: &str| with_body(&format!("{head}Expect: 100-continue\r\n"), &prey);
    vec![
        served("an expectation that is met", CONTINUE, 200, with("100-continue")),
        served("an expectation in capitals", CONTINUE, 200, with("100-CONTINUE")),
        served("an expectation of a chunked body", CONTINUE, 200, {
            let wire = format!("{}0\r\n\r\n", chunk(PING));
            post("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", wire)
        }),
        refused("another expectation", OTHER, 417, with("200-ok")),
        refused("a word before the expectation", OTHER, 417, with("y 100-continue")),
        refused("a word behind the expectation", OTHER, 417, with("100-continue y")),
        refused("a parameter of the expectation", OTHER, 417, with("100-continue;a=b")),
        refused("a list of expectations", OTHER, 417, with("100-continue, 200-ok")),
        refused("the expectation twice in a list", OTHER, 417, with("100-continue, 100-continue")),
        refused("the expectation on two lines", OTHER, 417, with("100-continue\r\nExpect: 100-continue")),
        refused("an empty expectation", OTHER, 417, with("")),
        refused("a quoted expectation", OTHER, 417, with("\"100-continue\"")),
        refused("an expectation of half its length", OTHER, 417, with("100")),
        refused("a space before the expectation's colon", "9112 5.1: must be 400", 400, {
            post(format!("Expect : 100-continue\r\n{}", length(prey.len())), &prey)
        }),
        refused("a folded expectation", "9112 5.2: refused", 400, {
            post(format!("Expect:\r\n 100-continue\r\n{}", length(prey.len())), &prey)
        }),
        refused("a tab in the expectation", OTHER, 417, with("100-\tcontinue")),
        refused("an expectation where nothing is served", EARLY, 404, early("POST /nowhere HTTP/1.1\r\n")),
        refused("an expectation of another type", EARLY, 415, {
            early("POST /mcp HTTP/1.1\r\nContent-Type: text/plain\r\n")
        }),
        refused("an expectation of GET", EARLY, 405, early("GET /mcp HTTP/1.1\r\n")).verb("GET"),
        refused("an expectation of HEAD", EARLY, 405, early("HEAD /mcp HTTP/1.1\r\n")).verb("HEAD"),
        refused("an expectation of OPTIONS", EARLY, 405, early("OPTIONS /mcp HTTP/1.1\r\n")).verb("OPTIONS"),
        refused("an expectation of a foreign origin", EARLY, 403, {
            early("POST /mcp HTTP/1.1\r\nOrigin: http://evil.example\r\n")
        }),
        refused("an expectation of too much", "9110 15.5.14: refused unread", 413, {
            post("Expect: 100-continue\r\nContent-Length: 99999999999\r\n", &prey)
        }),
        refused("an expectation of chunks where nothing is served", EARLY, 404, {
            let head = format!("POST /nowhere HTTP/1.1\r\n{HOST}Expect: 100-continue\r\n");
            format!("{head}Transfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n", chunk(&prey))
        }),
        served("an expectation without a body", "9110 10.1.1: there is nothing to wait for", 405, {
            format!("GET /mcp HTTP/1.1\r\n{HOST}Expect: 100-continue\r\n\r\n")
        })
        .verb("GET"),
        refused("an expectation of an empty body", "WIRE: an empty body is no JSON", 400, {
            post("Expect: 100-continue\r\nContent-Length: 0\r\n", "")
        }),
        served("an expectation on HTTP/1.0", "9110 10.1.1: must be ignored", 200, {
            let head = format!(
                "POST /mcp HTTP/1.0\r\n{HOST}{TYPE}Connection: keep-alive\r\nExpect: 100-continue\r\n"
            );
            format!("{head}{}\r\n{PING}", length(PING.len()))
        }),
    ]
}
