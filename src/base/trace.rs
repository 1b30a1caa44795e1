//! Which look-ups a request has led to, in their order. Strangers must not be able to tell by the code that runs what exists and what does
//! not, so tests compare them. Nothing of it is left where the internals are closed.

/// Notes that something was looked for: a session, a task, a tool.
#[cfg(not(feature = "internals"))]
#[inline(always)]
pub const fn looked_up(_what: &'static str) {}

#[cfg(feature = "internals")]
pub use recording::{Trace, looked_up};

#[cfg(feature = "internals")]
mod recording {
    use std::cell::RefCell;
    use std::sync::{Arc, Mutex, PoisonError};

    thread_local! {
        static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
    }

    /// What was looked for on the threads that record it. Clones share it.
    #[derive(Debug, Clone, Default)]
    pub struct Trace(Arc<Mutex<Vec<&'static str>>>);

    impl Trace {
        /// Records what this thread looks for, from now on.
        pub fn record_here(&self) {
            TRACE.set(Some(self.clone()));
        }

        /// Takes out what was looked for since the last time.
        #[must_use]
        pub fn take(&self) -> Vec<&'static str> {
            std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
        }
    }

    /// Notes that something was looked for: a session, a task, a tool.
    #[inline]
    pub fn looked_up(what: &'static str) {
        TRACE.with_borrow(|trace| {
            if let Some(Trace(lookups)) = trace {
                lookups.lock().unwrap_or_else(PoisonError::into_inner).push(what);
            }
        });
    }
}
