//! How a handler fails.

use std::fmt::Display;

use super::produced::ProtocolError;
use super::result::ToolResult;

/// A tool's failure. It becomes a result with `isError`, whose text the model reads: say what to do differently.
///
/// Anything that can be displayed turns into one, so `?` works on every error:
///
/// ```
/// use twolane::tools::ToolError;
///
/// fn parse(text: &str) -> Result<i64, ToolError> {
///     if text.is_empty() {
///         return Err(ToolError::new("give a number"));
///     }
///     Ok(text.parse::<i64>()?)
/// }
/// assert!(parse("x").is_err());
/// ```
// No `Display`: the conversion from everything that has it would overlap with the one from itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Text(String),
    Protocol(Box<ProtocolError>),
}

impl ToolError {
    /// A failure with its text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Kind::Text(text.into()))
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.0 {
            Kind::Text(text) => text,
            Kind::Protocol(error) => &error.message,
        }
    }
}

/// The alternate form is used: error types that keep their causes show them in it.
impl<E: Display> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(format!("{error:#}"))
    }
}

/// The call ends as a JSON-RPC error instead of a result.
impl From<ProtocolError> for ToolError {
    fn from(error: ProtocolError) -> Self {
        Self(Kind::Protocol(Box::new(error)))
    }
}

impl From<ToolError> for ToolResult {
    fn from(error: ToolError) -> Self {
        match error.0 {
            Kind::Text(text) => Self::error(text),
            Kind::Protocol(error) => Self { failure: Some(error), ..Self::default() },
        }
    }
}
