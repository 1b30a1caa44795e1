//! One request after the other over a connection that waits: sessions are opened so, and what is held is.

use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use crate::answer::{Answer, Input, field};
use crate::args::Fallible;
use crate::work::post;

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection.
#[derive(Debug)]
pub(crate) struct Dialogue {
    pub(crate) stream: TcpStream,
    input: Input,
    port: u16,
}

impl Dialogue {
    pub(crate) fn open(port: u16) -> Fallible<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, input: Input::default(), port })
    }

    /// Sends a request and takes its whole answer.
    pub(crate) fn ask(&mut self, request: &[u8]) -> Fallible<Answer<'_>> {
        write_all(&self.stream, request)?;
        // Asked twice, since what is borrowed in a loop cannot be returned from it.
        while !self.input.is_whole()? {
            self.input.fill(&mut self.stream)?;
        }
        Ok(self.input.take()?.ok_or("an answer was there and is not")?)
    }

    /// Sends a request whose answer is an event stream, and takes the begin of it.
    pub(crate) fn listen(&mut self, request: &[u8]) -> Fallible<()> {
        write_all(&self.stream, request)?;
        loop {
            if let Some(answer) = self.input.peek()? {
                let kind = field(answer.head, b"content-type").unwrap_or_default();
                let streams = answer.status == 200 && kind.starts_with(b"text/event-stream");
                return if streams { Ok(()) } else { Err(format!("no stream: {}", answer.text()).into()) };
            }
            self.input.fill(&mut self.stream)?;
        }
    }

    /// Opens a legacy session: its id.
    pub(crate) fn open_session(&mut self) -> Fallible<String> {
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1.0"}}}"#;
        let initialize = post(self.port, "application/json", "", None, body);
        let answer = self.ask(initialize.as_bytes())?;
        let id = field(answer.head, b"mcp-session-id").unwrap_or_default();
        if answer.status != 200 || id.is_empty() {
            return Err(format!("no session: {}", answer.text()).into());
        }
        let id = String::from_utf8(id.to_vec())?;
        let body = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let fields = "MCP-Protocol-Version: 2025-11-25\r\n";
        let initialized = post(self.port, "application/json", fields, Some(&id), body);
        let answer = self.ask(initialized.as_bytes())?;
        if answer.status != 202 {
            return Err(format!("the session is not ready: {}", answer.text()).into());
        }
        Ok(id)
    }
}

fn write_all(mut stream: &TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    std::io::Write::write_all(&mut stream, bytes)
}
