//! Schemas from Rust types, in the plain form that every client can load.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::schema::Map;
use crate::schema::bindings::KEYWORD;

/// The input schema of a type that arguments are read into.
pub(super) struct Derived {
    /// The schema.
    pub(super) schema: Value,
    /// Whether the type is `()` or a unit struct, which is read from null.
    pub(super) unit: bool,
}

/// Derives an input schema: an object with `properties`, sub-schemas in place instead of references, no `$schema` and no title.
pub(super) fn input_schema<T: JsonSchema>() -> Derived {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut root = match settings.into_generator().into_root_schema_for::<T>().to_value() {
        Value::Object(root) => root,
        // `true`: anything goes.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    };
    let unit = root.get("type").is_some_and(|kind| kind == "null");
    let mut schema = Map::new();
    let kind = root.shift_remove("type").filter(|_| !unit);
    schema.insert("type".to_owned(), kind.unwrap_or_else(|| "object".into()));
    let properties = root.shift_remove("properties");
    schema.insert("properties".to_owned(), properties.unwrap_or_else(|| Value::Object(Map::new())));
    root.shift_remove("title");
    schema.extend(root);
    let mut schema = Value::Object(schema);
    soften(&mut schema);
    Derived { schema, unit }
}

/// Derives an output schema. `None` where the type may be anything.
pub(super) fn output_schema<T: JsonSchema>() -> Option<Map> {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    soften(&mut schema);
    let Value::Object(mut schema) = schema else { return None };
    schema.shift_remove("title");
    if schema.get("type").is_some_and(|kind| kind == "object") && !schema.contains_key("properties") {
        schema.insert("properties".to_owned(), Value::Object(Map::new()));
    }
    (!schema.is_empty()).then_some(schema)
}

/// Replaces the boolean schemas of properties, which strict clients cannot load, by objects that mean the same, and takes null out of
/// the type of mirrored arguments, which must be exactly one: `None` is an argument left out.
fn soften(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                for property in properties.values_mut() {
                    match property {
                        Value::Bool(true) => *property = Value::Object(Map::new()),
                        Value::Bool(false) => *property = serde_json::json!({"not": {}}),
                        Value::Null
                        | Value::Number(_)
                        | Value::String(_)
                        | Value::Array(_)
                        | Value::Object(_) => {}
                    }
                }
            }
            if members.contains_key(KEYWORD)
                && let Some(kind) = members.get_mut("type")
                && let Some([one, null]) = kind.as_array().map(Vec::as_slice)
                && null == "null"
            {
                *kind = one.clone();
            }
            for (keyword, value) in members {
                if !matches!(keyword.as_str(), "default" | "examples" | "const" | "enum") {
                    soften(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(soften),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::JsonSchema;
    use serde_json::json;

    #[derive(serde::Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Args {
        /// The first.
        a: f64,
        b: Option<u8>,
        any: Value,
        nested: Inner,
    }

    #[derive(serde::Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Inner {
        list: Vec<String>,
    }

    #[derive(serde::Deserialize, JsonSchema)]
    struct Empty {}

    #[derive(serde::Deserialize, JsonSchema)]
    struct Unit;

    #[derive(serde::Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Tree {
        children: Vec<Tree>,
    }

    #[test]
    fn structs_become_plain_objects() {
        assert_eq!(
            input_schema::<Args>().schema.to_string(),
            json!({
                "type": "object",
                "properties": {
                    "a": {"type": "number", "format": "double", "description": "The first."},
                    "b": {"type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255},
                    "any": {},
                    "nested": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "string"}}}, "required": ["list"]},
                },
                "required": ["a", "any", "nested"],
            })
            .to_string()
        );
    }

    #[test]
    fn empty_types_still_have_properties() {
        let plain = r#"{"type":"object","properties":{}}"#;
        for (derived, unit) in [
            (input_schema::<Empty>(), false),
            (input_schema::<Unit>(), true),
            (input_schema::<()>(), true),
            (input_schema::<Value>(), false),
        ] {
            assert_eq!(derived.schema.to_string(), plain);
            assert_eq!(derived.unit, unit);
        }
    }

    #[test]
    fn recursive_types_keep_local_references() {
        let schema = input_schema::<Tree>().schema;
        assert!(schema.get("$ref").is_none());
        assert_eq!(schema["type"], "object");
        crate::schema::InputSchema::compile(schema.as_object().unwrap(), crate::schema::Provenance::Derived)
            .unwrap();
    }

    #[test]
    fn output_schemas() {
        assert!(output_schema::<Value>().is_none());
        assert_eq!(output_schema::<Vec<u8>>().unwrap()["type"], "array");
        assert_eq!(output_schema::<Args>().unwrap()["type"], "object");
    }
}
