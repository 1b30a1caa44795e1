//! One definition of each thing, no logic: rejection rows, the chain, methods, revisions, log levels, client capabilities, known headers,
//! routes.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod routes;
pub mod versions;
pub mod levels;
pub mod capabilities;
pub mod headers;
pub mod methods;
pub mod chain;
pub mod rejection;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod scenarios;
