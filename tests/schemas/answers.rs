//! What a server that says all there is to say answers to each revision: what the revision's official schema has, and not one member
//! more.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use twolane::tables::versions::{Era, Revision};
use twolane::tools::{Prompt, Resource, Typed};

use crate::deviations::Deviation;
use crate::official::Official;
use crate::support::read::Event;
use crate::support::{Request, Server, Source, Visitor, able, lavish, messages};

/// Members that the schema does not name are faults here, but for places that are open by intent.
const CLOSED: &[Deviation] = &[Deviation {
    reason: "An answer has the members of its own revision and no others.",
    write: |_, definitions| definitions.iter_mut().for_each(|(name, schema)| close(name, schema)),
}];

fn close(name: &str, schema: &mut Value) {
    // What a JSON Schema may hold is not listed, and metadata belongs to everybody.
    if ["inputSchema", "outputSchema", "_meta", "requestedSchema"].contains(&name)
        || name.ends_with("MetaObject")
    {
        return;
    }
    match schema {
        Value::Object(keywords) => {
            if keywords.contains_key("properties") && !keywords.contains_key("additionalProperties") {
                keywords.insert("additionalProperties".to_owned(), json!(false));
            }
            for (keyword, value) in keywords {
                match value {
                    Value::Object(members) if keyword == "properties" => {
                        members.iter_mut().for_each(|(name, member)| close(name, member));
                    }
                    other => close(keyword, other),
                }
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| close("", schema)),
        _ => {}
    }
}

#[test]
fn answers_are_what_their_revision_has() {
    let Some(revisions) = Official::all(&[CLOSED]) else { return };
    let server = Server::with(lavish);
    for visitor in Visitor::all(&server, &json!({})) {
        let official = revisions.iter().find(|official| official.revision == visitor.revision).unwrap();
        let welcome = match visitor.revision.era() {
            Era::Legacy => "InitializeResult",
            Era::Modern => "DiscoverResult",
        };
        assert_fits(official, welcome, &visitor.welcome());
        for tool in ["lavish", "list", "echo", "fail"] {
            assert_fits(official, "CallToolResult", &visitor.call(tool));
        }
        let completion = |kind: &str, key: &str, name: &str, argument: &str| json!({"ref": {"type": kind, key: name}, "argument": {"name": argument, "value": ""}});
        for (method, params, definition) in [
            ("tools/list", json!({}), "ListToolsResult"),
            ("resources/list", json!({}), "ListResourcesResult"),
            ("resources/templates/list", json!({}), "ListResourceTemplatesResult"),
            ("prompts/list", json!({}), "ListPromptsResult"),
            ("resources/read", json!({"uri": "test://lavish"}), "ReadResourceResult"),
            ("prompts/get", json!({"name": "lavish", "arguments": {"a": ""}}), "GetPromptResult"),
            ("completion/complete", completion("ref/prompt", "name", "lavish", "a"), "CompleteResult"),
            (
                "completion/complete",
                completion("ref/resource", "uri", "test://{id}/x", "id"),
                "CompleteResult",
            ),
        ] {
            assert_fits(official, definition, &visitor.result(method, params));
        }
    }
}

/// What a call says before its result.
#[test]
fn notifications_are_what_their_revision_has() {
    let Some(revisions) = Official::all(&[CLOSED]) else { return };
    let server = Server::with(lavish);
    for visitor in Visitor::all(&server, &json!({})) {
        let official = revisions.iter().find(|official| official.revision == visitor.revision).unwrap();
        let mut params = messages::call("talk", json!({}));
        params["_meta"]["progressToken"] = json!("token");
        if visitor.revision.era() == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
        }
        let response = visitor.ask("tools/call", params);
        let data = |event: &Event| event.data.as_deref().is_some_and(|data| !data.is_empty());
        let said: Vec<Value> =
            response.events().iter().filter(|event| data(event)).map(Event::json).collect();
        let [progress, log, result] = &said[..] else { panic!("{response}") };
        assert_message_fits(official, "ProgressNotification", progress);
        assert_message_fits(official, "LoggingMessageNotification", log);
        assert_fits(official, "CallToolResult", &result["result"]);
    }
}

/// What clients are asked, on their streams or in the results of calls.
#[test]
fn questions_are_what_their_revision_has() {
    let Some(revisions) = Official::all(&[CLOSED]) else { return };
    let server = Server::with(lavish);
    let mut asked = 0;
    for visitor in Visitor::all(&server, &able()) {
        let official = revisions.iter().find(|official| official.revision == visitor.revision).unwrap();
        for (tool, definition) in [
            ("ask_form", "ElicitRequest"),
            ("ask_several", "ElicitRequest"),
            ("ask_page", "ElicitRequest"),
            ("ask_model", "CreateMessageRequest"),
            ("ask_model_with_tools", "CreateMessageRequest"),
            ("ask_roots", "ListRootsRequest"),
        ] {
            let Some(question) = visitor.question(tool) else { continue };
            asked += 1;
            match visitor.revision.era() {
                Era::Legacy => assert_message_fits(official, definition, &question),
                Era::Modern => assert_fits(official, definition, &question),
            }
        }
        if visitor.revision.era() == Era::Modern {
            assert_fits(official, "InputRequiredResult", &visitor.call("ask_form"));
        }
    }
    assert_eq!(asked, 2 * (2 + 3 + 6 + 6), "old revisions know fewer questions");
}

