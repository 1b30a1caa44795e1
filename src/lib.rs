//! twolane: an MCP server over HTTP, two protocol eras on one endpoint.
//!
//! One endpoint serves the revisions with a handshake and sessions (2025-03-26, 2025-06-18, 2025-11-25) and the stateless one
//! (2026-07-28), decided request by request. Start with [`Server::builder`]; tools are made with [`tools::Typed`],
//! what clients read with [`tools::Resource`] and [`tools::ResourceTemplate`], what users pick with [`tools::Prompt`]:
//!
//! ```no_run
//! use twolane::tools::Typed;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Pair { a: f64, b: f64 }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), twolane::Error> {
//! let server = twolane::Server::builder()
//!     .name("calculator", "1.0.0")
//!     .tool(Typed::new("add", "Adds two numbers.", |pair: Pair| async move { pair.a + pair.b }))
//!     .build()?;
//! server.run(std::future::pending()).await
//! # }
//! ```
//!
//! Every refusal is one row of the [rejection table](Rejection), answered in the route's own dialect, counted once and told once, as a
//! `tracing` event with the target `twolane::wire::reject`.
//!
//! The crate's rooms stand in floor order: a room names only rooms above its own line. They are private but for [`tools`]; the feature
//! `internals` opens them to the crate's own tests, benches and fuzz targets, outside semver.

#![cfg_attr(not(feature = "internals"), allow(dead_code, unreachable_pub, unused_imports))]

#[cfg(not(feature = "internals"))]
mod base;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod base;
#[cfg(not(feature = "internals"))]
mod tables;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod tables;
#[cfg(not(feature = "internals"))]
mod view;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod view;
#[cfg(not(feature = "internals"))]
mod reply;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod reply;
#[cfg(not(feature = "internals"))]
mod schema;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod schema;
#[cfg(not(feature = "internals"))]
mod events;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod events;
#[cfg(not(feature = "internals"))]
mod session;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod session;
#[cfg(not(feature = "internals"))]
mod tasks;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod tasks;
pub mod tools;
#[cfg(not(feature = "internals"))]
mod methods;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod methods;
#[cfg(not(feature = "internals"))]
mod road;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod road;
#[cfg(not(feature = "internals"))]
mod conn;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod conn;
#[cfg(not(feature = "internals"))]
mod server;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod server;

pub use base::error::Error;
pub use base::limits::{LimitInfo, Limits, Unit};
pub use base::principal::Principal;
pub use conn::access::{AccessLog, Answered, Observer};
pub use conn::lines::Lines;
pub use reply::Mark;
pub use road::allow::{HostRule, OriginRule};
pub use road::auth::{AuthFault, Authenticator, StaticTokens};
pub use road::limit::{Caller, RateLimiter, RetryAfter};
pub use road::settings::Settings;
pub use server::{Builder, Handle, Server, Workers};
pub use tables::capabilities::Capability;
pub use tables::levels::LogLevel;
pub use tables::rejection::{IdRule, Rejecter, Rejection, Row, RowHeader, markdown as rejection_table};
pub use tables::routes::{Verb, Verbs};
pub use tables::versions::{Era, Revision};
pub use tools::ServerInfo;

/// README's examples are compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
