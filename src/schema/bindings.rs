//! Arguments that are mirrored into `Mcp-Param-*` headers: the `x-mcp-header` annotation (MCP 2026-07-28, server/tools and
//! basic/transports/streamable-http, "Custom Headers from Tool Parameters").

use serde_json::Value;

use crate::base::ascii;
use crate::tables::headers::{PARAM_PREFIX, PARAM_PREFIX_CANONICAL};

use super::Map;
use super::walk::{Holds, holds, join};

/// The annotation's keyword.
pub const KEYWORD: &str = "x-mcp-header";

/// The type of an argument that is mirrored, which decides how its header reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingKind {
    /// Text, as it is.
    String,
    /// A decimal integer, compared numerically.
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// One argument and the header that repeats it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderBinding {
    /// The header as the specification spells it: `Mcp-Param-Region`.
    pub header: String,
    /// The header in lower case.
    pub lower: String,
    /// The property names that lead to the argument, from the root of `arguments`.
    pub path: Vec<String>,
    /// The argument's type.
    pub kind: BindingKind,
}

/// Finds every binding of an input schema, in document order.
///
/// # Errors
/// A sentence that names the annotation at fault and says how to mend it: clients must drop a tool with a bad one.
pub fn extract(schema: &Map) -> Result<Vec<HeaderBinding>, String> {
    let mut found = Vec::new();
    if schema.contains_key(KEYWORD) {
        return Err(format!(
            "`{KEYWORD}` stands at the root of the input schema; move it into the schema of a property"
        ));
    }
    reachable(schema, &mut Vec::new(), "", &mut found)?;
    for (at, binding) in found.iter().enumerate() {
        if found[..at].iter().any(|other| other.lower == binding.lower) {
            return Err(format!(
                "two properties are annotated with the header {}; names must differ in more than their case",
                binding.header
            ));
        }
    }
    Ok(found)
}

/// Follows the chain of `properties` keys, the only places where an annotation counts; everything beside it must hold none.
fn reachable(
    schema: &Map,
    path: &mut Vec<String>,
    pointer: &str,
    found: &mut Vec<HeaderBinding>,
) -> Result<(), String> {
    for (keyword, value) in schema {
        let here = join(pointer, keyword);
        if keyword == KEYWORD {
            found.push(read(schema, value, path, pointer)?);
        } else if let ("properties", Value::Object(properties)) = (keyword.as_str(), value) {
            for (name, property) in properties {
                if let Value::Object(property) = property {
                    path.push(name.clone());
                    reachable(property, path, &join(&here, name), found)?;
                    path.pop();
                }
            }
        } else {
            forbid(holds(keyword), value, &here)?;
        }
    }
    Ok(())
}

fn read(schema: &Map, value: &Value, path: &[String], pointer: &str) -> Result<HeaderBinding, String> {
    let fault = |text: String| Err(format!("`{KEYWORD}` at {pointer}: {text}"));
    let Value::String(name) = value else {
        return fault(format!("its value is {value}, it must be a string such as \"Region\""));
    };
    if name.is_empty() {
        return fault(
            "its value is empty; give the part of the header's name that follows Mcp-Param-".to_owned(),
        );
    }
    if !ascii::is_token(name.as_bytes()) {
        return fault(format!(
            "{value} cannot be part of a header's name; use ASCII letters, digits and !#$%&'*+-.^_`|~ only"
        ));
    }
    let kind = match schema.get("type") {
        Some(Value::String(name)) => match name.as_str() {
            "string" => BindingKind::String,
            "integer" => BindingKind::Integer,
            "boolean" => BindingKind::Boolean,
            other => {
                return fault(format!(
                    "the property's type is \"{other}\", a mirrored argument must be a string, an integer or a boolean"
                ));
            }
        },
        Some(other) => {
            return fault(format!(
                "the property's type is {other}, a mirrored argument must have exactly one of \"string\", \"integer\" or \"boolean\"; \
                 leave an optional argument out of `required` instead of allowing null"
            ));
        }
        None => {
            return fault(
                "the property has no `type` of its own; add \"string\", \"integer\" or \"boolean\" beside the annotation".to_owned(),
            );
        }
    };
    Ok(HeaderBinding {
        header: format!("{PARAM_PREFIX_CANONICAL}{name}"),
        lower: format!("{PARAM_PREFIX}{}", name.to_ascii_lowercase()),
        path: path.to_vec(),
        kind,
    })
}

