//! Completion of the arguments of prompts and of the variables of templates.

use std::time::Duration;

use serde_json::{Value, json};
use twolane::server::Builder;
use twolane::tools::{
    Completion, CompletionInput, Context, HandlerError, Prompt, PromptArgument, PromptArguments, Resource,
    ResourceTemplate, Variables,
};

use crate::support::party::Party;
use crate::support::{Response, Server, messages};

fn offers(builder: Builder) -> Builder {
    let prompt = Prompt::new("prompt", "", |_: PromptArguments| async { "x" });
    let arguments = ["city", "many", "settled", "fails", "panics", "slow", "steps", "none"];
    let prompt =
        arguments.into_iter().fold(prompt, |prompt, name| prompt.argument(PromptArgument::new(name)));
    builder
        .prompt(
            prompt
                .complete("city", ["Paris", "Prague", "Porto"])
                .complete("many", (0..150).map(|at| format!("value {at}")))
                .complete_with("settled", |input: CompletionInput| async move {
                    let settled = input.settled.get("city").unwrap_or("nothing");
                    vec![format!("{} {} {settled}", input.argument, input.value)]
                })
                .complete_with("fails", |_: CompletionInput| async {
                    Err::<Completion, HandlerError>(std::io::Error::other("a secret").into())
                })
                // Without the panic hook, which would write into the tests' output.
                .complete_with("panics", |_: CompletionInput| async {
                    std::panic::resume_unwind(Box::new("a secret")) as Completion
                })
                .complete_with("slow", |_: CompletionInput| async {
                    tokio::time::sleep(Duration::from_secs(600)).await;
                    Completion::default()
                })
                .complete_with("steps", |_: CompletionInput, context: Context| async move {
                    context.progress(1.0, None, None);
                    Completion::new(vec!["x"; 101]).total(1000)
                }),
        )
        .resource_template(
            ResourceTemplate::new("test://{kind}/{id}", "things", |_: Variables| async { "x" })
                .complete("kind", ["book", "box"])
                .complete_with("id", |input: CompletionInput| async move {
                    Completion::new([format!("{}1", input.value)]).has_more(true)
                }),
        )
        .resource(Resource::text("test://fixed", "fixed", "x"))
}

fn all(server: &Server) -> Vec<Party> {
    Party::all(server, &json!({}))
}

fn prompt(name: &str) -> Value {
    json!({"type": "ref/prompt", "name": name})
}

fn resource(uri: &str) -> Value {
    json!({"type": "ref/resource", "uri": uri})
}

#[track_caller]
fn complete(server: &Server, party: &Party, reference: Value, argument: &str, value: &str) -> Response {
    let params = json!({"ref": reference, "argument": {"name": argument, "value": value}});
    party.send(server, &party.request(7, "completion/complete", params))
}

#[test]
fn values_of_a_list() {
    let server = Server::with(offers);
    for party in all(&server) {
        let completion = |reference, argument, value| {
            let result = complete(&server, &party, reference, argument, value).result();
            if party.version == messages::MODERN {
                assert_eq!(result["resultType"], "complete");
                assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "wire");
            } else {
                assert_eq!(result.as_object().unwrap().len(), 1, "{result}");
            }
            result["completion"].clone()
        };
        let found = |values: &[&str]| json!({"values": values, "total": values.len(), "hasMore": false});
        assert_eq!(completion(prompt("prompt"), "city", "p"), found(&["Paris", "Prague", "Porto"]));
        assert_eq!(completion(prompt("prompt"), "city", "Pra"), found(&["Prague"]));
        assert_eq!(completion(prompt("prompt"), "city", ""), found(&["Paris", "Prague", "Porto"]));
        assert_eq!(completion(prompt("prompt"), "city", "x"), found(&[]));
        assert_eq!(completion(prompt("prompt"), "none", "x"), json!({"values": []}));
        assert_eq!(completion(prompt("prompt"), "undeclared", "x"), json!({"values": []}));
        let many = completion(prompt("prompt"), "many", "");
        assert_eq!(many["values"].as_array().unwrap().len(), 100);
        assert_eq!((&many["total"], &many["hasMore"]), (&json!(150), &json!(true)));
        for template in ["test://{kind}/{id}", "test://book/1"] {
            assert_eq!(completion(resource(template), "kind", "bo"), found(&["book", "box"]));
            let one = completion(resource(template), "id", "4");
            assert_eq!(one, json!({"values": ["41"], "hasMore": true}));
        }
        assert_eq!(completion(resource("test://fixed"), "kind", ""), json!({"values": []}));
    }
}

