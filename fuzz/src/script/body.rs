//! Bodies: valid messages, and edits of them.

use arbitrary::Arbitrary;

use super::{Lane, pick};
use crate::json::Json;
use crate::tables::{VERSIONS, WORDS};

#[derive(Debug, Clone, Copy, Arbitrary)]
pub(super) enum Template {
    Call(u8),
    List,
    Discover,
    Ping,
    Initialize(u8),
    Initialized,
    Notification,
    Response,
    Failure,
    Other(u8),
    Batch(u8),
    Scalar,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
pub(super) enum Atom {
    Integer(i8),
    Null,
    True,
    False,
    Number(u8),
    Word(u8),
    Version(u8),
    Object,
    Array,
    LongText(u16),
}

const NUMBERS: [&str; 14] = [
    "1.0",
    "1e2",
    "-0",
    "1.5",
    "18446744073709551615",
    "-9223372036854775808",
    "18446744073709551616",
    "1e999",
    "4.0",
    "0.0",
    "1E+1",
    "-1.0e0",
    "9007199254740993",
    "1e-1",
];

#[derive(Debug, Arbitrary)]
pub(super) enum Edit {
    Set(Place, Atom),
    Remove(Place),
    /// A second member with the same key.
    Repeat(Place, Atom),
    Deepen(Place, u8),
    Wrap,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
pub(super) enum Place {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    ErrorCode,
    Meta,
    Name,
    Uri,
    Arguments,
    Cursor,
    TaskId,
    ProtocolVersion,
    Capabilities,
    ClientInfo,
    MetaVersion,
    MetaClient,
    MetaCapabilities,
    MetaLevel,
    MetaToken,
    MetaOther,
    Message,
    Region,
    Options,
    Limit,
    Dry,
}

impl Place {
    const fn path(self) -> &'static [&'static str] {
        match self {
            Self::Jsonrpc => &["jsonrpc"],
            Self::Id => &["id"],
            Self::Method => &["method"],
            Self::Params => &["params"],
            Self::Result => &["result"],
            Self::Error => &["error"],
            Self::ErrorCode => &["error", "code"],
            Self::Meta => &["params", "_meta"],
            Self::Name => &["params", "name"],
            Self::Uri => &["params", "uri"],
            Self::Arguments => &["params", "arguments"],
            Self::Cursor => &["params", "cursor"],
            Self::TaskId => &["params", "taskId"],
            Self::ProtocolVersion => &["params", "protocolVersion"],
            Self::Capabilities => &["params", "capabilities"],
            Self::ClientInfo => &["params", "clientInfo"],
            Self::MetaVersion => &["params", "_meta", "io.modelcontextprotocol/protocolVersion"],
            Self::MetaClient => &["params", "_meta", "io.modelcontextprotocol/clientInfo"],
            Self::MetaCapabilities => &["params", "_meta", "io.modelcontextprotocol/clientCapabilities"],
            Self::MetaLevel => &["params", "_meta", "io.modelcontextprotocol/logLevel"],
            Self::MetaToken => &["params", "_meta", "progressToken"],
            Self::MetaOther => &["params", "_meta", "io.modelcontextprotocol/other"],
            Self::Message => &["params", "arguments", "message"],
            Self::Region => &["params", "arguments", "region"],
            Self::Options => &["params", "arguments", "options"],
            Self::Limit => &["params", "arguments", "options", "limit"],
            Self::Dry => &["params", "arguments", "dry"],
        }
    }
}

fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

impl Atom {
    pub(super) fn json(self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::True => Json::Bool(true),
            Self::False => Json::Bool(false),
            Self::Integer(value) => Json::Number(value.to_string()),
            Self::Number(at) => Json::Number((*pick(&NUMBERS, at)).to_owned()),
            Self::Word(at) => text(*pick(&WORDS, at)),
            Self::Version(at) => text(*pick(&VERSIONS, at)),
            Self::Object => object([]),
            Self::Array => Json::Array(Vec::new()),
            Self::LongText(len) => Json::Text("x".repeat(usize::from(len) % 2_100)),
        }
    }
}

const TOOLS: [&str; 6] = ["echo", "lookup", "steps", "divide", "needs", "wait"];

