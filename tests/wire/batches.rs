//! Several messages in one body: served in sessions of 2025-03-26, refused as a whole everywhere else.

use serde_json::{Value, json};
use twolane::tables::rejection::Rejection::{self, *};

use crate::support::{Framing, Protocol, Request, Response, Server, messages};

fn ping(id: impl Into<Value>) -> Value {
    messages::request(id, "ping", Value::Null)
}

fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    messages::request(id, "tools/call", messages::call(tool, arguments))
}

/// A session of 2025-03-26 that is ready.
fn session(server: &Server) -> String {
    let id = server.open_session("2025-03-26");
    let ready = messages::notification("notifications/initialized").to_string();
    assert_eq!(server.send(&Request::post(ready).header("Mcp-Session-Id", &id)).status, 202);
    id
}

fn post(session: &str, batch: &Value) -> Request {
    Request::post(batch.to_string()).header("Mcp-Session-Id", session)
}

/// The answers of a batch, each by its id.
#[track_caller]
fn answers(response: &Response) -> Vec<Value> {
    assert_eq!(response.status, 200, "{response}");
    response.json().as_array().unwrap_or_else(|| panic!("no array: {response}")).clone()
}

#[test]
fn every_message_is_answered() {
    let server = Server::start();
    let session = session(&server);
    let batch = json!([
        ping(1),
        messages::notification("notifications/cancelled"),
        call("two", "echo", json!({"message": "m"})),
        {"jsonrpc": "2.0", "id": 3, "result": {}},
        messages::request(4, "nope", Value::Null),
        call(5, "sleep", json!({"ms": 0})),
        call(6, "add", json!({"a": 1, "b": 2})),
        messages::request(7, "tools/list", Value::Null),
    ]);
    for protocol in Protocol::BOTH {
        for framing in [Framing::Length, Framing::Chunks(50)] {
            let response = server.client(protocol).send(&post(&session, &batch).framing(framing));
            let answers = answers(&response);
            let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
            // The order is free by the specification; here it is the messages' own.
            assert_eq!(ids, [json!(1), json!("two"), json!(4), json!(5), json!(6), json!(7)]);
            assert_eq!(answers[0]["result"], json!({}));
            assert_eq!(answers[1]["result"]["content"][0]["text"], "m");
            assert_eq!(answers[2]["error"]["code"], -32601);
            assert_eq!(answers[3]["result"]["content"][0]["text"], "done");
            assert!(answers[4]["result"].get("structuredContent").is_none(), "2025-03-26 has none");
            assert!(answers[5]["result"]["tools"].is_array());
        }
    }
}

