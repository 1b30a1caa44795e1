//! One request for every row of the rejection table that trips it, and its answer written out byte for byte. Data only: `tests/wire` sends
//! them. The match has no `_`, so a row without a scenario does not compile.
//!
//! A scenario is a fault put into a good request, so that two of them can be put into one.

use super::rejection::Rejection;

/// The server that a scenario needs. All of them know the tokens `alice`, `busy`, `weak` and `down`, take queries of 100 bytes and bodies
/// of [`BODY`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum World {
    /// As it is.
    Usual,
    /// Without memory for a body of [`CROWDED_BODY`] bytes, which its ceiling would allow.
    Crowded,
    /// Shutting down.
    Draining,
    /// With the legacy lane off.
    LaneOff,
    /// With as many sessions as it may have.
    Full,
}

/// The body ceiling, in bytes.
pub const BODY: usize = 20_000;
/// A body that passes the ceiling of the crowded world and finds no memory there.
pub const CROWDED_BODY: usize = 1_200_000;

/// The good request that a fault is put into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// Whichever: the fault is no lane's.
    Any,
    /// A tool call in a session, or a GET or DELETE of it.
    Legacy,
    /// The same in a session that is not ready yet.
    Opened,
    /// `initialize`.
    Initialize,
    /// A tool call with mirrored arguments: region `us-west1`, limit 10, dry true.
    Modern,
}

