use serde_json::{Value, json};

use super::*;
use crate::schema::BindingKind;
use crate::tools::Listed;
use crate::tools::{RawTool, ToolAnnotations, Typed};

fn raw(name: &str, schema: Value) -> RawTool {
    RawTool::new(name, "A tool", schema, |_: Value| async {})
}

fn refusal(tool: impl Tool) -> String {
    Registry::default().add(tool).unwrap_err().to_string()
}

#[test]
fn refusals_name_the_tool_and_say_how_to_mend() {
    let object = || json!({"type": "object"});
    let property = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
    let long = "x".repeat(129);
    for (tool, parts) in [
        (raw("", object()), ["tool \"\"", "1 to 128"]),
        (raw("a b", object()), ["tool \"a b\"", "rename"]),
        (raw("é", object()), ["é", "A-Z"]),
        (raw("a/b", object()), ["a/b", "rename"]),
        (raw("a\nb", object()), ["a\\nb", "rename"]),
        (raw(&long, object()), ["xxx", "1 to 128"]),
        (raw("t", json!(true)), ["tool \"t\"", "no JSON object"]),
        (raw("t", json!({})), ["tool \"t\"", "add \"type\""]),
        (raw("t", property(json!(false))), ["`a`", "use an object"]),
        (raw("t", property(json!({"$ref": "https://example.com/x"}))), ["https://example.com/x", "$defs"]),
        (raw("t", property(json!({"pattern": "(?<!a)b"}))), ["/properties/a", "look-around"]),
        (raw("t", property(json!({"type": "sting"}))), ["/properties/a/type", "sting"]),
        (
            raw("t", property(json!({"type": "number", "x-mcp-header": "A"}))),
            ["/properties/a", "a string, an integer or a boolean"],
        ),
        (raw("t", object()).output_schema(json!([])), ["output schema", "leave it out"]),
        (raw("t", object()).output_schema(json!({"type": 1})), ["output schema", "/type"]),
    ] {
        let text = refusal(tool);
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
}

#[test]
fn scalars_are_no_arguments() {
    let text = refusal(Typed::new("t", "", |_: String| async {}));
    assert!(text.contains("wrap the arguments in an object"), "{text}");
}

#[test]
fn a_name_is_taken_once() {
    let registry = Registry::default();
    let tool = || raw("a.b-c_D9", json!({"type": "object"}));
    registry.add(tool()).unwrap();
    let text = registry.add(tool()).unwrap_err().to_string();
    assert!(text.contains("taken already; rename it"), "{text}");
    assert!(!registry.remove("none"));
    assert_eq!(registry.generation(), 1);
    registry.replace(tool().title("T")).unwrap();
    assert!(registry.remove("a.b-c_D9"));
    assert!(registry.snapshot().find("a.b-c_D9").is_none());
    registry.add(tool()).unwrap();
    assert_eq!(registry.generation(), 4);
    assert!(registry.snapshot().find("a.b-c_D9").is_some());
}

#[test]
fn edits_appear_together() {
    let registry = Registry::default();
    let mut changes = registry.changes();
    let result = registry.edit(|edit| {
        for at in 0..5 {
            edit.add(raw(&format!("t{at}"), json!({"type": "object"})))?;
        }
        assert!(registry.snapshot().find("t0").is_none());
        assert!(edit.remove("t3"));
        edit.add(raw("t0", json!({"type": "object"})))
    });
    assert!(result.is_err());
    assert_eq!(registry.generation(), 1);
    assert!(changes.has_changed().unwrap());
    assert_eq!(*changes.borrow_and_update(), 1);
    let names: Vec<_> = registry.snapshot().tools().entries().map(|entry| entry.name().to_owned()).collect();
    assert_eq!(names, ["t0", "t1", "t2", "t4"]);
}

#[test]
fn calls_go_on_with_the_tool_they_started_on() {
    let registry = Registry::default();
    registry.add(Typed::new("t", "", |(): ()| async { "old" })).unwrap();
    let entry = Arc::clone(registry.snapshot().find("t").unwrap());
    let mut running = start(&entry, &mut CallSlot::default(), "{}");
    registry.replace(Typed::new("t", "", |(): ()| async { "new" })).unwrap();
    assert!(matches!(poll_once(&mut running), Poll::Ready(result) if text(&result).0 == "old"));
    let entry = Arc::clone(registry.snapshot().find("t").unwrap());
    let mut running = start(&entry, &mut CallSlot::default(), "{}");
    assert!(matches!(poll_once(&mut running), Poll::Ready(result) if text(&result).0 == "new"));
}

#[test]
fn what_is_declared_is_listed_and_kept() {
    let tool = Typed::new("t", "d", |(): ()| async {})
        .title("T")
        .annotations(ToolAnnotations::read_only())
        .meta("k", "v")
        .requires("elicitation")
        .timeout(std::time::Duration::from_millis(5));
    let entry = registered(tool);
    assert_eq!(entry.required_capabilities(), ["elicitation"]);
    assert_eq!(
        std::str::from_utf8(entry.listed(Revision::V2026_07_28)).unwrap(),
        r#"{"name":"t","title":"T","description":"d","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true},"_meta":{"k":"v"}}"#
    );
}

#[test]
fn handwritten_schemas_are_listed_untouched() {
    let schema = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}"##;
    let entry = registered(raw("json_schema_2020_12_tool", serde_json::from_str(schema).unwrap()));
    for &revision in Revision::ALL {
        let listed = std::str::from_utf8(entry.listed(revision)).unwrap();
        assert!(listed.contains(&format!("\"inputSchema\":{schema}")), "{listed}");
    }
}

#[test]
fn bindings_are_found_in_derived_schemas() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Query {
        #[schemars(extend("x-mcp-header" = "Region"))]
        region: String,
        #[schemars(extend("x-mcp-header" = "Limit"))]
        limit: Option<u32>,
        text: String,
    }
    let entry = registered(Typed::new("t", "", |_: Query| async {}));
    let [binding, limit] = entry.input().bindings() else { panic!("two bindings") };
    assert_eq!((limit.header.as_str(), limit.kind), ("Mcp-Param-Limit", BindingKind::Integer));
    assert_eq!(
        (binding.header.as_str(), binding.path.as_slice()),
        ("Mcp-Param-Region", &["region".to_owned()][..])
    );
    assert!(!entry.input().needs_validator());
}

#[test]
fn what_is_removed_may_change_the_registry_when_it_is_dropped() {
    struct Leaves(Registry);
    impl Drop for Leaves {
        fn drop(&mut self) {
            self.0.remove("follower");
        }
    }
    let registry = Registry::default();
    let leaves = Leaves(registry.clone());
    let first = Typed::new("first", "", move |(): ()| {
        let _held = &leaves;
        async { "x" }
    });
    registry.add(first).unwrap();
    registry.add(Typed::new("follower", "", |(): ()| async { "x" })).unwrap();
    assert!(registry.remove("first"));
    assert!(!registry.remove("follower"), "it has followed");
}
