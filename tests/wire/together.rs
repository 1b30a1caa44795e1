//! Batches over time: calls that run beside each other, and the gate of a session that is not ready. The rest is told in `batches`.

use serde_json::{Value, json};

use crate::support::{Protocol, Request, Response, Server, messages};

const OLDEST: &str = "2025-03-26";

/// A session of this version that is ready.
fn session(server: &Server, version: &str) -> String {
    let session = server.open_session(version);
    let ready = messages::legacy(&session, &messages::notification("notifications/initialized"));
    assert_eq!(server.send(&ready.set("MCP-Protocol-Version", version)).status, 202);
    session
}

fn in_session(session: &str, batch: &Value) -> Request {
    messages::legacy(session, batch).set("MCP-Protocol-Version", OLDEST)
}

fn ping(id: impl Into<Value>) -> Value {
    messages::request(id, "ping", Value::Null)
}

fn call(id: u64, tool: &str, arguments: Value) -> Value {
    messages::request(id, "tools/call", messages::call(tool, arguments))
}

/// The answers, which must be an array.
#[track_caller]
fn answers(response: &Response) -> Vec<Value> {
    assert_eq!(response.status, 200, "{response}");
    response.json().as_array().unwrap_or_else(|| panic!("no array: {response}")).clone()
}

#[test]
fn calls_that_take_time() {
    let server = Server::start();
    let session = session(&server, OLDEST);
    for (at, protocol) in (1..).zip(Protocol::BOTH) {
        let batch = json!([
            call(1, "gate", json!({})),
            ping(2),
            call(3, "sleep", json!({"ms": 1})),
            call(4, "gate", json!({})),
            call(5, "panic", json!({})),
        ]);
        std::thread::scope(|scope| {
            let sent = scope.spawn(|| server.client(protocol).send(&in_session(&session, &batch)));
            server.tools.gate.await_begun(2 * at);
            server.tools.gate.open(2);
            let answers = answers(&sent.join().unwrap());
            let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
            assert_eq!(ids, [1, 2, 3, 4, 5]);
            assert_eq!(answers[0]["result"]["content"][0]["text"], "let go");
            assert_eq!(answers[4]["result"]["isError"], true);
        });
    }
}

#[test]
fn before_it_is_ready() {
    let server = Server::start();
    let session = server.open_session(OLDEST);
    let batch = json!([
        ping(1),
        messages::request(2, "prompts/list", Value::Null),
        messages::notification("notifications/initialized"),
        messages::request(3, "prompts/list", Value::Null),
    ]);
    let answers = answers(&server.send(&in_session(&session, &batch)));
    let told: Vec<Option<i64>> = answers.iter().map(|answer| answer["error"]["code"].as_i64()).collect();
    assert_eq!(told, [None, Some(-32600), None]);
    assert_eq!(answers[2]["result"], json!({"prompts": []}));
}
