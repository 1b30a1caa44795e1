//! `resources/read` (server/resources): a resource of that very URI, else the first template that makes it.

use std::task;

use super::{INVALID_PARAMS, Outcome, Request, calling, checked_text, error};
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply, envelope};
use crate::tools::{Behind, CallSlot, TaskLink, resource_not_found};

/// Serves a read.
///
/// # Errors
/// `missing_client_capability` (modern lane).
pub fn serve(
    behind: &Behind,
    request: &Request<'_, '_, '_>,
    slot: &mut CallSlot,
    exchange: &mut Exchange,
    cx: &mut task::Context<'_>,
) -> Result<Outcome, Refusal<'static>> {
    let uri = checked_text(request.params.uri);
    exchange.log.set_name(uri);
    let offered = behind.registry().snapshot();
    let running = if let Some(entry) = offered.resources().find(uri) {
        let context = match calling::prepare(behind, request, slot, TaskLink::None, exchange) {
            Ok(context) => context,
            Err(reply) => return Ok(Outcome::Done(reply)),
        };
        entry.start(context, behind.tool_timeout())
    } else if uri.len() as u64 > behind.resource_uri() {
        let text = format!(
            "params.uri is longer than {} bytes; ask for a resource that is listed",
            behind.resource_uri()
        );
        return Ok(Outcome::Done(error(exchange, request.id, INVALID_PARAMS, &text)));
    } else if let Some((entry, variables)) = offered.match_template(uri) {
        let context = match calling::prepare(behind, request, slot, TaskLink::None, exchange) {
            Ok(context) => context,
            Err(reply) => return Ok(Outcome::Done(reply)),
        };
        entry.start(uri, variables, context, behind.tool_timeout())
    } else {
        return Ok(Outcome::Done(not_found(uri, request, exchange)));
    };
    calling::begin(behind, request, running, exchange, cx)
}

#[cold]
fn not_found(uri: &str, request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    let error = resource_not_found(uri, request.revision);
    let data = error.data.map(|data| data.to_string().into_bytes());
    envelope::write_error(&mut exchange.body, request.id, error.code, &error.message, data.as_deref());
    Reply::json(200)
}
