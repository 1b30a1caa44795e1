//! Drives many connections from one thread, and checks and counts what comes back.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};

use crate::account::Account;
use crate::args::{Fallible, Load, Pace};
use crate::connection::{Connection, UnderWay};
use crate::dialogue::Dialogue;
use crate::latency::Latency;
use crate::report::Report;
use crate::work::{FIRST_ID, Request, Work};

/// How late the system may wake a thread: nearer than this to the next departure, the clock is watched instead.
const WAKE: Duration = Duration::from_micros(100);
/// How long to wait where nothing is due.
const LONG: Duration = Duration::from_millis(100);

/// Drives a server for the time that is asked for.
///
/// # Errors
/// At the first answer that is wrong, and where the server cannot be talked to.
pub(crate) fn run(load: &Load) -> Fallible<Report> {
    let mut drive = Drive::open(load)?;
    let start = Instant::now();
    drive.departures = Departures::new(load.pace, start);
    drive.begin()?;
    drive.until(start + load.warm)?;
    let (counted_from, before) = (Instant::now(), Account::now(load.pid));
    drive.tally = Tally::new(counted_from);
    let end = counted_from + load.time;
    drive.until(end)?;
    let (time, used) = (counted_from.elapsed(), Account::now(load.pid).since(&before));
    let unanswered = drive.count_unanswered(end);
    Ok(Report::new(load, time, &used, &drive.tally, unanswered))
}

struct Drive<'a> {
    load: &'a Load,
    epoll: OwnedFd,
    connections: Vec<Connection>,
    /// At a fixed rate: connections with nothing to do, the longest idle first.
    idle: VecDeque<usize>,
    departures: Departures,
    next_id: u64,
    tally: Tally,
}

/// What is counted.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) answers: u64,
    pub(crate) slow_answers: u64,
    pub(crate) reopened: u64,
    pub(crate) latency: Latency,
    /// Requests that were due earlier are not counted.
    from: Instant,
}

impl Tally {
    fn new(from: Instant) -> Self {
        Self { answers: 0, slow_answers: 0, reopened: 0, latency: Latency::new(), from }
    }
}

/// When requests have to leave, at a fixed rate.
struct Departures {
    start: Instant,
    rate: f64,
    /// How many have been due.
    count: u64,
    /// Those that have found no connection yet.
    waiting: VecDeque<Instant>,
}

impl Departures {
    fn new(pace: Pace, start: Instant) -> Self {
        let rate = match pace {
            Pace::Closed { .. } => 0.0,
            Pace::Open { rate } => rate,
        };
        Self { start, rate, count: 0, waiting: VecDeque::new() }
    }

    fn next(&self) -> Option<Instant> {
        (self.rate > 0.0).then(|| self.start + Duration::from_secs_f64(self.count as f64 / self.rate))
    }

    /// Moves what is due by now to those that wait.
    fn advance(&mut self, now: Instant) {
        while let Some(due) = self.next().filter(|&due| due <= now) {
            self.waiting.push_back(due);
            self.count += 1;
        }
    }
}