fn arguments(tool: &str) -> Json {
    let number = |spelling: &str| Json::Number(spelling.to_owned());
    match tool {
        "echo" => object([("message", text("hello"))]),
        "lookup" => object([
            ("region", text("eu")),
            ("options", object([("limit", number("4"))])),
            ("dry", Json::Bool(true)),
        ]),
        "steps" => object([("yields", number("2")), ("reports", number("3"))]),
        "divide" => object([("a", number("1")), ("b", number("4.0"))]),
        "wait" => object([("ms", number("9"))]),
        _ => object([]),
    }
}

impl Template {
    pub(super) fn json(self, lane: Lane, id: Atom) -> Json {
        let call = |method: &str, params: Option<Json>| {
            let mut message = vec![
                ("jsonrpc".to_owned(), text("2.0")),
                ("id".to_owned(), id.json()),
                ("method".to_owned(), text(method)),
            ];
            message.extend(with_meta(params, lane).map(|params| ("params".to_owned(), params)));
            Json::Object(message)
        };
        match self {
            Self::Call(tool) => {
                let tool = *pick(&TOOLS, tool);
                call("tools/call", Some(object([("name", text(tool)), ("arguments", arguments(tool))])))
            }
            Self::List => call("tools/list", None),
            Self::Discover => call("server/discover", None),
            Self::Ping => call("ping", None),
            Self::Initialize(version) => {
                let client = object([("name", text("c")), ("version", text("1"))]);
                let version = text(*pick(&VERSIONS, version));
                call(
                    "initialize",
                    Some(object([
                        ("protocolVersion", version),
                        ("capabilities", object([])),
                        ("clientInfo", client),
                    ])),
                )
            }
            Self::Initialized => {
                object([("jsonrpc", text("2.0")), ("method", text("notifications/initialized"))])
            }
            Self::Notification => object([
                ("jsonrpc", text("2.0")),
                ("method", text("notifications/cancelled")),
                ("params", object([("requestId", id.json())])),
            ]),
            Self::Response => object([("jsonrpc", text("2.0")), ("id", id.json()), ("result", object([]))]),
            Self::Failure => {
                let error = object([("code", Json::Number("-1".to_owned())), ("message", text("m"))]);
                object([("jsonrpc", text("2.0")), ("id", id.json()), ("error", error)])
            }
            Self::Other(word) => {
                call(pick(&WORDS, word), Some(object([("name", text("n")), ("uri", text("file:///x"))])))
            }
            Self::Batch(which) => {
                let all = [
                    Self::Ping,
                    Self::Call(which),
                    Self::Initialized,
                    Self::Response,
                    Self::Other(which),
                    Self::Call(2),
                ];
                let count = usize::from(which >> 4) % 8;
                Json::Array(
                    all.iter()
                        .cycle()
                        .skip(usize::from(which))
                        .take(count)
                        .map(|template| template.json(lane, id))
                        .collect(),
                )
            }
            Self::Scalar => id.json(),
        }
    }
}

/// Params with the `_meta` that the modern lane needs.
fn with_meta(params: Option<Json>, lane: Lane) -> Option<Json> {
    if !matches!(lane, Lane::Modern) {
        return params;
    }
    let mut members = match params {
        Some(Json::Object(members)) => members,
        _ => Vec::new(),
    };
    let client = object([("name", text("c")), ("version", text("1"))]);
    let meta = object([
        ("io.modelcontextprotocol/protocolVersion", text("2026-07-28")),
        ("io.modelcontextprotocol/clientInfo", client),
        ("io.modelcontextprotocol/clientCapabilities", object([])),
        ("progressToken", text("t")),
    ]);
    members.push(("_meta".to_owned(), meta));
    Some(Json::Object(members))
}

impl Edit {
    pub(super) fn apply(&self, message: &mut Json) {
        match self {
            Self::Set(place, atom) => message.put(place.path(), atom.json(), false),
            Self::Remove(place) => message.remove(place.path()),
            Self::Repeat(place, atom) => message.put(place.path(), atom.json(), true),
            Self::Deepen(place, depth) => {
                let deep = (0..depth % 16).fold(Json::Null, |inner, _| Json::Array(vec![inner]));
                message.put(place.path(), deep, false);
            }
            Self::Wrap => *message = Json::Array(vec![message.clone()]),
        }
    }
}
