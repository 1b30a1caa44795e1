//! The road as the wire contract has it, read naively: which row refuses a request, or how it is taken. Everything is read from the
//! request's own fields and text, in the order of the stages.

use twolane::base::limits::Limits;
use twolane::reply::SessionText;
use twolane::tables::rejection::Rejection;

mod head;
mod message;

pub use head::accepts;
use head::{check_version, is_legacy, origin};
use message::{Kind, answered, is_id, is_valid, kind, lacks_capability, opened, rejection_id};

use crate::binding::{self, Unfit};
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
    /// DELETE: 200.
    Ended,
    /// GET: an event stream that stays open, and whether it begins with a priming event.
    Stream { primed: bool },
    /// 204.
    Preflight,
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
}

#[derive(Debug, Clone, PartialEq)]
pub enum Element {
    Refused(Rejection, Option<Json>),
    Answered(Answered),
}

/// A session, as far as it can be known from outside.
#[derive(Debug, Clone)]
pub struct Session {
    pub id: SessionText,
    pub revision: &'static str,
    pub ready: bool,
    pub owner: Option<&'static str>,
    /// When its idle time began.
    pub seen_ms: u64,
    /// Its last open call has ended, and its idle time begins when somebody looks next.
    pub just_closed: bool,
}

impl Session {
    fn is_idle(&mut self, now_ms: u64, idle_ms: u64) -> bool {
        if std::mem::take(&mut self.just_closed) {
            self.seen_ms = now_ms;
        }
        now_ms - self.seen_ms >= idle_ms
    }
}

/// Everything that a server remembers.
#[derive(Debug)]
pub struct Model {
    pub options: Options,
    pub limits: Limits,
    pub now_ms: u64,
    pub draining: bool,
    pub limited: bool,
    pub sessions: Vec<Session>,
}

const LEGACY: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const MODERN: &str = "2026-07-28";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// The methods served, by lane.
const LEGACY_METHODS: [&str; 13] = [
    "initialize",
    "ping",
    "logging/setLevel",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];
