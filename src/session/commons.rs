//! What all sessions of one server share: bounds, and counts of what is kept on their behalf.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::base::limits::Limits;

/// Shared by all sessions.
#[derive(Debug)]
pub struct Commons {
    pub(super) bounds: Bounds,
    draining: AtomicBool,
    streams: AtomicU64,
    detached: AtomicU64,
    replay: AtomicU64,
    subscribed: AtomicU64,
}

/// The limits that streams keep to.
#[derive(Debug)]
pub(super) struct Bounds {
    pub(super) get_streams: usize,
    pub(super) retry_ms: u64,
    pub(super) events: usize,
    pub(super) bytes: usize,
    pub(super) session_bytes: usize,
    pub(super) all_bytes: u64,
    pub(super) finished: usize,
    pub(super) finished_ms: u64,
    pub(super) session_detached: u64,
    pub(super) detached: u64,
    pub(super) subscriptions: usize,
    pub(super) subscription_bytes: u64,
}

impl Commons {
    /// Nothing is kept yet.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let size = |limit| usize::try_from(limit).unwrap_or(usize::MAX);
        Self {
            bounds: Bounds {
                get_streams: size(limits.get_streams),
                retry_ms: limits.stream_retry,
                events: size(limits.replay_events),
                bytes: size(limits.replay_bytes),
                session_bytes: size(limits.session_replay),
                all_bytes: limits.replay_memory,
                finished: size(limits.replay_streams),
                finished_ms: limits.replay_time,
                session_detached: limits.session_detached,
                detached: limits.detached,
                subscriptions: size(limits.session_subscriptions),
                subscription_bytes: limits.subscription_memory,
            },
            draining: AtomicBool::new(false),
            streams: AtomicU64::new(0),
            detached: AtomicU64::new(0),
            replay: AtomicU64::new(0),
            subscribed: AtomicU64::new(0),
        }
    }

    /// How many streams are open, or kept for their clients to come back to.
    #[must_use]
    pub fn streams(&self) -> u64 {
        self.streams.load(Ordering::Acquire)
    }

    /// How many calls run on without their clients.
    #[must_use]
    pub fn detached(&self) -> u64 {
        self.detached.load(Ordering::Acquire)
    }

    /// How many bytes of events are kept.
    #[must_use]
    pub fn replay_bytes(&self) -> u64 {
        self.replay.load(Ordering::Acquire)
    }

    /// How many bytes of URIs sessions subscribe to.
    #[must_use]
    pub fn subscribed(&self) -> u64 {
        self.subscribed.load(Ordering::Acquire)
    }

    /// Counts a subscription, if there is memory for it.
    pub(super) fn take_subscription(&self, bytes: usize) -> bool {
        up(&self.subscribed, bytes as u64, self.bounds.subscription_bytes)
    }

    pub(super) fn give_subscription(&self, bytes: usize) {
        self.subscribed.fetch_sub(bytes as u64, Ordering::AcqRel);
    }

    /// From now on no stream may listen.
    pub(super) fn drain(&self) {
        self.draining.store(true, Ordering::Release);
    }

    pub(super) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }
}

/// A stream's share in the counts.
#[derive(Debug)]
pub(super) struct Share {
    commons: Arc<Commons>,
    bytes: usize,
}

impl Share {
    pub(super) fn new(commons: &Arc<Commons>) -> Self {
        commons.streams.fetch_add(1, Ordering::AcqRel);
        Self { commons: Arc::clone(commons), bytes: 0 }
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn add(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.commons.replay.fetch_add(bytes as u64, Ordering::AcqRel);
    }

    pub(super) fn sub(&mut self, bytes: usize) {
        self.bytes -= bytes;
        self.commons.replay.fetch_sub(bytes as u64, Ordering::AcqRel);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.sub(self.bytes);
        self.commons.streams.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Leave for one call to run on without its client.
#[derive(Debug)]
pub struct Permit {
    commons: Arc<Commons>,
    session: Arc<AtomicU64>,
}

impl Permit {
    /// Leave for a call of the session that counts in `session`, unless as many run on as may.
    pub(super) fn take(commons: &Arc<Commons>, session: &Arc<AtomicU64>) -> Option<Self> {
        let bounds = &commons.bounds;
        if !up(session, 1, bounds.session_detached) {
            return None;
        }
        if !up(&commons.detached, 1, bounds.detached) {
            session.fetch_sub(1, Ordering::AcqRel);
            return None;
        }
        Some(Self { commons: Arc::clone(commons), session: Arc::clone(session) })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.session.fetch_sub(1, Ordering::AcqRel);
        self.commons.detached.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Counts so many more, up to `most`.
fn up(count: &AtomicU64, more: u64, most: u64) -> bool {
    let add = |count: u64| count.checked_add(more).filter(|&count| count <= most);
    count.fetch_update(Ordering::AcqRel, Ordering::Acquire, add).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_are_bounded_for_a_session_and_for_all_and_come_back() {
        let limits = Limits { session_detached: 2, detached: 3, ..Limits::default() };
        let commons = Arc::new(Commons::new(&limits));
        let (one, two) = (Arc::default(), Arc::default());
        let held: Vec<_> = (0..2).map(|_| Permit::take(&commons, &one).unwrap()).collect();
        assert!(Permit::take(&commons, &one).is_none());
        let third = Permit::take(&commons, &two).unwrap();
        assert!(Permit::take(&commons, &two).is_none());
        assert_eq!(commons.detached(), 3);
        drop((held, third));
        assert_eq!((commons.detached(), one.load(Ordering::Acquire)), (0, 0));
        assert!(Permit::take(&commons, &two).is_some());
    }
}
