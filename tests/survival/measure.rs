//! One attack from beginning to end: rest, attack, recovery; and what is said of it.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::attacker::{Attacker, Told};
use super::attacks::Attack;
use super::bounds;
use super::honest::{Honest, Outcome, Sample, Stats};
use super::server::{Server, Stderr, Usage};

/// Calls that the idle value is taken from at the very beginning.
const AT_REST: usize = 2_000;
/// How long a fresh server rests before its attack.
const REST: Duration = Duration::from_millis(700);
/// What comes first is left out: connections are made, code is read in.
const WARM: Duration = Duration::from_millis(250);
/// How long an attack may take to bring its load.
const RAMP: Duration = Duration::from_secs(8);
/// How long the server must have been quiet to count as recovered.
const QUIET: Duration = Duration::from_millis(400);

pub struct Plan<'a> {
    pub binary: &'a Path,
    pub hold: Duration,
}

/// What is put into the table.
#[derive(Debug, Default)]
pub struct Measured {
    pub told: Told,
    /// Requests a second of the attack, sent.
    pub rate: f64,
    pub idle: Stats,
    pub during: Stats,
    /// Its calls over connections that were there before.
    pub kept: Stats,
    /// Its calls over new connections.
    pub newcomers: Stats,
    pub after: Stats,
    /// Cores that the server took during the attack.
    pub cores: f64,
    pub before: u64,
    pub peak: u64,
    pub end: u64,
    /// `None`: not in time.
    pub recovery: Option<Duration>,
    pub faults: Vec<String>,
}

/// The honest client alone.
pub struct AtRest {
    kept: Stats,
    newcomers: Stats,
}

impl fmt::Display for AtRest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kept, new) = (&self.kept, &self.newcomers);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        write!(
            f,
            "{} calls over kept connections: p50 {:.2} ms, p99 {:.2} ms; ",
            kept.calls,
            ms(kept.p50),
            ms(kept.p99)
        )?;
        write!(f, "{} over new ones: p50 {:.2} ms, p99 {:.2} ms", new.calls, ms(new.p50), ms(new.p99))
    }
}

/// Measures the honest client alone.
pub fn at_rest(binary: &Path) -> Result<AtRest, String> {
    let server = Server::start(binary, &["--log", "warn"], None, Stderr::Shown);
    let mut honest = Honest::start(server.address);
    std::thread::sleep(WARM);
    let from = Instant::now();
    while honest.samples().iter().filter(|sample| sample.due >= from).count() < AT_REST {
        std::thread::sleep(Duration::from_millis(50));
        if from.elapsed() > Duration::from_secs(30) {
            return Err(format!("the honest client gets no further: {}", honest.wrong()));
        }
    }
    honest.finish();
    let of = |newcomer| {
        let samples = honest.samples().into_iter();
        Stats::of(samples.filter(move |sample| sample.due >= from && sample.newcomer == newcomer))
    };
    let (kept, newcomers) = (of(false), of(true));
    if kept.lost + newcomers.lost + kept.shed + newcomers.shed > 0 {
        return Err(format!("answers are missing: {}", honest.wrong()));
    }
    Ok(AtRest { kept, newcomers })
}

/// Carries out one attack.
pub fn attack(plan: &Plan<'_>, attack: &Attack) -> Measured {
    let log = attack.log.file();
    let mut flags: Vec<&str> = attack.flags.to_vec();
    if let Some(path) = log.as_ref().and_then(|log| log.path().to_str()) {
        flags.extend(["--access-log", path]);
    }
    if !flags.contains(&"--log") {
        flags.extend(["--log", "error"]);
    }
    let mut server = Server::start(plan.binary, &flags, attack.files, attack.log.stderr());
    let mut honest = Honest::start(server.address);
    std::thread::sleep(WARM);
    let rested = Instant::now();
    std::thread::sleep(REST);
    let before = server.usage();
    honest.newcomers(attack.newcomers);
    let begun = Instant::now();
    let attacker = Attacker::start(attack.name, server.address);
    let ready = attacker.ready(RAMP);
    let (held_from, first, told_first) = (Instant::now(), server.usage(), attacker.told());
    std::thread::sleep(plan.hold);
    let (told, last) = (attacker.told(), server.usage());
    let held_for = held_from.elapsed().as_secs_f64();
    drop(attacker);
    let ended = Instant::now();
    honest.newcomers(true);
    let idle = honest.between(rested, begun);
    let recovery = recover(&server, &honest, ended, &before, &idle);
    let end = server.usage();
    honest.finish();
    let samples = honest.samples();
    let during = |newcomer| {
        let then =
            move |sample: &Sample| sample.newcomer == newcomer && begun <= sample.due && sample.due < ended;
        samples.clone().into_iter().filter(then)
    };
    let mut measured = Measured {
        rate: (told.sent - told_first.sent.min(told.sent)) as f64 / held_for,
        cores: (last.cpu - first.cpu).as_secs_f64() / held_for,
        during: honest.between(begun, ended),
        kept: Stats::of(during(false)),
        newcomers: Stats::of(during(true)),
        after: honest.between(recovery.map_or(ended, |recovery| ended + recovery), Instant::now()),
        before: before.resident,
        peak: end.peak,
        end: end.resident,
        told,
        idle,
        recovery,
        faults: Vec::new(),
    };
    if !server.lives() {
        measured.faults.push("the server has ended".to_owned());
    }
    if !ready {
        measured.faults.push(format!("the load was not there in {} s", RAMP.as_secs()));
    }
    judge(&mut measured, attack, &last, &honest);
    measured
}

