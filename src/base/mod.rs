//! The ground floor: limits, time, principals, byte helpers. Knows nothing of MCP or of sockets.

pub mod ascii;
pub mod clock;
pub mod error;
pub mod limits;
pub mod panics;
pub mod peer;
pub mod principal;
pub mod seldom;
pub mod swar;
pub mod trace;
