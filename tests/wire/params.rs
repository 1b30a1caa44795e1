//! Params that are not what their method's schema says: -32602 with 200, for requests; nothing at all, for notifications.

use serde_json::{Value, json};

use twolane::tables::versions::Era;

use crate::support::{Server, Visitor, lavish, messages};

/// Every fault is told in one text that names the member, and nothing is run.
#[test]
fn faults_are_told() {
    let server = Server::start();
    let string = "a string";
    let missing = "is missing: it must be";
    for visitor in Visitor::all(&server, &json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})) {
        let reference = |reference: Value| json!({"ref": reference, "argument": {"name": "a", "value": ""}});
        let resource = json!({"type": "ref/resource", "uri": "a:"});
        let both = [
            ("tools/list", json!({"cursor": 5}), format!("params.cursor must be {string}")),
            (
                "tools/list",
                json!({"_meta": {"progressToken": true}}),
                "params._meta.progressToken must be".into(),
            ),
            ("tools/call", json!({"arguments": {}}), format!("params.name {missing} {string}")),
            (
                "tools/call",
                json!({"name": "count", "arguments": "{}"}),
                "params.arguments must be an object".into(),
            ),
            ("resources/list", json!({"cursor": {}}), format!("params.cursor must be {string}")),
            ("resources/templates/list", json!({"cursor": []}), format!("params.cursor must be {string}")),
            ("resources/read", json!({}), format!("params.uri {missing} {string}")),
            ("resources/read", json!({"uri": null}), format!("params.uri must be {string}")),
            ("prompts/list", json!({"cursor": false}), format!("params.cursor must be {string}")),
            ("prompts/get", json!({"name": 1}), format!("params.name must be {string}")),
            (
                "prompts/get",
                json!({"name": "p", "arguments": {"a": 1}}),
                format!("params.arguments.a must be {string}"),
            ),
            (
                "completion/complete",
                reference(json!({"type": "ref/tool"})),
                "params.ref.type must be one of".into(),
            ),
            (
                "completion/complete",
                reference(json!({"type": "ref/prompt"})),
                format!("params.ref.name {missing}"),
            ),
            ("completion/complete", json!({"ref": resource}), format!("params.argument {missing} an object")),
        ];
        let legacy = [
            ("ping", json!({"_meta": []}), "params._meta must be an object".to_owned()),
            ("resources/subscribe", json!({}), format!("params.uri {missing} {string}")),
            ("resources/unsubscribe", json!({"uri": 1}), format!("params.uri must be {string}")),
            ("logging/setLevel", json!({}), format!("params.level {missing} one of debug, info")),
            (
                "logging/setLevel",
                json!({"level": "WARNING"}),
                "params.level must be one of debug, info".into(),
            ),
        ];
        let modern = [
            (
                "tools/call",
                json!({"name": "count", "requestState": 1}),
                format!("params.requestState must be {string}"),
            ),
            (
                "tools/call",
                json!({"name": "count", "inputResponses": {"a": 1}}),
                "params.inputResponses.a must be".into(),
            ),
            ("subscriptions/listen", json!({}), format!("params.notifications {missing} an object")),
            (
                "subscriptions/listen",
                json!({"notifications": {"resourceSubscriptions": ["a:", 1]}}),
                format!("params.notifications.resourceSubscriptions[1] must be {string}"),
            ),
            ("tasks/get", json!({"taskId": 1}), format!("params.taskId must be {string}")),
            ("tasks/update", json!({"inputResponses": 1}), "params.inputResponses must be an object".into()),
        ];
        let own = match visitor.revision.era() {
            Era::Legacy => legacy.as_slice(),
            Era::Modern => modern.as_slice(),
        };
        for (method, params, place) in both.iter().chain(own) {
            let response = visitor.ask(method, params.clone());
            assert_eq!((response.status, response.code()), (200, -32602), "{method} {params}: {response}");
            let answer = response.json();
            assert_eq!(answer["id"], 7);
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.starts_with(place), "{method} {params}: {message}");
        }
    }
    assert_eq!(server.tools.runs(), 0);
}

/// What clients say of themselves is checked wherever the road has not looked already.
#[test]
fn modern_metadata_is_checked_to_the_bottom() {
    let server = Server::start();
    let key = |name: &str| format!("io.modelcontextprotocol/{name}");
    for (name, value, place) in [
        ("clientCapabilities", json!({"elicitation": true}), ".elicitation must be an object"),
        ("clientCapabilities", json!({"sampling": {"tools": []}}), ".sampling.tools must be an object"),
        ("clientInfo", json!({"name": "n", "version": "1", "icons": [{}]}), ".icons[0].src is missing"),
    ] {
        let mut request = messages::modern(1, "tools/list", json!({}));
        let mut body: Value = serde_json::from_slice(&request.body).unwrap();
        body["params"]["_meta"][key(name)] = value;
        request.body = body.to_string().into_bytes();
        let response = server.send(&request);
        assert_eq!((response.status, response.code()), (200, -32602), "{response}");
        let message = format!("params._meta[\"{}\"]{place}", key(name));
        assert!(response.json()["error"]["message"].as_str().unwrap().starts_with(&message), "{response}");
    }
}

/// Null where a member may be left out is as good as nothing.
#[test]
fn null_counts_as_absent() {
    let server = Server::start();
    let session = server.session();
    let params = json!({"cursor": null, "_meta": null});
    assert_eq!(
        server.send(&messages::legacy(&session, &messages::request(1, "tools/list", params))).status,
        200
    );
    let params = json!({"name": "count", "arguments": null, "inputResponses": null, "requestState": null});
    server.send(&messages::modern(1, "tools/call", params)).result();
    assert_eq!(server.tools.runs(), 1);
}

/// So is null for an argument of a prompt.
#[test]
fn a_prompt_argument_that_is_null_is_left_out() {
    let server = Server::with(lavish);
    for visitor in Visitor::all(&server, &json!({})) {
        let get =
            |arguments: Value| visitor.ask("prompts/get", json!({"name": "lavish", "arguments": arguments}));
        get(json!({"a": "x", "b": null})).result();
        for arguments in [json!({"a": null}), json!(null), json!({})] {
            let response = get(arguments);
            assert_eq!(response.code(), -32602);
            assert!(response.text().contains("params.arguments lacks a"), "{response}");
        }
    }
}

/// Nobody can be told of a fault in a notification: it is accepted and changes nothing.
#[test]
fn faulty_notifications_change_nothing() {
    let server = Server::start();
    for (params, ready) in [(json!({"_meta": 5}), false), (json!({"_meta": null}), true), (Value::Null, true)]
    {
        let session = server.open_session(messages::LEGACY);
        let mut message = messages::notification("notifications/initialized");
        message["params"] = params;
        let accepted = server.send(&messages::legacy(&session, &message));
        assert_eq!((accepted.status, accepted.body.len()), (202, 0), "{accepted}");
        let answer = server.send(&messages::legacy(&session, &messages::request(1, "no/such", Value::Null)));
        assert_eq!(answer.status, if ready { 200 } else { 400 }, "{message}: {answer}");
    }
}