#[test]
fn settled_arguments_where_the_revision_has_them() {
    let server = Server::with(offers);
    for party in all(&server) {
        let mut params = json!({
            "ref": prompt("prompt"),
            "argument": {"name": "settled", "value": "é"},
            "context": {"arguments": {"city": "Paris"}},
        });
        let has = party.version != "2025-03-26";
        let send =
            |params: &Value| party.send(&server, &party.request(7, "completion/complete", params.clone()));
        let settled = if has { "Paris" } else { "nothing" };
        assert_eq!(send(&params).result()["completion"]["values"], json!([format!("settled é {settled}")]));
        for none in [json!(null), json!({}), json!({"arguments": null}), json!({"arguments": {}})] {
            params["context"] = none;
            assert_eq!(send(&params).result()["completion"]["values"], json!(["settled é nothing"]));
        }
        params["context"] = json!({"arguments": {"city": 1}});
        let response = send(&params);
        assert_eq!(response.json().get("error").is_some(), has, "{response}");
        if has {
            assert_eq!((response.status, response.code()), (200, -32602), "{response}");
        }
    }
}

#[test]
fn references_to_nothing() {
    let server = Server::with(offers);
    for party in all(&server) {
        for reference in [
            prompt("nope"),
            prompt(""),
            prompt("test://{kind}/{id}"),
            resource("test://nope"),
            resource("test://{kind}/{x}"),
            resource("prompt"),
            json!({"type": "ref/tool", "name": "echo"}),
            json!({"type": "ref/prompt"}),
            json!({"type": "ref/resource", "name": "prompt"}),
            json!({"name": "prompt"}),
            json!("prompt"),
            json!(null),
        ] {
            let response = complete(&server, &party, reference.clone(), "city", "");
            assert_eq!((response.status, response.code()), (200, -32602), "{reference}: {response}");
        }
        for argument in [json!(null), json!({}), json!({"name": "city"}), json!({"name": 1, "value": ""})] {
            let params = json!({"ref": prompt("prompt"), "argument": argument});
            let response = party.send(&server, &party.request(7, "completion/complete", params));
            assert_eq!((response.status, response.code()), (200, -32602), "{argument}: {response}");
        }
    }
}

#[test]
fn completions_that_fail() {
    let server =
        Server::with(|builder| offers(builder).limits(crate::limits::changed(&[("tool_timeout", 50)])));
    for party in all(&server) {
        for argument in ["fails", "panics", "slow"] {
            let response = complete(&server, &party, prompt("prompt"), argument, "");
            assert_eq!((response.status, response.code()), (200, -32603), "{argument}: {response}");
            assert!(!response.text().contains("secret"), "{response}");
        }
    }
}

#[test]
fn a_completion_may_report_progress() {
    let server = Server::with(offers);
    for party in all(&server) {
        let params = json!({
            "ref": prompt("prompt"),
            "argument": {"name": "steps", "value": ""},
            "_meta": {"progressToken": "t"},
        });
        let mut talk = party.stream(&server, &party.request(7, "completion/complete", params));
        assert_eq!(talk.message()["params"], json!({"progressToken": "t", "progress": 1}));
        let completion = talk.result()["completion"].take();
        assert_eq!(completion["values"].as_array().unwrap().len(), 100);
        assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(1000), &json!(true)));
    }
}
