//! The one renderer of rejections. A refusal becomes bytes, a mark, an event and a count here and nowhere else, so each happens exactly
//! once.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Allow, Content, Exchange, Extra, Mark, Reply, json};
use crate::tables::rejection::{IdRule, Rejection, Row, RowHeader};
use crate::tables::routes::{Dialect, Verb};
use crate::view::id::Id;

/// The longest piece of a peer's own bytes that a diagnosis repeats.
pub const QUOTE: usize = 256;

/// What a diagnosis repeats of a peer's text: cut at [`QUOTE`] bytes, and on one line, with control characters escaped.
#[must_use]
pub fn quote(text: &str) -> Cow<'_, str> {
    let cut = &text[..text.floor_char_boundary(QUOTE)];
    if cut.contains(char::is_control) {
        let mut line = String::with_capacity(cut.len() + 16);
        for c in cut.chars() {
            if c.is_control() {
                line.extend(c.escape_default());
            } else {
                line.push(c);
            }
        }
        Cow::Owned(line)
    } else {
        Cow::Borrowed(cut)
    }
}

/// The default of `Retry-After` where the refusing stage has no better figure, in seconds.
const RETRY_AFTER: u32 = 1;

/// A refusal on its way to the renderer: the row, and what the row's text has a place for. It carries no id: the renderer takes that
/// from the message, if there is one.
#[derive(Debug)]
pub struct Refusal<'a> {
    /// The row.
    pub rejection: Rejection,
    /// What stands at `{}` in the row's text.
    pub detail: Detail<'a>,
}

const _: () = assert!(size_of::<Refusal<'_>>() <= 32, "refusals are returned by value through every stage");

/// The particulars of a refusal.
#[derive(Debug)]
pub enum Detail<'a> {
    /// The row's text stands alone.
    None,
    /// Bytes the peer sent; quoted, cut at [`QUOTE`].
    Bytes(&'a [u8]),
    /// Our own words.
    Text(&'static str),
    /// A ceiling or a time.
    Number(u64),
    /// Our own words, and `Retry-After` in seconds: what sheds load allocates nothing.
    Later(&'static str, u32),
    /// Anything that needs more room; only uncommon refusals pay for it.
    Fault(Box<Fault>),
}

/// A refusal's particulars that do not fit in a few words.
#[derive(Debug, Default)]
pub struct Fault {
    /// What stands at `{}`.
    pub text: String,
    /// The error object's `data`, as JSON.
    pub data: Option<Vec<u8>>,
    /// `WWW-Authenticate`.
    pub challenge: Option<Arc<str>>,
    /// `Retry-After`, in seconds.
    pub retry_after: Option<u32>,
}

impl<'a> Refusal<'a> {
    /// A refusal whose row says everything.
    #[must_use]
    pub const fn plain(rejection: Rejection) -> Self {
        Self { rejection, detail: Detail::None }
    }

    /// A refusal that quotes what the peer sent.
    #[must_use]
    pub const fn quoting(rejection: Rejection, bytes: &'a [u8]) -> Self {
        Self { rejection, detail: Detail::Bytes(bytes) }
    }

    /// A refusal with words of ours.
    #[must_use]
    pub const fn text(rejection: Rejection, text: &'static str) -> Self {
        Self { rejection, detail: Detail::Text(text) }
    }

    /// A refusal that names a figure.
    #[must_use]
    pub const fn number(rejection: Rejection, number: u64) -> Self {
        Self { rejection, detail: Detail::Number(number) }
    }

    /// A refusal with words of ours, and with the seconds after which it is worth to come back.
    #[must_use]
    pub const fn later(rejection: Rejection, text: &'static str, seconds: u32) -> Self {
        Self { rejection, detail: Detail::Later(text, seconds) }
    }

    /// A refusal with more to say.
    #[must_use]
    pub fn fault(rejection: Rejection, fault: Fault) -> Self {
        Self { rejection, detail: Detail::Fault(Box::new(fault)) }
    }
}

/// How often each row was met, readable by the embedding program.
#[derive(Debug)]
pub struct Counters([AtomicU64; Rejection::COUNT]);

impl Default for Counters {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; Rejection::COUNT])
    }
}

impl Counters {
    /// How often `rejection` was answered since the server was made.
    #[must_use]
    pub fn get(&self, rejection: Rejection) -> u64 {
        self.0[rejection.index()].load(Ordering::Relaxed)
    }

    fn add(&self, rejection: Rejection) {
        self.0[rejection.index()].fetch_add(1, Ordering::Relaxed);
    }
}

/// Where a refusal happened: what the renderer needs beyond the refusal itself.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The verb, which decides the dialect.
    pub verb: Verb,
    /// The id of the message: only a request that has been classified has one.
    pub id: Option<Id<'a>>,
    /// The verbs an `Allow` header would list.
    pub allow: Allow,
    /// `MCP-Protocol-Version` as sent, for the event.
    pub protocol: Option<&'a [u8]>,
}

