//! Methods (RFC 9110 9), and requests that are not expected to have a body.

use super::row::*;

const TOKEN: &str = "9110 5.6.2: a method is a token";
const TUNNEL: &str = "9112 3.2.3: the target is an authority, and this server is no proxy; stricter: what follows may be \
                      meant for a tunnel, so that the connection ends";
const UNSERVED: &str =
    "9110 15.5.6; a method that is not known should be 501: chosen: 405, for all that are not served";
const CONTENT: &str = "9112 6: a body is there where its length says so, whatever the method";

pub fn rows() -> Vec<Row> {
    vec![
        refused("a bracket in the method", TOKEN, 400, line("P(ST /mcp HTTP/1.1")),
        refused("a colon behind the method", TOKEN, 400, line("POST: /mcp HTTP/1.1")),
        refused("a NUL in the method", TOKEN, 400, line("PO\0ST /mcp HTTP/1.1")),
        refused("a letter beyond ASCII in the method", TOKEN, 400, line("P\u{f6}ST /mcp HTTP/1.1")),
        refused("a quote before the method", TOKEN, 400, line("\"POST /mcp HTTP/1.1")),
        served("a method in lower case", "9110 9.1: methods are case-sensitive", 405, {
            line("post /mcp HTTP/1.1")
        }),
        served("every character of a token", UNSERVED, 405, line("!#$%&'*+-.^_`|~ /mcp HTTP/1.1")),
        served("an unknown method with a request in its body", UNSERVED, 405, {
            with_body("SMUGGLE /mcp HTTP/1.1\r\n", smuggled())
        }),
        served("GET with a request in its body", CONTENT, 405, {
            with_body("GET /mcp HTTP/1.1\r\n", smuggled())
        })
        .verb("GET"),
        served("GET with a request in a chunk", CONTENT, 405, {
            let wire = format!("{}0\r\n\r\n", chunk(&smuggled()));
            format!("GET /mcp HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n{wire}")
        })
        .verb("GET"),
        served("HEAD with a request in its body", CONTENT, 405, {
            with_body("HEAD /mcp HTTP/1.1\r\n", smuggled())
        })
        .verb("HEAD"),
        served("DELETE with a request in its body", CONTENT, 400, {
            with_body("DELETE /mcp HTTP/1.1\r\n", smuggled())
        })
        .verb("DELETE"),
        served("OPTIONS with a request in its body", CONTENT, 405, {
            with_body("OPTIONS /mcp HTTP/1.1\r\n", smuggled())
        })
        .verb("OPTIONS"),
        served("a preflight with a request in its body", CONTENT, 204, {
            let head = "OPTIONS /mcp HTTP/1.1\r\nOrigin: http://localhost\r\nAccess-Control-Request-Method: POST\r\n";
            with_body(head, smuggled())
        })
        .verb("OPTIONS"),
        served("TRACE with a request in its body", CONTENT, 405, {
            with_body("TRACE /mcp HTTP/1.1\r\n", smuggled())
        }),
        refused("CONNECT to an authority", TUNNEL, 400, line("CONNECT localhost:80 HTTP/1.1")),
        refused("CONNECT to a path", TUNNEL, 400, line("CONNECT /mcp HTTP/1.1")),
        refused("CONNECT to a URL", TUNNEL, 400, line("CONNECT http://localhost/mcp HTTP/1.1")),
        refused("CONNECT with a request in its tunnel", TUNNEL, 400, {
            format!("CONNECT /mcp HTTP/1.1\r\n{HOST}\r\n{}", smuggled())
        }),
    ]
}
