//! How a server tells its connections to end: one phase for the whole process, and a watch that each connection registers once.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

/// How far a server's end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    /// Serving.
    Running,
    /// No new connections; idle ones close, open requests finish.
    Draining,
    /// Everything ends now.
    Stopped,
}

/// The phase of one server, shared by all its connections.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    phase: AtomicU8,
    notify: Arc<Notify>,
}

impl Stop {
    /// A phase that runs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The phase now.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match self.0.phase.load(Ordering::Acquire) {
            0 => Phase::Running,
            1 => Phase::Draining,
            _ => Phase::Stopped,
        }
    }

    /// Moves on to `phase`; never back.
    pub fn advance(&self, phase: Phase) {
        self.0.phase.fetch_max(phase as u8, Ordering::AcqRel);
        self.0.notify.notify_waiters();
    }

    /// A watch for one task.
    #[must_use]
    pub fn watch(&self) -> StopWatch {
        StopWatch {
            stop: self.clone(),
            notified: Box::pin(Arc::clone(&self.0.notify).notified_owned()),
            seen: None,
        }
    }
}

/// One task's view of the phase. Its waker is registered once and stays registered, so that looking costs one atomic load.
pub struct StopWatch {
    stop: Stop,
    notified: Pin<Box<OwnedNotified>>,
    /// The waker that is registered, and the phase it waits to leave.
    seen: Option<(Waker, Phase)>,
}

impl StopWatch {
    /// The phase now, without registering for a change.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.stop.phase()
    }

    /// The phase now; the task is woken when it changes.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Phase {
        let phase = self.stop.phase();
        match &self.seen {
            Some((waker, seen)) if *seen == phase && waker.will_wake(cx.waker()) => return phase,
            Some(_) | None => {}
        }
        self.notified.set(Arc::clone(&self.stop.0.notify).notified_owned());
        self.seen = match self.notified.as_mut().poll(cx) {
            Poll::Pending => Some((cx.waker().clone(), phase)),
            Poll::Ready(()) => None,
        };
        // Whatever advanced before the registration is seen here, whatever advances after it wakes.
        self.stop.phase()
    }

    /// Waits until `phase` is reached.
    pub async fn reached(&mut self, phase: Phase) {
        std::future::poll_fn(|cx| if self.poll(cx) >= phase { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}

impl fmt::Debug for StopWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopWatch").field("phase", &self.phase()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_watch_is_woken_for_every_phase() {
        let stop = Stop::new();
        let mut tasks = Vec::new();
        for _ in 0..8 {
            let mut watch = stop.watch();
            tasks.push(tokio::spawn(async move {
                assert_eq!(watch.phase(), Phase::Running);
                watch.reached(Phase::Draining).await;
                watch.reached(Phase::Stopped).await;
            }));
        }
        tokio::task::yield_now().await;
        stop.advance(Phase::Draining);
        tokio::task::yield_now().await;
        stop.advance(Phase::Stopped);
        stop.advance(Phase::Draining);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(stop.phase(), Phase::Stopped);
    }
}
