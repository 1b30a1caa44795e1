//! JSON Schema, compiled once: tool arguments over the tape, structured content over documents, and what a schema must keep to so that
//! every client can load it.
//!
//! Only `compile` and `output` build validators. References outside the document are never fetched, and patterns run on an engine
//! whose time is linear in the input.

mod walk;
pub mod lint;
pub mod bindings;
mod typing;
mod equal;
mod tape;
pub mod faults;
mod shallow;
pub mod compile;
pub mod output;

pub use bindings::{BindingKind, HeaderBinding};
pub use compile::{InputSchema, Provenance};
pub use faults::{Fault, Faults};
pub use output::OutputSchema;

/// A JSON object that outlives a request.
pub type Map = serde_json::Map<String, serde_json::Value>;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
