use proptest::prelude::*;

use super::*;

const DELAY: u64 = 100;
const DUE_MS: u64 = PERIOD_MS + SLACK_MS;

/// A worker in simulated time: everybody who is ready has a turn, then the pulse.
struct Worker {
    turns: Turns,
    /// In microseconds.
    now: u64,
    /// What turning somebody away takes, in microseconds.
    refusal: u64,
}

/// What became of those who came in one turn.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Turn {
    admitted: u32,
    refused: u32,
    /// How long it took, in microseconds.
    took: u64,
}

impl Worker {
    fn new(delay: u64) -> Self {
        let mut turns = Turns::new(delay);
        turns.begin(0);
        Self { turns, now: 0, refusal: 20 }
    }

    /// One turn in which requests of these costs, in microseconds, come from callers who have had `had`.
    fn turn(&mut self, costs: impl IntoIterator<Item = u64>, had: Had) -> Turn {
        let from = self.now;
        let mut turn = Turn::default();
        for cost in costs {
            if self.turns.admits(self.now / 1_000, || had) {
                turn.admitted += 1;
                self.now += cost;
            } else {
                turn.refused += 1;
                self.now += self.refusal;
            }
        }
        // The pulse does not come before its time.
        self.now = self.now.max(from + PERIOD_MS * 1_000);
        self.turns.pulse(self.now / 1_000, true);
        turn.took = self.now - from;
        turn
    }

    fn cuts(&self) -> bool {
        self.turns.cuts()
    }

    /// Turns under a load that is far too much, until they are cut.
    fn overwhelm(&mut self) {
        while !self.cuts() {
            self.turn([1_000; 500], Had::Something);
        }
    }
}

#[test]
fn a_lasting_crowd_is_cut_within_four_delays() {
    let mut worker = Worker::new(DELAY);
    // Seconds of work in one turn: that is seen on the way.
    let turn = worker.turn([1_000; 5_000], Had::Something);
    assert!(turn.admitted < 450, "{turn:?}");
    for _ in 0..20 {
        let turn = worker.turn([1_000; 5_000], Had::Something);
        assert!((100..125).contains(&turn.admitted), "{turn:?}");
    }
}

#[test]
fn a_delay_of_none_turns_nobody_away() {
    let mut worker = Worker::new(0);
    for _ in 0..10 {
        assert_eq!(worker.turn([10_000; 1_000], Had::Something).refused, 0);
    }
    assert!(!worker.turns.is_watchful());
}

/// One handler that holds its worker up is no crowd, however long it takes, however often, and however many wait behind it.
#[test]
fn one_handler_that_blocks_turns_nobody_away() {
    for blocks in [115_000, 150_000, 400_000, 1_000_000, 60_000_000] {
        for every in [1, 2, 3] {
            let mut worker = Worker::new(DELAY);
            for round in 0..100 {
                let mut costs = [20; 1_000];
                if round % every == 0 {
                    costs[round] = blocks;
                }
                assert_eq!(worker.turn(costs, Had::Something).refused, 0, "{blocks} {round}");
            }
            assert!(!worker.cuts());
        }
    }
}

/// Nor are the turns that a crowd has had cut any longer than that crowd's are, for one handler that goes on blocking.
#[test]
fn one_handler_that_blocks_keeps_no_turn_cut() {
    let mut worker = Worker::new(DELAY);
    worker.overwhelm();
    let until = worker.now + 2_000_000;
    while worker.now < until {
        worker.turn([400_000, 20, 20, 20], Had::Something);
    }
    for _ in 0..10 {
        assert_eq!(worker.turn([400_000, 20, 20, 20], Had::Something).refused, 0);
    }
}

/// Several that block are a crowd: nobody else has a turn for as long as all of them take.
#[test]
fn many_handlers_that_block_are_a_crowd() {
    for blocks in [30_000, 58_000, 150_000, 400_000] {
        let mut worker = Worker::new(DELAY);
        for _ in 0..10 {
            worker.turn(vec![blocks; 8], Had::Something);
        }
        let until = worker.now + 10_000_000;
        while worker.now < until {
            let turn = worker.turn(vec![blocks; 8], Had::Something);
            assert!(turn.refused > 0, "{blocks} {turn:?}");
        }
    }
}

/// What was late before a rest has not lasted since.
#[test]
fn lateness_does_not_last_over_a_rest() {
    const HOUR: u64 = 3_600_000;
    // One that blocks in the last turn, and again in the next one.
    let mut turns = Turns::new(DELAY);
    turns.begin(0);
    assert!(turns.admits(0, || Had::Something));
    turns.pulse(12, true);
    turns.pulse(162, false);
    assert!(turns.is_resting() && !turns.is_watchful());
    turns.begin(HOUR);
    assert!(turns.admits(HOUR, || Had::Something));
    assert!((0..100).all(|_| turns.admits(HOUR + 120, || Had::Something)));
    // A burst, and another one.
    let mut worker = Worker::new(DELAY);
    for _ in 0..3 {
        assert_eq!(worker.turn([1_000; 160], Had::Something).refused, 0);
        let last = worker.now / 1_000;
        for piece in 1..=130 {
            worker.turns.admits(last + piece, || Had::Something);
        }
        worker.turns.pulse(last + 130, false);
        assert!(worker.turns.is_resting() && !worker.turns.is_watchful());
        worker.now = (last + HOUR) * 1_000;
        worker.turns.begin(last + HOUR);
    }
}

