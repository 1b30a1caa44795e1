//! Prompts: listed, used with and without arguments, and what a use may do besides.

use std::time::Duration;

use serde_json::{Value, json};
use twolane::server::Builder;
use twolane::tools::{
    Content, Context, HandlerError, Icon, Prompt, PromptArgument, PromptArguments, PromptMessage,
    PromptResult, ProtocolError, ResourceLink,
};

use crate::support::party::Party;
use crate::support::{Response, Server, messages};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Tone {
    Warm,
    Cool,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Letter {
    /// Who gets it.
    to: String,
    tone: Option<Tone>,
}

fn letter(letter: Letter) -> String {
    let tone = match letter.tone {
        Some(Tone::Warm) => "warmly",
        Some(Tone::Cool) => "coolly",
        None => "somehow",
    };
    format!("Write to {} {tone}.", letter.to)
}

fn prompts(builder: Builder) -> Builder {
    builder
        .prompt(
            Prompt::new("plain", "Has no arguments.", |_: PromptArguments| async { "Hello" })
                .title("Plain")
                .icon(Icon::new("data:,"))
                .meta("example/k", 1),
        )
        .prompt(
            Prompt::new("pair", "Takes two.", |arguments: PromptArguments| async move {
                let of = |name| arguments.get(name).unwrap_or("nothing").to_owned();
                format!("{} and {} and {}", of("arg1"), of("arg2"), of("arg3"))
            })
            .argument(PromptArgument::new("arg1").title("One").description("The first.").required())
            .argument(PromptArgument::new("arg2").required())
            .argument(PromptArgument::new("arg3")),
        )
        .prompt(Prompt::typed("letter", "Writes a letter.", |given: Letter| async { letter(given) }))
        .prompt(Prompt::typed_blocking("letter-blocking", "", |given: Letter, _: Context| letter(given)))
        .prompt(Prompt::blocking("everything", "Has every kind of content.", |_: PromptArguments| {
            PromptResult::new(every_kind()).description("Of its own.").meta("k", 1)
        }))
}

fn every_kind() -> Vec<PromptMessage> {
    vec![
        PromptMessage::user(Content::text("é\u{2028}").priority(1.0)),
        PromptMessage::assistant("I see"),
        PromptMessage::user(Content::image([0, 255], "image/png")),
        PromptMessage::user(Content::audio([1], "audio/wav")),
        PromptMessage::user(Content::resource_text("test://a", "text/plain", "x")),
        PromptMessage::user(Content::resource_blob("test://b", "a/b", [2])),
        PromptMessage::assistant(Content::resource_link(ResourceLink::new("test://c", "c"))),
    ]
}

fn failing(builder: Builder) -> Builder {
    builder
        .prompt(Prompt::new("fails", "", |_: PromptArguments| async {
            Err::<&str, HandlerError>(std::io::Error::other("a secret").into())
        }))
        .prompt(Prompt::new("refuses", "", |_: PromptArguments| async {
            Err::<&str, _>(HandlerError::invalid("not like this"))
        }))
        .prompt(Prompt::new("chooses", "", |_: PromptArguments| async {
            Err::<&str, HandlerError>(ProtocolError::new(-32050, "busy").into())
        }))
        // Without the panic hook, which would write into the tests' output.
        .prompt(Prompt::new("panics", "", |_: PromptArguments| async {
            std::panic::resume_unwind(Box::new("a secret")) as &str
        }))
        .prompt(Prompt::blocking("panics-blocking", "", |_: PromptArguments| {
            std::panic::resume_unwind(Box::new("a secret")) as &str
        }))
        .prompt(
            Prompt::new("slow", "", |_: PromptArguments| async {
                tokio::time::sleep(Duration::from_secs(600)).await;
                "never"
            })
            .timeout(Duration::from_millis(20)),
        )
}

fn all(server: &Server) -> Vec<Party> {
    Party::all(server, &json!({}))
}

#[track_caller]
fn get(server: &Server, party: &Party, params: Value) -> Response {
    party.send(server, &party.request(7, "prompts/get", params))
}

#[track_caller]
fn text(server: &Server, party: &Party, name: &str, arguments: Value) -> String {
    let result = get(server, party, json!({"name": name, "arguments": arguments})).result();
    let [message] = result["messages"].as_array().unwrap().as_slice() else { panic!("{result}") };
    assert_eq!((&message["role"], &message["content"]["type"]), (&json!("user"), &json!("text")));
    message["content"]["text"].as_str().unwrap().to_owned()
}

/// The code and message of a JSON-RPC error that is no rejection.
#[track_caller]
fn failure(response: &Response) -> (i64, String) {
    assert_eq!((response.status, &response.json()["id"]), (200, &json!(7)), "{response}");
    (response.code(), response.json()["error"]["message"].as_str().unwrap().to_owned())
}

#[test]
fn each_revision_lists_its_members() {
    let server = Server::with(prompts);
    for party in all(&server) {
        let result = party.send(&server, &party.request(7, "prompts/list", Value::Null)).result();
        let mut plain = json!({"name": "plain", "description": "Has no arguments."});
        let mut pair = json!({"name": "pair", "description": "Takes two.", "arguments": [
            {"name": "arg1", "description": "The first.", "required": true},
            {"name": "arg2", "required": true},
            {"name": "arg3"},
        ]});
        if party.version != "2025-03-26" {
            plain["title"] = json!("Plain");
            plain["_meta"] = json!({"example/k": 1});
            pair["arguments"][0]["title"] = json!("One");
        }
        if party.version >= "2025-11-25" {
            plain["icons"] = json!([{"src": "data:,"}]);
        }
        assert_eq!((&result["prompts"][0], &result["prompts"][1]), (&plain, &pair), "{}", party.version);
        assert_eq!(
            result["prompts"][2],
            json!({"name": "letter", "description": "Writes a letter.", "arguments": [
                {"name": "to", "description": "Who gets it.", "required": true},
                {"name": "tone"},
            ]})
        );
        assert!(result["prompts"][3].get("description").is_none(), "an empty description is none");
        let modern = party.version == messages::MODERN;
        assert_eq!(result.as_object().unwrap().len(), if modern { 5 } else { 1 }, "{result}");
    }
}

#[test]
fn content_of_every_kind() {
    let server = Server::with(prompts);
    for party in all(&server) {
        let result = get(&server, &party, json!({"name": "everything"})).result();
        let link = if party.version == "2025-03-26" {
            json!({"type": "text", "text": "test://c"})
        } else {
            json!({"type": "resource_link", "uri": "test://c", "name": "c"})
        };
        assert_eq!(
            result["messages"],
            json!([
                {"role": "user", "content": {"type": "text", "text": "é\u{2028}", "annotations": {"priority": 1}}},
                {"role": "assistant", "content": {"type": "text", "text": "I see"}},
                {"role": "user", "content": {"type": "image", "data": "AP8=", "mimeType": "image/png"}},
                {"role": "user", "content": {"type": "audio", "data": "AQ==", "mimeType": "audio/wav"}},
                {"role": "user", "content": {"type": "resource", "resource":
                    {"uri": "test://a", "mimeType": "text/plain", "text": "x"}}},
                {"role": "user", "content": {"type": "resource", "resource":
                    {"uri": "test://b", "mimeType": "a/b", "blob": "Ag=="}}},
                {"role": "assistant", "content": link},
            ])
        );
        assert_eq!((&result["description"], &result["_meta"]["k"]), (&json!("Of its own."), &json!(1)));
        if party.version == messages::MODERN {
            assert_eq!(result["resultType"], "complete");
            assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "wire");
            assert!(result.get("ttlMs").is_none(), "{result}");
        } else {
            assert_eq!(result.as_object().unwrap().len(), 3, "{result}");
        }
    }
}

