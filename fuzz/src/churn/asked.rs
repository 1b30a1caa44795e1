//! Requests for what a registry has, and their answers.

use serde_json::{Value, json};

use super::Kind;
use crate::rig::{Outcome, Request};

pub(super) fn read(outcome: &Outcome) -> Value {
    serde_json::from_slice(&outcome.body).unwrap_or_else(|_| panic!("{}", outcome.body.escape_ascii()))
}

/// The text of an answer.
pub(super) fn said(kind: Kind, answer: &Value) -> String {
    let result = &answer["result"];
    let text = match kind {
        Kind::Tool => &result["content"][0]["text"],
        Kind::Prompt => &result["messages"][0]["content"]["text"],
        Kind::Resource => &result["contents"][0]["text"],
    };
    text.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn post(fields: &[(&str, &str)], body: &Value) -> Request {
    let usual = [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let fields = usual.iter().chain(fields).map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Request {
        http2: false,
        method: b"POST".to_vec(),
        target: b"/mcp".to_vec(),
        authority: None,
        fields,
        body: body.to_string().into_bytes(),
        declared: true,
    }
}

pub(super) fn modern(method: &str, mut params: Value, name: Option<&str>) -> Request {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut fields = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    fields.extend(name.map(|name| ("mcp-name", name)));
    post(&fields, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
}

pub(super) fn legacy(method: &str, params: Value, session: &[u8; 43]) -> Request {
    let session = std::str::from_utf8(session).expect("ASCII");
    post(
        &[("mcp-session-id", session)],
        &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
    )
}
