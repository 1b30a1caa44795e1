//! What `soak` soaks: twolane with tools that answer, wait, report, ask, fail, panic and become tasks, and with a registry that changes all
//! the time.
//!
//! `soak-server --listen ADDRESS [--workers N] [--churn MS] [--LIMIT VALUE]…`: every limit of the program's is a flag here too.
//! It says where it listens, and on SIGUSR1 what is open, in the program's words.

mod asking;
mod churn;
mod running;
mod tools;

use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use twolane::{Error, Handle, Limits, Server, Workers};

use running::Running;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Options {
    listen: SocketAddr,
    workers: usize,
    churn: Duration,
    limits: Limits,
}

fn options() -> Result<Options, Error> {
    let mut options = Options {
        listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
        workers: 2,
        churn: Duration::from_millis(200),
        limits: Limits::default(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        // As the program is started.
        if flag == "serve" {
            continue;
        }
        let wrong = |what: &str| Error::Config(format!("{flag}: {what}"));
        let name = flag.strip_prefix("--").ok_or_else(|| wrong("is no flag"))?;
        let value = arguments.next().ok_or_else(|| wrong("needs a value"))?;
        match name {
            "listen" => options.listen = value.parse().map_err(|_| wrong("is no address"))?,
            // There is no log here.
            "log" => {}
            _ => {
                let number: u64 = value.parse().map_err(|_| wrong("needs a number"))?;
                match name {
                    "workers" => {
                        options.workers = usize::try_from(number).map_err(|_| wrong("is too large"))?
                    }
                    "churn" => options.churn = Duration::from_millis(number),
                    _ => options.limits.set(&name.replace('-', "_"), number).map_err(Error::Config)?,
                }
            }
        }
    }
    Ok(options)
}

fn main() -> Result<(), Error> {
    let options = options()?;
    let running = Running::default();
    let server = Server::builder()
        .name("soak-server", "1.0.0")
        .listen([options.listen])
        .workers(Workers::PerCore(options.workers))
        .limits(options.limits);
    let server = asking::register(tools::register(server, &running));
    let server = churn::register(server).build()?;
    let handle = server.handle();
    let mut out = std::io::stdout().lock();
    for url in server.urls() {
        let _ = writeln!(out, "twolane listening on {url}");
    }
    let _ = out.flush();
    drop(out);
    churn::start(handle.registry().clone(), options.churn)?;
    server.run_workers(signals(handle, running))
}

fn watch(kind: SignalKind) -> Option<Signal> {
    signal(kind).ok()
}

/// Ready when the process is asked to stop; says what is open whenever it is asked.
async fn signals(handle: Handle, running: Running) {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::user_defined1()];
    let [Some(mut interrupt), Some(mut terminate), Some(mut asked)] = kinds.map(watch) else {
        eprintln!("soak-server: signals cannot be watched");
        return;
    };
    loop {
        tokio::select! {
            _ = interrupt.recv() => return,
            _ = terminate.recv() => return,
            _ = asked.recv() => eprintln!(
                "twolane: open are {} sessions, {} streams, {} detached calls, {} listeners, {} tasks, {} handlers, {} kept bytes",
                handle.sessions(),
                handle.streams(),
                handle.detached_calls(),
                handle.listeners(),
                handle.tasks(),
                running.count(),
                handle.replay_bytes(),
            ),
        }
    }
}
