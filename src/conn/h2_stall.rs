//! Peers that take their answers too slowly: what they take is progress only from so many bytes on, so that a byte now and then holds no
//! memory.

use tokio::time::Instant;

use super::timer::after;
use crate::base::limits::Limits;

/// A wait for a peer to take more.
#[derive(Debug, Default)]
pub(super) struct Stall {
    due: Option<Instant>,
    /// Bytes taken since the wait began.
    taken: u64,
}

impl Stall {
    /// Notes that the peer has taken some bytes.
    pub(super) fn took(&mut self, bytes: usize, limits: &Limits) {
        self.taken = self.taken.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        if self.taken >= limits.h2_progress {
            self.over();
        }
    }

    /// Notes that nothing waits any more.
    pub(super) fn over(&mut self) {
        (self.due, self.taken) = (None, 0);
    }

    /// Notes that more waits. Gives the time at which the wait has been too long.
    pub(super) fn waits(&mut self, limits: &Limits) -> Instant {
        if self.due.is_none() {
            self.taken = 0;
        }
        *self.due.get_or_insert_with(|| after(limits.write_timeout))
    }

    /// The time at which the wait has been too long, while there is one.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn little_is_no_progress() {
        let limits = Limits { h2_progress: 100, ..Limits::default() };
        for (taken, moves) in [(99, false), (100, true), (101, true)] {
            let mut stall = Stall::default();
            stall.took(1_000, &limits);
            let due = stall.waits(&limits);
            for _ in 0..taken {
                stall.took(1, &limits);
            }
            sleep(Duration::from_millis(2));
            assert_eq!(stall.waits(&limits) > due, moves, "{taken}");
        }
    }

    #[test]
    fn all_there_is_is_progress() {
        let limits = Limits::default();
        let mut stall = Stall::default();
        let due = stall.waits(&limits);
        assert_eq!(stall.due(), Some(due));
        stall.over();
        assert_eq!(stall.due(), None);
        sleep(Duration::from_millis(2));
        assert!(stall.waits(&limits) > due);
    }
}
