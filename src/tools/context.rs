//! What a handler may use besides its arguments.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::base::principal::Principal;
use crate::tables::capabilities::Capability;
use crate::tables::levels::LogLevel;
use crate::tables::versions::{Era, Revision};

use super::ask::{Given, Memory};
use super::call::CallShared;
use super::members::{Members, write_value};

/// The surroundings of one call: who calls, how to report progress, whether anyone still waits. Cheap to clone, and may outlive the call.
#[derive(Clone)]
pub struct Context {
    shared: Arc<CallShared>,
}

impl Context {
    pub(super) fn new(shared: Arc<CallShared>) -> Self {
        Self { shared }
    }

    /// A context without a caller, for testing handlers: nothing is reported and nothing cancels it.
    #[must_use]
    pub fn detached() -> Self {
        Self::new(Arc::new(CallShared::default()))
    }

    pub(super) fn shared(&self) -> &CallShared {
        &self.shared
    }

    /// Reports progress. Does nothing where the caller did not ask for it, after the call is over, and for a value that is not greater
    /// than the one before or not finite. A report that a slow reader leaves no room for is dropped.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        self.shared.progress(progress, total, message);
    }

    /// Whether progress reports reach anyone.
    #[must_use]
    pub fn wants_progress(&self) -> bool {
        self.shared.wants_progress()
    }

    /// Sends the client a log message: any JSON, and the name of what logs. Only what the client asked for is sent: on the legacy lane from
    /// the level its session has set (`info` until then), on the modern one from the level in the request. Nothing secret belongs in it.
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: &(impl Serialize + ?Sized)) {
        if self.shared.logs(level) {
            self.shared.notify(|| log_message(level, logger, data));
        }
    }

    /// Whether log messages of this level reach the client.
    #[must_use]
    pub fn logs(&self, level: LogLevel) -> bool {
        self.shared.logs(level)
    }

    /// Whether the client has declared a capability: on the legacy lane when it opened its session, on the modern one in the request.
    #[must_use]
    pub fn client_supports(&self, capability: Capability) -> bool {
        self.shared.capabilities().has(capability)
    }

    /// Makes the call a task, where the tool is declared [`super::TaskSupport::OptionalByHandler`] or `RequiredByHandler` and the client
    /// takes tasks: the request is answered with the task, and the handler goes on without it. Elsewhere the handler goes on at once.
    pub async fn start_task(&self) {
        std::future::poll_fn(|cx| {
            if self.shared.want_task(cx.waker()) {
                std::task::Poll::Pending
            } else {
                std::task::Poll::Ready(())
            }
        })
        .await;
    }

    /// Whether the call is a task. Its progress messages are then the task's status message.
    #[must_use]
    pub fn is_task(&self) -> bool {
        self.shared.task().is_some()
    }

    /// Ends the connection that the call's event stream runs on, and has the client come back for the rest after `retry` (SEP-1699): a
    /// call that takes long need not hold a connection. The call goes on, and what it sends is kept meanwhile. Only a session of 2025-11-25
    /// has such streams, and only so many calls may run on without their clients; elsewhere this does nothing.
    pub fn close_stream(&self, retry: Duration) {
        self.shared.close_stream(u64::try_from(retry.as_millis()).unwrap_or(u64::MAX));
    }

    /// Whether the call was cancelled, timed out or lost its caller. A blocking handler should look from time to time and return early.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled()
    }

    /// Waits until the call is cancelled, times out or loses its caller. Never returns for a call that ends by itself.
    pub async fn cancelled(&self) {
        self.shared.cancelled().await;
    }

    /// The authenticated caller, where authentication is on.
    #[must_use]
    pub fn principal(&self) -> Option<&Arc<Principal>> {
        self.shared.principal()
    }

    /// The protocol revision the caller speaks.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.shared.revision()
    }

    /// The era of that revision.
    #[must_use]
    pub fn era(&self) -> Era {
        self.shared.revision().era()
    }

    /// The client program's name, where it gave one.
    #[must_use]
    pub fn client_name(&self) -> Option<&str> {
        self.shared.client().map(|(name, _)| name)
    }

    /// The client program's version, where it gave one.
    #[must_use]
    pub fn client_version(&self) -> Option<&str> {
        self.shared.client().map(|(_, version)| version)
    }

    /// Goes on from what an earlier round remembered, with the answers that came with the request.
    pub(crate) fn resume(&self, memory: Memory, given: Given) {
        self.shared.resume(memory, given);
    }

    /// A handle that cancels the call from elsewhere.
    #[must_use]
    pub(crate) fn canceller(&self) -> Canceller {
        Canceller(self.clone())
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("revision", &self.revision())
            .field("client", &self.shared.client())
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

/// Cancels a call from outside of the task that runs it.
#[derive(Debug, Clone)]
pub struct Canceller(Context);

impl Canceller {
    /// Cancels the call: its waiters wake, and a handler that is still pending when it is polled next is dropped.
    pub fn cancel(&self) {
        self.0.shared.cancel();
    }
}

fn log_message(level: LogLevel, logger: Option<&str>, data: &(impl Serialize + ?Sized)) -> Vec<u8> {
    let mut out = Vec::with_capacity(192);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"#);
    let mut members = Members::new(&mut out);
    members.text("level", level.wire());
    members.text_if("logger", logger);
    write_value(members.key("data"), data);
    out.extend_from_slice(b"}}");
    out
}
