//! The road as the wire contract has it, read naively: which row refuses a request, or how it is taken. Everything is read from the
//! request's own fields and text, in the order of the stages.

use twolane::base::limits::Limits;
use twolane::reply::SessionText;
use twolane::tables::rejection::Rejection;

mod head;
mod lanes;
mod message;
mod params;
mod session;

pub use head::accepts;
use head::origin;
pub use lanes::is_legacy_method;
use message::{Kind, is_id, kind, rejection_id};
pub use params::{Lacks, declares};
pub use session::Session;

use crate::json::{self, Json};
use crate::rig::Request;
use crate::tables::{self, Credential};
use crate::world::{self, Options};

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Another path: 404, and no rejection.
    NotFound,
    /// The row, and the id that is echoed.
    Refused(Rejection, Option<Json>),
    /// 202.
    Accepted,
    /// 200 with an answer for this id.
    Answered(Answered),
    /// 200 with an array, or 202: each element's verdict. `None`s are answered with nothing.
    Batch(Vec<Option<Element>>),
    /// GET: a stream of this session's, on from this event if it is still there. `or_over`: what it would go on with may be over.
    Stream { session: SessionText, last: Option<Vec<u8>>, or_over: bool },
    /// DELETE: 200.
    Ended,
    /// 204.
    Preflight,
}

impl Verdict {
    /// What it comes to where a handler finds out on its way what it wants for.
    pub fn late(self, mark: Option<Rejection>) -> Self {
        match (&self, mark) {
            (Self::Answered(answered), Some(row @ Rejection::MissingClientCapability))
                if answered.lacks == Lacks::Perhaps =>
            {
                Self::Refused(row, Some(answered.id.clone()))
            }
            _ => self,
        }
    }
}

/// A request that reached its method.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub id: Json,
    pub modern: bool,
    pub method: String,
    /// `initialize` that opens a session of this revision.
    pub opens: Option<&'static str>,
    /// The session it was sent in.
    pub session: Option<SessionText>,
    /// Whether it wants for a capability that its client has not declared.
    pub lacks: Lacks,
    /// What a `subscriptions/listen` that is well asked for is told of.
    pub listens: Option<Listens>,
}

/// What a listener is told of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listens {
    /// As [`TOPICS`] numbers them.
    pub topics: u8,
    pub resources: Vec<String>,
    /// Asked for; which of them are honoured is the server's to say.
    pub tasks: Vec<String>,
}

/// The lists that change: what asks for them, and what tells of them.
pub const TOPICS: [(&str, &str); 3] = [
    ("toolsListChanged", "notifications/tools/list_changed"),
    ("promptsListChanged", "notifications/prompts/list_changed"),
    ("resourcesListChanged", "notifications/resources/list_changed"),
];

#[derive(Debug, Clone, PartialEq)]
pub enum Element {
    Refused(Rejection, Option<Json>),
    Answered(Answered),
}

/// Everything that a server remembers.
#[derive(Debug)]
pub struct Model {
    pub options: Options,
    pub limits: Limits,
    pub now_ms: u64,
    pub draining: bool,
    pub limited: bool,
    /// How many listeners are open.
    pub listeners: u64,
    pub sessions: Vec<Session>,
}

const LEGACY: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const MODERN: &str = "2026-07-28";
/// A refusal by a row, without an id yet.
type Checked<T> = Result<T, Rejection>;

impl Model {
    /// Judges a request and takes note of what it changes. `None`: this reading is too naive for it.
    pub fn judge(&mut self, request: &Request) -> Option<Verdict> {
        if ![&b"/mcp"[..], b"/mcp/"].contains(&request.path()) {
            return Some(Verdict::NotFound);
        }
        if self.draining {
            return Some(Verdict::Refused(Rejection::Draining, None));
        }
        Some(match &request.method[..] {
            b"POST" => match self.by_head(request) {
                Err(row) => Verdict::Refused(row?, None),
                Ok(()) => self.post(request),
            },
            b"GET" if accepts(request).is_none() => return None,
            b"GET" | b"DELETE" => self.bodiless(request).unwrap_or_else(|row| Verdict::Refused(row, None)),
            method => match origin(request) {
                Err(row) => Verdict::Refused(row, None),
                Ok(()) => {
                    let asks = request.values("access-control-request-method").len() == 1;
                    if method == b"OPTIONS" && asks && !request.values("origin").is_empty() {
                        Verdict::Preflight
                    } else {
                        Verdict::Refused(Rejection::MethodNotAllowed, None)
                    }
                }
            },
        })
    }

