//! Legacy sessions: their ids, their state, where they are kept. The modern lane has none of this.

pub mod id;
pub mod requests;
pub mod state;
pub mod store;
