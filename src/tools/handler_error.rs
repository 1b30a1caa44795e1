//! How the handlers of resources, prompts and completions fail.

use std::fmt::Display;

use serde_json::json;

use crate::tables::versions::{Era, Revision};

use super::produced::ProtocolError;

/// JSON-RPC: the params do not fit.
const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC: the server failed.
const INTERNAL_ERROR: i32 = -32603;
/// Resource not found, in the revisions with a handshake.
const NOT_FOUND: i32 = -32002;

/// The failure of a handler of a resource, a prompt or a completion: a JSON-RPC error. Its `?` takes every error that can be displayed;
/// the text of such a one goes into the log and not to the client, who learns that the server failed. What the client is to know is
/// said with [`Self::invalid`], [`Self::not_found`] or a [`ProtocolError`].
///
/// ```
/// use twolane::tools::{HandlerError, Resource};
///
/// let motd = Resource::new("file:///etc/motd", "motd", || async {
///     match std::fs::read_to_string("/etc/motd") {
///         Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(HandlerError::not_found()),
///         other => Ok(other?),
///     }
/// });
/// # let _ = motd;
/// ```
// No `Display`: the conversion from everything that has it would overlap with the one from itself.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerError(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    NotFound,
    Internal(String),
    Protocol(Box<ProtocolError>),
}

impl HandlerError {
    /// There is no such thing: of a resource the error that the client's revision has for it, else invalid params.
    #[must_use]
    pub fn not_found() -> Self {
        Self(Kind::NotFound)
    }

    /// What was asked for makes no sense: invalid params, with a text for the client.
    #[must_use]
    pub fn invalid(text: impl Into<String>) -> Self {
        ProtocolError::new(INVALID_PARAMS, text).into()
    }

    /// The server failed, for a reason that goes into the log.
    #[must_use]
    pub fn internal(text: impl Into<String>) -> Self {
        Self(Kind::Internal(text.into()))
    }

    /// What the client is told. `kind` and `name` say whose handler it was.
    pub(super) fn into_protocol(self, kind: &'static str, name: &str, revision: Revision) -> ProtocolError {
        match self.0 {
            Kind::Protocol(error) => *error,
            Kind::NotFound if kind == RESOURCE => resource_not_found(name, revision),
            Kind::NotFound => ProtocolError::new(INVALID_PARAMS, format!("{kind} not found: {name:?}")),
            Kind::Internal(text) => {
                tracing::error!(kind, name, error = text, "a handler failed");
                ProtocolError::new(INTERNAL_ERROR, format!("{kind} {name:?} failed"))
            }
        }
    }
}

/// What a resource is called in errors.
pub(super) const RESOURCE: &str = "Resource";

/// What a client is told that reads a resource that is not there (2026-07-28 and 2025-11-25, server/resources, "Error Handling").
#[must_use]
pub fn resource_not_found(uri: &str, revision: Revision) -> ProtocolError {
    let code = match revision.era() {
        Era::Legacy => NOT_FOUND,
        Era::Modern => INVALID_PARAMS,
    };
    ProtocolError::new(code, "Resource not found").data(json!({ "uri": uri }))
}

/// The alternate form is used: error types that keep their causes show them in it.
impl<E: Display> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self::internal(format!("{error:#}"))
    }
}

impl From<ProtocolError> for HandlerError {
    fn from(error: ProtocolError) -> Self {
        Self(Kind::Protocol(Box::new(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_are_told() {
        let of = |error: HandlerError, kind| error.into_protocol(kind, "x:y", Revision::V2025_06_18);
        let not_found = of(HandlerError::not_found(), RESOURCE);
        assert_eq!((not_found.code, not_found.data), (-32002, Some(json!({"uri": "x:y"}))));
        let modern = resource_not_found("x:y", Revision::V2026_07_28);
        assert_eq!((modern.code, modern.data), (-32602, Some(json!({"uri": "x:y"}))));
        assert_eq!(of(HandlerError::not_found(), "Prompt").code, -32602);
        let failed = of(std::io::Error::other("secret").into(), "Prompt");
        assert_eq!((failed.code, failed.message.contains("secret")), (-32603, false));
        let chosen = of(ProtocolError::new(-32000, "busy").data(1).into(), RESOURCE);
        assert_eq!((chosen.code, chosen.message.as_str(), chosen.data), (-32000, "busy", Some(json!(1))));
        assert_eq!(of(HandlerError::invalid("no"), "Prompt").message, "no");
    }
}
