//! The modern lane's own stages, read naively: `_meta` fields, and headers that mirror the body.

use twolane::tables::rejection::Rejection;

use crate::base64;
use crate::json::{self, Json};
use crate::model::MODERN;
use crate::rig::Request;

const PREFIX: &str = "io.modelcontextprotocol/";
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The fields of `_meta`.
pub fn protocol_fields(request: &Request, message: &Json, legacy: bool) -> Result<(), Rejection> {
    let params = message.get("params");
    let meta = params.and_then(|params| params.get("_meta"));
    let field = |name: &str| meta.and_then(|meta| meta.get(&format!("{PREFIX}{name}")));
    let method = message.get("method").and_then(Json::as_str);
    if !legacy && method == Some("initialize") && field("protocolVersion").is_none() {
        return Err(Rejection::UnsupportedProtocolVersion);
    }
    let text = |value: Option<&Json>| value.and_then(Json::as_str).is_some();
    let fits = meta.is_some_and(Json::is_object)
        && text(field("protocolVersion"))
        && field("clientCapabilities").is_some_and(Json::is_object)
        && field("clientInfo").is_none_or(|info| text(info.get("name")) && text(info.get("version")))
        && field("logLevel").is_none_or(|level| level.as_str().is_some_and(|level| LEVELS.contains(&level)));
    if !fits {
        return Err(Rejection::InvalidProtocolField);
    }
    let version = field("protocolVersion").and_then(Json::as_str).unwrap_or_default();
    let header = request.values("mcp-protocol-version").first().copied();
    if version != MODERN && header.is_none_or(|header| header == version.as_bytes()) {
        return Err(Rejection::UnsupportedProtocolVersion);
    }
    Ok(())
}

/// What is wrong with a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    Missing,
    Duplicated,
    Malformed,
    Mismatch,
}

impl Unfit {
    pub fn row(self) -> Rejection {
        match self {
            Self::Missing => Rejection::HeaderMissing,
            Self::Duplicated => Rejection::HeaderDuplicated,
            Self::Malformed => Rejection::HeaderMalformed,
            Self::Mismatch => Rejection::HeaderMismatch,
        }
    }
}

/// Every row of the table, for a request.
pub fn mirrored(request: &Request, message: &Json) -> Result<(), Unfit> {
    rows(request, message, true)?;
    let params = message.get("params");
    let of = |key: &str| params.and_then(|params| params.get(key));
    let lookup = of("name").and_then(Json::as_str) == Some("lookup");
    if message.get("method").and_then(Json::as_str) != Some("tools/call") || !lookup {
        return Ok(());
    }
    parameters(request, of("arguments"), &lookup_parameters()).map_err(|(unfit, _)| unfit)
}

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    Boolean,
}

/// An argument that is mirrored.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// In lower case.
    pub header: String,
    /// As the schema has it.
    pub spelled: String,
    pub path: Vec<String>,
    pub kind: Kind,
}

fn lookup_parameters() -> [Parameter; 3] {
    let parameter = |name: &str, path: &[&str], kind| Parameter {
        header: format!("mcp-param-{}", name.to_ascii_lowercase()),
        spelled: format!("Mcp-Param-{name}"),
        path: path.iter().map(|&key| key.to_owned()).collect(),
        kind,
    };
    [
        parameter("Region", &["region"], Kind::Text),
        parameter("Limit", &["options", "limit"], Kind::Integer),
        parameter("Dry", &["dry"], Kind::Boolean),
    ]
}

/// Every mirrored argument: what is wrong with the first that does not fit, and its header.
pub fn parameters(
    request: &Request,
    arguments: Option<&Json>,
    all: &[Parameter],
) -> Result<(), (Unfit, String)> {
    all.iter().try_for_each(|one| {
        mirrored_argument(request, arguments, one).map_err(|unfit| (unfit, one.spelled.clone()))
    })
}

fn mirrored_argument(request: &Request, arguments: Option<&Json>, one: &Parameter) -> Result<(), Unfit> {
    let bound = Bound::find(arguments, &one.path);
    match one.kind {
        Kind::Text => {
            parameter(request, &one.header, bound.of(|body| body.as_str().is_some()), |text, body| {
                Ok(body.is_none_or(|body| body.as_str() == Some(text)))
            })
        }
        Kind::Integer => {
            let bound = match bound {
                // No tool is served such a number.
                Bound::Value(Json::Number(spelling))
                    if !json::is_integer(spelling) && magnitude(spelling) >= 1e38 =>
                {
                    Bound::Absent
                }
                bound => bound.of(|body| matches!(body, Json::Number(spelling) if whole(spelling).is_some())),
            };
            parameter(request, &one.header, bound, |text, body| {
                let sent = integer(text).ok_or(Unfit::Malformed)?;
                Ok(body.is_none_or(
                    |body| matches!(body, Json::Number(spelling) if whole(spelling) == Some(sent)),
                ))
            })
        }
        Kind::Boolean => {
            parameter(request, &one.header, bound.of(|body| matches!(body, Json::Bool(_))), |text, body| {
                let sent = match text {
                    "true" => true,
                    "false" => false,
                    _ => return Err(Unfit::Malformed),
                };
                Ok(body.is_none_or(|body| *body == Json::Bool(sent)))
            })
        }
    }
}

