//! One stream of a session: the events it has carried, as far as they are kept, and the one reader they go to.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

use bytes::Bytes;

use super::commons::{Bounds, Commons, Permit, Share};
use super::flight::Flight;
use crate::events::topic::Topics;

/// What a stream carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Everything that a call sends, and its answer.
    Call,
    /// What the server has to say outside of any call.
    Listen,
}

/// Where a stream is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// More may come.
    Open,
    /// Nothing more comes. When that was, once somebody with a clock has looked.
    Finished { at_ms: Option<u64>, answered: bool },
}

/// Where a stream's reader is.
#[derive(Debug)]
pub(super) struct Place {
    /// Which reader it is: one that comes later takes the place of this one.
    pub(super) reader: u64,
    /// The event it takes next.
    pub(super) next: u64,
    /// Where the server ends its connection early, and how long it is to stay away.
    pub(super) cut: Option<(u64, u64)>,
    pub(super) waker: Option<Waker>,
}

impl Place {
    /// Whether it is this reader's, and the reader has taken everything up to `end`.
    pub(super) const fn is_at(&self, reader: u64, end: u64) -> bool {
        self.reader == reader && self.next == end
    }
}

/// One stream.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) kind: Kind,
    pub(super) life: Life,
    events: VecDeque<Bytes>,
    /// The number of the first event that is kept.
    first: u64,
    pub(super) place: Option<Place>,
    /// The lists that it has told the change of.
    pub(super) told: Topics,
    /// Who waits for its reader to take something.
    pub(super) writer: Option<Waker>,
    /// The calls it belongs to, to end them when they may not run on.
    pub(super) flights: Vec<Arc<Flight>>,
    /// Takes the place of its last event, an answer that is longer than what is kept.
    pub(super) instead: Option<Bytes>,
    /// Held while its call runs on without a reader, or is about to.
    pub(super) permit: Option<Permit>,
    share: Share,
}

impl Log {
    pub(super) fn new(kind: Kind, commons: &Arc<Commons>, flights: Vec<Arc<Flight>>) -> Self {
        Self {
            kind,
            life: Life::Open,
            events: VecDeque::new(),
            first: 0,
            place: None,
            told: Topics::NONE,
            writer: None,
            flights,
            instead: None,
            permit: None,
            share: Share::new(commons),
        }
    }

    /// The number of the next event.
    pub(super) fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    pub(super) fn bytes(&self) -> usize {
        self.share.bytes()
    }

    pub(super) fn push(&mut self, event: Bytes) {
        self.share.add(event.len());
        if self.events.capacity() == 0 {
            // Most streams of most sessions keep one event, and room for four would be most of what they take.
            self.events.reserve_exact(1);
        }
        self.events.push_back(event);
    }

    /// An event that is still kept.
    pub(super) fn get(&self, event: u64) -> Option<&Bytes> {
        self.events.get(usize::try_from(event.checked_sub(self.first)?).ok()?)
    }

    /// Whether a client that has seen `event` misses nothing of what came after it.
    pub(super) fn continues_after(&self, event: u64) -> bool {
        event < self.end() && event + 1 >= self.first
    }

    /// Forgets the oldest event, unless its reader has not taken it. A long answer gives way first, to a short one.
    pub(super) fn forget_first(&mut self) -> bool {
        if self.shorten() {
            return true;
        }
        if self.is_unread() {
            return false;
        }
        let Some(event) = self.events.pop_front() else { return false };
        self.share.sub(event.len());
        self.first += 1;
        true
    }

    /// Puts the short answer in the place of the long one, unless its reader has not taken that.
    fn shorten(&mut self) -> bool {
        let end = self.end();
        if self.instead.is_none() || self.place.as_ref().is_some_and(|place| place.next < end) {
            return false;
        }
        let (Some(short), Some(long)) = (self.instead.take(), self.events.pop_back()) else { return false };
        self.share.sub(long.len());
        self.push(short);
        true
    }

    fn is_unread(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.next <= self.first)
    }

    /// Forgets what is over the stream's own bounds.
    pub(super) fn trim(&mut self, bounds: &Bounds) {
        while (self.events.len() > bounds.events || self.share.bytes() > bounds.bytes) && self.forget_first()
        {
        }
    }

    /// Whether another event may come: a reader that takes nothing holds its stream up.
    pub(super) fn has_room(&self, bounds: &Bounds) -> bool {
        !self.is_unread() || (self.events.len() < bounds.events && self.share.bytes() < bounds.bytes)
    }

    /// Whether it is over and nobody reads it any more.
    pub(super) fn is_left(&self) -> bool {
        self.place.is_none() && self.life != Life::Open
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, answered: bool) {
        self.life = Life::Finished { at_ms: None, answered };
        self.permit = None;
        self.flights = Vec::new();
    }

    /// Who is to be woken since there is something to take.
    pub(super) fn reader_waker(&mut self) -> Option<Waker> {
        self.place.as_mut().and_then(|place| place.waker.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::limits::Limits;

    fn log(events: u64, bytes: u64) -> (Log, Arc<Commons>) {
        let limits = Limits { replay_events: events, replay_bytes: bytes, ..Limits::default() };
        let commons = Arc::new(Commons::new(&limits));
        (Log::new(Kind::Call, &commons, Vec::new()), commons)
    }

    fn push(log: &mut Log, commons: &Commons, len: usize) {
        log.push(Bytes::from(vec![b'x'; len]));
        log.trim(&commons.bounds);
    }

    #[test]
    fn events_are_kept_up_to_the_bounds() {
        let (mut log, commons) = log(3, 1_024);
        for _ in 0..3 {
            push(&mut log, &commons, 10);
        }
        assert!(log.get(0).is_some() && log.continues_after(0) && log.continues_after(2));
        assert!(!log.continues_after(3), "it has not come yet");
        push(&mut log, &commons, 10);
        assert!(log.get(0).is_none() && log.get(3).is_some());
        assert!(log.continues_after(0), "the client has seen what is gone");
        push(&mut log, &commons, 1_004);
        assert!(!log.continues_after(0), "event 1 is gone");
        assert_eq!((log.bytes(), commons.replay_bytes(), log.end()), (1_024, 1_024, 5));
        push(&mut log, &commons, 1);
        assert_eq!((log.bytes(), log.first), (1_015, 3));
        push(&mut log, &commons, 2_000);
        assert_eq!((log.bytes(), log.first), (0, 7), "longer than everything that may be kept");
        drop(log);
        assert_eq!((commons.replay_bytes(), commons.streams()), (0, 0));
    }

    #[test]
    fn what_a_reader_has_not_taken_is_kept_and_holds_the_stream_up() {
        let (mut log, commons) = log(2, 1_024);
        log.place = Some(Place { reader: 1, next: 0, cut: None, waker: None });
        assert!(log.has_room(&commons.bounds));
        push(&mut log, &commons, 1);
        assert!(log.has_room(&commons.bounds));
        push(&mut log, &commons, 1);
        assert!(!log.has_room(&commons.bounds));
        log.place.as_mut().unwrap().next = 1;
        assert!(log.has_room(&commons.bounds));
        push(&mut log, &commons, 2_000);
        assert_eq!(log.first, 1, "the long one waits for its reader, and what is before it too");
        assert!(!log.has_room(&commons.bounds));
        log.place.as_mut().unwrap().next = 3;
        log.trim(&commons.bounds);
        assert_eq!((log.first, log.bytes()), (3, 0));
    }
}
