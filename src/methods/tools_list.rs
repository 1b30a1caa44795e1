//! `tools/list` (server/tools): pages rendered beforehand, in the order of registration.

use super::{INVALID_PARAMS, Request, error};
use crate::reply::{Exchange, Reply, envelope};
use crate::tables::versions::Feature;
use crate::tools::Behind;
use crate::view::node::Kind;

/// Answers.
pub fn serve(behind: &Behind, request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    let cursor = match request.params.cursor {
        None => None,
        Some(cursor) => match cursor.kind() {
            Kind::Null => None,
            Kind::String => cursor.as_str(),
            Kind::Bool | Kind::Integer | Kind::Float | Kind::Array | Kind::Object => {
                return error(exchange, request.id, INVALID_PARAMS, "params.cursor must be a string");
            }
        },
    };
    let tools = behind.registry().snapshot();
    let Ok(page) = tools.page(request.revision, cursor) else {
        let text = "params.cursor is none of ours; repeat nextCursor as it was sent, or leave it out";
        return error(exchange, request.id, INVALID_PARAMS, text);
    };
    envelope::begin_result_for(&mut exchange.body, request.id);
    exchange.body.extend_from_slice(&page);
    if request.revision.has(Feature::ModernResults) {
        exchange.body.push(b',');
        exchange.body.extend_from_slice(behind.identity().cacheable_tail());
    }
    envelope::end_result(&mut exchange.body);
    Reply::json(200)
}
