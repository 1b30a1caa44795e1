//! Requests to the clients of legacy sessions: on the call's own stream, answered by a POST of the client's.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::rounds::{accept, asking, asking_with, said};
use crate::support::askers::Askers;
use crate::support::door::Keys;
use crate::support::party::{Party, Talk};
use crate::support::{Protocol, Request, Server, messages};

const REVISIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

fn everything() -> Value {
    json!({"sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": true}})
}

/// The next message, which must be a request of the server's; gives its id and its params.
#[track_caller]
fn request(talk: &mut Talk, method: &str) -> (Value, Value) {
    let mut message = talk.message();
    assert_eq!((&message["jsonrpc"], &message["method"]), (&json!("2.0"), &json!(method)), "{message}");
    assert!(message["id"].as_str().is_some_and(|id| id.len() >= 22), "{message}");
    (message["id"].take(), message["params"].take())
}

/// The text of the result that ends the stream.
#[track_caller]
fn text(talk: &mut Talk) -> String {
    let result = talk.result();
    assert!(result.get("resultType").is_none() && result.get("isError").is_none(), "{result}");
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}

/// What a call that asks nothing says in its result.
#[track_caller]
fn failed(server: &Server, party: &Party, tool: &str) -> String {
    let response = party.send(server, &party.call(tool, json!({})));
    assert_eq!((response.status, &response.result()["isError"]), (200, &json!(true)), "{response}");
    response.tool_text()
}

#[track_caller]
fn take(server: &Server, party: &Party, id: &Value, result: Value) {
    let taken = party.respond(server, id, result);
    assert_eq!((taken.status, taken.body.len()), (202, 0), "{taken}");
}

/// Waits until so many handlers have gone: their streams may end first.
#[track_caller]
fn until_gone(askers: &Askers, gone: u64) {
    let started = Instant::now();
    while askers.gone.load(Ordering::SeqCst) < gone {
        assert!(started.elapsed() < Duration::from_secs(20), "the handler is still there");
        std::thread::yield_now();
    }
    assert_eq!(askers.gone.load(Ordering::SeqCst), gone);
}

#[test]
fn forms_are_asked_where_the_revision_has_them() {
    let (server, _askers) = asking();
    for version in REVISIONS {
        for party in Party::legacy(&server, version, &everything()) {
            if version == "2025-03-26" {
                let text = failed(&server, &party, "ask_name");
                assert_eq!(text, "Version 2025-03-26 of the protocol has no elicitation");
                continue;
            }
            let mut talk = party.stream(&server, &party.call("ask_name", json!({})));
            let (id, params) = request(&mut talk, "elicitation/create");
            let mode = (version == "2025-11-25").then_some("form");
            assert_eq!(params["mode"].as_str(), mode, "{params}");
            assert_eq!(params["requestedSchema"]["required"], json!(["name"]));
            take(&server, &party, &id, accept(json!({"name": "Alice"})));
            assert_eq!(text(&mut talk), "Hello, Alice!");
        }
    }
}

#[test]
fn models_and_folders_are_asked_for_in_every_revision() {
    let (server, _askers) = asking();
    for version in REVISIONS {
        for party in Party::legacy(&server, version, &everything()) {
            let mut talk = party.stream(&server, &party.call("ask_model", json!({})));
            let (id, params) = request(&mut talk, "sampling/createMessage");
            assert_eq!(
                params,
                json!({
                    "messages": [{"role": "user", "content": {"type": "text", "text": "What is the capital?"}}],
                    "maxTokens": 100,
                })
            );
            take(&server, &party, &id, said("Paris"));
            assert_eq!(text(&mut talk), "m: Paris");

            let mut talk = party.stream(&server, &party.call("ask_roots", json!({})));
            let (id, params) = request(&mut talk, "roots/list");
            assert_eq!(params, Value::Null);
            take(&server, &party, &id, json!({"roots": [{"uri": "file:///a", "name": "A"}]}));
            assert_eq!(text(&mut talk), "file:///a");
            let changed = messages::notification("notifications/roots/list_changed");
            assert_eq!(party.send(&server, &party.post(&changed)).status, 202);
        }
    }
}

