//! The messages that most tests send.

use serde_json::{Value, json};

use super::message::Request;

pub const MODERN: &str = "2026-07-28";
pub const LEGACY: &str = "2025-11-25";
pub const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// A legacy request's body.
pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "id": id.into(), "method": method});
    if !params.is_null() {
        message["params"] = params;
    }
    message
}

/// A notification's body.
pub fn notification(method: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": method})
}

/// The params that call a tool.
pub fn call(tool: &str, arguments: Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

/// An `initialize` request.
pub fn initialize(version: &str) -> Request {
    let params = json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "wire", "version": "1"},
    });
    Request::post(request(0, "initialize", params).to_string())
}

/// A legacy POST in a session.
pub fn legacy(session: &str, message: &Value) -> Request {
    Request::post(message.to_string()).session(session)
}

/// A modern POST with everything that its message needs, mirrored headers of `params` included; those of tool arguments are left to the
/// caller.
pub fn modern(id: impl Into<Value>, method: &str, mut params: Value) -> Request {
    if params.is_null() {
        params = json!({});
    }
    params["_meta"][VERSION_KEY] = MODERN.into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "wire", "version": "1"});
    let name = ["name", "uri"].iter().find_map(|key| params[key].as_str()).map(str::to_owned);
    let post = Request::post(request(id, method, params).to_string())
        .header("MCP-Protocol-Version", MODERN)
        .header("Mcp-Method", method);
    match name {
        Some(name) => post.header("Mcp-Name", name),
        None => post,
    }
}

/// A modern tool call.
pub fn modern_call(id: impl Into<Value>, tool: &str, arguments: Value) -> Request {
    modern(id, "tools/call", call(tool, arguments))
}

/// A modern tool call whose notifications are wanted.
pub fn modern_call_with_progress(id: impl Into<Value>, tool: &str, arguments: Value) -> Request {
    let mut params = call(tool, arguments);
    params["_meta"]["progressToken"] = "token".into();
    modern(id, "tools/call", params)
}
