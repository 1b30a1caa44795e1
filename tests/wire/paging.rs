//! `tools/list`: pages and cursors, what each revision is told of a tool, and tools that come and go while the server runs.

use serde_json::{Value, json};
use twolane::server::Builder;
use twolane::tools::{Content, Icon, RawTool, ResourceLink, ToolAnnotations, ToolResult, Typed};

use crate::limits::changed;
use crate::support::{Server, messages};
use crate::tools::Caller;

const LEGACY: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

/// The names on one page, and the cursor of the next.
#[track_caller]
fn page(caller: &mut Caller, cursor: Option<&str>) -> (Vec<String>, Option<String>) {
    let params = cursor.map_or(Value::Null, |cursor| json!({"cursor": cursor}));
    let request = caller.request("tools/list", params);
    let result = caller.client.send(&request).result();
    let names = result["tools"].as_array().unwrap().iter();
    let next = result.get("nextCursor").map(|cursor| cursor.as_str().unwrap().to_owned());
    (names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect(), next)
}

/// The names on all pages.
#[track_caller]
fn all(caller: &mut Caller) -> Vec<String> {
    let (mut names, mut next) = page(caller, None);
    while let Some(cursor) = next {
        let more;
        (more, next) = page(caller, Some(&cursor));
        assert!(!more.is_empty(), "an empty page");
        names.extend(more);
    }
    names
}

fn tool(name: &str) -> RawTool {
    RawTool::new(name, "A tool.", json!({"type": "object"}), |_: Value| async { "ran" })
}

pub const NAMES: [&str; 12] =
    ["echo", "add", "count", "fail", "panic", "sql", "confirm", "big", "sleep", "steps", "gate", "block"];

#[test]
fn pages_in_the_order_of_registration() {
    for size in [1, 2, 5, 11, 12, 13] {
        let server = Server::with(|builder| builder.limits(changed(&[("page_size", size)])));
        for mut caller in Caller::all(&server) {
            assert_eq!(all(&mut caller), NAMES);
            let (first, next) = page(&mut caller, None);
            assert_eq!(first.len() as u64, size.min(12));
            assert_eq!(next.is_some(), size < 12);
        }
    }
}

#[test]
fn cursors_that_are_none() {
    let server = Server::with(|builder| builder.limits(changed(&[("page_size", 2)])));
    for mut caller in Caller::all(&server) {
        let (_, next) = page(&mut caller, None);
        let next = next.unwrap();
        for cursor in [
            json!(""),
            json!("x"),
            json!(next.to_lowercase()),
            json!(format!("{next} ")),
            json!(&next[1..]),
            json!(format!("{next}A")),
            json!(1),
            json!(true),
            json!([next]),
            json!({}),
        ] {
            let request = caller.request("tools/list", json!({"cursor": cursor}));
            let response = caller.client.send(&request);
            assert_eq!((response.status, response.code()), (200, -32602), "{cursor}: {response}");
            assert!(response.text().contains("params.cursor"), "{response}");
        }
        // Null is absent, and a cursor may be used again.
        let request = caller.request("tools/list", json!({"cursor": null}));
        assert_eq!(caller.client.send(&request).result()["nextCursor"], json!(next));
        assert_eq!(page(&mut caller, Some(&next)), page(&mut caller, Some(&next)));
    }
}

#[test]
fn tools_come_and_go() {
    let server = Server::with(|builder| builder.limits(changed(&[("page_size", 2)])));
    let registry = server.handle.registry().clone();
    for mut caller in Caller::all(&server) {
        let (first, next) = page(&mut caller, None);
        assert_eq!(first, ["echo", "add"]);
        let next = next.unwrap();
        registry.add(tool("late")).unwrap();
        assert_eq!(caller.call("late", json!({})).tool_text(), "ran");
        assert!(registry.add(tool("late")).is_err());
        // A walk that has begun goes on behind where it was, whatever came and went meanwhile.
        assert!(registry.remove("add") && registry.remove("count") && !registry.remove("count"));
        assert_eq!(page(&mut caller, Some(&next)).0, ["fail", "panic"]);
        assert_eq!(caller.call("count", json!({})).code(), -32602);
        let mut expected: Vec<&str> = NAMES.to_vec();
        expected.retain(|name| !["add", "count"].contains(name));
        expected.push("late");
        assert_eq!(all(&mut caller), expected);
        registry
            .replace(RawTool::new("late", "Another.", json!({"type": "object"}), |_: Value| async {
                "again"
            }))
            .unwrap();
        assert_eq!(caller.call("late", json!({})).tool_text(), "again");
        // Back to where it began, as far as the next caller can tell.
        registry.edit(|edit| {
            for name in NAMES.iter().chain(&["late"]) {
                edit.remove(name);
            }
            for name in NAMES {
                edit.add(tool(name)).unwrap();
            }
        });
        assert_eq!(all(&mut caller), NAMES);
    }
}

