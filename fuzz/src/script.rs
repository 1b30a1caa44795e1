//! Structured inputs for the road: valid messages, and what is done to them.

use arbitrary::Arbitrary;
use twolane::reply::SessionText;

use crate::base64;
use crate::json::Json;
use crate::rig::Request;
use crate::tables::{
    ACCEPTS, AUTHORIZATIONS, CONTENT_ENCODINGS, CONTENT_TYPES, EXCLUDING_ACCEPTS, HOSTS, ORIGINS, QUERIES,
    VERSIONS, WORDS,
};

/// One run.
#[derive(Debug, Arbitrary)]
pub struct Script {
    /// The legacy lane is on unless this is 0.
    pub legacy: u8,
    /// Authentication is on when this is 0.
    pub auth: u8,
    pub steps: Vec<Step>,
}

#[derive(Debug, Arbitrary)]
pub enum Step {
    Send(Sent),
    SendAgain(Sent),
    /// Time passes: milliseconds.
    Wait(u16),
    /// Idle sessions are swept away.
    Sweep,
    /// The rate limiter refuses everybody, or nobody.
    Limit(bool),
    /// The server begins to drain.
    Drain(u8),
}

#[derive(Debug, Arbitrary)]
pub struct Sent {
    pub http2: bool,
    verb: u8,
    target: u8,
    lane: Lane,
    template: Template,
    id: Atom,
    edits: Few<Edit>,
    fields: Few<FieldEdit>,
    /// A byte of the body that becomes another one, and where the body ends too early.
    spoil: Option<(u16, u8, bool)>,
    declared: bool,
}

/// At most four.
#[derive(Debug)]
pub struct Few<T>(Vec<T>);

