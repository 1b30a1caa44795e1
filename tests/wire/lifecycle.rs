//! The handshake of the legacy lane: versions asked for and named in headers, `ping`, and what is served before a session is ready.

use serde_json::{Value, json};
use twolane::tables::rejection::Rejection;

use crate::sessions::{list, listing};
use crate::support::{Protocol, Request, Response, Server, messages};

#[test]
fn versions_are_echoed_or_counter_proposed() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for (asked, answered) in [
            ("2025-03-26", "2025-03-26"),
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
            ("2099-01-01", "2025-11-25"),
            ("2024-11-05", "2025-11-25"),
            ("1.0", "2025-11-25"),
            ("2025-11-25 ", "2025-11-25"),
            ("", "2025-11-25"),
        ] {
            // The body decides, whatever served version the header names.
            for header in [None, Some("2025-03-26"), Some("2025-11-25")] {
                let request = messages::initialize(asked);
                let response = client.send(&match header {
                    Some(header) => request.header("MCP-Protocol-Version", header),
                    None => request,
                });
                let result = response.result();
                assert_eq!(result["protocolVersion"], answered, "{asked} {header:?}");
                assert_eq!(result["capabilities"], json!({"tools": {"listChanged": true}, "logging": {}}));
                assert_eq!(
                    (&result["serverInfo"]["name"], &result["serverInfo"]["version"]),
                    (&json!("wire"), &json!("1.2.3"))
                );
                assert!(result.get("resultType").is_none() && result.get("_meta").is_none(), "{result}");
            }
        }
    }
}

#[test]
fn params_that_open_nothing() {
    let server = Server::start();
    let good = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "n", "version": "1"}});
    for (pointer, value) in [
        ("/protocolVersion", json!(null)),
        ("/protocolVersion", json!(20251125)),
        ("/capabilities", json!(null)),
        ("/capabilities", json!([])),
        ("/clientInfo", json!(null)),
        ("/clientInfo", json!("n")),
        ("/clientInfo/name", json!(null)),
        ("/clientInfo/name", json!(1)),
        ("/clientInfo/version", json!({})),
    ] {
        let mut params = good.clone();
        *params.pointer_mut(pointer).unwrap() = value;
        let body = messages::request(3, "initialize", params).to_string();
        let response = server.send(&Request::post(body));
        assert_eq!(
            (response.status, response.code(), &response.json()["id"]),
            (200, -32602, &json!(3)),
            "{pointer}"
        );
        assert_eq!(response.header("mcp-session-id"), None);
        let name = pointer[1..].replace('/', ".");
        assert!(response.text().contains(&name), "{name} is not in {response}");
    }
    // Without an id it is a notification, which opens nothing.
    let mut message = messages::request(0, "initialize", good);
    message.as_object_mut().unwrap().remove("id");
    let response = server.send(&Request::post(message.to_string()));
    assert_eq!(response.status, 400, "a notification needs a session: {response}");
    let response = server.send(&messages::legacy(&server.session(), &message));
    assert_eq!((response.status, response.header("mcp-session-id")), (202, None), "{response}");
    assert_eq!(server.handle.sessions(), 1);
}

#[test]
fn version_headers_in_a_session() {
    let server = Server::start();
    let of = |version: &str| {
        let session = server.open_session(version);
        let ready = messages::legacy(&session, &messages::notification("notifications/initialized"));
        assert_eq!(server.send(&ready.set("MCP-Protocol-Version", version)).status, 202);
        session
    };
    for (negotiated, strict) in [("2025-03-26", false), ("2025-06-18", true), ("2025-11-25", true)] {
        let session = of(negotiated);
        assert_eq!(server.send(&listing(&session, None)).status, 200);
        for sent in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            let status = if strict && sent != negotiated { 400 } else { 200 };
            let response = server.send(&listing(&session, Some(sent)));
            assert_eq!(response.status, status, "{sent} in {negotiated}: {response}");
        }
        for sent in ["1900-01-01", "not-a-version", "", "2024-11-05", "2025-11-25x"] {
            let refused = server.send(&listing(&session, Some(sent)));
            assert_eq!(
                (refused.status, refused.code(), &refused.json()["id"]),
                (400, -32600, &json!(7)),
                "{sent:?}"
            );
            let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
            for version in [negotiated, "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"] {
                assert!(message.contains(version), "{message}");
            }
            let get = Request::get().session(&session).set("MCP-Protocol-Version", sent);
            assert_eq!(server.send(&get).status, 400, "{sent:?}");
        }
        let twice = listing(&session, Some(negotiated)).header("MCP-Protocol-Version", negotiated);
        let refused = server.send(&twice);
        assert_eq!((refused.status, &refused.json()["id"]), (400, &json!(7)), "{refused}");
    }
    assert_eq!(server.handle.rejections(Rejection::DuplicatedProtocolVersion), 3);
}

#[test]
fn ping() {
    let server = Server::start();
    let ping = messages::request("p", "ping", Value::Null);
    let opened = server.open_session(messages::LEGACY);
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let alone = Request::post(ping.to_string());
        for request in [
            alone.clone(),
            alone.clone().header("MCP-Protocol-Version", "2025-06-18"),
            messages::legacy(&opened, &ping),
            Request::post(messages::request("p", "ping", json!({})).to_string()),
            Request::post(messages::request("p", "ping", json!({"_meta": {"progressToken": 1}})).to_string()),
        ] {
            let response = client.send(&request);
            assert_eq!(
                (response.status, response.text()),
                (200, r#"{"jsonrpc":"2.0","id":"p","result":{}}"#)
            );
            assert_eq!(response.header("mcp-session-id"), None);
        }
        assert_eq!(client.send(&messages::legacy("gone", &ping)).status, 404);
    }
}

#[test]
fn before_it_is_ready() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        let session = server.open_session(messages::LEGACY);
        let mut client = server.client(protocol);
        let mut send = |message: &Value| -> Response { client.send(&messages::legacy(&session, message)) };
        assert_eq!(send(&list()).status, 200);
        let call = messages::request(7, "tools/call", messages::call("count", json!({})));
        assert_eq!(send(&call).status, 200);
        let asks = ["prompts/list", "logging/setLevel", "no/such", "notifications/initialized"];
        for method in asks {
            let refused = send(&messages::request(7, method, Value::Null));
            assert_eq!(
                (refused.status, refused.code(), &refused.json()["id"]),
                (400, -32600, &json!(7)),
                "{refused}"
            );
            assert!(refused.text().contains("ready"), "{refused}");
        }
        for message in [
            messages::notification("notifications/cancelled"),
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
            messages::notification("notifications/initialized"),
            messages::notification("notifications/initialized"),
        ] {
            let accepted = send(&message);
            assert_eq!((accepted.status, accepted.body.len()), (202, 0), "{message}: {accepted}");
        }
        assert_eq!(send(&messages::request(7, "prompts/list", Value::Null)).result(), json!({"prompts": []}));
        for method in &asks[2..] {
            let unknown = send(&messages::request(7, method, Value::Null));
            assert_eq!(
                (unknown.status, unknown.code(), &unknown.json()["id"]),
                (200, -32601, &json!(7)),
                "{unknown}"
            );
        }
        // One that is not ready yet may be ended.
        let session = server.open_session(messages::LEGACY);
        assert_eq!(client.send(&Request::delete().session(&session)).status, 200);
    }
    assert_eq!(server.handle.rejections(Rejection::NotReady), 8);
}
