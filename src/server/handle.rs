//! What an embedding program keeps of a server that runs.

use std::sync::Arc;

use crate::conn::Service;
use crate::conn::stop::Phase;
use crate::road::Road;
use crate::tables::rejection::Rejection;
use crate::tools::Registry;

/// A server's counters and its tools, readable while it runs and after. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Handle(Arc<Service>);

impl Handle {
    pub(super) const fn new(service: Arc<Service>) -> Self {
        Self(service)
    }

    fn road(&self) -> &Road {
        self.0.road()
    }

    /// How many HTTP/2 connections were ended over a fault of the peer that no request came of, floods among them.
    #[must_use]
    pub fn http2_faults(&self) -> u64 {
        self.0.http2_faults()
    }

    /// How many connections were closed unread because their peers had as many open as `peer_connections` allows.
    #[must_use]
    pub fn connections_turned_away(&self) -> u64 {
        self.0.turned_away().count()
    }

    /// How often a worker was held up for `blocked_worker` and longer, by a handler that blocks it or by anything else.
    #[must_use]
    pub fn blocked_workers(&self) -> u64 {
        self.0.blocked()
    }

    /// How often a row of the rejection table was met.
    #[must_use]
    pub fn rejections(&self, rejection: Rejection) -> u64 {
        self.road().rejections().get(rejection)
    }

    /// How many legacy sessions are open.
    #[must_use]
    pub fn sessions(&self) -> u64 {
        self.road().sessions()
    }

    /// How many `subscriptions/listen` streams are open.
    #[must_use]
    pub fn listeners(&self) -> u64 {
        self.road().listeners()
    }

    /// How many tasks are kept, running or over.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.road().tasks()
    }

    /// How many event streams of legacy sessions are open, or kept for a while after their end so that their clients can come back.
    #[must_use]
    pub fn streams(&self) -> u64 {
        self.road().streams()
    }

    /// How many calls are in flight, those included that run on without their clients; event streams of sessions and listeners are none.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.road().calls()
    }

    /// How many legacy calls run on without their clients.
    #[must_use]
    pub fn detached_calls(&self) -> u64 {
        self.road().detached_calls()
    }

    /// How many bytes of events are kept for legacy clients that come back to their streams.
    #[must_use]
    pub fn replay_bytes(&self) -> u64 {
        self.road().replay_bytes()
    }

    /// The tools: they may be added, replaced and removed while the server runs.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        self.road().registry()
    }

    /// Ends idle legacy sessions now rather than at the next tick, and says how many.
    pub fn sweep(&self) -> u64 {
        self.road().sweep()
    }

    /// Drains the server, as its shutdown signal does.
    pub fn shut_down(&self) {
        self.0.stop().advance(Phase::Draining);
    }
}
