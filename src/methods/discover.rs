//! `server/discover` (2026-07-28, server/discover): what the server is and offers, from bytes rendered at start.

use super::Request;
use crate::reply::{Exchange, Reply, envelope};
use crate::tools::Behind;

/// Answers.
pub fn serve(behind: &Behind, request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    envelope::begin_result_for(&mut exchange.body, request.id);
    exchange.body.extend_from_slice(behind.identity().discover());
    envelope::end_result(&mut exchange.body);
    Reply::json(200)
}
