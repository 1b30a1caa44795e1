//! Working storage lent to connections while they have something in hand: a connection that waits for its next request holds none. Each
//! thread keeps a few sets, so a warm request allocates nothing, and the set that was used last, still in the cache, is used next.

use std::cell::{Cell, RefCell};

use tokio::time::Instant;

use super::io::ReadBuffer;
use crate::base::clock::DateCache;
use crate::reply::Exchange;
use crate::road::{Road, Scratch};
use crate::view::head::{HeadBuilder, HeadIndex, HeadParser};

/// What one request needs on its way in.
pub(super) struct Reader {
    pub(super) read: ReadBuffer,
    pub(super) parser: HeadParser,
    /// The open request's head.
    pub(super) index: HeadIndex,
    pub(super) scratch: Scratch,
    /// HTTP/2 heads, written as lines.
    pub(super) lines: Vec<u8>,
    /// What the scratch was made for: roads that differ in it do not share.
    made_for: (u64, u64),
}

/// What one answer needs on its way out.
pub(super) struct Writer {
    /// Heads and small bodies, ready to be written.
    pub(super) out: Vec<u8>,
    /// Events that wait to become one chunk.
    pub(super) stage: Vec<u8>,
    pub(super) ex: Exchange,
    pub(super) date: DateCache,
    /// What time it is, until something is waited for: a clock takes longer to read than much of a request.
    pub(super) now: Option<Instant>,
    /// How much of `out` and the tail has been written.
    pub(super) sent: usize,
    /// Whether the exchange's body follows `out` without being copied.
    pub(super) tail: bool,
}

/// Storage above this is given back unless the thread has few of them.
const SMALL: usize = 64 * 1024;
/// Most sets a thread keeps of each kind.
const MOST_SETS: usize = 32;
/// Most bytes of large storage a thread keeps of each kind,
const MOST_LARGE: usize = 16 * 1024 * 1024;
/// where this part of what bodies may hold together is not less.
const PART_LARGE: u64 = 16;

/// A set that can be kept.
pub(super) trait Kept {
    /// Bytes of large storage held.
    fn large(&self) -> usize;
    /// Gives large storage back.
    fn lighten(&mut self);
}

struct Shelf<T> {
    sets: Vec<Box<T>>,
    large: usize,
}

impl<T: Kept> Shelf<T> {
    const fn new() -> Self {
        Self { sets: Vec::new(), large: 0 }
    }

    fn take(&mut self) -> Option<Box<T>> {
        let set = self.sets.pop()?;
        self.large = self.large.saturating_sub(set.large());
        Some(set)
    }

    fn put(&mut self, mut set: Box<T>) {
        if self.sets.len() >= MOST_SETS {
            return;
        }
        let most = LARGE.get();
        if set.large() > most {
            set.lighten();
        }
        // What was used last is used next, so that what has lain for longest gives way.
        let mut oldest = self.sets.iter_mut().filter(|old| old.large() > 0);
        while self.large + set.large() > most {
            let Some(old) = oldest.next() else { break };
            self.large = self.large.saturating_sub(old.large());
            old.lighten();
        }
        self.large += set.large();
        self.sets.push(set);
    }
}

thread_local! {
    /// What the thread may keep: told by the road that sets are made for.
    static LARGE: Cell<usize> = const { Cell::new(MOST_LARGE) };
    static READERS: RefCell<Shelf<Reader>> = const { RefCell::new(Shelf::new()) };
    static WRITERS: RefCell<Shelf<Writer>> = const { RefCell::new(Shelf::new()) };
}

impl Reader {
    /// A set for requests on `road`.
    pub(super) fn take(road: &Road) -> Box<Self> {
        let made_for = Self::bounds(road);
        match READERS.with_borrow_mut(Shelf::take) {
            Some(set) if set.made_for == made_for => set,
            Some(_) | None => Self::fresh(road),
        }
    }

    fn bounds(road: &Road) -> (u64, u64) {
        (road.limits().json_depth, road.limits().json_values)
    }

    /// A set that nobody has used: small.
    pub(super) fn fresh(road: &Road) -> Box<Self> {
        let part = usize::try_from(road.limits().body_memory / PART_LARGE).unwrap_or(MOST_LARGE);
        LARGE.set(part.min(MOST_LARGE));
        Box::new(Self {
            read: ReadBuffer::new(),
            parser: HeadParser::new(),
            index: HeadBuilder::new(&mut Vec::new()).finish(),
            scratch: road.scratch(),
            lines: Vec::new(),
            made_for: Self::bounds(road),
        })
    }

    /// Whether a large body has made it grow.
    pub(super) fn is_large(&self) -> bool {
        self.large() > 0
    }

    pub(super) fn put(mut self: Box<Self>) {
        self.read.clear();
        self.parser.reset();
        READERS.with_borrow_mut(|shelf| shelf.put(self));
    }
}

impl Kept for Reader {
    fn large(&self) -> usize {
        let held = self.read.capacity() + self.scratch.held();
        if held > SMALL { held } else { 0 }
    }

    fn lighten(&mut self) {
        self.read = ReadBuffer::new();
        self.scratch.shrink(0);
    }
}

