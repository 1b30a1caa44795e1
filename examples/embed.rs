//! Inside a program of your own: the server runs on your runtime, tools come and go while it serves, and the program reads its counters.
//!
//! Run it with `cargo run --example embed`; it serves for ten seconds.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use twolane::tools::Typed;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[tokio::main]
async fn main() -> Result<(), twolane::Error> {
    let server = twolane::Server::builder()
        .name("embed", "1.0.0")
        .listen(["127.0.0.1:0".parse().expect("an address")])
        .tool(Typed::new("first", "Was there from the start.", |_: Nothing| async { "first" }))
        .build()?;
    for url in server.urls() {
        println!("twolane listening on {url}");
    }
    let handle = server.handle();
    let serving = tokio::spawn(server.run(tokio::time::sleep(Duration::from_secs(10))));
    handle.registry().add(Typed::new("second", "Came later.", |_: Nothing| async { "second" }))?;
    serving.await.expect("the server's task")?;
    for rejection in twolane::Rejection::ALL {
        let met = handle.rejections(*rejection);
        if met > 0 {
            println!("{}.{}: {met}", rejection.row().rejecter.name(), rejection.row().reason);
        }
    }
    Ok(())
}
