//! Connections: bytes to one request, one answer to bytes. HTTP/1.x is read and written here; HTTP/2 framing is `h2`'s. Both know the road
//! only by what it takes and gives, and the road knows neither.

pub mod access;
pub mod lines;
pub mod stop;
mod guard;
mod timer;
mod memory;
mod io;
mod scratch;
mod sniff;
mod framing;
mod extension;
pub mod chunked;
mod connection;
mod stream;
mod answer;
mod body;
mod hang_up;
mod pending;
mod close;
mod http1;
mod frame_heads;
mod meter;
mod h2_signs;
mod replay;
mod h2_bell;
mod h2_stall;
mod http2;
mod h2_head;
mod h2_body;
mod h2_request;
mod h2_answer;
mod h2_pending;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use self::access::AccessLog;
use self::connection::{Connection, Flow};
use self::memory::BodyMemory;
use self::sniff::Protocol;
use self::stop::Stop;
use crate::base::limits::Limits;
use crate::base::seldom::Seldom;
use crate::road::{Peer, Road};

/// What all connections of one server share.
#[derive(Debug)]
pub struct Service {
    road: Road,
    log: Option<AccessLog>,
    memory: BodyMemory,
    answers: BodyMemory,
    stop: Stop,
    http2_faults: AtomicU64,
    turned_away: Seldom,
    blocked: AtomicU64,
}

impl Service {
    /// A service on `road`.
    #[must_use]
    pub fn new(road: Road, log: Option<AccessLog>, stop: Stop) -> Self {
        let memory = BodyMemory::new(road.limits().body_memory);
        let answers = BodyMemory::new(road.limits().answer_memory);
        Self {
            road,
            log,
            memory,
            answers,
            stop,
            http2_faults: AtomicU64::new(0),
            turned_away: Seldom::default(),
            blocked: AtomicU64::new(0),
        }
    }

    /// The road.
    #[must_use]
    pub fn road(&self) -> &Road {
        &self.road
    }

    /// The phase that ends the service.
    #[must_use]
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// How many HTTP/2 connections ended by what their peers sent: a violation of the protocol (RFC 9113 5.4.1), or a flood. None of it
    /// reaches the road, so that no row of the rejection table counts it.
    #[must_use]
    pub fn http2_faults(&self) -> u64 {
        self.http2_faults.load(Ordering::Relaxed)
    }

    /// Connections that were closed unread, because their peers had as many as they may.
    #[must_use]
    pub fn turned_away(&self) -> &Seldom {
        &self.turned_away
    }

    /// How often a worker was found blocked.
    #[must_use]
    pub fn blocked(&self) -> u64 {
        self.blocked.load(Ordering::Relaxed)
    }

    /// Counts a worker that is blocked.
    pub fn note_blocked(&self) {
        self.blocked.fetch_add(1, Ordering::Relaxed);
    }

    fn note_http2_fault(&self) {
        self.http2_faults.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an end that `h2` itself has brought about.
    fn note_http2_end(&self, error: &h2::Error) {
        if error.is_library() {
            self.note_http2_fault();
        }
    }

    fn limits(&self) -> &Limits {
        self.road.limits()
    }
}

/// Serves one connection until it ends, and holds `place` as long. Must run as a task of its own, inside a tokio runtime with time enabled.
///
/// No `async fn`: that would keep the room of its arguments beside the connection that is made of them, and a server has many of them.
pub fn serve<S, P>(service: Arc<Service>, io: S, peer: Peer, place: P) -> impl Future<Output = ()> + Send
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    P: Send,
{
    let mut connection = Connection::new(service, io, peer);
    async move {
        let end = match protocol(&mut connection).await {
            Ok(Protocol::Http2) => {
                let (io, first) = connection.into_parts();
                // Boxed, so that the connections that are not HTTP/2 do not pay for its size.
                Box::pin(http2::serve(io, first)).await;
                return drop(place);
            }
            Ok(Protocol::Http1 | Protocol::Undecided) => match connection.serve_http1().await {
                Err(end) => end,
                Ok(never) => match never {},
            },
            Err(end) => end,
        };
        connection.finish(end).await;
        drop(place);
    }
}

/// Reads until the protocol is known, or until nothing more comes: HTTP/1.x then has the last word.
async fn protocol<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    connection: &mut Connection<S>,
) -> Flow<Protocol> {
    loop {
        match sniff::judge(connection.waiting()) {
            Protocol::Undecided => connection.await_head(Instant::now()).await?,
            known @ (Protocol::Http1 | Protocol::Http2) => return Ok(known),
        }
    }
}
