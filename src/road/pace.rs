//! The arithmetic of an allowance: `burst` requests at once, and `rate` a second come back (a token bucket, kept as the one time at which
//! it will be full again).

use crate::base::limits::Limits;

const NS_PER_MS: u64 = 1_000_000;

/// How fast an allowance comes back, and how much of it there is. Times are in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// The time that brings one request back. Rounded up: never faster than the rate.
    step: u64,
    /// The time that brings all of it back.
    whole: u64,
}

/// What a request has to wait for, once it comes to the stage that judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Toll {
    /// In milliseconds; none is none.
    wait_ms: u32,
}

impl Toll {
    /// Paid.
    pub const NONE: Self = Self { wait_ms: 0 };

    /// After how many milliseconds the same request would be admitted, where this one is not.
    #[must_use]
    pub const fn wait_ms(self) -> Option<u64> {
        if self.wait_ms == 0 { None } else { Some(self.wait_ms as u64) }
    }

    fn of(ns: u64) -> Self {
        Self { wait_ms: u32::try_from(ns.div_ceil(NS_PER_MS)).unwrap_or(u32::MAX).max(1) }
    }
}

/// A clock's time in the unit that is reckoned in here.
pub(super) const fn ns(now_ms: u64) -> u64 {
    now_ms.saturating_mul(NS_PER_MS)
}

impl Pace {
    /// The pace that is set; `None` where rates are not limited.
    pub(super) fn of(limits: &Limits) -> Option<Self> {
        let step = 1_000_000_000_u64.div_ceil(Some(limits.peer_rate).filter(|&rate| rate > 0)?);
        Some(Self { step, whole: step.saturating_mul(limits.peer_burst) })
    }

    /// Charges one request to an allowance that is whole at `full`, and says what it has to wait for. It is charged all the same: whoever
    /// goes on is owed less.
    ///
    /// # Errors
    /// The wait of one who is in debt by more than another whole allowance. That is not charged, so that no debt grows without end.
    pub(super) fn enter(self, full: &mut u64, now: u64) -> Result<Toll, Toll> {
        let owed = full.saturating_sub(now);
        if owed > 2 * self.whole {
            return Err(Toll::of(owed - self.whole + self.step));
        }
        *full = now + owed + self.step;
        let owed = owed + self.step;
        Ok(if owed <= self.whole { Toll::NONE } else { Toll::of(owed - self.whole + self.step) })
    }

