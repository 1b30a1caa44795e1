//! From `era` on: the two lanes.

use twolane::tables::rejection::Rejection;

use super::head::{check_version, is_legacy};
use super::message::{Kind, answered, is_id, is_valid, kind, opened, rejection_id};
use super::params::{self, Lacks, asks_for, fits};
use super::{Answered, Checked, Element, LEGACY, MODERN, Model, Verdict, accepts};
use crate::binding::{self, Unfit};
use crate::json::{self, Json};
use crate::rig::Request;

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
const MODERN_METHODS: [&str; 13] = [
    "server/discover",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];

/// Whether a legacy method is served.
pub fn is_legacy_method(method: &str) -> bool {
    LEGACY_METHODS.contains(&method)
}

impl Model {
    pub(super) fn lanes(&mut self, request: &Request, message: &Json) -> Checked<Verdict> {
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
        let mut answered = answered(message, true);
        match params::lacks(message) {
            Lacks::Certainly => return Err(Rejection::MissingClientCapability),
            lacks => answered.lacks = lacks,
        }
        if method == "subscriptions/listen" && fits(message, true) {
            if !accepts(request).is_some_and(|(_, stream)| stream) {
                return Err(Rejection::StreamNotAcceptable);
            }
            answered.listens = Some(asks_for(message));
        }
        Ok(Verdict::Answered(answered))
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
        self.settle(session, message);
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

    /// A list that is served from its beginning: what was owed of its changes is not owed any more. A resource that is subscribed to.
    fn settle(&mut self, session: Option<usize>, message: &Json) {
        let Some(at) = session else { return };
        let uri = message.get("params").and_then(|params| params.get("uri")).and_then(Json::as_str);
        let topic = match message.get("method").and_then(Json::as_str) {
            Some(method @ ("resources/subscribe" | "resources/unsubscribe")) => {
                let session = &mut self.sessions[at];
                match uri.filter(|_| fits(message, false)) {
                    Some(uri) if method == "resources/subscribe" => {
                        session.subscribe(uri, self.limits.session_subscriptions);
                    }
                    Some(uri) => session.unsubscribe(uri),
                    None => {}
                }
                return;
            }
            Some("tools/list") => 0,
            Some("prompts/list") => 1,
            Some("resources/list") => 2,
            _ => return,
        };
        let cursor = message.get("params").and_then(|params| params.get("cursor"));
        if fits(message, false) && matches!(cursor, None | Some(Json::Null)) {
            self.sessions[at].serve(topic);
        }
    }

    /// A message was taken.
    pub fn touch(&mut self, at: usize) {
        (self.sessions[at].seen_ms, self.sessions[at].just_closed) = (self.now_ms, false);
    }

    /// A session that has been idle for too long has ended when somebody looks for it.
    pub(super) fn find(
        &mut self,
        request: &Request,
        id: &[u8],
        principal: Option<&'static str>,
    ) -> Checked<usize> {
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
        self.settle(Some(session), message);
        let id = self.sessions[session].id;
        Some(Element::Answered(Answered { session: Some(id), ..answered(message, false) }))
    }
}
