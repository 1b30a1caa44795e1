//! Stage `session`: session resolution and the lifecycle gate of the legacy lane. The first stage behind the door. On GET and DELETE it
//! is the read before the stream and before termination.

use std::sync::Arc;

use super::protocol_fields::supported;
use super::settings::Settings;
use super::singleton::Singletons;
use crate::reply::rejection::{Fault, Refusal, quote};
use crate::session::state::{Lifecycle as SessionLifecycle, Session};
use crate::session::store::Sessions;
use crate::tables::methods::{Lifecycle, Method};
use crate::tables::rejection::Rejection;
use crate::tables::routes::Verb;
use crate::tables::versions::{Era, Feature, Revision};

/// What a message asks of the session stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// A request for this method; `None`: a method that is not served.
    Request(Option<Method>),
    /// A notification or a response.
    Message,
}

/// Resolves the session of a POST. `Ok(None)` where the message needs none. The idle timer starts over only once `validate` has passed
/// too: a rejected message leaves it alone.
///
/// # Errors
/// `missing_session_id`, `unknown_session`, `protocol_version_mismatch`, `not_ready`.
pub fn resolve<'h>(
    settings: &Settings,
    sessions: &Sessions,
    singletons: &Singletons<'h>,
    needs: Needs,
    now_ms: u64,
) -> Result<Option<Arc<Session>>, Refusal<'h>> {
    let lifecycle = match needs {
        Needs::Request(Some(method)) => method.lifecycle(),
        Needs::Request(None) | Needs::Message => Lifecycle::Ready,
    };
    if lifecycle == Lifecycle::Opens {
        // The body decides the version; the header must only name one that is served. A stale session id is ignored.
        check_version(settings, singletons, None)?;
        return Ok(None);
    }
    let Some(id) = singletons.session_id() else {
        if lifecycle == Lifecycle::SessionExempt {
            check_version(settings, singletons, None)?;
            return Ok(None);
        }
        return Err(Refusal::plain(Rejection::MissingSessionId));
    };
    let session = find(settings, sessions, singletons, id, now_ms)?;
    let gated = matches!(needs, Needs::Request(_)) && lifecycle == Lifecycle::Ready;
    if gated && session.lifecycle() == SessionLifecycle::Opened {
        return Err(Refusal::plain(Rejection::NotReady));
    }
    Ok(Some(session))
}

/// Resolves the session of a GET or DELETE.
///
/// # Errors
/// `lane_off`, `modern_version`, `no_stream_offered`, `missing_session_id`, `unknown_session`, `protocol_version_mismatch`.
pub fn resolve_bodiless<'h>(
    settings: &Settings,
    sessions: &Sessions,
    singletons: &Singletons<'h>,
    verb: Verb,
    now_ms: u64,
) -> Result<Arc<Session>, Refusal<'h>> {
    if !settings.legacy {
        return Err(Refusal::plain(Rejection::LaneOff));
    }
    if names_modern(singletons) {
        return Err(Refusal::plain(Rejection::ModernVersion));
    }
    let Some(id) = singletons.session_id() else {
        // Clients read 405 as "no stream offered"; 400 would be fatal to some.
        let row = if verb == Verb::Get { Rejection::NoStreamOffered } else { Rejection::MissingSessionId };
        return Err(Refusal::plain(row));
    };
    find(settings, sessions, singletons, id, now_ms)
}

/// Whether the version header names a modern revision.
#[must_use]
pub fn names_modern(singletons: &Singletons<'_>) -> bool {
    let revision = singletons.protocol_version().and_then(Revision::from_wire);
    revision.is_some_and(|revision| revision.era() == Era::Modern)
}

/// A session by its id, if the caller may use it: another principal's use of an id answers as an unknown one.
///
/// # Errors
/// `unknown_session`, `protocol_version_mismatch`.
pub(super) fn find<'h>(
    settings: &Settings,
    sessions: &Sessions,
    singletons: &Singletons<'h>,
    id: &[u8],
    now_ms: u64,
) -> Result<Arc<Session>, Refusal<'h>> {
    let session = sessions
        .find(id, now_ms)
        .filter(|session| session.belongs_to(singletons.principal()))
        .ok_or(Refusal::plain(Rejection::UnknownSession))?;
    check_version(settings, singletons, Some(session.revision))?;
    Ok(session)
}

fn check_version<'h>(
    settings: &Settings,
    singletons: &Singletons<'h>,
    negotiated: Option<Revision>,
) -> Result<(), Refusal<'h>> {
    let Some(header) = singletons.protocol_version() else { return Ok(()) };
    let Some(sent) = Revision::from_wire(header).filter(|revision| revision.era() == Era::Legacy) else {
        return Err(mismatch(settings, header, negotiated));
    };
    match negotiated {
        Some(negotiated) if sent != negotiated && negotiated.has(Feature::VersionHeader) => {
            Err(mismatch(settings, header, Some(negotiated)))
        }
        Some(_) | None => Ok(()),
    }
}

#[cold]
fn mismatch(settings: &Settings, header: &[u8], negotiated: Option<Revision>) -> Refusal<'static> {
    let offered: Vec<&str> = supported(settings.legacy).map(Revision::as_str).collect();
    let sent = String::from_utf8_lossy(header);
    let sent = quote(&sent);
    let wanted = match negotiated {
        Some(negotiated) => format!("this session speaks {}", negotiated.as_str()),
        None => "name a version with sessions, or none".to_owned(),
    };
    let text =
        format!("MCP-Protocol-Version {sent} does not fit: {wanted}; served are {}", offered.join(", "));
    Refusal::fault(Rejection::ProtocolVersionMismatch, Fault { text, ..Fault::default() })
}
