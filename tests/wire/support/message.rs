//! Requests that either client can send, and the responses that either gives.

use serde_json::Value;

/// How the length of a request's body is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// `Content-Length`, where there is a body or the verb is POST.
    Length,
    /// Not beforehand: chunks of at most so many bytes on HTTP/1.1, DATA frames of at most so many on HTTP/2.
    Chunks(usize),
    /// As the headers have it: nothing is added.
    AsIs,
}

/// A request, whatever it is sent over.
#[derive(Debug, Clone)]
pub struct Request {
    pub verb: String,
    pub target: String,
    /// In the order in which they are sent. `Host` becomes `:authority` on HTTP/2.
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
    pub framing: Framing,
}

impl Request {
    /// A request with a host and nothing else.
    pub fn new(verb: &str, target: &str) -> Self {
        Self {
            verb: verb.to_owned(),
            target: target.to_owned(),
            headers: vec![("Host".to_owned(), b"127.0.0.1".to_vec())],
            body: Vec::new(),
            framing: Framing::Length,
        }
    }

    /// A POST to the endpoint with the headers that every client sends.
    pub fn post(body: impl Into<Vec<u8>>) -> Self {
        Self::new("POST", "/mcp")
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .body(body)
    }

    /// A GET of the endpoint.
    pub fn get() -> Self {
        Self::new("GET", "/mcp").header("Accept", "text/event-stream")
    }

    /// A DELETE of the endpoint.
    pub fn delete() -> Self {
        Self::new("DELETE", "/mcp")
    }

    /// Adds a header line.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Puts one header line in the place of all that have the name.
    pub fn set(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).header(name, value)
    }

    /// Drops every header line that has the name.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets how the body's length is told.
    pub fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// The verb-less rest of a legacy request: its session and version.
    pub fn session(self, id: &str) -> Self {
        self.set("Mcp-Session-Id", id).set("MCP-Protocol-Version", "2025-11-25")
    }

    /// The request as HTTP/1.1 sends it.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = format!("{} {} HTTP/1.1\r\n", self.verb, self.target).into_bytes();
        for (name, value) in &self.headers {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        }
        match self.framing {
            Framing::Length if self.body.is_empty() && self.verb != "POST" => {}
            Framing::Length => {
                out.extend_from_slice(format!("Content-Length: {}\r\n", self.body.len()).as_bytes())
            }
            Framing::Chunks(_) => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
            Framing::AsIs => {}
        }
        out.extend_from_slice(b"\r\n");
        match self.framing {
            Framing::Length | Framing::AsIs => out.extend_from_slice(&self.body),
            Framing::Chunks(size) => {
                for chunk in self.body.chunks(size) {
                    out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                    out.extend_from_slice(chunk);
                    out.extend_from_slice(b"\r\n");
                }
                out.extend_from_slice(b"0\r\n\r\n");
            }
        }
        out
    }
}

/// A response, whatever it came over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// Names in lower case, in the order received.
    pub headers: Vec<(String, String)>,
    /// After transfer decoding.
    pub body: Vec<u8>,
    /// The statuses of the interim responses before it.
    pub interim: Vec<u16>,
}

impl Response {
    /// The value of a header that stands at most once.
    #[track_caller]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(other, _)| other == name);
        let first = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "more than one {name}: {self}");
        first
    }

    /// The body as text.
    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_else(|_| panic!("the body is not UTF-8: {:?}", self.body))
    }

    /// The body as JSON, which it must say that it is.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self}");
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// The `result` of an answer with 200.
    #[track_caller]
    pub fn result(&self) -> Value {
        assert_eq!(self.status, 200, "{self}");
        let mut answer = self.json();
        assert_eq!(answer["jsonrpc"], "2.0", "{self}");
        assert!(answer.get("error").is_none(), "{self}");
        answer["result"].take()
    }

    /// The `error.code` of a JSON-RPC error, with whatever status.
    #[track_caller]
    pub fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no code: {self}"))
    }

    /// The text of a tool's only content block.
    #[track_caller]
    pub fn tool_text(&self) -> String {
        let result = self.result();
        let content = result["content"].as_array().unwrap_or_else(|| panic!("no content: {self}"));
        assert_eq!(content.len(), 1, "{self}");
        content[0]["text"].as_str().unwrap_or_else(|| panic!("no text: {self}")).to_owned()
    }

    /// The messages of an event stream that is complete, without what primes the client.
    #[track_caller]
    pub fn messages(&self) -> Vec<Value> {
        self.events()
            .iter()
            .filter(|event| event.data.as_deref() != Some(""))
            .map(|event| event.json())
            .collect()
    }

    /// The events of an event stream that is complete.
    #[track_caller]
    pub fn events(&self) -> Vec<super::read::Event> {
        assert_eq!(self.header("content-type"), Some("text/event-stream"), "{self}");
        super::read::events(&self.body)
    }
}

impl std::fmt::Display for Response {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.status)?;
        for (name, value) in &self.headers {
            write!(f, "\n{name}: {value}")?;
        }
        let body = String::from_utf8_lossy(&self.body);
        write!(f, "\n\n{}", body.chars().take(2000).collect::<String>())
    }
}
