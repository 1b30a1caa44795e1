//! The rejection table: every way to refuse, one row each. The enum, the list and the rows come from one macro, so a variant without
//! a row does not parse. `twolane rejections` and README print it.

use super::chain::{CHAIN, Stage};
use super::routes::Verbs;

/// Who refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejecter {
    /// What stands before the road: shedding, and verbs the endpoint does not serve.
    Router,
    /// A stage of the road.
    Stage(Stage),
    /// A session's event stream: what a GET comes to behind `session`.
    Stream,
}

impl Rejecter {
    /// The name in the table, in marks and events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Router => "router",
            Self::Stage(stage) => stage.name(),
            Self::Stream => "stream",
        }
    }
}

/// Which id a rejection envelope echoes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdRule {
    /// Always null: nothing has classified the message yet.
    Null,
    /// The rejection-id rule: the request's id, else null.
    Rule,
    /// As the rule, but where the rule says null the body is empty.
    RuleOrEmpty,
    /// The id of the request, which is there: only requests get here.
    Request,
    /// The row is for verbs that answer in the plain dialect.
    Plain,
}

impl IdRule {
    /// The word used in the table.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Rule => "rule",
            Self::RuleOrEmpty => "rule, or no body",
            Self::Request => "request's",
            Self::Plain => "",
        }
    }
}

/// The header a row adds to its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowHeader {
    /// None.
    None,
    /// `Allow` (RFC 9110 10.2.1).
    Allow,
    /// `Retry-After` (RFC 9110 10.2.3).
    RetryAfter,
    /// `WWW-Authenticate` (RFC 6750 3).
    WwwAuthenticate,
}

impl RowHeader {
    /// The header's name in the table.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Allow => "Allow",
            Self::RetryAfter => "Retry-After",
            Self::WwwAuthenticate => "WWW-Authenticate",
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The stage that refuses.
    pub rejecter: Rejecter,
    /// Why, in one word.
    pub reason: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The JSON-RPC code; 0 where the row is for other verbs only.
    pub code: i32,
    /// The id rule.
    pub id: IdRule,
    /// The header added.
    pub header: RowHeader,
    /// Whether an HTTP/1.x connection closes after the answer.
    pub closes: bool,
    /// The verbs that can meet the row.
    pub verbs: Verbs,
    /// The message; `{}` stands for the detail.
    pub text: &'static str,
}

macro_rules! rejections {
    ($($variant:ident => $rejecter:ident.$reason:ident, $status:literal, $code:literal, $id:ident, $header:ident, $closes:literal, $verbs:ident, $text:literal;)+) => {
        /// A way to refuse: a (rejecter, reason) pair of the rejection table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Rejection { $(#[doc = concat!("`", stringify!($rejecter), ".", stringify!($reason), "`: ", $status, ".")] $variant,)+ }

        impl Rejection {
            /// Every rejection, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();
            const ROWS: &'static [Row] = &[$(Row {
                rejecter: rejections!(@rejecter $rejecter), reason: stringify!($reason), status: $status, code: $code, id: IdRule::$id,
                header: RowHeader::$header, closes: $closes, verbs: Verbs::$verbs, text: $text,
            },)+];
        }
    };
    (@rejecter router) => { Rejecter::Router };
    (@rejecter origin) => { Rejecter::Stage(Stage::Origin) };
    (@rejecter parse) => { Rejecter::Stage(Stage::Parse) };
    (@rejecter classify) => { Rejecter::Stage(Stage::Classify) };
    (@rejecter auth) => { Rejecter::Stage(Stage::Auth) };
    (@rejecter limit) => { Rejecter::Stage(Stage::Limit) };
    (@rejecter singleton) => { Rejecter::Stage(Stage::Singleton) };
    (@rejecter protocol_fields) => { Rejecter::Stage(Stage::ProtocolFields) };
    (@rejecter header_binding) => { Rejecter::Stage(Stage::HeaderBinding) };
    (@rejecter session) => { Rejecter::Stage(Stage::Session) };
    (@rejecter stream) => { Rejecter::Stream };
    (@rejecter validate) => { Rejecter::Stage(Stage::Validate) };
    (@rejecter dispatch) => { Rejecter::Stage(Stage::Dispatch) };
}