#[test]
fn pages_and_tools_came_with_2025_11_25() {
    let (server, _askers) = asking();
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        let mut talk = party.stream(&server, &party.call("ask_page", json!({})));
        let (id, params) = request(&mut talk, "elicitation/create");
        assert_eq!(
            params,
            json!({"mode": "url", "message": "Log in", "url": "https://example.com/in", "elicitationId": "in-1"})
        );
        take(&server, &party, &id, json!({"action": "accept"}));
        assert_eq!(
            talk.message(),
            json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": "in-1"}})
        );
        assert_eq!(text(&mut talk), "accept");
        let mut talk = party.stream(&server, &party.call("ask_with_tools", json!({})));
        let (id, params) = request(&mut talk, "sampling/createMessage");
        assert_eq!(params["tools"][0]["name"], "add");
        take(&server, &party, &id, said("2"));
        assert_eq!(text(&mut talk), "2");
    }
    for party in Party::legacy(&server, "2025-06-18", &everything()) {
        assert!(failed(&server, &party, "ask_page").contains("no elicitation by URL"));
        assert!(failed(&server, &party, "ask_with_tools").contains("no sampling with tools"));
    }
}

#[test]
fn capabilities_are_those_of_the_session() {
    let (server, _askers) = asking();
    for version in ["2025-06-18", "2025-11-25"] {
        for party in Party::legacy(&server, version, &json!({"elicitation": {}})) {
            assert_eq!(
                failed(&server, &party, "ask_model"),
                "The client does not declare the capability sampling"
            );
            assert!(failed(&server, &party, "ask_roots").contains("roots"));
            let mut talk = party.stream(&server, &party.call("ask_what_it_can", json!({})));
            let (id, _) = request(&mut talk, "elicitation/create");
            take(&server, &party, &id, json!({"action": "decline"}));
            assert_eq!(text(&mut talk), "decline");
        }
    }
    for party in Party::legacy(&server, "2025-11-25", &json!({"elicitation": {"url": {}}, "sampling": {}})) {
        assert!(failed(&server, &party, "ask_name").contains("elicitation.form"));
        assert!(failed(&server, &party, "ask_with_tools").contains("sampling.tools"));
        assert_eq!(
            party.send(&server, &party.call("ask_bravely", json!({}))).tool_text(),
            "Unsupported",
            "a handler may go on without an answer"
        );
    }
}

#[test]
fn several_questions_are_answered_in_any_order() {
    let (server, _askers) = asking();
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        let mut talk = party.stream(&server, &party.call("ask_all", json!({})));
        let (name, _) = request(&mut talk, "elicitation/create");
        let (model, _) = request(&mut talk, "sampling/createMessage");
        let (roots, _) = request(&mut talk, "roots/list");
        take(&server, &party, &roots, json!({"roots": []}));
        take(&server, &party, &name, accept(json!({"name": "Al"})));
        take(&server, &party, &model, said("Hi"));
        assert_eq!(text(&mut talk), "Al Hi 0");

        // One after the other in one call, which runs but once.
        let mut talk = party.stream(&server, &party.call("two_steps", json!({})));
        let (id, _) = request(&mut talk, "elicitation/create");
        take(&server, &party, &id, accept(json!({"name": "Al"})));
        let (id, _) = request(&mut talk, "elicitation/create");
        take(&server, &party, &id, accept(json!({"color": "red"})));
        assert!(text(&mut talk).starts_with("Al red effect "));
    }
}

#[test]
fn calls_side_by_side_keep_their_questions_apart() {
    let (server, _askers) = asking();
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        let mut talks = [(); 2].map(|()| party.stream(&server, &party.call("ask_name", json!({}))));
        let ids = talks.each_mut().map(|talk| request(talk, "elicitation/create").0);
        assert_ne!(ids[0], ids[1]);
        take(&server, &party, &ids[1], accept(json!({"name": "second"})));
        take(&server, &party, &ids[0], accept(json!({"name": "first"})));
        assert_eq!(text(&mut talks[0]), "Hello, first!");
        assert_eq!(text(&mut talks[1]), "Hello, second!");
    }
}

#[test]
fn reports_come_before_the_question_that_follows_them() {
    let (server, _askers) = asking();
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        let call = party.call_with("tell_and_ask", json!({}), |params| {
            params["_meta"]["progressToken"] = 1.into();
        });
        let mut talk = party.stream(&server, &call);
        assert_eq!(talk.message()["method"], "notifications/progress");
        let (id, _) = request(&mut talk, "elicitation/create");
        take(&server, &party, &id, accept(json!({"name": "Al"})));
        assert_eq!(text(&mut talk), "Al");
    }
}

