//! Where sessions are kept: a sharded table in memory, with a cap and idle expiry.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::commons::Commons;
use super::id::SessionId;
use super::state::{ClientInfo, Session};
use crate::base::limits::Limits;
use crate::base::principal::Principal;
use crate::base::trace::looked_up;
use crate::events::changes::Updated;
use crate::events::topic::Topics;
use crate::events::wakes::Wakes;
use crate::tables::versions::Revision;

const SHARDS: usize = 16;

/// Why a session was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenError {
    /// As many sessions are open as the limit allows.
    Full,
    /// The operating system gave no randomness for an id.
    NoRandomness,
}

/// All sessions of one server.
#[derive(Debug)]
pub struct Sessions {
    shards: [Mutex<Shard>; SHARDS],
    count: AtomicU64,
    cap: u64,
    idle_ms: u64,
    commons: Arc<Commons>,
}

type Shard = HashMap<Key, Arc<Session>, BuildHasherDefault<SpreadHasher>>;

impl Sessions {
    /// An empty table.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            shards: Default::default(),
            count: AtomicU64::new(0),
            cap: limits.sessions,
            idle_ms: limits.session_idle,
            commons: Arc::new(Commons::new(limits)),
        }
    }

    /// What is kept for all sessions together.
    #[must_use]
    pub fn commons(&self) -> &Commons {
        &self.commons
    }

    /// How many sessions are open.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Whether none is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Opens a session under a fresh id.
    ///
    /// # Errors
    /// [`OpenError`] when the cap is reached or no id can be made.
    pub fn open(
        &self,
        revision: Revision,
        principal: Option<Arc<Principal>>,
        client: ClientInfo,
        now_ms: u64,
    ) -> Result<Arc<Session>, OpenError> {
        // The place is taken before the session exists, so that no burst goes over the cap.
        if self.count.fetch_add(1, Ordering::AcqRel) >= self.cap {
            self.count.fetch_sub(1, Ordering::AcqRel);
            return Err(OpenError::Full);
        }
        let Some(id) = SessionId::random() else {
            self.count.fetch_sub(1, Ordering::AcqRel);
            return Err(OpenError::NoRandomness);
        };
        let session = Arc::new(Session::new(&self.commons, id, revision, principal, client, now_ms));
        self.shard(&id).insert(Key(id), Arc::clone(&session));
        Ok(session)
    }

    /// Finds a session by the id a client sent. One that has been idle for too long has ended, also where no sweep has come by yet.
    #[must_use]
    pub fn find(&self, id: &[u8], now_ms: u64) -> Option<Arc<Session>> {
        looked_up("session");
        let id = SessionId::from_wire(id)?;
        let found = self.shard(&id).get(&Key(id)).cloned()?;
        if found.is_idle(now_ms, self.idle_ms) {
            self.end(&id);
            return None;
        }
        Some(found)
    }

    /// Ends a session. False where it had ended already.
    pub fn end(&self, id: &SessionId) -> bool {
        let Some(session) = self.shard(id).remove(&Key(*id)) else { return false };
        self.count.fetch_sub(1, Ordering::AcqRel);
        session.end();
        true
    }

    /// Ends every idle session, and says how many. The others forget what they have kept for long enough.
    pub fn sweep(&self, now_ms: u64) -> u64 {
        let mut ended = 0;
        for shard in &self.shards {
            let mut shard = lock(shard);
            let gone: Vec<_> = shard
                .extract_if(|_, session| {
                    session.sweep(now_ms);
                    session.is_idle(now_ms, self.idle_ms)
                })
                .collect();
            if !gone.is_empty() && shard.capacity() > 4 * shard.len() + 64 {
                shard.shrink_to_fit();
            }
            drop(shard);
            ended += gone.len() as u64;
            gone.iter().for_each(|(_, session)| session.end());
        }
        self.count.fetch_sub(ended, Ordering::AcqRel);
        ended
    }

    /// Owes every client word that these lists have changed, and gives the streams that tell of it, to be woken.
    pub fn mark(&self, topics: Topics) -> Wakes {
        let mut wakes = Wakes::default();
        self.each(|session| wakes.extend(session.mark(topics).into_iter().flat_map(|after| after.wake)));
        wakes
    }

    /// Owes every client word of these resources, as far as it subscribes to them, and gives the streams that tell of it, to be woken.
    pub fn resources_updated(&self, updated: &Updated) -> Wakes {
        let mut wakes = Wakes::default();
        if self.commons.subscribed() > 0 {
            self.each(|session| {
                wakes.extend(session.resources_updated(updated).into_iter().flat_map(|after| after.wake));
            });
        }
        wakes
    }

    /// The server drains: from now on no stream listens any more.
    pub fn drain(&self) {
        self.commons.drain();
        self.each(Session::drain);
    }

    /// Looks at every session, with no shard held: it may wake somebody.
    fn each(&self, mut look: impl FnMut(&Session)) {
        for shard in &self.shards {
            let sessions: Vec<_> = lock(shard).values().cloned().collect();
            sessions.iter().for_each(|session| look(session));
        }
    }

    fn shard(&self, id: &SessionId) -> MutexGuard<'_, Shard> {
        lock(&self.shards[(id.spread() >> 60) as usize % SHARDS])
    }
}

