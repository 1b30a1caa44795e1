//! The arithmetic of an allowance: `burst` requests at once, and `rate` a second come back (a token bucket, kept as the one time at which
//! it will be full again). There are two of them: one of what is admitted, and one twice as deep of what is tried, so that refused requests
//! cost something and yet no peer keeps itself from being served.

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

/// What a peer has spent, kept as times: what comes back needs no telling.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spent {
    /// When all that may be admitted at once is there again.
    full: u64,
    /// When all tries at the door are there again.
    tried: u64,
}

impl Spent {
    /// Whether nothing is missing: as good as nobody.
    pub(super) const fn is_nothing(&self, now: u64) -> bool {
        self.full <= now && self.tried <= now
    }

    const fn owed(&self, now: u64) -> u64 {
        self.full.saturating_sub(now)
    }

    const fn tries(&self, now: u64) -> u64 {
        self.tried.saturating_sub(now)
    }
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

    /// Charges one request, and says what it has to wait for. One that has to wait has cost a try at the door, and nothing else: a peer that
    /// offers more than its rate is served at its rate.
    ///
    /// # Errors
    /// The wait of one that has no try left at the door. That is not charged.
    pub(super) fn enter(self, spent: &mut Spent, now: u64) -> Result<Toll, Toll> {
        let (tries, owed) = (spent.tries(now) + self.step, spent.owed(now) + self.step);
        let wait = owed.saturating_sub(self.whole);
        if tries > self.door() {
            return Err(Toll::of(wait.max(tries - self.door())));
        }
        spent.tried = now + tries;
        if wait == 0 {
            spent.full = now + owed;
            return Ok(Toll::NONE);
        }
        Ok(Toll::of(wait.max(self.next_try(spent, now))))
    }

    /// Charges the other messages of a body whose first one has entered, all or none of them: where there is no room for all, the first has
    /// cost nothing either. A body with more messages than the allowance has room for is admitted when that is whole, and owes the rest.
    pub(super) fn enter_rest(self, spent: &mut Spent, now: u64, messages: u64) -> Toll {
        let owed = spent.owed(now);
        let before = owed.saturating_sub(self.step);
        let cost = self.step.saturating_mul(messages);
        let room = self.whole.saturating_sub(cost);
        if before > room {
            spent.full = now + before;
            return Toll::of((before - room).max(self.next_try(spent, now)));
        }
        spent.full = now + owed + cost - self.step.min(cost);
        Toll::NONE
    }

    /// All the tries that a peer has at the door: twice what may be admitted at once.
    const fn door(self) -> u64 {
        self.whole.saturating_mul(2)
    }

