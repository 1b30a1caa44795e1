//! The params of every method: one table, with the revisions that have a member beside it. Methods of the specification that the server
//! lacks stand here too.

use super::answers::INPUT_RESPONSES;
use super::client::{CAPABILITIES, IMPLEMENTATION, LEVEL, META, NOTIFICATION_META};
use super::shape::{Member, OBJECT, Shape, optional, required};
use crate::tables::versions::Revision::{V2025_06_18, V2025_11_25, V2026_07_28};

const META_LEGACY: Member = optional("_meta", &META).until(V2025_11_25);
const META_MODERN: Member = required("_meta", &META).since(V2026_07_28);
const URI: Member = required("uri", &Shape::String);
const NAME: Member = required("name", &Shape::String);
const TASK_ID: Member = required("taskId", &Shape::String);
/// Answers to what the server has asked for, and the state it has handed out with its questions.
const ANSWERS: Member = optional("inputResponses", &INPUT_RESPONSES).since(V2026_07_28);
const STATE: Member = optional("requestState", &Shape::String).since(V2026_07_28);

/// A page of a list.
const LIST: &[Member] = &[META_LEGACY, META_MODERN, optional("cursor", &Shape::String)];
/// Metadata alone.
const BARE: &[Member] = &[META_LEGACY, META_MODERN];
/// One resource.
const SUBSCRIPTION: &[Member] = &[META_LEGACY, META_MODERN, URI];
/// One task.
const TASK: &[Member] = &[META_LEGACY, META_MODERN, TASK_ID];

/// The params of a request by its method's name.
pub(super) fn of_request(method: &str) -> Option<&'static [Member]> {
    Some(match method {
        "tools/call" => TOOLS_CALL,
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" => LIST,
        "ping" | "server/discover" => BARE,
        "resources/read" => RESOURCES_READ,
        "prompts/get" => PROMPTS_GET,
        "completion/complete" => COMPLETE,
        "initialize" => INITIALIZE,
        "resources/subscribe" | "resources/unsubscribe" => SUBSCRIPTION,
        "logging/setLevel" => SET_LEVEL,
        "subscriptions/listen" => LISTEN,
        "tasks/get" | "tasks/cancel" => TASK,
        "tasks/update" => TASKS_UPDATE,
        _ => return None,
    })
}

/// The params of a notification by its method's name.
pub(super) fn of_notification(method: &str) -> Option<&'static [Member]> {
    Some(match method {
        "notifications/cancelled" => CANCELLED,
        "notifications/progress" => PROGRESS,
        "notifications/initialized" | "notifications/roots/list_changed" => &[NOTIFIED],
        _ => return None,
    })
}

const INITIALIZE: &[Member] = &[
    META_LEGACY,
    META_MODERN,
    required("protocolVersion", &Shape::String),
    required("capabilities", &CAPABILITIES),
    required("clientInfo", &IMPLEMENTATION),
];

const TOOLS_CALL: &[Member] = &[
    META_LEGACY,
    META_MODERN,
    NAME,
    optional("arguments", &OBJECT),
    ANSWERS,
    STATE,
    optional("task", &Shape::Object(&[optional("ttl", &Shape::Integer)]))
        .since(V2025_11_25)
        .until(V2025_11_25),
];

const RESOURCES_READ: &[Member] = &[META_LEGACY, META_MODERN, URI, ANSWERS, STATE];

const PROMPTS_GET: &[Member] = &[META_LEGACY, META_MODERN, NAME, ARGUMENTS, ANSWERS, STATE];

/// Arguments of prompts and templates are text; one that is null is left out.
const ARGUMENTS: Member =
    optional("arguments", &Shape::Map(&Shape::Either(&[Shape::String, Shape::Null], "a string")));

const COMPLETE: &[Member] = &[
    META_LEGACY,
    META_MODERN,
    required("ref", &REFERENCE),
    required("argument", &Shape::Object(&[NAME, required("value", &Shape::String)])),
    optional("context", &Shape::Object(&[ARGUMENTS])).since(V2025_06_18),
];

const REFERENCE: Shape = Shape::Tagged(&[
    ("ref/prompt", &[NAME, optional("title", &Shape::String).since(V2025_06_18)]),
    ("ref/resource", &[URI]),
]);

const SET_LEVEL: &[Member] = &[META_LEGACY, META_MODERN, required("level", &LEVEL)];

const LISTEN: &[Member] = &[
    META_LEGACY,
    META_MODERN,
    required(
        "notifications",
        &Shape::Object(&[
            optional("toolsListChanged", &Shape::Bool),
            optional("promptsListChanged", &Shape::Bool),
            optional("resourcesListChanged", &Shape::Bool),
            optional("resourceSubscriptions", &Shape::List(&Shape::String)),
            optional("taskIds", &Shape::List(&Shape::String)),
        ]),
    ),
];

/// Answers under keys that are not open are ignored, whatever they are; those that are waited for are the asker's to judge.
const TASKS_UPDATE: &[Member] = &[META_LEGACY, META_MODERN, TASK_ID, required("inputResponses", &OBJECT)];

const NOTIFIED: Member = optional("_meta", &NOTIFICATION_META);

const CANCELLED: &[Member] = &[
    NOTIFIED,
    required("requestId", &Shape::Id).until(V2025_06_18),
    // In 2025-11-25 a task may be meant, which is not cancelled in this way after all.
    optional("requestId", &Shape::Id).since(V2025_11_25).until(V2025_11_25),
    required("requestId", &Shape::Id).since(V2026_07_28),
    optional("reason", &Shape::String),
];

const PROGRESS: &[Member] = &[
    NOTIFIED,
    required("progressToken", &Shape::Token),
    required("progress", &Shape::Number),
    optional("total", &Shape::Number),
    optional("message", &Shape::String),
];
