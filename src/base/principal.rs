//! Who is asking.

use std::sync::Arc;

/// An authenticated caller, as the authenticator named it. Sessions are bound to it and tools may read it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// A stable name, unique within the authenticator. It reaches logs, so it is never a secret.
    pub subject: String,
    /// What the credential was granted, in the authenticator's own words.
    pub scopes: Vec<String>,
}

impl Principal {
    /// A principal without scopes.
    #[must_use]
    pub fn new(subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), scopes: Vec::new() }
    }
}

/// Whether `caller` may use what belongs to `owner`. What was made without a principal is anybody's.
#[must_use]
pub fn may_use(owner: Option<&Arc<Principal>>, caller: Option<&Arc<Principal>>) -> bool {
    owner.is_none_or(|owner| caller.is_some_and(|caller| owner.subject == caller.subject))
}
