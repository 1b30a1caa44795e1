//! Answers to the server's questions that are longer than it takes, on either lane and from a task's client.

use serde_json::{Value, json};
use twolane::tools::{Context, Elicitation, TaskSupport, Typed};

use crate::limits::changed;
use crate::rounds::{accept, asking_with};
use crate::support::askers::{Askers, name_form};
use crate::support::party::Party;
use crate::support::{Protocol, Server, messages};
use crate::tasks::{of_a_user, settled};

const MOST: usize = 2048;

/// An answer that has so many bytes as JSON, and the name in it.
fn answer(bytes: usize) -> (Value, String) {
    let name = "n".repeat(bytes - accept(json!({"name": ""})).to_string().len());
    let answer = accept(json!({"name": name}));
    assert_eq!(answer.to_string().len(), bytes);
    (answer, name)
}

/// Answers around the limit, and what the tool says then.
fn around() -> [(Value, String); 3] {
    let (longer, _) = answer(MOST + 1);
    [answer(MOST - 1), answer(MOST), (longer, "InvalidAnswer".to_owned())]
}

fn capable() -> Value {
    json!({"elicitation": {}})
}

#[test]
fn a_later_round_brings_no_more_than_is_taken() {
    let (server, _askers) = asking_with(&[("answer_bytes", MOST as u64)]);
    for party in Party::modern(&capable()) {
        let call = |answers: Value| {
            let call = party.call_with("ask_bravely", json!({}), |params| params["inputResponses"] = answers);
            party.send(&server, &call)
        };
        for (given, said) in around() {
            assert_eq!(call(json!({"user_name": given})).tool_text(), said);
            // Beside another one, which takes its part of the bytes.
            let both = call(json!({"other": {"action": "cancel"}, "user_name": given}));
            assert_eq!(both.tool_text(), "InvalidAnswer");
        }
        // What nobody asked for takes nothing from what somebody did.
        let (short, name) = answer(100);
        let (longer, _) = answer(MOST + 1);
        for answers in
            [json!({"extra": longer, "user_name": short}), json!({"user_name": short, "extra": longer})]
        {
            assert_eq!(call(answers).tool_text(), name);
        }
        // Nor is anybody asked again and again for an answer that is too long for them.
        let refused = party.call_with("ask_name", json!({}), |params| {
            params["inputResponses"] = json!({"user_name": longer});
        });
        let text = party.send(&server, &refused).tool_text();
        assert!(text.contains("longer than the 2048 bytes"), "{text}");
    }
}

#[test]
fn the_client_of_a_session_answers_no_longer_than_is_taken() {
    let (server, _askers) = asking_with(&[("answer_bytes", MOST as u64)]);
    for party in Party::legacy(&server, "2025-11-25", &capable()) {
        for (given, said) in around() {
            let mut talk = party.stream(&server, &party.call("ask_bravely", json!({})));
            let id = talk.message()["id"].clone();
            let taken = party.respond(&server, &id, given);
            assert_eq!((taken.status, taken.body.len()), (202, 0), "{taken}");
            assert_eq!(talk.result()["content"][0]["text"], said);
        }
    }
}

#[test]
fn the_client_of_a_task_answers_no_longer_than_is_taken() {
    let server = Server::with(|builder| {
        let asks = Typed::new("ask_in_task", "Asks.", |_: Value, context: Context| async move {
            match context.elicit("user_name", Elicitation::form("Who?", name_form())).await {
                Ok(answer) => answer.content().map_or(Value::Null, |content| content["name"].clone()),
                Err(error) => error.text().into(),
            }
            .to_string()
        });
        Askers::default()
            .register(builder)
            .tool(asks.tasks(TaskSupport::Required))
            .limits(changed(&[("answer_bytes", MOST as u64)]))
    });
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for (given, said) in around() {
            let created =
                client.send(&of_a_user(true, "tools/call", messages::call("ask_in_task", json!({}))));
            let id = created.result()["taskId"].as_str().expect("a task").to_owned();
            let mut asked = 0;
            let done = loop {
                let state = settled(&mut client, &id);
                let Some(questions) = state["inputRequests"].as_object() else { break state };
                asked += 1;
                let key = questions.keys().next().expect("a question");
                let update = json!({"taskId": id, "inputResponses": {key: given}});
                assert_eq!(client.send(&of_a_user(true, "tasks/update", update)).status, 200);
            };
            let text = done["result"]["content"][0]["text"].as_str().expect("a text");
            match &*said {
                // What is no answer is asked again, but not for ever.
                "InvalidAnswer" => {
                    assert!(text.contains("longer than the 2048 bytes"), "{text}");
                    assert_eq!(asked, 3);
                }
                name => assert_eq!((text, asked), (&*format!("{name:?}"), 1)),
            }
        }
    }
}
