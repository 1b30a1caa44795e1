//! A tool that a test holds: it waits until it is let go, and tells what became of its calls. So nothing has to be timed.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use tokio::sync::Notify;

/// A hang is a failure, not a wait without end.
const PATIENCE: Duration = Duration::from_secs(20);

/// What became of calls, each counted once it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fates {
    /// Calls that have begun.
    pub begun: u64,
    /// Calls that were let go and have ended.
    pub ended: u64,
    /// Calls that were dropped while they waited.
    pub dropped: u64,
    /// Blocking calls that have seen that they were cancelled.
    pub cancelled: u64,
}

#[derive(Debug, Default)]
struct State {
    fates: Fates,
    permits: u64,
}

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
    notify: Notify,
}

/// The gate. Clones are the same gate.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<Inner>);

impl Gate {
    /// Lets `calls` calls go, those that wait and those that are to come.
    pub fn open(&self, calls: u64) {
        self.0.state.lock().unwrap().permits += calls;
        self.0.changed.notify_all();
        self.0.notify.notify_waiters();
    }

    pub fn fates(&self) -> Fates {
        self.0.state.lock().unwrap().fates
    }

    /// Waits until the calls' fates are as `wanted` says.
    #[track_caller]
    pub fn await_fates(&self, wanted: impl Fn(Fates) -> bool) -> Fates {
        let state = self.0.state.lock().unwrap();
        let (state, waited) =
            self.0.changed.wait_timeout_while(state, PATIENCE, |state| !wanted(state.fates)).unwrap();
        assert!(!waited.timed_out(), "it never came to that: {:?}", state.fates);
        state.fates
    }

    /// Waits until `calls` calls have begun, counted from the start.
    #[track_caller]
    pub fn await_begun(&self, calls: u64) {
        self.await_fates(|fates| fates.begun >= calls);
    }

    /// Passes the gate as an async handler.
    pub async fn pass(self) {
        self.note(|fates| fates.begun += 1);
        let mut waiting = Waiting(&self, true);
        loop {
            let notified = self.0.notify.notified();
            if self.take() {
                waiting.1 = false;
                break;
            }
            notified.await;
        }
        drop(waiting);
        self.note(|fates| fates.ended += 1);
    }

    /// Passes the gate as a blocking handler, which looks whether it `is_cancelled`. True where it was let go.
    pub fn pass_blocking(&self, is_cancelled: impl Fn() -> bool) -> bool {
        self.note(|fates| fates.begun += 1);
        loop {
            if self.take() {
                self.note(|fates| fates.ended += 1);
                return true;
            }
            if is_cancelled() {
                self.note(|fates| fates.cancelled += 1);
                return false;
            }
            let state = self.0.state.lock().unwrap();
            // Cancellation has no condition of its own to wait for here.
            let _ = self.0.changed.wait_timeout(state, Duration::from_millis(5)).unwrap();
        }
    }

    fn take(&self) -> bool {
        let mut state = self.0.state.lock().unwrap();
        let free = state.permits > 0;
        state.permits -= u64::from(free);
        free
    }

    fn note(&self, change: impl FnOnce(&mut Fates)) {
        change(&mut self.0.state.lock().unwrap().fates);
        self.0.changed.notify_all();
    }
}

struct Waiting<'g>(&'g Gate, bool);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.1 {
            self.0.note(|fates| fates.dropped += 1);
        }
    }
}
