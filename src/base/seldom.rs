//! What peers can bring about as often as they like, and a log must not repeat as often.

use std::sync::atomic::{AtomicU64, Ordering};

/// The time between two tellings, in milliseconds.
const PERIOD_MS: u64 = 1_000;

/// Counts, and says once a second at most how many have come since it was said last.
#[derive(Debug, Default)]
pub struct Seldom {
    count: AtomicU64,
    told: AtomicU64,
    next_ms: AtomicU64,
}

impl Seldom {
    /// One more.
    pub fn add(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// How many there were in all.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// How many have come since the last time, where there are any and it is time to tell of them. Of several who ask at once one gets it.
    #[must_use]
    pub fn due(&self, now_ms: u64) -> Option<u64> {
        let next = self.next_ms.load(Ordering::Relaxed);
        if now_ms < next || self.count() == self.told.load(Ordering::Relaxed) {
            return None;
        }
        let later = now_ms.saturating_add(PERIOD_MS);
        self.next_ms.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).ok()?;
        self.tell(self.count())
    }

    /// Tells of so many in all. Somebody may have told of more since they were counted.
    fn tell(&self, count: u64) -> Option<u64> {
        count.checked_sub(self.told.fetch_max(count, Ordering::Relaxed)).filter(|&more| more > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_told_once_and_once_a_second() {
        let seldom = Seldom::default();
        assert_eq!(seldom.due(0), None, "nothing has come");
        seldom.add();
        assert_eq!(seldom.due(0), Some(1), "the first is told at once");
        (0..1000).for_each(|_| seldom.add());
        for now in [0, 1, 999] {
            assert_eq!(seldom.due(now), None);
        }
        assert_eq!(seldom.due(1000), Some(1000));
        assert_eq!(seldom.due(2000), None, "nothing has come since");
        seldom.add();
        assert_eq!((seldom.due(2001), seldom.count()), (Some(1), 1002));
    }

    /// Who counts, and is held up for longer than a period before it tells.
    #[test]
    fn who_tells_late_tells_nothing_twice() {
        let seldom = Seldom::default();
        for (count, told) in [(3, Some(3)), (10, Some(7)), (5, None), (10, None), (12, Some(2))] {
            assert_eq!(seldom.tell(count), told, "{count}");
        }
    }

    #[test]
    fn of_many_threads_one_tells() {
        let seldom = Seldom::default();
        let told: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        (0..10_000)
                            .map(|at| {
                                seldom.add();
                                u64::from(seldom.due(at / 5_000 * 1_000).is_some())
                            })
                            .sum::<u64>()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert!((1..=2).contains(&told), "{told}");
        assert_eq!(seldom.count(), 80_000);
    }
}
