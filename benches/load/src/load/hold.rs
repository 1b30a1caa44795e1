//! Opens much of one kind and holds it, for somebody else to look at the server's memory meanwhile.

use std::io::{self, Read, Write};
use std::str::FromStr;

use twolane_load::flag;

use crate::args::{Fallible, at_least_one, port};
use crate::dialogue::Dialogue;
use crate::work::{FIRST_ID, Request, Work, modern, post};

/// What is held.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Connections that have brought one modern echo each.
    Connections,
    /// Legacy sessions, all opened over one connection.
    Sessions,
    /// Connections with a legacy session each, which has brought an echo.
    ConnectedSessions,
    /// The same, and on each connection the event stream of its session.
    Streams,
    /// Connections with a `subscriptions/listen` each.
    Listeners,
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Ok(match name {
            "connections" => Self::Connections,
            "sessions" => Self::Sessions,
            "connected-sessions" => Self::ConnectedSessions,
            "streams" => Self::Streams,
            "listeners" => Self::Listeners,
            _ => return Err(format!("there is no such kind: {name}")),
        })
    }
}

/// Opens, says so, waits until standard input ends, and looks whether all is still open.
pub(crate) fn run() -> Fallible<()> {
    let (port, count) = (port()?, at_least_one("--count", 1000)?);
    let kind: Kind = flag::<String>("--what", "connections".to_owned())?.parse()?;
    let canned = std::env::args().any(|argument| argument == "--canned");
    let mut asker = Asker { port, canned, id: FIRST_ID };
    if let Kind::Sessions = kind { sessions(&mut asker, count) } else { connections(&mut asker, kind, count) }
}

fn connections(asker: &mut Asker, kind: Kind, count: usize) -> Fallible<()> {
    let mut held = Vec::with_capacity(count);
    for _ in 0..count {
        let mut dialogue = Dialogue::open(asker.port)?;
        asker.occupy(kind, &mut dialogue)?;
        held.push(dialogue);
    }
    wait(count)?;
    let open = held.iter().filter(|dialogue| is_open(dialogue)).count();
    if open < count { Err(format!("{open} of {count} are still open").into()) } else { Ok(()) }
}

/// Sessions are still open if they answer.
fn sessions(asker: &mut Asker, count: usize) -> Fallible<()> {
    let mut dialogue = Dialogue::open(asker.port)?;
    let ids = (0..count).map(|_| dialogue.open_session()).collect::<Fallible<Vec<_>>>()?;
    wait(count)?;
    ids.iter().try_for_each(|id| asker.ask(&mut dialogue, Work::LegacyPing, Some(id)))
}

/// Says that everything is held, and waits for the end of standard input.
fn wait(count: usize) -> Fallible<()> {
    println!("{{\"held\":{count}}}");
    io::stdout().flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

struct Asker {
    port: u16,
    canned: bool,
    id: u64,
}

impl Asker {
    /// Brings a connection into the state that is held.
    fn occupy(&mut self, kind: Kind, dialogue: &mut Dialogue) -> Fallible<()> {
        match kind {
            Kind::Sessions => Ok(()),
            Kind::Connections => self.ask(dialogue, Work::ModernEcho, None),
            Kind::ConnectedSessions => {
                let session = dialogue.open_session()?;
                self.ask(dialogue, Work::LegacyEcho, Some(&session))
            }
            Kind::Streams => {
                let session = dialogue.open_session()?;
                self.ask(dialogue, Work::LegacyEcho, Some(&session))?;
                dialogue.listen(
                    format!(
                        "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAccept: text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n\r\n",
                        self.port
                    )
                    .as_bytes(),
                )
            }
            Kind::Listeners => {
                let body = modern("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);
                let fields = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n";
                dialogue.listen(post(self.port, "application/json", fields, None, &body).as_bytes())
            }
        }
    }

    fn ask(&mut self, dialogue: &mut Dialogue, work: Work, session: Option<&str>) -> Fallible<()> {
        self.id += 1;
        let mut request = Request::new(work, self.port, 16, session, self.canned);
        let mut bytes = std::mem::take(&mut request.bytes);
        request.number(&mut bytes, self.id);
        let answer = dialogue.ask(&bytes)?;
        if request.accepts(&answer, self.id) {
            Ok(())
        } else {
            Err(format!("wrong answer: {}", answer.text()).into())
        }
    }
}

/// Whether the server has not hung up: there is nothing to read, or something.
fn is_open(dialogue: &Dialogue) -> bool {
    let waits = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
    dialogue.stream.set_nonblocking(true).is_ok()
        && match dialogue.stream.peek(&mut [0]) {
            Ok(read) => read > 0,
            Err(error) => waits(&error),
        }
}
