//! HTTP/2 against peers that break its rules: a table of what RFC 9113 and RFC 7541 ask for, and attacks.

mod table;
mod starting;
mod streams;
mod framing;
mod messages;
mod coding;
mod beyond;
mod floods;
mod budgets;
mod siege;
mod starving;

pub const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

pub const NO_ERROR: u32 = 0;
pub const PROTOCOL_ERROR: u32 = 1;
pub const FLOW_CONTROL_ERROR: u32 = 3;
pub const STREAM_CLOSED: u32 = 5;
pub const FRAME_SIZE_ERROR: u32 = 6;
pub const REFUSED_STREAM: u32 = 7;
pub const CANCEL: u32 = 8;
pub const COMPRESSION_ERROR: u32 = 9;
pub const ENHANCE_YOUR_CALM: u32 = 11;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PINGS: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const WITH_PRIORITY: u8 = 32;

pub type Fields = Vec<(&'static str, &'static str)>;

/// A request that is answered at once, with a short body.
pub fn get() -> Fields {
    vec![(":method", "GET"), (":scheme", "http"), (":path", "/mcp"), (":authority", "localhost")]
}

/// The head of a request with a body.
pub fn post() -> Fields {
    let mut fields = get();
    fields[0].1 = "POST";
    fields.push(("content-type", "application/json"));
    fields
}

/// The head of a call of a tool.
pub fn call(tool: &'static str) -> Fields {
    let mut fields = post();
    fields.extend([
        ("mcp-protocol-version", crate::support::messages::MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
    ]);
    fields
}

/// The body of a call of a tool.
pub fn arguments(tool: &str, arguments: serde_json::Value) -> Vec<u8> {
    crate::support::messages::modern_call(1, tool, arguments).body
}