/// A panic while a shard is held leaves a whole table behind: every change is one call into the map.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug, PartialEq, Eq)]
struct Key(SessionId);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.spread());
    }
}

/// The keys are random already, and a client can look up any id but never choose one that is stored.
#[derive(Debug, Default)]
struct SpreadHasher(u64);

impl Hasher for SpreadHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        // The top bits chose the shard and are the same for a whole shard; the table looks at top and bottom.
        self.0 = value.rotate_left(4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(cap: u64, idle_ms: u64) -> Sessions {
        Sessions::new(&Limits { sessions: cap, session_idle: idle_ms, ..Limits::default() })
    }

    fn open(sessions: &Sessions, now: u64) -> Result<Arc<Session>, OpenError> {
        sessions.open(Revision::V2025_11_25, None, ClientInfo::default(), now)
    }

    #[test]
    fn opened_found_ended() {
        let sessions = sessions(10, 1000);
        let session = open(&sessions, 0).unwrap();
        let text = *session.id.text();
        assert!(Arc::ptr_eq(&sessions.find(&text, 0).unwrap(), &session));
        assert!(sessions.find(b"", 0).is_none());
        assert!(sessions.find(&[b'A'; 43], 0).is_none());
        assert!(sessions.end(&session.id));
        assert!(!sessions.end(&session.id));
        assert!(sessions.find(&text, 0).is_none());
        assert!(sessions.is_empty());
    }

    #[test]
    fn the_cap_holds_at_below_and_above() {
        let sessions = sessions(2, 1000);
        let first = open(&sessions, 0).unwrap();
        open(&sessions, 0).unwrap();
        assert_eq!(open(&sessions, 0).unwrap_err(), OpenError::Full);
        assert_eq!(sessions.len(), 2);
        sessions.end(&first.id);
        assert!(open(&sessions, 0).is_ok());
    }

    #[test]
    fn a_burst_never_goes_over_the_cap() {
        let sessions = sessions(50, 1000);
        let opened: usize = std::thread::scope(|scope| {
            let burst: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| (0..50).filter(|_| open(&sessions, 0).is_ok()).count()))
                .collect();
            burst.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((opened, sessions.len()), (50, 50));
    }

    #[test]
    fn sweeping_ends_the_idle_and_keeps_the_open() {
        let sessions = sessions(1000, 1000);
        let kept = open(&sessions, 0).unwrap();
        let guard = kept.open();
        for _ in 0..500 {
            open(&sessions, 0).unwrap();
        }
        let young = open(&sessions, 600).unwrap();
        assert_eq!(sessions.sweep(999), 0);
        assert_eq!(sessions.sweep(1000), 500);
        assert_eq!(sessions.len(), 2);
        assert!(sessions.find(young.id.text(), 1000).is_some());
        drop(guard);
        assert_eq!(sessions.sweep(2000), 1, "the idle time of the other starts when its request ends");
        assert_eq!(sessions.sweep(3000), 1);
        assert!(sessions.is_empty());
    }

    #[test]
    fn an_idle_session_is_not_found_before_the_sweep_comes() {
        let sessions = sessions(10, 1000);
        let session = open(&sessions, 0).unwrap();
        assert!(sessions.find(session.id.text(), 999).is_some());
        assert!(sessions.find(session.id.text(), 1000).is_none());
        assert!(sessions.find(session.id.text(), 0).is_none(), "it is never revived");
        assert!(sessions.is_empty());
    }

    #[test]
    fn sessions_spread_over_the_shards() {
        let sessions = sessions(10_000, 1000);
        for _ in 0..1600 {
            open(&sessions, 0).unwrap();
        }
        for shard in &sessions.shards {
            let len = lock(shard).len();
            assert!((40..=200).contains(&len), "{len}");
        }
    }
}
