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

    /// Whether the request's id is the value that this JSON is: a number however it is spelled.
    pub(super) fn has_id(&self, id: &[u8]) -> bool {
        *self.id == *id || integer(&self.id).is_some_and(|own| integer(id) == Some(own))
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

/// The value of an integral number, as far as floats hold integers exactly.
fn integer(json: &[u8]) -> Option<f64> {
    let value = std::str::from_utf8(json).ok()?.parse::<f64>().ok()?;
    (value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0).then_some(value)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_same_value_however_spelled() {
        for (one, other, same) in [
            ("1", "1", true),
            ("1", "1.0", true),
            ("1e2", "100", true),
            ("-0", "0", true),
            ("1", "2", false),
            ("1", "\"1\"", false),
            ("\"a\"", "\"a\"", true),
            ("\"a\"", "\"b\"", false),
            ("9007199254740993", "9007199254740992", false),
            ("18446744073709551615", "18446744073709551615", true),
            ("18446744073709551615", "18446744073709551614", false),
            ("null", "null", true),
            ("\"NaN\"", "NaN", false),
        ] {
            assert_eq!(Flight::new(one.as_bytes()).has_id(other.as_bytes()), same, "{one} {other}");
            assert_eq!(Flight::new(other.as_bytes()).has_id(one.as_bytes()), same, "{other} {one}");
        }
    }
}
