//! What clients say of themselves: in `initialize` on the legacy lane, in every request's `_meta` on the modern one.

use super::shape::{Member, OBJECT, Shape, optional, required};
use crate::tables::levels::LogLevel;
use crate::tables::versions::Revision::{V2025_06_18, V2025_11_25, V2026_07_28};

pub(super) const LEVEL: Shape = Shape::OneOf(LogLevel::WORDS);

/// `_meta` of a request.
pub(super) const META: Shape = Shape::Object(&[
    optional("progressToken", &Shape::Token),
    required("io.modelcontextprotocol/protocolVersion", &Shape::String).since(V2026_07_28),
    required("io.modelcontextprotocol/clientCapabilities", &CAPABILITIES).since(V2026_07_28),
    optional("io.modelcontextprotocol/clientInfo", &IMPLEMENTATION).since(V2026_07_28),
    optional("io.modelcontextprotocol/logLevel", &LEVEL).since(V2026_07_28),
]);

/// `_meta` of a notification.
pub(super) const NOTIFICATION_META: Shape =
    Shape::Object(&[optional("io.modelcontextprotocol/subscriptionId", &Shape::Id).since(V2026_07_28)]);

/// `Implementation`.
pub(super) const IMPLEMENTATION: Shape = Shape::Object(&[
    required("name", &Shape::String),
    required("version", &Shape::String),
    optional("title", &Shape::String).since(V2025_06_18),
    optional("description", &Shape::String).since(V2025_11_25),
    optional("websiteUrl", &Shape::String).since(V2025_11_25),
    ICONS,
]);

/// `icons`, wherever they stand.
pub(super) const ICONS: Member = optional("icons", &Shape::List(&ICON)).since(V2025_11_25);

const ICON: Shape = Shape::Object(&[
    required("src", &Shape::String),
    optional("mimeType", &Shape::String),
    optional("sizes", &Shape::List(&Shape::String)),
    optional("theme", &Shape::OneOf(&["light", "dark"])),
]);

/// `ClientCapabilities`.
pub(super) const CAPABILITIES: Shape = Shape::Object(&[
    optional("experimental", &Shape::Map(&OBJECT)),
    optional("extensions", &Shape::Map(&OBJECT)).since(V2026_07_28),
    optional("roots", &Shape::Object(&[optional("listChanged", &Shape::Bool).until(V2025_11_25)])),
    optional("sampling", &SAMPLING),
    optional("elicitation", &ELICITATION).since(V2025_06_18),
    optional("tasks", &TASKS).since(V2025_11_25).until(V2025_11_25),
]);

const SAMPLING: Shape = Shape::Object(&[
    optional("context", &OBJECT).since(V2025_11_25),
    optional("tools", &OBJECT).since(V2025_11_25),
]);

const ELICITATION: Shape = Shape::Object(&[
    optional("form", &OBJECT).since(V2025_11_25),
    optional("url", &OBJECT).since(V2025_11_25),
]);

const TASKS: Shape = Shape::Object(&[
    optional("cancel", &OBJECT),
    optional("list", &OBJECT),
    optional(
        "requests",
        &Shape::Object(&[
            optional("elicitation", &Shape::Object(&[optional("create", &OBJECT)])),
            optional("sampling", &Shape::Object(&[optional("createMessage", &OBJECT)])),
        ]),
    ),
]);
