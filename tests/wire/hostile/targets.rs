//! Request targets in their four forms (RFC 9112 3.2, RFC 3986).

use super::row::*;

const BYTES: &str =
    "9112 3.2: what cannot stand in a target is percent-encoded; an invalid line should be 400";
const FORM: &str = "9112 3.2: a path, or an http or https URL";
const AUTHORITY: &str = "9110 4.2: an http URL has a host and no user";
const DATA: &str = "9110 4.2.3: an encoded byte is data; stricter: no path is the endpoint's but the endpoint's own spelling";

pub fn rows() -> Vec<Row> {
    let target = |target: &str| line(format!("POST {target} HTTP/1.1"));
    vec![
        refused("a fragment", BYTES, 400, target("/mcp#x")),
        refused("a fragment behind the query", BYTES, 400, target("/mcp?a#x")),
        refused("a NUL in the target", BYTES, 400, target("/m\0cp")),
        refused("a control character in the target", BYTES, 400, target("/m\x01cp")),
        refused("DEL in the target", BYTES, 400, target("/m\x7fcp")),
        refused("a letter beyond ASCII in the target", BYTES, 400, target("/m\u{e9}cp")),
        refused("a carriage return in the target", BYTES, 400, target("/m\rcp")),
        refused("a header line behind a bare LF in the target", BYTES, 400, target("/mcp\nX: y")),
        refused("a path without its slash", FORM, 400, target("mcp")),
        refused("a path behind a backslash", FORM, 400, target("\\mcp")),
        refused("a query alone", FORM, 400, target("?a")),
        refused("an asterisk for POST", "9112 3.2.4: for OPTIONS only", 400, target("*")),
        served("an asterisk for OPTIONS", "9112 3.2.4; the server as a whole has nothing to tell", 404, {
            with_body("OPTIONS * HTTP/1.1\r\n", smuggled())
        })
        .verb("OPTIONS"),
        refused("an authority for POST", "9112 3.2.3: for CONNECT only", 400, target("localhost:80")),
        refused("another scheme", FORM, 400, target("ftp://localhost/mcp")),
        refused("one slash behind the scheme", FORM, 400, target("http:/mcp")),
        refused("a URL without an authority", AUTHORITY, 400, target("http:///mcp")),
        refused("a URL with a port and no host", AUTHORITY, 400, target("http://:80/mcp")),
        refused("a URL with a user", AUTHORITY, 400, target("http://localhost@evil.example/mcp")),
        refused("a URL with a backslash", AUTHORITY, 400, target("http://localhost\\@evil.example/mcp")),
        refused("a URL with half a bracket", AUTHORITY, 400, target("http://[::1/mcp")),
        refused("a URL with a port that is none", AUTHORITY, 400, target("http://localhost:8x/mcp")),
        served("a URL", "9112 3.2.2: must be taken", 200, target("http://localhost/mcp")),
        served(
            "a URL in capitals",
            "9110 4.2.3: scheme and host in any case",
            200,
            target("HTTP://LOCALHOST/mcp"),
        ),
        served("a URL of another host than Host's", "9112 3.2.2: the URL's wins", 403, {
            target("http://evil.example/mcp")
        }),
        served("a Host of another host than the URL's", "9112 3.2.2: the URL's wins", 200, {
            let head = format!("POST http://localhost/mcp HTTP/1.1\r\nHost: evil.example\r\n{TYPE}");
            format!("{head}{}\r\n{PING}", length(PING.len()))
        }),
        refused("a URL and no Host", "9112 3.2: HTTP/1.1 needs one all the same", 400, {
            format!("POST http://localhost/mcp HTTP/1.1\r\n{TYPE}{}\r\n{PING}", length(PING.len()))
        }),
        served("a line end in the target, encoded", DATA, 404, target("/mcp%0d%0aX:%20y")),
        served("a request in the target, encoded", DATA, 404, {
            target("/mcp%20HTTP/1.1%0d%0aHost:%20localhost%0d%0a%0d%0aGET%20/hidden")
        }),
        served("a NUL in the target, encoded", DATA, 404, target("/mcp%00")),
        served("an overlong slash, encoded", DATA, 404, target("/%c0%afmcp")),
        served("dot segments", DATA, 404, target("/x/../mcp")),
        served("dot segments, encoded", DATA, 404, target("/x/%2e%2e/mcp")),
        served("two slashes", DATA, 404, target("//mcp")),
        served(
            "what browsers leave as it is in a query",
            "9112 3.2: should be 400; chosen: the URL Standard's clients send it, and no framing hangs on it",
            200,
            target("/mcp?a=[]{}|^`\\\"<>"),
        ),
    ]
}
