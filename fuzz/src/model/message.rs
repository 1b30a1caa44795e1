//! Messages, read naively: their kind, their form, and what their methods make of their params.

use super::{Answered, LEGACY, Lacks};
use crate::json::{self, Json};

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Notification,
    Response,
    Unknown,
}

pub(super) fn kind(message: &Json) -> Kind {
    let has = |key: &str| message.get(key).is_some();
    match message.get("method") {
        Some(Json::Text(_)) if has("id") => Kind::Request,
        Some(Json::Text(_)) => Kind::Notification,
        None if has("id") && (has("result") || has("error")) => Kind::Response,
        Some(_) | None => Kind::Unknown,
    }
}

/// The id rule: a request's own, else none.
pub(super) fn rejection_id(message: &Json) -> Option<Json> {
    message.get("id").filter(|_| kind(message) == Kind::Request).cloned()
}

pub(super) fn is_id(id: &Json) -> bool {
    match id {
        Json::Text(text) => text.len() <= 8192,
        Json::Number(spelling) => json::is_integral(spelling),
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => false,
    }
}

/// The JSON-RPC envelope.
pub(super) fn is_valid(message: &Json, kind: Kind) -> bool {
    if message.get("jsonrpc").and_then(Json::as_str) != Some("2.0") {
        return false;
    }
    match kind {
        Kind::Request | Kind::Notification => {
            matches!(message.get("params"), None | Some(Json::Null | Json::Object(_)))
        }
        Kind::Response => match (message.get("result"), message.get("error")) {
            (Some(result), None) => result.is_object(),
            (None, Some(error)) => {
                matches!(error.get("code"), Some(Json::Number(code)) if json::is_integral_value(code))
                    && error.get("message").and_then(Json::as_str).is_some()
            }
            _ => false,
        },
        Kind::Unknown => false,
    }
}

pub(super) fn answered(message: &Json, modern: bool) -> Answered {
    let id = message.get("id").cloned().expect("a request");
    let method = message.get("method").and_then(Json::as_str).unwrap_or_default().to_owned();
    Answered { id, modern, method, opens: None, session: None, lacks: Lacks::No, listens: None }
}

/// The revision of the session that an `initialize` opens; `None` where its params are not right.
pub(super) fn opened(message: &Json) -> Option<&'static str> {
    let params = message.get("params")?;
    if !has_common_params(params) {
        return None;
    }
    let version = params.get("protocolVersion")?.as_str()?;
    let client = params.get("clientInfo")?;
    client.get("name")?.as_str()?;
    client.get("version")?.as_str()?;
    params.get("capabilities").filter(|capabilities| capabilities.is_object())?;
    Some(LEGACY.iter().find(|legacy| **legacy == version).unwrap_or(&LEGACY[2]))
}

/// `_meta` is an object, and the progress token in it a string or an integer; null counts as absent.
pub(super) fn has_common_params(params: &Json) -> bool {
    match params.get("_meta") {
        None | Some(Json::Null) => true,
        Some(meta @ Json::Object(_)) => match meta.get("progressToken") {
            None | Some(Json::Null | Json::Text(_)) => true,
            Some(Json::Number(token)) => json::is_integral_value(token),
            Some(_) => false,
        },
        Some(_) => false,
    }
}
