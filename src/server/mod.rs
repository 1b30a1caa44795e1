//! Sockets and threads: listeners, workers, and the end of it all.

pub mod config;
pub mod builder;
pub mod handle;
mod announce;
mod pulse;
mod watchdog;
mod workers;
mod listen;
mod peers;
mod shutdown;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use socket2::Socket;
use tokio::runtime::{Handle as Runtime, RuntimeFlavor};

pub use self::builder::Builder;
pub use self::config::{Config, Workers};
pub use self::handle::Handle;
use self::listen::Gate;
use self::watchdog::{Roster, Watchdog};
use crate::base::error::Error;
use crate::conn::Service;
use crate::conn::stop::Stop;
use crate::road::Road;

/// A server that has its addresses and does not serve yet.
pub struct Server {
    service: Arc<Service>,
    gate: Gate,
    sockets: Vec<Socket>,
    addresses: Vec<SocketAddr>,
    workers: Workers,
}

impl Server {
    /// Collects tools and settings.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The endpoint's address at each listener, such as `http://127.0.0.1:8080/mcp`.
    pub fn urls(&self) -> impl Iterator<Item = String> {
        let path = self.service.road().path();
        self.addresses.iter().map(move |address| format!("http://{address}{path}"))
    }

    /// What to keep of the server while it runs.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle::new(Arc::clone(&self.service))
    }

    /// Binds every address of `config`. Where an address has port 0 the system chooses one.
    ///
    /// # Errors
    /// [`Error::Bind`] when an address cannot be bound, [`Error::Config`] when there is none.
    pub fn bind(config: Config, road: Road) -> Result<Self, Error> {
        if config.listen.is_empty() {
            return Err(Error::Config("listen names no address".to_owned()));
        }
        let shared = matches!(config.workers, Workers::PerCore(count) if count > 1);
        let mut sockets = Vec::with_capacity(config.listen.len());
        let mut addresses = Vec::with_capacity(config.listen.len());
        for &address in &config.listen {
            let (socket, bound) =
                listen::bind_first(address, shared).map_err(|source| Error::Bind { address, source })?;
            sockets.push(socket);
            addresses.push(bound);
        }
        let gate = Gate::new(road.limits(), road.limits_loopback());
        let service = Arc::new(Service::new(road, config.access_log, Stop::new()));
        Ok(Self { service, gate, sockets, addresses, workers: config.workers })
    }

    /// The addresses bound, in the order they were configured.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The road, for tests that leave the sockets out.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    #[must_use]
    pub fn road(&self) -> &Road {
        self.service.road()
    }

    /// The server's phase. Advancing it ends the server as a shutdown signal does.
    #[must_use]
    pub fn stop(&self) -> Stop {
        self.service.stop().clone()
    }

    /// Serves on the caller's runtime until `shutdown` is ready and every connection has ended, or the shutdown grace is over.
    ///
    /// # Errors
    /// [`Error::Io`] when a listener cannot be used.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let roster = Roster::default();
        if Runtime::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
            roster.add(Some(0));
        }
        self.run_watched(shutdown, roster).await
    }

    async fn run_watched(self, shutdown: impl Future<Output = ()>, roster: Roster) -> Result<(), Error> {
        let _watchdog = Watchdog::start(Arc::clone(&self.service), roster);
        let listeners = listen::register(self.sockets)?;
        // A future that is dropped half-way must not leave its tasks behind.
        let _guard = shutdown::StopOnDrop(self.service.stop().clone());
        for listener in listeners {
            tokio::spawn(listen::accept(listener, Arc::clone(&self.service), self.gate.clone(), 0));
        }
        tokio::spawn(shutdown::sweep(Arc::clone(&self.service)));
        tokio::spawn(announce::announce(Arc::clone(&self.service)));
        tokio::spawn(pulse::pulse(Arc::clone(&self.service), 0));
        shutdown::conduct(&self.service, &self.gate, shutdown).await;
        Ok(())
    }

    /// Serves on threads of its own, as [`Builder::workers`] has it, until `shutdown` is ready and every connection has ended, or the
    /// shutdown grace is over. Blocks the calling thread, on which `shutdown` is polled.
    ///
    /// # Errors
    /// [`Error::Io`] when a thread, a runtime or a listener cannot be made.
    pub fn run_workers(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        match self.workers {
            Workers::PerCore(count) => workers::per_core(self, count, shutdown),
            Workers::Stealing(count) => workers::stealing(self, count, shutdown),
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}
