//! One legacy session.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::commons::{Commons, Permit};
use super::id::SessionId;
use super::requests::{ClientAnswer, Requests};
use super::streams::{After, Streams};
use crate::base::principal::{Principal, may_use};
use crate::events::topic::{OwedTopics, Topics};
use crate::tables::capabilities::Capabilities;
use crate::tables::levels::LogLevel;
use crate::tables::versions::Revision;

/// Where a session is in its life. It ends by leaving the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Lifecycle {
    /// `initialize` was answered.
    Opened,
    /// `notifications/initialized` has come.
    Ready,
}

/// Who the client said it is, and what it can do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientInfo {
    /// `clientInfo.name`.
    pub name: String,
    /// `clientInfo.version`.
    pub version: String,
    /// `capabilities`, as far as the server acts on them.
    pub capabilities: Capabilities,
}

/// What `last_seen_ms` says once the last open request has ended, until somebody with a clock looks: the idle time starts then.
const JUST_CLOSED: u64 = u64::MAX;

/// A session between `initialize` and its end.
#[derive(Debug)]
pub struct Session {
    /// The id both sides know it by.
    pub id: SessionId,
    /// The revision agreed on.
    pub revision: Revision,
    /// The principal that opened it; `None` without authentication.
    pub principal: Option<Arc<Principal>>,
    /// Who the client said it is.
    pub client: ClientInfo,
    lifecycle: AtomicU8,
    log_level: AtomicU8,
    last_seen_ms: AtomicU64,
    open: AtomicU32,
    /// The lists that its client has not been told the change of.
    pub(super) owed: OwedTopics,
    /// Those that it has been told the change of, but has not been served since.
    pub(super) told: OwedTopics,
    pub(super) offered: OnceLock<Topics>,
    commons: Arc<Commons>,
    /// How many streams it has had.
    begun: AtomicU64,
    /// Set for good, with the streams' lock held.
    ended: AtomicBool,
    /// Made when it is needed: most sessions never stream.
    streams: Mutex<Option<Box<Streams>>>,
    /// Made when the server asks the client something.
    requests: OnceLock<Box<Requests>>,
}

impl Session {
    /// A session that has just been opened.
    #[must_use]
    pub fn new(
        commons: &Arc<Commons>,
        id: SessionId,
        revision: Revision,
        principal: Option<Arc<Principal>>,
        client: ClientInfo,
        now_ms: u64,
    ) -> Self {
        Self {
            id,
            revision,
            principal,
            client,
            lifecycle: AtomicU8::new(Lifecycle::Opened as u8),
            log_level: AtomicU8::new(LogLevel::DEFAULT as u8),
            last_seen_ms: AtomicU64::new(now_ms),
            open: AtomicU32::new(0),
            owed: OwedTopics::default(),
            told: OwedTopics::default(),
            offered: OnceLock::new(),
            commons: Arc::clone(commons),
            begun: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            streams: Mutex::new(None),
            requests: OnceLock::new(),
        }
    }

    /// What it shares with all sessions.
    pub(super) const fn commons(&self) -> &Arc<Commons> {
        &self.commons
    }