/// Turns a refusal into its answer: the body in the route's dialect, the row's headers, the mark, the event, the count.
#[cold]
#[inline(never)]
pub fn render(refusal: Refusal<'_>, scene: Scene<'_>, counters: &Counters, exchange: &mut Exchange) -> Reply {
    let Refusal { rejection, detail } = refusal;
    let row = rejection.row();
    note(rejection, row, scene, counters, exchange);
    exchange.body.clear();
    let content = match scene.verb.dialect() {
        Dialect::JsonRpc if matches!(row.id, IdRule::RuleOrEmpty) && scene.id.is_none() => Content::Empty,
        Dialect::JsonRpc => {
            write_envelope(&mut exchange.body, row, &detail, scene.id);
            Content::Json
        }
        Dialect::PlainJson => {
            exchange.body.extend_from_slice(b"{\"error\":");
            write_message(&mut exchange.body, row, &detail);
            exchange.body.push(b'}');
            Content::Json
        }
    };
    Reply { status: row.status, content, close: row.closes, extra: extra(row, detail, scene.allow) }
}

/// Appends the error object of a refusal that is answered inside another body (an element of a batch), with mark, event and count.
pub fn render_element(refusal: &Refusal<'_>, scene: Scene<'_>, counters: &Counters, exchange: &mut Exchange) {
    let row = refusal.rejection.row();
    note(refusal.rejection, row, scene, counters, exchange);
    let mut body = std::mem::take(&mut exchange.body);
    write_envelope(&mut body, row, &refusal.detail, scene.id);
    exchange.body = body;
}

fn note(rejection: Rejection, row: &Row, scene: Scene<'_>, counters: &Counters, exchange: &mut Exchange) {
    counters.add(rejection);
    exchange.mark = Some(Mark(rejection));
    tracing::info!(
        target: "twolane::wire::reject",
        rejecter = row.rejecter.name(),
        reason = row.reason,
        verb = scene.verb.name(),
        protocol = scene.protocol.map(|bytes| tracing::field::display(bytes[..bytes.len().min(32)].escape_ascii())),
        era = exchange.era.map(|era| era.name()),
        status = row.status,
    );
}

fn write_envelope(out: &mut Vec<u8>, row: &Row, detail: &Detail<'_>, id: Option<Id<'_>>) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    match (row.id, id) {
        (IdRule::Rule | IdRule::RuleOrEmpty | IdRule::Request, Some(id)) => id.write(out),
        (IdRule::Null | IdRule::Plain | IdRule::Rule | IdRule::RuleOrEmpty | IdRule::Request, _) => {
            out.extend_from_slice(b"null")
        }
    }
    out.extend_from_slice(b",\"error\":{\"code\":");
    // Rows of other verbs have no code; on POST they would be an invalid request.
    json::write_int(out, if row.code == 0 { -32600 } else { row.code });
    out.extend_from_slice(b",\"message\":");
    write_message(out, row, detail);
    if let Detail::Fault(fault) = detail
        && let Some(data) = &fault.data
    {
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data);
    }
    out.extend_from_slice(b"}}");
}

fn write_message(out: &mut Vec<u8>, row: &Row, detail: &Detail<'_>) {
    let Some((before, after)) = row.text.split_once("{}") else {
        json::write_str(out, row.text);
        return;
    };
    out.push(b'"');
    json::write_str_part(out, before);
    match detail {
        Detail::None => {}
        Detail::Bytes(bytes) => {
            json::write_str_part(out, &quote(&String::from_utf8_lossy(&bytes[..bytes.len().min(QUOTE)])))
        }
        Detail::Text(text) | Detail::Later(text, _) => json::write_str_part(out, text),
        Detail::Number(number) => json::write_int(out, *number),
        Detail::Fault(fault) => json::write_str_part(out, &fault.text),
    }
    json::write_str_part(out, after);
    out.push(b'"');
}

fn extra(row: &Row, detail: Detail<'_>, allow: Allow) -> Extra {
    let fault = match detail {
        Detail::Fault(fault) => *fault,
        Detail::Later(_, seconds) => Fault { retry_after: Some(seconds), ..Fault::default() },
        Detail::None | Detail::Bytes(_) | Detail::Text(_) | Detail::Number(_) => Fault::default(),
    };
    match row.header {
        RowHeader::None => Extra::NONE,
        RowHeader::Allow => Extra { allow: Some(allow), ..Extra::NONE },
        RowHeader::RetryAfter => {
            Extra { retry_after: Some(fault.retry_after.unwrap_or(RETRY_AFTER)), ..Extra::NONE }
        }
        RowHeader::WwwAuthenticate => Extra { challenge: fault.challenge, ..Extra::NONE },
    }
}