impl<'a, T: Arbitrary<'a>> Arbitrary<'a> for Few<T> {
    fn arbitrary(bytes: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let count = bytes.int_in_range(0..=7_u8)?.saturating_sub(3);
        (0..count).map(|_| bytes.arbitrary()).collect::<Result<_, _>>().map(Self)
    }
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Lane {
    Modern,
    /// On the session with this number.
    Session(u8),
    /// Without a session.
    Bare,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Template {
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
enum Atom {
    Null,
    True,
    False,
    Integer(i8),
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
enum Edit {
    Set(Place, Atom),
    Remove(Place),
    /// A second member with the same key.
    Repeat(Place, Atom),
    Deepen(Place, u8),
    Wrap,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Place {
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

#[derive(Debug, Arbitrary)]
struct FieldEdit {
    field: Field,
    act: Act,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Field {
    Origin,
    Host,
    ContentType,
    ContentEncoding,
    Accept,
    Authorization,
    Version,
    Session,
    Method,
    Name,
    Region,
    Limit,
    Dry,
    LastEventId,
    Preflight,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Act {
    Drop,
    Set(u8),
    Add(u8),
    Twice,
    /// Wrapped in the base64 sentinel.
    Wrap,
    /// A byte that no header spelling has.
    Spoil,
}

fn pick<T>(table: &[T], at: u8) -> &T {
    &table[usize::from(at) % table.len()]
}

fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

impl Atom {
    fn json(self) -> Json {
        match self {
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
    fn json(self, lane: Lane, id: Atom) -> Json {
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
                let version = text(pick(&VERSIONS, version));
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
    fn apply(&self, message: &mut Json) {
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

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

impl Field {
    const fn name(self) -> &'static str {
        match self {
            Self::Origin => "Origin",
            Self::Host => "Host",
            Self::ContentType => "Content-Type",
            Self::ContentEncoding => "Content-Encoding",
            Self::Accept => "ACCEPT",
            Self::Authorization => "authorization",
            Self::Version => "MCP-Protocol-Version",
            Self::Session => "Mcp-Session-Id",
            Self::Method => "Mcp-Method",
            Self::Name => "mcp-name",
            Self::Region => "Mcp-Param-Region",
            Self::Limit => "MCP-PARAM-LIMIT",
            Self::Dry => "Mcp-Param-dry",
            Self::LastEventId => "Last-Event-ID",
            Self::Preflight => "Access-Control-Request-Method",
        }
    }

    fn value(self, at: u8, sessions: &[SessionText]) -> Vec<u8> {
        match self {
            Self::Origin => pick(&ORIGINS, at).0.into(),
            Self::Host => pick(&HOSTS, at).0.into(),
            Self::ContentType => pick(&CONTENT_TYPES, at).0.into(),
            Self::ContentEncoding => pick(&CONTENT_ENCODINGS, at).0.into(),
            Self::Accept if at >= 200 => pick(&EXCLUDING_ACCEPTS, at).0.into(),
            Self::Accept => pick(&ACCEPTS, at).0.into(),
            Self::Authorization => pick(&AUTHORIZATIONS, at).0.into(),
            Self::Version => (*pick(&VERSIONS, at)).into(),
            Self::Session => match sessions.get(usize::from(at) % (sessions.len() + 3)) {
                Some(session) => session.to_vec(),
                None => [&b""[..], b"short", &[b'A'; 43]][usize::from(at) % 3].to_vec(),
            },
            Self::Method
            | Self::Name
            | Self::Region
            | Self::Limit
            | Self::Dry
            | Self::LastEventId
            | Self::Preflight => pick(&WORDS, at).trim().into(),
        }
    }
}

impl FieldEdit {
    fn apply(&self, fields: &mut Fields, sessions: &[SessionText]) {
        let name = self.field.name().as_bytes();
        let is_it = |(other, _): &(Vec<u8>, Vec<u8>)| other.eq_ignore_ascii_case(name);
        let at = fields.iter().position(is_it);
        let mirrored =
            matches!(self.field, Field::Method | Field::Name | Field::Region | Field::Limit | Field::Dry);
        match (self.act, at) {
            (Act::Drop, _) => fields.retain(|field| !is_it(field)),
            (Act::Set(value), _) => {
                fields.retain(|field| !is_it(field));
                fields.push((name.to_vec(), self.field.value(value, sessions)));
            }
            (Act::Add(value), _) => fields.push((name.to_vec(), self.field.value(value, sessions))),
            (Act::Twice, Some(at)) => fields.push(fields[at].clone()),
            (Act::Wrap, Some(at)) if mirrored => {
                fields[at].1 = format!("=?base64?{}?=", base64::encode(&fields[at].1)).into_bytes();
            }
            (Act::Spoil, Some(at)) if mirrored || matches!(self.field, Field::Version) => {
                fields[at].1.push(0xe9)
            }
            (Act::Twice | Act::Wrap | Act::Spoil, _) => {}
        }
    }
}

impl Sent {
    /// The request, for a server that has these sessions open.
    pub fn request(&self, sessions: &[SessionText]) -> Request {
        let method = match self.verb {
            0 => "GET",
            1 => "DELETE",
            2 => "OPTIONS",
            3 => "HEAD",
            4 => "post",
            _ => "POST",
        };
        let mut message = self.template.json(self.lane, self.id);
        self.edits.0.iter().for_each(|edit| edit.apply(&mut message));
        let mut fields = self.fitting_fields(&message, sessions);
        self.fields.0.iter().for_each(|edit| edit.apply(&mut fields, sessions));
        let mut body = Vec::new();
        message.write(&mut body);
        if let Some((at, byte, cut)) = self.spoil {
            let at = usize::from(at) % body.len().max(1);
            if cut {
                body.truncate(at)
            } else if let Some(old) = body.get_mut(at) {
                *old = byte
            }
        }
        let (mut target, authority) = self.target();
        if self.target >= 200 {
            target.extend_from_slice(format!("?{}", pick(&QUERIES, self.target).0).as_bytes());
        }
        if self.target >= 250 {
            target.extend_from_slice(b"1234567890123456789012345");
        }
        Request {
            http2: self.http2,
            method: method.into(),
            target,
            authority,
            fields,
            body,
            declared: self.declared,
        }
    }

    fn target(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        let target = match self.target {
            0 => "/",
            1 => "/mcp/x",
            2 => "/MCP",
            3..20 => "/mcp/",
            _ => "/mcp",
        };
        let authority = (100..120).contains(&self.target).then(|| pick(&HOSTS, self.target).0.into());
        (target.into(), authority.filter(|authority: &Vec<u8>| self.http2 || !authority.is_empty()))
    }

    /// The headers that fit the message.
    fn fitting_fields(&self, message: &Json, sessions: &[SessionText]) -> Fields {
        let mut fields = Fields::new();
        let mut add = |name: &str, value: Vec<u8>| fields.push((name.as_bytes().to_vec(), value));
        add("Host", b"localhost:8080".to_vec());
        add("Content-Type", b"application/json".to_vec());
        add("Accept", b"application/json, text/event-stream".to_vec());
        add("Authorization", b"Bearer alice".to_vec());
        match self.lane {
            Lane::Bare => {}
            Lane::Session(_) if sessions.is_empty() => {}
            Lane::Session(at) => add("Mcp-Session-Id", pick(sessions, at).to_vec()),
            Lane::Modern => {
                let params = message.get("params");
                let of = |key: &str| params.and_then(|params| params.get(key));
                let version =
                    of("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"));
                let version = version.and_then(Json::as_str).unwrap_or("2026-07-28");
                let method = message.get("method").and_then(Json::as_str);
                add("MCP-Protocol-Version", header_safe(version));
                method.into_iter().for_each(|method| add("Mcp-Method", header_safe(method)));
                let name = if method == Some("resources/read") { of("uri") } else { of("name") };
                name.and_then(Json::as_str).into_iter().for_each(|name| add("Mcp-Name", header_safe(name)));
                let argument = |key: &str| of("arguments").and_then(|arguments| arguments.get(key));
                let limit = argument("options").and_then(|options| options.get("limit"));
                for (name, value) in
                    [("Region", argument("region")), ("Limit", limit), ("Dry", argument("dry"))]
                {
                    let value = match value {
                        Some(Json::Text(text)) => header_safe(text),
                        Some(Json::Number(spelling)) => spelling.clone().into_bytes(),
                        Some(Json::Bool(value)) => value.to_string().into_bytes(),
                        _ => continue,
                    };
                    add(&format!("Mcp-Param-{name}"), value);
                }
            }
        }
        fields
    }
}

/// A text as a mirrored header spells it.
fn header_safe(text: &str) -> Vec<u8> {
    let plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && text.trim() == text
        && !text.starts_with("=?base64?");
    if plain { text.into() } else { format!("=?base64?{}?=", base64::encode(text.as_bytes())).into_bytes() }
}
