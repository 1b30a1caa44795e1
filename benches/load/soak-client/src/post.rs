//! Requests, as HTTP has them.

use serde_json::{Value, json};

use crate::ledger::Id;
use crate::random::Random;

pub(crate) const MODERN: &str = "2026-07-28";
const PROTOCOL: &str = "io.modelcontextprotocol/";

/// One request. It is a POST of JSON until something else is made of it.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    pub(crate) verb: &'static str,
    pub(crate) path: String,
    /// `:authority` over HTTP/2.
    pub(crate) host: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Post {
    pub(crate) fn new(message: &Value) -> Self {
        let headers = vec![
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
        ];
        Self {
            verb: "POST",
            path: "/mcp".to_owned(),
            host: "127.0.0.1",
            headers,
            body: message.to_string().into_bytes(),
        }
    }

    /// A request without a body.
    pub(crate) fn bare(verb: &'static str) -> Self {
        let headers = vec![("accept", "text/event-stream".to_owned())];
        Self { verb, path: "/mcp".to_owned(), host: "127.0.0.1", headers, body: Vec::new() }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(header, _)| *header != name);
        self
    }

    pub(crate) fn set(self, name: &'static str, value: impl Into<String>) -> Self {
        self.without(name).header(name, value)
    }

    /// A modern request with the headers that mirror it.
    pub(crate) fn modern(id: Id, method: &str, params: Value) -> Self {
        Self::modern_with(id, method, params, json!({}))
    }

    /// The same of a client that declares these capabilities.
    pub(crate) fn modern_with(id: Id, method: &str, mut params: Value, capabilities: Value) -> Self {
        params["_meta"][format!("{PROTOCOL}protocolVersion")] = MODERN.into();
        params["_meta"][format!("{PROTOCOL}clientCapabilities")] = capabilities;
        let name = ["name", "uri", "taskId"].iter().find_map(|key| params[*key].as_str()).map(str::to_owned);
        let region = params["arguments"]["region"].as_str().map(str::to_owned);
        let message = json!({"jsonrpc": "2.0", "id": id.json(), "method": method, "params": params});
        let mut post =
            Self::new(&message).header("mcp-protocol-version", MODERN).header("mcp-method", method);
        if let Some(name) = name {
            post = post.header("mcp-name", name);
        }
        if let Some(region) = region {
            post = post.header("mcp-param-region", region);
        }
        post
    }

    /// The bytes over HTTP/1.1, the body in one piece or in chunks.
    pub(crate) fn bytes(&self, chunks: Option<&mut Random>) -> Vec<u8> {
        let mut out = format!("{} {} HTTP/1.1\r\nhost: {}\r\n", self.verb, self.path, self.host);
        for (name, value) in &self.headers {
            out += &format!("{name}: {value}\r\n");
        }
        let Some(random) = chunks.filter(|_| !self.body.is_empty()) else {
            if self.verb != "GET" {
                out += &format!("content-length: {}\r\n", self.body.len());
            }
            out += "\r\n";
            let mut out = out.into_bytes();
            out.extend_from_slice(&self.body);
            return out;
        };
        out += "transfer-encoding: chunked\r\n\r\n";
        let mut out = out.into_bytes();
        let mut rest = self.body.as_slice();
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(random.size(1, rest.len()));
            out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            out.extend_from_slice(chunk);
            out.extend_from_slice(b"\r\n");
            rest = after;
        }
        out.extend_from_slice(b"0\r\n\r\n");
        out
    }
}
