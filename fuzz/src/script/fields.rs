//! Header fields: those that fit a message, and edits of them.

use arbitrary::Arbitrary;
use twolane::reply::SessionText;

use super::{Lane, Memory, pick};
use crate::base64;
use crate::json::Json;
use crate::tables::{
    ACCEPTS, AUTHORIZATIONS, CONTENT_ENCODINGS, CONTENT_TYPES, EXCLUDING_ACCEPTS, HOSTS, ORIGINS, VERSIONS,
    WORDS,
};

#[derive(Debug, Arbitrary)]
pub(super) struct FieldEdit {
    pub(super) field: Field,
    pub(super) act: Act,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
pub(super) enum Field {
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
pub(super) enum Act {
    Drop,
    Set(u8),
    Add(u8),
    Twice,
    /// Wrapped in the base64 sentinel.
    Wrap,
    /// A byte that no header spelling has.
    Spoil,
}

pub(super) type Fields = Vec<(Vec<u8>, Vec<u8>)>;

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

    fn value(self, at: u8, memory: &Memory) -> Vec<u8> {
        let sessions = &memory.sessions;
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
            Self::LastEventId if !memory.events.is_empty() && at < 200 => {
                pick(&memory.events, at).clone().into_bytes()
            }
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
    pub(super) fn apply(&self, fields: &mut Fields, memory: &Memory) {
        let name = self.field.name().as_bytes();
        let is_it = |(other, _): &(Vec<u8>, Vec<u8>)| other.eq_ignore_ascii_case(name);
        let at = fields.iter().position(is_it);
        let mirrored =
            matches!(self.field, Field::Method | Field::Name | Field::Region | Field::Limit | Field::Dry);
        match (self.act, at) {
            (Act::Drop, _) => fields.retain(|field| !is_it(field)),
            (Act::Set(value), _) => {
                fields.retain(|field| !is_it(field));
                fields.push((name.to_vec(), self.field.value(value, memory)));
            }
            (Act::Add(value), _) => fields.push((name.to_vec(), self.field.value(value, memory))),
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

/// The headers that fit a message.
pub(super) fn fitting(lane: Lane, message: &Json, sessions: &[SessionText]) -> Fields {
    let mut fields = Fields::new();
    let mut add = |name: &str, value: Vec<u8>| fields.push((name.as_bytes().to_vec(), value));
    add("Host", b"localhost:8080".to_vec());
    add("Content-Type", b"application/json".to_vec());
    add("Accept", b"application/json, text/event-stream".to_vec());
    add("Authorization", b"Bearer alice".to_vec());
    match lane {
        Lane::Bare => {}
        Lane::Session(_) if sessions.is_empty() => {}
        Lane::Session(at) => add("Mcp-Session-Id", pick(sessions, at).to_vec()),
        Lane::Modern => {
            let params = message.get("params");
            let of = |key: &str| params.and_then(|params| params.get(key));
            let version = of("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"));
            let version = version.and_then(Json::as_str).unwrap_or("2026-07-28");
            let method = message.get("method").and_then(Json::as_str);
            add("MCP-Protocol-Version", header_safe(version));
            method.into_iter().for_each(|method| add("Mcp-Method", header_safe(method)));
            let name = match method {
                Some("resources/read") => of("uri"),
                Some("tasks/get" | "tasks/update" | "tasks/cancel") => of("taskId"),
                _ => of("name"),
            };
            name.and_then(Json::as_str).into_iter().for_each(|name| add("Mcp-Name", header_safe(name)));
            let argument = |key: &str| of("arguments").and_then(|arguments| arguments.get(key));
            let limit = argument("options").and_then(|options| options.get("limit"));
            for (name, value) in [("Region", argument("region")), ("Limit", limit), ("Dry", argument("dry"))]
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

/// A text as a mirrored header spells it.
fn header_safe(text: &str) -> Vec<u8> {
    let plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && text.trim() == text
        && !text.starts_with("=?base64?");
    if plain { text.into() } else { format!("=?base64?{}?=", base64::encode(text.as_bytes())).into_bytes() }
}
