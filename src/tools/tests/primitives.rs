//! Resources, templates and prompts in the registry: what is refused, what is marked as changed, and how they run.

use serde_json::json;

use super::*;
use crate::events::topic::{Topic, Topics};
use crate::tools::{
    CacheScope, Caching, Completion, CompletionInput, Context, HandlerError, Identity, List, Listed, Offer,
    Prompt, PromptArgument, PromptArguments, RawTool, Resource, ResourceTemplate, ServerInfo, Variables,
};

fn prompt(name: &str) -> Prompt {
    Prompt::new(name, "d", |_: PromptArguments| async { "x" })
}

fn template(text: &str) -> ResourceTemplate {
    ResourceTemplate::new(text, "t", |_: Variables| async { "x" })
}

fn resource(uri: &str) -> Resource {
    Resource::text(uri, "r", "x")
}

#[test]
fn refusals_name_what_and_say_how_to_mend() {
    let registry = Registry::default();
    registry.add_resource(resource("a:1")).unwrap();
    registry.add_resource_template(template("a:{x}")).unwrap();
    registry.add_prompt(prompt("p")).unwrap();
    let declared = || prompt("q").argument(PromptArgument::new("a"));
    for (refused, parts) in [
        (registry.add_resource(resource("a:1")), ["resource \"a:1\"", "taken already"]),
        (registry.add_resource(resource("")), ["resource \"\"", "scheme"]),
        (registry.add_resource(resource("no-scheme/x")), ["no-scheme/x", "scheme"]),
        (registry.add_resource(resource(":x")), [":x", "scheme"]),
        (registry.add_resource(resource("1a:x")), ["1a:x", "scheme"]),
        (registry.add_resource(resource("a b:x")), ["a b:x", "scheme"]),
        (registry.add_resource(resource("a:b c")), ["' '", "percent-encode"]),
        (registry.add_resource(resource("a:é")), ["'é'", "percent-encode"]),
        (registry.add_resource(resource("a:{x}")), ["'{'", "percent-encode"]),
        (registry.add_resource(Resource::text("a:2", "", "x")), ["a:2", "no name"]),
        (registry.add_resource_template(template("a:{x}")), ["resource template \"a:{x}\"", "taken already"]),
        (registry.add_resource_template(template("a:{x")), ["a:{x", "not closed"]),
        (registry.add_resource_template(template("a:{x}{y}")), ["a:{x}{y}", "literal between"]),
        (registry.add_resource_template(template("a:x")), ["a:x", "register a resource"]),
        (
            registry.add_resource_template(template("a:{y}").complete("x", ["1"])),
            ["\"x\"", "name one that it has"],
        ),
        (registry.add_prompt(prompt("p")), ["prompt \"p\"", "taken already"]),
        (registry.add_prompt(prompt("")), ["prompt \"\"", "no name"]),
        (registry.add_prompt(declared().argument(PromptArgument::new("a"))), ["\"a\"", "declared twice"]),
        (registry.add_prompt(declared().argument(PromptArgument::new(""))), ["no name", "give it one"]),
        (registry.add_prompt(declared().complete("b", ["x"])), ["\"b\"", "name one that it has"]),
    ] {
        let text = refused.unwrap_err().to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    assert_eq!(registry.generation(), 3, "what is refused changes nothing");
}

#[test]
fn arguments_of_a_type_are_texts() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Number {
        n: u32,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    enum Plain {
        A,
        B,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    enum Described {
        /// One.
        C,
        /// Two.
        D,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Texts {
        /// The first.
        text: String,
        maybe: Option<String>,
        plain: Plain,
        maybe_plain: Option<Plain>,
        described: Described,
        maybe_described: Option<Described>,
    }
    let registry = Registry::default();
    let refused = registry.add_prompt(Prompt::typed("p", "", |_: Number| async { "x" }));
    assert!(refused.unwrap_err().to_string().contains("\"n\" is no text"));
    registry.add_prompt(Prompt::typed("p", "", |_: Texts| async { "x" })).unwrap();
    let snapshot = registry.snapshot();
    let entry = snapshot.prompts().find("p").unwrap();
    let listed: serde_json::Value = serde_json::from_slice(entry.listed(Revision::V2025_03_26)).unwrap();
    assert_eq!(
        listed["arguments"],
        json!([
            {"name": "text", "description": "The first.", "required": true},
            {"name": "maybe"},
            {"name": "plain", "required": true},
            {"name": "maybe_plain"},
            {"name": "described", "required": true},
            {"name": "maybe_described"},
        ])
    );
    for (argument, values) in [
        ("text", &[][..]),
        ("maybe", &[]),
        ("plain", &["A", "B"]),
        ("maybe_plain", &["A", "B"]),
        ("described", &["C", "D"]),
        ("maybe_described", &["C", "D"]),
    ] {
        assert_eq!(completed(entry.completions(), argument).values, values, "{argument}");
    }
}

#[track_caller]
fn completed(completions: &crate::tools::Completions, argument: &str) -> Completion {
    let mut running = completions.start(CompletionInput::new(argument, ""), Context::detached(), MINUTE);
    match running.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        Poll::Ready(Produced::Completion(completion)) => *completion,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_change_marks_the_list_that_it_shows_in() {
    let registry = Registry::default();
    let marked = |expected: Topics| assert_eq!(registry.due().take().topics, expected);
    let (tools, resources, prompts) = (
        Topics::from(Topic::ToolsList),
        Topics::from(Topic::ResourcesList),
        Topics::from(Topic::PromptsList),
    );
    let tool = || RawTool::new("t", "", json!({"type": "object"}), |_: serde_json::Value| async { "x" });
    registry.add(tool()).unwrap();
    marked(tools);
    registry.add_resource(resource("a:1")).unwrap();
    marked(resources);
    registry.replace_resource(resource("a:1")).unwrap();
    registry.replace_resource(resource("a:2")).unwrap();
    let due = registry.due().take();
    assert_eq!(due.topics, resources);
    assert!(due.updated.has("a:1") && !due.updated.has("a:2"), "what is new was not updated: {due:?}");
    assert!(registry.remove_resource("a:2"));
    marked(resources);
    registry.add_resource_template(template("a:{x}")).unwrap();
    marked(resources);
    registry.replace_prompt(prompt("p")).unwrap();
    marked(prompts);
    // Nothing has changed.
    assert!(!registry.remove_prompt("q") && !registry.remove_resource("a:2") && !registry.remove("a:1"));
    assert!(registry.add_prompt(prompt("p")).is_err());
    registry.offer(Offer::Prompts);
    registry.apply_limits(&crate::base::limits::Limits::default());
    marked(Topics::NONE);
    registry.edit(|edit| {
        assert!(edit.remove("t") && edit.remove_resource("a:1") && !edit.remove_resource("a:1"));
        assert!(edit.remove_resource_template("a:{x}") && edit.remove_prompt("p"));
    });
    marked(tools.union(resources).union(prompts));
    let snapshot = registry.snapshot();
    assert!(snapshot.tools().is_empty() && snapshot.templates().is_empty());
    assert_eq!(snapshot.offered(), prompts, "what is promised is told of");
}

#[test]
fn lists_that_a_change_does_not_touch_are_shared() {
    fn page<E: Listed>(list: &List<E>) -> *const u8 {
        list.page(Revision::V2026_07_28, None).unwrap().as_ptr()
    }
    let registry = Registry::default();
    registry.add_prompt(prompt("p")).unwrap();
    let before = registry.snapshot().clone();
    registry.add_resource(resource("a:1")).unwrap();
    let after = registry.snapshot().clone();
    assert_eq!(page(before.prompts()), page(after.prompts()));
    assert_ne!(page(before.resources()), page(after.resources()));
}

#[test]
fn a_type_without_fields_takes_no_arguments() {
    let registry = Registry::default();
    registry.add_prompt(Prompt::typed("p", "", |(): ()| async { "x" })).unwrap();
    let snapshot = registry.snapshot();
    let entry = snapshot.prompts().find("p").unwrap();
    assert_eq!(entry.listed(Revision::V2025_03_26), br#"{"name":"p"}"#);
    let mut running = entry.start(PromptArguments::default(), Context::detached(), MINUTE);
    let polled = running.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    assert!(matches!(polled, Poll::Ready(Produced::Prompt(_))), "{polled:?}");
}

#[test]
fn a_use_goes_on_with_what_it_started_on() {
    let registry = Registry::default();
    registry.add_prompt(Prompt::new("p", "old", |_: PromptArguments| async { "old" })).unwrap();
    let entry = Arc::clone(registry.snapshot().prompts().find("p").unwrap());
    let mut running = entry.start(PromptArguments::default(), Context::detached(), MINUTE);
    assert!(registry.remove_prompt("p"));
    drop(entry);
    match running.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        Poll::Ready(Produced::Prompt(result)) => {
            assert_eq!(result.description.as_deref(), Some("old"));
            assert_eq!(result.messages[0].content.as_text(), Some("old"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn dropping_a_use_cancels_it() {
    let registry = Registry::default();
    let (tell, told) = std::sync::mpsc::channel();
    registry
        .add_resource(Resource::new("a:1", "r", move |context: Context| {
            tell.send(context).unwrap();
            std::future::pending::<Result<&str, HandlerError>>()
        }))
        .unwrap();
    let snapshot = registry.snapshot();
    let entry = snapshot.resources().find("a:1").unwrap();
    let running = entry.start(Caching::AsDeclared, CallSlot::default().prepare(&info()), MINUTE);
    let context = told.recv().unwrap();
    assert!(!context.is_cancelled());
    drop(running);
    assert!(context.is_cancelled());
}

#[test]
fn freshness_is_the_servers_unless_said_otherwise() {
    let write = |scope, ttl_ms, own| {
        let identity = Identity::new(&ServerInfo::new("n", "1"), &[Revision::V2026_07_28], 5, scope);
        let mut out = Vec::new();
        identity.write_freshness(&mut out, ttl_ms, own);
        String::from_utf8(out).unwrap()
    };
    let (public, private) = (CacheScope::Public, CacheScope::Private);
    for (scope, ttl_ms, own, expected) in [
        (public, None, None, r#""ttlMs":5,"cacheScope":"public""#),
        (public, Some(0), None, r#""ttlMs":0,"cacheScope":"public""#),
        (public, None, Some(private), r#""ttlMs":5,"cacheScope":"private""#),
        (private, None, Some(public), r#""ttlMs":5,"cacheScope":"private""#),
        (private, Some(7), None, r#""ttlMs":7,"cacheScope":"private""#),
    ] {
        assert_eq!(write(scope, ttl_ms, own), expected);
    }
}
