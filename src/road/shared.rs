//! What all requests share. Behind the door stand sessions and tools: the one way to them is `Shared::behind`, which takes the proof
//! that every wire check has passed.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::peer_rates::PeerRates;
use super::post::Scratch;
use super::settings::Settings;
use super::shedding::Loads;
use super::singleton::Singletons;
use crate::base::clock::Clock;
use crate::base::limits::Limits;
use crate::events::changes::Changes;
use crate::events::wakes::Wakes;
use crate::reply::rejection::{Counters, Refusal, Scene, render};
use crate::reply::{Allow, Exchange, Reply};
use crate::tables::headers::Known;
use crate::tools::{Behind, Registry};
use crate::view::head::{Cardinality, RequestHead};
use crate::view::id::Id;

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// Its address, where the transport has one.
    pub address: Option<SocketAddr>,
    /// Whether it came in by a loopback address of ours: then loopback names are allowed as host and origin without being configured,
    /// and no others.
    pub on_loopback: bool,
    /// The number of the worker that serves it.
    pub worker: u16,
}

impl Default for Peer {
    /// A peer without an address, as strictly judged as one on loopback.
    fn default() -> Self {
        Self { address: None, on_loopback: true, worker: 0 }
    }
}

/// The road, shared by all connections. Cloning is cheap.
#[derive(Clone)]
pub struct Road(pub(super) Arc<Shared>);

/// The state behind a [`Road`].
pub(super) struct Shared {
    pub(super) settings: Settings,
    pub(super) clock: Clock,
    pub(super) counters: Counters,
    /// What peers have spent of their allowances, where there are any.
    pub(super) rates: Option<PeerRates>,
    pub(super) loads: Loads,
    draining: AtomicBool,
    behind: Behind,
}

impl fmt::Debug for Road {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Road").field("path", &self.0.settings.path).finish_non_exhaustive()
    }
}

impl Road {
    /// A road over these settings, to these sessions and tools.
    #[must_use]
    pub fn new(settings: Settings, clock: Clock, behind: Behind) -> Self {
        Self::of_workers(settings, clock, behind, 1)
    }

    /// A road for so many workers, each of which may have too much to do by itself.
    #[must_use]
    pub fn of_workers(settings: Settings, clock: Clock, behind: Behind, workers: usize) -> Self {
        let loads = Loads::new(workers, &settings.limits);
        let rates = PeerRates::new(&settings);
        Self(Arc::new(Shared {
            loads,
            rates,
            settings,
            clock,
            counters: Counters::default(),
            draining: AtomicBool::new(false),
            behind,
        }))
    }

    /// The bounds.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.settings.limits
    }

    /// Whether peers on the loopback are held to the limits for each peer.
    #[must_use]
    pub fn limits_loopback(&self) -> bool {
        self.0.settings.limit_loopback
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// The endpoint's path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.settings.path
    }

    /// How often each row of the rejection table was met.
    #[must_use]
    pub fn rejections(&self) -> &Counters {
        &self.0.counters
    }

    /// How many legacy sessions are open.
    #[must_use]
    pub fn sessions(&self) -> u64 {
        self.0.behind.sessions().len()
    }

    /// How many `subscriptions/listen` streams are open.
    #[must_use]
    pub fn listeners(&self) -> u64 {
        self.0.behind.listeners().len()
    }

    /// What has changed and is not announced yet.
    #[must_use]
    pub fn changes(&self) -> &Changes {
        self.0.behind.changes()
    }

    /// Tells clients what has changed since the last time, once they are woken.
    pub fn announce(&self) -> Wakes {
        self.0.behind.announce()
    }

    /// How many tasks are kept.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.0.behind.tasks().len()
    }

    /// The tools, for the program that owns the server: the road itself reaches them through the door alone.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        self.0.behind.registry()
    }

    /// Ends idle sessions, and says how many. Forgets tasks whose time is over.
    pub fn sweep(&self) -> u64 {
        let now_ms = self.0.clock.now_ms();
        self.0.behind.tasks().sweep(now_ms);
        self.0.behind.sessions().sweep(now_ms)
    }

    /// How many event streams of legacy sessions are open, or kept for their clients to come back to.
    #[must_use]
    pub fn streams(&self) -> u64 {
        self.0.behind.sessions().commons().streams()
    }

    /// How many legacy calls run on without their clients.
    #[must_use]
    pub fn detached_calls(&self) -> u64 {
        self.0.behind.sessions().commons().detached()
    }

    /// How many bytes of events are kept for clients that come back.
    #[must_use]
    pub fn replay_bytes(&self) -> u64 {
        self.0.behind.sessions().commons().replay_bytes()
    }

    /// From now on every request is refused as draining, listeners end once they have been told what changed until now, and so do the
    /// streams of sessions that listen.
    pub fn start_draining(&self) {
        self.0.draining.store(true, Ordering::Release);
        drop(self.0.behind.announce());
        self.0.behind.listeners().end_all();
        self.0.behind.sessions().drain();
    }

    /// Working storage for the requests of one connection or stream.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        Scratch::new(&self.0.settings.limits)
    }
}

impl Shared {
    /// The one door to sessions and tools.
    pub(super) const fn behind(&self, _passed: &Singletons<'_>) -> &Behind {
        &self.behind
    }

    pub(super) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Answers a refusal. `id` is the message's, once it has been classified as a request.
    pub(super) fn refuse(
        &self,
        refusal: Refusal<'_>,
        head: &RequestHead<'_>,
        id: Option<Id<'_>>,
        exchange: &mut Exchange,
    ) -> Reply {
        render(refusal, self.scene(head, id), &self.counters, exchange)
    }

    pub(super) fn scene<'a>(&self, head: &RequestHead<'a>, id: Option<Id<'a>>) -> Scene<'a> {
        let protocol = match head.header(Known::ProtocolVersion) {
            Cardinality::One(value) => Some(value),
            Cardinality::Missing | Cardinality::Many => None,
        };
        Scene { verb: head.verb(), id, allow: self.allow(protocol), protocol }
    }

    /// `POST` alone where the legacy lane is off or the version is modern.
    fn allow(&self, protocol: Option<&[u8]>) -> Allow {
        let modern = protocol
            .and_then(crate::tables::versions::Revision::from_wire)
            .is_some_and(|revision| revision.era() == crate::tables::versions::Era::Modern);
        if self.settings.legacy && !modern { Allow::All } else { Allow::Post }
    }

    /// Notes on the exchange what the access log wants of the head.
    pub(super) fn note_head(&self, head: &RequestHead<'_>, exchange: &mut Exchange) {
        if exchange.log.enabled
            && let Cardinality::One(value) = head.header(Known::ProtocolVersion)
        {
            exchange.log.set_protocol(&String::from_utf8_lossy(value));
        }
    }
}
