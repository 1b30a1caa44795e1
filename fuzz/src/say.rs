//! A server with a tool that says what it is told to, and a client that reads its streams.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use arbitrary::Arbitrary;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use twolane::base::limits::Limits;
use twolane::conn::stop::Stop;
use twolane::conn::{Service, serve};
use twolane::reply::SessionText;
use twolane::road::Peer;
use twolane::tools::{Context, Registry, Typed};

use crate::rig::Rig;
use crate::whatwg::{self, Lines, Message};
use crate::world::{Options, Tools, World, go_on_later};

/// A text that has what streams are framed with in it.
#[derive(Debug, Arbitrary)]
pub struct Text(Vec<Piece>);

#[derive(Debug, Arbitrary)]
enum Piece {
    Special(u8),
    Plain(String),
    Long(u16, u8),
    Any(char),
}

const SPECIAL: [&str; 22] = [
    "\n",
    "\r",
    "\r\n",
    "\u{2028}",
    "\u{2029}",
    "\u{85}",
    "\0",
    "\u{b}",
    "\u{c}",
    "\u{feff}",
    "data: x",
    "\n\n",
    "id: 7",
    "retry: 1",
    ":",
    "\"",
    "\\",
    "\u{2027}",
    "\u{c2}",
    "\u{10ffff}",
    "\\u2028",
    "\u{1f}",
];

