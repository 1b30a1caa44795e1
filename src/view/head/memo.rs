//! Heads that were read lately. Clients send the same head over and over: what differs from one request to the next is the length of the
//! body and, from one client to the next, a credential. A head that is the same but for these has the same index, and is not parsed again.

use super::index::HeadIndex;
use super::span::Span;
use crate::base::ascii::is_visible;
use crate::base::limits::Limits;
use crate::base::swar::WORD;
use crate::tables::headers::Known;

/// The most heads that are remembered: a client has one for each method, tool and number of digits.
pub(super) const MOST: usize = 8;
/// The longest head that is remembered, in bytes.
const LONGEST: usize = 1024;

/// The headers whose values may differ, as long as they are as long. The credentials that this server reads are never compared, so that how
/// long it takes to tell heads apart says nothing about another client's.
const FREE: [Known; 3] = [Known::ContentLength, Known::SessionId, Known::Authorization];

/// The heads that one parser has read.
#[derive(Debug, Default)]
pub(super) struct Memo {
    heads: Vec<Remembered>,
    /// The one that gives way next.
    oldest: usize,
}

/// A head that was taken, and what it came to.
#[derive(Debug)]
struct Remembered {
    bytes: Vec<u8>,
    /// Where the values stand that may differ, in order; absent ones last.
    free: [Span; FREE.len()],
    index: HeadIndex,
    bounds: Bounds,
}

/// The limits that it was read under: other ones might have refused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bounds([u64; 4]);

impl Bounds {
    fn of(limits: &Limits) -> Self {
        Self([limits.head, limits.request_line, limits.header_line, limits.headers])
    }
}

impl Memo {
    /// The index of the head that `buf` starts with, if it is known.
    pub(super) fn find(&self, buf: &[u8], limits: &Limits) -> Option<HeadIndex> {
        let bounds = Bounds::of(limits);
        self.heads.iter().find(|head| head.bounds == bounds && head.starts(buf)).map(|head| head.index)
    }

    /// Remembers the head that `buf` starts with.
    pub(super) fn keep(&mut self, buf: &[u8], index: &HeadIndex, limits: &Limits) {
        // The slot of a header that comes twice is its first line's alone.
        let Some(head) = buf.get(..index.len()).filter(|head| head.len() <= LONGEST) else { return };
        if index.duplicated != 0 {
            return;
        }
        let mut free =
            FREE.map(|known| if index.has(known) { index.slots[known.slot()] } else { Span::ABSENT });
        free.sort_unstable_by_key(|span| span.start());
        let bounds = Bounds::of(limits);
        if self.heads.len() < MOST {
            self.heads.push(Remembered { bytes: head.to_vec(), free, index: *index, bounds });
            return;
        }
        let oldest = &mut self.heads[self.oldest];
        oldest.bytes.clear();
        oldest.bytes.extend_from_slice(head);
        (oldest.free, oldest.index, oldest.bounds) = (free, *index, bounds);
        self.oldest = (self.oldest + 1) % MOST;
    }
}

impl Remembered {
    /// Whether `buf` starts with this head.
    fn starts(&self, buf: &[u8]) -> bool {
        let Some(head) = buf.get(..self.bytes.len()) else { return false };
        // Tells nearly all others apart: a head ends in the middle of another one's lines.
        if head.last_chunk::<WORD>() != self.bytes.last_chunk::<WORD>() {
            return false;
        }
        let mut at = 0;
        for span in self.free {
            let Some(value) = span.cut(head) else { break };
            if head[at..span.start()] != self.bytes[at..span.start()] || !is_value(value) {
                return false;
            }
            at = span.start() + value.len();
        }
        head[at..] == self.bytes[at..]
    }
}

/// Whether a header line whose value this is has it as its value: visible ASCII, spaces only inside.
fn is_value(value: &[u8]) -> bool {
    value.first() != Some(&b' ') && value.last() != Some(&b' ') && is_visible(value)
}
