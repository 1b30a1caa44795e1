//! Modern calls that ask their client: what a round ends with, what the next one brings back, and what is not taken.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use twolane::tables::rejection::Rejection;
use twolane::tools::{
    Context, Elicitation, HandlerError, Prompt, PromptArguments, Resource, SealingKey, TaskSupport,
    ToolError, Typed,
};

use crate::limits::changed;
use crate::support::askers::{Askers, name_form};
use crate::support::door::Keys;
use crate::support::party::Party;
use crate::support::{Response, Server, messages};

fn everything() -> Value {
    json!({"sampling": {}, "elicitation": {}, "roots": {"listChanged": true}})
}

/// A server with tools that ask.
pub fn asking() -> (Server, Askers) {
    asking_with(&[])
}

/// The same with limits that differ.
pub fn asking_with(limits: &[(&str, u64)]) -> (Server, Askers) {
    let askers = Askers::default();
    let server = Server::with(|builder| askers.register(builder).limits(changed(limits)));
    (server, askers)
}

pub fn accept(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

pub fn said(text: &str) -> Value {
    json!({"role": "assistant", "content": {"type": "text", "text": text}, "model": "m", "stopReason": "endTurn"})
}

/// The questions and the state of a round that ended with questions.
#[track_caller]
fn asked(response: &Response) -> (Value, String) {
    assert_eq!(response.status, 200, "{response}");
    let result = response.result();
    assert_eq!(result["resultType"], "input_required", "{response}");
    assert!(result.get("content").is_none(), "{response}");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "wire", "{response}");
    let state = result["requestState"].as_str().expect("a state").to_owned();
    (result["inputRequests"].clone(), state)
}

/// Calls a tool with answers, and the state where there is one.
fn answer(party: &Party, server: &Server, tool: &str, answers: Value, state: Option<&str>) -> Response {
    let request = party.call_with(tool, json!({}), |params| {
        params["inputResponses"] = answers;
        if let Some(state) = state {
            params["requestState"] = state.into();
        }
    });
    party.send(server, &request)
}

#[track_caller]
fn done(response: &Response, text: &str) {
    assert_eq!(response.result()["resultType"], "complete", "{response}");
    assert_eq!(response.tool_text(), text);
}

#[test]
fn a_form_is_asked_and_answered() {
    let (server, askers) = asking();
    for party in Party::modern(&everything()) {
        let first = party.send(&server, &party.call("ask_name", json!({})));
        let (requests, state) = asked(&first);
        assert_eq!(
            requests,
            json!({"user_name": {"method": "elicitation/create", "params": {
                "message": "Who?",
                "requestedSchema": {
                    "type": "object",
                    "properties": {"name": {"type": "string", "minLength": 1}},
                    "required": ["name"],
                },
                "mode": "form",
            }}})
        );
        let alice = json!({"user_name": accept(json!({"name": "Alice"}))});
        done(&answer(&party, &server, "ask_name", alice.clone(), Some(&state)), "Hello, Alice!");
        done(&answer(&party, &server, "ask_name", alice, None), "Hello, Alice!");
        for (action, text) in [("decline", "Hello, decline!"), ("cancel", "Hello, cancel!")] {
            let refused = json!({"user_name": {"action": action}});
            done(&answer(&party, &server, "ask_name", refused, Some(&state)), text);
        }
    }
    assert_eq!(askers.gone.load(Ordering::SeqCst), 2 * 5, "a handler whose round is over is dropped");
}

