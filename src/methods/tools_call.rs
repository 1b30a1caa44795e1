//! `tools/call` (server/tools): checks the arguments, starts the tool, polls it once. A tool that is ready at once costs no task and no
//! stream.

use std::sync::Arc;
use std::task;

use super::task_run::{self, Handover, Plan};
use super::{INVALID_PARAMS, Outcome, Request, calling, capabilities, checked_text, error};
use crate::reply::Exchange;
use crate::reply::rejection::{Refusal, quote};
use crate::tables::versions::Era;
use crate::tools::Behind;
use crate::tools::Entry;
use crate::tools::{Arguments, CallSlot, TaskLink};
use crate::view::node::Value;

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
    let name = checked_text(params.name);
    exchange.log.set_name(name);
    let arguments = Arguments::read(params.arguments);
    let tools = behind.registry().snapshot();
    let Some(entry) = tools.find(name) else {
        let text = format!("Unknown tool: {}", quote(name));
        return Ok(Outcome::Done(error(exchange, request.id, INVALID_PARAMS, &text)));
    };
    check_capabilities(request, entry)?;
    let (link, task) = match task_run::plan(behind, request, entry)? {
        Plan::Inline(link) => (link, None),
        Plan::Task(task) => (TaskLink::Linked(Arc::clone(&task)), Some(task)),
        Plan::Refused(refused) => return Ok(Outcome::Done(refused.answer(request, exchange))),
    };
    let on_demand = matches!(link, TaskLink::OnDemand);
    let context = match calling::prepare(behind, request, slot, link, exchange) {
        Ok(context) => context,
        Err(reply) => {
            task.inspect(|task| behind.tasks().forget(task));
            return Ok(Outcome::Done(reply));
        }
    };
    let mut running = entry.start(arguments, context, behind.tool_timeout());
    match task {
        Some(task) if running.is_ready() => task_run::decline(behind.tasks(), &task, &mut running),
        Some(task) => return Ok(Outcome::Done(task_run::begin(behind, task, running, request, exchange))),
        None => {}
    }
    let mut outcome = calling::begin(behind, request, running, exchange, cx)?;
    if on_demand && let Outcome::Pending(pending) = &mut outcome {
        pending.allow_task(Handover::new(behind, request, entry));
    }
    Ok(outcome)
}

/// A capability that the tool needs and the request does not declare is refused before any stream starts. Legacy capabilities are the
/// session's, and the tool meets their absence when it asks.
fn check_capabilities(request: &Request<'_, '_, '_>, entry: &Entry) -> Result<(), Refusal<'static>> {
    if request.era() == Era::Legacy {
        return Ok(());
    }
    let declared = request.params.fields.client_capabilities.unwrap_or(Value::EMPTY_OBJECT);
    let mut paths = entry.required_capabilities().iter().map(String::as_str);
    if paths.clone().all(|path| capabilities::has(declared, path)) {
        return Ok(());
    }
    Err(capabilities::refuse(&mut paths.by_ref().filter(|path| !capabilities::has(declared, path))))
}
