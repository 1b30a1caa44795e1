//! `prompts/get` (server/prompts): checks the arguments, then asks the prompt's handler for its messages.

use std::task;

use super::{INVALID_PARAMS, Outcome, Request, calling, checked_text, error};
use crate::reply::Exchange;
use crate::reply::rejection::{Refusal, quote};
use crate::tools::{Behind, CallSlot, PromptArguments, TaskLink};

/// Serves a prompt.
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
    let name = checked_text(request.params.name);
    exchange.log.set_name(name);
    let offered = behind.registry().snapshot();
    let Some(entry) = offered.prompts().find(name) else {
        let text = format!("Unknown prompt: {}", quote(name));
        return Ok(Outcome::Done(error(exchange, request.id, INVALID_PARAMS, &text)));
    };
    let arguments = PromptArguments::read(request.params.arguments);
    if let Some(missing) = entry.missing(&arguments) {
        let text = format!("params.arguments lacks {}, which the prompt cannot do without", quote(missing));
        return Ok(Outcome::Done(error(exchange, request.id, INVALID_PARAMS, &text)));
    }
    let context = match calling::prepare(behind, request, slot, TaskLink::None, exchange) {
        Ok(context) => context,
        Err(reply) => return Ok(Outcome::Done(reply)),
    };
    let running = entry.start(arguments, context, behind.tool_timeout());
    calling::begin(behind, request, running, exchange, cx)
}
