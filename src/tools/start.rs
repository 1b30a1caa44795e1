//! The start of a call of anything but a tool.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::context::Context;
use super::handler_error::HandlerError;
use super::polled::polling;
use super::produced::{Produced, Subject, Work};
use super::running::Running;

/// Starts a call. Whatever a handler does before its first wait runs on the connection's own task, and may panic.
pub(super) fn start(
    kind: &'static str,
    name: &str,
    context: Context,
    timeout: Duration,
    begin: impl FnOnce(Context) -> Work,
) -> Running {
    let subject = Subject::Other { kind, name: name.into() };
    let work = polling(name, || catch_unwind(AssertUnwindSafe(|| begin(context.clone()))))
        .unwrap_or_else(|payload| Work::Ready(subject.panicked(payload)));
    Running::new(subject, context, work, timeout)
}

/// What a handler came to that failed.
pub(super) fn failed(error: HandlerError, kind: &'static str, name: &str, context: &Context) -> Produced {
    Produced::Failed(Box::new(error.into_protocol(kind, name, context.revision())))
}
