//! What a handler came to, and who it belongs to: the part of a call that tools, resources, prompts and completions share.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use crate::base::panics::discard;

use super::ask::Memory;
use super::completion::Completion;
use super::entry::Entry;
use super::prompt_result::PromptResult;
use super::resource_contents::Read;
use super::result::ToolResult;
use super::{HandlerFuture, Started};

/// JSON-RPC: the server failed.
const INTERNAL_ERROR: i32 = -32603;

/// What a caught panic carries.
pub(super) type Payload = Box<dyn Any + Send>;

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Produced {
    /// A tool's result.
    Tool(ToolResult),
    /// A resource's contents.
    Read(Box<Read>),
    /// A prompt's messages.
    Prompt(Box<PromptResult>),
    /// Values that go on from what was typed.
    Completion(Box<Completion>),
    /// No result yet: the client is asked first, and calls again.
    InputRequired(Box<InputRequired>),
    /// The same, with what the next round must know sealed.
    Asked(Box<Asked>),
    /// No result: a JSON-RPC error.
    Failed(Box<ProtocolError>),
}

/// What a round of a modern call ends with.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequired {
    /// The questions, by key: method and params.
    pub requests: serde_json::Map<String, serde_json::Value>,
    /// What the next round must know.
    pub memory: Memory,
}

/// What the client of a modern call is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The questions, by key: method and params.
    pub requests: serde_json::Map<String, serde_json::Value>,
    /// `requestState`.
    pub state: String,
}

/// A JSON-RPC error in place of a result. Models do not see it: it tells the client program that the request itself was wrong. What a
/// model can mend is a [`super::ToolError`].
///
/// ```
/// use twolane::tools::{ProtocolError, ToolError};
///
/// fn lookup(key: &str) -> Result<String, ToolError> {
///     Err(ProtocolError::new(-32602, format!("no such key: {key}")).into())
/// }
/// assert!(lookup("x").is_err());
/// ```
// No `Display`: `ToolError` takes everything that has it for a text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProtocolError {
    /// The code. -32768 to -32000 are JSON-RPC's and the protocol's own.
    pub code: i32,
    /// What went wrong, in one line.
    pub message: String,
    /// More about it, for programs.
    pub data: Option<serde_json::Value>,
}

impl ProtocolError {
    /// An error without data.
    #[must_use]
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds data.
    #[must_use]
    pub fn data(mut self, data: impl Into<serde_json::Value>) -> Self {
        self.data = Some(data.into());
        self
    }
}

/// The future of any handler but a tool's.
pub type ProducedFuture = Pin<Box<dyn Future<Output = Produced> + Send>>;

/// How a call runs.
pub enum Work {
    /// It is over.
    Ready(Produced),
    /// A tool's handler, polled by the connection's task.
    Tool(HandlerFuture),
    /// Any other handler, polled by the connection's task.
    Future(ProducedFuture),
    /// It runs on the blocking pool.
    Blocking(Box<dyn FnOnce() -> Produced + Send>),
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready(_) => "ready",
            Self::Tool(_) | Self::Future(_) => "future",
            Self::Blocking(_) => "blocking",
        })
    }
}

/// Whose handler runs: what its failures are called, and how they are told.
#[derive(Debug, Clone)]
pub enum Subject {
    /// A tool: what fails is a result that the model reads.
    Tool(Arc<Entry>),
    /// Anything else: what fails is a JSON-RPC error.
    Other {
        /// `Prompt`, `Resource` or `Completion`.
        kind: &'static str,
        /// Its name or URI.
        name: Box<str>,
    },
}

impl Subject {
    /// The name of what runs.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Tool(entry) => entry.name(),
            Self::Other { name, .. } => name,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Tool(_) => "Tool",
            Self::Other { kind, .. } => kind,
        }
    }

    /// How a tool's start goes on.
    pub(super) fn work(entry: &Entry, started: Started) -> Work {
        match started {
            Started::Ready(result) => Work::Ready(result.into()),
            Started::Future(future) => Work::Tool(future),
            Started::Blocking(job) => Work::Blocking(Box::new(move || job().into())),
            Started::Invalid(fault) => Work::Ready(entry.refuse(&fault.into()).into()),
        }
    }

    /// A failure that `what` says in a few words.
    pub(super) fn failure(&self, what: &str) -> Produced {
        let text = format!("{} \"{}\" {what}", self.kind(), self.name());
        match self {
            Self::Tool(_) => Produced::Tool(ToolResult::error(text)),
            Self::Other { .. } => Produced::Failed(Box::new(ProtocolError::new(INTERNAL_ERROR, text))),
        }
    }

    /// What a handler that panicked came to. What it said stays in the log.
    pub(super) fn panicked(&self, payload: Payload) -> Produced {
        log_panic(self.kind(), self.name(), payload);
        self.failure("failed unexpectedly")
    }

    /// The last look at what a handler came to.
    pub(super) fn check(&self, produced: Produced) -> Produced {
        match (self, produced) {
            (Self::Tool(entry), Produced::Tool(result)) => entry.check_output(result).into(),
            (_, produced) => produced,
        }
    }
}

/// Tells the log of a panic in a handler.
pub(super) fn log_panic(kind: &'static str, name: &str, payload: Payload) {
    let said = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    tracing::error!(kind, name, panic = said.unwrap_or("(not a text)"), "a handler panicked");
    discard(payload);
}

impl From<ToolResult> for Produced {
    fn from(mut result: ToolResult) -> Self {
        match result.failure.take() {
            Some(failure) => Self::Failed(failure),
            None => Self::Tool(result),
        }
    }
}
