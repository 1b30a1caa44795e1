use std::collections::HashSet;

use jsonschema::json::SerdeJson;
use proptest::prelude::*;
use serde_json::{Value as Document, json};

use super::testing::with_value;
use super::{Faults, InputSchema, OutputSchema, Provenance};

fn compile(schema: &Document) -> Result<InputSchema, String> {
    InputSchema::compile(schema.as_object().unwrap(), Provenance::HandWritten)
}

fn faults(schema: &Document, arguments: &str) -> Faults {
    let schema = compile(schema).unwrap();
    with_value(arguments, |value| {
        let faults = schema.faults(Some(value));
        assert_eq!(faults.is_empty(), schema.is_valid(Some(value)), "{arguments}");
        faults
    })
}

/// One property `a` with this schema, and this value for it.
fn property(schema: Document, value: &str) -> String {
    let schema = json!({"type": "object", "properties": {"a": schema}});
    faults(&schema, &format!("{{\"a\":{value}}}")).to_string()
}

#[test]
fn faults_name_path_expected_and_got() {
    for (schema, value, text) in [
        (json!({"type": "number"}), r#""x""#, r#"/a: expected number, got string "x""#),
        (json!({"type": ["string", "null"]}), "1", "/a: expected null or string, got number 1"),
        (json!({"type": "integer"}), "1.5", "/a: expected integer, got number 1.5"),
        (json!({"type": "string"}), "null", "/a: expected string, got null"),
        (json!({"type": "string"}), "true", "/a: expected string, got boolean true"),
        (json!({"type": "string"}), "[1,2]", "/a: expected string, got array of 2 items"),
        (json!({"type": "string"}), "{}", "/a: expected string, got object with 0 properties"),
        (json!({"enum": ["x", 1]}), "2", r#"/a: expected one of "x", 1, got number 2"#),
        (json!({"const": "x"}), r#""y""#, r#"/a: expected "x", got string "y""#),
        (json!({"minimum": 3}), "2", "/a: expected a number of at least 3, got number 2"),
        (json!({"maximum": 3}), "4", "/a: expected a number of at most 3, got number 4"),
        (json!({"exclusiveMinimum": 3}), "3", "/a: expected a number above 3, got number 3"),
        (json!({"exclusiveMaximum": 3}), "3", "/a: expected a number below 3, got number 3"),
        (json!({"multipleOf": 3}), "4", "/a: expected a multiple of 3, got number 4"),
        (
            json!({"minLength": 2}),
            r#""é""#,
            r#"/a: expected a string of at least 2 characters, got string "é""#,
        ),
        (
            json!({"maxLength": 1}),
            r#""ab""#,
            r#"/a: expected a string of at most 1 characters, got string "ab""#,
        ),
        (json!({"minItems": 1}), "[]", "/a: expected an array of at least 1 items, got array of 0 items"),
        (json!({"maxItems": 0}), "[1]", "/a: expected an array of at most 0 items, got array of 1 items"),
        (
            json!({"uniqueItems": true}),
            "[1,1.0]",
            "/a: expected an array without duplicates, got array of 2 items",
        ),
        (
            json!({"contains": {"const": 1}}),
            "[2]",
            "/a: expected an array with a fitting item, got array of 1 items",
        ),
        (
            json!({"minProperties": 1}),
            "{}",
            "/a: expected an object with at least 1 properties, got object with 0 properties",
        ),
        (
            json!({"pattern": "^a+$"}),
            r#""b""#,
            r#"/a: expected a string that matches the pattern ^a+$, got string "b""#,
        ),
        (
            json!({"not": {"const": 1}}),
            "1",
            "/a: expected a value that is not excluded by the schema, got number 1",
        ),
        (json!({"items": {"type": "string"}}), r#"["x",1]"#, "/a/1: expected string, got number 1"),
        (json!({"required": ["b/c"]}), "{}", "/a/b~1c: expected a value (required), got nothing"),
        (
            json!({"properties": {"b": {"type": "integer"}}, "required": ["b"]}),
            "{}",
            "/a/b: expected integer (required), got nothing",
        ),
        (
            json!({"additionalProperties": false}),
            r#"{"b":1}"#,
            "/a/b: expected no property of this name, got number 1",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            "null",
            "/a: expected string or integer, got null",
        ),
        (
            json!({"oneOf": [{"required": ["b"]}, {"required": ["c"]}]}),
            "{}",
            r#"/a: expected an object with "b" or an object with "c", got object with 0 properties"#,
        ),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "object", "properties": {"b": {"type": "string"}}}]}),
            r#"{"b":1}"#,
            "/a: expected a value that fits one of 2 alternatives, got object with 1 properties",
        ),
        (
            json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
            "1",
            "/a: expected a value that fits exactly one of the alternatives, got number 1",
        ),
        (
            json!({"propertyNames": {"maxLength": 1}}),
            r#"{"bc":1}"#,
            r#"/a: expected names of properties to be a string of at most 1 characters, got string "bc""#,
        ),
    ] {
        assert_eq!(property(schema, value), text);
    }
}

