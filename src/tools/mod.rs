//! Tools: what a handler is, what it may return, how it runs, and the registry that lists it.
//!
//! [`Typed`] turns an async function into a tool, [`Registry`] holds tools and may change while the server runs.

mod members;
mod derive;
mod link;
mod content;
mod result;
mod error;
mod into_result;
mod spec;
mod arguments;
mod call;
mod context;
mod running;
mod produced;
mod entry;
mod handler;
mod typed;
mod raw;
mod template;
mod cursor;
mod snapshot;
mod registry;
mod identity;
mod behind;

use std::pin::Pin;

pub use arguments::{ArgumentFault, Arguments, NotAnObject};
#[doc(hidden)]
pub use behind::Behind;
#[doc(hidden)]
pub use call::{CallInfo, CallShared, CallSlot, TaskLink};
pub use content::{Content, Role};
pub use context::{Canceller, Context};
pub use cursor::BadCursor;
#[doc(hidden)]
pub use entry::Entry;
pub use error::ToolError;
pub use handler::{AsyncHandler, SyncHandler};
pub use identity::{CacheScope, Identity, ServerInfo};
pub use into_result::{IntoToolResult, Json};
pub use link::ResourceLink;
pub use produced::ProtocolError;
#[doc(hidden)]
pub use produced::{Produced, ProducedFuture, Subject, Work};
pub use raw::RawTool;
pub use registry::{Edit, Registry};
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
