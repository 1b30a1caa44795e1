//! What every example that serves has in common: `--listen ADDR`, the line that says where, and Ctrl-C.

use std::io::Write;
use std::net::SocketAddr;

use twolane::{Builder, Error};

/// Reads `--listen ADDR` (default 127.0.0.1:8080), binds, says where, and serves until interrupted.
pub(crate) fn serve(builder: Builder) -> Result<(), Error> {
    let server = builder.listen([listen()?]).build()?;
    let mut out = std::io::stdout().lock();
    for url in server.urls() {
        let _ = writeln!(out, "twolane listening on {url}");
    }
    let _ = out.flush();
    drop(out);
    let failed = |source| Error::Io { context: "starting the runtime".to_owned(), source };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(server.run(async {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }))
}

fn listen() -> Result<SocketAddr, Error> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None, None) => Ok(SocketAddr::from(([127, 0, 0, 1], 8080))),
        (Some("--listen"), Some(address)) => {
            address.parse().map_err(|_| Error::Config(format!("--listen {address} is no address")))
        }
        (Some(_) | None, _) => Err(Error::Config("usage: --listen ADDR".to_owned())),
    }
}
