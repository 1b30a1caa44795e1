//! What tools/call, prompts/get, resources/read and the like have in common: the state of a call, from its request.

use super::{Request, capabilities};
use crate::tables::capabilities::Capabilities;
use crate::tables::levels::LogLevel;
use crate::tools::{Behind, CallInfo, CallSlot, Context, TaskLink};

/// Prepares the context of a call.
pub(super) fn prepare(
    behind: &Behind,
    request: &Request<'_, '_, '_>,
    slot: &mut CallSlot,
    task: TaskLink,
) -> Context {
    let fields = &request.params.fields;
    slot.prepare(&CallInfo {
        revision: request.revision,
        principal: request.principal,
        client: client(request),
        capabilities: declared(request),
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
    let info = request.params.fields.client_info?;
    Some((info.get("name")?.as_str()?, info.get("version")?.as_str()?))
}