const MODERN_METHODS: [&str; 9] = [
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];

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
            b"GET" | b"DELETE" => match self.bodiless(request) {
                Ok(verdict) => verdict?,
                Err(row) => Verdict::Refused(row, None),
            },
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

    fn lanes(&mut self, request: &Request, message: &Json) -> Checked<Verdict> {
        let principal = self.wire_checks(request)?;
        let kind = kind(message);
        let version = request.values("mcp-protocol-version").first().copied();
        let session = request.values("mcp-session-id").first().copied();
        let meta = message.get("params").and_then(|params| params.get("_meta"));
        let in_meta = meta.is_some_and(|meta| meta.get(VERSION_KEY).is_some());
        let modern = match kind {
            Kind::Response => false,
            _ if !self.options.legacy => true,
            Kind::Request | Kind::Notification if in_meta => true,
            _ => match version {
                None => false,
                Some(version) if version == MODERN.as_bytes() => true,
                Some(version) => !is_legacy(version) && session.is_none(),
            },
        };
        if modern {
            self.modern(request, message, kind)
        } else {
            self.legacy(request, message, kind, principal)
        }
    }

    fn modern(&self, request: &Request, message: &Json, kind: Kind) -> Checked<Verdict> {
        match kind {
            Kind::Request => {
                binding::protocol_fields(request, message, self.options.legacy)?;
                binding::mirrored(request, message).map_err(Unfit::row)?;
            }
            Kind::Notification => binding::mirrored_by_notification(request, message).map_err(Unfit::row)?,
            Kind::Response | Kind::Unknown => {}
        }
        if !is_valid(message, kind) {
            return Err(Rejection::InvalidMessage);
        }
        if kind != Kind::Request {
            return Ok(Verdict::Accepted);
        }
        let method = message.get("method").and_then(Json::as_str).unwrap_or_default();
        if !MODERN_METHODS.contains(&method) {
            return Err(Rejection::UnknownMethod);
        }
        if method == "tools/call" && lacks_capability(message) {
            return Err(Rejection::MissingClientCapability);
        }
        Ok(Verdict::Answered(answered(message, true)))
    }

    fn legacy(
        &mut self,
        request: &Request,
        message: &Json,
        kind: Kind,
        principal: Option<&'static str>,
    ) -> Checked<Verdict> {
        if !self.options.legacy {
            return Err(Rejection::InvalidMessage);
        }
        let method = message.get("method").and_then(Json::as_str).filter(|_| kind == Kind::Request);
        let sent = request.values("mcp-session-id").first().copied();
        let session = match (kind, method, sent) {
            (Kind::Unknown, ..) => return self.unknown(request, message, principal),
            (_, Some("initialize"), _) | (_, Some("ping"), None) => {
                check_version(request, None)?;
                None
            }
            (_, _, None) => return Err(Rejection::MissingSessionId),
            (_, _, Some(id)) => Some(self.find(request, id, principal)?),
        };
        if let Some(at) = session {
            let early = matches!(method, None | Some("ping" | "tools/list" | "tools/call"));
            if !self.sessions[at].ready && !early {
                return Err(Rejection::NotReady);
            }
        }
        if !is_valid(message, kind) {
            return Err(Rejection::InvalidMessage);
        }
        if let Some(at) = session {
            self.touch(at);
        }
        if kind != Kind::Request {
            self.note_ready(session, message);
            return Ok(Verdict::Accepted);
        }
        let opens = if method == Some("initialize") { opened(message) } else { None };
        if opens.is_some() && self.sessions.len() as u64 >= self.limits.sessions {
            return Err(Rejection::SessionCap);
        }
        Ok(Verdict::Answered(Answered {
            opens,
            session: session.map(|at| self.sessions[at].id),
            ..answered(message, false)
        }))
    }

    fn note_ready(&mut self, session: Option<usize>, message: &Json) {
        if let Some(at) = session
            && message.get("method").and_then(Json::as_str) == Some("notifications/initialized")
        {
            self.sessions[at].ready = true;
        }
    }

    /// A message was taken.
    fn touch(&mut self, at: usize) {
        (self.sessions[at].seen_ms, self.sessions[at].just_closed) = (self.now_ms, false);
    }

    /// A session that has been idle for too long has ended when somebody looks for it.
    fn find(&mut self, request: &Request, id: &[u8], principal: Option<&'static str>) -> Checked<usize> {
        let at =
            self.sessions.iter().position(|session| session.id == id).ok_or(Rejection::UnknownSession)?;
        if self.sessions[at].is_idle(self.now_ms, self.limits.session_idle) {
            self.sessions.remove(at);
            return Err(Rejection::UnknownSession);
        }
        let session = &self.sessions[at];
        if session.owner.is_some() && session.owner != principal {
            return Err(Rejection::UnknownSession);
        }
        check_version(request, Some(session.revision))?;
        Ok(at)
    }

    /// A batch in a session that has batches; everything else is refused.
    fn unknown(
        &mut self,
        request: &Request,
        message: &Json,
        principal: Option<&'static str>,
    ) -> Checked<Verdict> {
        let sent = request.values("mcp-session-id").first().copied();
        let (Json::Array(elements), Some(id)) = (message, sent) else {
            return Err(Rejection::InvalidMessage);
        };
        let session = self.find(request, id, principal)?;
        if self.sessions[session].revision != LEGACY[0] || elements.is_empty() || elements.len() > 100 {
            return Err(Rejection::InvalidMessage);
        }
        if elements.iter().any(|element| !json::repeated(element).is_empty()) {
            return Err(Rejection::MalformedJson);
        }
        if elements.iter().any(|element| element.get("method").and_then(Json::as_str) == Some("initialize")) {
            return Err(Rejection::InvalidMessage);
        }
        self.touch(session);
        Ok(Verdict::Batch(elements.iter().map(|element| self.element(session, element)).collect()))
    }

    fn element(&mut self, session: usize, message: &Json) -> Option<Element> {
        let kind = kind(message);
        let refused = |row, id| Some(Element::Refused(row, id));
        if kind == Kind::Request && !message.get("id").is_some_and(is_id) {
            return refused(Rejection::InvalidId, None);
        }
        let id = rejection_id(message);
        let method = message.get("method").and_then(Json::as_str).filter(|_| kind == Kind::Request);
        let early = matches!(method, None | Some("ping" | "tools/list" | "tools/call"));
        if !self.sessions[session].ready && !early {
            return refused(Rejection::NotReady, id);
        }
        if !is_valid(message, kind) {
            return refused(Rejection::InvalidMessage, id);
        }
        if kind != Kind::Request {
            self.note_ready(Some(session), message);
            return None;
        }
        Some(Element::Answered(answered(message, false)))
    }

    /// `Ok(None)` where this reading is too naive.
    fn bodiless(&mut self, request: &Request) -> Checked<Option<Verdict>> {
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
            return Ok(Some(Verdict::Ended));
        }
        match accepts(request) {
            None => Ok(None),
            Some((_, false)) => Err(Rejection::GetNotAcceptable),
            // No fuzzed `Last-Event-ID` names an event: that takes the session's own tag.
            Some((_, true)) => {
                let session = &mut self.sessions[at];
                // The rig leaves the stream at once.
                (session.seen_ms, session.just_closed) = (self.now_ms, true);
                Ok(Some(Verdict::Stream { primed: session.revision == "2025-11-25" }))
            }
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
    u64::from(answered.method == "tools/call")
}

/// Whether a legacy method is served.
pub fn is_legacy_method(method: &str) -> bool {
    LEGACY_METHODS.contains(&method)
}

/// Limits as the model's world has them.
pub fn limits() -> Limits {
    world::limits()
}
