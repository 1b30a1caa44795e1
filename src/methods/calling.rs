//! What tools/call, prompts/get, resources/read and the like have in common: the state of a call, from its request.

use std::sync::Arc;
use std::task;

use super::pending::{Answering, Pending};
use super::{INVALID_PARAMS, Outcome, Request, capabilities, error, rounds};
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply};
use crate::tables::capabilities::Capabilities;
use crate::tables::levels::LogLevel;
use crate::tables::methods::Method;
use crate::tools::{Asking, Behind, CallInfo, CallSlot, Context, Running, TaskLink};

/// Prepares the context of a call, with what its client has brought back of an earlier round where the method may ask. `Err` is the answer
/// where that is not taken.
pub(super) fn prepare(
    behind: &Behind,
    request: &Request<'_, '_, '_>,
    slot: &mut CallSlot,
    task: TaskLink,
    exchange: &mut Exchange,
) -> Result<Context, Reply> {
    let asking = Some(behind.asking()).filter(|_| may_ask(request.method));
    let context = context(behind, request, slot, task, asking);
    let Some(asking) = asking else { return Ok(context) };
    match rounds::resume(asking, request, &context) {
        Ok(()) => Ok(context),
        Err(fault) => Err(error(exchange, request.id, INVALID_PARAMS, fault)),
    }
}

/// Polls a call for the first time.
///
/// # Errors
/// `missing_client_capability` (modern lane).
pub(super) fn begin(
    behind: &Behind,
    request: &Request<'_, '_, '_>,
    running: Running,
    exchange: &mut Exchange,
    cx: &mut task::Context<'_>,
) -> Result<Outcome, Refusal<'static>> {
    let answering =
        Answering { revision: request.revision, may_stream: request.may_stream, identity: behind.identity() };
    let asking = Some(behind.asking()).filter(|_| may_ask(request.method));
    Pending::begin(running, request, answering, asking, exchange, cx)
}

/// Whether the client may be asked while the method is served. In 2026-07-28 these are all (basic/patterns/mrtr).
fn may_ask(method: Method) -> bool {
    matches!(method, Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead)
}

fn context(
    behind: &Behind,
    request: &Request<'_, '_, '_>,
    slot: &mut CallSlot,
    task: TaskLink,
    asking: Option<&Arc<Asking>>,
) -> Context {
    let fields = &request.params.fields;
    slot.prepare(&CallInfo {
        revision: request.revision,
        principal: request.principal,
        client: client(request),
        capabilities: declared(request),
        asking,
        session: request.session,
        log_level: fields.log_level.and_then(|level| level.as_str()).and_then(LogLevel::from_wire),
        may_stream: request.may_stream,
        progress_token: fields.progress_token.filter(|_| request.may_stream),
        buffer: behind.stream_buffer(),
        task,
    })
}

/// What the client can do: legacy clients said so when they opened their session, modern ones say it with every request.
pub(super) fn declared(request: &Request<'_, '_, '_>) -> Capabilities {
    match request.session {
        Some(session) => session.client.capabilities,
        None => request.params.fields.client_capabilities.map_or(Capabilities::NONE, capabilities::read),
    }
}

/// Who the client says it is: on the legacy lane when it opened its session, on the modern one with every request.
fn client<'a>(request: &Request<'a, 'a, 'a>) -> Option<(&'a str, &'a str)> {
    if let Some(session) = request.session {
        return Some((&session.client.name, &session.client.version));
    }
    let client = request.params.fields.client;
    client.name.zip(client.version)
}