/// A timer goes off up to two milliseconds late where there is nothing to do.
#[test]
fn no_delay_is_too_small_for_a_worker_at_rest() {
    for delay in 1..=10 {
        let mut turns = Turns::new(delay);
        let mut now = 0;
        turns.begin(now);
        for round in 0..10_000 {
            for at in [0, 1, PERIOD_MS, DUE_MS] {
                assert!(turns.admits(now + at, || Had::Something), "{delay} {round}");
            }
            now += DUE_MS + round % 2;
            turns.pulse(now, true);
            assert!(!turns.cuts(), "{delay} {round}");
        }
    }
}

#[test]
fn one_burst_turns_nobody_away() {
    let mut worker = Worker::new(DELAY);
    for _ in 0..10 {
        assert_eq!(worker.turn([100; 2_900], Had::Something).refused, 0);
        assert_eq!(worker.turn([100; 10], Had::Something).refused, 0);
    }
}

#[test]
fn the_less_somebody_has_had_the_longer_the_door_is_open() {
    let mut took = Vec::new();
    for had in [Had::Something, Had::Nothing, Had::Little] {
        let mut worker = Worker::new(DELAY);
        worker.overwhelm();
        took.push(worker.turn([1_000; 300], had).admitted);
    }
    assert_eq!(took, [113, 163, 213]);
}

/// Those who were told to come back after a second find turns that are still cut.
#[test]
fn who_comes_back_together_meets_short_turns() {
    let mut worker = Worker::new(DELAY);
    worker.overwhelm();
    let until = worker.now + 1_100_000;
    while worker.now < until {
        worker.turn([20; 50], Had::Something);
    }
    let turn = worker.turn([1_000; 1_000], Had::Something);
    assert!(turn.took < 150_000 && turn.refused > 0, "{turn:?}");
}

#[test]
fn a_pause_ends_a_turn() {
    let mut worker = Worker::new(DELAY);
    worker.overwhelm();
    worker.turns.pulse(worker.now / 1_000, false);
    assert!(worker.turns.is_resting());
    worker.now += 3_600_000_000;
    assert!(worker.turns.admits(worker.now / 1_000, || Had::Something));
    worker.turns.begin(worker.now / 1_000);
    assert_eq!(worker.turn([1_000; 200], Had::Something).refused, 0);
}

/// A cost, and how often it comes.
fn costs() -> impl Strategy<Value = (u64, usize)> {
    let cost = prop_oneof![8 => 10..200_u64, 4 => 500..3_000_u64, 1 => 10_000..60_000_u64];
    (cost, 1..2_000_usize)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever comes: somebody is always served; a turn that is cut is no longer than its delay, its last call and the refusals; turns that
    /// are short are not cut; and two seconds after the last long turn nobody is turned away, however many come at once.
    #[test]
    fn turns_of_any_load(rounds in prop::collection::vec(costs(), 1..60), delay in 20..1_000_u64) {
        let mut worker = Worker::new(delay);
        for (cost, count) in rounds {
            let cut = worker.cuts();
            let turn = worker.turn(vec![cost; count], Had::Something);
            prop_assert!(turn.admitted as usize >= count.min(2));
            if cut {
                let least = u64::from(LEAST) * cost;
                let bound = (DUE_MS + delay + 1) * 1_000 + cost + least + u64::from(turn.refused) * worker.refusal;
                prop_assert!(turn.took <= bound, "{turn:?} over {bound}");
            }
            if turn.took <= delay * 1_000 {
                prop_assert_eq!(turn.refused, 0);
            }
        }
        let until = worker.now + 2_000_000;
        while worker.now < until {
            prop_assert_eq!(worker.turn([50; 10], Had::Something).refused, 0);
        }
        prop_assert!(!worker.cuts() && !worker.turns.is_watchful());
        let all = worker.turn(vec![delay; 1_000], Had::Something);
        prop_assert_eq!(all.refused, 0);
    }

    /// Under a load that stays, turns last about as long as they may.
    #[test]
    fn turns_last_about_the_delay(cost in 50..5_000_u64, delay in 20..500_u64) {
        let mut worker = Worker::new(delay);
        let crowd = usize::try_from(20 * delay * 1_000 / cost).unwrap();
        while !worker.cuts() {
            worker.turn(vec![cost; crowd], Had::Something);
        }
        worker.refusal = 0;
        for _ in 0..5 {
            let turn = worker.turn(vec![cost; crowd], Had::Something);
            let due = (DUE_MS + delay) * 1_000;
            prop_assert!(turn.took >= due && turn.took <= due + 2_000 + cost, "{turn:?}");
        }
    }
}
