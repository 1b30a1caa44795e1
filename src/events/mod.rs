//! What changes while the server runs, and who is to hear of it.

pub mod changes;
pub mod listeners;
pub mod topic;
pub mod watched;
pub mod wakes;
