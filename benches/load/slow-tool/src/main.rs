//! twolane with a fast tool and one that keeps its thread busy: what the scheduler makes of the two together.
//!
//! `slow-tool --port PORT [--workers N] [--scheduler per-core|stealing]`

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use twolane::tools::Typed;
use twolane::{Error, Server, Workers};
use twolane_load::{flag, raise_open_files};

#[derive(Deserialize, JsonSchema)]
struct Echo {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Burn {
    ms: u64,
}

fn main() -> Result<(), Error> {
    raise_open_files();
    let port = flag("--port", 8080).map_err(Error::Config)?;
    let count = flag("--workers", 2).map_err(Error::Config)?;
    let scheduler: String = flag("--scheduler", "per-core".to_owned()).map_err(Error::Config)?;
    let workers = match scheduler.as_str() {
        "per-core" => Workers::PerCore(count),
        "stealing" => Workers::Stealing(count),
        other => return Err(Error::Config(format!("--scheduler {other}: per-core or stealing"))),
    };
    Server::builder()
        .name("slow-tool", "0.0.0")
        .listen([SocketAddr::from((Ipv4Addr::LOCALHOST, port))])
        .workers(workers)
        .tool(Typed::new("echo", "Says the message back.", |echo: Echo| async move { echo.message }))
        .tool(Typed::new("burn", "Keeps a core busy.", |burn: Burn| async move {
            // As a tool does that computes and never yields.
            let end = Instant::now() + Duration::from_millis(burn.ms);
            while Instant::now() < end {
                std::hint::spin_loop();
            }
            "burned"
        }))
        .build()?
        .run_workers(std::future::pending())
}