#[test]
fn what_needs_no_answer_gets_202() {
    let server = Server::start();
    let session = session(&server);
    let batch = json!([
        messages::notification("notifications/cancelled"),
        {"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "m"}},
    ]);
    for protocol in Protocol::BOTH {
        let response = server.client(protocol).send(&post(&session, &batch));
        assert_eq!((response.status, response.body.len()), (202, 0), "{response}");
    }
}

/// Each element meets the road from `classify` on, and its refusal is one of the answers.
#[test]
fn an_element_is_refused_alone() {
    let server = Server::start();
    let session = session(&server);
    let mut old = ping(3);
    old["jsonrpc"] = "1.0".into();
    let batch = json!([ping(1), 42, {"jsonrpc": "2.0", "id": null, "method": "ping"}, old, [], call(5, "count", json!({}))]);
    for protocol in Protocol::BOTH {
        let before = server.met();
        server.told.take();
        let response = server.client(protocol).send(&post(&session, &batch));
        let codes: Vec<_> = answers(&response)
            .iter()
            .map(|answer| (answer["id"].clone(), answer["error"]["code"].as_i64()))
            .collect();
        let refused = Some(-32600);
        assert_eq!(
            codes,
            [
                (json!(1), None),
                (json!(null), refused),
                (json!(null), refused),
                (json!(3), refused),
                (json!(null), refused),
                (json!(5), None),
            ]
        );
        assert_eq!(server.met_since(&before), [InvalidId, InvalidMessage, InvalidMessage, InvalidMessage]);
        assert_eq!(server.told.take_rejections().len(), 4, "each is told");
    }
    assert_eq!(server.tools.runs(), 2);
}

/// Nothing of a batch that is refused as a whole is run.
#[test]
fn a_batch_that_is_refused_as_a_whole() {
    let server = Server::start();
    let old = session(&server);
    let unready = server.open_session("2025-03-26");
    let [middle, new] = ["2025-06-18", "2025-11-25"].map(|version| server.open_session(version));
    let count = || call(1, "count", json!({}));
    let many = |messages: usize| Value::Array(vec![count(); messages]);
    let initialize: Value = serde_json::from_slice(&messages::initialize("2025-03-26").body).unwrap();
    let plain = |session: &str, batch: &Value| post(session, batch);
    let cases: Vec<(&str, Request, Rejection)> = vec![
        ("empty", plain(&old, &json!([])), InvalidMessage),
        ("101 messages", plain(&old, &many(101)), InvalidMessage),
        ("initialize", plain(&old, &json!([count(), initialize])), InvalidMessage),
        ("another revision", plain(&middle, &json!([count()])), InvalidMessage),
        ("the newest revision", plain(&new, &json!([count()])), InvalidMessage),
        ("no session", Request::post(json!([count()]).to_string()), InvalidMessage),
        (
            "the modern lane",
            plain(&old, &json!([count()])).header("MCP-Protocol-Version", "2026-07-28"),
            InvalidMessage,
        ),
        ("no object either", plain(&old, &json!("text")), InvalidMessage),
        (
            "a key twice",
            Request {
                body: format!("[{},{}]", count(), r#"{"id":1,"id":2}"#).into(),
                ..plain(&old, &json!([]))
            },
            MalformedJson,
        ),
    ];
    for (name, request, row) in &cases {
        for protocol in Protocol::BOTH {
            let before = server.met();
            let response = server.client(protocol).send(request);
            assert_eq!(server.met_since(&before), [*row], "{name}: {response}");
            assert_eq!(response.status, 400, "{name}: {response}");
            assert_eq!(response.json()["id"], Value::Null, "{name}: one object, not an array");
        }
    }
    assert_eq!((server.tools.runs(), server.handle.sessions()), (0, 4));
    assert_eq!(answers(&server.send(&plain(&old, &many(100)))).len(), 100);
    assert_eq!(server.tools.runs(), 100);
    // The lifecycle holds for every element.
    let before = server.met();
    let mixed = json!([
        ping(1),
        messages::request(2, "nope", Value::Null),
        messages::notification("notifications/initialized"),
        messages::request(3, "nope", Value::Null)
    ]);
    let codes: Vec<_> = answers(&server.send(&plain(&unready, &mixed)))
        .iter()
        .map(|answer| answer["error"]["code"].clone())
        .collect();
    assert_eq!(codes, [json!(null), json!(-32600), json!(-32601)]);
    assert_eq!(server.met_since(&before), [NotReady]);
}

/// Notifications of its calls make a stream of a batch; its answers come last, in one array.
#[test]
fn a_batch_as_a_stream() {
    let server = Server::start();
    let session = session(&server);
    let mut steps = call(1, "steps", json!({"steps": 2}));
    steps["params"]["_meta"] = json!({"progressToken": "p"});
    let batch = json!([steps, ping(2)]);
    for protocol in Protocol::BOTH {
        let response = server.client(protocol).send(&post(&session, &batch));
        let events: Vec<_> = response.events().iter().map(|event| event.json()).collect();
        assert_eq!(events.len(), 3, "{response}");
        assert_eq!(
            (&events[0]["params"]["progress"], &events[1]["params"]["progress"]),
            (&json!(1), &json!(2))
        );
        assert_eq!((&events[2][0]["id"], &events[2][1]["id"]), (&json!(1), &json!(2)), "{response}");
        // A client that takes JSON alone gets the answers alone.
        let json = server.client(protocol).send(&post(&session, &batch).set("Accept", "application/json"));
        assert_eq!(answers(&json).len(), 2);
        let stream = server
            .client(protocol)
            .send(&post(&session, &json!([ping(1)])).set("Accept", "text/event-stream"));
        assert_eq!(stream.events()[0].json()[0]["id"], 1);
    }
}

/// A client that batches learns as any other that its session has ended: 404, and no envelope since a batch has no id.
#[test]
fn a_batch_on_an_ended_session_is_not_found() {
    let server = Server::start();
    let session = session(&server);
    let batch = post(&session, &json!([ping(1)]));
    assert_eq!(server.send(&batch).status, 200);
    assert_eq!(server.send(&Request::delete().header("Mcp-Session-Id", &session)).status, 200);
    for protocol in Protocol::BOTH {
        let before = server.met();
        let response = server.client(protocol).send(&batch);
        assert_eq!((response.status, response.body.len()), (404, 0), "{response}");
        assert_eq!(server.met_since(&before), [UnknownSession]);
    }
}

/// A batch that is refused as a whole says where its fault is.
#[test]
fn a_refused_batch_names_the_place() {
    let server = Server::start();
    let session = session(&server);
    let initialize = messages::request(2, "initialize", json!({}));
    for (batch, path) in [(json!([]), ""), (json!([ping(1), initialize]), "/1/method")] {
        let response = server.send(&post(&session, &batch));
        assert_eq!(response.status, 400, "{response}");
        assert_eq!(response.json()["error"]["data"]["errors"][0]["path"], path);
    }
}
