//! The road: from a request to its answer or its rejection. Stages stand in chain order, one file each.

#![deny(clippy::wildcard_enum_match_arm)]

// The stages, in chain order.
pub mod origin;
pub mod parse;
pub mod classify;
pub mod auth;
pub mod limit;
pub mod singleton;
pub mod era;
pub mod protocol_fields;
pub mod header_binding;
pub mod session;
pub mod validate;
pub mod dispatch;
// What the stages share.
pub mod allow;
pub mod media;
pub mod pace;
pub mod sentinel;
pub mod settings;
pub mod shared;
pub mod shedding;
pub mod router;
pub mod post;
pub mod batch;
mod peer_rates;
mod call;
pub mod pending;
mod stream;

pub use pending::{Pending, Step};
pub use post::{Answer, Entry, Scratch, Ticket};
pub use shared::{Peer, Road};