impl Text {
    pub fn text(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Special(at) => SPECIAL[usize::from(*at) % SPECIAL.len()].to_owned(),
            Piece::Plain(text) => text.clone(),
            Piece::Long(times, at) => {
                SPECIAL[usize::from(*at) % SPECIAL.len()].repeat(usize::from(*times) % 700)
            }
            Piece::Any(any) => any.to_string(),
        };
        self.0.iter().take(12).map(piece).collect()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Say {
    texts: Vec<String>,
}

/// The tool, compiled once.
#[derive(Debug)]
pub struct Sayer(Tools);

impl Default for Sayer {
    fn default() -> Self {
        let registry = Registry::default();
        let say = Typed::new(
            "say",
            "Says it, and the last again as its answer.",
            |say: Say, context: Context| async move {
                for (at, text) in say.texts.iter().enumerate() {
                    context.progress(at as f64 + 1.0, None, Some(text));
                    go_on_later().await;
                }
                say.texts.last().cloned().unwrap_or_default()
            },
        );
        registry.add(say).expect("a tool");
        Self(Tools::of(registry))
    }
}

/// Has it said, and reads what comes; in two parts where the client leaves after so many bytes.
pub async fn check(sayer: &Sayer, said: &[String], modern: bool, leave: Option<u16>) {
    let mut limits = Limits::default();
    limits.stream_retry = 5;
    let world = World::new(Options { legacy: true, auth: false }, &sayer.0, limits);
    let session = Rig::new(&world).open_session("2025-11-25", "{}", true).expect("a session");
    let request = call(said, (!modern).then_some(&session));
    let (first, ended) = talk(&world, &request, if modern { None } else { leave }).await;
    let mut stream = whole_events(&first).to_vec();
    if !ended {
        // What has not come whole has not come.
        let last = whatwg::read(&stream, Lines::Standard).last_id;
        if last.is_empty() {
            return;
        }
        let (rest, ended) = talk(&world, &get(&session, &last), None).await;
        assert!(ended, "a stream that is come back to ends: {}", rest.escape_ascii());
        stream.extend_from_slice(whole_events(&rest));
    }
    for lines in [Lines::Standard, Lines::Every] {
        judge(&whatwg::read(&stream, lines).messages, said, modern);
    }
}

fn judge(messages: &[Message], said: &[String], modern: bool) {
    // The first has no data: it gives an id to come back with.
    let has_data = |message: &&Message| !message.data.is_empty();
    assert_eq!(messages.iter().filter(has_data).count(), messages.len() - usize::from(!modern));
    let values: Vec<Value> = messages
        .iter()
        .filter(has_data)
        .map(|message| serde_json::from_str(&message.data).expect("JSON"))
        .collect();
    let (answer, before) = values.split_last().expect("an answer");
    let got: Vec<&str> =
        before.iter().map(|value| value["params"]["message"].as_str().expect("a message")).collect();
    assert_eq!(got, said, "what was said on the way");
    assert_eq!(answer["result"]["content"][0]["text"].as_str(), said.last().map(String::as_str));
    assert_eq!(answer["id"], "\u{2028}");
    let ids: HashSet<&str> = messages.iter().map(|message| &message.id[..]).collect();
    assert_eq!(ids.len(), if modern { 1 } else { messages.len() }, "{ids:?}");
    assert!(modern == ids.contains(""));
}

/// Without the part of an event behind the last whole one.
fn whole_events(stream: &[u8]) -> &[u8] {
    let end = stream.windows(2).rposition(|pair| pair == b"\n\n").map_or(0, |at| at + 2);
    &stream[..end]
}

fn call(said: &[String], session: Option<&SessionText>) -> Vec<u8> {
    let texts = serde_json::to_string(said).expect("texts");
    let meta = match session {
        Some(_) => "",
        None => {
            r#","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#
        }
    };
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":"\u2028","method":"tools/call","params":{{"name":"say","arguments":{{"texts":{texts}}},"_meta":{{"progressToken":"\r\n"{meta}}}}}}}"#
    );
    // The text above is raw: the escapes are the JSON's own.
    let fields = match session {
        Some(session) => format!("Mcp-Session-Id: {}\r\n", String::from_utf8_lossy(session)),
        None => "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: say\r\n".to_owned(),
    };
    let length = body.len();
    format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{fields}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

fn get(session: &SessionText, last: &str) -> Vec<u8> {
    let session = String::from_utf8_lossy(session);
    format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\nLast-Event-ID: {last}\r\n\r\n").into_bytes()
}

/// Gives the stream that answers a request, and whether it came to its end.
async fn talk(world: &World, request: &[u8], leave: Option<u16>) -> (Vec<u8>, bool) {
    let service = Arc::new(Service::new(world.road.clone(), None, Stop::new()));
    let (mut ours, theirs) = tokio::io::duplex(if leave.is_some() { 64 } else { 1 << 20 });
    tokio::spawn(serve(service, theirs, Peer::default(), ()));
    let mut most = leave.map_or(usize::MAX, usize::from);
    let mut bytes = Vec::new();
    ours.write_all(request).await.expect("it is there");
    loop {
        if let Some((stream, ended)) = unchunk(&bytes)
            && (ended || most == 0)
        {
            drop(ours);
            // The server notices.
            tokio::time::sleep(Duration::from_secs(5)).await;
            return (stream, ended);
        }
        let mut piece = [0; 512];
        let len = most.min(piece.len()).max(1);
        let len = ours.read(&mut piece[..len]).await.expect("a pipe does not fail");
        assert!(len > 0, "it ends without an end: {}", bytes.escape_ascii());
        bytes.extend_from_slice(&piece[..len]);
        most = most.saturating_sub(len);
    }
}

/// What the chunks hold that have come, and whether the last one has. `None` where the head has not.
fn unchunk(bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).expect("our own words");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/event-stream"), "{head}");
    let (mut rest, mut stream) = (&bytes[end + 4..], Vec::new());
    loop {
        let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") else {
            return Some((stream, false));
        };
        let digits = std::str::from_utf8(&rest[..end]).expect("digits");
        let size = usize::from_str_radix(digits, 16).expect("a size");
        rest = &rest[end + 2..];
        if size == 0 {
            return Some((stream, true));
        }
        stream.extend_from_slice(&rest[..size.min(rest.len())]);
        let Some(tail) = rest.get(size + 2..) else { return Some((stream, false)) };
        rest = tail;
    }
}
