//! Both framings in one head (RFC 9112 6.1 and 6.3): whichever is believed, the other one finds a request where none is.

use super::row::*;

const BOTH: &str =
    "9112 6.3: it ought to be handled as an error; stricter: 400, whichever of them could be believed";

pub fn rows() -> Vec<Row> {
    let te = "Transfer-Encoding: chunked\r\n";
    // By its coding the body is empty, and a request follows; by its length the request is the body.
    let after = format!("0\r\n\r\n{}", smuggled());
    // By its length the body ends within the chunk that holds the request.
    let within = format!("{}0\r\n\r\n", chunk(&smuggled()));
    let size_line = within.find('\n').expect("a line") + 1;
    let lengths = [after.len(), size_line].map(length);
    let [long, short] = &lengths;
    let coded = |value: &str| post(format!("Transfer-Encoding: {value}\r\n{long}"), &after);
    let http10 = format!("POST /mcp HTTP/1.0\r\n{HOST}{TYPE}Connection: keep-alive\r\n{long}{te}\r\n{after}");
    vec![
        refused("a length that hides the next request", BOTH, 400, post(format!("{long}{te}"), &after)),
        refused("a length behind the coding", BOTH, 400, post(format!("{te}{long}"), &after)),
        refused("a length that ends within a chunk", BOTH, 400, post(format!("{short}{te}"), &within)),
        refused("a length within a chunk, behind the coding", BOTH, 400, {
            post(format!("{te}{short}"), &within)
        }),
        refused("a length of zero beside a coding", BOTH, 400, post(format!("{}{te}", length(0)), &within)),
        refused(
            "an empty length beside a coding",
            BOTH,
            400,
            post(format!("Content-Length:\r\n{te}"), &after),
        ),
        refused("an impossible length beside a coding", BOTH, 400, {
            post(format!("Content-Length: x\r\n{te}"), &after)
        }),
        refused("the right length beside a coding", BOTH, 400, {
            post(format!("{}{te}", length(within.len())), &within)
        }),
        refused("a length beside identity", BOTH, 400, coded("identity")),
        refused("a length beside gzip", BOTH, 400, coded("gzip")),
        refused("a length beside an unknown coding", BOTH, 400, coded("xchunked")),
        refused("a length beside an empty coding", BOTH, 400, coded("")),
        refused("a length beside a coding in capitals", BOTH, 400, coded("CHUNKED")),
        refused("two lengths beside a coding", BOTH, 400, post(format!("{long}{te}{short}"), &after)),
        refused("a length beside two codings", BOTH, 400, post(format!("{te}{long}{te}"), &after)),
        refused("both, and the connection is to end", BOTH, 400, {
            post(format!("{long}{te}Connection: close\r\n"), &after)
        }),
        refused("both, the coding named a hop's own", BOTH, 400, {
            post(format!("{long}{te}Connection: Transfer-Encoding\r\n"), &after)
        }),
        refused("both, with an expectation", BOTH, 400, {
            post(format!("Expect: 100-continue\r\n{long}{te}"), &after)
        }),
        refused("both on HTTP/1.0", BOTH, 400, http10),
        refused("both on GET", BOTH, 400, format!("GET /mcp HTTP/1.1\r\n{HOST}{long}{te}\r\n{after}"))
            .verb("GET"),
        refused("both, where nothing is served", BOTH, 400, {
            format!("POST /nowhere HTTP/1.1\r\n{HOST}{long}{te}\r\n{after}")
        }),
    ]
}