#[test]
fn valid_values_have_no_faults() {
    for (schema, value) in [
        (json!({"type": "integer"}), "1.0"),
        (json!({"type": "integer"}), "-0"),
        (json!({"type": "integer"}), "18446744073709551615"),
        (json!({"type": "integer"}), "-9223372036854775808"),
        (json!({"maximum": 1e300}), "1e299"),
        (json!({"const": 1}), "1.0"),
        (json!({"enum": ["x", null, [1]]}), "[1]"),
        (json!({"enum": ["x"]}), r#""x""#),
        (json!({"minLength": 1, "maxLength": 1}), r#""😀""#),
        (json!({"propertyNames": {"enum": ["b", "c"]}}), r#"{"b":1,"c":2}"#),
        (json!({"multipleOf": 0.1}), "0.3"),
        (json!({"uniqueItems": true}), r#"[1,"1",[1],{"a":1}]"#),
    ] {
        assert_eq!(property(schema, value), "");
    }
}

#[test]
fn absent_arguments_are_the_empty_object() {
    let open = compile(&json!({"type": "object", "additionalProperties": false})).unwrap();
    assert!(open.is_valid(None));
    let closed =
        compile(&json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}))
            .unwrap();
    assert!(!closed.is_valid(None));
    assert_eq!(closed.faults(None).to_string(), "/a: expected string (required), got nothing");
    let counted =
        compile(&json!({"type": "object", "minProperties": 1, "propertyNames": {"minLength": 1}})).unwrap();
    assert_eq!(
        counted.faults(None).to_string(),
        "(root): expected an object with at least 1 properties, got object with 0 properties"
    );
}

#[test]
fn faults_are_bounded() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let many: Vec<_> = (0..30).map(|at| format!("\"k{at}\":1")).collect();
    let found = faults(&schema, &format!("{{{}}}", many.join(",")));
    assert_eq!((found.list.len(), found.more), (10, true));
    assert!(found.to_string().ends_with("\n(more faults are not listed)"));

    let schema = json!({"type": "object", "additionalProperties": false});
    let found = faults(&schema, &format!("{{{}}}", many.join(",")));
    assert_eq!((found.list.len(), found.more), (10, true));

    let long = "é".repeat(10_000);
    let text = property(json!({"type": "number"}), &format!("\"{long}\""));
    assert!(text.len() < 400 && text.ends_with("(20000 bytes)"), "{text}");
    let found = faults(&schema, &format!("{{\"{long}\":1}}")).to_string();
    assert!(found.len() < 800, "{found}");
    let options: Vec<_> = (0..1000).map(|at| format!("option-{at}")).collect();
    let text = property(json!({"enum": options}), "1");
    assert!(text.len() < 400 && text.contains("(1000 in all)"), "{text}");
}

#[test]
fn large_arguments_are_explained_from_the_outside() {
    let schema = json!({
        "type": "object",
        "properties": {"list": {"type": "array", "items": {"type": "string"}}, "n": {"type": ["integer", "null"]}, "s": {"type": "string"}},
        "required": ["must"],
        "additionalProperties": false
    });
    let compiled = compile(&schema).unwrap();
    let text = |arguments: String| {
        with_value(&arguments, |value| {
            assert!(!compiled.is_valid(Some(value)));
            compiled.faults(Some(value)).to_string()
        })
    };
    let list = vec!["1"; 100_000].join(",");
    assert_eq!(
        text(format!(r#"{{"must":1,"list":[{list}]}}"#)),
        "/must: expected no property of this name, got integer"
    );
    assert_eq!(
        text(format!(r#"{{"n":true,"s":1.5,"list":[{list}]}}"#)),
        "/must: expected a value (required), got nothing\n/n: expected integer or null, got boolean\n/s: expected string, got number"
    );
    let long = "x".repeat(70_000);
    assert_eq!(
        text(format!(r#"{{"s":"{long}","list":[]}}"#)),
        "/must: expected a value (required), got nothing"
    );
    let open =
        compile(&json!({"type": "object", "properties": {"list": {"items": {"type": "string"}}}})).unwrap();
    with_value(&format!(r#"{{"list":[{list}]}}"#), |value| {
        assert!(!open.is_valid(Some(value)) && open.faults(Some(value)).is_empty());
    });
}

#[test]
fn schemas_that_do_not_compile_say_how_to_mend() {
    for (schema, part) in [
        (
            json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}}),
            "nothing is fetched",
        ),
        (
            json!({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}),
            "nothing is fetched",
        ),
        (json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}), "cannot be resolved"),
        (json!({"type": "object", "properties": {"a": {"$ref": "other.json"}}}), "cannot be resolved"),
        (json!({"type": "object", "properties": {"a": {"pattern": "(?=a)"}}}), "look-around"),
        (json!({"type": "object", "properties": {"a": {"pattern": "(a)\\1"}}}), "look-around"),
        (json!({"type": "object", "properties": {"a": {"pattern": "("}}}), "pattern"),
        (json!({"type": "object", "properties": {"a": {"type": "text"}}}), "/properties/a/type"),
        (json!({"type": "object", "properties": {"a": {"minLength": -1}}}), "/properties/a/minLength"),
        (json!({"type": "object", "required": ["a", "a"]}), "/required"),
        (json!({"$schema": "https://example.com/own", "type": "object"}), "dialect"),
    ] {
        let text = compile(&schema).unwrap_err();
        assert!(text.contains(part), "{schema}: {text}");
    }
}

#[test]
fn every_supported_dialect_compiles() {
    for dialect in [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-04/schema#",
    ] {
        compile(&json!({"$schema": dialect, "type": "object", "properties": {"a": {"type": "string"}}}))
            .unwrap();
    }
}

#[test]
fn references_that_go_in_circles_end() {
    for schema in [
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/a"}]}}}),
        json!({"type": "object", "propertyNames": {"$ref": "#/$defs/a"}, "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#"}}}),
    ] {
        if let Ok(schema) = compile(&schema) {
            for arguments in ["{}", r#"{"a":1}"#, r#"{"a":{"a":{"a":[]}}}"#] {
                with_value(arguments, |value| {
                    let _ = (schema.is_valid(Some(value)), schema.faults(Some(value)));
                });
            }
        }
    }
}