    /// `origin`, and arms 1 to 7 of `parse`; `Err(None)` where this reading is too naive.
    fn by_head(&self, request: &Request) -> Result<(), Option<Rejection>> {
        origin(request)?;
        let types = request.values("content-type");
        if types.len() > 1 {
            return Err(Some(Rejection::DuplicatedContentType));
        }
        if let Some(query) = request.query() {
            if query.len() as u64 > self.limits.query {
                return Err(Some(Rejection::QueryTooLong));
            }
            if !tables::verdict(&tables::QUERIES, query) {
                return Err(Some(Rejection::QueryNotUtf8));
            }
        }
        if !types.iter().any(|value| tables::verdict(&tables::CONTENT_TYPES, value)) {
            return Err(Some(Rejection::UnsupportedMediaType));
        }
        if !request
            .values("content-encoding")
            .iter()
            .all(|value| tables::verdict(&tables::CONTENT_ENCODINGS, value))
        {
            return Err(Some(Rejection::UnsupportedContentEncoding));
        }
        let (json, stream) = accepts(request).ok_or(None)?;
        if !json && !stream {
            return Err(Some(Rejection::NotAcceptable));
        }
        let len = request.body.len() as u64;
        let stranger = self.options.auth && request.values("authorization").is_empty();
        if request.declared && len > self.limits.body {
            return Err(Some(Rejection::BodyTooLarge));
        }
        if stranger && len > self.limits.unauthenticated_body {
            return Err(Some(Rejection::Unauthenticated));
        }
        if len > self.limits.body {
            return Err(Some(Rejection::BodyTooLarge));
        }
        Ok(())
    }

    fn post(&mut self, request: &Request) -> Verdict {
        let null = |row| Verdict::Refused(row, None);
        let Some(message) = json::accepted(&request.body, self.limits.json_depth as usize) else {
            return null(Rejection::MalformedJson);
        };
        if kind(&message) == Kind::Request && !message.get("id").is_some_and(is_id) {
            return null(Rejection::InvalidId);
        }
        match self.lanes(request, &message) {
            Ok(verdict) => verdict,
            Err(row) => Verdict::Refused(row, rejection_id(&message)),
        }
    }

    /// `auth`, `limit`, `singleton`: whose request it is.
    fn wire_checks(&self, request: &Request) -> Checked<Option<&'static str>> {
        let mut principal = None;
        if self.options.auth {
            let credential = match request.values("authorization")[..] {
                [] => Credential::Unauthenticated,
                [value] => tables::verdict(&tables::AUTHORIZATIONS, value),
                _ => Credential::Malformed,
            };
            match credential {
                Credential::Of(name) => principal = Some(name),
                Credential::Unauthenticated => return Err(Rejection::Unauthenticated),
                Credential::Malformed => return Err(Rejection::MalformedAuthorization),
                Credential::InsufficientScope => return Err(Rejection::InsufficientScope),
                Credential::ProviderError => return Err(Rejection::ProviderError),
            }
        }
        if self.limited {
            return Err(Rejection::RateLimited);
        }
        if request.values("mcp-session-id").len() > 1 {
            return Err(Rejection::DuplicatedSessionId);
        }
        if request.values("mcp-protocol-version").len() > 1 {
            return Err(Rejection::DuplicatedProtocolVersion);
        }
        Ok(principal)
    }

    fn bodiless(&mut self, request: &Request) -> Checked<Verdict> {
        origin(request)?;
        let principal = self.wire_checks(request)?;
        if !self.options.legacy {
            return Err(Rejection::LaneOff);
        }
        if request.values("mcp-protocol-version") == [MODERN.as_bytes()] {
            return Err(Rejection::ModernVersion);
        }
        let delete = request.method == b"DELETE";
        let Some(id) = request.values("mcp-session-id").first().copied() else {
            return Err(if delete { Rejection::MissingSessionId } else { Rejection::NoStreamOffered });
        };
        let at = self.find(request, id, principal)?;
        if delete {
            self.sessions.remove(at);
            return Ok(Verdict::Ended);
        }
        // `judge` has seen to it that this can be told.
        if !accepts(request).is_some_and(|(_, stream)| stream) {
            return Err(Rejection::GetNotAcceptable);
        }
        let last = match request.values("last-event-id")[..] {
            [last] => Some(last.to_vec()),
            _ => None,
        };
        Ok(Verdict::Stream { session: self.sessions[at].id, or_over: last.is_some(), last })
    }

    /// What a verdict comes to where it leaves a choice, by the row that was marked. Takes note of it.
    pub fn settled(&mut self, verdict: Verdict, mark: Option<Rejection>) -> Verdict {
        match (&verdict, mark) {
            (Verdict::Stream { or_over: true, .. }, Some(row @ Rejection::NoStreamOffered)) => {
                Verdict::Refused(row, None)
            }
            (Verdict::Stream { session, .. }, _) => {
                let at = self.sessions.iter().position(|known| known.id == *session).expect("it was found");
                self.touch(at);
                verdict
            }
            _ => verdict.late(mark),
        }
    }

    /// Sessions that are idle end; says how many.
    pub fn sweep(&mut self) -> u64 {
        let before = self.sessions.len();
        let (now_ms, idle_ms) = (self.now_ms, self.limits.session_idle);
        self.sessions.retain_mut(|session| !session.is_idle(now_ms, idle_ms));
        (before - self.sessions.len()) as u64
    }
}

/// How often handlers may have run for a message.
pub fn most_calls(answered: &Answered) -> u64 {
    const CALLING: [&str; 4] = ["tools/call", "resources/read", "prompts/get", "completion/complete"];
    u64::from(CALLING.contains(&&answered.method[..]))
}

/// Limits as the model's world has them.
pub fn limits() -> Limits {
    world::limits()
}
