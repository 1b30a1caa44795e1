//! Legacy sessions: their ids, their state, where they are kept, and their event streams. The modern lane has none of this.

pub mod id;
pub mod requests;
pub mod commons;
pub mod event_id;
pub mod flight;
mod log;
mod logs;
pub mod subscriptions;
mod streams;
pub mod reader;
pub mod writer;
pub mod state;
pub mod open;
mod owed;
pub mod store;
#[cfg(test)]
mod tests;
