//! The two ways to own threads: one runtime for each worker, with listeners of its own, or one runtime whose threads share everything.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use socket2::Socket;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use super::listen::Gate;
use super::watchdog::{Roster, Watchdog};
use super::{Server, announce, listen, pulse, shutdown};
use crate::base::error::Error;
use crate::conn::Service;
use crate::conn::stop::Phase;

/// How long threads get to end after the hard stop.
const PATIENCE: Duration = Duration::from_millis(500);

fn failed(context: &str) -> impl FnOnce(io::Error) -> Error {
    let context = context.to_owned();
    move |source| Error::Io { context, source }
}

/// One runtime with `count` threads.
pub(super) fn stealing(
    server: Server,
    count: usize,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let count = count.max(1);
    let roster = Roster::default();
    // The first threads are the workers; those that come later are for handlers that block.
    let (named, started) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let enlist = {
        let roster = roster.clone();
        move || {
            if started.fetch_add(1, Ordering::Relaxed) < count {
                roster.add(None);
            }
        }
    };
    let runtime = Builder::new_multi_thread()
        .worker_threads(count)
        .thread_name_fn(move || format!("worker-{}", named.fetch_add(1, Ordering::Relaxed)))
        .on_thread_start(enlist)
        .enable_all()
        .build()
        .map_err(failed("starting the runtime"))?;
    let done = runtime.block_on(server.run_watched(shutdown, roster));
    runtime.shutdown_background();
    done
}

/// `count` threads with a runtime and listeners each. The calling thread conducts.
pub(super) fn per_core(
    server: Server,
    count: usize,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let Server { service, gate, sockets, addresses, workers: _ } = server;
    // Bound before the first worker starts: the system spreads connections over the listeners there are.
    let mut sets = vec![sockets];
    for _ in 1..count.max(1) {
        sets.push(listen_again(&addresses)?);
    }
    let conductor = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failed("starting the conducting runtime"))?;
    let mut threads = Vec::with_capacity(sets.len());
    let roster = Roster::default();
    let _watchdog = Watchdog::start(Arc::clone(&service), roster.clone());
    for (number, sockets) in sets.into_iter().enumerate() {
        let (of, gate, roster) = (Arc::clone(&service), gate.clone(), roster.clone());
        let worker = Worker { service: of, gate, sockets, number, roster };
        match worker.start() {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                service.stop().advance(Phase::Stopped);
                return Err(error);
            }
        }
    }
    conductor.block_on(shutdown::conduct(&service, &gate, shutdown));
    join(threads);
    Ok(())
}

fn listen_again(addresses: &[std::net::SocketAddr]) -> Result<Vec<Socket>, Error> {
    addresses
        .iter()
        .map(|&address| {
            listen::bind(address, true)
                .map(|(socket, _)| socket)
                .map_err(|source| Error::Bind { address, source })
        })
        .collect()
}

struct Worker {
    service: Arc<Service>,
    gate: Gate,
    sockets: Vec<Socket>,
    number: usize,
    roster: Roster,
}

impl Worker {
    fn start(self) -> Result<JoinHandle<()>, Error> {
        // Built here, so that a failure is the caller's to see.
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed("starting a worker's runtime"))?;
        let listeners = {
            let _inside = runtime.enter();
            listen::register(self.sockets)?
        };
        let (service, gate, number, roster) = (self.service, self.gate, self.number, self.roster);
        std::thread::Builder::new()
            .name(format!("worker-{number}"))
            .spawn(move || {
                roster.add(Some(number));
                work(runtime, listeners, &service, &gate, number);
            })
            .map_err(failed("starting a worker"))
    }
}

/// Serves until the hard stop. What is left then is dropped with the runtime.
fn work(runtime: Runtime, listeners: Vec<TcpListener>, service: &Arc<Service>, gate: &Gate, number: usize) {
    // Workers beyond the numbers that there are count together with the first one.
    let worker = u16::try_from(number).unwrap_or(0);
    runtime.block_on(async {
        for listener in listeners {
            tokio::spawn(listen::accept(listener, Arc::clone(service), gate.clone(), worker));
        }
        tokio::spawn(pulse::pulse(Arc::clone(service), number));
        // The first one ends idle sessions and announces changes, for all.
        if number == 0 {
            tokio::spawn(shutdown::sweep(Arc::clone(service)));
            tokio::spawn(announce::announce(Arc::clone(service)));
        }
        service.stop().watch().reached(Phase::Stopped).await;
    });
    runtime.shutdown_background();
}

/// Waits for the threads, but not for one whose handler never yields: it ends with the process.
fn join(threads: Vec<JoinHandle<()>>) {
    let patience = Instant::now() + PATIENCE;
    for thread in threads {
        while !thread.is_finished() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        if thread.is_finished() && thread.join().is_err() {
            tracing::error!("a worker has panicked");
        }
    }
}