rejections! {
    Overloaded => router.overloaded, 503, -32600, Null, RetryAfter, true, ALL,
        "The server is overloaded: {}; retry later";
    Draining => router.draining, 503, -32600, Null, RetryAfter, true, ALL,
        "The server is shutting down; retry, another instance may answer";
    MethodNotAllowed => router.method_not_allowed, 405, 0, Plain, Allow, false, OTHERS,
        "This endpoint does not serve the verb; use POST";
    DuplicatedOrigin => origin.duplicated_origin, 400, -32600, Null, None, false, ALL,
        "More than one Origin header; send one";
    OriginNotAllowed => origin.origin_not_allowed, 403, -32600, Null, None, false, ALL,
        "Origin {} is not allowed; add it with allow-origin";
    HostNotAllowed => origin.host_not_allowed, 403, -32600, Null, None, false, ALL,
        "Host {} is not allowed; add it with allow-host";
    DuplicatedContentType => parse.duplicated_content_type, 400, -32600, Null, None, false, POST,
        "More than one Content-Type header; send one";
    QueryTooLong => parse.query_too_long, 414, -32600, Null, None, false, POST,
        "The query string is over the ceiling of {} bytes; shorten it, or raise the query limit";
    QueryNotUtf8 => parse.query_not_utf8, 400, -32600, Null, None, false, POST,
        "The query string is not valid UTF-8 after percent-decoding, or has a malformed percent escape; percent-encode it as UTF-8";
    UnsupportedMediaType => parse.unsupported_media_type, 415, -32600, Null, None, false, POST,
        "Content-Type {} is not served; send application/json in UTF-8";
    UnsupportedContentEncoding => parse.unsupported_content_encoding, 415, -32600, Null, None, false, POST,
        "Content-Encoding {} is not served; send the body unencoded";
    NotAcceptable => parse.not_acceptable, 406, -32600, Null, None, false, POST,
        "Accept admits neither application/json nor text/event-stream; list both";
    BodyTooLarge => parse.body_too_large, 413, -32600, Null, None, true, POST,
        "The body is over the ceiling of {} bytes; send less, or raise the body limit";
    MalformedJson => parse.malformed_json, 400, -32700, Null, None, true, POST,
        "The body is not JSON: {}";
    InvalidId => classify.invalid_id, 400, -32600, Null, None, false, POST,
        "The id {}";
    Unauthenticated => auth.unauthenticated, 401, -32600, Rule, WwwAuthenticate, false, WIRE,
        "Authentication is required: {}";
    MalformedAuthorization => auth.malformed_authorization, 400, -32600, Rule, WwwAuthenticate, false, WIRE,
        "The Authorization header is malformed: {}";
    InsufficientScope => auth.insufficient_scope, 403, -32600, Rule, WwwAuthenticate, false, WIRE,
        "The credential lacks scope: {}";
    ProviderError => auth.provider_error, 503, -32600, Rule, RetryAfter, false, WIRE,
        "The credential cannot be checked right now; retry with the same one";
    RateLimited => limit.rate_limited, 429, -32600, Rule, RetryAfter, false, WIRE,
        "Too many requests; retry after {} ms";
    DuplicatedSessionId => singleton.duplicated_session_id, 400, -32600, Rule, None, false, WIRE,
        "More than one Mcp-Session-Id header; send one";
    DuplicatedProtocolVersion => singleton.duplicated_protocol_version, 400, -32600, Rule, None, false, WIRE,
        "More than one MCP-Protocol-Version header; send one";
    InvalidProtocolField => protocol_fields.invalid_protocol_field, 400, -32602, Rule, None, false, POST,
        "{}";
    UnsupportedProtocolVersion => protocol_fields.unsupported_protocol_version, 400, -32022, Rule, None, false, POST,
        "{}";
    HeaderMissing => header_binding.header_missing, 400, -32020, Rule, None, false, POST,
        "{}";
    HeaderDuplicated => header_binding.header_duplicated, 400, -32020, Rule, None, false, POST,
        "{}";
    HeaderMalformed => header_binding.header_malformed, 400, -32020, Rule, None, false, POST,
        "{}";
    HeaderMismatch => header_binding.header_mismatch, 400, -32020, Rule, None, false, POST,
        "{}";
    LaneOff => session.lane_off, 405, 0, Plain, Allow, false, GET_DELETE,
        "The legacy lane is off, so there are no sessions; use POST";
    ModernVersion => session.modern_version, 405, 0, Plain, Allow, false, GET_DELETE,
        "Revision 2026-07-28 has no sessions; use POST";
    NoStreamOffered => session.no_stream_offered, 405, 0, Plain, Allow, false, GET,
        "There is no event stream to open: Mcp-Session-Id is missing, or Last-Event-ID names the end of a stream; use POST";
    MissingSessionId => session.missing_session_id, 400, -32600, Rule, None, false, POST_DELETE,
        "Mcp-Session-Id is missing; send initialize first and repeat the id it returns";
    UnknownSession => session.unknown_session, 404, -32001, RuleOrEmpty, None, false, WIRE,
        "Session not found";
    ProtocolVersionMismatch => session.protocol_version_mismatch, 400, -32600, Rule, None, false, WIRE,
        "{}";
    NotReady => session.not_ready, 400, -32600, Rule, None, false, POST,
        "The session is not ready; send notifications/initialized first";
    GetNotAcceptable => stream.not_acceptable, 406, 0, Plain, None, false, GET,
        "Accept must admit text/event-stream: that is what a GET is answered with";
    InvalidMessage => validate.invalid_message, 400, -32600, Rule, None, false, POST,
        "Invalid message: {}";
    UnknownMethod => dispatch.unknown_method, 404, -32601, Request, None, false, POST,
        "{}";
    MissingClientCapability => dispatch.missing_client_capability, 400, -32021, Request, None, false, POST,
        "The request's clientCapabilities lack {}";
    SessionCap => dispatch.session_cap, 503, -32600, Request, RetryAfter, false, POST,
        "The server holds as many sessions as it may; retry later, or raise the sessions limit";
    StreamNotAcceptable => dispatch.stream_not_acceptable, 406, -32600, Request, None, false, POST,
        "subscriptions/listen is answered with an event stream, which Accept does not admit; add text/event-stream";
}

