//! `completion/complete` (server/utilities/completion): how an argument of a prompt or a variable of a template may go on.

use std::task;

use super::{INVALID_PARAMS, Outcome, Request, calling, checked_text, error};
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
    let input = read(request);
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
fn read(request: &Request<'_, '_, '_>) -> CompletionInput {
    let argument = request.member("argument");
    let text = |key: &str| checked_text(argument.and_then(|argument| argument.get(key)));
    let mut input = CompletionInput::new(text("name"), text("value"));
    if request.revision.has(Feature::CompletionContext) {
        let settled = request.member("context").and_then(|context| context.get("arguments"));
        input.settled = PromptArguments::read(settled);
    }
    input
}

/// The completions of what `params.ref` names: a prompt by its name, a template by its text or by a URI that it makes. A resource with a
/// URI of its own has none.
fn find<'s>(
    request: &Request<'_, '_, '_>,
    offered: &'s Snapshot,
    longest: u64,
) -> Result<Option<&'s Completions>, String> {
    let reference = request.member("ref");
    let text = |key: &str| checked_text(reference.and_then(|reference| reference.get(key)));
    if text("type") == "ref/prompt" {
        let name = text("name");
        let entry = offered.prompts().find(name);
        return entry
            .map(|entry| Some(entry.completions()))
            .ok_or_else(|| format!("Unknown prompt: {}", quote(name)));
    }
    let uri = text("uri");
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
