//! Log messages: which level reaches whom, on either lane.

use serde_json::{Value, json};
use twolane::LogLevel;
use twolane::server::Builder;
use twolane::tools::{Context, Typed};

use crate::support::party::Party;
use crate::support::{Request, Server, messages};

const LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

/// `chatty` logs once at each level, mildest first.
fn chatty(builder: Builder) -> Builder {
    builder.tool(Typed::new("chatty", "Logs at each level.", |_: Value, context: Context| async move {
        for &level in LogLevel::ALL {
            context.log(level, Some("chatty"), &json!({"said": level.wire()}));
        }
        "done"
    }))
}

/// The levels of the messages that a call of `chatty` brings; the result comes last.
#[track_caller]
fn heard(server: &Server, party: &Party, request: &Request) -> Vec<String> {
    let response = party.send(server, request);
    if response.header("content-type") == Some("application/json") {
        assert_eq!(response.tool_text(), "done");
        return Vec::new();
    }
    let mut messages: Vec<Value> = response
        .events()
        .iter()
        .filter(|event| event.data.as_deref().is_some_and(|data| !data.is_empty()))
        .map(|event| event.json())
        .collect();
    let last = messages.pop().expect("a result");
    assert_eq!(last["result"]["content"][0]["text"], "done", "{last}");
    let level = |message: Value| {
        let level = message["params"]["level"].as_str().expect("a level").to_owned();
        let params = json!({"level": level, "logger": "chatty", "data": {"said": level}});
        assert_eq!(message, json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}));
        level
    };
    messages.into_iter().map(level).collect()
}

fn from(least: usize) -> Vec<String> {
    LogLevel::ALL[least..].iter().map(|level| level.wire().to_owned()).collect()
}

#[test]
fn a_session_hears_info_until_it_sets_a_level() {
    let server = Server::with(chatty);
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        for party in Party::legacy(&server, version, &json!({})) {
            let call = party.call("chatty", json!({}));
            assert_eq!(heard(&server, &party, &call), from(1));
            for (least, level) in LogLevel::ALL.iter().enumerate() {
                let set = party.request(1, "logging/setLevel", json!({"level": level.wire()}));
                assert_eq!(party.send(&server, &set).text(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
                assert_eq!(heard(&server, &party, &call), from(least));
            }
            for bad in [json!({"level": "warn"}), json!({"level": "INFO"}), json!({"level": 1}), json!({})] {
                let refused = party.send(&server, &party.request(1, "logging/setLevel", bad));
                assert_eq!((refused.status, refused.code()), (200, -32602), "{refused}");
            }
            assert_eq!(heard(&server, &party, &call), from(7), "a level that is none changes nothing");
        }
    }
}

#[test]
fn a_level_is_its_sessions_alone() {
    let server = Server::with(chatty);
    let parties = Party::legacy(&server, messages::LEGACY, &json!({}));
    let set = parties[0].request(1, "logging/setLevel", json!({"level": "emergency"}));
    parties[0].send(&server, &set);
    assert_eq!(heard(&server, &parties[0], &parties[0].call("chatty", json!({}))), from(7));
    assert_eq!(heard(&server, &parties[1], &parties[1].call("chatty", json!({}))), from(1));
}

#[test]
fn a_modern_request_hears_what_it_asks_for() {
    let server = Server::with(chatty);
    for party in Party::modern(&json!({})) {
        assert_eq!(heard(&server, &party, &party.call("chatty", json!({}))), Vec::<String>::new());
        for (least, level) in LogLevel::ALL.iter().enumerate() {
            let call = party.call_with("chatty", json!({}), |params| {
                params["_meta"][LEVEL_KEY] = level.wire().into();
            });
            assert_eq!(heard(&server, &party, &call), from(least));
        }
        let unknown = party.call_with("chatty", json!({}), |params| {
            params["_meta"][LEVEL_KEY] = "warn".into();
        });
        let refused = party.send(&server, &unknown);
        assert_eq!((refused.status, refused.code()), (400, -32602), "{refused}");
        let legacy = party.request(1, "logging/setLevel", json!({"level": "info"}));
        assert_eq!(party.send(&server, &legacy).code(), -32601);
    }
}

#[test]
fn a_client_that_takes_no_stream_hears_nothing() {
    let server = Server::with(chatty);
    for party in Party::all(&server, &json!({})) {
        let call = party.call_with("chatty", json!({}), |params| {
            params["_meta"][LEVEL_KEY] = "debug".into();
        });
        let call = call.set("Accept", "application/json");
        assert_eq!(heard(&server, &party, &call), Vec::<String>::new());
    }
}
