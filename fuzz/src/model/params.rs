//! The params of methods, read naively: whether they fit, what a listener asks for, which capability is wanted for.

use super::Listens;
use super::TOPICS;
use super::message::has_common_params;
use crate::json::{self, Json};

const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Whether a request wants for a capability that its client has not declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lacks {
    #[default]
    No,
    /// It depends on how far its handler comes.
    Perhaps,
    Certainly,
}

/// Something, and not null.
fn given<'j>(object: Option<&'j Json>, key: &str) -> Option<&'j Json> {
    object.and_then(|object| object.get(key)).filter(|value| **value != Json::Null)
}

/// Whether a capability is declared.
pub fn declares(capabilities: Option<&Json>, path: &str) -> bool {
    match path {
        "tasks" => given(given(capabilities, "extensions"), TASKS).is_some(),
        "elicitation" => {
            let modes = given(capabilities, "elicitation");
            modes.is_some() && (given(modes, "form").is_some() || given(modes, "url").is_none())
        }
        path => given(capabilities, path).is_some(),
    }
}

/// Whether the params are what the method takes, as far as edits change them.
pub(super) fn fits(message: &Json, modern: bool) -> bool {
    let params = message.get("params");
    let of = |key: &str| given(params, key);
    let text =
        |key: &str| params.and_then(|params| params.get(key)).is_some_and(|value| value.as_str().is_some());
    let may_be = |key: &str, fits: fn(&Json) -> bool| of(key).is_none_or(fits);
    if !params.is_none_or(has_common_params) || (modern && !fits_capabilities(params)) {
        return false;
    }
    match message.get("method").and_then(Json::as_str).unwrap_or_default() {
        "tools/call" => text("name") && may_be("arguments", Json::is_object) && fits_round(params),
        "prompts/get" => {
            text("name")
                && may_be("arguments", |arguments| {
                    let texts = arguments.members().iter();
                    arguments.is_object()
                        && texts
                            .map(|(_, value)| value)
                            .all(|value| value.as_str().is_some() || *value == Json::Null)
                })
                && fits_round(params)
        }
        "resources/read" => text("uri") && fits_round(params),
        "resources/subscribe" | "resources/unsubscribe" => text("uri"),
        "tasks/get" | "tasks/cancel" => text("taskId"),
        "tasks/update" => text("taskId") && of("inputResponses").is_some_and(Json::is_object),
        "subscriptions/listen" => of("notifications").is_some_and(fits_listen),
        _ => may_be("cursor", |cursor| cursor.as_str().is_some()),
    }
}

/// What a client brings back of an earlier round; answers are not looked into here.
fn fits_round(params: Option<&Json>) -> bool {
    given(params, "inputResponses").is_none_or(Json::is_object)
        && given(params, "requestState").is_none_or(|state| state.as_str().is_some())
}

fn fits_capabilities(params: Option<&Json>) -> bool {
    let declared = given(given(params, "_meta"), CLIENT_CAPABILITIES);
    let extensions = given(declared, "extensions");
    ["sampling", "elicitation", "roots", "extensions", "experimental"]
        .iter()
        .all(|name| given(declared, name).is_none_or(Json::is_object))
        && extensions.is_none_or(|all| all.members().iter().all(|(_, settings)| settings.is_object()))
}

fn fits_listen(asked: &Json) -> bool {
    let texts = |key: &str| match given(Some(asked), key) {
        None => true,
        Some(Json::Array(values)) => values.iter().all(|value| value.as_str().is_some()),
        Some(_) => false,
    };
    asked.is_object()
        && TOPICS
            .iter()
            .all(|(key, _)| given(Some(asked), key).is_none_or(|value| matches!(value, Json::Bool(_))))
        && texts("resourceSubscriptions")
        && texts("taskIds")
}

/// What a `subscriptions/listen` that fits asks for, each once.
pub(super) fn asks_for(message: &Json) -> Listens {
    let asked = given(message.get("params"), "notifications");
    let texts = |key: &str| {
        let mut found: Vec<String> = Vec::new();
        if let Some(Json::Array(values)) = given(asked, key) {
            for value in values.iter().filter_map(Json::as_str) {
                if !found.iter().any(|known| known == value) {
                    found.push(value.to_owned());
                }
            }
        }
        found
    };
    let asks = |key: &str| given(asked, key) == Some(&Json::Bool(true));
    let topics = (0..TOPICS.len()).filter(|&at| asks(TOPICS[at].0)).map(|at| 1 << at).sum();
    Listens { topics, resources: texts("resourceSubscriptions"), tasks: texts("taskIds") }
}

/// What a modern request wants for.
pub(super) fn lacks(message: &Json) -> Lacks {
    if !fits(message, true) {
        return Lacks::No;
    }
    let params = message.get("params");
    let of = |key: &str| given(params, key);
    let has = |path: &str| declares(given(of("_meta"), CLIENT_CAPABILITIES), path);
    let certainly_without = |path: &str| if has(path) { Lacks::No } else { Lacks::Certainly };
    let perhaps_without = |path: &str| if has(path) { Lacks::No } else { Lacks::Perhaps };
    let text = |key: &str| of(key).and_then(Json::as_str).unwrap_or_default();
    match message.get("method").and_then(Json::as_str).unwrap_or_default() {
        "tasks/get" | "tasks/update" | "tasks/cancel" => certainly_without("tasks"),
        "subscriptions/listen" if !asks_for(message).tasks.is_empty() => certainly_without("tasks"),
        "tools/call" => match text("name") {
            "needs" => certainly_without("sampling"),
            "task" | "must" if !has("tasks") => Lacks::Certainly,
            "job" | "later" | "task" | "must" => perhaps_without("elicitation"),
            "ask" => asking(params, has),
            _ => Lacks::No,
        },
        "prompts/get" if text("name") == "asker" => perhaps_without("elicitation"),
        "resources/read" if text("uri") == "ask:///x" => perhaps_without("roots"),
        _ => Lacks::No,
    }
}

/// The tool `ask`.
fn asking(params: Option<&Json>, has: impl Fn(&str) -> bool) -> Lacks {
    let arguments = given(params, "arguments");
    let number = |key: &str| match given(arguments, key) {
        Some(Json::Number(spelling)) if json::is_integer(spelling) => spelling.parse::<u8>().ok(),
        _ => None,
    };
    let path = match number("what") {
        Some(0) => "elicitation",
        Some(1) => "sampling",
        _ => "roots",
    };
    let plain = number("what").is_some()
        && number("times").is_some_and(|times| times <= 3)
        && given(arguments, "late") == Some(&Json::Bool(false))
        && given(params, "requestState").is_none()
        && given(params, "inputResponses").is_none();
    match (has(path) && number("what").is_some(), plain) {
        (true, _) => Lacks::No,
        (false, true) => Lacks::Certainly,
        (false, false) => Lacks::Perhaps,
    }
}
