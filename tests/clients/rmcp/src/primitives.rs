//! Tools, resources, prompts, completion: what a client must get, whatever its era.

use futures::future::join_all;
use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, ErrorCode, GetPromptRequestParams, PaginatedRequestParams,
    ReadResourceRequestParams, Reference,
};
use serde_json::{Value, json};

use crate::peer::{Peer, refused, text};
use crate::steps::{at, each, step};

fn assert_named(entries: &Value, pointer: &str, names: &[&str]) {
    let found = each(entries, pointer);
    for name in names {
        assert_eq!(found.iter().filter(|found| found == name).count(), 1, "{name} in {found:?}");
    }
    assert!(each(entries, "/description").iter().all(|words| !words.is_empty()), "{entries}");
}

/// The first bytes of a PNG, as base64 has them.
fn is_png(data: &Value) -> bool {
    data.as_str().is_some_and(|data| data.starts_with("iVBORw0KGgo"))
}

async fn content(peer: &Peer, tool: &'static str) -> Value {
    let result = peer.try_call(tool, Value::Null, None).await.expect(tool);
    serde_json::to_value(result.content).expect("content as JSON")
}

pub async fn tools(peer: &Peer) {
    step(peer.step_name("lists the tools, page by page, schemas as written"), async {
        let tools = peer.client.list_all_tools().await.expect("tools");
        let tools = serde_json::to_value(tools).expect("tools as JSON");
        assert_named(
            &tools,
            "/name",
            &["test_simple_text", "test_tool_with_progress", "test_sampling", "test_elicitation", "greet"],
        );
        let named =
            tools.as_array().expect("a list").iter().find(|tool| tool["name"] == "json_schema_2020_12_tool");
        let schema = &named.expect("the tool with a schema")["inputSchema"];
        assert!(at(schema, "/$defs/address/$anchor").is_string(), "{schema}");
        assert_eq!(schema["additionalProperties"], json!(false), "{schema}");
        for keyword in ["allOf", "if", "then", "else"] {
            assert!(!schema[keyword].is_null(), "{keyword} in {schema}");
        }
    })
    .await;
    step(peer.step_name("calls tools: the answer is the argument, character by character"), async {
        let name = "hällo, \"wörld\"\n\u{2028} \u{1f980}";
        assert_eq!(peer.call("greet", json!({"name": name})).await, format!("Hello, {name}!"));
        assert_eq!(
            peer.call("test_simple_text", Value::Null).await,
            "This is a simple text response for testing."
        );
    })
    .await;
    step(peer.step_name("gets an image, a sound, a resource, and all at once"), async {
        let image = content(peer, "test_image_content").await;
        assert!(
            image[0]["type"] == "image" && image[0]["mimeType"] == "image/png" && is_png(&image[0]["data"]),
            "{image}"
        );
        let sound = content(peer, "test_audio_content").await;
        assert!(sound[0]["type"] == "audio" && sound[0]["mimeType"] == "audio/wav", "{sound}");
        let embedded = content(peer, "test_embedded_resource").await;
        assert_eq!(at(&embedded, "/0/resource/uri"), "test://embedded-resource", "{embedded}");
        let mixed = content(peer, "test_multiple_content_types").await;
        assert_eq!(each(&mixed, "/type"), ["text", "image", "resource"], "{mixed}");
    })
    .await;
    step(
        peer.step_name("calls a tool that fails, and one with wrong arguments: results with isError"),
        async {
            let failed = peer.try_call("test_error_handling", Value::Null, None).await.expect("a result");
            assert_eq!(failed.is_error, Some(true));
            assert_eq!(text(&failed), "This tool intentionally returns an error for testing");
            for arguments in [json!({"name": 5}), json!({})] {
                let result = peer.try_call("greet", arguments, None).await.expect("a result");
                assert!(result.is_error == Some(true) && text(&result).contains("name"), "{result:?}");
            }
        },
    )
    .await;
    step(peer.step_name("calls an unknown tool, turns a page that does not exist: -32602"), async {
        let unknown = refused(peer.try_call("no-such-tool", Value::Null, None).await);
        assert_eq!(unknown.code, ErrorCode::INVALID_PARAMS, "{unknown:?}");
        let page = || Some(PaginatedRequestParams::default().with_cursor(Some("no such page".to_owned())));
        assert_eq!(refused(peer.client.list_tools(page()).await).code, ErrorCode::INVALID_PARAMS);
        assert_eq!(refused(peer.client.list_prompts(page()).await).code, ErrorCode::INVALID_PARAMS);
        assert_eq!(refused(peer.client.list_resources(page()).await).code, ErrorCode::INVALID_PARAMS);
        assert_eq!(
            refused(peer.client.list_resource_templates(page()).await).code,
            ErrorCode::INVALID_PARAMS
        );
    })
    .await;
    step(peer.step_name("gets its own answer among many calls"), async {
        let names: Vec<String> = (0..48).map(|i| format!("{i} {}", "·".repeat(i))).collect();
        let answers = join_all(names.iter().map(|name| peer.call("greet", json!({"name": name})))).await;
        let expected: Vec<String> = names.iter().map(|name| format!("Hello, {name}!")).collect();
        assert_eq!(answers, expected);
    })
    .await;
}

async fn read(peer: &Peer, uri: &str) -> Value {
    let result = peer.client.read_resource(ReadResourceRequestParams::new(uri)).await.expect(uri);
    serde_json::to_value(&result.contents).expect("contents as JSON")[0].take()
}

