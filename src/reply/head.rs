//! Response heads: one list of fields for both protocols, and the HTTP/1.x rendering of it.

use super::{Content, Exchange, Reply};
use crate::base::clock::DATE_LEN;

/// How an HTTP/1.x body is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// `Content-Length`.
    Length(usize),
    /// `Transfer-Encoding: chunked`.
    Chunked,
    /// By the end of the connection: an event stream to an HTTP/1.0 client.
    UntilClose,
    /// The status has no body and no length (204).
    None,
}

/// What `Connection` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// Nothing: the connection stays open as HTTP/1.1 has it.
    Default,
    /// `Connection: close`.
    Close,
    /// `Connection: keep-alive`, for an HTTP/1.0 client that asked for it.
    KeepAlive,
}

const EXPOSED: &[u8] = b"Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After";
const PREFLIGHT_METHODS: &[u8] = b"GET, POST, DELETE";
/// The request headers that a page may always send.
pub const PREFLIGHT_HEADERS: &[u8] =
    b"Content-Type, Accept, Authorization, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name";

/// Calls `field` with every header of `reply` but the framing ones, names in lower case. Values have no CR, LF or NUL: they are ours, or
/// were checked when they were taken over.
pub fn fields(reply: &Reply, exchange: &Exchange, field: &mut dyn FnMut(&'static str, &[u8])) {
    match reply.content {
        Content::Empty => {}
        Content::Json => field("content-type", b"application/json"),
        Content::EventStream => {
            field("content-type", b"text/event-stream");
            field("cache-control", b"no-cache");
            field("x-accel-buffering", b"no");
        }
    }
    let extra = &reply.extra;
    if let Some(session) = &extra.session {
        field("mcp-session-id", session);
    }
    if let Some(allow) = extra.allow {
        field("allow", allow.value().as_bytes());
    }
    if let Some(challenge) = &extra.challenge {
        field("www-authenticate", challenge.as_bytes());
    }
    if let Some(seconds) = extra.retry_after {
        field("retry-after", itoa::Buffer::new().format(seconds).as_bytes());
    }
    if !exchange.cors.is_empty() {
        cors_fields(reply, exchange, field);
    }
}

#[cold]
fn cors_fields(reply: &Reply, exchange: &Exchange, field: &mut dyn FnMut(&'static str, &[u8])) {
    field("access-control-allow-origin", &exchange.cors);
    field("vary", b"Origin");
    if reply.extra.preflight {
        field("access-control-allow-methods", PREFLIGHT_METHODS);
        field(
            "access-control-allow-headers",
            if exchange.body.is_empty() { PREFLIGHT_HEADERS } else { &exchange.body },
        );
        field("access-control-max-age", b"600");
    } else {
        field("access-control-expose-headers", EXPOSED);
    }
}

/// Appends an HTTP/1.1 head. Answers to HTTP/1.0 clients say HTTP/1.1 too (RFC 9112 2.3: the version is the server's own).
pub fn write_http1(
    out: &mut Vec<u8>,
    reply: &Reply,
    exchange: &Exchange,
    framing: Framing,
    persistence: Persistence,
    date: &[u8; DATE_LEN],
) {
    out.reserve(256);
    out.extend_from_slice(status_line(reply.status));
    match framing {
        Framing::Length(length) => {
            out.extend_from_slice(b"content-length: ");
            out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        Framing::Chunked => out.extend_from_slice(b"transfer-encoding: chunked\r\n"),
        Framing::UntilClose | Framing::None => {}
    }
    fields(reply, exchange, &mut |name, value| {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    });
    match persistence {
        Persistence::Default => {}
        Persistence::Close => out.extend_from_slice(b"connection: close\r\n"),
        Persistence::KeepAlive => out.extend_from_slice(b"connection: keep-alive\r\n"),
    }
    out.extend_from_slice(b"date: ");
    out.extend_from_slice(date);
    out.extend_from_slice(b"\r\n\r\n");
}

/// The status line for every status the server sends; one it does not know gets its class's bare form.
const fn status_line(status: u16) -> &'static [u8] {
    match status {
        100 => b"HTTP/1.1 100 Continue\r\n",
        200 => b"HTTP/1.1 200 OK\r\n",
        202 => b"HTTP/1.1 202 Accepted\r\n",
        204 => b"HTTP/1.1 204 No Content\r\n",
        400 => b"HTTP/1.1 400 Bad Request\r\n",
        401 => b"HTTP/1.1 401 Unauthorized\r\n",
        403 => b"HTTP/1.1 403 Forbidden\r\n",
        404 => b"HTTP/1.1 404 Not Found\r\n",
        405 => b"HTTP/1.1 405 Method Not Allowed\r\n",
        406 => b"HTTP/1.1 406 Not Acceptable\r\n",
        408 => b"HTTP/1.1 408 Request Timeout\r\n",
        413 => b"HTTP/1.1 413 Content Too Large\r\n",
        414 => b"HTTP/1.1 414 URI Too Long\r\n",
        415 => b"HTTP/1.1 415 Unsupported Media Type\r\n",
        417 => b"HTTP/1.1 417 Expectation Failed\r\n",
        429 => b"HTTP/1.1 429 Too Many Requests\r\n",
        431 => b"HTTP/1.1 431 Request Header Fields Too Large\r\n",
        501 => b"HTTP/1.1 501 Not Implemented\r\n",
        503 => b"HTTP/1.1 503 Service Unavailable\r\n",
        505 => b"HTTP/1.1 505 HTTP Version Not Supported\r\n",
        _ => b"HTTP/1.1 500 Internal Server Error\r\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Allow, Extra};
    use crate::tables::rejection::Rejection;

    fn rendered(reply: &Reply, exchange: &Exchange, framing: Framing, persistence: Persistence) -> String {
        let mut out = Vec::new();
        write_http1(&mut out, reply, exchange, framing, persistence, b"Sun, 06 Nov 1994 08:49:37 GMT");
        let text = String::from_utf8(out).unwrap();
        let date = text.find("date: ").unwrap();
        format!("{}date: D\r\n\r\n", &text[..date])
    }

    #[test]
    fn a_json_head_is_written_in_one_order() {
        let head =
            rendered(&Reply::json(200), &Exchange::new(false), Framing::Length(12), Persistence::Default);
        assert_eq!(
            head,
            "HTTP/1.1 200 OK\r\ncontent-length: 12\r\ncontent-type: application/json\r\ndate: D\r\n\r\n"
        );
    }

    #[test]
    fn extras_and_cors_follow() {
        let reply = Reply {
            status: 405,
            content: Content::Json,
            close: true,
            extra: Extra { allow: Some(Allow::All), retry_after: Some(3), ..Extra::NONE },
        };
        let mut exchange = Exchange::new(false);
        exchange.cors.extend_from_slice(b"http://localhost:1");
        let head = rendered(&reply, &exchange, Framing::Length(0), Persistence::Close);
        assert_eq!(
            head,
            "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\ncontent-type: application/json\r\nallow: GET, POST, DELETE\r\n\
             retry-after: 3\r\naccess-control-allow-origin: http://localhost:1\r\nvary: Origin\r\n\
             access-control-expose-headers: Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After\r\n\
             connection: close\r\ndate: D\r\n\r\n"
        );
    }

    #[test]
    fn every_row_has_a_status_line_of_its_own() {
        for rejection in Rejection::ALL {
            let status = rejection.row().status.to_string();
            let line = status_line(rejection.row().status);
            assert_eq!(&line[9..12], status.as_bytes(), "{rejection:?}");
        }
    }
}
