//! HTTP/2 from the other side: a client that does everything right, or just not, and notes what it is owed.

pub mod asked;
mod client;
pub mod hpack;
pub mod script;
mod talk;
pub mod watch;
mod write;

pub use talk::talk;