/// Waits until connections are closed and calls are as fast as before, and says when that was. Nothing when it was not in time.
fn recover(
    server: &Server,
    honest: &Honest,
    ended: Instant,
    before: &Usage,
    idle: &Stats,
) -> Option<Duration> {
    let most = bounds::idle_again(idle.p99);
    let mut closed = None;
    loop {
        std::thread::sleep(Duration::from_millis(50));
        if closed.is_none() && server.usage().files <= before.files + bounds::SPARE_FILES {
            closed = Some(ended.elapsed());
        }
        let slow = |sample: &Sample| sample.took > most || sample.outcome != Outcome::Answered;
        let samples = honest.samples();
        let late = samples.iter().filter(|sample| sample.done() > ended && slow(sample));
        let last = late.map(|sample| sample.done().duration_since(ended)).max().unwrap_or_default();
        let since = ended.elapsed();
        if let Some(closed) = closed
            && samples.iter().any(|sample| sample.due > ended + last)
            && since >= last.max(closed) + QUIET
        {
            return Some(last.max(closed)).filter(|&recovery| recovery <= bounds::RECOVERY);
        }
        if since > bounds::RECOVERY + 2 * QUIET {
            return None;
        }
    }
}

/// Holds what was measured to the bounds.
fn judge(measured: &mut Measured, attack: &Attack, last: &Usage, honest: &Honest) {
    let mut faults = std::mem::take(&mut measured.faults);
    let (idle, during, after) = (&measured.idle, &measured.during, &measured.after);
    let most = bounds::during(idle.p99);
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    if during.lost + after.lost + idle.lost > 0 {
        let (lost, calls) = (during.lost + after.lost + idle.lost, during.calls + after.calls + idle.calls);
        faults.push(format!("{lost} of {calls} honest calls had no right answer: {}", honest.wrong()));
    }
    if !attack.sheds && during.shed + after.shed > 0 {
        faults.push(format!("{} honest calls were shed", during.shed + after.shed));
    }
    if during.p99 > most {
        let (p99, kept, new) = (during.p99, measured.kept.p99, measured.newcomers.p99);
        let parts = format!("{kept:.1?} over kept connections, {new:.1?} over new ones");
        faults.push(format!("honest p99 was {p99:.1?} ({parts}), {most:?} are allowed"));
    }
    if measured.cores > attack.cpu.cores() {
        faults.push(format!(
            "the server took {:.2} cores, {} are allowed",
            measured.cores,
            attack.cpu.cores()
        ));
    }
    let growth = measured.peak.saturating_sub(measured.before);
    if growth > bounds::MOST_GROWTH {
        faults.push(format!("memory grew by {:.1} MiB, 64 are allowed", mib(growth)));
    }
    if measured.end > last.resident.max(measured.before) + bounds::STEADY {
        faults.push(format!(
            "memory grew from {:.1} to {:.1} MiB after the attack",
            mib(last.resident),
            mib(measured.end)
        ));
    }
    if measured.recovery.is_none() {
        faults.push(format!("not as before within {:?}", bounds::RECOVERY));
    }
    let told = &measured.told;
    if let Some(fault) = &told.fault {
        faults.push(format!("the attacker saw: {fault}"));
    }
    let least = attack.least;
    if told.held < least.held || measured.rate < least.rate || told.refused < least.refused {
        faults.push(format!(
            "the attack was none: {told:?}, {:.0} a second; {least:?} is the least",
            measured.rate
        ));
    }
    measured.faults = faults;
}
