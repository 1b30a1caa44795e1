//! Requests as bytes.

pub const MODERN: &str = "2026-07-28";

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;
const PLAIN_META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A POST with these header lines, each with its line end, and this body.
pub fn post(headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let mut bytes = head(headers, &format!("content-length: {length}\r\n"));
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

/// The head of a POST, framed as given.
pub fn head(headers: &str, framing: &str) -> Vec<u8> {
    format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}{framing}\r\n"
    )
    .into_bytes()
}

pub fn modern_headers(method: &str, name: Option<&str>) -> String {
    let name = name.map_or_else(String::new, |name| format!("mcp-name: {name}\r\n"));
    format!("mcp-protocol-version: {MODERN}\r\nmcp-method: {method}\r\n{name}")
}

/// The body of a modern call; `arguments` is JSON.
pub fn call_body(id: u64, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},{PLAIN_META}}}}}"#
    )
}

/// A modern call.
pub fn call(id: u64, tool: &str, arguments: &str) -> Vec<u8> {
    post(&modern_headers("tools/call", Some(tool)), &call_body(id, tool, arguments))
}

/// A modern call whose client takes tasks.
pub fn task(arguments: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"sleep","arguments":{arguments},{META}}}}}"#
    );
    post(&modern_headers("tools/call", Some("sleep")), &body)
}

/// A modern call that asks for progress.
pub fn call_with_progress(tool: &str, arguments: &str) -> Vec<u8> {
    let body = call_body(1, tool, arguments).replacen(r#""_meta":{"#, r#""_meta":{"progressToken":"p","#, 1);
    post(&modern_headers("tools/call", Some(tool)), &body)
}

/// A modern listener.
pub fn listen() -> Vec<u8> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},{META}}}}}"#
    );
    post(&modern_headers("subscriptions/listen", None), &body)
}

pub const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
pub const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

pub fn ping() -> Vec<u8> {
    post("", PING)
}

pub fn initialize(revision: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"survival","version":"1"}}}}}}"#
    );
    post("", &body)
}

/// A message in a session.
pub fn in_session(id: &str, body: &str) -> Vec<u8> {
    post(&format!("mcp-session-id: {id}\r\n"), body)
}

/// The event stream of a session.
pub fn get(id: &str) -> Vec<u8> {
    format!(
        "GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\nmcp-session-id: {id}\r\n\r\n"
    )
    .into_bytes()
}
