//! What a row says, and the pieces that rows are made of.

pub use crate::framing::PING;

/// What becomes of the connection after a row's last answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The next request is answered.
    Open,
    /// The answer says that the connection ends, and it ends.
    Closed,
    /// The connection ends and no answer said so: what is wrong came behind the answer.
    Dropped,
}

/// The server that a row is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// With the limits that every server has.
    Usual,
    /// With limits so low that every one can be met byte by byte: see `cells`.
    Narrow,
}

/// One request, or what is sent as one.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    /// What decides: a section of RFC 9110 or RFC 9112 (`9112 2.2`), and where that leaves a choice, what was chosen.
    pub rule: &'static str,
    pub bytes: Vec<u8>,
    /// The statuses of its answers. Nearly always one.
    pub answers: Vec<u16>,
    pub then: Then,
    /// The verb that the answers are read for.
    pub verb: &'static str,
    pub world: World,
    /// The id that the last answer repeats, where the row is a good request.
    pub id: Option<&'static str>,
}

impl Row {
    fn new(name: &'static str, rule: &'static str, answers: &[u16], then: Then, bytes: Vec<u8>) -> Self {
        let (answers, verb, world, id) = (answers.to_vec(), "POST", World::Usual, None);
        Self { name, rule, bytes, answers, then, verb, world, id }
    }

    pub fn verb(mut self, verb: &'static str) -> Self {
        self.verb = verb;
        self
    }

    pub fn narrow(mut self) -> Self {
        self.world = World::Narrow;
        self
    }
}

/// Answered, and the connection ends.
pub fn refused(name: &'static str, rule: &'static str, status: u16, bytes: impl AsRef<[u8]>) -> Row {
    Row::new(name, rule, &[status], Then::Closed, bytes.as_ref().to_vec())
}

/// Answered, well or not, and the connection goes on.
pub fn served(name: &'static str, rule: &'static str, status: u16, bytes: impl AsRef<[u8]>) -> Row {
    Row::new(name, rule, &[status], Then::Open, bytes.as_ref().to_vec())
}

/// Answered before it is read, and found to be unreadable.
pub fn dropped(name: &'static str, rule: &'static str, status: u16, bytes: impl AsRef<[u8]>) -> Row {
    Row::new(name, rule, &[status], Then::Dropped, bytes.as_ref().to_vec())
}

/// More than one request.
pub fn several(
    name: &'static str,
    rule: &'static str,
    answers: &[u16],
    then: Then,
    bytes: impl AsRef<[u8]>,
) -> Row {
    Row::new(name, rule, answers, then, bytes.as_ref().to_vec())
}

/// A good request whose answer repeats `id`. Its head is that of `sized`, so that a server which remembers heads remembers it.
pub fn good(id: &'static str) -> Row {
    let body = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#);
    Row { id: Some(id), ..served(id, "the usual request", 200, sized(body)) }
}

/// What a smuggler would like to see answered: a whole request with an id that no answer may ever repeat.
pub fn smuggled() -> String {
    const BODY: &str = r#"{"jsonrpc":"2.0","id":"smuggled","method":"ping"}"#;
    String::from_utf8(sized(BODY)).expect("text")
}

/// A shorter one; its answer would be one too many.
pub const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n";

pub const HOST: &str = "Host: localhost\r\n";
pub const TYPE: &str = "Content-Type: application/json\r\n";

fn joined(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}

/// A POST with header lines behind those that every POST has, and whatever follows the head.
pub fn post(fields: impl AsRef<[u8]>, rest: impl AsRef<[u8]>) -> Vec<u8> {
    let start = format!("POST /mcp HTTP/1.1\r\n{HOST}{TYPE}");
    joined(&[start.as_bytes(), fields.as_ref(), b"\r\n", rest.as_ref()])
}

/// A POST of a body.
pub fn sized(body: impl AsRef<[u8]>) -> Vec<u8> {
    post(length(body.as_ref().len()), body)
}

/// The header line that tells a length.
pub fn length(of: usize) -> String {
    format!("Content-Length: {of}\r\n")
}

/// A ping with another first line.
pub fn line(line: impl AsRef<[u8]>) -> Vec<u8> {
    let rest = format!("\r\n{HOST}{TYPE}{}\r\n{PING}", length(PING.len()));
    joined(&[line.as_ref(), rest.as_bytes()])
}

/// A ping with header lines in the place of `Host`.
pub fn ping_with(fields: impl AsRef<[u8]>) -> Vec<u8> {
    let rest = format!("{TYPE}{}\r\n{PING}", length(PING.len()));
    joined(&[b"POST /mcp HTTP/1.1\r\n", fields.as_ref(), rest.as_bytes()])
}

/// A chunked POST.
pub fn chunked(wire: impl AsRef<[u8]>) -> Vec<u8> {
    post("Transfer-Encoding: chunked\r\n", wire)
}

/// One chunk.
pub fn chunk(data: &str) -> String {
    format!("{:x}\r\n{data}\r\n", data.len())
}

/// Any request line and header lines with a body behind them, its length told.
pub fn with_body(head: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let head = format!("{head}{HOST}{}\r\n", length(body.as_ref().len()));
    joined(&[head.as_bytes(), body.as_ref()])
}