    /// Charges the other messages of a body whose first one has entered, all or none of them. A body with more messages than the allowance
    /// has room for is admitted when that is whole, and owes the rest.
    pub(super) fn enter_rest(self, full: &mut u64, now: u64, messages: u64) -> Toll {
        let owed = full.saturating_sub(now);
        let cost = self.step.saturating_mul(messages);
        let room = self.whole.saturating_sub(cost);
        if owed.saturating_sub(self.step) > room {
            return Toll::of(owed - room);
        }
        *full = now + owed + cost - self.step.min(cost);
        Toll::NONE
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pace(rate: u64, burst: u64) -> Pace {
        Pace::of(&Limits { peer_rate: rate, peer_burst: burst, ..Limits::default() }).unwrap()
    }

    /// Requests admitted and refused at one moment, until `many` have come.
    fn at_once(pace: Pace, full: &mut u64, now_ms: u64, many: u64) -> [u64; 3] {
        let mut counts = [0; 3];
        for _ in 0..many {
            match pace.enter(full, ns(now_ms)) {
                Ok(Toll::NONE) => counts[0] += 1,
                Ok(_) => counts[1] += 1,
                Err(_) => counts[2] += 1,
            }
        }
        counts
    }

    #[test]
    fn no_rate_is_no_pace() {
        assert!(Pace::of(&Limits::default()).is_none());
    }

    #[test]
    fn below_at_and_above_the_burst() {
        for (rate, burst) in [(1, 1), (1, 5), (10, 5), (7, 100), (1_000_000, 1), (1, 1_000_000)] {
            let pace = pace(rate, burst);
            assert_eq!(at_once(pace, &mut 0, 0, burst), [burst, 0, 0], "{rate} {burst}");
            assert_eq!(at_once(pace, &mut 0, 0, burst + 1), [burst, 1, 0], "{rate} {burst}");
            // Twice the burst, and the one that goes beyond it.
            assert_eq!(at_once(pace, &mut 0, 0, 2 * burst + 1), [burst, burst + 1, 0], "{rate} {burst}");
            assert_eq!(at_once(pace, &mut 0, 0, 2 * burst + 5), [burst, burst + 1, 4], "{rate} {burst}");
        }
    }

    #[test]
    fn what_has_been_spent_comes_back_at_the_rate() {
        let pace = pace(10, 5);
        let mut full = 0;
        assert_eq!(at_once(pace, &mut full, 0, 5), [5, 0, 0]);
        assert_eq!(at_once(pace, &mut full, 100, 1), [1, 0, 0]);
        assert_eq!(at_once(pace, &mut full, 199, 1), [0, 1, 0]);
        // That one was charged, so that one step later there is nothing yet.
        assert_eq!(at_once(pace, &mut full, 299, 1), [0, 1, 0]);
        assert_eq!(at_once(pace, &mut full, 60_000, 7), [5, 2, 0], "never more than the burst");
    }

    #[test]
    fn messages_of_one_body() {
        let pace = pace(10, 5);
        for (spent, messages, wait) in [
            (0, 5, None),
            (1, 4, None),
            (1, 5, Some(200)),
            (3, 3, Some(200)),
            (0, 9, None),
            (1, 9, Some(200)),
        ] {
            let mut full = 0;
            assert_eq!(at_once(pace, &mut full, 0, spent + 1), [spent + 1, 0, 0]);
            let toll = pace.enter_rest(&mut full, 0, messages);
            assert_eq!(toll.wait_ms(), wait, "{spent} {messages}");
            // All of them are charged, or the one that has entered alone.
            let charged = spent + if wait.is_none() { messages } else { 1 };
            assert_eq!(full, charged * pace.step, "{spent} {messages}");
        }
    }

    proptest! {
        /// Whatever comes whenever: in no span of time is more admitted than the burst and what comes back in it.
        #[test]
        fn never_more_than_the_burst_and_the_rate(
            rate in 1_u64..2_000,
            burst in 1_u64..50,
            gaps in prop::collection::vec(prop_oneof![4 => Just(0_u64), 3 => 1_u64..20, 1 => 20_u64..3_000], 1..200),
        ) {
            let (pace, mut full, mut now) = (pace(rate, burst), 0, 0);
            let mut admitted = Vec::new();
            for gap in gaps {
                now += gap;
                if pace.enter(&mut full, ns(now)) == Ok(Toll::NONE) {
                    admitted.push(now);
                }
            }
            for (at, from) in admitted.iter().enumerate() {
                for (count, until) in (1_u64..).zip(&admitted[at..]) {
                    let most = burst + rate * (until - from) / 1_000;
                    prop_assert!(count <= most, "{count} from {from} to {until}, at most {most}");
                }
            }
        }

        /// Who waits as long as told is admitted, and who waits less is not; the same for a body with many messages.
        #[test]
        fn the_wait_is_right(
            rate in 1_u64..5_000,
            burst in 1_u64..50,
            before in 0_u64..200,
            messages in prop_oneof![Just(1_u64), 2_u64..120],
            later in 0_u64..500,
        ) {
            let (pace, mut full) = (pace(rate, burst), 0);
            let _ = at_once(pace, &mut full, 0, before);
            let ask = |full: &mut u64, now_ms: u64, messages: u64| match pace.enter(full, ns(now_ms)) {
                Ok(_) if messages > 1 => (pace.enter_rest(full, ns(now_ms), messages).wait_ms(), messages),
                Ok(toll) => (toll.wait_ms(), messages),
                // At the door nobody knows what the body will bring.
                Err(toll) => (toll.wait_ms(), 1),
            };
            if let (Some(wait), messages) = ask(&mut full, later, messages) {
                prop_assert_ne!(ask(&mut {full}, later + wait - 1, messages).0, None, "{} were enough", wait - 1);
                prop_assert_eq!(ask(&mut full, later + wait, messages).0, None, "told to wait {}", wait);
            }
        }

        /// A debt has an end, however long somebody goes on.
        #[test]
        fn debts_are_bounded(rate in 1_u64..1_000, burst in 1_u64..20, many in 0_u64..500, messages in 1_u64..100) {
            let (pace, mut full) = (pace(rate, burst), 0);
            for _ in 0..many {
                if pace.enter(&mut full, 0) == Ok(Toll::NONE) {
                    let _ = pace.enter_rest(&mut full, 0, messages);
                }
            }
            prop_assert!(full <= pace.step * (2 * burst + messages + 1));
        }
    }
}
