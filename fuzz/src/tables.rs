//! Header values with their verdicts, written down by hand from the wire contract: the model looks them up instead of reading them.

/// `Origin` values, and whether each is allowed.
pub const ORIGINS: [(&str, bool); 18] = [
    ("http://localhost", true),
    ("http://localhost:3000", true),
    ("https://127.0.0.1:1", true),
    ("http://[::1]:65535", true),
    ("HTTP://LOCALHOST", true),
    ("https://app.example", true),
    ("https://app.example:443", true),
    ("https://app.example:444", false),
    ("http://app.example", false),
    ("null", false),
    ("", false),
    ("http://evil.example", false),
    ("http://localhost.evil.example", false),
    ("http://localhost:99999", false),
    ("http://localhost/", false),
    ("http://user@localhost", false),
    ("localhost", false),
    ("http://localhost http://localhost", false),
];

/// `Host` values, and whether each is allowed.
pub const HOSTS: [(&str, bool); 11] = [
    ("localhost", true),
    ("localhost:8080", true),
    ("127.0.0.1", true),
    ("[::1]:1", true),
    ("LOCALHOST:1", true),
    ("mcp.example", true),
    ("MCP.example:7", true),
    ("evil.example", false),
    ("", false),
    ("127.0.0.1.evil.example", false),
    ("localhost:99999", false),
];

/// `Content-Type` values, and whether each is served.
pub const CONTENT_TYPES: [(&str, bool); 11] = [
    ("application/json", true),
    ("Application/JSON; charset=UTF-8", true),
    ("application/vnd.x+json", true),
    ("application/json;charset=\"utf-8\"; v=1", true),
    ("application/json ; charset=us-ascii", true),
    ("application/json; charset=latin1", false),
    ("text/plain", false),
    ("application/jsonp", false),
    ("", false),
    ("application/+json", false),
    ("application/json, application/json", false),
];

/// `Content-Encoding` values, and whether each is served.
pub const CONTENT_ENCODINGS: [(&str, bool); 4] =
    [("identity", true), ("IDENTITY", true), ("gzip", false), ("", false)];

/// `Accept` values, and whether each admits JSON and event streams. On several lines what any of them admits is admitted, since none of
/// these excludes what another one names.
pub const ACCEPTS: [(&str, bool, bool); 10] = [
    ("application/json, text/event-stream", true, true),
    ("application/json", true, false),
    ("text/event-stream", false, true),
    ("*/*", true, true),
    ("application/*;q=0.5", true, false),
    ("TEXT/*", false, true),
    ("application/json;q=0.001;v=2,text/event-stream;q=1", true, true),
    ("text/html", false, false),
    ("", false, false),
    ("application/xml, text/plain;q=0.1", false, false),
];

/// The same for values that exclude; they stand alone.
pub const EXCLUDING_ACCEPTS: [(&str, bool, bool); 4] = [
    ("*/*;q=0", false, false),
    ("application/json;q=0, */*", false, true),
    ("text/*, application/json;q=0.000", false, true),
    ("text/event-stream;q=0,application/json", true, false),
];

/// What authentication makes of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    Of(&'static str),
    Unauthenticated,
    Malformed,
    InsufficientScope,
    ProviderError,
}

/// `Authorization` values.
pub const AUTHORIZATIONS: [(&str, Credential); 11] = [
    ("Bearer alice", Credential::Of("alice")),
    ("bearer bob", Credential::Of("bob")),
    ("BEARER   alice", Credential::Of("alice")),
    ("Bearer who", Credential::Unauthenticated),
    ("Basic YWxpY2U6", Credential::Unauthenticated),
    ("", Credential::Unauthenticated),
    ("Bearer", Credential::Malformed),
    ("Bearer a b", Credential::Malformed),
    ("Bearer al\"ice", Credential::Malformed),
    ("Bearer narrow", Credential::InsufficientScope),
    ("Bearer away", Credential::ProviderError),
];

/// Revisions, served or not.
pub const VERSIONS: [&str; 8] =
    ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "", "2026-07-28x", "draft"];

/// Words that stand in bodies and mirrored headers.
pub const WORDS: [&str; 44] = [
    "2.0",
    "1.0",
    "tools/call",
    "tools/list",
    "ping",
    "initialize",
    "server/discover",
    "notifications/initialized",
    "notifications/cancelled",
    "resources/read",
    "prompts/get",
    "logging/setLevel",
    "echo",
    "steps",
    "wait",
    "lookup",
    "needs",
    "divide",
    "nope",
    "eu",
    "é",
    "a b",
    " eu ",
    "=?base64?ZXU=?=",
    "=?base64?ZXU?=",
    "=?base64?/w==?=",
    "=?BASE64?ZXU=?=",
    "true",
    "4",
    "4.00",
    "info",
    "file:///x",
    "resources/subscribe",
    "subscriptions/listen",
    "tasks/get",
    "completion/complete",
    "prompts/list",
    "notifications/roots/list_changed",
    "ask",
    "job",
    "asker",
    "ask:///x",
    "gone:///x",
    "prompts/get ",
];

/// Queries, and whether each decodes to UTF-8.
pub const QUERIES: [(&str, bool); 8] = [
    ("", true),
    ("a=b", true),
    ("a=%C3%A9", true),
    ("123456789012345678901234", true),
    ("%", false),
    ("%zz", false),
    ("a=%ff", false),
    ("%C3", false),
];

/// Looks a value up.
pub fn verdict<T: Copy>(table: &[(&str, T)], value: &[u8]) -> T {
    let found = table.iter().find(|(text, _)| text.as_bytes() == value);
    found.unwrap_or_else(|| panic!("not in the table: {}", value.escape_ascii())).1
}
