//! Tools with schemas that servers and clients like to get wrong.

use serde_json::{Value, json};
use twolane::Builder;
use twolane::tools::RawTool;

/// Every keyword that servers like to strip: it must be listed as it stands here.
fn schema_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    })
}

fn mirrored() -> Value {
    let region =
        json!({"type": "string", "description": "Mirrored into a header.", "x-mcp-header": "Region"});
    json!({"type": "object", "properties": {"region": region}})
}

pub(crate) fn register(server: Builder) -> Builder {
    server
        .tool(RawTool::new(
            "json_schema_2020_12_tool",
            "Has a rich schema.",
            schema_2020_12(),
            |_: Value| async { "The arguments fit." },
        ))
        .tool(RawTool::new(
            "test_custom_header",
            "Has an argument that a header mirrors.",
            mirrored(),
            |arguments: Value| async move {
                format!("Region: {}", arguments["region"].as_str().unwrap_or("none"))
            },
        ))
}
