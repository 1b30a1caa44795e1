//! The watchdog: a thread that notices when a worker is held up, by a handler that blocks it or by anything else, and tells what it polled
//! then.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::conn::Service;
use crate::road::shedding::Load;
use crate::road::shedding::turns::PERIOD_MS;
use crate::tools::polled::{self, Polled};

/// How often is looked at most.
const LOOK: Duration = Duration::from_millis(5);

/// The threads that are watched.
#[derive(Debug, Clone, Default)]
pub(super) struct Roster(Arc<Mutex<Vec<Watched>>>);

#[derive(Debug)]
struct Watched {
    name: String,
    polled: Arc<Polled>,
    /// Whose pulse the thread alone gives.
    load: Option<usize>,
    handler: Sign<u64>,
    pulse: Sign<u32>,
    told: bool,
}

/// Something that changes as long as a thread goes on.
#[derive(Debug)]
struct Sign<T> {
    last: Option<T>,
    since: Instant,
}

impl<T: PartialEq> Sign<T> {
    fn new(now: Instant) -> Self {
        Self { last: None, since: now }
    }

    /// How long it has been the same; not at all where there is none.
    fn stood(&mut self, sign: Option<T>, now: Instant) -> Duration {
        if sign.is_none() || sign != self.last {
            (self.last, self.since) = (sign, now);
        }
        now.saturating_duration_since(self.since)
    }

    /// Does not count time that is over.
    fn forget(&mut self, gap: Duration, now: Instant) {
        self.since = (self.since + gap).min(now);
    }
}

/// What is told of a thread.
#[derive(Debug, PartialEq)]
enum Told {
    Blocked { handler: String, by: Duration },
    GoesOn { after: Duration },
}

impl Told {
    fn tell(&self, worker: &str) {
        match self {
            Self::Blocked { handler, by } => {
                let ms = by.as_millis();
                tracing::warn!(worker, handler, ms, "a worker is blocked, and nothing else goes on there");
            }
            Self::GoesOn { after } => {
                let ms = after.as_millis();
                tracing::warn!(worker, ms, "a worker that was blocked goes on");
            }
        }
    }
}

impl Roster {
    /// Has the calling thread watched. `load` is the one whose pulse it gives.
    pub(super) fn add(&self, load: Option<usize>) {
        let now = Instant::now();
        let name = std::thread::current().name().unwrap_or("a thread").to_owned();
        let watched = Watched {
            name,
            polled: polled::here(),
            load,
            handler: Sign::new(now),
            pulse: Sign::new(now),
            told: false,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(watched);
    }

    /// Looks at all of them. Nothing is told while the roster is locked: who listens may take its time, and newcomers add themselves.
    fn look(&self, service: &Service, pace: &mut Pace, now: Instant) {
        let gap = pace.gap(now);
        let mut all = Vec::new();
        for watched in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            let load = watched.load.and_then(|load| service.road().loads().get(load));
            let pulse = load.filter(|load| load.is_waiting()).map(Load::pulses);
            let told = watched.look(pulse, pace.most, gap, now);
            all.extend(told.map(|told| (watched.name.clone(), told)));
        }
        for (worker, told) in all {
            if matches!(told, Told::Blocked { .. }) {
                service.note_blocked();
            }
            told.tell(&worker);
        }
    }
}

impl Watched {
    fn look(&mut self, pulse: Option<u32>, most: Duration, gap: Duration, now: Instant) -> Option<Told> {
        self.handler.forget(gap, now);
        self.pulse.forget(gap, now);
        let begun = self.handler.since.min(self.pulse.since);
        let in_handler = self.handler.stood(self.polled.step(), now);
        // Where nothing holds it up the pulse stands for as long as its period.
        let pulse = self.pulse.stood(pulse, now).saturating_sub(Duration::from_millis(PERIOD_MS));
        let stood = in_handler.max(pulse);
        if stood >= most && !self.told {
            self.told = true;
            let handler = if in_handler.is_zero() { String::new() } else { self.polled.name() };
            Some(Told::Blocked { handler, by: stood })
        } else if stood < most && self.told {
            self.told = false;
            Some(Told::GoesOn { after: now.saturating_duration_since(begun) })
        } else {
            None
        }
    }
}

/// How often is looked.
#[derive(Debug)]
struct Pace {
    most: Duration,
    every: Duration,
    last: Instant,
}

