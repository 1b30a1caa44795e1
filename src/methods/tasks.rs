//! What the methods of the tasks extension (SEP-2663) have in common: the gate, the look-up, the bare acknowledgement.

use std::sync::Arc;

use super::{INVALID_PARAMS, Request, capabilities, checked_text, error};
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply, envelope};
use crate::tables::capabilities::Capability;
use crate::tasks::Task;
use crate::tools::{Behind, Identity};

/// Whether a request declares the extension, in its own capabilities: nothing that was declared before counts.
#[must_use]
pub fn declared(request: &Request<'_, '_, '_>) -> bool {
    let declared = request.params.fields.client_capabilities;
    declared.is_some_and(|declared| capabilities::has(declared, Capability::Tasks.path()))
}

/// The refusal of a request that lacks the extension.
#[cold]
#[must_use]
pub fn missing() -> Refusal<'static> {
    capabilities::refuse(&mut std::iter::once(Capability::Tasks.path()))
}

/// The task that a request names. `Ok(Err)` is the answer where there is none for this caller.
///
/// # Errors
/// `missing_client_capability`, for an unknown task too: the extension is looked at first.
pub fn find(
    behind: &Behind,
    request: &Request<'_, '_, '_>,
    exchange: &mut Exchange,
) -> Result<Result<Arc<Task>, Reply>, Refusal<'static>> {
    if !declared(request) {
        return Err(missing());
    }
    let id = checked_text(request.params.task_id);
    let found = behind.tasks().find(id, request.principal, request.clock.now_ms());
    Ok(found.ok_or_else(|| {
        error(exchange, request.id, INVALID_PARAMS, "Task not found: the id is unknown, or its time is over")
    }))
}

/// An acknowledgement with nothing in it.
pub fn acknowledge(behind: &Behind, request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    let out = &mut exchange.body;
    envelope::begin_result_for(out, request.id);
    write_tail(out, behind.identity(), "complete");
    envelope::end_result(out);
    Reply::json(200)
}

/// Appends the members that every modern result ends with.
pub fn write_tail(out: &mut Vec<u8>, identity: &Identity, result_type: &str) {
    out.extend_from_slice(b"\"resultType\":\"");
    out.extend_from_slice(result_type.as_bytes());
    out.extend_from_slice(b"\",\"_meta\":{");
    out.extend_from_slice(identity.server_info());
    out.push(b'}');
}