/// The notifications of changes, and their definitions.
const CHANGES: [(&str, &str); 4] = [
    ("notifications/tools/list_changed", "ToolListChangedNotification"),
    ("notifications/prompts/list_changed", "PromptListChangedNotification"),
    ("notifications/resources/list_changed", "ResourceListChangedNotification"),
    ("notifications/resources/updated", "ResourceUpdatedNotification"),
];

/// What clients are told of changes, on the streams that they keep open for it.
#[test]
fn announcements_are_what_their_revision_has() {
    let Some(revisions) = Official::all(&[CLOSED]) else { return };
    for at in 0..2 * revisions.len() {
        let server = Server::with(lavish);
        let visitor = Visitor::all(&server, &json!({})).remove(at);
        let official = revisions.iter().find(|official| official.revision == visitor.revision).unwrap();
        let uri = "test://lavish";
        let mut source = match &visitor.party.session {
            Some(session) => {
                visitor.result("resources/subscribe", json!({"uri": uri}));
                let get = Request::get().header("Mcp-Session-Id", session);
                Source::open(&server, visitor.party.protocol, &get)
            }
            None => {
                let all = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"];
                let mut filter = json!({"resourceSubscriptions": [uri]});
                all.iter().for_each(|topic| filter[topic] = json!(true));
                let listen =
                    visitor.party.request(7, "subscriptions/listen", json!({"notifications": filter}));
                Source::open(&server, visitor.party.protocol, &listen)
            }
        };
        let mut next = || loop {
            let event = source.next().expect("the stream goes on");
            if event.data.as_deref().is_some_and(|data| !data.is_empty()) {
                break event.json();
            }
        };
        if visitor.revision.era() == Era::Modern {
            assert_message_fits(official, "SubscriptionsAcknowledgedNotification", &next());
        }
        let registry = server.handle.registry();
        registry.resource_updated(uri);
        registry.add(Typed::immediate("late", "Late.", |_: Value| "x")).unwrap();
        registry.add_prompt(Prompt::new("late", "Late.", |_| async { "x" })).unwrap();
        registry.add_resource(Resource::text("test://late", "late", "x")).unwrap();
        // A burst may be announced in parts, so one change more than once.
        let mut awaited: BTreeSet<&str> = CHANGES.iter().map(|(method, _)| *method).collect();
        while !awaited.is_empty() {
            let message = next();
            let (method, definition) =
                CHANGES.iter().find(|(method, _)| message["method"] == *method).expect("a change");
            awaited.remove(method);
            assert_message_fits(official, definition, &message);
        }
    }
}

/// A message that the server sends of its own accord. Older schemas name the members of its envelope elsewhere.
#[track_caller]
fn assert_message_fits(official: &Official, definition: &str, message: &Value) {
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    let mut message = message.clone();
    if official.definitions()[definition]["properties"].get("jsonrpc").is_none() {
        let members = message.as_object_mut().unwrap();
        members.remove("jsonrpc");
        members.remove("id");
    }
    assert_fits(official, definition, &message);
}

#[track_caller]
fn assert_fits(official: &Official, definition: &str, result: &Value) {
    let validator: Validator = official.validator(&[definition]);
    let faults: Vec<String> = validator
        .iter_errors(result)
        .map(|fault| format!("{}: {fault:.300}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{} {definition} {faults:#?} in {result}", official.revision.as_str());
}

/// A schema that is closed knows its own members and no others.
#[test]
fn closed_schemas_refuse_others() {
    let mut definitions = Map::new();
    let tool = json!({"type": "object", "properties": {"name": {}, "inputSchema": {"properties": {"type": {}}}, "_meta": {"properties": {}}}});
    definitions.insert("Tool".to_owned(), tool);
    (CLOSED[0].write)(Revision::V2025_03_26, &mut definitions);
    let validator = jsonschema::validator_for(&definitions["Tool"]).unwrap();
    for (value, fits) in [
        (json!({"name": 1}), true),
        (json!({"name": 1, "title": 1}), false),
        (json!({"inputSchema": {"x": 1}, "_meta": {"y": 1}}), true),
    ] {
        assert_eq!(validator.is_valid(&value), fits, "{value}");
    }
}
