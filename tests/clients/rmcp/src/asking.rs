//! The server asks the client: elicitation, sampling, roots, on a stream of the call or by `input_required`.

use std::time::Duration;

use futures::future::join_all;
use rmcp::ServiceError;
use rmcp::model::{CallToolResponse, GetPromptRequestParams, ProtocolVersion};
use serde_json::{Value, json};

use crate::peer::{ELICIT, Peer, ROOTS, SAMPLE, refused, request};
use crate::steps::{at, step};

const AT_ONCE: Duration = Duration::ZERO;

fn user() -> Value {
    json!({"username": "testuser", "email": "test@example.com"})
}

fn accept(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

fn says(words: &str) -> Value {
    json!({"role": "assistant", "model": "test-model", "content": {"type": "text", "text": words}})
}

/// Something of the right type for every property.
fn filled_in(params: &Value) -> Value {
    let properties = at(params, "/requestedSchema/properties").as_object().expect("properties");
    let value = |schema: &Value| match schema["type"].as_str() {
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(1),
        _ => json!("Alice"),
    };
    accept(properties.iter().map(|(name, schema)| (name.clone(), value(schema))).collect())
}

pub async fn elicitation(peer: &Peer) {
    step(peer.step_name("is asked for input and gives it"), async {
        peer.will_answer(ELICIT, |_| (AT_ONCE, accept(user())));
        let words = peer.call("test_elicitation", json!({"message": "Who are you?"})).await;
        let asked = peer.take_asked();
        assert!(asked.len() == 1 && asked[0].1["message"] == "Who are you?", "{asked:?}");
        assert_eq!(at(&asked[0].1, "/requestedSchema/properties/username/type"), "string", "{asked:?}");
        for part in ["action=accept", "testuser", "test@example.com"] {
            assert!(words.contains(part), "{words}");
        }
    })
    .await;
    step(peer.step_name("declines, and dismisses"), async {
        for action in ["decline", "cancel"] {
            peer.will_answer(ELICIT, move |_| (AT_ONCE, json!({"action": action})));
            let words = peer.call("test_elicitation", json!({"message": "Well?"})).await;
            assert!(words.contains(&format!("action={action}")), "{words}");
        }
        peer.take_asked();
    })
    .await;
    step(peer.step_name("is offered defaults and choices as its revision knows them"), async {
        let newer = peer.version >= ProtocolVersion::V_2025_11_25;
        let filled =
            json!({"name": "John Doe", "age": 30, "score": 88, "status": "active", "verified": true});
        peer.will_answer(ELICIT, move |_| (AT_ONCE, accept(filled.clone())));
        peer.call("test_elicitation_sep1034_defaults", Value::Null).await;
        let asked = peer.take_asked();
        let properties = at(&asked[0].1, "/requestedSchema/properties").as_object().expect("properties");
        let defaults: Value = properties
            .iter()
            .filter(|(_, schema)| !schema["default"].is_null())
            .map(|(name, schema)| (name.clone(), schema["default"].clone()))
            .collect();
        let all = json!({"name": "John Doe", "age": 30, "score": 95.5, "status": "active", "verified": true});
        assert_eq!(defaults, if newer { all } else { json!({"verified": true}) });
        choices(peer, newer).await;
    })
    .await;
    step(peer.step_name("answers many questions at once, the last first: each call gets its own"), async {
        const COUNT: u64 = 12;
        peer.will_answer(ELICIT, |params| {
            let number: u64 = params["message"].as_str().expect("a message").parse().expect("a number");
            let content = json!({"username": format!("user {number}"), "email": "test@example.com"});
            (Duration::from_millis(20 * (COUNT - number)), accept(content))
        });
        let calls = (0..COUNT).map(|i| peer.call("test_elicitation", json!({"message": i.to_string()})));
        for (i, words) in join_all(calls).await.into_iter().enumerate() {
            assert!(words.contains(&format!("user {i}\"")), "{i}: {words}");
        }
        peer.take_asked();
    })
    .await;
}

/// Choosing several came with 2025-11-25: where it cannot be asked, the tool fails and nothing is asked.
async fn choices(peer: &Peer, known: bool) {
    peer.will_answer(ELICIT, |params| {
        let choice = |pointer: &str| at(at(params, "/requestedSchema/properties"), pointer).clone();
        let content = json!({
            "untitledSingle": choice("/untitledSingle/enum/0"),
            "titledSingle": choice("/titledSingle/oneOf/0/const"),
            "legacyEnum": choice("/legacyEnum/enum/0"),
            "untitledMulti": [choice("/untitledMulti/items/enum/0")],
            "titledMulti": [choice("/titledMulti/items/anyOf/0/const")],
        });
        (AT_ONCE, accept(content))
    });
    let result = peer.try_call("test_elicitation_sep1330_enums", Value::Null, None).await.expect("a result");
    assert_eq!(result.is_error == Some(true), !known, "{result:?}");
    assert_eq!(peer.take_asked().len(), usize::from(known));
}

/// Elicitation came with 2025-06-18: before, the tool fails and nothing is asked, whatever the client declared.
pub async fn no_elicitation(peer: &Peer) {
    step(peer.step_name("is not asked what its revision does not know"), async {
        let outcome = peer.try_call("test_elicitation", json!({"message": "Well?"}), None).await;
        assert_eq!(outcome.expect("a result").is_error, Some(true));
        assert!(peer.take_asked().is_empty());
    })
    .await;
}

pub async fn sampling(peer: &Peer) {
    step(peer.step_name("is asked for a completion and gives it"), async {
        let words = "It is 42.\u{2028}\"Really.\"";
        peer.will_answer(SAMPLE, move |_| (AT_ONCE, says(words)));
        let got = peer.call("test_sampling", json!({"prompt": "What is it?"})).await;
        assert_eq!(got, format!("LLM response: {words}"));
        let asked = peer.take_asked();
        assert!(asked.len() == 1 && asked[0].1["maxTokens"] == 100, "{asked:?}");
        assert_eq!(at(&asked[0].1, "/messages/0/role"), "user", "{asked:?}");
    })
    .await;
    step(peer.step_name("refuses: the call fails, and the next one works"), async {
        peer.will_answer(SAMPLE, |_| (AT_ONCE, json!("The user said no.")));
        let outcome = peer.try_call("test_sampling", json!({"prompt": "Please?"}), None).await;
        if peer.modern {
            assert!(
                matches!(&outcome, Err(ServiceError::McpError(error)) if error.message.contains("said no")),
                "{outcome:?}"
            );
        } else {
            // The server learns of it, and the tool fails.
            assert_eq!(outcome.expect("a result").is_error, Some(true));
        }
        assert_eq!(peer.call("greet", json!({"name": "next"})).await, "Hello, next!");
        peer.take_asked();
    })
    .await;
}

pub async fn roots(peer: &Peer) {
    step(peer.step_name("is asked for its roots and gives them"), async {
        let uri = "file:///home/you/project";
        peer.will_answer(ROOTS, move |_| (AT_ONCE, json!({"roots": [{"uri": uri, "name": "project"}]})));
        let words = peer.call("test_input_required_result_list_roots", Value::Null).await;
        assert!(words.contains(uri), "{words}");
        let asked: Vec<&str> = peer.take_asked().iter().map(|(method, _)| *method).collect();
        assert_eq!(asked, [ROOTS]);
    })
    .await;
}

fn answers_everything(peer: &Peer) {
    peer.will_answer(ELICIT, |params| (AT_ONCE, filled_in(params)));
    peer.will_answer(SAMPLE, |_| (AT_ONCE, says("Sampled.")));
    peer.will_answer(ROOTS, |_| (AT_ONCE, json!({"roots": []})));
    peer.take_asked();
}

fn assert_asked(peer: &Peer, expected: &[&str]) {
    let mut methods: Vec<&str> = peer.take_asked().iter().map(|(method, _)| *method).collect();
    methods.sort_unstable();
    assert_eq!(methods, expected);
}

/// What only the modern lane has: several rounds, several questions at once, a state that travels.
pub async fn rounds(peer: &Peer) {
    step(peer.step_name("answers in one round, in two, and three questions at once"), async {
        answers_everything(peer);
        for (tool, expected) in [
            ("test_input_required_result_elicitation", [ELICIT].as_slice()),
            ("test_input_required_result_sampling", &[SAMPLE]),
            ("test_input_required_result_request_state", &[ELICIT]),
            ("test_input_required_result_multiple_inputs", &[ELICIT, ROOTS, SAMPLE]),
            ("test_input_required_result_multi_round", &[ELICIT, ELICIT]),
            ("test_input_required_result_tampered_state", &[ELICIT]),
            ("test_input_required_result_capabilities", &[ELICIT, ROOTS, SAMPLE]),
            ("test_streaming_elicitation", &[ELICIT]),
        ] {
            assert!(!peer.call(tool, Value::Null).await.is_empty(), "{tool}");
            assert_asked(peer, expected);
        }
        let prompt = GetPromptRequestParams::new("test_input_required_result_prompt");
        let result = peer.client.get_prompt(prompt).await.expect("a prompt");
        assert!(!result.messages.is_empty());
        assert_asked(peer, &[ELICIT]);
    })
    .await;
    step(peer.step_name("brings a state that was tampered with: -32602"), async {
        let tool = "test_input_required_result_tampered_state";
        let first = peer.client.call_tool_once(request(tool, json!({}), None)).await.expect("questions");
        let CallToolResponse::InputRequired(questions) = first else { panic!("no questions: {first:?}") };
        let state = questions.request_state.expect("a state");
        let mut responses = serde_json::Map::new();
        for (key, question) in questions.input_requests.expect("questions") {
            let question = serde_json::to_value(question).expect("JSON");
            responses.insert(key, filled_in(&question["params"]));
        }
        let responses: rmcp::model::InputResponses =
            serde_json::from_value(Value::Object(responses)).expect("responses");
        let with = |state: String| {
            request(tool, json!({}), None).with_input_responses(responses.clone()).with_request_state(state)
        };
        let (head, tail) = state.split_at(state.len() - 8);
        let flipped = format!("{head}{}{}", if tail.starts_with('A') { 'B' } else { 'A' }, &tail[1..]);
        for tampered in [flipped, head.to_owned(), "no state at all".to_owned()] {
            let error = refused(peer.client.call_tool_once(with(tampered)).await);
            assert_eq!(error.code.0, -32602, "{error:?}");
        }
        let done = peer.client.call_tool_once(with(state)).await.expect("a result");
        assert!(matches!(done, CallToolResponse::Complete(_)), "{done:?}");
    })
    .await;
}

/// A client that declared nothing: a tool that must ask it fails, whatever the era.
pub async fn nothing_declared(peer: &Peer) {
    step(peer.step_name("declared nothing, is asked nothing"), async {
        for (tool, arguments) in
            [("test_sampling", json!({"prompt": "x"})), ("test_elicitation", json!({"message": "x"}))]
        {
            let outcome = peer.try_call(tool, arguments, None).await;
            if peer.modern {
                let error = refused(outcome);
                assert_eq!(error.code.0, -32021, "{error:?}");
                assert!(error.data.is_some_and(|data| data["requiredCapabilities"].is_object()));
            } else {
                assert_eq!(outcome.expect("a result").is_error, Some(true));
            }
        }
        assert!(peer.take_asked().is_empty());
    })
    .await;
}