#[test]
fn models_and_folders_are_asked_for() {
    let (server, _askers) = asking();
    for party in Party::modern(&everything()) {
        let (requests, state) = asked(&party.send(&server, &party.call("ask_model", json!({}))));
        assert_eq!(
            requests,
            json!({"capital": {"method": "sampling/createMessage", "params": {
                "messages": [{"role": "user", "content": {"type": "text", "text": "What is the capital?"}}],
                "maxTokens": 100,
            }}})
        );
        let paris = json!({"capital": said("Paris")});
        done(&answer(&party, &server, "ask_model", paris, Some(&state)), "m: Paris");

        let (requests, state) = asked(&party.send(&server, &party.call("ask_roots", json!({}))));
        assert_eq!(requests, json!({"folders": {"method": "roots/list"}}));
        let roots =
            json!({"folders": {"roots": [{"uri": "file:///test/root"}, {"uri": "file:///b", "name": "B"}]}});
        done(&answer(&party, &server, "ask_roots", roots, Some(&state)), "file:///test/root file:///b");
    }
}

#[test]
fn several_questions_go_out_together_and_come_back_in_parts() {
    let (server, _askers) = asking();
    let answers = json!({
        "name": accept(json!({"name": "Al"})), "model": said("Hi"), "roots": {"roots": [{"uri": "file:///a"}]},
    });
    for party in Party::modern(&everything()) {
        let (requests, state) = asked(&party.send(&server, &party.call("ask_all", json!({}))));
        let methods = ["elicitation/create", "sampling/createMessage", "roots/list"];
        for (key, method) in ["name", "model", "roots"].iter().zip(methods) {
            assert_eq!(requests[key]["method"], method);
        }
        assert_eq!(requests.as_object().unwrap().len(), 3);
        done(&answer(&party, &server, "ask_all", answers.clone(), Some(&state)), "Al Hi 1");

        // One answer in each round; those that were given are not asked for again.
        let mut state = state;
        for (at, key) in ["model", "roots"].iter().enumerate() {
            let part = json!({*key: answers[key]});
            let (requests, next) = asked(&answer(&party, &server, "ask_all", part, Some(&state)));
            assert_eq!(requests.as_object().unwrap().len(), 2 - at, "{requests}");
            assert!(requests.get(key).is_none());
            state = next;
        }
        let last = json!({"name": answers["name"]});
        done(&answer(&party, &server, "ask_all", last, Some(&state)), "Al Hi 1");
    }
}

#[test]
fn rounds_follow_each_other_and_effects_happen_once() {
    let (server, askers) = asking();
    for (at, party) in (1..).zip(Party::modern(&everything())) {
        let (requests, first) = asked(&party.send(&server, &party.call("two_steps", json!({}))));
        assert_eq!(requests.as_object().unwrap().keys().collect::<Vec<_>>(), ["step1"]);
        let alice = json!({"step1": accept(json!({"name": "Alice"}))});
        let (requests, second) = asked(&answer(&party, &server, "two_steps", alice, Some(&first)));
        assert_eq!(requests.as_object().unwrap().keys().collect::<Vec<_>>(), ["step2"]);
        assert_ne!(first, second);
        // What was answered in an earlier round stays as it was.
        let blue =
            json!({"step2": accept(json!({"color": "blue"})), "step1": accept(json!({"name": "Bob"}))});
        let last = answer(&party, &server, "two_steps", blue.clone(), Some(&second));
        done(&last, &format!("Alice blue effect {at} seen 1"));
        // A round that is brought back while it is valid plays again, its effect does not.
        done(
            &answer(&party, &server, "two_steps", blue, Some(&second)),
            &format!("Alice blue effect {at} seen 1"),
        );
        assert_eq!(askers.effects.load(Ordering::SeqCst), at);
    }
    assert_eq!(askers.rounds.load(Ordering::SeqCst), 2 * 4);
}