/// What a parameter is bound to.
enum Bound<'j> {
    /// Nothing is there, or null.
    Absent,
    /// Something of another type.
    Unspellable,
    Value(&'j Json),
}

impl<'j> Bound<'j> {
    fn find(value: Option<&'j Json>, path: &[String]) -> Self {
        match (value, path) {
            (None | Some(Json::Null), _) => Self::Absent,
            (Some(value), []) => Self::Value(value),
            (Some(value @ Json::Object(_)), [key, rest @ ..]) => Self::find(value.get(key), rest),
            (Some(_), _) => Self::Unspellable,
        }
    }

    fn of(self, is_right: impl Fn(&Json) -> bool) -> Self {
        match self {
            Self::Value(value) if !is_right(value) => Self::Unspellable,
            bound => bound,
        }
    }
}

/// A notification needs no header, but what it sends must fit.
pub fn mirrored_by_notification(request: &Request, message: &Json) -> Result<(), Unfit> {
    rows(request, message, false)
}

fn rows(request: &Request, message: &Json, required: bool) -> Result<(), Unfit> {
    let params = message.get("params");
    let of = |key: &str| params.and_then(|params| params.get(key));
    let method = message.get("method").and_then(Json::as_str);
    let version =
        of("_meta").and_then(|meta| meta.get(&format!("{PREFIX}protocolVersion"))).and_then(Json::as_str);
    let name = match method {
        Some("tools/call" | "prompts/get") => of("name"),
        Some("resources/read") => of("uri"),
        Some("tasks/get" | "tasks/update" | "tasks/cancel") => of("taskId"),
        _ => None,
    };
    let name = name.and_then(Json::as_str);
    for (header, body, encoded) in
        [("mcp-protocol-version", version, false), ("mcp-method", method, false), ("mcp-name", name, true)]
    {
        let Some(body) = body else { continue };
        let value = match request.values(header)[..] {
            [] if required => return Err(Unfit::Missing),
            [] => continue,
            [value] => value,
            _ => return Err(Unfit::Duplicated),
        };
        let text = if encoded { decoded(value) } else { plain(value).map(str::to_owned) };
        if text.ok_or(Unfit::Malformed)? != body {
            return Err(Unfit::Mismatch);
        }
    }
    Ok(())
}

/// A declared parameter. `fits` looks at the header's form first, and then at the body's value where there is one to compare with.
fn parameter(
    request: &Request,
    header: &str,
    bound: Bound<'_>,
    fits: impl Fn(&str, Option<&Json>) -> Result<bool, Unfit>,
) -> Result<(), Unfit> {
    let value = match request.values(header)[..] {
        [] if matches!(bound, Bound::Value(_)) => return Err(Unfit::Missing),
        [] => return Ok(()),
        [value] => value,
        _ => return Err(Unfit::Duplicated),
    };
    let text = decoded(value).ok_or(Unfit::Malformed)?;
    let fitting = match bound {
        Bound::Value(body) => fits(&text, Some(body))?,
        Bound::Unspellable => fits(&text, None)?,
        Bound::Absent => fits(&text, None).map(|_| false)?,
    };
    if fitting { Ok(()) } else { Err(Unfit::Mismatch) }
}

/// Visible ASCII, spaces and tabs.
fn plain(value: &[u8]) -> Option<&str> {
    let fits = value.iter().all(|&byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
    std::str::from_utf8(value).ok().filter(|_| fits)
}

fn decoded(value: &[u8]) -> Option<String> {
    let text = plain(value)?;
    match text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(wrapped) => String::from_utf8(base64::decode(wrapped)?).ok(),
        None => Some(text.to_owned()),
    }
}

/// A decimal integer, with zeros allowed behind its point.
fn integer(text: &str) -> Option<i128> {
    let (digits, zeros) = text.split_once('.').unwrap_or((text, "0"));
    let all = |text: &str, fits: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(fits);
    let fits = all(digits.strip_prefix('-').unwrap_or(digits), u8::is_ascii_digit)
        && all(zeros, |byte| *byte == b'0');
    if fits { digits.parse().ok() } else { None }
}

/// The integer that a JSON number stands for.
fn whole(spelling: &str) -> Option<i128> {
    if json::is_integer(spelling) {
        return spelling.parse().ok();
    }
    let value: f64 = spelling.parse().ok()?;
    (value.fract() == 0.0).then_some(value as i128)
}

fn magnitude(spelling: &str) -> f64 {
    spelling.parse::<f64>().map_or(0.0, f64::abs)
}
