//! `resources/unsubscribe` (2025-11-25, server/resources): the session is told of a resource no longer. Answers exactly `{}`, also where it
//! never was.

use super::{Request, checked_text, empty};
use crate::reply::{Exchange, Reply};

/// Answers.
pub fn serve(request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    let uri = checked_text(request.params.uri);
    exchange.log.set_name(uri);
    if let Some(session) = request.session {
        session.unsubscribe(uri);
    }
    empty(request, exchange)
}