#[test]
fn answers_that_are_none() {
    let (server, _askers) = asking();
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        for bad in [
            json!({}),
            json!({"action": "maybe"}),
            accept(json!({"name": 5})),
            accept(json!({})),
            json!({"roots": []}),
        ] {
            let mut talk = party.stream(&server, &party.call("ask_bravely", json!({})));
            let (id, _) = request(&mut talk, "elicitation/create");
            take(&server, &party, &id, bad.clone());
            assert_eq!(text(&mut talk), "InvalidAnswer", "{bad}");
        }
        let mut talk = party.stream(&server, &party.call("ask_name", json!({})));
        let (id, _) = request(&mut talk, "elicitation/create");
        let error = json!({"code": -1, "message": "User rejected"});
        let refused = party.post(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
        assert_eq!(party.send(&server, &refused).status, 202);
        let result = talk.result();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], "The client answered with error -1: User rejected");
    }
}

#[test]
fn answers_that_nobody_waits_for_are_dropped() {
    let (server, _askers) = asking();
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        let mut talk = party.stream(&server, &party.call("ask_name", json!({})));
        let (id, _) = request(&mut talk, "elicitation/create");
        for strange in [json!("x"), json!(7), json!(""), json!("A".repeat(22)), json!(format!("{}A", id))] {
            take(&server, &party, &strange, accept(json!({"name": "Mallory"})));
        }
        // Another session knows the id and may not use it.
        let other = Party::open(&server, party.protocol, "2025-11-25", &everything(), None);
        take(&server, &other, &id, accept(json!({"name": "Mallory"})));
        take(&server, &party, &id, accept(json!({"name": "Alice"})));
        assert_eq!(text(&mut talk), "Hello, Alice!");
        // It was answered, and the call is over.
        take(&server, &party, &id, accept(json!({"name": "Mallory"})));
    }
}

#[test]
fn a_session_is_answered_by_its_principal_alone() {
    let askers = Askers::default();
    let server = Server::with(|builder| askers.register(builder).authenticator(Keys::default()));
    for protocol in Protocol::BOTH {
        let alice = Party::open(&server, protocol, "2025-11-25", &everything(), Some("alice"));
        let bob = Party { token: Some("bob"), ..alice.clone() };
        let mut talk = alice.stream(&server, &alice.call("ask_name", json!({})));
        let (id, _) = request(&mut talk, "elicitation/create");
        assert_eq!(bob.respond(&server, &id, accept(json!({"name": "Bob"}))).status, 404);
        take(&server, &alice, &id, accept(json!({"name": "Alice"})));
        assert_eq!(text(&mut talk), "Hello, Alice!");
    }
}

#[test]
fn a_client_that_takes_no_stream_is_not_asked() {
    let (server, _askers) = asking();
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        let started = Instant::now();
        let call = party.call("ask_bravely", json!({})).set("Accept", "application/json");
        assert_eq!(party.send(&server, &call).tool_text(), "NoStream");
        assert!(started.elapsed() < Duration::from_secs(4), "not after the push window");
    }
}

#[test]
fn a_session_that_is_not_ready_is_not_asked() {
    let (server, _askers) = asking();
    for mut party in Party::legacy(&server, "2025-11-25", &everything()) {
        let initialize = json!({
            "protocolVersion": "2025-11-25", "capabilities": everything(), "clientInfo": {"name": "wire", "version": "1"},
        });
        let opened = server.send(&Request::post(messages::request(0, "initialize", initialize).to_string()));
        party.session = Some(opened.header("mcp-session-id").expect("a session").to_owned());
        let call = party.call("ask_bravely", json!({}));
        assert_eq!(party.send(&server, &call).tool_text(), "NotReady");
        let ready = party.post(&messages::notification("notifications/initialized"));
        assert_eq!(party.send(&server, &ready).status, 202);
        let mut talk = party.stream(&server, &call);
        request(&mut talk, "elicitation/create");
    }
}

#[test]
fn answers_have_their_time() {
    let (server, _askers) = asking_with(&[("answer_timeout", 30)]);
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        let mut talk = party.stream(&server, &party.call("ask_bravely", json!({})));
        let (id, _) = request(&mut talk, "elicitation/create");
        let cancelled = talk.message();
        assert_eq!(cancelled["method"], "notifications/cancelled", "{cancelled}");
        assert_eq!(cancelled["params"]["requestId"], id, "on the same stream, so that the dialog is closed");
        assert_eq!(text(&mut talk), "TimedOut");
        take(&server, &party, &id, accept(json!({"name": "too late"})));
    }
}

