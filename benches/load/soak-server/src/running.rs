//! How many handlers are there: one that is neither driven nor dropped is a leak.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The count. Clones count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Running(Arc<AtomicU64>);

impl Running {
    /// Counts one handler, until what is returned is dropped.
    pub(crate) fn enter(&self) -> Entered {
        self.0.fetch_add(1, Ordering::Relaxed);
        Entered(Arc::clone(&self.0))
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A handler that is there.
#[derive(Debug)]
pub(crate) struct Entered(Arc<AtomicU64>);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
