//! Edits of bodies, and the values that they put there.

use arbitrary::Arbitrary;

use super::{Memory, pick};
use crate::json::Json;
use crate::tables::{VERSIONS, WORDS};

#[derive(Debug, Clone, Copy, Arbitrary)]
pub(super) enum Atom {
    Integer(i8),
    Known(u8),
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
    What,
    State,
    Responses,
    Sampling,
    Elicitation,
    Extensions,
    Notifications,
    ToolsChanged,
    Subscriptions,
    TaskIds,
    Level,
    Ref,
    RefUri,
    ArgumentValue,
    Context,
    RequestId,
}

pub(super) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(super) const TASKS: &str = "io.modelcontextprotocol/tasks";

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
            Self::What => &["params", "arguments", "what"],
            Self::State => &["params", "requestState"],
            Self::Responses => &["params", "inputResponses"],
            Self::Sampling => &["params", "_meta", CLIENT_CAPABILITIES, "sampling"],
            Self::Elicitation => &["params", "_meta", CLIENT_CAPABILITIES, "elicitation"],
            Self::Extensions => &["params", "_meta", CLIENT_CAPABILITIES, "extensions", TASKS],
            Self::Notifications => &["params", "notifications"],
            Self::ToolsChanged => &["params", "notifications", "toolsListChanged"],
            Self::Subscriptions => &["params", "notifications", "resourceSubscriptions"],
            Self::TaskIds => &["params", "notifications", "taskIds"],
            Self::Level => &["params", "level"],
            Self::Ref => &["params", "ref"],
            Self::RefUri => &["params", "ref", "uri"],
            Self::ArgumentValue => &["params", "argument", "value"],
            Self::Context => &["params", "context"],
            Self::RequestId => &["params", "requestId"],
        }
    }
}

pub(super) fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

pub(super) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

impl Atom {
    pub(super) fn json(self, memory: &Memory) -> Json {
        match self {
            Self::Known(at) => known(at, memory),
            Self::Null => Json::Null,
            Self::True => Json::Bool(true),
            Self::False => Json::Bool(false),
            Self::Integer(value) => Json::Number(value.to_string()),
            Self::Number(at) => Json::Number((*pick(&NUMBERS, at)).to_owned()),
            Self::Word(at) => text(pick(&WORDS, at)),
            Self::Version(at) => text(pick(&VERSIONS, at)),
            Self::Object => object([]),
            Self::Array => Json::Array(Vec::new()),
            Self::LongText(len) => Json::Text("x".repeat(usize::from(len) % 2_100)),
        }
    }
}

/// Something that the server has said before.
fn known(at: u8, memory: &Memory) -> Json {
    let tasks = memory.tasks.iter().chain(&memory.cursors).chain(&memory.events);
    let all: Vec<Json> =
        tasks.map(|word| text(word)).chain(memory.asked.iter().map(|(id, _)| id.clone())).collect();
    if all.is_empty() { Json::Number(at.to_string()) } else { pick(&all, at).clone() }
}

impl Edit {
    pub(super) fn apply(&self, message: &mut Json, memory: &Memory) {
        match self {
            Self::Set(place, atom) => message.put(place.path(), atom.json(memory), false),
            Self::Remove(place) => message.remove(place.path()),
            Self::Repeat(place, atom) => message.put(place.path(), atom.json(memory), true),
            Self::Deepen(place, depth) => {
                let deep = (0..depth % 16).fold(Json::Null, |inner, _| Json::Array(vec![inner]));
                message.put(place.path(), deep, false);
            }
            Self::Wrap => *message = Json::Array(vec![message.clone()]),
        }
    }
}