impl Writer {
    /// A set; `log` says whether an access log is kept.
    pub(super) fn take(log: bool) -> Box<Self> {
        let mut set = WRITERS.with_borrow_mut(Shelf::take).unwrap_or_else(|| {
            Box::new(Self {
                out: Vec::new(),
                stage: Vec::new(),
                ex: Exchange::new(log),
                date: DateCache::default(),
                now: None,
                sent: 0,
                tail: false,
            })
        });
        set.ex.log.enabled = log;
        set
    }

    pub(super) fn put(mut self: Box<Self>) {
        self.clear();
        self.ex.begin();
        WRITERS.with_borrow_mut(|shelf| shelf.put(self));
    }

    /// Forgets everything that waited to be written.
    pub(super) fn clear(&mut self) {
        self.out.clear();
        self.stage.clear();
        self.sent = 0;
        self.tail = false;
        self.now = None;
    }

    /// What is left to write.
    pub(super) fn unsent(&self) -> (&[u8], &[u8]) {
        let tail: &[u8] = if self.tail { &self.ex.body } else { &[] };
        match self.out.get(self.sent..) {
            Some(out) => (out, tail),
            None => (&[], tail.get(self.sent - self.out.len()..).unwrap_or(&[])),
        }
    }

    /// Bytes held while an answer waits, without what it does not need.
    pub(super) fn trimmed(&mut self) -> usize {
        if self.large() > 0 {
            if !self.tail {
                self.ex.body = Vec::new();
            }
            self.ex.body.shrink_to_fit();
            self.out.shrink_to(SMALL);
            self.stage = Vec::new();
        }
        self.large()
    }

    pub(super) fn has_unsent(&self) -> bool {
        let (out, tail) = self.unsent();
        !out.is_empty() || !tail.is_empty()
    }
}

impl Kept for Writer {
    fn large(&self) -> usize {
        let held = self.out.capacity() + self.stage.capacity() + self.ex.body.capacity();
        if held > SMALL { held } else { 0 }
    }

    fn lighten(&mut self) {
        self.out = Vec::new();
        self.stage = Vec::new();
        self.ex.shrink(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_sets_are_bounded() {
        let heavy: Vec<_> = (0..4)
            .map(|_| {
                let mut writer = Writer::take(false);
                writer.ex.body.reserve(MOST_LARGE / 2);
                writer.out.extend_from_slice(b"x");
                writer
            })
            .collect();
        for writer in heavy {
            writer.put();
        }
        WRITERS.with_borrow(|shelf| {
            assert_eq!(shelf.sets.len(), 4);
            assert!(shelf.large <= MOST_LARGE);
            assert!(shelf.sets.iter().all(|set| !set.has_unsent()));
        });
    }

    #[test]
    fn what_was_used_last_stays_large() {
        let writers: Vec<_> = (0..8).map(|_| Writer::take(false)).collect();
        for mut writer in writers {
            writer.ex.body.reserve_exact(MOST_LARGE / 4);
            writer.put();
        }
        let taken: Vec<_> = (0..8).map(|_| Writer::take(false)).collect();
        let large: Vec<bool> = taken.iter().map(|writer| writer.large() > 0).collect();
        assert_eq!(large, [true, true, true, true, false, false, false, false]);
    }

    #[test]
    fn unsent_walks_through_both_parts() {
        let mut writer = Writer::take(false);
        writer.out.extend_from_slice(b"head");
        writer.ex.body.extend_from_slice(b"body");
        assert_eq!(writer.unsent(), (&b"head"[..], &b""[..]));
        writer.tail = true;
        assert_eq!(writer.unsent(), (&b"head"[..], &b"body"[..]));
        writer.sent = 2;
        assert_eq!(writer.unsent(), (&b"ad"[..], &b"body"[..]));
        writer.sent = 4;
        assert_eq!(writer.unsent(), (&b""[..], &b"body"[..]));
        writer.sent = 7;
        assert_eq!(writer.unsent(), (&b""[..], &b"y"[..]));
        writer.sent = 8;
        assert!(!writer.has_unsent());
    }

    struct Sized(usize);

    impl Kept for Sized {
        fn large(&self) -> usize {
            if self.0 > SMALL { self.0 } else { 0 }
        }

        fn lighten(&mut self) {
            self.0 = 0;
        }
    }

    #[test]
    fn only_large_sets_give_way() {
        let sizes = |shelf: &Shelf<Sized>| shelf.sets.iter().map(|set| set.0).collect::<Vec<_>>();
        let mut shelf = Shelf::new();
        for size in [SMALL, MOST_LARGE / 2, SMALL, MOST_LARGE / 2, SMALL] {
            shelf.put(Box::new(Sized(size)));
        }
        shelf.put(Box::new(Sized(MOST_LARGE / 2)));
        assert_eq!(sizes(&shelf), [SMALL, 0, SMALL, MOST_LARGE / 2, SMALL, MOST_LARGE / 2]);
        // What is too large by itself is no reason for others to give way.
        shelf.put(Box::new(Sized(MOST_LARGE + 1)));
        assert_eq!(sizes(&shelf), [SMALL, 0, SMALL, MOST_LARGE / 2, SMALL, MOST_LARGE / 2, 0]);
        assert_eq!(shelf.large, MOST_LARGE);
    }
}