/// A change to a request.
#[derive(Debug, Clone, Copy)]
pub enum Edit {
    /// Adds a header line.
    Add(&'static str, &'static str),
    /// Puts one header line in the place of all of that name.
    Set(&'static str, &'static str),
    /// Drops all header lines of that name.
    Drop(&'static str),
    /// Adds to the query string.
    Query(&'static str),
    /// Fills the query string up with a parameter of so many bytes.
    LongQuery(usize),
    /// Sets a member of the body to this JSON.
    Member(&'static str, &'static str),
    /// Sets a member of `params` to this JSON.
    Param(&'static str, &'static str),
    /// Sets a member of `params._meta` to this JSON; the name goes behind `io.modelcontextprotocol/`.
    Meta(&'static str, &'static str),
    /// Drops a member of `params._meta`.
    DropMeta(&'static str),
    /// Drops the body's last byte.
    Cut,
    /// Adds spaces to the body until it has so many bytes.
    Pad(usize),
}

/// One row's scenario.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// The server.
    pub world: World,
    /// The good request.
    pub base: Base,
    /// What makes it a bad one.
    pub edits: &'static [Edit],
    /// The method tokens to try.
    pub verbs: &'static [&'static str],
    /// The status.
    pub status: u16,
    /// The body of the answer to a POST.
    pub post: &'static str,
    /// The body of the answer to another verb; HEAD has none.
    pub plain: &'static str,
    /// What the answer has of `allow`, `www-authenticate` and `retry-after`.
    pub headers: &'static [(&'static str, &'static str)],
    /// Whether an HTTP/1.1 connection closes after the answer.
    pub closes: bool,
    /// The lane that the event names.
    pub era: Option<&'static str>,
}

const ALL: &[&str] = &["POST", "GET", "DELETE", "OPTIONS", "HEAD", "PUT", "post"];
const WIRE: &[&str] = &["POST", "GET", "DELETE"];
const OTHERS: &[&str] = &["OPTIONS", "HEAD", "PUT", "PATCH", "TRACE", "post", "BREW"];
const NONE: Scenario = Scenario {
    world: World::Usual,
    base: Base::Any,
    edits: &[],
    verbs: &["POST"],
    status: 400,
    post: "",
    plain: "",
    headers: &[],
    closes: false,
    era: None,
};
const LEGACY: Scenario = Scenario { base: Base::Legacy, era: Some("legacy"), ..NONE };
const MODERN: Scenario = Scenario { base: Base::Modern, era: Some("modern"), ..NONE };

/// The scenario of a row.
#[must_use]
pub const fn scenario(row: Rejection) -> Scenario {
    match row {
        Rejection::Overloaded => Scenario {
            world: World::Crowded,
            edits: &[Edit::Pad(CROWDED_BODY)],
            status: 503,
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The server is overloaded: no memory is left for request bodies (body_memory); retry later"}}"#,
            headers: &[("retry-after", "1")],
            closes: true,
            ..NONE
        },
        Rejection::Draining => Scenario {
            world: World::Draining,
            verbs: ALL,
            status: 503,
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The server is shutting down; retry, another instance may answer"}}"#,
            plain: r#"{"error":"The server is shutting down; retry, another instance may answer"}"#,
            headers: &[("retry-after", "1")],
            closes: true,
            ..NONE
        },
        Rejection::MethodNotAllowed => Scenario {
            verbs: OTHERS,
            status: 405,
            plain: r#"{"error":"This endpoint does not serve the verb; use POST"}"#,
            headers: &[("allow", "GET, POST, DELETE")],
            ..NONE
        },
        Rejection::DuplicatedOrigin => Scenario {
            edits: &[Edit::Add("Origin", "http://localhost"), Edit::Add("Origin", "http://localhost")],
            verbs: ALL,
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"More than one Origin header; send one"}}"#,
            plain: r#"{"error":"More than one Origin header; send one"}"#,
            ..NONE
        },
        Rejection::OriginNotAllowed => Scenario {
            edits: &[Edit::Set("Origin", "http://evil.example")],
            verbs: ALL,
            status: 403,
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Origin http://evil.example is not allowed; add it with allow-origin"}}"#,
            plain: r#"{"error":"Origin http://evil.example is not allowed; add it with allow-origin"}"#,
            ..NONE
        },
        Rejection::HostNotAllowed => Scenario {
            edits: &[Edit::Set("Host", "evil.example")],
            verbs: ALL,
            status: 403,
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Host evil.example is not allowed; add it with allow-host"}}"#,
            plain: r#"{"error":"Host evil.example is not allowed; add it with allow-host"}"#,
            ..NONE
        },
        Rejection::DuplicatedContentType => Scenario {
            edits: &[Edit::Add("Content-Type", "application/json")],
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"More than one Content-Type header; send one"}}"#,
            ..NONE
        },
        Rejection::QueryTooLong => Scenario {
            edits: &[Edit::LongQuery(101)],
            status: 414,
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The query string is over the ceiling of 100 bytes; shorten it, or raise the query limit"}}"#,
            ..NONE
        },
        Rejection::QueryNotUtf8 => Scenario {
            edits: &[Edit::Query("q=%ff")],
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The query string is not valid UTF-8 after percent-decoding, or has a malformed percent escape; percent-encode it as UTF-8"}}"#,
            ..NONE
        },
        Rejection::UnsupportedMediaType => Scenario {
            edits: &[Edit::Set("Content-Type", "text/plain")],
            status: 415,
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Content-Type text/plain is not served; send application/json in UTF-8"}}"#,
            ..NONE
        },
        Rejection::UnsupportedContentEncoding => Scenario {
            edits: &[Edit::Set("Content-Encoding", "gzip")],
            status: 415,
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Content-Encoding gzip is not served; send the body unencoded"}}"#,
            ..NONE
        },
        Rejection::NotAcceptable => Scenario {
            edits: &[Edit::Set("Accept", "text/html")],
            status: 406,
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Accept admits neither application/json nor text/event-stream; list both"}}"#,
            ..NONE
        },
        Rejection::BodyTooLarge => Scenario {
            edits: &[Edit::Pad(BODY + 1)],
            status: 413,
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The body is over the ceiling of 20000 bytes; send less, or raise the body limit"}}"#,
            closes: true,
            ..NONE
        },
        Rejection::MalformedJson => Scenario {
            edits: &[Edit::Cut],
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The body is not JSON: the text ends too early at byte 86"}}"#,
            closes: true,
            ..NONE
        },
        Rejection::InvalidId => Scenario {
            edits: &[Edit::Member("id", "null")],
            post: r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The id is null, a request needs a string or an integer"}}"#,
            ..NONE
        },
        Rejection::Unauthenticated => Scenario {
            edits: &[Edit::Drop("Authorization")],
            verbs: WIRE,
            status: 401,
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"Authentication is required: send Authorization: Bearer with a token"}}"#,
            plain: r#"{"error":"Authentication is required: send Authorization: Bearer with a token"}"#,
            headers: &[(r#"www-authenticate"#, r#"Bearer realm="mcp""#)],
            ..NONE
        },
        Rejection::MalformedAuthorization => Scenario {
            edits: &[Edit::Add("Authorization", "Bearer alice")],
            verbs: WIRE,
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"The Authorization header is malformed: there is more than one; send one"}}"#,
            plain: r#"{"error":"The Authorization header is malformed: there is more than one; send one"}"#,
            headers: &[(r#"www-authenticate"#, r#"Bearer realm="mcp", error="invalid_request""#)],
            ..NONE
        },
        Rejection::InsufficientScope => Scenario {
            edits: &[Edit::Set("Authorization", "Bearer weak")],
            verbs: WIRE,
            status: 403,
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"The credential lacks scope: tools:call"}}"#,
            plain: r#"{"error":"The credential lacks scope: tools:call"}"#,
            headers: &[(
                r#"www-authenticate"#,
                r#"Bearer realm="mcp", error="insufficient_scope", scope="tools:call""#,
            )],
            ..NONE
        },
        Rejection::ProviderError => Scenario {
            edits: &[Edit::Set("Authorization", "Bearer down")],
            verbs: WIRE,
            status: 503,
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"The credential cannot be checked right now; retry with the same one"}}"#,
            plain: r#"{"error":"The credential cannot be checked right now; retry with the same one"}"#,
            headers: &[("retry-after", "3")],
            ..NONE
        },
        Rejection::RateLimited => Scenario {
            edits: &[Edit::Set("Authorization", "Bearer busy")],
            verbs: WIRE,
            status: 429,
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"Too many requests; retry after 1500 ms","data":{"retryAfterMs":1500}}}"#,
            plain: r#"{"error":"Too many requests; retry after 1500 ms"}"#,
            headers: &[("retry-after", "2")],
            ..NONE
        },
        Rejection::DuplicatedSessionId => Scenario {
            edits: &[Edit::Add("Mcp-Session-Id", "a"), Edit::Add("Mcp-Session-Id", "a")],
            verbs: WIRE,
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"More than one Mcp-Session-Id header; send one"}}"#,
            plain: r#"{"error":"More than one Mcp-Session-Id header; send one"}"#,
            ..NONE
        },
        Rejection::DuplicatedProtocolVersion => Scenario {
            edits: &[
                Edit::Add("MCP-Protocol-Version", "2025-11-25"),
                Edit::Add("MCP-Protocol-Version", "2025-11-25"),
            ],
            verbs: WIRE,
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"More than one MCP-Protocol-Version header; send one"}}"#,
            plain: r#"{"error":"More than one MCP-Protocol-Version header; send one"}"#,
            ..NONE
        },
        Rejection::InvalidProtocolField => Scenario {
            edits: &[Edit::DropMeta("clientCapabilities")],
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"params._meta needs the object io.modelcontextprotocol/clientCapabilities"}}"#,
            ..MODERN
        },
        Rejection::UnsupportedProtocolVersion => Scenario {
            edits: &[
                Edit::Meta("protocolVersion", r#""2027-01-01""#),
                Edit::Set("MCP-Protocol-Version", "2027-01-01"),
            ],
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"Protocol version 2027-01-01 is not served; use one of 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"],"requested":"2027-01-01"}}}"#,
            ..MODERN
        },
        Rejection::HeaderMissing => Scenario {
            edits: &[Edit::Drop("Mcp-Method")],
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32020,"message":"Mcp-Method is missing; send it with the value the body has","data":{"header":"Mcp-Method","expected":"tools/call"}}}"#,
            ..MODERN
        },
        Rejection::HeaderDuplicated => Scenario {
            edits: &[Edit::Add("Mcp-Name", "other")],
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32020,"message":"More than one Mcp-Name header; send one","data":{"header":"Mcp-Name","expected":"sql","received":"sql, other"}}}"#,
            ..MODERN
        },
        Rejection::HeaderMalformed => Scenario {
            edits: &[Edit::Set("Mcp-Param-Region", "=?base64?dXMtd2VzdDE?=")],
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32020,"message":"Mcp-Param-Region is malformed: it needs visible ASCII of its type, or strict base64 between =?base64? and ?=","data":{"header":"Mcp-Param-Region","expected":"us-west1","received":"=?base64?dXMtd2VzdDE?="}}}"#,
            ..MODERN
        },
        Rejection::HeaderMismatch => Scenario {
            edits: &[Edit::Set("Mcp-Param-Limit", "11")],
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32020,"message":"Mcp-Param-Limit says 11, the body has 10; make them equal","data":{"header":"Mcp-Param-Limit","expected":"10","received":"11"}}}"#,
            ..MODERN
        },
        Rejection::LaneOff => Scenario {
            world: World::LaneOff,
            verbs: &["GET", "DELETE"],
            status: 405,
            plain: r#"{"error":"The legacy lane is off, so there are no sessions; use POST"}"#,
            headers: &[("allow", "POST")],
            ..LEGACY
        },
        Rejection::ModernVersion => Scenario {
            edits: &[Edit::Set("MCP-Protocol-Version", "2026-07-28")],
            verbs: &["GET", "DELETE"],
            status: 405,
            plain: r#"{"error":"Revision 2026-07-28 has no sessions; use POST"}"#,
            headers: &[("allow", "POST")],
            era: Some("modern"),
            ..LEGACY
        },
        Rejection::NoStreamOffered => Scenario {
            edits: &[Edit::Drop("Mcp-Session-Id")],
            verbs: &["GET"],
            status: 405,
            plain: r#"{"error":"There is no event stream to open: Mcp-Session-Id is missing, or Last-Event-ID names the end of a stream; use POST"}"#,
            headers: &[("allow", "GET, POST, DELETE")],
            ..LEGACY
        },
        Rejection::MissingSessionId => Scenario {
            edits: &[Edit::Drop("Mcp-Session-Id")],
            verbs: &["POST", "DELETE"],
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"Mcp-Session-Id is missing; send initialize first and repeat the id it returns"}}"#,
            plain: r#"{"error":"Mcp-Session-Id is missing; send initialize first and repeat the id it returns"}"#,
            ..LEGACY
        },
        Rejection::UnknownSession => Scenario {
            edits: &[Edit::Set("Mcp-Session-Id", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")],
            verbs: WIRE,
            status: 404,
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"Session not found"}}"#,
            plain: r#"{"error":"Session not found"}"#,
            ..LEGACY
        },
        Rejection::ProtocolVersionMismatch => Scenario {
            edits: &[Edit::Set("MCP-Protocol-Version", "2025-06-18")],
            verbs: WIRE,
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"MCP-Protocol-Version 2025-06-18 does not fit: this session speaks 2025-11-25; served are 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26"}}"#,
            plain: r#"{"error":"MCP-Protocol-Version 2025-06-18 does not fit: this session speaks 2025-11-25; served are 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26"}"#,
            ..LEGACY
        },
        Rejection::NotReady => Scenario {
            base: Base::Opened,
            edits: &[Edit::Member("method", r#""logging/setLevel""#)],
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"The session is not ready; send notifications/initialized first"}}"#,
            ..LEGACY
        },
        Rejection::GetNotAcceptable => Scenario {
            edits: &[Edit::Set("Accept", "application/json")],
            verbs: &["GET"],
            status: 406,
            plain: r#"{"error":"Accept must admit text/event-stream: that is what a GET is answered with"}"#,
            ..LEGACY
        },
        Rejection::InvalidMessage => Scenario {
            edits: &[Edit::Member("jsonrpc", r#""1.0""#)],
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"Invalid message: /jsonrpc must be the string 2.0","data":{"errors":[{"path":"/jsonrpc","message":"must be the string 2.0"}]}}}"#,
            era: Some("legacy"),
            ..NONE
        },
        Rejection::UnknownMethod => Scenario {
            edits: &[Edit::Member("method", r#""nope""#), Edit::Set("Mcp-Method", "nope")],
            status: 404,
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found: nope"}}"#,
            ..MODERN
        },
        Rejection::MissingClientCapability => Scenario {
            edits: &[Edit::Param("name", r#""confirm""#), Edit::Set("Mcp-Name", "confirm")],
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32021,"message":"The request's clientCapabilities lack elicitation","data":{"requiredCapabilities":{"elicitation":{}}}}}"#,
            ..MODERN
        },
        Rejection::SessionCap => Scenario {
            world: World::Full,
            base: Base::Initialize,
            status: 503,
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"The server holds as many sessions as it may; retry later, or raise the sessions limit"}}"#,
            headers: &[("retry-after", "5")],
            ..LEGACY
        },
        Rejection::StreamNotAcceptable => Scenario {
            edits: &[
                Edit::Member("method", r#""subscriptions/listen""#),
                Edit::Set("Mcp-Method", "subscriptions/listen"),
                Edit::Drop("Mcp-Name"),
                Edit::Param("notifications", r#"{"toolsListChanged":true}"#),
                Edit::Set("Accept", "application/json"),
            ],
            status: 406,
            post: r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"subscriptions/listen is answered with an event stream, which Accept does not admit; add text/event-stream"}}"#,
            ..MODERN
        },
    }
}