#[test]
fn what_does_not_answer_is_asked_again_or_told() {
    let (server, _askers) = asking();
    for party in Party::modern(&everything()) {
        for answers in [
            json!(null),
            json!({}),
            json!({"wrong_key": accept(json!({"name": "Alice"}))}),
            json!({"user_name": {"action": "accept"}}),
            json!({"user_name": accept(json!({}))}),
            json!({"user_name": accept(json!({"name": ""}))}),
            json!({"user_name": accept(json!({"name": 5}))}),
            json!({"user_name": {"roots": []}}),
            json!({"user_name": said("Alice")}),
        ] {
            let again = answer(&party, &server, "ask_name", answers.clone(), None);
            assert_eq!(asked(&again).0["user_name"]["method"], "elicitation/create", "{answers}");
        }
        // What is no answer to anything is a fault of the request.
        for answers in [json!(5), json!([]), json!({"user_name": 12345}), json!({"user_name": null})] {
            let told = answer(&party, &server, "ask_name", answers.clone(), None);
            assert_eq!((told.status, told.code()), (200, -32602), "{answers}");
        }
        let extra = json!({
            "user_name": accept(json!({"name": "Alice", "age": 7})),
            "extra_key": accept(json!({"foo": "bar"})),
            "another": said("x"),
        });
        done(&answer(&party, &server, "ask_name", extra, None), "Hello, Alice!");
    }
}

#[test]
fn states_that_are_not_taken() {
    let (server, askers) = asking();
    let alice = json!({"step1": accept(json!({"name": "Alice"}))});
    for party in Party::modern(&everything()) {
        let (_, state) = asked(&party.send(&server, &party.call("two_steps", json!({}))));
        let rounds = askers.rounds.load(Ordering::SeqCst);
        let flipped = {
            let last = if state.ends_with('A') { "B" } else { "A" };
            format!("{}{last}", &state[..state.len() - 1])
        };
        let swapped = format!("B{}", &state[1..]);
        for bad in [&*format!("{state}-TAMPERED"), &flipped, &swapped, &state[1..], "", "AAAA", "é", "null"]
        {
            let refused = answer(&party, &server, "two_steps", alice.clone(), Some(bad));
            assert_eq!((refused.status, refused.code()), (200, -32602), "{bad}: {refused}");
            assert_eq!(refused.json()["id"], 7);
            assert!(!refused.text().contains("Alice"));
        }
        // Another request: another tool, other arguments.
        let other = answer(&party, &server, "ask_name", alice.clone(), Some(&state));
        assert_eq!((other.status, other.code()), (200, -32602), "{other}");
        let arguments = party.call_with("two_steps", json!({"a": 1}), |params| {
            params["requestState"] = state.clone().into();
        });
        assert_eq!(party.send(&server, &arguments).code(), -32602);
        assert_eq!(askers.rounds.load(Ordering::SeqCst), rounds, "no handler has run");
        // The order of arguments and an empty object left out make no other request.
        let same = party.request(7, "tools/call", {
            json!({"name": "two_steps", "requestState": state, "inputResponses": alice})
        });
        asked(&party.send(&server, &same));
    }
}

#[test]
fn states_expire() {
    let (server, _askers) = asking_with(&[("request_state_ttl", 5_000)]);
    let alice = json!({"user_name": accept(json!({"name": "Alice"}))});
    for party in Party::modern(&everything()) {
        let (_, state) = asked(&party.send(&server, &party.call("ask_name", json!({}))));
        server.clock.advance_ms(4_999);
        done(&answer(&party, &server, "ask_name", alice.clone(), Some(&state)), "Hello, Alice!");
        server.clock.advance_ms(1);
        let late = answer(&party, &server, "ask_name", alice.clone(), Some(&state));
        assert_eq!((late.status, late.code()), (200, -32602), "{late}");
        assert!(late.json()["error"]["message"].as_str().unwrap().contains("expired"), "{late}");
    }
}

#[test]
fn states_belong_to_whom_they_were_given() {
    let askers = Askers::default();
    let server = Server::with(|builder| askers.register(builder).authenticator(Keys::default()));
    let alice = json!({"user_name": accept(json!({"name": "Alice"}))});
    for party in Party::modern(&everything()) {
        let party = Party { token: Some("alice"), ..party };
        let bob = Party { token: Some("bob"), ..party.clone() };
        let (_, state) = asked(&party.send(&server, &party.call("ask_name", json!({}))));
        let stolen = answer(&bob, &server, "ask_name", alice.clone(), Some(&state));
        assert_eq!((stolen.status, stolen.code()), (200, -32602), "{stolen}");
        done(&answer(&party, &server, "ask_name", alice.clone(), Some(&state)), "Hello, Alice!");
    }
}

