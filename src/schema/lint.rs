//! Shapes of input schemas that some clients cannot load. The rules are those of the MCP schema (`Tool.inputSchema`) and of client
//! libraries that parse `tools/list` strictly: one bad tool there hides every tool.

use serde_json::Value;

use super::Map;

/// Checks an input schema's outer shape.
///
/// # Errors
/// A sentence that names the fault and says how to mend it.
pub fn lint_input(schema: &Map) -> Result<(), String> {
    for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
        if schema.contains_key(keyword) {
            return Err(format!(
                "the input schema has `{keyword}` at its root, which clients do not follow; put the referenced object schema there itself"
            ));
        }
    }
    match schema.get("type") {
        Some(Value::String(name)) if name == "object" => {}
        Some(other) => {
            return Err(format!(
                "the input schema's root `type` is {other}, it must be \"object\"; wrap the arguments in an object with named properties"
            ));
        }
        None => {
            return Err("the input schema has no root `type`; add \"type\": \"object\"".to_owned());
        }
    }
    lint_properties(schema)?;
    lint_required(schema)
}

/// Checks an output schema's outer shape. Its root may be of any type; only object schemas are listed to legacy clients.
///
/// # Errors
/// A sentence that names the fault and says how to mend it.
pub fn lint_output(schema: &Map) -> Result<(), String> {
    lint_properties(schema)?;
    lint_required(schema)
}

fn lint_properties(schema: &Map) -> Result<(), String> {
    let Some(properties) = schema.get("properties") else { return Ok(()) };
    let Value::Object(properties) = properties else {
        return Err("`properties` must be an object that maps names to schemas".to_owned());
    };
    for (name, property) in properties {
        if !property.is_object() {
            return Err(format!(
                "the schema of property `{name}` is {}, which clients cannot load; use an object, {{}} for any value",
                brief(property)
            ));
        }
    }
    Ok(())
}

fn lint_required(schema: &Map) -> Result<(), String> {
    let names = match schema.get("required") {
        None => return Ok(()),
        Some(Value::Array(names)) => names,
        Some(_) => return Err("`required` must be an array of property names".to_owned()),
    };
    if names.iter().all(Value::is_string) {
        return Ok(());
    }
    Err("`required` must hold strings only".to_owned())
}

fn brief(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => format!("`{value}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lint(schema: Value) -> Result<(), String> {
        match schema {
            Value::Object(schema) => lint_input(&schema),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn loadable_schemas_pass() {
        for schema in [
            serde_json::json!({"type": "object"}),
            serde_json::json!({"type": "object", "additionalProperties": false}),
            serde_json::json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
            serde_json::json!({"type": "object", "properties": {"a": {"items": true}}, "allOf": [{"required": ["a"]}], "if": true}),
        ] {
            assert_eq!(lint(schema), Ok(()));
        }
    }

    #[test]
    fn unloadable_schemas_say_how_to_mend() {
        for (schema, part) in [
            (serde_json::json!({}), "add \"type\": \"object\""),
            (serde_json::json!({"type": "string"}), "must be \"object\""),
            (serde_json::json!({"type": ["object", "null"]}), "must be \"object\""),
            (serde_json::json!({"type": "object", "$ref": "#/$defs/a"}), "`$ref` at its root"),
            (serde_json::json!({"type": "object", "$dynamicRef": "#a"}), "`$dynamicRef` at its root"),
            (serde_json::json!({"type": "object", "properties": []}), "maps names to schemas"),
            (serde_json::json!({"type": "object", "properties": {"a": true}}), "property `a` is `true`"),
            (serde_json::json!({"type": "object", "properties": {"a": []}}), "property `a` is an array"),
            (serde_json::json!({"type": "object", "required": "a"}), "array of property names"),
            (serde_json::json!({"type": "object", "required": [1]}), "strings only"),
        ] {
            let text = lint(schema.clone()).unwrap_err();
            assert!(text.contains(part), "{schema}: {text}");
        }
    }
}
