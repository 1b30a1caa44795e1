//! Listeners: binding them and accepting from them.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::peers::{Held, Peers};
use crate::base::error::Error;
use crate::base::limits::Limits;
use crate::conn::Service;
use crate::conn::stop::{Phase, StopWatch};
use crate::road::Peer;

const BACKLOG: i32 = 1024;
/// The first and the longest wait after the system has run out of something, in milliseconds.
const BACK_OFF: (u64, u64) = (10, 1_000);

/// So many connections in a row that fail before they are accepted are met without a pause.
const FAULTS_IN_A_ROW: u32 = 64;

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
/// others wait in the listen queue. Peers that have as many as they may have do not get that far. Also counts the listeners: connections may come from those that are open.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    places: Arc<Semaphore>,
    listeners: Arc<Semaphore>,
    /// Places that are given out once the server drains.
    spare: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
    most: u32,
    peers: Arc<Peers>,
}

impl Gate {
    pub(super) fn new(limits: &Limits, limit_loopback: bool) -> Self {
        let most = u32::try_from(limits.connections).unwrap_or(u32::MAX).clamp(1, MOST_PLACES);
        let semaphore = |places| Arc::new(Semaphore::new(usize::try_from(places).unwrap_or(1)));
        let places = semaphore(most + SPARE_PLACES);
        let spare = Arc::clone(&places).try_acquire_many_owned(SPARE_PLACES).ok();
        let peers = Arc::new(Peers::new(limits.peer_connections, limit_loopback));
        Self { places, listeners: semaphore(MOST_PLACES), spare: Arc::new(Mutex::new(spare)), most, peers }
    }

    /// Lets in more than the limit: who waits in the listen queue of a server that drains gets a short answer, however full it is.
    pub(super) fn open_wide(&self) {
        drop(self.spare.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Waits for a place. Never fails: the semaphore is not closed.
    async fn enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// Counts a listener for as long as what it gives is held.
    fn watch_listener(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.listeners).try_acquire_owned().ok()
    }

    /// Waits until every listener is closed and then every place is free, the spare ones too.
    pub(super) async fn emptied(&self) {
        // Fails only when closed, and then there is nobody to wait for.
        drop(self.listeners.acquire_many(MOST_PLACES).await);
        let _ = self.places.acquire_many(self.most + SPARE_PLACES).await;
    }
}

/// What one `acquire_many` can ask for on every platform.
const MOST_PLACES: u32 = 1 << 28;
/// As many as one listen queue holds.
const SPARE_PLACES: u32 = BACKLOG.unsigned_abs();

/// Accepts for a worker until the server drains, then serves what waits in the listen queue, and closes the listener: who comes later is
/// refused. Begins before it is polled.
pub(super) fn accept(
    listener: TcpListener,
    service: Arc<Service>,
    gate: Gate,
    worker: u16,
) -> impl Future<Output = ()> {
    let counted = gate.watch_listener();
    // Where it cannot be told, the stricter rules hold.
    let on_loopback = listener.local_addr().map_or(true, |bound| bound.ip().is_loopback());
    async move {
        let mut door = Door {
            watch: service.stop().watch(),
            service,
            gate,
            on_loopback,
            worker,
            back_off: BACK_OFF.0,
            failed: 0,
        };
        door.accept(&listener).await;
        door.accept_rest(&listener).await;
        drop(listener);
        drop(counted);
    }
}

/// What one listener lets in.
struct Door {
    service: Arc<Service>,
    gate: Gate,
    watch: StopWatch,
    on_loopback: bool,
    worker: u16,
    /// The next wait after the system has run out of something.
    back_off: u64,
    /// How often in a row accepting has failed.
    failed: u32,
}

impl Door {
    /// Accepts until the server drains.
    async fn accept(&mut self, listener: &TcpListener) {
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.watch.reached(Phase::Draining) => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, address)) => self.serve(stream, address).await,
                Err(error) => self.pause(&error, Phase::Draining).await,
            }
        }
    }

    /// Accepts what waits already. To those clients they are connected, and may have sent a request. More than the queue holds cannot have
    /// waited: who goes on connecting must not keep the server from its end.
    async fn accept_rest(&mut self, listener: &TcpListener) {
        let socket = SockRef::from(listener);
        // Newcomers find the queue full from here on, try again, and find it closed.
        let _ = socket.listen(0);
        for accepted in
            waiting(|| socket.accept().and_then(|(stream, address)| Ok((nonblocking(stream)?, address))))
        {
            if self.watch.phase() == Phase::Stopped {
                return;
            }
            match accepted {
                Ok((stream, address)) => {
                    let Some(address) = address.as_socket() else { continue };
                    self.serve(stream, address).await;
                }
                Err(error) => self.pause(&error, Phase::Stopped).await,
            }
        }
    }

    /// Serves a connection once there is a place for it. The place is asked for last: a listener that waits must not hold one, and whoever
    /// has too many connections must not be the one that others wait behind. While the server drains places are given back, too.
    async fn serve(&mut self, stream: TcpStream, address: SocketAddr) {
        (self.back_off, self.failed) = (BACK_OFF.0, 0);
        let Some(held) = self.gate.peers.admit(address.ip()) else {
            return turn_away(&stream, address, &self.service);
        };
        let place = tokio::select! {
            place = self.gate.enter() => place,
            () = self.watch.reached(Phase::Stopped) => return,
        };
        // A socket that is gone already will say so when it is read.
        let _ = stream.set_nodelay(true);
        let peer = Peer { address: Some(address), on_loopback: self.on_loopback, worker: self.worker };
        tokio::spawn(crate::conn::serve(
            Arc::clone(&self.service),
            stream,
            peer,
            Place { _place: place, _peers: held },
        ));
    }

    /// Waits for the system to recover, where it is the system's fault, but not beyond `phase`. A fault of so many connections in a row is
    /// the system's: a listener that gives nothing else must not keep the worker busy.
    async fn pause(&mut self, error: &io::Error, phase: Phase) {
        self.failed = self.failed.wrapping_add(1);
        if is_the_peers(error) && !self.failed.is_multiple_of(FAULTS_IN_A_ROW) {
            return;
        }
        tracing::warn!(%error, wait_ms = self.back_off, "cannot accept connections");
        tokio::select! {
            () = self.watch.reached(phase) => {}
            () = tokio::time::sleep(Duration::from_millis(self.back_off)) => {}
        }
        self.back_off = (self.back_off * 2).min(BACK_OFF.1);
    }
}

