//! twolane: an MCP server over HTTP, two protocol eras on one endpoint.
//!
//! The rooms stand in floor order; a room names only the rooms above its own line here.

pub mod base;
pub mod tables;
pub mod view;
pub mod reply;
pub mod schema;
pub mod session;
pub mod tools;
pub mod methods;
pub mod road;
pub mod conn;
pub mod server;