impl Pace {
    fn new(most: Duration, now: Instant) -> Self {
        Self { most, every: (most / 4).max(LOOK), last: now }
    }

    /// How much of the time since the last look does not count. Where that is much longer ago than it should be, the watchdog has not run
    /// either: the whole process was stopped, or had no core.
    fn gap(&mut self, now: Instant) -> Duration {
        let since = now.saturating_duration_since(self.last);
        self.last = now;
        if since > 4 * self.every { since } else { Duration::ZERO }
    }
}

/// The watchdog, until it is dropped.
#[derive(Debug)]
pub(super) struct Watchdog(
    #[expect(dead_code, reason = "its end is what is heard")] Option<mpsc::Sender<()>>,
);

impl Watchdog {
    /// Watches the threads of the roster. Without a thread of its own nothing is watched, and that is told.
    pub(super) fn start(service: Arc<Service>, roster: Roster) -> Self {
        let most = Duration::from_millis(service.road().limits().blocked_worker);
        if most.is_zero() {
            return Self(None);
        }
        let (life, end) = mpsc::channel::<()>();
        // What the caller has set up to hear the server hears this thread too.
        let dispatch = tracing::dispatcher::get_default(Clone::clone);
        let watch = move || {
            tracing::dispatcher::with_default(&dispatch, || {
                let mut pace = Pace::new(most, Instant::now());
                while end.recv_timeout(pace.every) == Err(RecvTimeoutError::Timeout) {
                    roster.look(&service, &mut pace, Instant::now());
                }
            });
        };
        match std::thread::Builder::new().name("watchdog".to_owned()).spawn(watch) {
            Ok(_) => Self(Some(life)),
            Err(error) => {
                tracing::warn!(%error, "nothing watches for blocked workers");
                Self(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn watched(now: Instant) -> Watched {
        let roster = Roster::default();
        roster.add(None);
        let watched = roster.0.lock().unwrap().pop().unwrap();
        Watched { handler: Sign::new(now), pulse: Sign::new(now), ..watched }
    }

    /// Looks at a pulse that comes every so many milliseconds, for so long; says what was told, and when.
    fn beat(most: u64, period: u64, from: Instant, ms: u64) -> Vec<(u64, Told)> {
        let (mut watched, mut pace) = (watched(from), Pace::new(MS * u32::try_from(most).unwrap(), from));
        let every = u64::try_from(pace.every.as_millis()).unwrap();
        let mut all = Vec::new();
        for at in (0..ms).step_by(usize::try_from(every).unwrap()) {
            let now = from + Duration::from_millis(at);
            let gap = pace.gap(now);
            let pulse = u32::try_from(at / period).unwrap();
            all.extend(watched.look(Some(pulse), pace.most, gap, now).map(|told| (at, told)));
        }
        all
    }

    /// However little is allowed: a pulse that comes in time holds nobody up, and one that does not come is told once.
    #[test]
    fn a_pulse_in_time_is_no_block() {
        let from = Instant::now();
        for most in [1, 2, 5, 10, 40, 1_000] {
            assert_eq!(beat(most, PERIOD_MS, from, 20_000), [], "{most}");
            let told = beat(most, 1_000_000, from, 20_000);
            assert!(matches!(&told[..], [(at, Told::Blocked { .. })] if *at <= 2 * most + 25), "{told:?}");
        }
    }

    /// A process that was stopped finds nobody blocked when it goes on; who is blocked then is told of when its own time is over.
    #[test]
    fn time_in_which_nothing_ran_is_no_block() {
        let mut now = Instant::now();
        let (mut watched, mut pace) = (watched(now), Pace::new(1_000 * MS, now));
        let mut look = |watched: &mut Watched, ms: u32| {
            now += ms * MS;
            let gap = pace.gap(now);
            watched.look(Some(7), pace.most, gap, now)
        };
        for _ in 0..3 {
            assert_eq!(look(&mut watched, 250), None);
            assert_eq!(look(&mut watched, 3_600_000), None);
        }
        for _ in 0..2 {
            assert_eq!(look(&mut watched, 250), None);
        }
        assert_eq!(look(&mut watched, 250), Some(Told::Blocked { handler: String::new(), by: 1_240 * MS }));
        assert_eq!(look(&mut watched, 3_600_000), None, "it is still blocked");
        now += 250 * MS;
        assert!(matches!(watched.look(None, 1_000 * MS, Duration::ZERO, now), Some(Told::GoesOn { .. })));
    }
}
