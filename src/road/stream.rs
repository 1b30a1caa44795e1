//! A GET behind `session`: opens an event stream, or lets a client come back to one.

use std::sync::Arc;

use super::media::{self, Accept};
use super::pending::Pending;
use crate::reply::rejection::{Refusal, quote};
use crate::session::open::Resumed;
use crate::session::reader::Reader;
use crate::session::state::Session;
use crate::tables::headers::Known;
use crate::tables::rejection::Rejection;
use crate::view::head::{Cardinality, RequestHead};

/// Opens the stream.
///
/// # Errors
/// `not_acceptable`; `unknown_session`, where the session has ended in this very moment; `no_stream_offered` to a client that comes back to a
/// stream which is over and of which it has everything: whatever it was answered with, it would come back again, and 405 is what tells it not to.
pub(super) fn open<'h>(
    head: &RequestHead<'h>,
    session: &Arc<Session>,
    now_ms: u64,
) -> Result<Pending, Refusal<'h>> {
    if !is_acceptable(head) {
        return Err(Refusal::plain(Rejection::GetNotAcceptable));
    }
    if let Some(reader) = resume(head, session)? {
        session.touch(now_ms);
        return Ok(Pending::stream(reader));
    }
    let reader = session.listen().ok_or(Refusal::plain(Rejection::UnknownSession))?;
    session.touch(now_ms);
    Ok(Pending::stream(reader))
}

/// Whether the client takes an event stream. It does where it says nothing of it (RFC 9110 12.5.1).
fn is_acceptable(head: &RequestHead<'_>) -> bool {
    match head.header(Known::Accept) {
        Cardinality::Missing => true,
        Cardinality::One(_) | Cardinality::Many => {
            matches!(media::accepted(head.values(Known::Accept)), Some(Accept::Both | Accept::EventStream))
        }
    }
}

/// The stream that the client comes back to. A `Last-Event-ID` that leads nowhere counts as absent.
fn resume(head: &RequestHead<'_>, session: &Arc<Session>) -> Result<Option<Reader>, Refusal<'static>> {
    let sent = match head.header(Known::LastEventId) {
        Cardinality::Missing => return Ok(None),
        Cardinality::One(sent) => sent,
        Cardinality::Many => {
            tracing::warn!("more than one Last-Event-ID header: they count as none");
            return Ok(None);
        }
    };
    match session.resume(sent) {
        Resumed::Reader(reader) => Ok(Some(reader)),
        Resumed::Over => Err(Refusal::plain(Rejection::NoStreamOffered)),
        Resumed::Lost => {
            let sent = String::from_utf8_lossy(sent);
            let sent = quote(&sent);
            tracing::warn!(%sent, "Last-Event-ID names no event that can be continued after: it counts as absent");
            Ok(None)
        }
    }
}
