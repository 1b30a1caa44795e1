//! Mixed traffic of both eras against a server of its own, which it starts: every request knows its answer, every id is answered once, and
//! in the end nothing is left of it. See `benches/load/soak`.

mod args;
mod asks;
mod http1;
mod http2;
mod ledger;
mod link;
mod memory;
mod person;
mod post;
mod random;
mod refusals;
mod report;
mod scenes;
mod server;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use args::Args;
use ledger::{Ledger, Outcome};
use memory::Sample;
use person::{Person, Shared};
use post::Post;
use report::Report;
use scenes::Scene;
use server::{Look, Process};

/// How often the process is looked at.
const SAMPLE: Duration = Duration::from_secs(2);
/// Most of that in a short run: a hundred samples are wanted.
const SAMPLES: f64 = 100.0;
/// How long whatever is open when the clients have gone may take to end.
const REST: Duration = Duration::from_secs(60);
/// How long the last plays may take.
const LAST: Duration = Duration::from_secs(120);
/// How many looks in a row, a tenth of a second apart, must find the same before a process counts as started.
const STEADY: u32 = 20;
/// How long threads that have nothing to do are kept.
const THREADS: Duration = Duration::from_secs(15);

fn main() -> ExitCode {
    let args = match Args::read(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(usage) => {
            eprintln!("{usage}");
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let soaked = match runtime {
        Ok(runtime) => runtime.block_on(soak(&args)),
        Err(error) => Err(format!("no runtime: {error}")),
    };
    let report = match soaked {
        Ok(report) => report,
        Err(fault) => {
            eprintln!("soak: {fault}");
            return ExitCode::FAILURE;
        }
    };
    let text = report.markdown(&args);
    println!("{text}");
    if let Some(file) = &args.markdown
        && let Err(error) = std::fs::write(file, text)
    {
        eprintln!("soak: {}: {error}", file.display());
        return ExitCode::FAILURE;
    }
    if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn soak(args: &Args) -> Outcome<Report> {
    let mut process = Process::start(&args.server, args.workers, &args.flags).await?;
    let mut shared = Shared {
        address: process.address,
        ledger: Ledger::default(),
        rich: false,
        stopping: AtomicBool::new(false),
        rate: args.rate,
        started: Instant::now(),
    };
    shared.rich = is_rich(&shared).await?;
    if !shared.rich {
        eprintln!("\n!!! the server has no tool that asks: nothing is asked, watched or reloaded\n");
    }
    let before = settled(&process).await?;
    shared.started = Instant::now();
    let shared = Arc::new(shared);
    let mut people = JoinSet::new();
    for number in 0..args.people {
        people.spawn(live(Person::new(Arc::clone(&shared), args.seed, number)));
    }
    let samples = watch(&mut process, &shared, args.seconds).await;
    shared.stopping.store(true, Ordering::Relaxed);
    let seconds = shared.started.elapsed().as_secs_f64();
    let ended = async { while people.join_next().await.is_some() {} };
    if tokio::time::timeout(LAST, ended).await.is_err() {
        shared.ledger.fault("a play that does not end");
        people.shutdown().await;
    }
    let after = rest(&mut process, &shared, before).await;
    let memory = memory::judge(&samples, args.seconds / 60.0);
    if let Some(fault) = memory.as_ref().and_then(|memory| memory.fault.as_deref()) {
        shared.ledger.fault(fault);
    }
    if let Err(fault) = process.stop().await {
        shared.ledger.fault(&fault);
    }
    let sent = shared.ledger.total();
    let (books, rich) = (shared.ledger.copy(), shared.rich);
    Ok(Report { books, sent, memory, idle: (before, after), seconds, rich })
}

/// Whether the server has more tools than the plain program; told from its list.
async fn is_rich(shared: &Shared) -> Outcome<bool> {
    let stream = http1::connect(shared.address, std::net::Ipv4Addr::LOCALHOST, None).await?;
    let mut link = link::Link::One(http1::Http1::new(stream), None);
    let id = shared.ledger.ask();
    let whole = link.send(&Post::modern(id, "tools/list", json!({}))).await?;
    let message = whole.json()?;
    shared.ledger.answered(&message["id"])?;
    let tools = message["result"]["tools"].as_array().ok_or_else(|| format!("no tools: {}", whole.told()))?;
    Ok(tools.iter().any(|tool| tool["name"] == "ask_later"))
}

/// The process once all of its threads have begun: the first of them may answer before the last is there.
async fn settled(process: &Process) -> Outcome<Look> {
    let mut last = process.look()?;
    let mut same = 0;
    while same < STEADY {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let look = process.look()?;
        same = if (look.files, look.threads) == (last.files, last.threads) { same + 1 } else { 0 };
        last = look;
    }
    Ok(last)
}

/// Play after play, none before its time, until all stop.
async fn live(mut person: Person) {
    // Not all at once.
    person.pause(0, 500).await;
    while !person.shared.stopping() {
        let scene = Scene::choose(&mut person);
        match Box::pin(scene.play(&mut person)).await {
            Ok(()) => person.ledger().done(scene.name()),
            Err(fault) => person.ledger().fault(&format!("{}: {fault}", scene.name())),
        }
        person.pause(0, 30).await;
        while person.shared.ahead() && !person.shared.stopping() {
            person.pause(1, 40).await;
        }
    }
}

/// Looks at the process for so many seconds, or until it is gone.
async fn watch(process: &mut Process, shared: &Shared, seconds: f64) -> Vec<Sample> {
    let pause = SAMPLE.min(Duration::from_secs_f64(seconds / SAMPLES));
    let mut samples = Vec::new();
    let mut told = 0;
    while shared.started.elapsed().as_secs_f64() < seconds {
        tokio::time::sleep(pause).await;
        let minutes = shared.started.elapsed().as_secs_f64() / 60.0;
        match process.look() {
            Ok(look) => samples.push((minutes, look)),
            Err(fault) => {
                shared.ledger.fault(&fault);
                break;
            }
        }
        if minutes as u64 > told {
            told = minutes as u64;
            say(process, shared, told, &samples).await;
        }
    }
    samples
}

/// A line a minute, so that whoever waits sees something.
async fn say(process: &mut Process, shared: &Shared, minute: u64, samples: &[Sample]) {
    let open = process.open().await.unwrap_or_default();
    let open: Vec<String> = open.iter().map(|(word, count)| format!("{count} {word}")).collect();
    let resident = samples.last().map_or(0, |(_, look)| look.resident);
    let books = shared.ledger.copy();
    eprintln!(
        "minute {minute}: {} sent, {} answered, {} faults, {resident} KiB; open: {}",
        shared.ledger.total(),
        books.answered,
        books.wrong,
        open.join(", ")
    );
}

/// When the clients have gone, nothing is left of them: no session, no task, no file, no thread.
async fn rest(process: &mut Process, shared: &Shared, before: Look) -> Option<Look> {
    if let Err(fault) = process.at_rest(REST).await {
        shared.ledger.fault(&fault);
    }
    let until = Instant::now() + THREADS;
    loop {
        let look = match process.look() {
            Ok(look) => look,
            Err(fault) => {
                shared.ledger.fault(&fault);
                return None;
            }
        };
        if look.files <= before.files && look.threads <= before.threads {
            return Some(look);
        }
        if Instant::now() > until {
            let of = |look: &Look| format!("{} files and {} threads", look.files, look.threads);
            shared.ledger.fault(&format!("{} are left, {} were there before", of(&look), of(&before)));
            return Some(look);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
