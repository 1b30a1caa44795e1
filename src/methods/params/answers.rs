//! `inputResponses`: what a client answers to a server that has asked for more (2026-07-28, basic/patterns/mrtr). Kinds of content and
//! the results of sampling, elicitation and roots.

use super::client::ICONS;
use super::shape::{Member, OBJECT, Shape, optional, required};

/// `inputResponses`: answers by the key of their request.
pub(super) const INPUT_RESPONSES: Shape = Shape::Map(&Shape::Either(
    &[SAMPLED, ROOTS, ELICITED],
    "the result of sampling/createMessage, roots/list or elicitation/create",
));

const SAMPLED: Shape = Shape::Object(&[
    required("role", &ROLE),
    required("model", &Shape::String),
    required("content", &SAMPLED_CONTENT),
    optional("stopReason", &Shape::String),
    META,
]);

const ROOTS: Shape = Shape::Object(&[required(
    "roots",
    &Shape::List(&Shape::Object(&[required("uri", &Shape::String), optional("name", &Shape::String), META])),
)]);

const ELICITED: Shape = Shape::Object(&[
    required("action", &Shape::OneOf(&["accept", "decline", "cancel"])),
    optional("content", &Shape::Map(&FIELD)),
]);

/// What a person fills in.
const FIELD: Shape = Shape::Either(
    &[Shape::String, Shape::Number, Shape::Bool, Shape::List(&Shape::String)],
    "a string, a number, a boolean or an array of strings",
);

const META: Member = optional("_meta", &OBJECT);

const ROLE: Shape = Shape::OneOf(&["user", "assistant"]);

const SAMPLED_CONTENT: Shape =
    Shape::Either(&[SAMPLED_BLOCK, Shape::List(&SAMPLED_BLOCK)], "a content block or an array of them");

const SAMPLED_BLOCK: Shape = Shape::Tagged(&[
    ("text", TEXT),
    ("image", DATA),
    ("audio", DATA),
    ("tool_use", TOOL_USE),
    ("tool_result", TOOL_RESULT),
]);

/// What tools return.
const BLOCK: Shape = Shape::Tagged(&[
    ("text", TEXT),
    ("image", DATA),
    ("audio", DATA),
    ("resource_link", RESOURCE_LINK),
    ("resource", EMBEDDED),
]);

const TEXT: &[Member] = &[required("text", &Shape::String), ANNOTATIONS, META];

const DATA: &[Member] =
    &[required("data", &Shape::String), required("mimeType", &Shape::String), ANNOTATIONS, META];

const TOOL_USE: &[Member] =
    &[required("id", &Shape::String), required("name", &Shape::String), required("input", &OBJECT), META];

const TOOL_RESULT: &[Member] = &[
    required("toolUseId", &Shape::String),
    required("content", &Shape::List(&BLOCK)),
    optional("isError", &Shape::Bool),
    META,
];

const RESOURCE_LINK: &[Member] = &[
    required("uri", &Shape::String),
    required("name", &Shape::String),
    optional("title", &Shape::String),
    optional("description", &Shape::String),
    optional("mimeType", &Shape::String),
    optional("size", &Shape::Integer),
    ICONS,
    ANNOTATIONS,
    META,
];

const EMBEDDED: &[Member] = &[required("resource", &CONTENTS), ANNOTATIONS, META];

const CONTENTS: Shape = Shape::Either(
    &[
        Shape::Object(&[required("text", &Shape::String), RESOURCE_URI, MIME_TYPE, META]),
        Shape::Object(&[required("blob", &Shape::String), RESOURCE_URI, MIME_TYPE, META]),
    ],
    "a resource with a uri and text or a blob",
);

const RESOURCE_URI: Member = required("uri", &Shape::String);
const MIME_TYPE: Member = optional("mimeType", &Shape::String);

const ANNOTATIONS: Member = optional(
    "annotations",
    &Shape::Object(&[
        optional("audience", &Shape::List(&ROLE)),
        optional("priority", &Shape::Share),
        optional("lastModified", &Shape::String),
    ]),
);
