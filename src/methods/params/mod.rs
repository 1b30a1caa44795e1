//! Params against the schema of their revision, before a method sees them: a method may rely on every member being what the schema says,
//! or null where it may be left out.
//!
//! The facts are data ([`requests`]), walked over the tape without a schema library and without allocation. `tests/schemas` holds
//! them equal to the official JSON schemas and lists what differs on purpose.

mod fault;
pub mod shape;
pub mod client;
mod answers;
mod requests;
mod usual;
#[cfg(test)]
mod tests;

pub use fault::Fault;
use fault::Trace;

use crate::tables::methods::Method;
use crate::tables::versions::Revision;
use crate::view::message::Params;
use crate::view::node::Value;

/// Checks the params of a request. `slots` are those that they were read into.
///
/// # Errors
/// The first fault.
#[inline]
pub fn check(
    method: Method,
    revision: Revision,
    params: Option<Value<'_, '_>>,
    slots: &Params<'_, '_>,
) -> Result<(), Fault> {
    if usual::fit(method, revision, slots) { Ok(()) } else { walk(method, revision, params) }
}

#[inline(never)]
fn walk(method: Method, revision: Revision, params: Option<Value<'_, '_>>) -> Result<(), Fault> {
    // Before initialize no revision is spoken: the one that is about to be.
    let revision = if method == Method::Initialize { negotiated(params) } else { revision };
    check_request(method.wire(), revision, params).unwrap_or(Ok(()))
}

/// Checks the params of a request for any method of the specification, served or not; `None` for others.
#[must_use]
pub fn check_request(
    method: &str,
    revision: Revision,
    params: Option<Value<'_, '_>>,
) -> Option<Result<(), Fault>> {
    requests::of_request(method).map(|members| members_fit(members, revision, params))
}

/// Whether the params of a notification are what its method says. Nobody can be told of a fault, so a notification that does not fit is
/// taken and nothing more. Of unknown ones nothing is asked.
#[must_use]
pub fn notification_fits(method: &str, revision: Revision, params: Option<Value<'_, '_>>) -> bool {
    requests::of_notification(method)
        .is_none_or(|members| members_fit::<()>(members, revision, params).is_ok())
}

fn members_fit<F: Trace>(
    members: &'static [shape::Member],
    revision: Revision,
    params: Option<Value<'_, '_>>,
) -> Result<(), F> {
    let params = params.filter(|params| !params.is_null()).unwrap_or(Value::EMPTY_OBJECT);
    let Some(object) = params.as_object() else { return Err(F::wrong_kind("an object")) };
    shape::named_members(members, revision, object)
}

/// The revision that `initialize` with these params comes to.
fn negotiated(params: Option<Value<'_, '_>>) -> Revision {
    let version =
        params.and_then(|params| params.get("protocolVersion")).and_then(|version| version.as_str());
    Revision::negotiated(version.unwrap_or_default())
}
