//! `completion/complete` (server/utilities/completion): how an argument of a prompt or a variable of a template may go on.

use std::task;

use super::{INVALID_PARAMS, Outcome, Request, calling, error};
use crate::reply::Exchange;
use crate::reply::rejection::{Refusal, quote};
use crate::tables::versions::Feature;
use crate::tools::{Behind, CallSlot, CompletionInput, Completions, PromptArguments, Snapshot, TaskLink};

/// Serves a completion.
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
    let input = match read(request) {
        Ok(input) => input,
        Err(fault) => return Ok(Outcome::Done(error(exchange, request.id, INVALID_PARAMS, &fault))),
    };
    let offered = behind.registry().snapshot();
    let nothing = Completions::default();
    let completions = match find(request, &offered, behind.resource_uri()) {
        Ok(found) => found.unwrap_or(&nothing),
        Err(fault) => return Ok(Outcome::Done(error(exchange, request.id, INVALID_PARAMS, &fault))),
    };
    let context = match calling::prepare(behind, request, slot, TaskLink::None, exchange) {
        Ok(context) => context,
        Err(reply) => return Ok(Outcome::Done(reply)),
    };
    let running = completions.start(input, context, behind.tool_timeout());
    calling::begin(behind, request, running, exchange, cx)
}

/// What was typed, and what is settled.
fn read(request: &Request<'_, '_, '_>) -> Result<CompletionInput, String> {
    let params = request.all;
    let argument = params.and_then(|params| params.get("argument"));
    let text = |key: &str| argument.and_then(|argument| argument.get(key)).and_then(|value| value.as_str());
    let name = text("name").ok_or("params.argument.name must be a string")?;
    let value = text("value").ok_or("params.argument.value must be a string")?;
    let mut input = CompletionInput::new(name, value);
    if request.revision.has(Feature::CompletionContext) {
        let settled = params.and_then(|params| params.get("context")?.get("arguments"));
        input.settled = PromptArguments::read(settled)
            .map_err(|fault| format!("params.context.arguments: {} must be a string", quote(&fault.0)))?;
    }
    Ok(input)
}

/// The completions of what `params.ref` names: a prompt by its name, a template by its text or by a URI that it makes. A resource with a
/// URI of its own has none.
fn find<'s>(
    request: &Request<'_, '_, '_>,
    offered: &'s Snapshot,
    longest: u64,
) -> Result<Option<&'s Completions>, String> {
    let reference = request.all.and_then(|params| params.get("ref"));
    let text =
        |key: &str| reference.and_then(|reference| reference.get(key)).and_then(|value| value.as_str());
    match text("type") {
        Some("ref/prompt") => {
            let name = text("name").ok_or("params.ref.name must be a string")?;
            let entry = offered.prompts().find(name);
            entry
                .map(|entry| Some(entry.completions()))
                .ok_or_else(|| format!("Unknown prompt: {}", quote(name)))
        }
        Some("ref/resource") => {
            let uri = text("uri").ok_or("params.ref.uri must be a string")?;
            if let Some(entry) = offered.templates().find(uri) {
                return Ok(Some(entry.completions()));
            }
            if offered.resources().find(uri).is_some() {
                return Ok(None);
            }
            let entry = if uri.len() as u64 > longest { None } else { offered.match_template(uri) };
            let found = entry.map(|(entry, _)| Some(entry.completions()));
            found.ok_or_else(|| format!("Unknown resource template: {}", quote(uri)))
        }
        Some(_) | None => Err("params.ref.type must be ref/prompt or ref/resource".to_owned()),
    }
}
