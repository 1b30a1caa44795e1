//! What the load client and the peers share.

use std::io;
use std::net::Ipv4Addr;

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Runtime};

/// The text that is echoed: so many bytes, the same everywhere.
#[must_use]
pub fn message(bytes: usize) -> String {
    let mut text = "0123456789abcdef".repeat(bytes.div_ceil(16));
    text.truncate(bytes);
    text
}

/// The body of the modern echo's answer, for peers that answer the same to everything.
#[must_use]
pub fn canned_body(bytes: usize) -> String {
    let text = message(bytes);
    format!(
        r#"{{"jsonrpc":"2.0","id":100000001,"result":{{"content":[{{"type":"text","text":"{text}"}}],"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"canned","version":"1.0.0"}}}},"resultType":"complete"}}}}"#
    )
}

/// Lets this process open as many files as the system allows it.
pub fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        eprintln!("the limit of open files stays as it is: {error}");
    }
}

/// The value that follows a flag on the command line, or else the default.
///
/// # Errors
/// Where it cannot be read.
pub fn flag<T: std::str::FromStr>(name: &str, default: T) -> Result<T, String> {
    let mut arguments = std::env::args();
    while let Some(argument) = arguments.next() {
        if argument == name {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            return value.parse().map_err(|_| format!("{name} {value} cannot be read"));
        }
    }
    Ok(default)
}

/// One thread, or a pool of so many.
///
/// # Errors
/// Where threads cannot be had.
pub fn runtime(workers: usize) -> io::Result<Runtime> {
    match workers {
        0 | 1 => Builder::new_current_thread().enable_all().build(),
        _ => Builder::new_multi_thread().worker_threads(workers).enable_all().build(),
    }
}

/// A listener whose queue is no bottleneck.
///
/// # Errors
/// Where the port is taken.
pub fn listen(address: Ipv4Addr, port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind((address, port).into())?;
    socket.listen(4096)
}
