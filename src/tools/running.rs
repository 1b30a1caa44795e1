//! A call that has been started: polled by the connection's task until its result is there.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Sleep;

use super::HandlerFuture;
use super::context::{Canceller, Context};
use super::polled::polling;
use super::produced::{Produced, ProducedFuture, Subject, Work};
use crate::base::principal::Principal;
use crate::tables::capabilities::Capabilities;
use crate::tasks::Task;

/// How a cancelled call failed.
const CANCELLED: &str = "was cancelled";

/// A started call. Needs a tokio runtime with a timer. Dropping it cancels the call.
#[must_use = "a call runs only while it is polled"]
pub struct Running {
    subject: Subject,
    context: Context,
    phase: Phase,
    timeout: Duration,
    /// Armed after the first poll that did not finish: most calls never need a timer.
    sleep: Option<Pin<Box<Sleep>>>,
}

enum Phase {
    Ready(Produced),
    Tool(HandlerFuture),
    Future(ProducedFuture),
    /// Not yet on the blocking pool.
    Blocking(Box<dyn FnOnce() -> Produced + Send>),
    Joining(JoinHandle<Produced>),
    Over,
}

impl Running {
    /// A call of `subject` that has been started.
    pub fn new(subject: Subject, context: Context, work: Work, timeout: Duration) -> Self {
        let phase = match work {
            Work::Ready(produced) => Phase::Ready(produced),
            Work::Tool(future) => Phase::Tool(future),
            Work::Future(future) => Phase::Future(future),
            Work::Blocking(job) => Phase::Blocking(job),
        };
        Self { subject, context, phase, timeout, sleep: None }
    }

    /// Drives the call. Ready comes once; after it, [`Self::take_notification`] must be emptied before the answer is sent, since
    /// notifications precede it. A panic, a timeout and a cancellation of a tool are results with `isError`.
    pub fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<Produced> {
        let produced = match self.drive(cx) {
            Poll::Ready(produced) => self.subject.check(produced),
            Poll::Pending => match self.interrupted(cx) {
                Some(produced) => {
                    self.context.shared().cancel();
                    produced
                }
                None => return Poll::Pending,
            },
        };
        self.end();
        Poll::Ready(produced)
    }

    /// Drives the call while nothing that it sends can be taken. Once it has sent as much as is kept, its handler is held up, but not its
    /// time or its cancellation.
    pub fn poll_held(&mut self, cx: &mut task::Context<'_>) -> Poll<Produced> {
        if self.context.shared().has_room() {
            return self.poll(cx);
        }
        let Some(produced) = self.interrupted(cx) else { return Poll::Pending };
        self.context.shared().cancel();
        self.end();
        Poll::Ready(produced)
    }

    /// Takes the oldest notification that the handler sent: a whole JSON-RPC message.
    pub fn take_notification(&mut self) -> Option<Vec<u8>> {
        self.context.shared().take()
    }

    /// Takes the notification that the handler has sent by its first poll; of a call that is `over` by then, past wishes that its
    /// connection ends: there is nothing to come back for.
    pub fn take_first(&mut self, over: bool) -> Option<Vec<u8>> {
        self.context.shared().take_first(over)
    }

