//! The matrix of features and revisions, read off what a server that says all there is to say really answers. A feature without a
//! witness does not compile.

use serde_json::{Value, json};
use twolane::tables::versions::{Era, Feature, Revision};

use crate::support::{Server, Visitor, able, lavish, messages};

/// Which revisions have a feature, oldest first.
const fn expected(feature: Feature) -> [bool; 4] {
    const V2025_03_26_ALONE: [bool; 4] = [true, false, false, false];
    const ALL: [bool; 4] = [true; 4];
    const SINCE_2025_06_18: [bool; 4] = [false, true, true, true];
    const SINCE_2025_11_25: [bool; 4] = [false, false, true, true];
    const V2025_11_25_ALONE: [bool; 4] = [false, false, true, false];
    const SINCE_2026_07_28: [bool; 4] = [false, false, false, true];
    match feature {
        Feature::Batches => V2025_03_26_ALONE,
        Feature::ToolAnnotations => ALL,
        Feature::Titles
        | Feature::StructuredContent
        | Feature::ResourceLinks
        | Feature::Meta
        | Feature::LastModified
        | Feature::CompletionContext
        | Feature::Elicitation
        | Feature::VersionHeader => SINCE_2025_06_18,
        Feature::Icons | Feature::ElicitationModes | Feature::SamplingTools => SINCE_2025_11_25,
        // Modern streams are not come back to, and modern clients learn by asking again.
        Feature::Priming | Feature::ElicitationIds => V2025_11_25_ALONE,
        Feature::Extensions | Feature::AnyStructuredContent | Feature::ModernResults => SINCE_2026_07_28,
    }
}

/// Whether the server's answers to this visitor have the feature. Where it may show in several places, it shows in all or in none.
fn shows(feature: Feature, visitor: &Visitor<'_>) -> bool {
    let tool = || listed(visitor, "tools", "lavish");
    let has = |value: &Value, member: &str| value.get(member).is_some();
    match feature {
        Feature::Batches => answers_a_batch(visitor),
        Feature::ToolAnnotations => {
            let hints = tool()["annotations"].take();
            agree(
                ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
                    .map(|hint| hints[hint].is_boolean()),
            )
        }
        Feature::Titles => {
            let argument = listed(visitor, "prompts", "lavish")["arguments"][0].take();
            let mut places = entries(visitor);
            places.extend(
                [server(visitor), argument, link(visitor)].into_iter().filter(|place| !place.is_null()),
            );
            agree(places.iter().map(|place| has(place, "title")))
        }
        Feature::StructuredContent => {
            agree([has(&tool(), "outputSchema"), has(&visitor.call("lavish"), "structuredContent")])
        }
        Feature::AnyStructuredContent => {
            let list = listed(visitor, "tools", "list");
            agree([has(&list, "outputSchema"), has(&visitor.call("list"), "structuredContent")])
        }
        Feature::ResourceLinks => agree([!link(visitor).is_null(), has_link(&prompt_blocks(visitor))]),
        Feature::Meta => {
            let mut places = entries(visitor);
            places.extend(blocks(visitor));
            places.extend(read(visitor));
            agree(places.iter().map(|place| has(place, "_meta")))
        }
        Feature::LastModified => {
            let mut places = blocks(visitor);
            places.extend([
                listed(visitor, "resources", "lavish"),
                listed(visitor, "resourceTemplates", "template"),
            ]);
            agree(places.iter().map(|place| has(&place["annotations"], "lastModified")))
        }
        Feature::CompletionContext => {
            let params = json!({
                "ref": {"type": "ref/resource", "uri": "test://{id}/x"},
                "argument": {"name": "id", "value": ""},
                "context": {"arguments": {"other": "settled"}},
            });
            visitor.result("completion/complete", params)["completion"]["values"] == json!(["settled"])
        }
        Feature::VersionHeader => {
            let other = if visitor.revision == Revision::V2025_03_26 { "2025-11-25" } else { "2025-03-26" };
            let request =
                visitor.party.request(7, "tools/list", json!({})).set("MCP-Protocol-Version", other);
            visitor.party.send(visitor.server, &request).status == 400
        }
        Feature::Icons => {
            let mut places = entries(visitor);
            places.extend(Some(link(visitor)).filter(|link| !link.is_null()));
            let listed = agree(places.iter().map(|place| has(place, "icons")));
            agree([listed, has(&server(visitor), "description"), has(&server(visitor), "websiteUrl")])
        }
        Feature::Priming => {
            let mut params = messages::call("steps", json!({"steps": 1}));
            params["_meta"]["progressToken"] = "token".into();
            let request = visitor.party.request(7, "tools/call", params);
            let events = visitor.party.send(visitor.server, &request).events();
            let primes = events.iter().map(|event| event.data.as_deref() == Some("")).collect::<Vec<_>>();
            assert!(!primes[1..].contains(&true), "the first event alone primes: {events:?}");
            primes[0]
        }
        Feature::Elicitation => visitor.question("ask_form").is_some(),
        Feature::ElicitationModes => {
            let mode = visitor.question("ask_form").is_some_and(|form| has(&form["params"], "mode"));
            agree([mode, visitor.question("ask_several").is_some(), visitor.question("ask_page").is_some()])
        }
        Feature::ElicitationIds => {
            visitor.question("ask_page").is_some_and(|page| has(&page["params"], "elicitationId"))
        }
        Feature::SamplingTools => {
            assert!(visitor.question("ask_model").is_some());
            visitor.question("ask_model_with_tools").is_some_and(|question| has(&question["params"], "tools"))
        }
        Feature::Extensions => has(&visitor.welcome()["capabilities"], "extensions"),
        Feature::ModernResults => {
            let modern = |result: &Value| {
                let server = result.pointer("/_meta/io.modelcontextprotocol~1serverInfo").is_some();
                agree([server, has(result, "resultType")])
            };
            let kept =
                LISTS.iter().map(|(method, _)| visitor.result(method, json!({}))).chain([resource(visitor)]);
            let kept =
                agree(kept.map(|result| {
                    agree([modern(&result), has(&result, "ttlMs"), has(&result, "cacheScope")])
                }));
            agree([kept, modern(&visitor.call("lavish")), modern(&prompt(visitor))])
        }
    }
}

