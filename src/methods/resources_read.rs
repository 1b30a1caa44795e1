//! `resources/read` (server/resources): a resource of that very URI, else the first template that makes it.

use std::task;

use super::pending::{Answering, Pending};
use super::{INVALID_PARAMS, Outcome, Request, calling, error};
use crate::reply::{Exchange, Reply, envelope};
use crate::tools::{Behind, CallSlot, TaskLink, resource_not_found};

/// Serves a read.
pub fn serve(
    behind: &Behind,
    request: &Request<'_, '_, '_>,
    slot: &mut CallSlot,
    exchange: &mut Exchange,
    cx: &mut task::Context<'_>,
) -> Outcome {
    let Some(uri) = request.params.uri.and_then(|uri| uri.as_str()) else {
        return Outcome::Done(error(exchange, request.id, INVALID_PARAMS, "params.uri must be a string"));
    };
    exchange.log.set_name(uri);
    let offered = behind.registry().snapshot();
    let running = if let Some(entry) = offered.resources().find(uri) {
        entry.start(calling::prepare(behind, request, slot, TaskLink::None), behind.tool_timeout())
    } else if uri.len() as u64 > behind.resource_uri() {
        let text = format!(
            "params.uri is longer than {} bytes; ask for a resource that is listed",
            behind.resource_uri()
        );
        return Outcome::Done(error(exchange, request.id, INVALID_PARAMS, &text));
    } else if let Some((entry, variables)) = offered.match_template(uri) {
        let context = calling::prepare(behind, request, slot, TaskLink::None);
        entry.start(uri, variables, context, behind.tool_timeout())
    } else {
        return Outcome::Done(not_found(uri, request, exchange));
    };
    let answering =
        Answering { revision: request.revision, may_stream: request.may_stream, identity: behind.identity() };
    Pending::begin(running, request, answering, exchange, cx)
}

#[cold]
fn not_found(uri: &str, request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    let error = resource_not_found(uri, request.revision);
    let data = error.data.map(|data| data.to_string().into_bytes());
    envelope::write_error(&mut exchange.body, request.id, error.code, &error.message, data.as_deref());
    Reply::json(200)
}