#[test]
fn nodes_that_share_a_key_open_each_others_states() {
    let node = |keys: &[u8]| {
        let keys: Vec<_> = keys.iter().map(|&key| SealingKey::new([key; 32])).collect();
        Server::with(|builder| Askers::default().register(builder).sealing_keys(keys))
    };
    let (one, two, three) = (node(&[1]), node(&[2, 1]), node(&[3]));
    let alice = json!({"user_name": accept(json!({"name": "Alice"}))});
    for party in Party::modern(&everything()) {
        let (_, state) = asked(&party.send(&one, &party.call("ask_name", json!({}))));
        done(&answer(&party, &two, "ask_name", alice.clone(), Some(&state)), "Hello, Alice!");
        assert_eq!(answer(&party, &three, "ask_name", alice.clone(), Some(&state)).code(), -32602);
    }
}

#[test]
fn what_is_remembered_is_bounded() {
    let (server, _askers) = asking_with(&[("request_state", 2_048)]);
    for party in Party::modern(&everything()) {
        // 2048 characters are 1536 bytes, of which sealing takes 121 and the memory's own members 8.
        for (bytes, fits) in [(1_406, true), (1_407, true), (1_408, false)] {
            let response = party.send(&server, &party.call("remember", json!({"bytes": bytes})));
            if !fits {
                assert_eq!(response.result()["isError"], true, "{response}");
                continue;
            }
            let (_, state) = asked(&response);
            assert!(state.len() <= 2_048);
            let back = party.call_with("remember", json!({"bytes": bytes}), |params| {
                params["requestState"] = state.into();
                params["inputResponses"] = json!({"folders": {"roots": []}});
            });
            done(&party.send(&server, &back), &bytes.to_string());
        }
    }
}

#[test]
fn only_what_the_client_declares_is_asked() {
    let (server, _askers) = asking();
    let refused = |party: &Party, tool: &str, required: Value| {
        let before = server.met();
        let response = party.send(&server, &party.call(tool, json!({})));
        assert_eq!((response.status, response.code()), (400, -32021), "{tool}: {response}");
        assert_eq!(response.json()["error"]["data"], json!({"requiredCapabilities": required}), "{tool}");
        assert_eq!(response.json()["id"], 7);
        assert_eq!(server.met_since(&before), [Rejection::MissingClientCapability]);
    };
    for party in Party::modern(&json!({})) {
        refused(&party, "ask_name", json!({"elicitation": {"form": {}}}));
        refused(&party, "ask_model", json!({"sampling": {}}));
        refused(&party, "ask_roots", json!({"roots": {}}));
        refused(&party, "ask_page", json!({"elicitation": {"url": {}}}));
        done(&party.send(&server, &party.call("ask_bravely", json!({}))), "Unsupported");
        // After a while it is the same answer.
        refused(&party, "wait_and_ask", json!({"elicitation": {"form": {}}}));
        // Once something has been sent, the stream ends with it.
        let call = party.call_with("tell_and_ask", json!({}), |params| {
            params["_meta"]["progressToken"] = 1.into();
        });
        let mut talk = party.stream(&server, &call);
        assert_eq!(talk.message()["method"], "notifications/progress");
        assert_eq!(talk.message()["error"]["code"], -32021);
        assert!(talk.next().is_none());
    }
    for party in Party::modern(&json!({"elicitation": {"url": {}}, "sampling": {"tools": null}})) {
        refused(&party, "ask_name", json!({"elicitation": {"form": {}}}));
        refused(&party, "ask_with_tools", json!({"sampling": {"tools": {}}}));
        let (requests, state) = asked(&party.send(&server, &party.call("ask_page", json!({}))));
        assert_eq!(
            requests,
            json!({"page": {"method": "elicitation/create", "params":
                {"mode": "url", "message": "Log in", "url": "https://example.com/in"}}})
        );
        let agreed = json!({"page": {"action": "accept"}});
        done(&answer(&party, &server, "ask_page", agreed, Some(&state)), "accept");
    }
    for party in Party::modern(&json!({"sampling": {"tools": {}}})) {
        let (requests, _) = asked(&party.send(&server, &party.call("ask_what_it_can", json!({}))));
        assert_eq!(requests["model"]["method"], "sampling/createMessage");
        let (requests, _) = asked(&party.send(&server, &party.call("ask_with_tools", json!({}))));
        assert_eq!(requests["model"]["params"]["tools"][0]["name"], "add");
    }
}