#[test]
fn arguments_reach_the_handler() {
    let server = Server::with(prompts);
    for party in all(&server) {
        let text = |name, arguments| text(&server, &party, name, arguments);
        assert_eq!(
            get(&server, &party, json!({"name": "plain"})).result()["description"],
            "Has no arguments."
        );
        for arguments in [json!(null), json!({}), json!({"unknown": "x"})] {
            assert_eq!(text("plain", arguments), "Hello");
        }
        assert_eq!(text("pair", json!({"arg1": "a", "arg2": ""})), "a and  and nothing");
        assert_eq!(text("pair", json!({"arg2": "b", "arg1": "é", "arg3": "c", "x": "y"})), "é and b and c");
        for name in ["letter", "letter-blocking"] {
            assert_eq!(text(name, json!({"to": "Ada"})), "Write to Ada somehow.");
            assert_eq!(text(name, json!({"to": "Ada", "tone": "cool"})), "Write to Ada coolly.");
        }
    }
}

/// Every kind of handler reads the same one of two, the one that is bound to what it has asked for.
#[test]
fn of_an_argument_that_comes_twice_the_first_counts() {
    let server = Server::with(prompts);
    for party in all(&server) {
        for (name, first, rest, text) in [
            ("pair", r#""arg1":"a","arg1":"b""#, r#""arg2":"x""#, "a and x and nothing"),
            ("letter", r#""to":"Ada","to":"Bob""#, r#""tone":"cool""#, "Write to Ada coolly."),
            (
                "letter-blocking",
                r#""to":"Ada","to":"Bob""#,
                r#""tone":null,"tone":"cool""#,
                "Write to Ada somehow.",
            ),
        ] {
            let mut request =
                party.request(7, "prompts/get", json!({"name": name, "arguments": {"twice": 1}}));
            let body =
                String::from_utf8(request.body).unwrap().replace(r#""twice":1"#, &format!("{first},{rest}"));
            request.body = body.into_bytes();
            let got = party.send(&server, &request).result();
            assert_eq!(got["messages"][0]["content"]["text"], text, "{name}");
        }
    }
}

#[test]
fn arguments_that_do_not_fit() {
    let server = Server::with(prompts);
    for party in all(&server) {
        for (name, arguments, part) in [
            ("pair", json!(null), "arg1"),
            ("pair", json!({"arg1": "a"}), "arg2"),
            ("pair", json!({"arg2": "a", "Arg1": "b"}), "arg1"),
            ("pair", json!({"arg1": 1, "arg2": "b"}), "arg1"),
            ("pair", json!({"arg1": "a", "arg2": {"b": 1}}), "arg2"),
            ("pair", json!({"arg1": "a", "arg2": "b", "arg3": true}), "arg3"),
            ("pair", json!({"arg1": "a", "arg2": "b", "other": 1.5}), "other"),
            ("pair", json!([]), "arguments"),
            ("pair", json!("a"), "arguments"),
            ("letter", json!({}), "to"),
            ("letter", json!({"to": "x", "tone": "hot"}), "hot"),
        ] {
            let (code, message) =
                failure(&get(&server, &party, json!({"name": name, "arguments": arguments})));
            assert!(code == -32602 && message.contains(part), "{name} {arguments}: {code} {message}");
        }
        let long = json!({"name": "letter", "arguments": {"to": "x", "tone": "é".repeat(100_000)}});
        assert!(failure(&get(&server, &party, long)).1.len() < 400);
        for params in [json!({}), json!({"name": 1}), json!({"name": null})] {
            let mut request = party.request(7, "prompts/get", params);
            if party.session.is_none() {
                request = request.without("Mcp-Name");
            }
            assert_eq!(failure(&party.send(&server, &request)).0, -32602);
        }
    }
}

#[test]
fn prompts_that_fail() {
    let server = Server::with(failing);
    for party in all(&server) {
        let failure = |name: &str| failure(&get(&server, &party, json!({ "name": name })));
        for name in ["fails", "panics", "panics-blocking", "slow"] {
            let (code, message) = failure(name);
            assert_eq!(code, -32603, "{name}");
            assert!(message.contains(name) && !message.contains("secret"), "{message}");
        }
        assert_eq!(failure("refuses"), (-32602, "not like this".to_owned()));
        assert_eq!(failure("chooses"), (-32050, "busy".to_owned()));
        for name in ["nope", "Fails", ""] {
            let (code, message) = failure(name);
            assert!(code == -32602 && message.contains("Unknown prompt"), "{message}");
        }
    }
}

#[test]
fn a_use_may_report_progress() {
    let server = Server::with(|builder| {
        builder.prompt(Prompt::new("steps", "", |_: PromptArguments, context: Context| async move {
            for step in 1..=3 {
                context.progress(f64::from(step), Some(3.0), None);
                tokio::task::yield_now().await;
            }
            "done"
        }))
    });
    for party in all(&server) {
        let params = json!({"name": "steps", "_meta": {"progressToken": 5}});
        let mut talk = party.stream(&server, &party.request(7, "prompts/get", params));
        for step in 1..=3 {
            let message = talk.message();
            assert_eq!(message["method"], "notifications/progress", "{message}");
            assert_eq!(message["params"], json!({"progressToken": 5, "progress": step, "total": 3}));
        }
        assert_eq!(talk.result()["messages"][0]["content"]["text"], "done");
        assert_eq!(text(&server, &party, "steps", Value::Null), "done", "no token, no stream");
    }
}

#[test]
fn prompts_come_and_go() {
    let server = Server::with(|builder| builder.limits(crate::limits::changed(&[("page_size", 1)])));
    let registry = server.handle.registry().clone();
    let prompt = |name: &str, text: &'static str| {
        Prompt::new(name, "A prompt.", move |_: PromptArguments| async move { text })
    };
    registry.add_prompt(prompt("a", "a")).unwrap();
    registry.add_prompt(prompt("b", "b")).unwrap();
    assert!(registry.add_prompt(prompt("a", "again")).is_err());
    for party in all(&server) {
        let page = |cursor: Value| {
            let request = party.request(7, "prompts/list", json!({ "cursor": cursor }));
            party.send(&server, &request).result()
        };
        let first = page(Value::Null);
        assert_eq!(first["prompts"][0]["name"], "a");
        let cursor = first["nextCursor"].clone();
        registry.replace_prompt(prompt("b", "changed")).unwrap();
        assert_eq!(text(&server, &party, "b", Value::Null), "changed");
        let second = page(cursor.clone());
        assert!(second["prompts"][0]["name"] == "b" && second.get("nextCursor").is_none(), "{second}");
        assert!(registry.remove_prompt("b") && !registry.remove_prompt("b"));
        assert_eq!(page(cursor)["prompts"], json!([]), "nothing is left behind the cursor");
        assert_eq!(failure(&get(&server, &party, json!({"name": "b"}))).0, -32602);
        registry.add_prompt(prompt("b", "b")).unwrap();
    }
}
