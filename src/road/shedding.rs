//! Shedding: who comes while a worker is behind with its work, or while as many calls go on as may, is turned away at once rather than
//! served late.

mod portions;
pub mod turns;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use self::portions::Portions;
use self::turns::Turns;
use super::batch;
use super::classify::Message;
use super::shared::{Peer, Road};
use crate::base::clock::Clock;
use crate::base::limits::Limits;
use crate::reply::rejection::Refusal;
use crate::tables::rejection::Rejection;
use crate::view::node::Value;

/// Of those who come while a worker keeps up with its work, one in so many is looked at.
const SAMPLE: u32 = 8;

/// What one worker has to do, as the door sees it. A worker that takes its work from others has one together with them.
#[derive(Debug)]
// Not beside another worker's: every request writes here.
#[repr(align(128))]
pub struct Load {
    /// Who has come since the last pulse.
    asked: AtomicU32,
    /// Who comes with a number that has one of these bits is not looked at.
    unseen: AtomicU32,
    /// Whether anybody is to be turned away.
    sheds: bool,
    /// Whether the pulse is of use: the watchdog hears it as well.
    beats: bool,
    /// Whether there is a pulse.
    paced: AtomicBool,
    pulses: AtomicU32,
    wanted: Notify,
    books: Mutex<Books>,
}

#[derive(Debug)]
struct Books {
    turns: Turns,
    portions: Portions,
}

impl Load {
    fn new(limits: &Limits) -> Self {
        let delay = limits.overload_delay;
        let books = Books { turns: Turns::new(delay), portions: Portions::new() };
        Self {
            asked: AtomicU32::new(0),
            unseen: AtomicU32::new(if delay == 0 { u32::MAX } else { SAMPLE - 1 }),
            sheds: delay > 0,
            beats: delay > 0 || limits.blocked_worker > 0,
            paced: AtomicBool::new(false),
            pulses: AtomicU32::new(0),
            wanted: Notify::new(),
            books: Mutex::new(books),
        }
    }

    /// Somebody comes.
    #[inline]
    fn admits(&self, peer: &Peer, clock: &Clock) -> bool {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        number & self.unseen.load(Ordering::Relaxed) != 0 || self.judge(number, peer, clock)
    }

    #[cold]
    fn judge(&self, number: u32, peer: &Peer, clock: &Clock) -> bool {
        if !self.paced.load(Ordering::Relaxed) {
            return true;
        }
        if number == 0 && self.beats {
            self.wanted.notify_one();
        }
        if !self.sheds {
            return true;
        }
        let now = clock.now_ms();
        let mut books = self.books();
        if books.turns.is_resting() {
            books.turns.begin(now);
        }
        let admitted = books.admits(now, peer);
        self.look_at(&books);
        admitted
    }

    /// Waits until the pulse is asked for.
    pub async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// The pulse comes. False when nobody has come since the last one: then it is not needed until it is [asked for](Self::wanted).
    pub fn pulse(&self, clock: &Clock) -> bool {
        let now = clock.now_ms();
        let mut books = self.books();
        self.paced.store(true, Ordering::Relaxed);
        let busy = self.asked.swap(0, Ordering::Relaxed) > 0;
        self.pulses.fetch_add(1, Ordering::Relaxed);
        books.turns.pulse(now, busy);
        self.look_at(&books);
        busy
    }

    /// How often the pulse has come.
    #[must_use]
    pub fn pulses(&self) -> u32 {
        self.pulses.load(Ordering::Relaxed)
    }

    /// Whether a pulse is due: somebody has come since the last one.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.paced.load(Ordering::Relaxed) && self.asked.load(Ordering::Relaxed) > 0
    }

    fn look_at(&self, books: &Books) {
        if self.sheds {
            self.unseen.store(if books.turns.is_watchful() { 0 } else { SAMPLE - 1 }, Ordering::Relaxed);
        }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    fn admits(&mut self, now: u64, peer: &Peer) -> bool {
        let Self { turns, portions } = self;
        if !turns.cuts() {
            return turns.admits(now, || turns::Had::Nothing);
        }
        let places = portions.places(peer.address);
        let turn = turns.number();
        let admitted = turns.admits(now, || portions.had(turn, places));
        if admitted {
            portions.add(turn, places);
        }
        admitted
    }
}

/// The loads of all workers, and the calls that go on.
#[derive(Debug)]
pub(super) struct Loads {
    workers: Box<[Load]>,
    /// Every call holds one of these.
    calls: Arc<()>,
    most: usize,
}

/// A place among the calls that go on.
#[derive(Debug)]
pub(super) struct Place(#[expect(dead_code, reason = "held")] Arc<()>);

impl Loads {
    pub(super) fn new(workers: usize, limits: &Limits) -> Self {
        Self {
            workers: (0..workers.max(1)).map(|_| Load::new(limits)).collect(),
            calls: Arc::new(()),
            most: usize::try_from(limits.calls).unwrap_or(usize::MAX),
        }
    }

    /// Judges somebody who comes to the door, whatever for.
    ///
    /// # Errors
    /// `overloaded`, while its worker is behind with its work.
    pub(super) fn admit(&self, peer: &Peer, clock: &Clock) -> Result<(), Refusal<'static>> {
        let load = self.workers.get(usize::from(peer.worker)).or(self.workers.first());
        if load.is_none_or(|load| load.admits(peer, clock)) { Ok(()) } else { Err(too_late()) }
    }

    /// Judges a message by the calls that may come of it. Answers to questions and cancellations are let in: they are how calls come to an
    /// end.
    ///
    /// # Errors
    /// `overloaded`, where more calls would go on than may.
    pub(super) fn check_calls(
        &self,
        message: &Message<'_, '_>,
        root: Value<'_, '_>,
    ) -> Result<(), Refusal<'static>> {
        let wanted = match message {
            Message::Request { .. } => 1,
            Message::Unknown(_) => root.as_array().map_or(0, |array| array.len().min(batch::MOST)),
            Message::Notification { .. } | Message::Response(_) => return Ok(()),
        };
        if self.calls() + wanted <= self.most { Ok(()) } else { Err(too_many_calls()) }
    }

    pub(super) fn place(&self) -> Place {
        Place(Arc::clone(&self.calls))
    }

    fn calls(&self) -> usize {
        Arc::strong_count(&self.calls) - 1
    }
}

#[cold]
fn too_late() -> Refusal<'static> {
    Refusal::text(Rejection::Overloaded, "requests would wait for too long (overload_delay)")
}

#[cold]
fn too_many_calls() -> Refusal<'static> {
    Refusal::text(Rejection::Overloaded, "as many calls are in flight as may be (calls)")
}

impl Road {
    /// What each worker has to do.
    #[must_use]
    pub fn loads(&self) -> &[Load] {
        &self.0.loads.workers
    }

    /// How many calls go on.
    #[must_use]
    pub fn calls(&self) -> u64 {
        u64::try_from(self.0.loads.calls()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests;
