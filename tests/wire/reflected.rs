//! No header of an answer has bytes in it that came with the request, but for an origin that is allowed and the names of arguments. Answers are
//! read strictly: a byte that is none of a header's fails.

use serde_json::{Value, json};
use twolane::road::auth::{AuthFault, Authenticator};
use twolane::{AccessLog, Answered, Principal};

use crate::support::{Protocol, Request, Response, Server, messages};

const MARK: &str = "x-evil";

/// What a client writes between two harmless parts.
const BETWEEN: [&[u8]; 8] = [b"\t", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xe2\x80\xa8", b"\"", b"%0d%0a"];

struct Scopes;

impl Authenticator for Scopes {
    fn authenticate(&self, token: &[u8]) -> Result<std::sync::Arc<Principal>, AuthFault> {
        match token {
            b"scope" => Err(AuthFault::InsufficientScope(format!("a\r\n{MARK}: 1\0\u{e9}\"\\"))),
            _ => Ok(std::sync::Arc::new(Principal::new(format!("a\r\n{MARK}: 1")))),
        }
    }
}

#[track_caller]
fn assert_clean(response: &Response, request: &Request) {
    for (name, value) in &response.headers {
        let line = format!("{name}: {value}").to_lowercase();
        assert!(!line.contains(MARK), "{line} for {request:?}");
    }
}

/// Values that are no headers of HTTP/2 are refused by its client.
fn fits(protocol: Protocol, between: &[u8]) -> bool {
    protocol == Protocol::Http1 || !between.iter().any(|&byte| byte < 0x20 && byte != b'\t' || byte == 0x7f)
}

#[test]
fn headers() {
    let names = [
        "Origin",
        "Access-Control-Request-Method",
        "Access-Control-Request-Headers",
        "Mcp-Session-Id",
        "MCP-Protocol-Version",
        "Last-Event-ID",
        "Authorization",
        "Accept",
        "Content-Type",
        "Mcp-Method",
        "Mcp-Name",
        "Mcp-Param-Region",
        "Expect",
    ];
    for open in [true, false] {
        let server = Server::with(|builder| if open { builder.allow_origin("*") } else { builder });
        for protocol in Protocol::BOTH {
            for (name, between) in names.iter().flat_map(|name| BETWEEN.map(|between| (name, between))) {
                if !fits(protocol, between) {
                    continue;
                }
                let value = [b"Mcp-Param-A", between, MARK.as_bytes(), b": 1"].concat();
                for request in [
                    messages::modern_call(1, "count", json!({})),
                    Request::get(),
                    Request::delete(),
                    Request::new("OPTIONS", "/mcp")
                        .header("Origin", "http://localhost")
                        .header("Access-Control-Request-Method", "POST"),
                    Request::new("BREW", "/mcp"),
                ] {
                    let request = request.set(name, &value);
                    assert_clean(&server.client(protocol).send(&request), &request);
                }
            }
        }
    }
}

#[test]
fn bodies_and_targets() {
    let server = Server::with(|builder| builder.access_log(AccessLog::to_observer(|_: &Answered<'_>| {})));
    let session = server.session();
    let evil = format!("a\r\n{MARK}: 1\0\u{2028}\u{e9}");
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let mut init: Value = serde_json::from_slice(&messages::initialize(messages::LEGACY).body).unwrap();
        init["params"]["protocolVersion"] = json!(evil);
        init["params"]["clientInfo"]["name"] = json!(evil);
        init["id"] = json!(evil);
        let meta = json!({messages::VERSION_KEY: evil, "io.modelcontextprotocol/clientCapabilities": {}});
        for request in [
            Request::post(init.to_string()),
            messages::legacy(&session, &messages::request(evil.as_str(), "ping", Value::Null)),
            messages::legacy(&session, &messages::request(evil.as_str(), &evil, Value::Null)),
            messages::legacy(
                &session,
                &messages::request(1, "tools/call", messages::call(&evil, json!({"a": evil}))),
            ),
            messages::legacy(&session, &messages::request(1, "resources/read", json!({"uri": evil}))),
            Request::post(messages::request(1, "tools/list", json!({"_meta": meta})).to_string()),
            Request::new("GET", &format!("/mcp%0d%0a{MARK}:%201")),
            Request::new("GET", &format!("/mcp?a=%0d%0a{MARK}:%201%00")),
        ] {
            assert_clean(&client.send(&request), &request);
        }
    }
}

/// What the embedding program says of scopes is no header either before it has been looked at.
#[test]
fn lent_texts() {
    let server = Server::with(|builder| builder.authenticator(Scopes));
    for protocol in Protocol::BOTH {
        for token in ["scope", "fine"] {
            let request =
                messages::initialize(messages::LEGACY).header("Authorization", format!("Bearer {token}"));
            let response = server.client(protocol).send(&request);
            let challenge = response.header("www-authenticate").unwrap_or_default();
            // Its characters stay, its line does not end.
            assert!(!challenge.contains(['\r', '\n', '\0']), "{response}");
            assert!(response.headers.iter().all(|(name, _)| !name.contains(MARK)), "{response}");
            assert_eq!(response.status, if token == "scope" { 403 } else { 200 });
        }
    }
}
