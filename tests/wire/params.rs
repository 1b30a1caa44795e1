//! Params that are not what their method's schema says: -32602 with 200, for requests; nothing at all, for notifications.

use serde_json::{Value, json};

use crate::support::{Protocol, Request, Server, messages};

/// Every fault is told in one text that names the member, and nothing is run.
#[test]
fn faults_are_told() {
    let server = Server::start();
    let sessions = ["2025-03-26", "2025-06-18", "2025-11-25"].map(|version| server.open_session(version));
    let token = json!({"progressToken": true});
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for (method, params, place) in [
            ("tools/list", json!({"cursor": 5}), "params.cursor must be a string"),
            ("tools/list", json!({"_meta": token.clone()}), "params._meta.progressToken must be"),
            ("tools/call", json!({"arguments": {}}), "params.name is missing: it must be a string"),
            ("tools/call", json!({"name": "count", "arguments": "{}"}), "params.arguments must be an object"),
        ] {
            let mut requests: Vec<Request> = sessions
                .iter()
                .map(|session| {
                    Request::post(messages::request("p", method, params.clone()).to_string())
                        .header("Mcp-Session-Id", session)
                })
                .collect();
            requests.push(messages::modern("p", method, params.clone()));
            for request in requests {
                let response = client.send(&request);
                assert_eq!((response.status, response.code()), (200, -32602), "{response}");
                let answer = response.json();
                assert_eq!(answer["id"], "p");
                let message = answer["error"]["message"].as_str().unwrap();
                assert!(message.starts_with(place), "{message}");
            }
        }
        let ping = messages::request(1, "ping", json!({"_meta": token.clone()})).to_string();
        assert_eq!(client.send(&Request::post(ping)).code(), -32602);
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