    /// After what time the door lets in one more.
    fn next_try(self, spent: &Spent, now: u64) -> u64 {
        (spent.tries(now) + self.step).saturating_sub(self.door())
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
    fn at_once(pace: Pace, spent: &mut Spent, now_ms: u64, many: u64) -> [u64; 3] {
        let mut counts = [0; 3];
        for _ in 0..many {
            match pace.enter(spent, ns(now_ms)) {
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
            assert_eq!(at_once(pace, &mut Spent::default(), 0, burst), [burst, 0, 0], "{rate} {burst}");
            assert_eq!(at_once(pace, &mut Spent::default(), 0, burst + 1), [burst, 1, 0], "{rate} {burst}");
            // Twice the burst, and the one that goes beyond it.
            assert_eq!(
                at_once(pace, &mut Spent::default(), 0, 2 * burst + 1),
                [burst, burst, 1],
                "{rate} {burst}"
            );
            assert_eq!(
                at_once(pace, &mut Spent::default(), 0, 2 * burst),
                [burst, burst, 0],
                "{rate} {burst}"
            );
        }
    }

    #[test]
    fn what_has_been_spent_comes_back_at_the_rate() {
        let pace = pace(10, 5);
        let mut spent = Spent::default();
        assert_eq!(at_once(pace, &mut spent, 0, 5), [5, 0, 0]);
        assert_eq!(at_once(pace, &mut spent, 100, 1), [1, 0, 0]);
        assert_eq!(at_once(pace, &mut spent, 199, 1), [0, 1, 0]);
        // That one has cost a try only.
        assert_eq!(at_once(pace, &mut spent, 200, 1), [1, 0, 0]);
        assert_eq!(at_once(pace, &mut spent, 60_000, 11), [5, 5, 1], "never more than the burst");
    }

    /// Whoever offers more than its rate, by however much, is served at its rate.
    #[test]
    fn who_goes_beyond_its_rate_is_served_at_its_rate() {
        for (rate, burst) in [(10, 2), (10, 5), (100, 100), (7, 3)] {
            for offered in [rate + 1, rate * 11 / 10 + 1, 2 * rate, 10 * rate, 97 * rate] {
                let (pace, mut spent, mut counts) = (pace(rate, burst), Spent::default(), [0; 3]);
                let minutes = 5;
                for number in 0..offered * 60 * minutes {
                    let more = at_once(pace, &mut spent, number * 1_000 / offered, 1);
                    counts = [counts[0] + more[0], counts[1] + more[1], counts[2] + more[2]];
                }
                let due = rate * 60 * minutes;
                let case = format!("{offered} a second at {rate}, {burst}: {counts:?}");
                assert!((due * 98 / 100..=due + burst).contains(&counts[0]), "{case}");
                // What is looked at and refused is bounded, too: a guess is one of these at best.
                assert!(counts[0] + counts[1] <= due + 2 * burst, "{case}");
            }
        }
    }

    /// The same for bodies with many messages: a refused one must not put off the next.
    #[test]
    fn batches_beyond_the_rate_are_served_at_the_rate() {
        for (messages, offered) in [(10, 2), (10, 10), (5, 50), (25, 10)] {
            let (pace, mut spent, mut served) = (pace(10, 20), Spent::default(), 0);
            for number in 0..offered * 600 {
                let now = ns(number * 1_000 / offered);
                if pace.enter(&mut spent, now) == Ok(Toll::NONE)
                    && pace.enter_rest(&mut spent, now, messages) == Toll::NONE
                {
                    served += messages;
                }
            }
            assert!((5_700..=6_030).contains(&served), "{offered} of {messages} a second: {served}");
        }
    }

    #[test]
    fn messages_of_one_body() {
        let pace = pace(10, 5);
        for (already, messages, wait) in [
            (0, 5, None),
            (1, 4, None),
            (1, 5, Some(100)),
            (3, 3, Some(100)),
            (4, 5, Some(400)),
            (0, 9, None),
            (1, 9, Some(100)),
        ] {
            let mut spent = Spent::default();
            assert_eq!(at_once(pace, &mut spent, 0, already + 1), [already + 1, 0, 0]);
            let toll = pace.enter_rest(&mut spent, 0, messages);
            assert_eq!(toll.wait_ms(), wait, "{already} {messages}");
            // All of them are charged, or none.
            let charged = already + if wait.is_none() { messages } else { 0 };
            assert_eq!(spent.full, charged * pace.step, "{already} {messages}");
            assert_eq!(spent.tried, (already + 1) * pace.step, "{already} {messages}");
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
            let (pace, mut spent, mut now) = (pace(rate, burst), Spent::default(), 0);
            let mut admitted = Vec::new();
            for gap in gaps {
                now += gap;
                if pace.enter(&mut spent, ns(now)) == Ok(Toll::NONE) {
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
            let (pace, mut spent) = (pace(rate, burst), Spent::default());
            let _ = at_once(pace, &mut spent, 0, before);
            let ask = |spent: &mut Spent, now_ms: u64, messages: u64| match pace.enter(spent, ns(now_ms)) {
                Ok(_) if messages > 1 => (pace.enter_rest(spent, ns(now_ms), messages).wait_ms(), messages),
                Ok(toll) => (toll.wait_ms(), messages),
                // At the door nobody knows what the body will bring.
                Err(toll) => (toll.wait_ms(), 1),
            };
            if let (Some(wait), messages) = ask(&mut spent, later, messages) {
                prop_assert_ne!(ask(&mut {spent}, later + wait - 1, messages).0, None, "{} were enough", wait - 1);
                prop_assert_eq!(ask(&mut spent, later + wait, messages).0, None, "told to wait {}", wait);
            }
        }

        /// A debt has an end, however long somebody goes on.
        #[test]
        fn debts_are_bounded(rate in 1_u64..1_000, burst in 1_u64..20, many in 0_u64..500, messages in 1_u64..100) {
            let (pace, mut spent) = (pace(rate, burst), Spent::default());
            for _ in 0..many {
                if pace.enter(&mut spent, 0) == Ok(Toll::NONE) {
                    let _ = pace.enter_rest(&mut spent, 0, messages);
                }
            }
            prop_assert!(spent.full <= pace.step * (burst + messages) && spent.tried <= pace.step * 2 * burst);
        }
    }
}
