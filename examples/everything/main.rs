//! The fixture of the official conformance suite: a server with one of everything.
//!
//! Run it with `cargo run --release --example everything -- --listen 127.0.0.1:8080`.

#[path = "../shared/mod.rs"]
mod shared;

mod asking;
mod changing;
mod content;
mod prompts;
mod resources;
mod rounds;
mod schemas;
mod streaming;
mod tasks;
mod watching;

use twolane::Server;

/// Parts in the order of the tool list. The suite calls the first tool without arguments, so that one must do without.
fn main() -> Result<(), twolane::Error> {
    let server = Server::builder().name("everything", env!("CARGO_PKG_VERSION"));
    let server = content::register(server);
    let server = streaming::register(server);
    let server = schemas::register(server);
    let server = asking::register(server);
    let server = rounds::register(server);
    let server = tasks::register(server);
    let server = resources::register(server);
    let server = prompts::register(server);
    let server = watching::register(server);
    shared::serve(changing::register(server))
}
