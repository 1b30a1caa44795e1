//! Listeners: binding them and accepting from them.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::base::error::Error;
use crate::conn::Service;
use crate::conn::stop::Phase;
use crate::road::Peer;

const BACKLOG: i32 = 1024;
/// The first and the longest wait after the system has run out of something, in milliseconds.
const BACK_OFF: (u64, u64) = (10, 1_000);

/// Binds `address` for the first time. A port that is to be shared is tried alone first: else a second server on the same address would
/// start without a word and take half of the connections.
pub(super) fn bind_first(address: SocketAddr, shared: bool) -> io::Result<(Socket, SocketAddr)> {
    if shared && address.port() != 0 {
        drop(bind(address, false)?);
    }
    bind(address, shared)
}

/// Binds `address` and listens. A shared port lets each worker have a listener of its own.
pub(super) fn bind(address: SocketAddr, shared: bool) -> io::Result<(Socket, SocketAddr)> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        // Else `[::]` takes the IPv4 port too, or fails where both are configured.
        socket.set_only_v6(true)?;
    }
    #[cfg(unix)]
    socket.set_reuse_port(shared)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    let bound = socket.local_addr()?.as_socket().unwrap_or(address);
    Ok((socket, bound))
}

/// Hands sockets to the current runtime.
pub(super) fn register(sockets: Vec<Socket>) -> Result<Vec<TcpListener>, Error> {
    sockets
        .into_iter()
        .map(|socket| TcpListener::from_std(socket.into()))
        .collect::<io::Result<_>>()
        .map_err(|source| Error::Io { context: "registering a listener".to_owned(), source })
}

/// Counts open connections across all workers, and keeps newcomers out at the limit: each listener holds one that it has accepted, and the
/// others wait in the listen queue.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    places: Arc<Semaphore>,
    most: u32,
}

impl Gate {
    pub(super) fn new(connections: u64) -> Self {
        let most = u32::try_from(connections).unwrap_or(u32::MAX).clamp(1, MOST_PLACES);
        Self { places: Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(1))), most }
    }

    /// Waits for a place. Never fails: the semaphore is not closed.
    async fn enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// Waits until every place is free.
    pub(super) async fn emptied(&self) {
        // Fails only when closed, and then there is nobody to wait for.
        let _ = self.places.acquire_many(self.most).await;
    }
}

/// What one `acquire_many` can ask for on every platform.
const MOST_PLACES: u32 = 1 << 28;

/// Accepts until the server drains. The listener is closed then: who comes later is refused.
pub(super) async fn accept(listener: TcpListener, service: Arc<Service>, gate: Gate) {
    let mut watch = service.stop().watch();
    let mut back_off = BACK_OFF.0;
    // Where it cannot be told, the stricter rules hold.
    let on_loopback = listener.local_addr().map_or(true, |bound| bound.ip().is_loopback());
    loop {
        let accepted = tokio::select! {
            biased;
            () = watch.reached(Phase::Draining) => return,
            accepted = next(&listener, &gate) => accepted,
        };
        match accepted {
            Ok((stream, address, place)) => {
                back_off = BACK_OFF.0;
                // A socket that is gone already will say so when it is read.
                let _ = stream.set_nodelay(true);
                let peer = Peer { address: Some(address), on_loopback };
                tokio::spawn(crate::conn::serve(Arc::clone(&service), stream, peer, place));
            }
            Err(error) if is_the_peers(&error) => {}
            Err(error) => {
                tracing::warn!(%error, wait_ms = back_off, "cannot accept connections");
                tokio::select! {
                    () = watch.reached(Phase::Draining) => return,
                    () = tokio::time::sleep(Duration::from_millis(back_off)) => {}
                }
                back_off = (back_off * 2).min(BACK_OFF.1);
            }
        }
    }
}

/// The next connection, once there is a place for it. The place is asked for last: a listener that waits must not hold one.
async fn next(
    listener: &TcpListener,
    gate: &Gate,
) -> io::Result<(TcpStream, SocketAddr, Option<OwnedSemaphorePermit>)> {
    let (stream, address) = listener.accept().await?;
    Ok((stream, address, gate.enter().await))
}

/// Whether an accept error belongs to the connection that was to be accepted. Everything else is the system's, which needs a pause to
/// recover: descriptors or memory have run out.
fn is_the_peers(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_workers_share_a_port() {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (_one, address) = bind_first(any, true).unwrap();
        assert_ne!(address.port(), 0);
        let (_two, again) = bind(address, true).unwrap();
        assert_eq!(again, address);
        for shared in [true, false] {
            assert_eq!(bind_first(address, shared).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        }
    }

    #[tokio::test]
    async fn the_gate_is_empty_when_every_place_is_free() {
        let gate = Gate::new(2);
        let one = gate.enter().await;
        let two = gate.enter().await;
        assert!(gate.places.available_permits() == 0);
        drop((one, two));
        gate.emptied().await;
    }
}
