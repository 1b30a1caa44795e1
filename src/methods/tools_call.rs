//! `tools/call` (server/tools): checks the arguments, starts the tool, polls it once. A tool that is ready at once costs no task and no
//! stream.

use std::task;

use super::pending::{Answering, Pending};
use super::{INVALID_PARAMS, Outcome, Request, error};
use crate::reply::Exchange;
use crate::reply::json;
use crate::reply::rejection::{Fault, Refusal, quote};
use crate::tables::rejection::Rejection;
use crate::tables::versions::Era;
use crate::tools::Behind;
use crate::tools::Entry;
use crate::tools::{Arguments, CallInfo, CallSlot};

/// Serves a call.
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
    let params = &request.params;
    let Some(name) = params.name.and_then(|name| name.as_str()) else {
        return Ok(Outcome::Done(error(
            exchange,
            request.id,
            INVALID_PARAMS,
            "params.name must be a string",
        )));
    };
    exchange.log.set_name(name);
    let Ok(arguments) = Arguments::read(params.arguments) else {
        return Ok(Outcome::Done(error(
            exchange,
            request.id,
            INVALID_PARAMS,
            "params.arguments must be an object",
        )));
    };
    let tools = behind.registry().snapshot();
    let Some(entry) = tools.find(name) else {
        let text = format!("Unknown tool: {}", quote(name));
        return Ok(Outcome::Done(error(exchange, request.id, INVALID_PARAMS, &text)));
    };
    check_capabilities(request, entry)?;
    let context = slot.prepare(&CallInfo {
        revision: request.revision,
        principal: request.principal,
        client: client(request),
        progress_token: params.fields.progress_token.filter(|_| request.may_stream),
        buffer: behind.stream_buffer(),
    });
    let running = entry.start(arguments, context, behind.tool_timeout());
    let answering =
        Answering { revision: request.revision, may_stream: request.may_stream, identity: behind.identity() };
    Ok(Pending::begin(running, request, answering, exchange, cx))
}

/// Who the client says it is: on the legacy lane when it opened its session, on the modern one with every request.
fn client<'a>(request: &Request<'a, 'a, 'a>) -> Option<(&'a str, &'a str)> {
    if let Some(session) = request.session {
        return Some((&session.client.name, &session.client.version));
    }
    let info = request.params.fields.client_info?;
    Some((info.get("name")?.as_str()?, info.get("version")?.as_str()?))
}

/// A capability that the tool needs and the request does not declare is refused before any stream starts. Legacy capabilities are the
/// session's, and the tool meets their absence when it asks.
fn check_capabilities(request: &Request<'_, '_, '_>, entry: &Entry) -> Result<(), Refusal<'static>> {
    if request.era() == Era::Legacy {
        return Ok(());
    }
    let declared = request.params.fields.client_capabilities;
    let lacks = |name: &&String| {
        declared.is_none_or(|declared| declared.get(name.as_str()).is_none_or(|value| value.is_null()))
    };
    let missing: Vec<&String> = entry.required_capabilities().iter().filter(lacks).collect();
    if missing.is_empty() { Ok(()) } else { Err(refuse(&missing)) }
}

#[cold]
fn refuse(missing: &[&String]) -> Refusal<'static> {
    let mut data = Vec::with_capacity(64);
    data.extend_from_slice(b"{\"requiredCapabilities\":{");
    for (at, name) in missing.iter().enumerate() {
        if at > 0 {
            data.push(b',');
        }
        json::write_str(&mut data, name);
        data.extend_from_slice(b":{}");
    }
    data.extend_from_slice(b"}}");
    let text = missing.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    Refusal::fault(Rejection::MissingClientCapability, Fault { text, data: Some(data), ..Fault::default() })
}
