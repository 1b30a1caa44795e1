//! The read buffer: zero-initialised storage with a filled part, and always [`PADDING`] readable bytes behind it, so that a body can be
//! parsed where it lies.

use crate::view::message::PADDING;

/// The storage that a socket is first read into. Whoever sends slowly holds no more than this.
const INITIAL: usize = 4 * 1024;
/// Storage grows up to this while reads fill it: then more waits in the socket.
const USUAL: usize = 16 * 1024;
/// A read is never offered less room than this. It also keeps a read larger than the message it waits for: a read that does not fill
/// its buffer tells the runtime that the socket is empty, which saves the next one.
const ROOM: usize = 512;

/// Bytes read and not yet consumed.
#[derive(Debug)]
pub(super) struct ReadBuffer {
    storage: Vec<u8>,
    start: usize,
    end: usize,
    /// The last read has filled all the room there was.
    brimmed: bool,
}

impl ReadBuffer {
    /// A buffer without storage. It gets some when it is first used.
    pub(super) const fn new() -> Self {
        Self { storage: Vec::new(), start: 0, end: 0, brimmed: false }
    }

    /// The bytes that are waiting.
    pub(super) fn filled(&self) -> &[u8] {
        &self.storage[self.start..self.end]
    }

    /// The bytes that are waiting, to be rewritten in place.
    pub(super) fn filled_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..self.end]
    }

    /// The bytes that are waiting and everything behind them, the padding included.
    pub(super) fn padded_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..]
    }

    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    pub(super) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Bytes of storage held.
    pub(super) fn capacity(&self) -> usize {
        self.storage.len()
    }

    /// Room for the next read; grown when there is little left.
    pub(super) fn room(&mut self) -> &mut [u8] {
        if std::mem::take(&mut self.brimmed) && self.storage.len() < USUAL {
            self.grow(2 * self.storage.len());
        } else if self.storage.len() < self.end + ROOM + PADDING {
            if self.start >= ROOM {
                self.compact();
            } else {
                self.grow(INITIAL.max(self.storage.len() * 2));
            }
        }
        let limit = self.storage.len() - PADDING;
        &mut self.storage[self.end..limit]
    }

    /// Counts `read` bytes that were put into [`Self::room`].
    pub(super) fn advance(&mut self, read: usize) {
        let limit = self.storage.len().saturating_sub(PADDING);
        self.end = (self.end + read).min(limit);
        self.brimmed = self.end == limit;
    }

    /// Appends bytes that came another way.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        let end = self.end + bytes.len();
        if self.storage.len() < end + PADDING {
            self.reserve((self.len() + bytes.len()).max(2 * self.len()));
        }
        self.storage[self.end..self.end + bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    /// Makes room for `total` bytes counted from the first waiting one, in one step.
    pub(super) fn reserve(&mut self, total: usize) {
        let wanted = total.saturating_add(ROOM + PADDING);
        if self.storage.len() - self.start >= wanted {
            return;
        }
        if self.storage.len() >= wanted {
            self.compact();
        } else {
            self.grow(wanted);
        }
    }

    /// Drops `bytes` from the front.
    pub(super) fn consume(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.end);
        if self.start == self.end {
            self.clear();
        }
    }

    /// Keeps the first `len` waiting bytes.
    pub(super) fn truncate(&mut self, len: usize) {
        self.end = self.end.min(self.start + len);
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }

    fn compact(&mut self) {
        self.storage.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
    }

    /// Fresh zeroed storage costs nothing until it is touched, so only the waiting bytes are paid for.
    fn grow(&mut self, capacity: usize) {
        let mut storage = vec![0; capacity];
        let len = self.len();
        storage[..len].copy_from_slice(self.filled());
        *self = Self { storage, start: 0, end: len, brimmed: false };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(buffer: &mut ReadBuffer, bytes: &[u8]) {
        let room = buffer.room();
        room[..bytes.len()].copy_from_slice(bytes);
        buffer.advance(bytes.len());
    }

    #[test]
    fn there_is_always_room_and_padding() {
        let mut buffer = ReadBuffer::new();
        for _ in 0..200 {
            feed(&mut buffer, &[7; ROOM]);
            assert!(buffer.storage.len() - buffer.end >= PADDING);
        }
        assert_eq!(buffer.len(), 200 * ROOM);
        assert!(buffer.filled().iter().all(|&byte| byte == 7));
    }

    #[test]
    fn consumed_room_is_used_again() {
        let mut buffer = ReadBuffer::new();
        for _ in 0..1000 {
            feed(&mut buffer, &[1; ROOM]);
            feed(&mut buffer, &[2; 100]);
            buffer.consume(ROOM);
            assert_eq!(buffer.filled(), [2; 100]);
            buffer.consume(100);
        }
        assert_eq!(buffer.capacity(), INITIAL);
    }

    #[test]
    fn reads_that_fill_it_make_it_grow_to_its_usual_size() {
        let mut buffer = ReadBuffer::new();
        for _ in 0..10 {
            let most = buffer.room().len();
            feed(&mut buffer, &vec![1; most]);
            buffer.consume(most);
        }
        assert_eq!(buffer.capacity(), USUAL);
    }

    #[test]
    fn a_known_length_grows_once() {
        let mut buffer = ReadBuffer::new();
        feed(&mut buffer, b"head");
        buffer.reserve(100_000);
        let capacity = buffer.capacity();
        assert_eq!(buffer.filled(), b"head");
        while buffer.len() < 100_000 {
            let most = buffer.room().len().min(1000).min(100_000 - buffer.len());
            feed(&mut buffer, &vec![3; most]);
        }
        assert_eq!(buffer.capacity(), capacity);
        buffer.truncate(5);
        assert_eq!(buffer.filled(), b"head\x03");
    }

    #[test]
    fn pieces_from_elsewhere_take_what_they_need() {
        let mut buffer = ReadBuffer::new();
        assert_eq!(buffer.capacity(), 0);
        buffer.extend(b"x");
        assert!(buffer.capacity() < 1024, "{}", buffer.capacity());
        let mut grown = 0;
        for len in 2..=3 * INITIAL {
            let before = buffer.capacity();
            buffer.extend(b"x");
            grown += usize::from(buffer.capacity() != before);
            assert_eq!(buffer.len(), len);
            assert!(buffer.storage.len() - buffer.end >= PADDING);
        }
        assert!(grown < 10, "{grown}");
    }
}
