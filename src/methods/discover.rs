//! `server/discover` (2026-07-28, server/discover): what the server is and offers, from bytes rendered beforehand.

use super::Request;
use crate::reply::{Exchange, Reply, envelope};
use crate::tools::Behind;

/// Answers.
pub fn serve(behind: &Behind, request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    envelope::begin_result_for(&mut exchange.body, request.id);
    let offered = behind.registry().snapshot();
    behind.identity().write_discover(&mut exchange.body, offered.capabilities(request.revision));
    envelope::end_result(&mut exchange.body);
    Reply::json(200)
}
