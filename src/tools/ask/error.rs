//! Why a client could not be asked, or gave no answer.

use serde_json::{Value, json};

use crate::tables::capabilities::Capability;
use crate::tables::versions::{Era, Revision};
use crate::tools::error::ToolError;
use crate::tools::handler_error::HandlerError;
use crate::tools::produced::ProtocolError;

/// A modern request lacks a client capability that it needs (2026-07-28, basic).
pub const MISSING_CAPABILITY: i32 = -32021;
/// JSON-RPC: the server failed.
const INTERNAL_ERROR: i32 = -32603;

/// Why a question to the client came to nothing. A handler may go on without the answer; one that passes the error on with `?` fails as the
/// protocol has it: on the modern lane, a capability that was not declared is told with its own code.
// No `Display`: `ToolError` takes everything that has it for a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AskError {
    /// The client has not declared the capability.
    Unsupported {
        /// What it lacks.
        capability: Capability,
        /// Whether it could have said so with this very request.
        era: Era,
    },
    /// The caller's revision has no words for the question.
    NotInRevision {
        /// What it lacks.
        what: &'static str,
        /// The revision.
        revision: Revision,
    },
    /// Nothing can be asked while this method is served: only tools, prompts and resources may.
    NotHere,
    /// The question itself cannot be sent: what is wrong with it.
    InvalidQuestion(String),
    /// Another question of this call goes by the same key.
    KeyTaken(String),
    /// The client has not said yet that its session is ready, and is to be asked nothing before it does (2025-11-25, basic/lifecycle).
    NotReady,
    /// The client takes no event stream, so no request reaches it.
    NoStream,
    /// As many requests to this session wait for their answers as the limit allows.
    TooMany,
    /// No stream took the request in time.
    NotTaken,
    /// The answer did not come in time.
    TimedOut,
    /// The client answered with an error.
    Refused {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// The answer is not what was asked for: what is wrong with it.
    InvalidAnswer(String),
    /// What an earlier round remembered does not read as what this one expects.
    InvalidMemory(String),
    /// The call or its session is over.
    CallOver,
    /// The server stops, and takes no answers any more.
    Stopping,
}

impl AskError {
    /// For an answer of more bytes than are taken.
    pub(super) fn too_long(most: usize) -> Self {
        Self::InvalidAnswer(format!("it is longer than the {most} bytes that answers may take"))
    }

    /// The error in one line.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Unsupported { capability, .. } => {
                format!("The client does not declare the capability {}", capability.path())
            }
            Self::NotInRevision { what, revision } => {
                format!("Version {} of the protocol has no {what}", revision.as_str())
            }
            Self::NotHere => "The client cannot be asked while this method is served".to_owned(),
            Self::InvalidQuestion(fault) => format!("The client cannot be asked this: {fault}"),
            Self::KeyTaken(key) => format!("Two questions go by the key {key:?}"),
            Self::NotReady => {
                "The session is not ready: the client has not sent notifications/initialized".to_owned()
            }
            Self::NoStream => "The client takes no event stream, so it cannot be asked".to_owned(),
            Self::TooMany => "Too many requests wait for the client's answers".to_owned(),
            Self::NotTaken => "No stream took the request to the client in time".to_owned(),
            Self::TimedOut => "The client did not answer in time".to_owned(),
            Self::Refused { code, message } => format!("The client answered with error {code}: {message}"),
            Self::InvalidAnswer(fault) => format!("The client's answer is not what was asked for: {fault}"),
            Self::InvalidMemory(fault) => format!("What was remembered does not read: {fault}"),
            Self::CallOver => "The call is over".to_owned(),
            Self::Stopping => "The server is stopping, so the client cannot answer any more".to_owned(),
        }
    }
}

impl From<AskError> for ToolError {
    fn from(error: AskError) -> Self {
        match &error {
            AskError::Unsupported { era: Era::Modern, .. } => ProtocolError::from(error).into(),
            _ => Self::new(error.text()),
        }
    }
}

impl From<AskError> for ProtocolError {
    fn from(error: AskError) -> Self {
        match &error {
            AskError::Unsupported { capability, era: Era::Modern } => {
                Self::new(MISSING_CAPABILITY, error.text())
                    .data(json!({"requiredCapabilities": required([capability.path()])}))
            }
            _ => Self::new(INTERNAL_ERROR, error.text()),
        }
    }
}

impl From<AskError> for HandlerError {
    fn from(error: AskError) -> Self {
        ProtocolError::from(error).into()
    }
}

/// Client capabilities as a client would declare them, from their paths.
pub fn required<'p>(paths: impl IntoIterator<Item = &'p str>) -> Value {
    let mut all = json!({});
    for path in paths {
        let (name, part) = path.split_once('.').map_or((path, None), |(name, part)| (name, Some(part)));
        if all.get(name).is_none() {
            all[name] = json!({});
        }
        if let Some(part) = part {
            all[name][part] = json!({});
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::result::ToolResult;

    #[test]
    fn capabilities_are_spelled_as_they_are_declared() {
        let paths = ["elicitation.url", "roots", "sampling", "sampling.tools", "extensions.a.b/c"];
        assert_eq!(
            required(paths).to_string(),
            r#"{"elicitation":{"url":{}},"roots":{},"sampling":{"tools":{}},"extensions":{"a.b/c":{}}}"#
        );
    }

    #[test]
    fn a_missing_capability_has_a_code_on_the_modern_lane_alone() {
        let error = |era| AskError::Unsupported { capability: Capability::Sampling, era };
        let modern = ToolResult::from(ToolError::from(error(Era::Modern)));
        let failure = modern.failure.unwrap();
        assert_eq!(failure.code, -32021);
        assert_eq!(failure.data, Some(json!({"requiredCapabilities": {"sampling": {}}})));
        let legacy = ToolResult::from(ToolError::from(error(Era::Legacy)));
        assert!(legacy.failure.is_none() && legacy.is_error);
        assert!(legacy.content[0].as_text().unwrap().contains("sampling"));
        assert_eq!(ProtocolError::from(error(Era::Legacy)).code, -32603);
        assert_eq!(ProtocolError::from(AskError::TimedOut).code, -32603);
    }
}
