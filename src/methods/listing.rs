//! What the list methods have in common: pages rendered beforehand, in the order of registration.

use super::{INVALID_PARAMS, Request, error};
use crate::reply::{Exchange, Reply, envelope};
use crate::tables::versions::Feature;
use crate::tools::{Behind, List, Listed};

/// Answers with a page of `list`.
pub(super) fn serve<E: Listed>(
    list: &List<E>,
    behind: &Behind,
    request: &Request<'_, '_, '_>,
    exchange: &mut Exchange,
) -> Reply {
    // Null counts as absent; that it is nothing else has been checked.
    let cursor = request.params.cursor.and_then(|cursor| cursor.as_str());
    let Ok(page) = list.page(request.revision, cursor) else {
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
