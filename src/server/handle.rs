//! What an embedding program keeps of a server that runs.

use crate::conn::stop::{Phase, Stop};
use crate::road::Road;
use crate::tables::rejection::Rejection;
use crate::tools::Registry;

/// A server's counters and its tools, readable while it runs and after. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Handle {
    road: Road,
    stop: Stop,
}

impl Handle {
    pub(super) const fn new(road: Road, stop: Stop) -> Self {
        Self { road, stop }
    }

    /// How often a row of the rejection table was met.
    #[must_use]
    pub fn rejections(&self, rejection: Rejection) -> u64 {
        self.road.rejections().get(rejection)
    }

    /// How many legacy sessions are open.
    #[must_use]
    pub fn sessions(&self) -> u64 {
        self.road.sessions()
    }

    /// The tools: they may be added, replaced and removed while the server runs.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        self.road.registry()
    }

    /// Ends idle legacy sessions now rather than at the next tick, and says how many.
    pub fn sweep(&self) -> u64 {
        self.road.sweep()
    }

    /// Drains the server, as its shutdown signal does.
    pub fn shut_down(&self) {
        self.stop.advance(Phase::Draining);
    }
}
