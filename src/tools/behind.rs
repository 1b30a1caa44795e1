//! What stands behind the door: sessions, listeners and tools. Only a request that has passed every wire check is lent it.

use std::sync::Arc;
use std::time::Duration;

use super::ask::{Asking, SealingKey};
use super::identity::Identity;
use super::registry::Registry;
use crate::base::limits::Limits;
use crate::events::changes::Changes;
use crate::events::listeners::Listeners;
use crate::events::topic::Topics;
use crate::events::wakes::Wakes;
use crate::session::store::Sessions;
use crate::tasks::Tasks;

/// Sessions, listeners, tools, and who the server says it is.
#[derive(Debug)]
pub struct Behind {
    sessions: Sessions,
    listeners: Listeners,
    registry: Registry,
    identity: Arc<Identity>,
    tool_timeout: Duration,
    stream_buffer: u64,
    resource_uri: u64,
    tasks: Tasks,
    asking: Arc<Asking>,
}

impl Behind {
    /// Puts the parts together. The registry takes its page size from `limits`.
    #[must_use]
    pub fn new(registry: Registry, identity: Identity, limits: &Limits) -> Self {
        registry.apply_limits(limits);
        // What the server starts with is no change to anybody.
        let _ = registry.due().take();
        let listeners = Listeners::new(limits);
        let watching = listeners.clone();
        Self {
            sessions: Sessions::new(limits),
            listeners,
            registry,
            identity: Arc::new(identity),
            tool_timeout: Duration::from_millis(limits.tool_timeout),
            stream_buffer: limits.stream_buffer,
            resource_uri: limits.resource_uri,
            tasks: Tasks::new(limits, move |id| watching.task_changed(id.as_str())),
            asking: Arc::new(Asking::new(limits, &[])),
        }
    }

    /// Seals with these keys, so that other processes that have them open it: the first seals, all open.
    #[must_use]
    pub fn sealing_keys(mut self, limits: &Limits, keys: &[SealingKey]) -> Self {
        self.asking = Arc::new(Asking::new(limits, keys));
        self
    }

    /// How clients are asked.
    #[must_use]
    pub const fn asking(&self) -> &Arc<Asking> {
        &self.asking
    }

    /// The legacy sessions.
    #[must_use]
    pub const fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The open `subscriptions/listen` streams.
    #[must_use]
    pub const fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    /// The lists that the server offers, and so tells of when they change.
    #[must_use]
    pub fn offered(&self) -> Topics {
        self.registry.snapshot().offered()
    }

    /// What has changed and is not announced yet.
    #[must_use]
    pub fn changes(&self) -> &Changes {
        self.registry.due()
    }

    /// Owes everybody what has changed since the last time, and gives those that there is something for, to be woken.
    pub fn announce(&self) -> Wakes {
        let due = self.changes().take();
        let mut wakes = if due.is_empty() { Wakes::default() } else { self.listeners.tell(&due) };
        if !due.topics.is_empty() {
            wakes.join(self.sessions.mark(due.topics));
        }
        if !due.updated.is_empty() {
            wakes.join(self.sessions.resources_updated(&due.updated));
        }
        wakes
    }

    /// The tasks.
    #[must_use]
    pub const fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// The tools.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Who the server says it is.
    #[must_use]
    pub const fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// How long a tool may run unless it declares its own time.
    #[must_use]
    pub const fn tool_timeout(&self) -> Duration {
        self.tool_timeout
    }

    /// The longest URI that is held against templates.
    #[must_use]
    pub const fn resource_uri(&self) -> u64 {
        self.resource_uri
    }

    /// The most notifications kept for a slow reader.
    #[must_use]
    pub const fn stream_buffer(&self) -> u64 {
        self.stream_buffer
    }
}
