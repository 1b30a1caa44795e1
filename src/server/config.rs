//! What an operator decides about sockets and threads.

use std::net::{Ipv4Addr, SocketAddr};

use crate::conn::access::AccessLog;

/// How connections are spread over threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workers {
    /// So many threads, each with a runtime and listeners of its own; the system spreads new connections over them and a connection stays
    /// where it is.
    PerCore(usize),
    /// One runtime with so many threads that take work from each other.
    Stealing(usize),
}

impl Workers {
    /// One thread for each core this process may use.
    #[must_use]
    pub fn each_core() -> Self {
        Self::PerCore(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// How many runtimes that takes.
    pub(super) fn runtimes(self) -> usize {
        match self {
            Self::PerCore(count) => count.max(1),
            Self::Stealing(_) => 1,
        }
    }
}

/// Settings of the sockets. The road has its own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The addresses to listen on. Default: `127.0.0.1:8080`.
    pub listen: Vec<SocketAddr>,
    /// Threads. Default: [`Workers::each_core`].
    pub workers: Workers,
    /// Where access log lines go. Default: nowhere.
    pub access_log: Option<AccessLog>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))],
            workers: Workers::each_core(),
            access_log: None,
        }
    }
}

impl Config {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the addresses to listen on.
    #[must_use]
    pub fn listen(mut self, addresses: impl IntoIterator<Item = SocketAddr>) -> Self {
        self.listen = addresses.into_iter().collect();
        self
    }

    /// Sets how connections are spread over threads.
    #[must_use]
    pub const fn workers(mut self, workers: Workers) -> Self {
        self.workers = workers;
        self
    }

    /// Keeps an access log.
    #[must_use]
    pub fn access_log(mut self, log: AccessLog) -> Self {
        self.access_log = Some(log);
        self
    }
}