/// A call that runs keeps its tool, even where that has been removed.
#[test]
fn a_removed_tool_finishes() {
    let server = Server::start();
    let mut client = server.http1();
    client.write(&messages::modern_call(1, "gate", json!({})).bytes());
    server.tools.gate.await_begun(1);
    assert!(server.handle.registry().remove("gate"));
    server.tools.gate.open(1);
    assert_eq!(client.read("POST").tool_text(), "let go");
    assert_eq!(client.send(&messages::modern_call(1, "gate", json!({}))).code(), -32602);
}

fn full(builder: Builder) -> Builder {
    let link = || {
        Content::resource_link(
            ResourceLink::new("file:///a", "a").title("A").icon(Icon::new("data:,")).size(1),
        )
    };
    let full =
        RawTool::new("full", "Has everything.", json!({"type": "object"}), move |_: Value| async move {
            ToolResult::structured(json!({"n": 1})).with(link().meta("k", 1)).meta("own", true)
        });
    let any = RawTool::new("any", "Returns a list.", json!({"type": "object"}), |_: Value| async {
        ToolResult::structured(json!([1]))
    });
    builder
        .tool(
            full.title("Full")
                .annotations(ToolAnnotations {
                    destructive_hint: Some(false),
                    ..ToolAnnotations::read_only()
                })
                .icon(Icon::new("data:,").mime_type("image/png").size("48x48"))
                .output_schema(json!({"type": "object", "properties": {"n": {"type": "integer"}}}))
                .meta("example/k", 1),
        )
        .tool(any.output_schema(json!({"type": "array"})))
}

/// The tools of the server as a client of this version sees them, and what the two results have.
fn seen(server: &Server, version: &str) -> (Vec<Value>, Value, Value) {
    let mut requests = Vec::new();
    if version == messages::MODERN {
        requests.push(messages::modern(1, "tools/list", Value::Null));
        requests.extend(["full", "any"].map(|tool| messages::modern_call(1, tool, json!({}))));
    } else {
        let session = server.open_session(version);
        for (method, params) in [
            ("tools/list", Value::Null),
            ("tools/call", messages::call("full", json!({}))),
            ("tools/call", messages::call("any", json!({}))),
        ] {
            let request = messages::legacy(&session, &messages::request(1, method, params));
            requests.push(request.set("MCP-Protocol-Version", version));
        }
    }
    let mut client = server.http1();
    let [mut list, full, any] = [0, 1, 2].map(|at| client.send(&requests[at]).result());
    (list["tools"].as_array_mut().unwrap().drain(12..).collect(), full, any)
}

#[test]
fn each_revision_gets_its_fields() {
    let server = Server::with(full);
    for (version, titles, icons, any_structure) in [
        (LEGACY[0], false, false, false),
        (LEGACY[1], true, false, false),
        (LEGACY[2], true, true, false),
        (messages::MODERN, true, true, true),
    ] {
        let (tools, result, any_result) = seen(&server, version);
        let has = |value: &Value, key: &str| value.get(key).is_some();
        let (full, any) = (&tools[0], &tools[1]);
        assert_eq!(has(full, "title"), titles, "{version}: {full}");
        assert_eq!(full["annotations"].get("title").is_some(), !titles, "{version}: {full}");
        assert_eq!(full["annotations"]["readOnlyHint"], true, "{version}: {full}");
        assert_eq!(full["annotations"]["destructiveHint"], false, "{version}: {full}");
        assert_eq!(has(full, "outputSchema"), titles, "{version}: {full}");
        assert_eq!(has(any, "outputSchema"), any_structure, "{version}: {any}");
        assert_eq!(has(full, "_meta"), titles, "{version}: {full}");
        assert_eq!(has(full, "icons"), icons, "{version}: {full}");
        assert_eq!(has(&result, "structuredContent"), titles, "{version}: {result}");
        assert_eq!(has(&any_result, "structuredContent"), any_structure, "{version}: {any_result}");
        assert_eq!(result["content"][0]["text"], "{\"n\":1}", "{version}");
        assert_eq!(any_result["content"][0]["text"], "[1]", "{version}");
        let link = &result["content"][1];
        assert_eq!(link["type"], if titles { "resource_link" } else { "text" }, "{version}: {link}");
        assert_eq!(has(link, "icons"), icons, "{version}: {link}");
        assert_eq!(result["_meta"]["own"], true, "{version}: {result}");
        assert_eq!(has(&result, "resultType"), version == messages::MODERN, "{version}: {result}");
    }
}

/// A modern list can be kept for a while; a legacy one says nothing of that.
#[test]
fn lists_that_may_be_kept() {
    let server = Server::with(|builder| {
        builder.cache_ttl_ms(1234).tool(Typed::immediate("last", "", |_: Value| "x").title("Last"))
    });
    for mut caller in Caller::all(&server) {
        let request = caller.request("tools/list", Value::Null);
        let result = caller.client.send(&request).result();
        if caller.session.is_none() {
            assert_eq!(
                (&result["ttlMs"], &result["cacheScope"]),
                (&json!(1234), &json!("public")),
                "{result}"
            );
            let own = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
            assert_eq!((&own["name"], &own["version"]), (&json!("wire"), &json!("1.2.3")), "{result}");
        } else {
            assert_eq!(result.as_object().unwrap().len(), 1, "{result}");
        }
        assert!(result["tools"][12].get("description").is_none(), "an empty description is none");
    }
}
