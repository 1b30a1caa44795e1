//! Where the checks differ from the official JSON schemas on purpose: every such place, and nothing else, written as changes to the
//! schemas.

use serde_json::{Value, json};
use twolane::methods::params::shape::LONGEST_TOKEN;
use twolane::tables::versions::Revision;
use twolane::view::message::LONGEST_ID;

/// One rule that the schemas do not have, or have otherwise.
pub struct Deviation {
    /// Why it is right.
    pub reason: &'static str,
    /// Writes it into a revision's definitions.
    pub write: fn(Revision, &mut serde_json::Map<String, Value>),
}

/// For params and envelopes.
pub const DEVIATIONS: &[Deviation] = &[
    Deviation {
        reason: "Null for a member that may be left out counts as left out: clients in languages with a null send it.",
        write: |_, definitions| definitions.values_mut().for_each(null_is_absent),
    },
    Deviation {
        reason: "An argument of a prompt is left out too when it is null.",
        write: |_, definitions| definitions.values_mut().for_each(arguments_may_be_null),
    },
    Deviation {
        reason: "Progress tokens have a longest: they are repeated in every notification.",
        write: |_, definitions| definitions["ProgressToken"]["maxLength"] = json!(LONGEST_TOKEN),
    },
    Deviation {
        reason: "Where the schema's source says any JSON value, or any number, its JSON form knows neither null nor fractions.",
        write: |revision, definitions| {
            if revision >= Revision::V2026_07_28 {
                definitions["JSONValue"] = json!({});
                definitions["ElicitResult"]["properties"]["content"] = json!({
                    "anyOf": [
                        {"type": "null"},
                        {"type": "object", "additionalProperties": {"anyOf": [
                            {"type": ["string", "number", "boolean"]},
                            {"type": "array", "items": {"type": "string"}},
                        ]}},
                    ],
                });
            }
        },
    },
    Deviation {
        reason: "The tasks extension, whose schema is not the core's: its three methods, and tasks to listen to. What answers nothing that \
                 a task waits for is ignored, whatever it is.",
        write: |revision, definitions| {
            if revision >= Revision::V2026_07_28 {
                let ids =
                    json!({"anyOf": [{"type": "null"}, {"type": "array", "items": {"type": "string"}}]});
                definitions["SubscriptionFilter"]["properties"]["taskIds"] = ids;
                definitions.insert("GetTaskRequest".into(), task_request("tasks/get", &[]));
                definitions.insert("CancelTaskRequest".into(), task_request("tasks/cancel", &[]));
                let answers = ("inputResponses", json!({"type": "object"}));
                definitions.insert("UpdateTaskRequest".into(), task_request("tasks/update", &[answers]));
            }
        },
    },
];

// Three more need no change to a schema:
// - Formats are notes for people: no validator here checks them.
// - Params that are absent, or null, are an empty object, also where the schema wants them to be there.
// - 1.0 is an integer; JSON Schema says so too.

/// For envelopes alone: what is inside params and results is the business of whoever reads them.
pub const ENVELOPE_DEVIATIONS: &[Deviation] = &[
    Deviation {
        reason: "A method checks its own params, `_meta` included, and answers faults with a code of its own.",
        write: |_, definitions| {
            for name in ["JSONRPCRequest", "JSONRPCNotification"] {
                definitions[name]["properties"]["params"] = json!({"type": ["object", "null"]});
            }
        },
    },
    Deviation {
        reason: "What a result holds is read by whoever waits for it.",
        write: |_, definitions| definitions["Result"] = json!({"type": "object"}),
    },
    Deviation {
        reason: "Ids have a longest.",
        write: |_, definitions| definitions["RequestId"]["maxLength"] = json!(LONGEST_ID),
    },
    Deviation {
        reason: "The id of a response is not judged: it finds the request that waits for it, or nothing. A null one is JSON-RPC's own.",
        write: |_, definitions| {
            for name in ["JSONRPCResponse", "JSONRPCResultResponse", "JSONRPCError", "JSONRPCErrorResponse"] {
                if let Some(properties) = definitions.get_mut(name).and_then(|one| one.get_mut("properties"))
                {
                    properties["id"] = json!({});
                }
            }
        },
    },
];

/// A message's kind comes first, by the keys it has, and its definition follows from that. The schemas would take a request with a
/// faulty id for a notification, and a faulty request for a response if it has a result too.
pub fn definition_of(message: &Value, revision: Revision) -> Option<&'static str> {
    let has = |key: &str| message.get(key).is_some();
    let newer = revision >= Revision::V2025_11_25;
    match (has("method"), has("id"), has("result"), has("error")) {
        (true, true, _, _) => Some("JSONRPCRequest"),
        (true, false, _, _) => Some("JSONRPCNotification"),
        (false, true, true, false) => Some(if newer { "JSONRPCResultResponse" } else { "JSONRPCResponse" }),
        (false, true, false, true) => Some(if newer { "JSONRPCErrorResponse" } else { "JSONRPCError" }),
        // Neither a result nor an error, or both; or one without an id, which newer schemas allow beside an error.
        (false, _, _, _) => None,
    }
}

fn task_request(method: &str, more: &[(&str, Value)]) -> Value {
    let mut params = json!({
        "type": "object",
        "properties": {"_meta": {"$ref": "#/$defs/RequestMetaObject"}, "taskId": {"type": "string"}},
        "required": ["_meta", "taskId"],
    });
    for (key, schema) in more {
        params["properties"][*key] = schema.clone();
        params["required"].as_array_mut().unwrap().push(json!(key));
    }
    json!({
        "type": "object",
        "properties": {"method": {"const": method}, "params": params},
        "required": ["method", "params"],
    })
}

/// Wherever arguments are texts.
fn arguments_may_be_null(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                if keyword == "arguments"
                    && let Some(texts) =
                        find_mut(value, "/additionalProperties/type", "/anyOf/0/additionalProperties/type")
                    && texts == "string"
                {
                    *texts = json!(["string", "null"]);
                }
                arguments_may_be_null(value);
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(arguments_may_be_null),
        _ => {}
    }
}

/// The first of two places that is there.
fn find_mut<'v>(value: &'v mut Value, one: &str, other: &str) -> Option<&'v mut Value> {
    let place = if value.pointer(one).is_some() { one } else { other };
    value.pointer_mut(place)
}

/// Lets every member that is not required be null, in `schema` and all below it.
fn null_is_absent(schema: &mut Value) {
    let Some(keywords) = schema.as_object_mut() else { return };
    let required = keywords.get("required").cloned().unwrap_or(json!([]));
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(members)) => {
                for (key, member) in members {
                    null_is_absent(member);
                    if !required.as_array().unwrap().contains(&json!(key)) {
                        *member = json!({"anyOf": [member.take(), {"type": "null"}]});
                    }
                }
            }
            ("anyOf" | "allOf" | "oneOf", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(null_is_absent)
            }
            ("items" | "additionalProperties", schema) => null_is_absent(schema),
            _ => {}
        }
    }
}
