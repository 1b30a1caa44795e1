//! Bearer tokens: only callers with a known token get in, and tools see who calls.
//!
//! Run it with `cargo run --example auth`, then send `Authorization: Bearer let-me-in`.

mod shared;

use schemars::JsonSchema;
use serde::Deserialize;
use twolane::StaticTokens;
use twolane::tools::{Context, Typed};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn main() -> Result<(), twolane::Error> {
    let tokens = StaticTokens::parse("alice let-me-in\nbob me-too")?;
    let whoami = Typed::new("whoami", "Says who is calling.", |_: Nothing, context: Context| async move {
        context.principal().map_or_else(|| "nobody".to_owned(), |principal| principal.subject.clone())
    });
    shared::serve(twolane::Server::builder().name("auth", "1.0.0").authenticator(tokens).tool(whoami))
}
