//! A client with capabilities, on any revision over either protocol, and a stream that is read message by message.

use serde_json::{Value, json};

use super::http2::Stream;
use super::message::Request;
use super::{Client, Http1, Http2, Protocol, Response, Server, messages, read};

const LEGACY: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

/// Who calls: a revision, what it has declared, and its session where the revision has sessions.
#[derive(Debug, Clone)]
pub struct Party {
    pub protocol: Protocol,
    pub version: &'static str,
    pub session: Option<String>,
    pub capabilities: Value,
    /// The token it authenticates with.
    pub token: Option<&'static str>,
}

impl Party {
    /// One for each revision over each protocol.
    pub fn all(server: &Server, capabilities: &Value) -> Vec<Self> {
        let mut all = Self::modern(capabilities);
        all.extend(LEGACY.iter().flat_map(|version| Self::legacy(server, version, capabilities)));
        all
    }

    /// One over each protocol, on the modern lane.
    pub fn modern(capabilities: &Value) -> Vec<Self> {
        let of = |protocol| Self {
            protocol,
            version: messages::MODERN,
            session: None,
            capabilities: capabilities.clone(),
            token: None,
        };
        Protocol::BOTH.map(of).into()
    }

    /// One over each protocol, each with a session of its own.
    pub fn legacy(server: &Server, version: &'static str, capabilities: &Value) -> Vec<Self> {
        let of = |protocol| Self::open(server, protocol, version, capabilities, None);
        Protocol::BOTH.map(of).into()
    }

    /// Opens a session that is ready.
    pub fn open(
        server: &Server,
        protocol: Protocol,
        version: &'static str,
        capabilities: &Value,
        token: Option<&'static str>,
    ) -> Self {
        let params = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": {"name": "wire", "version": "1"},
        });
        let mut party = Self { protocol, version, session: None, capabilities: capabilities.clone(), token };
        let message = messages::request(0, "initialize", params).to_string();
        let opened = server.client(protocol).send(&party.dressed(Request::post(message)));
        assert_eq!(opened.result()["protocolVersion"], version, "{opened}");
        party.session = Some(opened.header("mcp-session-id").expect("a session").to_owned());
        let ready = party.post(&messages::notification("notifications/initialized"));
        assert_eq!(server.client(protocol).send(&ready).status, 202);
        party
    }

    fn dressed(&self, request: Request) -> Request {
        match self.token {
            Some(token) => request.header("Authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    /// A POST with this message, in the session.
    pub fn post(&self, message: &Value) -> Request {
        let session = self.session.as_deref().expect("a session");
        self.dressed(messages::legacy(session, message).set("MCP-Protocol-Version", self.version))
    }

    /// A request with these params.
    pub fn request(&self, id: impl Into<Value>, method: &str, params: Value) -> Request {
        if self.session.is_some() {
            return self.post(&messages::request(id, method, params));
        }
        let mut request = messages::modern(id, method, params);
        let mut message: Value = serde_json::from_slice(&request.body).expect("a message");
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        request.body = message.to_string().into_bytes();
        self.dressed(request)
    }

    /// A call of a tool.
    pub fn call(&self, tool: &str, arguments: Value) -> Request {
        self.request(7, "tools/call", messages::call(tool, arguments))
    }

    /// A call of a tool, its params changed before it is sent.
    pub fn call_with(&self, tool: &str, arguments: Value, change: impl FnOnce(&mut Value)) -> Request {
        let mut params = messages::call(tool, arguments);
        change(&mut params);
        self.request(7, "tools/call", params)
    }

    /// Sends a request on a connection of its own.
    #[track_caller]
    pub fn send(&self, server: &Server, request: &Request) -> Response {
        server.client(self.protocol).send(request)
    }

    /// Sends a request whose answer is a stream, on a connection of its own.
    #[track_caller]
    pub fn stream(&self, server: &Server, request: &Request) -> Talk {
        Talk::start(server.client(self.protocol), request)
    }

    /// Sends a response to a request of the server's.
    #[track_caller]
    pub fn respond(&self, server: &Server, id: &Value, result: Value) -> Response {
        self.send(server, &self.post(&json!({"jsonrpc": "2.0", "id": id, "result": result})))
    }
}

/// An event stream that is being read.
#[derive(Debug)]
pub enum Talk {
    Http1(Http1),
    Http2 { client: Http2, stream: Stream, bytes: Vec<u8> },
}

impl Talk {
    /// Sends the request and reads the head of its answer, which must be a stream's.
    #[track_caller]
    pub fn start(client: Client, request: &Request) -> Self {
        let (head, talk) = match client {
            Client::Http1(mut client) => {
                client.write(&request.bytes());
                (client.read_head(), Self::Http1(client))
            }
            Client::Http2(mut client) => {
                let mut stream = client.start(request);
                (client.head(&mut stream), Self::Http2 { client, stream, bytes: Vec::new() })
            }
        };
        assert_eq!(head.status, 200, "{head:?}");
        assert_eq!(head.header("content-type"), Some("text/event-stream"), "{head:?}");
        talk
    }

    /// The next message; `None` at the end of the stream. What carries none is skipped.
    #[track_caller]
    pub fn next(&mut self) -> Option<Value> {
        loop {
            let event = match self {
                Self::Http1(client) => client.next_event()?,
                Self::Http2 { client, stream, bytes } => match cut(bytes) {
                    Some(block) => match read::events(&block).pop() {
                        Some(event) => event,
                        None => continue,
                    },
                    None => {
                        let more = client.data(stream)?;
                        bytes.extend_from_slice(&more.expect("the stream is not reset"));
                        continue;
                    }
                },
            };
            if event.data.as_deref().is_some_and(|data| !data.is_empty()) {
                return Some(event.json());
            }
        }
    }

    /// The next message, which must be there.
    #[track_caller]
    pub fn message(&mut self) -> Value {
        self.next().expect("the stream goes on")
    }

    /// The result that ends the stream.
    #[track_caller]
    pub fn result(&mut self) -> Value {
        let mut last = self.message();
        assert!(last.get("method").is_none(), "{last}");
        assert_eq!(last["id"], 7, "{last}");
        assert!(self.next().is_none());
        assert!(last.get("result").is_some(), "{last}");
        last["result"].take()
    }
}

fn cut(bytes: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = bytes.windows(2).position(|two| two == b"\n\n")?;
    Some(bytes.drain(..end + 2).collect())
}
