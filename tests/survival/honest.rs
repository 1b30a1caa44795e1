//! The honest client: calls that are due at fixed times, whatever became of the earlier ones. Latency counts from when a call was due, so
//! that a server that stalls makes all those late that came meanwhile.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use super::messages;
use super::sockets::{connect_from, exchange};

/// Keep-alive connections, each with calls of its own that are due.
const KEPT: u32 = 8;
/// Calls a second over all of them.
const RATE: u32 = 500;
/// New connections a second, each with one call.
const NEWCOMERS: u32 = 40;
/// An answer that is not there by then is lost.
const PATIENCE: Duration = Duration::from_secs(5);
/// The honest client's address, which no attacker has.
const HOST: u8 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Answered,
    /// 503 with `Retry-After`.
    Shed,
    /// No answer, or one that is wrong.
    Lost,
}

#[derive(Debug, Clone, Copy)]
pub struct Sample {
    pub due: Instant,
    pub took: Duration,
    pub newcomer: bool,
    pub outcome: Outcome,
}

impl Sample {
    pub fn done(&self) -> Instant {
        self.due + self.took
    }
}

/// What came of the calls of some time.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    pub calls: usize,
    pub shed: usize,
    pub lost: usize,
    pub p50: Duration,
    pub p99: Duration,
    pub most: Duration,
}

impl Stats {
    pub fn of(samples: impl Iterator<Item = Sample>) -> Self {
        let mut stats = Self::default();
        let mut took: Vec<Duration> = Vec::new();
        for sample in samples {
            stats.calls += 1;
            stats.shed += usize::from(sample.outcome == Outcome::Shed);
            stats.lost += usize::from(sample.outcome == Outcome::Lost);
            took.push(sample.took);
        }
        took.sort_unstable();
        let at = |percent: usize| took.get((took.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        stats.p50 = at(50).unwrap_or_default();
        stats.p99 = at(99).unwrap_or_default();
        stats.most = at(100).unwrap_or_default();
        stats
    }
}

struct Shared {
    address: SocketAddr,
    stop: AtomicBool,
    /// Whether new connections are made.
    newcomers: AtomicBool,
    number: AtomicU64,
    samples: Mutex<Vec<Sample>>,
    /// The first things that went wrong, for the report.
    wrong: Mutex<Vec<String>>,
}

/// An honest client on a thread of its own. It has ended when dropped.
pub struct Honest {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Honest {
    pub fn start(address: SocketAddr) -> Self {
        let shared = Arc::new(Shared {
            address,
            stop: AtomicBool::new(false),
            newcomers: AtomicBool::new(true),
            number: AtomicU64::new(0),
            samples: Mutex::default(),
            wrong: Mutex::default(),
        });
        let clients = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(clients.all());
        });
        Self { shared, thread: Some(thread) }
    }

    /// Has new connections made, or only the old ones used.
    pub fn newcomers(&self, wanted: bool) {
        self.shared.newcomers.store(wanted, Ordering::Relaxed);
    }

    /// What has been answered or lost so far.
    pub fn samples(&self) -> Vec<Sample> {
        self.shared.samples.lock().expect("no panic").clone()
    }

    /// The calls that were due in this time.
    pub fn between(&self, from: Instant, until: Instant) -> Stats {
        Stats::of(self.samples().into_iter().filter(|sample| from <= sample.due && sample.due < until))
    }

    /// Sends no more, and waits for the answers.
    pub fn finish(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the honest client has panicked");
        }
    }

    /// What went wrong first.
    pub fn wrong(&self) -> String {
        self.shared.wrong.lock().expect("no panic").join(", ")
    }
}

impl Drop for Honest {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    async fn all(self: Arc<Self>) {
        let begin = Instant::now() + Duration::from_millis(5);
        let mut clients = tokio::task::JoinSet::new();
        for number in 0..KEPT {
            let first = begin + Duration::from_secs(1) * number / RATE;
            clients.spawn(Arc::clone(&self).keep(first, Duration::from_secs(1) * KEPT / RATE));
        }
        clients.spawn(Arc::clone(&self).come_anew(begin, Duration::from_secs(1) / NEWCOMERS));
        while let Some(ended) = clients.join_next().await {
            ended.expect("a client has panicked");
        }
    }

    /// Calls over one connection, made again when it is lost.
    async fn keep(self: Arc<Self>, mut due: Instant, every: Duration) {
        let mut stream = None;
        while !self.stop.load(Ordering::Relaxed) {
            tokio::time::sleep_until(due.into()).await;
            let outcome = self.timed(&mut stream).await;
            self.note(Sample { due, took: due.elapsed(), newcomer: false, outcome });
            due += every;
        }
    }

    /// Calls over a new connection each.
    async fn come_anew(self: Arc<Self>, mut due: Instant, every: Duration) {
        let mut clients = tokio::task::JoinSet::new();
        while !self.stop.load(Ordering::Relaxed) {
            tokio::time::sleep_until(due.into()).await;
            if self.newcomers.load(Ordering::Relaxed) {
                let shared = Arc::clone(&self);
                clients.spawn(async move {
                    let outcome = shared.timed(&mut None).await;
                    shared.note(Sample { due, took: due.elapsed(), newcomer: true, outcome });
                });
            }
            due += every;
        }
        clients.join_all().await;
    }

    fn note(&self, sample: Sample) {
        self.samples.lock().expect("no panic").push(sample);
    }

    async fn timed(&self, stream: &mut Option<TcpStream>) -> Outcome {
        let fault = match tokio::time::timeout(PATIENCE, self.call(stream)).await {
            Ok(Ok(outcome)) => return outcome,
            Ok(Err(fault)) => fault,
            Err(_) => format!("no answer in {} s", PATIENCE.as_secs()),
        };
        *stream = None;
        let mut wrong = self.wrong.lock().expect("no panic");
        if wrong.len() < 3 {
            wrong.push(fault);
        }
        Outcome::Lost
    }

    async fn call(&self, kept: &mut Option<TcpStream>) -> Result<Outcome, String> {
        let id = self.number.fetch_add(1, Ordering::Relaxed);
        let mut stream = match kept.take() {
            Some(stream) => stream,
            None => connect_from(HOST, self.address).await.map_err(|error| format!("connecting: {error}"))?,
        };
        let request = messages::call(id, "echo", &format!(r#"{{"message":"honest {id}"}}"#));
        let answer = exchange(&mut stream, &request, &mut Vec::new()).await;
        let answer = answer.map_err(|error| format!("calling: {error}"))?;
        if answer.header("connection") != Some("close") {
            *kept = Some(stream);
        }
        let text = String::from_utf8_lossy(&answer.body);
        let right =
            text.contains(&format!("\"id\":{id},")) && text.contains(&format!("\"text\":\"honest {id}\""));
        match answer.status {
            200 if right => Ok(Outcome::Answered),
            503 if answer.header("retry-after").is_some() => Ok(Outcome::Shed),
            status => Err(format!("{status}: {text}")),
        }
    }
}
