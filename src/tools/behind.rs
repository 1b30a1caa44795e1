//! What stands behind the door: sessions and tools. Only a request that has passed every wire check is lent it.

use std::sync::Arc;
use std::time::Duration;

use super::identity::Identity;
use super::registry::Registry;
use crate::base::limits::Limits;
use crate::session::store::Sessions;

/// Sessions, tools, and who the server says it is.
#[derive(Debug)]
pub struct Behind {
    sessions: Sessions,
    registry: Registry,
    identity: Arc<Identity>,
    tool_timeout: Duration,
    stream_buffer: u64,
}

impl Behind {
    /// Puts the parts together. The registry takes its page size from `limits`.
    #[must_use]
    pub fn new(registry: Registry, identity: Identity, limits: &Limits) -> Self {
        registry.apply_limits(limits);
        // What the server starts with is no change to anybody.
        let _ = registry.due().take();
        Self {
            sessions: Sessions::new(limits.sessions, limits.session_idle),
            registry,
            identity: Arc::new(identity),
            tool_timeout: Duration::from_millis(limits.tool_timeout),
            stream_buffer: limits.stream_buffer,
        }
    }

    /// The legacy sessions.
    #[must_use]
    pub const fn sessions(&self) -> &Sessions {
        &self.sessions
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

    /// The most notifications kept for a slow reader.
    #[must_use]
    pub const fn stream_buffer(&self) -> u64 {
        self.stream_buffer
    }
}
