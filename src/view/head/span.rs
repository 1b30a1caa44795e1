//! A range of a head's bytes.

/// Offsets into the bytes of a head, which never reach 4 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Nothing there, as opposed to an empty piece.
    pub(super) const ABSENT: Self = Self { start: u32::MAX, end: u32::MAX };

    /// The range `start..end`. Offsets past 4 GiB would wrap; limits keep heads a thousand times smaller.
    pub(super) const fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// Where `part`, a slice of `whole`, lies in it.
    pub(super) fn of(whole: &[u8], part: &[u8]) -> Self {
        let start = (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
        Self::new(start, start.wrapping_add(part.len()))
    }

    /// The first offset.
    pub(super) const fn start(self) -> usize {
        self.start as usize
    }

    /// The bytes, or `None` when absent.
    pub(super) fn cut(self, bytes: &[u8]) -> Option<&[u8]> {
        bytes.get(self.start as usize..self.end as usize)
    }
}
