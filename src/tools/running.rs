//! A call that has been started: polled by the connection's task until its result is there.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Sleep;

use super::context::{Canceller, Context};
use super::entry::Entry;
use super::result::ToolResult;
use super::{HandlerFuture, Job, Started};

/// A started call. Needs a tokio runtime with a timer. Dropping it cancels the call.
#[must_use = "a call runs only while it is polled"]
pub struct Running {
    entry: Arc<Entry>,
    context: Context,
    phase: Phase,
    timeout: Duration,
    /// Armed after the first poll that did not finish: most calls never need a timer.
    sleep: Option<Pin<Box<Sleep>>>,
}

enum Phase {
    Ready(ToolResult),
    Future(HandlerFuture),
    /// Not yet on the blocking pool.
    Blocking(Job),
    Joining(JoinHandle<ToolResult>),
    Over,
}

impl Running {
    pub(super) fn new(entry: Arc<Entry>, context: Context, started: Started, timeout: Duration) -> Self {
        let phase = match started {
            Started::Ready(result) => Phase::Ready(result),
            Started::Future(future) => Phase::Future(future),
            Started::Blocking(job) => Phase::Blocking(job),
            Started::Invalid(fault) => Phase::Ready(entry.refuse(&fault.into())),
        };
        Self { entry, context, phase, timeout, sleep: None }
    }

    /// Drives the call. Ready comes once; after it, [`Self::take_notification`] must be emptied before the result is sent, since
    /// notifications precede it. A panic, a timeout and a cancellation are results with `isError`.
    pub fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<ToolResult> {
        let result = match self.drive(cx) {
            Poll::Ready(result) => self.entry.check_output(result),
            Poll::Pending => match self.interrupted(cx) {
                Some(text) => {
                    self.context.shared().cancel();
                    ToolResult::error(text)
                }
                None => return Poll::Pending,
            },
        };
        self.end();
        Poll::Ready(result)
    }

    /// Takes the oldest notification that the handler sent: a whole JSON-RPC message.
    pub fn take_notification(&mut self) -> Option<Vec<u8>> {
        self.context.shared().take()
    }

    /// How many notifications were dropped because the reader was slow.
    #[must_use]
    pub fn dropped_notifications(&self) -> u64 {
        self.context.shared().dropped()
    }

    /// Cancels the call and drops its handler; a blocking one runs on and may look at its context. The next poll ends it.
    pub fn cancel(&mut self) {
        self.context.shared().cancel();
        match self.phase {
            Phase::Future(_) | Phase::Blocking(_) | Phase::Joining(_) => {
                self.replace(Phase::Ready(ToolResult::error(self.text("was cancelled"))));
            }
            Phase::Ready(_) | Phase::Over => {}
        }
    }

    /// A handle that cancels the call from another task; the call then ends at its next poll, for which the task is woken.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.context.canceller()
    }

    /// Whether the call was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.context.is_cancelled()
    }

    /// The tool that runs.
    #[must_use]
    pub fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    fn drive(&mut self, cx: &mut task::Context<'_>) -> Poll<ToolResult> {
        if matches!(self.phase, Phase::Blocking(_)) && self.context.is_cancelled() {
            return Poll::Ready(ToolResult::error(self.text("was cancelled")));
        }
        if matches!(self.phase, Phase::Blocking(_))
            && let Phase::Blocking(job) = std::mem::replace(&mut self.phase, Phase::Over)
        {
            self.phase = Phase::Joining(tokio::task::spawn_blocking(job));
        }
        match &mut self.phase {
            Phase::Future(future) => match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
                Ok(poll) => poll,
                Err(payload) => Poll::Ready(self.entry.panicked(payload)),
            },
            Phase::Joining(handle) => match Pin::new(handle).poll(cx) {
                Poll::Ready(Ok(result)) => Poll::Ready(result),
                Poll::Ready(Err(error)) => Poll::Ready(match error.try_into_panic() {
                    Ok(payload) => self.entry.panicked(payload),
                    // The runtime is shutting down.
                    Err(_) => ToolResult::error(self.text("was cancelled")),
                }),
                Poll::Pending => Poll::Pending,
            },
            Phase::Ready(_) | Phase::Blocking(_) | Phase::Over => {
                match std::mem::replace(&mut self.phase, Phase::Over) {
                    Phase::Ready(result) => Poll::Ready(result),
                    Phase::Future(_) | Phase::Blocking(_) | Phase::Joining(_) | Phase::Over => {
                        Poll::Ready(ToolResult::error(self.text("is over already")))
                    }
                }
            }
        }
    }

    /// Why a call that is not finished must end now.
    fn interrupted(&mut self, cx: &mut task::Context<'_>) -> Option<String> {
        // Registered before the flag is read: a cancellation between the two wakes us.
        self.context.shared().register(cx.waker());
        if self.context.is_cancelled() {
            return Some(self.text("was cancelled"));
        }
        let timeout = self.timeout;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        if sleep.as_mut().poll(cx).is_pending() {
            return None;
        }
        tracing::warn!(tool = self.entry.name(), timeout_ms = timeout.as_millis(), "a tool ran out of time");
        Some(self.text(&format!("did not finish within {} ms", timeout.as_millis())))
    }

    fn text(&self, what: &str) -> String {
        format!("Tool \"{}\" {what}", self.entry.name())
    }

    fn end(&mut self) {
        self.context.shared().close();
        self.sleep = None;
        self.replace(Phase::Over);
    }

    /// Drops the present phase; a handler that panics while it is dropped must not take the connection with it.
    fn replace(&mut self, phase: Phase) {
        let old = std::mem::replace(&mut self.phase, phase);
        if let Phase::Joining(handle) = &old {
            // A job that has not begun never will; one that has runs on.
            handle.abort();
        }
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(old))) {
            let _ = self.entry.panicked(payload);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !matches!(self.phase, Phase::Over) {
            self.context.shared().cancel();
            self.end();
        }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = match &self.phase {
            Phase::Ready(_) => "ready",
            Phase::Future(_) => "future",
            Phase::Blocking(_) | Phase::Joining(_) => "blocking",
            Phase::Over => "over",
        };
        f.debug_struct("Running")
            .field("tool", &self.entry.name())
            .field("phase", &phase)
            .finish_non_exhaustive()
    }
}

/// What a caught panic carries.
pub(super) type Payload = Box<dyn Any + Send>;
