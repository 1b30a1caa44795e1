//! Tools, resources and prompts: what a handler is, what it may return, how it runs, and the registry that lists them.
//!
//! [`Typed`] turns an async function into a tool, [`Resource`] and [`ResourceTemplate`] into something to read, [`Prompt`] into messages.
//! A [`Registry`] holds them all and may change while the server runs.

mod members;
mod derive;
mod link;
mod content;
mod result;
mod error;
mod into_result;
mod spec;
mod arguments;
mod mailbox;
mod call;
mod ask;
mod context;
mod running;
mod produced;
mod entry;
mod handler;
mod typed;
mod raw;
mod template;
mod function;
mod handler_error;
pub mod polled;
mod start;
mod identity;
mod prompt_arguments;
mod completion;
mod resource_contents;
mod resource;
mod prompt_result;
mod prompt;
mod cursor;
mod keys;
mod list;
mod resource_entry;
mod prompt_entry;
mod offers;
mod snapshot;
mod edit;
mod registry;
mod behind;

use std::pin::Pin;

pub use arguments::{ArgumentFault, Arguments};
pub use ask::{
    AskError, Block, Elicitation, Elicited, Field, Form, Format, IncludeContext, Root, Sampled, Sampling,
    SealingKey, ToolChoice, Turn,
};
#[doc(hidden)]
pub use ask::{Asking, Given, MISSING_CAPABILITY, Memory, required, seal};
#[doc(hidden)]
pub use behind::Behind;
#[doc(hidden)]
pub use call::{CallInfo, CallShared, CallSlot, TaskLink};
#[doc(hidden)]
pub use completion::Completions;
#[doc(hidden)]
pub use completion::write_completion;
pub use completion::{Completion, CompletionInput, IntoCompletion};
pub use content::{Content, Role};
pub use context::{Canceller, Context};
pub use cursor::BadCursor;
pub use edit::Edit;
#[doc(hidden)]
pub use entry::Entry;
pub use error::ToolError;
pub use function::{AsyncFunction, Nothing, SyncFunction};
pub use handler::{AsyncHandler, SyncHandler};
pub use handler_error::HandlerError;
#[doc(hidden)]
pub use handler_error::resource_not_found;
pub use identity::{CacheScope, Identity, ServerInfo};
pub use into_result::{IntoToolResult, Json};
pub use link::ResourceLink;
#[doc(hidden)]
pub use list::{List, Listed};
pub use offers::Offer;
pub use produced::ProtocolError;
#[doc(hidden)]
pub use produced::{Asked, InputRequired, Produced, ProducedFuture, Subject, Work};
pub use prompt::{Prompt, PromptArgument};
pub use prompt_arguments::PromptArguments;
#[doc(hidden)]
pub use prompt_entry::PromptEntry;
#[doc(hidden)]
pub use prompt_result::write_prompt;
pub use prompt_result::{IntoPrompt, PromptMessage, PromptResult};
pub use raw::RawTool;
pub use registry::Registry;
#[doc(hidden)]
pub use resource::Caching;
pub use resource::{Resource, ResourceTemplate};
pub use resource_contents::{Contents, IntoContents, ReadResult};
#[doc(hidden)]
pub use resource_contents::{Read, write_read};
#[doc(hidden)]
pub use resource_entry::{ResourceEntry, TemplateEntry};
pub use result::{ToolResult, write_result};
#[doc(hidden)]
pub use running::Running;
#[doc(hidden)]
pub use snapshot::Snapshot;
pub use spec::{Icon, TaskSupport, Theme, ToolAnnotations, ToolSpec};
pub use template::{TemplateError, UriTemplate, Variable, Variables};
pub use typed::Typed;

/// A tool. Most are made by [`Typed`]; implement this to decide per call how to run.
pub trait Tool: Send + Sync + 'static {
    /// What it is. Read once, at registration.
    fn spec(&self) -> &ToolSpec;

    /// Starts a call. Runs on the connection's own task, so it must not wait: what takes time goes into the [`Started`].
    fn call(&self, arguments: Arguments<'_, '_>, context: Context) -> Started;
}

/// The future of an async handler.
pub type HandlerFuture = Pin<Box<dyn Future<Output = ToolResult> + Send>>;

/// The closure of a blocking handler.
pub type Job = Box<dyn FnOnce() -> ToolResult + Send>;

/// How a call goes on.
pub enum Started {
    /// It is over.
    Ready(ToolResult),
    /// It runs as a future, polled by the connection's task.
    Future(HandlerFuture),
    /// It runs on the blocking pool.
    Blocking(Job),
    /// The arguments do not read as what the tool takes; the model is told every fault that the input schema finds.
    Invalid(ArgumentFault),
}

impl std::fmt::Debug for Started {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ready(_) => "Ready",
            Self::Future(_) => "Future",
            Self::Blocking(_) => "Blocking",
            Self::Invalid(_) => "Invalid",
        })
    }
}

#[cfg(test)]
mod tests;