impl<'a> Drive<'a> {
    fn open(load: &'a Load) -> Fallible<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let pipeline = match load.pace {
            Pace::Closed { pipeline } => pipeline,
            Pace::Open { .. } => 1,
        };
        let mut connections = Vec::with_capacity(load.connections + load.slow);
        for slot in 0..load.connections {
            let session = session(load)?;
            let request = |bytes| Request::new(load.work, load.port, bytes, session.as_deref(), load.canned);
            let requests = (load.bytes..load.bytes + load.lengths).map(request).collect();
            connections.push(Connection::open(&epoll, load.port, slot, requests, pipeline)?);
        }
        for slot in load.connections..load.connections + load.slow {
            let request = Request::new(Work::Burn(load.burn_ms), load.port, 0, None, false);
            let mut connection = Connection::open(&epoll, load.port, slot, vec![request], 1)?;
            connection.slow = true;
            connections.push(connection);
        }
        let now = Instant::now();
        Ok(Self {
            load,
            epoll,
            connections,
            idle: VecDeque::new(),
            departures: Departures::new(load.pace, now),
            next_id: FIRST_ID,
            tally: Tally::new(now),
        })
    }

    /// Starts every connection: it sends, or is idle.
    fn begin(&mut self) -> Fallible<()> {
        for slot in 0..self.connections.len() {
            self.answered(slot)?;
        }
        Ok(())
    }

    fn until(&mut self, end: Instant) -> Fallible<()> {
        let mut events = Vec::with_capacity(512);
        loop {
            let now = Instant::now();
            if now >= end {
                return Ok(());
            }
            self.depart(now)?;
            events.clear();
            let timeout = self.timeout(end);
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                self.turn(event.data, event.flags)?;
            }
        }
    }

    /// How long to sleep for events.
    fn timeout(&self, end: Instant) -> Timespec {
        let now = Instant::now();
        let until_due = match self.departures.next() {
            // Sleeping is for long waits: to be woken takes longer than a short one.
            Some(due) => due.saturating_duration_since(now).saturating_sub(WAKE),
            None => LONG,
        };
        let wait = until_due.min(end.saturating_duration_since(now)).min(LONG);
        Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) }
    }

    /// Sends what is due and finds a connection.
    fn depart(&mut self, now: Instant) -> Fallible<()> {
        self.departures.advance(now);
        while !self.departures.waiting.is_empty()
            && let Some(slot) = self.idle.pop_front()
        {
            let since = self.departures.waiting.pop_front().unwrap_or(now);
            self.send(slot, since)?;
        }
        Ok(())
    }

    fn send(&mut self, slot: usize, since: Instant) -> Fallible<()> {
        Ok(self.connections[slot].send(&self.epoll, &mut self.next_id, since)?)
    }

    fn turn(&mut self, data: EventData, flags: EventFlags) -> Fallible<()> {
        let slot = data.u64() as usize;
        let connection = &mut self.connections[slot];
        if flags.contains(EventFlags::OUT) {
            connection.flush(&self.epoll)?;
        }
        if !flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            return Ok(());
        }
        if let Err(error) = connection.read() {
            return self.ended(slot, &error);
        }
        let now = Instant::now();
        let mut closes = false;
        while let Some(answer) = connection.input.take()? {
            let Some(UnderWay { id, since }) = connection.under_way.pop_front() else {
                return Err(format!("an answer to nothing: {}", answer.text()).into());
            };
            if !connection.requests[connection.turn].accepts(&answer, id) {
                return Err(format!("wrong answer to {id}: {}", answer.text()).into());
            }
            closes |= answer.closes;
            if connection.slow {
                self.tally.slow_answers += 1;
            } else {
                self.tally.answers += 1;
                if since >= self.tally.from || matches!(self.load.pace, Pace::Closed { .. }) {
                    self.tally.latency.add(now - since);
                }
            }
        }
        match (connection.under_way.is_empty(), connection.is_sent(), closes) {
            (true, true, false) => self.answered(slot),
            (false, true, false) => Ok(()),
            (true, true, true) => self.reopen(slot),
            (_, false, _) => Err("the server answers a request that has not all left yet".into()),
            (false, true, true) => Err("the server hangs up on pipelined requests".into()),
        }
    }

    /// Every request of the connection is answered.
    fn answered(&mut self, slot: usize) -> Fallible<()> {
        match self.load.pace {
            Pace::Open { .. } if !self.connections[slot].slow => {
                self.idle.push_back(slot);
                self.depart(Instant::now())
            }
            Pace::Open { .. } | Pace::Closed { .. } => self.send(slot, Instant::now()),
        }
    }

    /// The server has hung up, which it may do between requests only.
    fn ended(&mut self, slot: usize, error: &std::io::Error) -> Fallible<()> {
        if !self.connections[slot].under_way.is_empty() {
            return Err(format!("the server has ended a connection before answering: {error}").into());
        }
        self.reopen(slot)
    }

    fn reopen(&mut self, slot: usize) -> Fallible<()> {
        self.tally.reopened += 1;
        self.idle.retain(|&idle| idle != slot);
        self.connections[slot].reopen(&self.epoll, self.load.port)?;
        self.answered(slot)
    }

    /// At a fixed rate, what is due and not answered has waited until now, at least: leaving it out would flatter the server.
    fn count_unanswered(&mut self, end: Instant) -> u64 {
        let Pace::Open { .. } = self.load.pace else { return 0 };
        self.departures.advance(end);
        let fast = self.connections.iter().filter(|connection| !connection.slow);
        let under_way = fast.flat_map(|connection| &connection.under_way).map(|request| request.since);
        let late: Vec<Instant> = under_way.chain(self.departures.waiting.iter().copied()).collect();
        for &since in late.iter().filter(|&&since| since >= self.tally.from) {
            self.tally.latency.add(end.saturating_duration_since(since));
        }
        late.len() as u64
    }
}

/// The session that a connection's requests belong to. Peers with fixed answers have none, but get as long a request.
fn session(load: &Load) -> Fallible<Option<String>> {
    if !load.work.needs_session() {
        return Ok(None);
    }
    if load.canned {
        return Ok(Some("A".repeat(43)));
    }
    Ok(Some(Dialogue::open(load.port)?.open_session()?))
}