/// What waits in a listen queue, and no more than it holds, whoever else comes meanwhile.
fn waiting<T>(mut accept: impl FnMut() -> io::Result<T>) -> impl Iterator<Item = io::Result<T>> {
    let waits = |accepted: &io::Result<T>| !matches!(accepted, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
    (0..=BACKLOG).map(move |_| accept()).take_while(waits)
}

/// What a connection holds for as long as it is open.
struct Place {
    _place: Option<OwnedSemaphorePermit>,
    _peers: Held,
}

/// Closes a connection unread. It is reset, so that a flood of them leaves nothing behind in the system either.
fn turn_away(stream: &TcpStream, address: SocketAddr, service: &Service) {
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
    service.turned_away().add();
    tell_turned_away(service, Some(address));
}

/// Says how many connections were turned away, once a second at most.
pub(super) fn tell_turned_away(service: &Service, last: Option<SocketAddr>) {
    if let Some(count) = service.turned_away().due(service.road().clock().now_ms()) {
        let last = last.map(|address| tracing::field::display(address.ip()));
        tracing::warn!(
            count,
            last,
            "turned connections away: their peers have as many as peer_connections allows"
        );
    }
}

fn nonblocking(stream: Socket) -> io::Result<TcpStream> {
    stream.set_nonblocking(true)?;
    TcpStream::from_std(stream.into())
}

/// Whether an accept error belongs to the connection that was to be accepted: its end, or what the network or a firewall has to say of it.
/// Everything else is the system's, which needs a pause to recover: descriptors or memory have run out.
fn is_the_peers(error: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionAborted, ConnectionRefused, ConnectionReset, HostUnreachable, NetworkDown,
        NetworkUnreachable,
    };
    matches!(
        error.kind(),
        ConnectionAborted
            | ConnectionRefused
            | ConnectionReset
            | HostUnreachable
            | NetworkDown
            | NetworkUnreachable
    ) || error.raw_os_error().is_some_and(|number| PENDING.contains(&number))
}

/// Errors without a kind of their own that an accept hands over from the connection: EPERM, ENONET, EPROTO, ENOPROTOOPT, EOPNOTSUPP and
/// EHOSTDOWN, by Linux's numbers.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PENDING: &[i32] = &[1, 64, 71, 92, 95, 112];
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PENDING: &[i32] = &[];

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

    /// Below, at and above what the queue holds, with a fault among them.
    #[test]
    fn who_goes_on_connecting_is_not_waited_for() {
        let most = usize::try_from(BACKLOG).unwrap() + 1;
        for come in [0, 1, most - 1, most, most + 1, usize::MAX] {
            let mut taken = 0;
            let accept = || {
                taken += 1;
                match taken {
                    _ if taken > come => Err(io::Error::from(io::ErrorKind::WouldBlock)),
                    3 => Err(io::Error::from(io::ErrorKind::ConnectionAborted)),
                    _ => Ok(()),
                }
            };
            assert_eq!(waiting(accept).count(), come.min(most), "{come}");
            assert_eq!(taken, most.min(come.saturating_add(1)), "{come}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn whose_fault_a_failed_accept_is() {
        // EPERM, ENONET, EPROTO, ENOPROTOOPT, EOPNOTSUPP, ENETDOWN, ENETUNREACH, ECONNABORTED, ECONNRESET, ECONNREFUSED, EHOSTDOWN,
        // EHOSTUNREACH.
        for number in [1, 64, 71, 92, 95, 100, 101, 103, 104, 111, 112, 113] {
            assert!(is_the_peers(&io::Error::from_raw_os_error(number)), "{number}");
        }
        // EBADF, ENOMEM, ENFILE, EMFILE, ENOTSOCK, ENOBUFS.
        for number in [9, 12, 23, 24, 88, 105] {
            assert!(!is_the_peers(&io::Error::from_raw_os_error(number)), "{number}");
        }
    }

    #[tokio::test]
    async fn the_gate_is_empty_when_every_place_is_free() {
        let gate = Gate::new(&Limits { connections: 2, ..Limits::default() }, false);
        let one = gate.enter().await;
        let two = gate.enter().await;
        assert!(gate.places.available_permits() == 0);
        gate.open_wide();
        assert!(gate.enter().await.is_some());
        drop((one, two));
        gate.emptied().await;
        // A listener that is open may still let somebody in.
        let listener = gate.watch_listener();
        let short = Duration::from_millis(20);
        assert!(tokio::time::timeout(short, gate.emptied()).await.is_err());
        drop(listener);
        gate.emptied().await;
    }
}
