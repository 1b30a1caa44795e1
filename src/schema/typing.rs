//! Which schemas say nothing beyond what deserialising into the Rust type they were derived from says already.

use serde_json::Value;

use super::Map;

/// Whether a value that deserialises into the type this schema was derived from is valid by the schema, so that validating first
/// would do the work twice. Conservative: a keyword that can also come from an attribute without an effect on deserialisation
/// (`range`, `length`, `regex`, `extend`: bounds, patterns, `enum`, `additionalProperties: false`) makes this false.
pub(super) fn expresses(schema: &Map) -> bool {
    schema.iter().all(|(keyword, value)| keyword_is_expressed(schema, keyword, value))
}

fn keyword_is_expressed(schema: &Map, keyword: &str, value: &Value) -> bool {
    match keyword {
        "type"
        | "required"
        | "title"
        | "description"
        | "$comment"
        | "default"
        | "examples"
        | "deprecated"
        | "readOnly"
        | "writeOnly"
        | "format"
        | "$ref"
        | super::bindings::KEYWORD => true,
        "properties" | "$defs" => {
            value.as_object().is_some_and(|named| named.values().all(schema_is_expressed))
        }
        "items" => schema_is_expressed(value),
        "additionalProperties" => value.as_bool() != Some(false) && schema_is_expressed(value),
        "minimum" | "maximum" => bound_is_natural(schema, keyword, value),
        "anyOf" => value.as_array().is_some_and(|options| is_optional(options)),
        _ => false,
    }
}

fn schema_is_expressed(value: &Value) -> bool {
    match value {
        Value::Bool(any) => *any,
        Value::Object(schema) => expresses(schema),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    }
}

/// `Option<T>` of a type that is not primitive.
fn is_optional(options: &[Value]) -> bool {
    let is_null = |option: &Value| option.as_object().is_some_and(|o| o.len() == 1 && o["type"] == "null");
    matches!(options, [value, null] if is_null(null) && schema_is_expressed(value))
}

/// Bounds that an integer type has by itself.
fn bound_is_natural(schema: &Map, keyword: &str, value: &Value) -> bool {
    let bounds = match schema.get("format").and_then(Value::as_str) {
        Some("uint8") => (0, 255),
        Some("uint16") => (0, 65_535),
        Some("int8") => (-128, 127),
        Some("int16") => (-32_768, 32_767),
        Some("uint" | "uint32" | "uint64") => return keyword == "minimum" && value.as_i64() == Some(0),
        _ => return false,
    };
    value.as_i64() == Some(if keyword == "minimum" { bounds.0 } else { bounds.1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(schema: Value) -> bool {
        expresses(schema.as_object().unwrap())
    }

    #[test]
    fn plain_types_are_expressed() {
        for schema in [
            json!({"type": "object", "properties": {}}),
            json!({"type": "object", "properties": {"a": {"type": "integer", "format": "uint32", "minimum": 0}}, "required": ["a"]}),
            json!({"properties": {"a": {"format": "int8", "minimum": -128, "maximum": 127}}}),
            json!({"properties": {"a": {"type": ["string", "null"], "description": "x", "default": null}}}),
            json!({"properties": {"a": {"anyOf": [{"type": "object", "properties": {}}, {"type": "null"}]}}}),
            json!({"properties": {"a": {"items": {"$ref": "#/$defs/b"}}}, "$defs": {"b": {"type": "string"}}}),
            json!({"additionalProperties": {"type": "string"}}),
        ] {
            assert!(run(schema.clone()), "{schema}");
        }
    }

    #[test]
    fn constraints_are_not() {
        for property in [
            json!({"type": "integer", "minimum": 0}),
            json!({"type": "integer", "format": "uint32", "minimum": 1}),
            json!({"type": "integer", "format": "uint32", "minimum": 0, "maximum": 10}),
            json!({"type": "integer", "format": "uint8", "minimum": 0, "maximum": 10}),
            json!({"type": "string", "pattern": "a"}),
            json!({"type": "string", "enum": ["a"]}),
            json!({"const": 1}),
            json!({"type": "array", "uniqueItems": true}),
            json!({"type": "array", "items": {"minLength": 1}}),
            json!({"type": "object", "additionalProperties": false}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"oneOf": []}),
            json!(false),
        ] {
            assert!(!run(json!({"properties": {"a": property}})), "{property}");
        }
    }
}
