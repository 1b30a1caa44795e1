//! Budgets for bodies, taken before one grows past what each may hold: one for those of all requests, one for all answers that wait, and
//! one for those that wait on one HTTP/2 connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a body, or an answer, may hold without asking.
pub(super) const FREE_BODY: usize = 64 * 1024;
/// The same on HTTP/2, where one connection has many of them.
pub(super) const FREE_ON_STREAM: usize = 8 * 1024;

/// Bytes left for what is large.
#[derive(Debug, Clone)]
pub(super) struct BodyMemory(Arc<AtomicU64>);

impl BodyMemory {
    pub(super) fn new(bytes: u64) -> Self {
        Self(Arc::new(AtomicU64::new(bytes)))
    }

    /// A share of nothing, to be grown.
    pub(super) fn share(&self) -> Share {
        Share { memory: self.clone(), held: 0 }
    }
}

/// What one of them has taken; given back when dropped.
#[derive(Debug)]
pub(super) struct Share {
    memory: BodyMemory,
    held: u64,
}

impl Share {
    /// The same for what is promised on a stream of HTTP/2.
    pub(super) fn could_cover_on_stream(&self, len: usize) -> bool {
        self.could_cover(len.saturating_add(FREE_BODY - FREE_ON_STREAM))
    }

    /// Makes the share cover what holds `len` bytes on a stream of HTTP/2.
    pub(super) fn cover_on_stream(&mut self, len: usize) -> bool {
        self.cover(len + FREE_BODY - FREE_ON_STREAM)
    }

    /// Whether the budget has room for `len` bytes now. Nothing is taken: what is only promised must not keep others out.
    pub(super) fn could_cover(&self, len: usize) -> bool {
        let wanted = u64::try_from(len.saturating_sub(FREE_BODY)).unwrap_or(u64::MAX);
        wanted.saturating_sub(self.held) <= self.memory.0.load(Ordering::Acquire)
    }

    /// Makes the share cover what holds `len` bytes. False when the budget does not have it.
    pub(super) fn cover(&mut self, len: usize) -> bool {
        let wanted = u64::try_from(len.saturating_sub(FREE_BODY)).unwrap_or(u64::MAX);
        let Some(more) = wanted.checked_sub(self.held).filter(|&more| more > 0) else { return true };
        let taken = self
            .memory
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(more))
            .is_ok();
        if taken {
            self.held = wanted;
        }
        taken
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.held > 0 {
            self.memory.0.fetch_add(self.held, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_given_back() {
        let memory = BodyMemory::new(1000);
        let mut one = memory.share();
        assert!(one.cover(10) && one.cover(FREE_BODY) && one.cover(FREE_BODY + 600));
        let mut two = memory.share();
        assert!(!two.cover(FREE_BODY + 401));
        assert!(two.cover(FREE_BODY + 400));
        assert!(two.cover(FREE_BODY + 100), "a share never shrinks");
        drop(one);
        assert!(two.cover_on_stream(FREE_ON_STREAM + 1000) && !two.cover_on_stream(FREE_ON_STREAM + 1001));
        assert!(two.cover(FREE_BODY + 1000));
        assert!(two.could_cover(FREE_BODY + 1000) && !two.could_cover(FREE_BODY + 1001));
        assert!(!two.cover(usize::MAX));
    }
}