#[test]
fn the_clients_time_is_not_the_tools() {
    let (server, _askers) = asking_with(&[("tool_timeout", 40)]);
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        let mut talk = party.stream(&server, &party.call("ask_name", json!({})));
        let (id, _) = request(&mut talk, "elicitation/create");
        std::thread::sleep(Duration::from_millis(130));
        take(&server, &party, &id, accept(json!({"name": "Alice"})));
        assert_eq!(text(&mut talk), "Hello, Alice!");
        let slow = party.send(&server, &party.call("sleep", json!({"ms": 5_000})));
        assert_eq!(slow.result()["isError"], true, "the tool's own time still counts: {slow}");
    }
}

#[test]
fn a_question_that_is_dropped_is_taken_back() {
    let (server, _askers) = asking();
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        let mut talk = party.stream(&server, &party.call("ask_impatiently", json!({})));
        let (id, _) = request(&mut talk, "elicitation/create");
        let cancelled = talk.message();
        assert_eq!(
            (&cancelled["method"], &cancelled["params"]["requestId"]),
            (&json!("notifications/cancelled"), &id)
        );
        assert_eq!(text(&mut talk), "no patience");
    }
}

#[test]
fn as_many_requests_wait_as_may() {
    let (server, _askers) = asking_with(&[("server_requests", 2)]);
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        let mut first = party.stream(&server, &party.call("ask_name", json!({})));
        let (one, _) = request(&mut first, "elicitation/create");
        let mut second = party.stream(&server, &party.call("ask_name", json!({})));
        let (two, _) = request(&mut second, "elicitation/create");
        assert_eq!(party.send(&server, &party.call("ask_bravely", json!({}))).tool_text(), "TooMany");
        // Another session has its own.
        let other = Party::open(&server, party.protocol, "2025-11-25", &everything(), None);
        let mut third = other.stream(&server, &other.call("ask_name", json!({})));
        request(&mut third, "elicitation/create");
        take(&server, &party, &one, accept(json!({"name": "Al"})));
        assert_eq!(text(&mut first), "Hello, Al!");
        let mut fourth = party.stream(&server, &party.call("ask_name", json!({})));
        let (four, _) = request(&mut fourth, "elicitation/create");
        for (id, talk) in [(two, &mut second), (four, &mut fourth)] {
            take(&server, &party, &id, accept(json!({"name": "Al"})));
            assert_eq!(text(talk), "Hello, Al!");
        }
    }
}

#[test]
fn a_session_that_ends_leaves_nobody_waiting() {
    let (server, askers) = asking();
    for (ended, party) in (1..).zip(Party::legacy(&server, "2025-11-25", &everything())) {
        let mut talk = party.stream(&server, &party.call("ask_name", json!({})));
        request(&mut talk, "elicitation/create");
        let session = party.session.clone().unwrap();
        assert_eq!(party.send(&server, &Request::delete().session(&session)).status, 200);
        // With a result that says so or without one: the stream ends, and the handler goes.
        while talk.next().is_some() {}
        server.wait_until("the handler is gone", |_| askers.gone.load(Ordering::SeqCst) == ended);
    }
}

#[test]
fn handlers_that_block_ask_too() {
    let (server, _askers) = asking();
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        let mut talk = party.stream(&server, &party.call("ask_blocking", json!({})));
        let (id, _) = request(&mut talk, "elicitation/create");
        take(&server, &party, &id, accept(json!({"name": "Al"})));
        assert_eq!(text(&mut talk), "Al");
    }
}

#[test]
fn batches_ask_and_answer() {
    let (server, _askers) = asking();
    for party in Party::legacy(&server, "2025-03-26", &everything()) {
        let call = |id: i64| messages::request(id, "tools/call", messages::call("ask_roots", json!({})));
        let mut talk = party.stream(&server, &party.post(&json!([call(1), call(2)])));
        let answers = [(); 2].map(|()| {
            let (id, _) = request(&mut talk, "roots/list");
            json!({"jsonrpc": "2.0", "id": id, "result": {"roots": [{"uri": "file:///a"}]}})
        });
        assert_eq!(party.send(&server, &party.post(&json!(answers))).status, 202);
        let results = talk.message();
        for (at, id) in [1, 2].into_iter().enumerate() {
            assert_eq!(results[at]["id"], id, "{results}");
            assert_eq!(results[at]["result"]["content"][0]["text"], "file:///a", "{results}");
        }
        assert!(talk.next().is_none());
    }
}

