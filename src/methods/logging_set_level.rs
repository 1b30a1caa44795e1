//! `logging/setLevel` (2025-11-25, server/utilities/logging): which log messages a session wants. Answers exactly `{}`.

use super::{Request, empty};
use crate::reply::{Exchange, Reply};
use crate::tables::levels::LogLevel;

/// Answers. The params have been checked.
pub fn serve(request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    let level = request.all.and_then(|params| params.get("level")).and_then(|level| level.as_str());
    if let (Some(session), Some(level)) = (request.session, level.and_then(LogLevel::from_wire)) {
        session.set_log_level(level);
    }
    empty(request, exchange)
}
