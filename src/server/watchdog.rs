//! The watchdog: a thread that notices when a worker is held up, by a handler that blocks it or by anything else, and tells what it polled
//! then.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::conn::Service;
use crate::road::shedding::Load;
use crate::tools::polled::{self, Polled};

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

    fn look(&self, service: &Service, most: Duration) {
        let now = Instant::now();
        for watched in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            watched.look(service, most, now);
        }
    }
}

impl Watched {
    fn look(&mut self, service: &Service, most: Duration, now: Instant) {
        let load = self.load.and_then(|load| service.road().loads().get(load));
        let (handler_since, pulse_since) = (self.handler.since, self.pulse.since);
        let in_handler = self.handler.stood(self.polled.step(), now);
        let pulse = load.filter(|load| load.is_waiting()).map(Load::pulses);
        let stood = in_handler.max(self.pulse.stood(pulse, now));
        if stood >= most && !self.told {
            self.told = true;
            service.note_blocked();
            let handler = if in_handler.is_zero() { String::new() } else { self.polled.name() };
            let ms = stood.as_millis();
            tracing::warn!(
                worker = self.name,
                handler,
                ms,
                "a worker is blocked, and nothing else goes on there"
            );
        } else if stood < most && self.told {
            self.told = false;
            let ms = now.saturating_duration_since(handler_since.min(pulse_since)).as_millis();
            tracing::warn!(worker = self.name, ms, "a worker that was blocked goes on");
        }
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
                while end.recv_timeout(most / 4) == Err(RecvTimeoutError::Timeout) {
                    roster.look(&service, most);
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
