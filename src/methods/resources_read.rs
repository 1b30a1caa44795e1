//! `resources/read` (server/resources): a resource of that very URI, else the first template that makes it.

use std::task;

use super::{INVALID_PARAMS, Outcome, Request, calling, checked_text, error};
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply, envelope};
use crate::tables::versions::Era;
use crate::tools::{Behind, Caching, CallSlot, ResourceEntry, Snapshot, TaskLink, TemplateEntry};
use crate::tools::{Variables, resource_not_found};

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
    let found = match find(&offered, uri, behind.resource_uri()) {
        Ok(found) => found,
        Err(Missing::Unknown) => return Ok(Outcome::Done(not_found(uri, request, exchange))),
        Err(Missing::TooLong(most)) => {
            let text = format!("params.uri is longer than {most} bytes; ask for a resource that is listed");
            return Ok(Outcome::Done(error(exchange, request.id, INVALID_PARAMS, &text)));
        }
    };
    let context = match calling::prepare(behind, request, slot, TaskLink::None, exchange) {
        Ok(context) => context,
        Err(reply) => return Ok(Outcome::Done(reply)),
    };
    let caching = caching(request);
    let running = match found {
        Found::Resource(entry) => entry.start(caching, context, behind.tool_timeout()),
        Found::Template(entry, variables) => {
            entry.start(uri, variables, caching, context, behind.tool_timeout())
        }
    };
    calling::begin(behind, request, running, exchange, cx)
}

pub(super) enum Found<'s> {
    Resource(&'s ResourceEntry),
    Template(&'s TemplateEntry, Variables),
}

pub(super) enum Missing {
    Unknown,
    /// Longer than what is held against templates.
    TooLong(u64),
}

/// What a read of `uri` would find.
pub(super) fn find<'s>(offered: &'s Snapshot, uri: &str, longest: u64) -> Result<Found<'s>, Missing> {
    if let Some(entry) = offered.resources().find(uri) {
        return Ok(Found::Resource(entry));
    }
    if uri.len() as u64 > longest {
        return Err(Missing::TooLong(longest));
    }
    let (entry, variables) = offered.match_template(uri).ok_or(Missing::Unknown)?;
    Ok(Found::Template(entry, variables))
}

/// A later round of a call is not to be kept.
fn caching(request: &Request<'_, '_, '_>) -> Caching {
    let brings = |key| request.all.and_then(|params| params.get(key)).is_some_and(|value| !value.is_null());
    if request.era() == Era::Modern && (brings("inputResponses") || brings("requestState")) {
        Caching::Never
    } else {
        Caching::AsDeclared
    }
}

#[cold]
pub(super) fn not_found(uri: &str, request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    let error = resource_not_found(uri, request.revision);
    let data = error.data.map(|data| data.to_string().into_bytes());
    envelope::write_error(&mut exchange.body, request.id, error.code, &error.message, data.as_deref());
    Reply::json(200)
}
