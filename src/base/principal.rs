//! Who is asking.

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