#[test]
fn output_is_checked() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]});
    let schema = OutputSchema::compile(schema.as_object().unwrap()).unwrap();
    assert_eq!(schema.check(&json!({"a": 1})), Ok(()));
    assert_eq!(
        schema.check(&json!({})).unwrap_err().to_string(),
        "/a: expected number (required), got nothing"
    );
    assert!(schema.check(&json!([])).is_err());
    let array = json!({"type": "array", "items": {"type": "string"}});
    let array = OutputSchema::compile(array.as_object().unwrap()).unwrap();
    assert_eq!(array.check(&json!(["x"])), Ok(()));
    let bad = json!({"properties": {"a": true}});
    assert!(OutputSchema::compile(bad.as_object().unwrap()).is_err());
}

pub(super) fn document() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![
        Just(Document::Null),
        any::<bool>().prop_map(Document::from),
        (-3_i64..4).prop_map(Document::from),
        prop_oneof![Just(0.5), Just(1.0), Just(2.0), Just(-1.5)].prop_map(Document::from),
        "[ab]{0,3}".prop_map(Document::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Document::from),
            prop::collection::hash_map("[a-c]", inner, 0..4)
                .prop_map(|members| Document::Object(members.into_iter().collect())),
        ]
    })
}

fn schema() -> impl Strategy<Value = Document> {
    let kind = prop::sample::subsequence(
        vec!["null", "boolean", "integer", "number", "string", "array", "object"],
        1..4,
    );
    let leaf = prop_oneof![
        kind.prop_map(|kinds| json!({"type": kinds})),
        prop::collection::vec(document(), 1..4).prop_map(|options| {
            let mut seen = HashSet::new();
            let distinct: Vec<_> = options.into_iter().filter(|o| seen.insert(o.to_string())).collect();
            json!({"anyOf": distinct.into_iter().map(|o| json!({"const": o})).collect::<Vec<_>>()})
        }),
        (-2_i64..3).prop_map(|least| json!({"minimum": least})),
        (0_u64..3).prop_map(|least| json!({"minLength": least, "minItems": least, "minProperties": least})),
        Just(json!({"uniqueItems": true})),
        Just(json!({"pattern": "^a"})),
        Just(json!({"propertyNames": {"enum": ["a", "b"]}})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::hash_map("[a-c]", inner.clone(), 1..3)
                .prop_map(|p| json!({"properties": p, "required": ["a"]})),
            inner.clone().prop_map(|s| json!({"items": s})),
            inner.clone().prop_map(|s| json!({"additionalProperties": s})),
            inner.clone().prop_map(|s| json!({"not": s})),
            prop::collection::vec(inner, 1..3).prop_map(|s| json!({"allOf": s, "contains": s[0]})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// The tape validates exactly like a document does.
    #[test]
    fn tape_and_document_agree(schema in schema(), value in document()) {
        let root = json!({"type": "object", "properties": {"a": schema}});
        let arguments = json!({"a": value});
        let over_tape = compile(&root).unwrap();
        let over_document = super::compile::build::<SerdeJson>(&root, "").unwrap();
        let errors = over_document.iter_errors(&arguments);
        let document = Faults::collect(errors, &root, || arguments.clone());
        with_value(&arguments.to_string(), |value| {
            prop_assert_eq!(over_tape.is_valid(Some(value)), document.is_empty());
            prop_assert_eq!(over_tape.faults(Some(value)), document);
            Ok(())
        })?;
    }
}