    /// The number of a new stream, which no other stream of this session has.
    pub(super) fn next_stream(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Looks at the streams, which are made if need be. `None` where the session has ended.
    pub(super) fn with_streams<T>(&self, look: impl FnOnce(&mut Streams) -> T) -> Option<T> {
        let mut held = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if self.ended.load(Ordering::Relaxed) {
            return None;
        }
        // The ids of its events tell sessions apart by it; it says too little of the session's own id to be of use to anybody.
        let streams = held
            .get_or_insert_with(|| Box::new(Streams::new(&self.commons, (self.id.spread() >> 32) as u32)));
        let looked = look(streams);
        let after = std::mem::take(&mut streams.after);
        drop(held);
        after.run();
        Some(looked)
    }

    /// Looks at the streams where they are made. `None` where they are not, or the session has ended.
    pub(super) fn with_made_streams<T>(&self, look: impl FnOnce(&mut Streams) -> T) -> Option<T> {
        let (looked, after) = self.look_at_streams(look)?;
        after.run();
        Some(looked)
    }

    /// The same, and what is to be done now that the lock is free.
    pub(super) fn look_at_streams<T>(&self, look: impl FnOnce(&mut Streams) -> T) -> Option<(T, After)> {
        let mut held = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let streams = held.as_mut()?;
        let looked = look(streams);
        Some((looked, std::mem::take(&mut streams.after)))
    }

    /// Leave for a call to run on without its client; `None` where as many do as may, or the session has ended.
    #[must_use]
    pub fn permit(&self) -> Option<Permit> {
        self.with_streams(|streams| streams.permit()).flatten()
    }

    /// The session has left the store: its streams end, its calls are cancelled, and nothing of it waits any longer.
    pub(super) fn end(&self) {
        let mut held = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        self.ended.store(true, Ordering::Release);
        let streams = held.take();
        drop(held);
        if let Some(streams) = streams {
            streams.end().run();
        }
        if let Some(requests) = self.requests.get() {
            requests.end();
        }
    }

    /// Forgets finished streams whose time is over.
    pub(super) fn sweep(&self, now_ms: u64) {
        let mut held = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(streams) = held.as_mut() else { return };
        streams.sweep(now_ms);
        let empty = held.take_if(|streams| streams.is_empty());
        drop(held);
        drop(empty);
    }

    /// Ends the connections of the streams that listen. What the client was asked it cannot answer any more.
    pub(super) fn drain(&self) {
        self.with_made_streams(Streams::drain);
        // After the streams' lock, as in `requests`: whoever asks next sees the drain, or is seen.
        if let Some(requests) = self.made_requests() {
            requests.drain();
        }
    }

    /// Where it is in its life.
    #[must_use]
    pub fn lifecycle(&self) -> Lifecycle {
        if self.lifecycle.load(Ordering::Acquire) == Lifecycle::Ready as u8 {
            Lifecycle::Ready
        } else {
            Lifecycle::Opened
        }
    }

    /// `notifications/initialized` has come. Saying so twice changes nothing.
    pub fn make_ready(&self) {
        self.lifecycle.store(Lifecycle::Ready as u8, Ordering::Release);
        self.with_made_streams(Streams::wake_newest);
    }

    /// The mildest log messages that the client wants.
    #[must_use]
    pub fn log_level(&self) -> LogLevel {
        LogLevel::at(self.log_level.load(Ordering::Relaxed)).unwrap_or(LogLevel::DEFAULT)
    }

    /// The client has said which log messages it wants.
    pub fn set_log_level(&self, level: LogLevel) {
        self.log_level.store(level as u8, Ordering::Relaxed);
    }

    /// A message was taken: the idle timer starts over.
    pub fn touch(&self, now_ms: u64) {
        self.last_seen_ms.store(now_ms, Ordering::Relaxed);
    }

    /// When the idle timer last started over, in the clock's milliseconds.
    #[must_use]
    pub fn last_seen_ms(&self) -> u64 {
        self.last_seen_ms.load(Ordering::Relaxed)
    }

    /// The server's own requests that wait for the client's answers.
    pub(super) fn requests(&self) -> &Requests {
        let requests = self.requests.get_or_init(Box::default);
        // With the streams' lock: whoever ends the session either sees the table, or is seen.
        let held = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = self.ended.load(Ordering::Relaxed);
        drop(held);
        if ended {
            requests.end();
        }
        requests
    }

    /// The same, where there were any.
    pub(super) fn made_requests(&self) -> Option<&Requests> {
        self.requests.get().map(AsRef::as_ref)
    }

    /// Hands a client's response to the request of the server's that waits for it. False where none does.
    pub fn answer(&self, id: &str, answer: impl FnOnce() -> ClientAnswer) -> bool {
        self.requests.get().is_some_and(|requests| requests.answer(id, answer))
    }

    /// Whether nothing is open and the idle time has passed.
    #[must_use]
    pub fn is_idle(&self, now_ms: u64, idle_ms: u64) -> bool {
        if self.open.load(Ordering::Acquire) != 0 {
            return false;
        }
        let seen = self.last_seen_ms();
        if seen == JUST_CLOSED {
            // Whoever touches it meanwhile knows the time as well as we do.
            let _ = self.last_seen_ms.compare_exchange(seen, now_ms, Ordering::Relaxed, Ordering::Relaxed);
            return false;
        }
        now_ms.saturating_sub(seen) >= idle_ms
    }

    /// Marks a request or stream as open until the guard is dropped: meanwhile the session is not idle.
    #[must_use]
    pub fn open(self: &Arc<Self>) -> OpenGuard {
        self.open.fetch_add(1, Ordering::AcqRel);
        OpenGuard(Arc::clone(self))
    }

    /// Whether the session belongs to `principal`. A session without one belongs to anybody.
    #[must_use]
    pub fn belongs_to(&self, principal: Option<&Arc<Principal>>) -> bool {
        may_use(self.principal.as_ref(), principal)
    }
}

/// Keeps a session from being idle. See [`Session::open`].
#[derive(Debug)]
pub struct OpenGuard(Arc<Session>);

impl Drop for OpenGuard {
    fn drop(&mut self) {
        if self.0.open.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.last_seen_ms.store(JUST_CLOSED, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::limits::Limits;

    fn session(principal: Option<&str>) -> Arc<Session> {
        let principal = principal.map(|name| Arc::new(Principal::new(name)));
        Arc::new(Session::new(
            &Arc::new(Commons::new(&Limits::default())),
            SessionId::random().unwrap(),
            Revision::V2025_11_25,
            principal,
            ClientInfo::default(),
            0,
        ))
    }

    #[test]
    fn idle_counts_from_the_last_touch_and_never_while_open() {
        let session = session(None);
        assert!(!session.is_idle(999, 1000));
        assert!(session.is_idle(1000, 1000));
        session.touch(500);
        assert!(!session.is_idle(1499, 1000));
        let guard = session.open();
        assert!(!session.is_idle(9999, 1000));
        drop(guard);
        assert!(!session.is_idle(9999, 1000), "the idle time starts when the request ends");
        assert!(!session.is_idle(10_998, 1000));
        assert!(session.is_idle(10_999, 1000));
    }

    #[test]
    fn ready_once_and_for_all() {
        let session = session(None);
        assert_eq!(session.lifecycle(), Lifecycle::Opened);
        session.make_ready();
        session.make_ready();
        assert_eq!(session.lifecycle(), Lifecycle::Ready);
    }

    #[test]
    fn the_log_level_is_info_until_it_is_set() {
        let session = session(None);
        assert_eq!(session.log_level(), LogLevel::Info);
        for &level in LogLevel::ALL {
            session.set_log_level(level);
            assert_eq!(session.log_level(), level);
        }
    }

    #[test]
    fn owned_sessions_answer_their_owner_alone() {
        let (alice, bob) = (Arc::new(Principal::new("alice")), Arc::new(Principal::new("bob")));
        let owned = session(Some("alice"));
        assert!(owned.belongs_to(Some(&alice)));
        assert!(!owned.belongs_to(Some(&bob)));
        assert!(!owned.belongs_to(None));
        assert!(session(None).belongs_to(Some(&bob)));
    }
}
