//! Calls in flight on a session, known by their request ids while they go on, so that the client can cancel them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::state::Session;

/// A call that goes on, as the session knows it.
#[derive(Debug)]
pub struct Flight {
    /// The request's id, as JSON.
    id: Box<[u8]>,
    cancelled: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Flight {
    pub(super) fn new(id: &[u8]) -> Self {
        Self { id: id.into(), cancelled: AtomicBool::new(false), waker: Mutex::default() }
    }

    /// The request's id, as JSON.
    #[must_use]
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// Cancels the call: whoever drives it drops its handler.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ready once the call is cancelled.
    pub fn poll_cancelled(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        let old = match &*waker {
            Some(known) if known.will_wake(cx.waker()) => None,
            Some(_) | None => waker.replace(cx.waker().clone()),
        };
        drop(waker);
        drop(old);
        // Registered before the flag is read: a cancellation between the two wakes us.
        if self.cancelled.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// A call's place among those in flight, for as long as it is held.
#[derive(Debug)]
pub struct Registered {
    pub(super) session: Arc<Session>,
    pub(super) key: u64,
    pub(super) flight: Arc<Flight>,
}

impl Registered {
    /// The session.
    #[must_use]
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The call.
    #[must_use]
    pub fn flight(&self) -> &Arc<Flight> {
        &self.flight
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // The flight itself is dropped with the field, outside of the lock.
        self.session.with_made_streams(|streams| streams.unregister(self.key));
    }
}