#[test]
fn a_stream_may_end_with_questions() {
    let (server, _askers) = asking();
    for party in Party::modern(&everything()) {
        let call = party.call_with("tell_and_ask", json!({}), |params| {
            params["_meta"]["progressToken"] = 1.into();
        });
        let mut talk = party.stream(&server, &call);
        assert_eq!(talk.message()["method"], "notifications/progress");
        let result = talk.result();
        assert_eq!(result["resultType"], "input_required");
        // Without a stream it is plain JSON, before and after a while.
        for tool in ["tell_and_ask", "wait_and_ask", "ask_blocking"] {
            let call = party.call(tool, json!({})).set("Accept", "application/json");
            let (_, state) = asked(&party.send(&server, &call));
            let alice = json!({"user_name": accept(json!({"name": "Alice"}))});
            done(&answer(&party, &server, tool, alice, Some(&state)), "Alice");
        }
    }
}

#[test]
fn a_handler_that_does_not_wait_for_the_answer_ends_its_round_with_the_question() {
    let (server, _askers) = asking();
    for party in Party::modern(&everything()) {
        asked(&party.send(&server, &party.call("ask_impatiently", json!({}))));
    }
}

#[test]
fn a_tool_may_require_parts_of_capabilities() {
    let server = Server::with(|builder| {
        builder.tool(
            twolane::tools::Typed::new("needs", "Needs.", |_: Value| async { "ok" })
                .requires("elicitation.url")
                .requires("sampling.tools"),
        )
    });
    for party in Party::modern(&json!({"elicitation": {}, "sampling": {}})) {
        let refused = party.send(&server, &party.call("needs", json!({})));
        assert_eq!((refused.status, refused.code()), (400, -32021), "{refused}");
        let required = json!({"elicitation": {"url": {}}, "sampling": {"tools": {}}});
        assert_eq!(refused.json()["error"]["data"]["requiredCapabilities"], required);
    }
    for party in Party::modern(&json!({"elicitation": {"url": {}}, "sampling": {"tools": {}}})) {
        assert_eq!(party.send(&server, &party.call("needs", json!({}))).tool_text(), "ok");
    }
    // Legacy clients are asked, or not.
    for party in Party::legacy(&server, messages::LEGACY, &json!({})) {
        assert_eq!(party.send(&server, &party.call("needs", json!({}))).tool_text(), "ok");
    }
}

