//! Tasks (extension `io.modelcontextprotocol/tasks`, SEP-2663): calls that outlive their request, polled by an unguessable id.
//!
//! A task is a state machine: *working*, *input_required* while it waits for the client, then *completed*, *failed* or *cancelled* for
//! good. What it came to is kept as rendered JSON until its time to live is over.

pub mod id;
pub mod store;
pub mod task;

pub use id::TaskId;
pub use store::{CreateError, Tasks};
pub use task::{Outcome, Question, Status, Task};

/// The extension's name in `capabilities.extensions`.
pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";
