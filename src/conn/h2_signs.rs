//! What is seen under `h2`, for the owner of the connection, and what the owner wants done there.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// What the owner of the connection is told of the socket that `h2` holds.
#[derive(Debug)]
pub(super) struct Signs {
    pub(super) flooded: AtomicBool,
    pub(super) worn: AtomicBool,
    pub(super) shut: AtomicBool,
    pub(super) left: AtomicBool,
    pub(super) made: Instant,
    /// Milliseconds after `made`; [`MOVING`] while the peer takes what is written.
    pub(super) stuck: AtomicU64,
    /// Whether what is written may be held back.
    pub(super) hold: AtomicBool,
    /// Whether anything is.
    pub(super) holds: AtomicBool,
    /// Heads of requests seen, those among them that do not become streams.
    pub(super) heads: AtomicU32,
}

/// In place of a time.
pub(super) const MOVING: u64 = u64::MAX;

impl Signs {
    pub(super) fn new() -> Self {
        Self {
            flooded: AtomicBool::new(false),
            worn: AtomicBool::new(false),
            shut: AtomicBool::new(false),
            left: AtomicBool::new(false),
            made: Instant::now(),
            stuck: AtomicU64::new(MOVING),
            hold: AtomicBool::new(false),
            holds: AtomicBool::new(false),
            heads: AtomicU32::new(0),
        }
    }

    /// Whether the peer floods; nothing more is read then.
    pub(super) fn flooded(&self) -> bool {
        self.flooded.load(Ordering::Relaxed)
    }

    /// Whether the peer has made so many faults that it should begin anew.
    pub(super) fn worn(&self) -> bool {
        self.worn.load(Ordering::Relaxed)
    }

    /// Whether the server's side of the connection has ended.
    pub(super) fn shut(&self) -> bool {
        self.shut.load(Ordering::Relaxed)
    }

    /// Waits no longer for the peer's side to end too.
    pub(super) fn leave(&self) {
        self.left.store(true, Ordering::Relaxed);
    }

    /// Says whether what is written may be held back. Who has said so must say the contrary before waiting, and have `h2` flush.
    pub(super) fn hold(&self, hold: bool) {
        self.hold.store(hold, Ordering::Relaxed);
    }

    /// Whether anything is held back.
    pub(super) fn holds(&self) -> bool {
        self.holds.load(Ordering::Relaxed)
    }

    /// How many heads have come, counted round. Some are trailers, and some are refused by `h2`.
    pub(super) fn heads(&self) -> u32 {
        self.heads.load(Ordering::Relaxed)
    }

    /// Since when the peer has taken nothing of what is to be written to it.
    pub(super) fn stuck_since(&self) -> Option<Instant> {
        match self.stuck.load(Ordering::Relaxed) {
            MOVING => None,
            millis => Some(self.made + Duration::from_millis(millis)),
        }
    }
}