/// Prompts and resources ask like tools do; nothing else may.
#[test]
fn prompts_and_resources_ask_too() {
    async fn name(context: Context) -> Result<String, HandlerError> {
        let answer = context.elicit("who", Elicitation::form("Who?", name_form())).await?;
        Ok(answer.content().map_or_else(String::new, |content| content["name"].to_string()))
    }
    let server = Server::with(|builder| {
        builder
            .prompt(Prompt::new("hello", "Says hello.", |_: PromptArguments, context: Context| async move {
                let name = name(context).await?;
                Ok::<_, HandlerError>(format!("Say hello to {name}."))
            }))
            .resource(Resource::new("test://who", "who", name))
    });
    let alice = json!({"who": accept(json!({"name": "Alice"}))});
    for party in Party::modern(&everything()) {
        for (method, target, key) in
            [("prompts/get", "name", "hello"), ("resources/read", "uri", "test://who")]
        {
            let (requests, state) =
                asked(&party.send(&server, &party.request(7, method, json!({target: key}))));
            assert_eq!(requests["who"]["method"], "elicitation/create");
            let params = json!({target: key, "inputResponses": alice, "requestState": state});
            let last = party.send(&server, &party.request(7, method, params.clone()));
            assert_eq!(last.result()["resultType"], "complete", "{last}");
            assert!(last.text().contains("Alice"), "{last}");
            let tampered = json!({target: key, "requestState": format!("{state}A")});
            assert_eq!(party.send(&server, &party.request(7, method, tampered)).code(), -32602);
        }
        let (_, state) =
            asked(&party.send(&server, &party.request(7, "prompts/get", json!({"name": "hello"}))));
        let other = json!({"uri": "test://who", "requestState": state});
        assert_eq!(party.send(&server, &party.request(7, "resources/read", other)).code(), -32602);
        // Lists take no part in it, whatever is sent along.
        for method in ["tools/list", "prompts/list", "resources/list"] {
            let params = json!({"inputResponses": alice, "requestState": "x"});
            let list = party.send(&server, &party.request(7, method, params));
            assert_eq!(list.result()["resultType"], "complete", "{list}");
        }
    }
    for party in Party::modern(&json!({})) {
        for (method, params) in
            [("prompts/get", json!({"name": "hello"})), ("resources/read", json!({"uri": "test://who"}))]
        {
            let refused = party.send(&server, &party.request(7, method, params));
            assert_eq!((refused.status, refused.code()), (400, -32021), "{refused}");
        }
    }
}

/// A task asks through itself: its client is asked by tasks/get and answers by tasks/update.
#[test]
fn tasks_ask_through_themselves() {
    let server = Server::with(|builder| {
        builder.tool(
            Typed::new("job", "Asks as a task.", |_: Value, context: Context| async move {
                tokio::task::yield_now().await;
                let answer = context.elicit("who", Elicitation::form("Who?", name_form())).await?;
                Ok::<_, ToolError>(
                    answer.content().map_or_else(String::new, |content| content["name"].to_string()),
                )
            })
            .tasks(TaskSupport::Required),
        )
    });
    let mut capabilities = everything();
    capabilities["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    for party in Party::modern(&capabilities) {
        let created = party.send(&server, &party.call("job", json!({}))).result();
        assert_eq!(created["resultType"], "task", "{created}");
        let task = created["taskId"].as_str().unwrap().to_owned();
        let get = party.request(7, "tasks/get", json!({"taskId": task})).header("Mcp-Name", &*task);
        let update = |answers: Value| {
            party
                .request(7, "tasks/update", json!({"taskId": task, "inputResponses": answers}))
                .header("Mcp-Name", &*task)
        };
        let open = || loop {
            let state = party.send(&server, &get).result();
            if let Some((key, request)) =
                state["inputRequests"].as_object().and_then(|requests| requests.iter().next())
            {
                assert_eq!(request["method"], "elicitation/create", "{state}");
                break key.clone();
            }
            assert_ne!(state["status"], "completed", "{state}");
        };
        let first = open();
        assert_eq!(first, "who");
        // What is no answer is asked for again, by a key of its own.
        party.send(&server, &update(json!({"who": accept(json!({"name": ""}))})));
        let second = open();
        assert_ne!(second, first);
        party.send(&server, &update(json!({second: accept(json!({"name": "Alice"}))})));
        let done = loop {
            let state = party.send(&server, &get).result();
            if state["status"] == "completed" {
                break state;
            }
        };
        assert_eq!(done["result"]["content"][0]["text"], "\"Alice\"", "{done}");
    }
}