/// The lists, and what their results call what they list.
const LISTS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
    ("prompts/list", "prompts"),
];

#[track_caller]
fn agree(places: impl IntoIterator<Item = bool>) -> bool {
    let places: Vec<bool> = places.into_iter().collect();
    assert!(places.iter().all(|&place| place == places[0]), "it shows in some places only: {places:?}");
    places[0]
}

fn answers_a_batch(visitor: &Visitor<'_>) -> bool {
    let batch = json!([messages::request(1, "ping", Value::Null), messages::request(2, "ping", Value::Null)]);
    let mut request = visitor.party.request(7, "tools/list", json!({}));
    request.body = batch.to_string().into_bytes();
    let response = visitor.party.send(visitor.server, &request);
    response.status == 200 && response.json().as_array().is_some_and(|answers| answers.len() == 2)
}

/// An entry of a list by its name.
#[track_caller]
fn listed(visitor: &Visitor<'_>, list: &str, name: &str) -> Value {
    let (method, _) = LISTS.iter().find(|(_, key)| *key == list).expect("a list");
    let entries = visitor.result(method, json!({}))[list].take();
    let found = entries.as_array().unwrap().iter().find(|entry| entry["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in {entries}")).clone()
}

/// An entry of each list, with everything.
fn entries(visitor: &Visitor<'_>) -> Vec<Value> {
    let name = |list| if list == "resourceTemplates" { "template" } else { "lavish" };
    LISTS.iter().map(|(_, list)| listed(visitor, list, name(*list))).collect()
}

/// The server's own description.
fn server(visitor: &Visitor<'_>) -> Value {
    let mut welcome = visitor.welcome();
    match visitor.revision.era() {
        Era::Legacy => welcome["serverInfo"].take(),
        Era::Modern => welcome["_meta"]["io.modelcontextprotocol/serverInfo"].take(),
    }
}

fn prompt(visitor: &Visitor<'_>) -> Value {
    visitor.result("prompts/get", json!({"name": "lavish", "arguments": {"a": ""}}))
}

fn prompt_blocks(visitor: &Visitor<'_>) -> Vec<Value> {
    let messages = prompt(visitor)["messages"].take();
    messages.as_array().unwrap()[..6].iter().map(|message| message["content"].clone()).collect()
}

fn resource(visitor: &Visitor<'_>) -> Value {
    visitor.result("resources/read", json!({"uri": "test://lavish"}))
}

fn read(visitor: &Visitor<'_>) -> Vec<Value> {
    resource(visitor)["contents"].as_array().unwrap().clone()
}

/// Every kind of content: what a tool returns beside its structured content, and what a prompt says.
fn blocks(visitor: &Visitor<'_>) -> Vec<Value> {
    let mut blocks = visitor.call("lavish")["content"].as_array().unwrap()[1..].to_vec();
    blocks.extend(prompt_blocks(visitor));
    blocks
}

fn has_link(blocks: &[Value]) -> bool {
    blocks.iter().any(|block| block["type"] == "resource_link")
}

/// The link among them; null where there is none.
fn link(visitor: &Visitor<'_>) -> Value {
    blocks(visitor).into_iter().find(|block| block["type"] == "resource_link").unwrap_or_default()
}

#[test]
fn every_revision_shows_its_features_and_no_others() {
    let server = Server::with(lavish);
    for visitor in Visitor::all(&server, &able()) {
        let revision = visitor.revision;
        for &feature in Feature::ALL {
            let wanted = expected(feature)[revision.index()];
            assert_eq!(revision.has(feature), wanted, "{feature:?} in the table at {}", revision.as_str());
            assert_eq!(shows(feature, &visitor), wanted, "{feature:?} at {}", revision.as_str());
        }
    }
}