pub async fn resources(peer: &Peer) {
    step(peer.step_name("lists the resources and templates, page by page"), async {
        let resources =
            serde_json::to_value(peer.client.list_all_resources().await.expect("resources")).expect("JSON");
        assert_named(
            &resources,
            "/uri",
            &["test://static-text", "test://static-binary", "test://watched-resource"],
        );
        let templates = peer.client.list_all_resource_templates().await.expect("templates");
        assert_named(
            &serde_json::to_value(templates).expect("JSON"),
            "/uriTemplate",
            &["test://template/{id}/data"],
        );
    })
    .await;
    step(peer.step_name("reads text, bytes and a template"), async {
        let plain = read(peer, "test://static-text").await;
        assert_eq!(plain["mimeType"], "text/plain", "{plain}");
        assert_eq!(plain["text"], "This is the content of the static text resource.", "{plain}");
        let binary = read(peer, "test://static-binary").await;
        assert!(binary["mimeType"] == "image/png" && is_png(&binary["blob"]), "{binary}");
        let uri = "test://template/4%202/data";
        let expanded = read(peer, uri).await;
        assert!(expanded["uri"] == uri && expanded["mimeType"] == "application/json", "{expanded}");
        let data: Value = serde_json::from_str(expanded["text"].as_str().expect("text")).expect("JSON");
        assert_eq!(data["id"], "4 2", "{data}");
    })
    .await;
    step(peer.step_name("reads an unknown resource: the code of its era, and which one it was"), async {
        for uri in ["test://no-such-resource", "test://template/a/b/data"] {
            let error = refused(peer.client.read_resource(ReadResourceRequestParams::new(uri)).await);
            let expected = if peer.modern { ErrorCode::INVALID_PARAMS } else { ErrorCode(-32002) };
            assert_eq!(error.code, expected, "{error:?}");
            assert_eq!(error.data.as_ref().map(|data| &data["uri"]), Some(&json!(uri)), "{error:?}");
        }
    })
    .await;
}

async fn messages(peer: &Peer, name: &str, arguments: Value) -> Value {
    let params = prompt(name, arguments);
    let result = peer.client.get_prompt(params).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::to_value(result.messages).expect("messages as JSON")
}

fn prompt(name: &str, arguments: Value) -> GetPromptRequestParams {
    match arguments {
        Value::Object(arguments) => GetPromptRequestParams::new(name).with_arguments(arguments),
        _ => GetPromptRequestParams::new(name),
    }
}

pub async fn prompts(peer: &Peer) {
    step(peer.step_name("lists the prompts, page by page"), async {
        let prompts =
            serde_json::to_value(peer.client.list_all_prompts().await.expect("prompts")).expect("JSON");
        assert_named(
            &prompts,
            "/name",
            &["test_simple_prompt", "test_prompt_with_arguments", "test_prompt_with_image"],
        );
    })
    .await;
    step(peer.step_name("gets prompts of every kind"), async {
        let simple = messages(peer, "test_simple_prompt", Value::Null).await;
        assert!(at(&simple, "/0/role") == "user" && at(&simple, "/0/content/type") == "text", "{simple}");
        let filled =
            messages(peer, "test_prompt_with_arguments", json!({"arg1": "hällo", "arg2": "\"wörld\""})).await;
        let words = at(&filled, "/0/content/text").as_str().expect("text");
        assert!(words.contains("hällo") && words.contains("\"wörld\""), "{words}");
        let uri = "test://example-resource";
        let embedded =
            messages(peer, "test_prompt_with_embedded_resource", json!({"resourceUri": uri})).await;
        assert_eq!(each(&embedded, "/content/type"), ["resource", "text"], "{embedded}");
        assert_eq!(at(&embedded, "/0/content/resource/uri"), uri, "{embedded}");
        let picture = messages(peer, "test_prompt_with_image", Value::Null).await;
        assert_eq!(each(&picture, "/content/type"), ["image", "text"], "{picture}");
        assert!(is_png(at(&picture, "/0/content/data")));
    })
    .await;
    step(peer.step_name("gets an unknown prompt, and one without its arguments: -32602"), async {
        let unknown = refused(peer.client.get_prompt(prompt("no-such-prompt", Value::Null)).await);
        assert_eq!(unknown.code, ErrorCode::INVALID_PARAMS, "{unknown:?}");
        let short = prompt("test_prompt_with_arguments", json!({"arg1": "alone"}));
        let error = refused(peer.client.get_prompt(short).await);
        assert!(error.code == ErrorCode::INVALID_PARAMS && error.message.contains("arg2"), "{error:?}");
    })
    .await;
    step(peer.step_name("completes an argument, and nothing else: -32602"), async {
        let values = |value: &'static str| {
            peer.client.complete_prompt_simple("test_prompt_with_arguments", "arg1", value)
        };
        let found = values("tes").await.expect("completions");
        assert!(!found.is_empty() && found.iter().all(|value| value.starts_with("tes")), "{found:?}");
        assert_eq!(values("nothing begins so").await.expect("completions"), Vec::<String>::new());
        for reference in
            [Reference::for_prompt("no-such-prompt"), Reference::for_resource("test://no/{such}")]
        {
            let params = CompleteRequestParams::new(reference, ArgumentInfo::new("arg1", ""));
            let error = refused(peer.client.complete(params).await);
            assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{error:?}");
        }
    })
    .await;
}
