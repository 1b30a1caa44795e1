//! `ping` (2025-11-25, basic/utilities/ping): answers exactly `{}`.

use super::Request;
use crate::reply::{Exchange, Reply, envelope};

/// Answers.
pub fn serve(request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    envelope::begin_result_for(&mut exchange.body, request.id);
    envelope::end_result(&mut exchange.body);
    Reply::json(200)
}
