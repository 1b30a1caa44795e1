//! What a handler may use besides its arguments.

use std::fmt;
use std::sync::Arc;

use crate::base::principal::Principal;
use crate::tables::versions::{Era, Revision};

use super::call::CallShared;

/// The surroundings of one call: who calls, how to report progress, whether anyone still waits. Cheap to clone, and may outlive the call.
#[derive(Clone)]
pub struct Context {
    shared: Arc<CallShared>,
}

impl Context {
    pub(super) fn new(shared: Arc<CallShared>) -> Self {
        Self { shared }
    }

    /// A context without a caller, for testing handlers: nothing is reported and nothing cancels it.
    #[must_use]
    pub fn detached() -> Self {
        Self::new(Arc::new(CallShared::default()))
    }

    pub(super) fn shared(&self) -> &CallShared {
        &self.shared
    }

    /// Reports progress. Does nothing where the caller did not ask for it, after the call is over, and for a value that is not greater
    /// than the one before or not finite. A report that a slow reader leaves no room for is dropped.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        self.shared.progress(progress, total, message);
    }

    /// Whether progress reports reach anyone.
    #[must_use]
    pub fn wants_progress(&self) -> bool {
        self.shared.wants_progress()
    }

    /// Whether the call was cancelled, timed out or lost its caller. A blocking handler should look from time to time and return early.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled()
    }

    /// Waits until the call is cancelled, times out or loses its caller. Never returns for a call that ends by itself.
    pub async fn cancelled(&self) {
        self.shared.cancelled().await;
    }

    /// The authenticated caller, where authentication is on.
    #[must_use]
    pub fn principal(&self) -> Option<&Arc<Principal>> {
        self.shared.principal()
    }

    /// The protocol revision the caller speaks.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.shared.revision()
    }

    /// The era of that revision.
    #[must_use]
    pub fn era(&self) -> Era {
        self.shared.revision().era()
    }

    /// The client program's name, where it gave one.
    #[must_use]
    pub fn client_name(&self) -> Option<&str> {
        self.shared.client().map(|(name, _)| name)
    }

    /// The client program's version, where it gave one.
    #[must_use]
    pub fn client_version(&self) -> Option<&str> {
        self.shared.client().map(|(_, version)| version)
    }

    /// A handle that cancels the call from elsewhere.
    #[must_use]
    pub(crate) fn canceller(&self) -> Canceller {
        Canceller(self.clone())
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("revision", &self.revision())
            .field("client", &self.shared.client())
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

/// Cancels a call from outside of the task that runs it.
#[derive(Debug, Clone)]
pub struct Canceller(Context);

impl Canceller {
    /// Cancels the call: its waiters wake, and a handler that is still pending when it is polled next is dropped.
    pub fn cancel(&self) {
        self.0.shared.cancel();
    }
}