/// Fails on any annotation in `value`.
fn forbid(kind: Holds, value: &Value, pointer: &str) -> Result<(), String> {
    match (kind, value) {
        (Holds::Data, _) => Ok(()),
        (Holds::NamedSchemas, Value::Object(named)) => {
            named.iter().try_for_each(|(name, schema)| forbid(Holds::Schemas, schema, &join(pointer, name)))
        }
        (Holds::Schemas | Holds::NamedSchemas, Value::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(at, item)| forbid(Holds::Schemas, item, &join(pointer, &at.to_string()))),
        (Holds::Schemas, Value::Object(schema)) => {
            if schema.contains_key(KEYWORD) {
                return Err(format!(
                    "`{KEYWORD}` at {pointer} is not reached from the root through `properties` alone; annotate a plain property, \
                     outside of references, arrays, combinations and conditions"
                ));
            }
            schema
                .iter()
                .try_for_each(|(keyword, value)| forbid(holds(keyword), value, &join(pointer, keyword)))
        }
        (
            Holds::Schemas | Holds::NamedSchemas,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_),
        ) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(schema: Value) -> Result<Vec<HeaderBinding>, String> {
        match schema {
            Value::Object(schema) => extract(&schema),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn bindings_are_found_through_properties() {
        let found = run(json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "query": {"type": "string", "default": {"x-mcp-header": 1}, "examples": [{"x-mcp-header": "a"}]},
            "x-mcp-header": {"type": "string"},
            "options": {"type": "object", "properties": {
                "limit": {"type": "integer", "x-mcp-header": "Limit"},
                "dry": {"x-mcp-header": "dry-run", "type": "boolean"},
            }},
        }, "$defs": {"x-mcp-header": {"type": "string"}}}))
        .unwrap();
        let brief: Vec<_> =
            found.iter().map(|b| (b.header.as_str(), b.lower.as_str(), b.path.join("."), b.kind)).collect();
        assert_eq!(
            brief,
            [
                ("Mcp-Param-Region", "mcp-param-region", "region".to_owned(), BindingKind::String),
                ("Mcp-Param-Limit", "mcp-param-limit", "options.limit".to_owned(), BindingKind::Integer),
                ("Mcp-Param-dry-run", "mcp-param-dry-run", "options.dry".to_owned(), BindingKind::Boolean),
            ]
        );
        assert_eq!(run(json!({"type": "object"})), Ok(Vec::new()));
    }

    #[test]
    fn bad_values_are_refused() {
        let property = |property: Value| run(json!({"type": "object", "properties": {"a": property}}));
        for (schema, part) in [
            (json!({"type": "string", "x-mcp-header": ""}), "empty"),
            (json!({"type": "string", "x-mcp-header": 5}), "must be a string"),
            (json!({"type": "string", "x-mcp-header": null}), "must be a string"),
            (json!({"type": "string", "x-mcp-header": "a b"}), "cannot be part"),
            (json!({"type": "string", "x-mcp-header": "a:b"}), "cannot be part"),
            (json!({"type": "string", "x-mcp-header": "a\r\nb"}), "cannot be part"),
            (json!({"type": "string", "x-mcp-header": "é"}), "cannot be part"),
            (json!({"type": "number", "x-mcp-header": "A"}), "\"number\""),
            (json!({"type": "object", "x-mcp-header": "A"}), "\"object\""),
            (json!({"type": ["string", "null"], "x-mcp-header": "A"}), "exactly one"),
            (json!({"$ref": "#/$defs/a", "x-mcp-header": "A"}), "no `type` of its own"),
            (json!({"x-mcp-header": "A"}), "no `type` of its own"),
        ] {
            let text = property(schema.clone()).unwrap_err();
            assert!(text.contains(part) && text.contains("/properties/a"), "{schema}: {text}");
        }
    }

    #[test]
    fn names_are_unique_in_any_case() {
        let text = run(json!({"type": "object", "properties": {
            "a": {"type": "string", "x-mcp-header": "Region"},
            "b": {"type": "object", "properties": {"c": {"type": "string", "x-mcp-header": "REGION"}}},
        }}))
        .unwrap_err();
        assert!(text.contains("Mcp-Param-REGION"), "{text}");
    }

    #[test]
    fn annotations_elsewhere_are_refused() {
        let bad = json!({"type": "string", "x-mcp-header": "A"});
        for (schema, pointer) in [
            (json!({"x-mcp-header": "A"}), "root"),
            (json!({"properties": {"a": {"items": bad}}}), "/properties/a/items"),
            (
                json!({"properties": {"a": {"items": {"properties": {"b": bad}}}}}),
                "/properties/a/items/properties/b",
            ),
            (json!({"properties": {"a": {"prefixItems": [true, bad]}}}), "/properties/a/prefixItems/1"),
            (json!({"allOf": [{"properties": {"a": bad}}]}), "/allOf/0/properties/a"),
            (json!({"anyOf": [bad]}), "/anyOf/0"),
            (json!({"oneOf": [{}, bad]}), "/oneOf/1"),
            (json!({"not": bad}), "/not"),
            (json!({"if": bad}), "/if"),
            (json!({"then": {"properties": {"a": bad}}}), "/then/properties/a"),
            (json!({"else": bad}), "/else"),
            (json!({"$defs": {"a": bad}}), "/$defs/a"),
            (json!({"definitions": {"a": {"properties": {"b": bad}}}}), "/definitions/a/properties/b"),
            (json!({"additionalProperties": bad}), "/additionalProperties"),
            (json!({"patternProperties": {"^a/b": bad}}), "/patternProperties/^a~1b"),
            (json!({"propertyNames": bad}), "/propertyNames"),
            (json!({"dependentSchemas": {"a": bad}}), "/dependentSchemas/a"),
            (json!({"contains": bad}), "/contains"),
            (json!({"unevaluatedProperties": bad}), "/unevaluatedProperties"),
            (json!({"x-other": {"deep": [bad]}}), "/x-other/deep/0"),
        ] {
            let text = run(schema.clone()).unwrap_err();
            assert!(text.contains(pointer), "{schema}: {text}");
        }
    }
}
