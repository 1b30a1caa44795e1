//! Capabilities: what is declared, to which revision, for what is registered; and lists of what is not offered.

use serde_json::{Value, json};
use twolane::server::Builder;
use twolane::tools::{
    Offer, Prompt, PromptArgument, PromptArguments, RawTool, Resource, ResourceTemplate, TaskSupport,
};

use crate::support::party::Party;
use crate::support::{Server, messages};

const LEGACY: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

/// What each revision is told, the modern one last. The tests' own tools are there.
fn told(server: &Server) -> Vec<Value> {
    let mut all: Vec<Value> = LEGACY
        .iter()
        .map(|version| server.send(&messages::initialize(version)).result()["capabilities"].take())
        .collect();
    let discover = messages::modern(1, "server/discover", Value::Null);
    all.push(server.send(&discover).result()["capabilities"].take());
    all
}

fn without_tools(builder: Builder) -> Builder {
    builder.registry().edit(|edit| {
        for name in crate::paging::NAMES {
            assert!(edit.remove(name));
        }
    });
    builder
}

#[track_caller]
fn assert_told(server: &Server, expected: &Value) {
    for told in told(server) {
        assert_eq!(told, *expected);
    }
}

fn prompt() -> Prompt {
    Prompt::new("p", "", |_: PromptArguments| async { "x" }).argument(PromptArgument::new("a"))
}

#[test]
fn capabilities_follow_what_is_registered() {
    let server = Server::with(without_tools);
    let registry = server.handle.registry();
    let list = json!({"listChanged": true});
    let resources = json!({"listChanged": true, "subscribe": true});
    assert_told(&server, &json!({"logging": {}}));
    registry.add(RawTool::new("t", "", json!({"type": "object"}), |_: Value| async { "x" })).unwrap();
    assert_told(&server, &json!({"logging": {}, "tools": list}));
    registry.add_prompt(prompt()).unwrap();
    assert_told(&server, &json!({"logging": {}, "tools": list, "prompts": list}));
    registry.replace_prompt(prompt().complete("a", ["x"])).unwrap();
    assert_told(&server, &json!({"logging": {}, "tools": list, "prompts": list, "completions": {}}));
    assert!(registry.remove_prompt("p") && registry.remove("t"));
    registry.add_resource(Resource::text("test://a", "a", "x")).unwrap();
    assert_told(&server, &json!({"logging": {}, "resources": resources}));
    assert!(registry.remove_resource("test://a"));
    let template = ResourceTemplate::new("test://{a}", "a", |_| async { "x" });
    registry.add_resource_template(template.complete("a", ["x"])).unwrap();
    assert_told(&server, &json!({"logging": {}, "resources": resources, "completions": {}}));
    assert!(registry.remove_resource_template("test://{a}"));
    assert_told(&server, &json!({"logging": {}}));
}

#[test]
fn capabilities_may_be_promised() {
    let offers = [Offer::Tools, Offer::Resources, Offer::Prompts, Offer::Completions, Offer::Prompts];
    let server = Server::with(|builder| offers.into_iter().fold(without_tools(builder), Builder::offer));
    let expected = json!({
        "logging": {},
        "tools": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true},
        "prompts": {"listChanged": true},
        "completions": {},
    });
    assert_told(&server, &expected);
    // Whatever comes and goes.
    server.handle.registry().add_prompt(prompt()).unwrap();
    server.handle.registry().remove_prompt("p");
    assert_told(&server, &expected);
}

#[test]
fn extensions_are_modern() {
    let server = Server::with(|builder| {
        builder.registry().offer_extension("example.com/own", json!({"k": 1}));
        builder
    });
    for (told, modern) in told(&server).iter().zip([false, false, false, true]) {
        assert_eq!(told.get("extensions").is_some(), modern, "{told}");
        if modern {
            assert_eq!(told["extensions"], json!({"example.com/own": {"k": 1}}));
        }
    }
    let tool = RawTool::new("job", "", json!({"type": "object"}), |_: Value| async { "x" });
    server.handle.registry().add(tool.tasks(TaskSupport::Optional)).unwrap();
    let modern = told(&server).pop().unwrap();
    assert_eq!(
        modern["extensions"],
        json!({"example.com/own": {"k": 1}, "io.modelcontextprotocol/tasks": {}})
    );
    assert!(modern.get("tasks").is_none(), "{modern}");
}

/// Clients ask for lists that are not offered, and give a server up that does not know them.
#[test]
fn lists_of_nothing() {
    let server = Server::with(without_tools);
    for party in Party::all(&server, &json!({})) {
        for (method, member) in LISTS {
            let result = party.send(&server, &party.request(7, method, Value::Null)).result();
            assert_eq!(result[member], json!([]), "{result}");
            assert!(result.get("nextCursor").is_none(), "{result}");
            let modern = party.version == messages::MODERN;
            assert_eq!(result.as_object().unwrap().len(), if modern { 5 } else { 1 }, "{result}");
        }
    }
}

const LISTS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
    ("prompts/list", "prompts"),
];

/// Two of each, one on a page.
fn two_of_each(builder: Builder) -> Builder {
    let builder = without_tools(builder).limits(crate::limits::changed(&[("page_size", 1)]));
    ["a", "b"].into_iter().fold(builder, |builder, name| {
        builder
            .tool(RawTool::new(name, "", json!({"type": "object"}), |_: Value| async { "x" }))
            .resource(Resource::text(format!("test://{name}"), name, "x"))
            .resource_template(ResourceTemplate::new(format!("{name}://{{x}}"), name, |_| async { "x" }))
            .prompt(Prompt::new(name, "", |_: PromptArguments| async { "x" }))
    })
}

#[test]
fn every_list_has_pages_and_cursors_of_its_own() {
    let server = Server::with(two_of_each);
    for party in Party::all(&server, &json!({})) {
        let send = |method, cursor: &Value| {
            party.send(&server, &party.request(7, method, json!({ "cursor": cursor })))
        };
        let cursors = LISTS.map(|(method, member)| {
            let first = send(method, &Value::Null).result();
            assert_eq!(first[member].as_array().unwrap().len(), 1, "{first}");
            assert_eq!(first[member][0]["name"], "a", "{first}");
            let second = send(method, &first["nextCursor"]).result();
            assert_eq!(second[member][0]["name"], "b", "{second}");
            assert!(second.get("nextCursor").is_none(), "{second}");
            first["nextCursor"].clone()
        });
        for (at, (method, _)) in LISTS.into_iter().enumerate() {
            for (other, cursor) in cursors.iter().enumerate().filter(|(other, _)| *other != at) {
                let response = send(method, cursor);
                assert_eq!((response.status, response.code()), (200, -32602), "{method} {other}: {response}");
            }
            for cursor in [json!("x"), json!(""), json!(1), json!({})] {
                let response = send(method, &cursor);
                assert_eq!(
                    (response.status, response.code()),
                    (200, -32602),
                    "{method} {cursor}: {response}"
                );
                assert!(response.text().contains("params.cursor"), "{response}");
            }
        }
    }
}