impl Rejection {
    /// The row.
    #[must_use]
    pub const fn row(self) -> &'static Row {
        &Self::ROWS[self as usize]
    }

    /// The position in [`Self::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The table as Markdown, for README.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::from(
        "| rejecter | reason | status | code | id | verbs |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for rejection in Rejection::ALL {
        let row = rejection.row();
        let header = match row.header {
            RowHeader::None => String::new(),
            RowHeader::Allow | RowHeader::RetryAfter | RowHeader::WwwAuthenticate => {
                format!(" + `{}`", row.header.word())
            }
        };
        let code = if row.code == 0 { String::new() } else { row.code.to_string() };
        let (rejecter, verbs) = (row.rejecter.name(), row.verbs.words());
        out.push_str(&format!(
            "| {rejecter} | {} | {}{header} | {code} | {} | {verbs} |\n",
            row.reason,
            row.status,
            row.id.word()
        ));
    }
    out
}

const _: () = {
    assert!(Rejection::COUNT == Rejection::ROWS.len());
    let mut at = 0;
    let mut last = 0;
    while at < Rejection::COUNT {
        let row = Rejection::ROWS[at];
        assert!(row.status >= 400 && row.status < 600, "a rejection is an error");
        let position = match row.rejecter {
            Rejecter::Router => 0,
            Rejecter::Stage(stage) => 1 + stage as usize,
            // Directly behind the session.
            Rejecter::Stream => 1 + Stage::Session as usize,
        };
        assert!(position >= last, "rows stand in chain order");
        assert!(position <= CHAIN.len());
        last = position;
        assert!(
            (row.code == 0) == matches!(row.id, IdRule::Plain),
            "a row without a code answers in the plain dialect"
        );
        at += 1;
    }
};
