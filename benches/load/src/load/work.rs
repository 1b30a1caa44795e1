//! Requests, and what each must be answered with.

use std::ops::RangeInclusive;
use std::str::FromStr;

use memchr::memmem;
use twolane_load::message;

use crate::answer::Answer;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// `tools/call` of `echo` on the modern lane.
    ModernEcho,
    /// The same on a legacy session.
    LegacyEcho,
    LegacyPing,
    /// `server/discover`.
    Discover,
    /// A modern echo from a page that may not call.
    BadOrigin,
    /// A modern echo that is not said to be JSON.
    BadType,
    /// A modern echo that ends in the middle.
    BadJson,
    /// `tools/call` of `burn`, which keeps a core busy for so many milliseconds.
    Burn(u64),
}

impl FromStr for Work {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Ok(match name {
            "modern-echo" => Self::ModernEcho,
            "legacy-echo" => Self::LegacyEcho,
            "legacy-ping" => Self::LegacyPing,
            "discover" => Self::Discover,
            "bad-origin" => Self::BadOrigin,
            "bad-type" => Self::BadType,
            "bad-json" => Self::BadJson,
            _ => return Err(format!("--work {name}: there is no such work")),
        })
    }
}

impl Work {
    pub(crate) const fn needs_session(self) -> bool {
        matches!(self, Self::LegacyEcho | Self::LegacyPing)
    }

    /// The fields that go with it, beside those of every POST.
    pub(crate) fn fields(self) -> &'static str {
        match self {
            Self::ModernEcho | Self::BadType | Self::BadJson => {
                "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n"
            }
            Self::BadOrigin => {
                "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\nOrigin: http://evil.example\r\n"
            }
            Self::Burn(_) => {
                "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: burn\r\n"
            }
            Self::Discover => "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n",
            Self::LegacyEcho | Self::LegacyPing => "MCP-Protocol-Version: 2025-11-25\r\n",
        }
    }

    /// The message, whose id is [`FIRST_ID`].
    pub(crate) fn body(self, bytes: usize) -> String {
        let echo = || format!(r#""name":"echo","arguments":{{"message":"{}"}}"#, message(bytes));
        match self {
            Self::ModernEcho | Self::BadOrigin | Self::BadType => modern("tools/call", &echo()),
            Self::BadJson => {
                let mut body = modern("tools/call", &echo());
                body.truncate(body.len() / 2);
                body
            }
            Self::Discover => modern("server/discover", ""),
            Self::Burn(ms) => modern("tools/call", &format!(r#""name":"burn","arguments":{{"ms":{ms}}}"#)),
            Self::LegacyEcho => {
                format!(
                    r#"{{"jsonrpc":"2.0","id":{FIRST_ID},"method":"tools/call","params":{{{}}}}}"#,
                    echo()
                )
            }
            Self::LegacyPing => format!(r#"{{"jsonrpc":"2.0","id":{FIRST_ID},"method":"ping"}}"#),
        }
    }

    fn status(self) -> RangeInclusive<u16> {
        match self {
            Self::BadOrigin => 403..=403,
            Self::BadType => 415..=415,
            // Servers differ in what they call it.
            Self::BadJson => 400..=499,
            Self::ModernEcho | Self::LegacyEcho | Self::LegacyPing | Self::Discover | Self::Burn(_) => {
                200..=200
            }
        }
    }

    /// What its result begins with, or contains early.
    fn words(self, bytes: usize) -> String {
        match self {
            Self::ModernEcho | Self::LegacyEcho => format!(r#""text":"{}"#, message(bytes.min(16))),
            Self::LegacyPing => r#""result":{}"#.to_owned(),
            Self::Discover => r#""supportedVersions":["#.to_owned(),
            Self::Burn(_) => r#""text":"burned"#.to_owned(),
            Self::BadOrigin | Self::BadType | Self::BadJson => String::new(),
        }
    }
}

/// The `_meta` that every modern request carries.
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// Ids have nine digits, so that one takes the other's place.
pub(crate) const FIRST_ID: u64 = 100_000_000;
const ID_DIGITS: usize = 9;

pub(crate) fn modern(method: &str, params: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    format!(r#"{{"jsonrpc":"2.0","id":{FIRST_ID},"method":"{method}","params":{{{params}{comma}{META}}}}}"#)
}

/// A POST over HTTP/1.1.
pub(crate) fn post(port: u16, content_type: &str, fields: &str, session: Option<&str>, body: &str) -> String {
    let session = session.map_or(String::new(), |id| format!("Mcp-Session-Id: {id}\r\n"));
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: {content_type}\r\nAccept: application/json, text/event-stream\r\n{fields}{session}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A request as it goes out again and again, but for its id.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) bytes: Vec<u8>,
    /// Where the id stands; a body cut short has none worth changing.
    id_at: Option<usize>,
    status: RangeInclusive<u16>,
    words: String,
    /// What the answer's body is at least as long as.
    least: usize,
    canned: bool,
}

impl Request {
    pub(crate) fn new(work: Work, port: u16, bytes: usize, session: Option<&str>, canned: bool) -> Self {
        let body = work.body(bytes);
        let content_type = if work == Work::BadType { "text/plain" } else { "application/json" };
        let request = post(port, content_type, work.fields(), session, &body);
        let id_at = body.find(&FIRST_ID.to_string()).map(|at| request.len() - body.len() + at);
        let echoes = matches!(work, Work::ModernEcho | Work::LegacyEcho);
        Self {
            bytes: request.into_bytes(),
            id_at,
            status: if canned { 200..=200 } else { work.status() },
            words: if canned { format!(r#""text":"{}"#, message(bytes.min(16))) } else { work.words(bytes) },
            least: if echoes { bytes } else { 0 },
            canned,
        }
    }

    /// Gives the request that stands in `bytes` its id.
    pub(crate) fn number(&self, bytes: &mut [u8], mut id: u64) {
        let Some(at) = self.id_at else { return };
        for digit in bytes[at..at + ID_DIGITS].iter_mut().rev() {
            *digit = b'0' + (id % 10) as u8;
            id /= 10;
        }
    }

    /// Whether this answers the request of that id.
    pub(crate) fn accepts(&self, answer: &Answer<'_>, id: u64) -> bool {
        let body = answer.body;
        let begin = &body[..body.len().min(512)];
        self.status.contains(&answer.status)
            && body.len() >= self.least
            && memmem::find(begin, self.words.as_bytes()).is_some()
            && (self.canned || answer.status != 200 || has_id(body, id))
    }
}

/// Whether the id stands near the begin or the end, where servers put it.
fn has_id(body: &[u8], id: u64) -> bool {
    let mut wanted = *br#""id":000000000"#;
    let mut rest = id;
    for digit in wanted[5..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let (begin, end) = (&body[..body.len().min(512)], &body[body.len().saturating_sub(512)..]);
    memmem::find(begin, &wanted).is_some() || memmem::find(end, &wanted).is_some()
}
