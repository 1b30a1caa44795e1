//! Questions that are longer than the server asks, and answers that are longer than it takes: on either lane, and of tasks.

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

/// Asks with a message of so many bytes, and tells why it could not.
async fn ask_at_length(args: Value, context: Context) -> String {
    let message = "m".repeat(usize::try_from(args["bytes"].as_u64().unwrap_or(0)).unwrap_or(0));
    match context.elicit("user_name", Elicitation::form(message, name_form())).await {
        Ok(answer) => answer.action().to_owned(),
        Err(error) => error.text(),
    }
}

#[test]
fn nobody_is_asked_more_than_may_be() {
    let server = Server::with(|builder| {
        builder
            .tool(Typed::new("ask_at_length", "Asks.", ask_at_length))
            .tool(Typed::new("ask_in_task", "Asks.", ask_at_length).tasks(TaskSupport::Required))
            .limits(changed(&[("question_bytes", MOST as u64)]))
    });
    // What is there beside the message.
    let [party, _] = &Party::modern(&capable())[..] else { panic!("one over each protocol") };
    let asked = party.send(&server, &party.call("ask_at_length", json!({}))).result();
    let room = MOST - asked["inputRequests"]["user_name"]["params"].to_string().len();
    let (fits, longer) = (json!({"bytes": room}), json!({"bytes": room + 1}));
    let told = |text: &str| assert!(text.contains("longer than the 2048 bytes"), "{text}");
    for party in Party::modern(&capable()) {
        let asked = party.send(&server, &party.call("ask_at_length", fits.clone())).result();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        told(&party.send(&server, &party.call("ask_at_length", longer.clone())).tool_text());
        let mut client = server.client(party.protocol);
        for (arguments, status) in [(&fits, "input_required"), (&longer, "completed")] {
            let call = of_a_user(true, "tools/call", messages::call("ask_in_task", arguments.clone()));
            let id = client.send(&call).result()["taskId"].as_str().expect("a task").to_owned();
            let state = settled(&mut client, &id);
            assert_eq!(state["status"], status, "{state}");
            if let Some(text) = state["result"]["content"][0]["text"].as_str() {
                told(text);
            }
        }
    }
    for party in Party::legacy(&server, "2025-11-25", &capable()) {
        let mut talk = party.stream(&server, &party.call("ask_at_length", fits.clone()));
        let id = talk.message()["id"].clone();
        party.respond(&server, &id, json!({"action": "decline"}));
        assert_eq!(talk.result()["content"][0]["text"], "decline");
        told(&party.send(&server, &party.call("ask_at_length", longer.clone())).tool_text());
    }
}