/// A client that loses its connection comes back for the question, and answers it.
#[test]
fn a_question_is_there_for_a_client_that_comes_back() {
    let (server, _askers) = asking();
    for party in Party::legacy(&server, "2025-11-25", &everything()) {
        let mut first = server.http1();
        first.write(&party.call("ask_name", json!({})).bytes());
        assert_eq!(first.read_head().status, 200);
        let primed = first.next_event().expect("a priming event");
        let asked = first.next_event().expect("the question");
        drop(first);
        let id = asked.json()["id"].take();
        let again = Request::get()
            .session(party.session.as_deref().unwrap())
            .header("Last-Event-ID", primed.id.expect("an id"));
        let mut talk = Talk::start(server.client(party.protocol), &again);
        assert_eq!(request(&mut talk, "elicitation/create").0, id, "the same question");
        take(&server, &party, &id, accept(json!({"name": "Alice"})));
        assert_eq!(text(&mut talk), "Hello, Alice!");
    }
}

/// Where nothing is kept for a client that has gone, it is not asked, and the call goes on without the answer.
#[test]
fn a_client_that_has_gone_is_not_asked() {
    let (server, askers) = asking_with(&[("half_close_grace", 0)]);
    for (gone, party) in (1..).zip(Party::legacy(&server, "2025-11-25", &everything())) {
        match server.client(party.protocol) {
            crate::support::Client::Http1(mut client) => {
                client.write(&party.call("ask_when_let", json!({})).bytes());
                while askers.rounds.load(Ordering::SeqCst) < gone {}
                drop(client);
            }
            crate::support::Client::Http2(mut client) => {
                let stream = client.start(&party.call("ask_when_let", json!({})));
                while askers.rounds.load(Ordering::SeqCst) < gone {
                    client.turn();
                }
                client.reset(stream);
                drop(client);
            }
        }
        // Whether the server has seen that it is gone shows nowhere, so the handler waits a little before it asks.
        until_gone(&askers, gone);
    }
    assert_eq!(*askers.told.lock().unwrap(), ["NoStream", "NoStream"]);
}

/// A call that its client cancels asks no more, and what it has asked is nobody's.
#[test]
fn a_cancelled_call_waits_for_no_answer() {
    let (server, askers) = asking_with(&[("server_requests", 1)]);
    for (gone, party) in (1..).step_by(2).zip(Party::legacy(&server, "2025-11-25", &everything())) {
        let mut talk = party.stream(&server, &party.call("ask_name", json!({})));
        let (first, _) = request(&mut talk, "elicitation/create");
        let mut cancel = messages::notification("notifications/cancelled");
        cancel["params"] = json!({"requestId": 7, "reason": "no more"});
        assert_eq!(party.send(&server, &party.post(&cancel)).status, 202);
        while let Some(message) = talk.next() {
            assert!(message.get("result").is_none(), "{message}");
        }
        until_gone(&askers, gone);
        take(&server, &party, &first, accept(json!({"name": "too late"})));
        let mut talk = party.stream(&server, &party.call("ask_name", json!({})));
        let (second, _) = request(&mut talk, "elicitation/create");
        take(&server, &party, &second, accept(json!({"name": "Al"})));
        assert_eq!(text(&mut talk), "Hello, Al!", "its place is free again");
    }
}

/// Nothing brings an answer to a server that stops: whoever waits for one is told, and the call ends well within the grace.
#[test]
fn who_waits_for_an_answer_does_not_hold_the_server_up() {
    for protocol in Protocol::BOTH {
        let (server, askers) = asking();
        let party = Party::open(&server, protocol, "2025-11-25", &everything(), None);
        let mut talks = [(); 2].map(|()| party.stream(&server, &party.call("ask_bravely", json!({}))));
        for talk in &mut talks {
            request(talk, "elicitation/create");
        }
        // One that asks after the server has begun to stop.
        let mut late = server.http1();
        late.write(&party.call("ask_when_let", json!({})).bytes());
        let started = Instant::now();
        while askers.rounds.load(Ordering::SeqCst) == 0 {
            assert!(started.elapsed() < Duration::from_secs(20), "it never begins");
            std::thread::yield_now();
        }
        server.handle.shut_down();
        for talk in &mut talks {
            assert_eq!(text(talk), "Stopping");
        }
        until_gone(&askers, 1);
        assert_eq!(*askers.told.lock().unwrap(), ["Stopping"], "nor is anybody asked any more");
        assert_eq!(late.read("POST").status, 200);
    }
}