    /// Takes the handler's wish that the connection of the call's stream ends, in milliseconds until the client comes back. What was sent
    /// before it is taken first, and nothing behind it is taken before it.
    pub fn take_close(&mut self) -> Option<u64> {
        self.context.shared().take_close()
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
            Phase::Tool(_) | Phase::Future(_) | Phase::Blocking(_) | Phase::Joining(_) => {
                self.replace(Phase::Ready(self.subject.failure(CANCELLED)));
            }
            Phase::Ready(_) | Phase::Over => {}
        }
    }

    /// What the call comes to when it fails for a reason that lies outside of its handler.
    #[must_use]
    pub fn failure(&self, what: &str) -> Produced {
        self.subject.failure(what)
    }

    /// The authenticated caller.
    #[must_use]
    pub fn principal(&self) -> Option<&Arc<Principal>> {
        self.context.principal()
    }

    /// What the client has declared.
    #[must_use]
    pub fn declared(&self) -> Capabilities {
        self.context.shared().capabilities()
    }

    /// Whether the handler waits for the call to become a task.
    #[must_use]
    pub fn wants_task(&self) -> bool {
        self.context.shared().wants_task()
    }

    /// Makes the call a task, or lets it go on as it is. A task has a time of its own.
    pub fn become_task(&mut self, task: Option<Arc<Task>>) {
        if let Some(task) = &task {
            let declared = match &self.subject {
                Subject::Tool(entry) => entry.timeout(),
                Subject::Other { .. } => None,
            };
            self.timeout = declared.unwrap_or(Duration::from_millis(task.ttl_ms()));
            self.sleep = None;
        }
        self.context.shared().link_task(task);
    }

    /// Takes the call out, to be driven elsewhere. What stays behind is over.
    pub fn take(&mut self) -> Self {
        Self {
            subject: self.subject.clone(),
            context: self.context.clone(),
            phase: std::mem::replace(&mut self.phase, Phase::Over),
            timeout: self.timeout,
            sleep: self.sleep.take(),
        }
    }

    /// Whether the call was over when it was started.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Ready(_))
    }

    /// Nobody hears any more what is sent before the result.
    pub fn mute(&self) {
        self.context.shared().mute();
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

    /// What runs.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    fn drive(&mut self, cx: &mut task::Context<'_>) -> Poll<Produced> {
        if matches!(self.phase, Phase::Blocking(_)) && self.context.is_cancelled() {
            return Poll::Ready(self.subject.failure(CANCELLED));
        }
        if matches!(self.phase, Phase::Blocking(_))
            && let Phase::Blocking(job) = std::mem::replace(&mut self.phase, Phase::Over)
        {
            self.phase = Phase::Joining(tokio::task::spawn_blocking(job));
        }
        match &mut self.phase {
            Phase::Tool(future) => match caught(&self.subject, || future.as_mut().poll(cx)) {
                Ok(poll) => poll.map(Produced::from),
                Err(payload) => Poll::Ready(self.subject.panicked(payload)),
            },
            Phase::Future(future) => match caught(&self.subject, || future.as_mut().poll(cx)) {
                Ok(poll) => poll,
                Err(payload) => Poll::Ready(self.subject.panicked(payload)),
            },
            Phase::Joining(handle) => match Pin::new(handle).poll(cx) {
                Poll::Ready(Ok(produced)) => Poll::Ready(produced),
                Poll::Ready(Err(error)) => Poll::Ready(match error.try_into_panic() {
                    Ok(payload) => self.subject.panicked(payload),
                    // The runtime is shutting down.
                    Err(_) => self.subject.failure(CANCELLED),
                }),
                Poll::Pending => Poll::Pending,
            },
            Phase::Ready(_) | Phase::Blocking(_) | Phase::Over => {
                match std::mem::replace(&mut self.phase, Phase::Over) {
                    Phase::Ready(produced) => Poll::Ready(produced),
                    Phase::Tool(_)
                    | Phase::Future(_)
                    | Phase::Blocking(_)
                    | Phase::Joining(_)
                    | Phase::Over => Poll::Ready(self.subject.failure("is over already")),
                }
            }
        }
    }

    /// What a call that is not finished and must end now comes to.
    fn interrupted(&mut self, cx: &mut task::Context<'_>) -> Option<Produced> {
        // Registered before the flag is read: a cancellation between the two wakes us.
        self.context.shared().register(cx.waker());
        if self.context.is_cancelled() {
            return Some(self.subject.failure(CANCELLED));
        }
        if let Some(required) = self.context.shared().input_required() {
            return Some(Produced::InputRequired(Box::new(required)));
        }
        let timeout = self.timeout;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        while sleep.as_mut().poll(cx).is_ready() {
            if !self.context.shared().waits_for_client() {
                return Some(self.out_of_time());
            }
            // The client's time is not the handler's: answers have a limit of their own.
            sleep.as_mut().reset(tokio::time::Instant::now() + timeout);
        }
        None
    }

    fn out_of_time(&self) -> Produced {
        let timeout = self.timeout;
        let timeout_ms = timeout.as_millis();
        tracing::warn!(name = self.subject.name(), timeout_ms, "a handler ran out of time");
        self.subject.failure(&format!("did not finish within {timeout_ms} ms"))
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
            let _ = self.subject.panicked(payload);
        }
    }
}

/// Polls a handler, and says so to whoever watches this thread.
fn caught<T>(subject: &Subject, poll: impl FnOnce() -> T) -> std::thread::Result<T> {
    polling(subject.name(), || catch_unwind(AssertUnwindSafe(poll)))
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
            Phase::Tool(_) | Phase::Future(_) => "future",
            Phase::Blocking(_) | Phase::Joining(_) => "blocking",
            Phase::Over => "over",
        };
        f.debug_struct("Running")
            .field("subject", &self.subject.name())
            .field("phase", &phase)
            .finish_non_exhaustive()
    }
}
