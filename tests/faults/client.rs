//! A plain HTTP/1.1 client that tells what became of each request.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// A message on its way.
#[derive(Debug, Clone)]
pub struct Message {
    pub session: Option<String>,
    pub method: String,
    pub params: Value,
    modern: bool,
}

/// A modern call of a tool.
pub fn call(tool: &str, arguments: Value) -> Message {
    let params = json!({"name": tool, "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }});
    Message { session: None, method: "tools/call".to_owned(), params, modern: true }
}

/// A legacy request.
pub fn legacy(session: Option<&str>, method: &str, params: Value) -> Message {
    Message { session: session.map(str::to_owned), method: method.to_owned(), params, modern: false }
}

impl Message {
    /// Its headers beyond those of every message, and its body.
    pub fn parts(&self) -> (Vec<(&'static str, String)>, String) {
        let mut headers = Vec::new();
        if self.modern {
            headers.push(("mcp-protocol-version", MODERN.to_owned()));
            headers.push(("mcp-method", self.method.clone()));
            headers.push(("mcp-name", self.params["name"].as_str().unwrap_or_default().to_owned()));
        }
        headers.extend(self.session.clone().map(|session| ("mcp-session-id", session)));
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": self.method, "params": self.params});
        (headers, message.to_string())
    }

    pub fn bytes(&self) -> Vec<u8> {
        let (headers, body) = self.parts();
        let mut out = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
            accept: application/json, text/event-stream\r\n"
            .to_owned();
        for (name, value) in headers {
            out += &format!("{name}: {value}\r\n");
        }
        out += &format!("content-length: {}\r\n\r\n{body}", body.len());
        out.into_bytes()
    }
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Answered {
        status: u16,
        closes: bool,
        head: String,
        body: String,
    },
    /// The connection has ended, and nothing of an answer has come.
    Nothing,
    /// An answer has begun and not ended, or none came in time.
    Torn(String),
}

impl Outcome {
    #[track_caller]
    pub fn json(self) -> Value {
        match self {
            Self::Answered { body, .. } => serde_json::from_str(&body).expect("JSON"),
            Self::Nothing | Self::Torn(_) => panic!("no answer: {self:?}"),
        }
    }
}

/// One connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Client {
    /// Connects; none where nobody listens any more.
    pub fn open(address: SocketAddr) -> Option<Self> {
        let stream = TcpStream::connect(address).ok()?;
        stream.set_nodelay(true).expect("an option");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("an option");
        Some(Self { stream, read: Vec::new() })
    }

    pub fn patience(&self, patience: Duration) {
        self.stream.set_read_timeout(Some(patience)).expect("an option");
    }

    /// Sends a message; whether it arrives shows in its answer.
    pub fn send(&self, message: &Message) {
        self.send_bytes(&message.bytes());
    }

    pub fn send_bytes(&self, bytes: &[u8]) {
        let _ = (&self.stream).write_all(bytes);
    }

    pub fn ask(&mut self, message: &Message) -> Outcome {
        self.send(message);
        self.read()
    }

    /// Opens a session that is ready.
    pub fn open_session(&mut self) -> String {
        let client = json!({"name": "faults", "version": "1"});
        let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client});
        let Outcome::Answered { head, .. } = self.ask(&legacy(None, "initialize", params)) else {
            panic!("no session");
        };
        let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        id.unwrap_or_else(|| panic!("no session: {head}")).to_owned()
    }

    /// Reads one answer.
    pub fn read(&mut self) -> Outcome {
        loop {
            if let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&self.read[..end]).into_owned();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                let length: usize = length.map_or(0, |length| length.parse().expect("a length"));
                if self.read.len() >= end + 4 + length {
                    let rest = self.read.split_off(end + 4 + length);
                    let body = String::from_utf8_lossy(&self.read[end + 4..]).into_owned();
                    self.read = rest;
                    let status = head.get(9..12).and_then(|status| status.parse().ok()).expect("a status");
                    let closes = head.lines().any(|line| line == "connection: close");
                    return Outcome::Answered { status, closes, head, body };
                }
            }
            let mut more = [0; 4096];
            match self.stream.read(&mut more) {
                Ok(0) if self.read.is_empty() => return Outcome::Nothing,
                Ok(0) => return Outcome::Torn(self.said()),
                Ok(read) => self.read.extend_from_slice(&more[..read]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset && self.read.is_empty() => {
                    return Outcome::Nothing;
                }
                Err(error) => return Outcome::Torn(format!("{error} after {:?}", self.said())),
            }
        }
    }

    fn said(&self) -> String {
        String::from_utf8_lossy(&self.read).into_owned()
    }
}
