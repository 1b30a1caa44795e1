//! Requests as clients send them, and what each must be answered with.

use std::fmt::Write;

use super::rig::Rig;

/// A request and its answer.
#[derive(Debug, Clone)]
pub struct Request {
    /// Names the kind in results.
    pub name: &'static str,
    pub head: Vec<u8>,
    pub body: Vec<u8>,
    pub status: u16,
    /// The whole body of the answer, or what it must contain where the server's own words make up most of it.
    pub answer: Answer,
}

#[derive(Debug, Clone)]
pub enum Answer {
    Whole(String),
    Contains(&'static str),
}

impl Request {
    fn new(name: &'static str, fields: &str, body: String, status: u16, answer: Answer) -> Self {
        let mut head =
            String::from("POST /mcp HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: client/1.0\r\n");
        head.push_str("Accept: application/json, text/event-stream\r\n");
        if !fields.contains("Content-Type") {
            head.push_str("Content-Type: application/json\r\n");
        }
        head.push_str(fields);
        write!(head, "Content-Length: {}\r\n\r\n", body.len()).expect("a String takes everything");
        Self { name, head: head.into_bytes(), body: body.into_bytes(), status, answer }
    }

    /// Head and body.
    pub fn bytes(&self) -> Vec<u8> {
        [&self.head[..], &self.body].concat()
    }

    /// Panics unless this is the answer.
    pub fn check(&self, status: u16, body: &[u8]) {
        let text = String::from_utf8_lossy(body);
        assert_eq!(status, self.status, "{}: {text}", self.name);
        match &self.answer {
            Answer::Whole(whole) => assert_eq!(text, whole.as_str(), "{}", self.name),
            Answer::Contains(part) => assert!(text.contains(part), "{}: {text}", self.name),
        }
    }
}

/// The `_meta` that every modern request carries.
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"client","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

fn modern(name: &'static str, method: &str, mirrored: &str, params: &str, answer: Answer) -> Request {
    let comma = if params.is_empty() { "" } else { "," };
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{comma}{META}}}}}"#);
    let fields = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{mirrored}");
    Request::new(name, &fields, body, 200, answer)
}

fn legacy(name: &'static str, fields: &str, method: &str, params: &str, answer: Answer) -> Request {
    let comma = if params.is_empty() { "" } else { "," };
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"{comma}{params}}}"#);
    Request::new(name, fields, body, 200, answer)
}

/// Every kind of request that needs no session.
pub fn stateless() -> [Request; 7] {
    [
        ping(),
        bad_origin(),
        wrong_content_type(),
        list(),
        discover(),
        echo("echo_16", 16),
        echo("echo_64k", 64 * 1024),
    ]
}

/// `ping` without a session.
pub fn ping() -> Request {
    legacy("ping", "", "ping", "", pong())
}

fn pong() -> Answer {
    Answer::Whole(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned())
}

/// A page that is not allowed: refused by the head.
pub fn bad_origin() -> Request {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned();
    let answer = Answer::Contains("Origin http://evil.example is not allowed");
    Request::new("bad_origin", "Origin: http://evil.example\r\n", body, 403, answer)
}

/// A body that is not said to be JSON: refused by the head.
pub fn wrong_content_type() -> Request {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned();
    let answer = Answer::Contains("Content-Type text/plain is not served");
    Request::new("wrong_content_type", "Content-Type: text/plain\r\n", body, 415, answer)
}

/// `tools/list` of the modern lane.
pub fn list() -> Request {
    modern("list", "tools/list", "", "", Answer::Contains(r#""tools":[{"name":"echo""#))
}

/// `server/discover`.
pub fn discover() -> Request {
    modern("discover", "server/discover", "", "", Answer::Contains(r#""supportedVersions":["2026-07-28""#))
}

/// `tools/call` of `echo` with a message of so many bytes, on the modern lane.
pub fn echo(name: &'static str, bytes: usize) -> Request {
    let message = "x".repeat(bytes);
    let params = format!(r#""name":"echo","arguments":{{"message":"{message}"}}"#);
    let mut request = modern(name, "tools/call", "Mcp-Name: echo\r\n", &params, Answer::Contains(""));
    request.answer = Answer::Whole(format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{message}"}}],"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"bench","version":"1.0.0"}}}},"resultType":"complete"}}}}"#
    ));
    request
}

/// `tools/call` of `checked`, whose arguments are held against a schema that says more than their type.
pub fn checked() -> Request {
    let params = r#""name":"checked","arguments":{"message":"xxxxxxxxxxxxxxxx","times":1}"#;
    let answer = Answer::Contains(r#"{"type":"text","text":"xxxxxxxxxxxxxxxx"}"#);
    modern("checked", "tools/call", "Mcp-Name: checked\r\n", params, answer)
}

/// Requests of a legacy session that is opened for them.
pub fn on_session(rig: &mut Rig) -> [Request; 3] {
    on(&rig.open_session())
}

/// Requests of a legacy session: `ping`, `tools/list`, `tools/call` of `echo` with 16 bytes.
pub fn on(session: &str) -> [Request; 3] {
    let fields = format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n");
    let message = "x".repeat(16);
    let call = format!(r#""params":{{"name":"echo","arguments":{{"message":"{message}"}}}}"#);
    let echoed = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{message}"}}]}}}}"#
    );
    [
        legacy("legacy_ping", &fields, "ping", "", pong()),
        legacy("legacy_list", &fields, "tools/list", "", Answer::Contains(r#""tools":[{"name":"echo""#)),
        legacy("legacy_echo", &fields, "tools/call", &call, Answer::Whole(echoed)),
    ]
}

/// `initialize` and the notification that follows it.
pub(super) fn initialize() -> Request {
    let params = r#""params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"client","version":"1.0"}}"#;
    legacy("initialize", "", "initialize", params, Answer::Contains(r#""protocolVersion":"2025-11-25""#))
}

/// `notifications/initialized` in a session.
pub fn initialized(session: &str) -> Request {
    let fields = format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n");
    let body = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned();
    Request::new("initialized", &fields, body, 202, Answer::Whole(String::new()))
}
