//! Requests whose answers do not depend on what else goes on.

use std::collections::HashMap;

use twolane::reply::SessionText;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Asked {
    pub method: &'static str,
    pub path: &'static str,
    /// Names in lower case.
    pub fields: Vec<(String, String)>,
    pub body: String,
    /// The answer never ends by itself.
    pub endless: bool,
}

/// How many there are.
pub const COUNT: u8 = 30;

/// The sessions that are open: by their revisions.
pub type Sessions = HashMap<&'static str, SessionText>;

/// Of whom sessions are opened, and what they declare.
pub const SESSIONS: [(&str, &str); 2] = [("2025-03-26", "{}"), ("2025-11-25", r#"{"roots":{}}"#)];

/// One of them. `auth`: the caller must say who it is.
pub fn asked(which: u8, sessions: &Sessions, auth: bool) -> Asked {
    let mut asked = bare(which % COUNT, sessions);
    if auth {
        asked.field("authorization", "Bearer alice");
    }
    asked
}

fn bare(which: u8, sessions: &Sessions) -> Asked {
    let old = || session(sessions, SESSIONS[0].0);
    let new = || session(sessions, SESSIONS[1].0);
    match which {
        0 => ping(),
        1 => call("echo", r#"{"message":"hello"}"#),
        2 => call("echo", &format!(r#"{{"message":"{}"}}"#, "long \u{e9} ".repeat(180))),
        3 => modern("tools/list", ""),
        4 => modern("server/discover", ""),
        5 => call("steps", r#"{"yields":3,"reports":3}"#),
        6 => call("wait", r#"{"ms":9}"#),
        7 => call("wait", r#"{"ms":9999}"#),
        8 => Asked { body: "nonsense".to_owned(), ..ping() },
        9 => ping().with("content-type", "text/plain"),
        10 => Asked { method: "GET", body: String::new(), ..ping() },
        11 => Asked { method: "HEAD", body: String::new(), ..ping() },
        12 => Asked { method: "OPTIONS", body: String::new(), ..ping() }
            .with("origin", "https://app.example")
            .with("access-control-request-method", "POST"),
        13 => Asked { method: "PUT", ..ping() },
        14 => Asked { path: "/elsewhere", ..ping() },
        15 => legacy(r#"{"jsonrpc":"2.0","method":"notifications/other"}"#).with_session(new()),
        16 => ping().with_session(new()),
        17 => legacy(r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{"message":"a\u2028b"}}}"#).with_session(old()),
        18 => legacy(r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"steps","arguments":{"yields":2,"reports":2},"_meta":{"progressToken":1}}}"#).with_session(new()),
        19 => Asked { method: "GET", body: String::new(), endless: true, ..ping() }.with_session(new()),
        20 => Asked { body: format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(2_500)), ..ping() },
        21 => call("lookup", r#"{"region":"eu","options":{"limit":4},"dry":true}"#)
            .with("mcp-param-region", "eu")
            .with("mcp-param-limit", "4.0")
            .with("mcp-param-dry", "true"),
        22 => call("lookup", r#"{"region":"eu"}"#).with("mcp-param-region", "us"),
        23 => Asked { endless: true, ..modern("subscriptions/listen", r#""notifications":{"toolsListChanged":true},"#) },
        24 => call("echo", r#"{"message":"hello"}"#).with("mcp-name", "other"),
        25 => call("echo", r#"{"message":7}"#),
        26 => call("wait", r#"{"ms":3}"#).with("accept", "application/json"),
        27 => ping().with("origin", "https://elsewhere.example"),
        28 => call("divide", r#"{"a":1,"b":4.0}"#).with("origin", "https://app.example"),
        _ => ping().with_session([b'A'; 43]),
    }
}

fn session(sessions: &Sessions, revision: &str) -> SessionText {
    sessions.get(revision).copied().unwrap_or([b'A'; 43])
}

fn legacy(body: &str) -> Asked {
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Asked {
        method: "POST",
        path: "/mcp",
        fields: vec![
            field("content-type", "application/json"),
            field("accept", "application/json, text/event-stream"),
        ],
        body: body.to_owned(),
        endless: false,
    }
}

fn ping() -> Asked {
    legacy(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#)
}

fn modern(method: &str, params: &str) -> Asked {
    legacy(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"progressToken":"t"}}}}}}"#))
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", method)
}

fn call(tool: &str, arguments: &str) -> Asked {
    modern("tools/call", &format!(r#""name":"{tool}","arguments":{arguments},"#)).with("mcp-name", tool)
}

impl Asked {
    /// Adds a field.
    pub fn field(&mut self, name: &str, value: &str) {
        self.fields.push((name.to_owned(), value.to_owned()));
    }

    /// With this field in place of the one that there is.
    fn with(mut self, name: &str, value: &str) -> Self {
        self.fields.retain(|(other, _)| other != name);
        self.field(name, value);
        self
    }

    fn with_session(self, session: SessionText) -> Self {
        let text = std::str::from_utf8(&session).expect("ASCII").to_owned();
        self.with("mcp-session-id", &text)
    }

    /// As HTTP/1.1 has it, for one that closes its connection.
    pub fn http1(&self) -> Vec<u8> {
        let mut head =
            format!("{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", self.method, self.path);
        for (name, value) in &self.fields {
            head += &format!("{name}: {value}\r\n");
        }
        if !self.body.is_empty() {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        (head + "\r\n" + &self.body).into_bytes()
    }

    /// As HTTP/2 has it.
    pub fn http2(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let pseudo = [
            (":method", self.method),
            (":scheme", "http"),
            (":authority", "localhost"),
            (":path", self.path),
        ];
        let fields = self.fields.iter().map(|(name, value)| (&name[..], &value[..]));
        pseudo.into_iter().chain(fields).map(|(name, value)| (name.into(), value.into())).collect()
    }
}
