//! A connection without a socket, whose server reads its bytes in pieces of a test's choice. Over TCP nobody can tell what a read will
//! give; here each read gives one piece, and between two pieces there is nothing to read for once.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};
use tokio::runtime::{Builder, Runtime};
use twolane::conn::stop::Stop;
use twolane::conn::{Service, serve};
use twolane::road::{Peer, Road};

use super::http2;
use super::message::{Request, Response};

/// How the bytes that a client sends reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// As they come.
    Whole,
    /// One by one, up to so many; the rest as they come.
    Single(usize),
    /// Up to here, and then the rest.
    Cut(usize),
}

/// The server's end.
struct Pieces {
    inner: DuplexStream,
    delivery: Delivery,
    read: usize,
    paused: bool,
}

impl Pieces {
    /// How many bytes the next read may give, and whether there is a pause before it.
    fn next(&self) -> (usize, bool) {
        match self.delivery {
            Delivery::Single(most) if self.read < most => (1, self.read > 0),
            Delivery::Cut(at) if self.read < at => (at - self.read, false),
            Delivery::Cut(at) => (usize::MAX, self.read == at),
            Delivery::Whole | Delivery::Single(_) => (usize::MAX, false),
        }
    }
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (most, pause) = self.next();
        if pause && !self.paused {
            self.paused = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut piece = vec![0; buf.remaining().min(most)];
        let mut piece = ReadBuf::new(&mut piece);
        let polled = Pin::new(&mut self.inner).poll_read(cx, &mut piece);
        let read = piece.filled();
        if !read.is_empty() {
            buf.put_slice(read);
            self.read += read.len();
            self.paused = false;
        }
        polled
    }
}

impl AsyncWrite for Pieces {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// Makes connections to a road.
pub struct Wireless {
    runtime: Runtime,
    service: Arc<Service>,
}

/// What either side may have on the way.
const BUFFER: usize = 1 << 22;

impl Wireless {
    pub fn to(road: &Road) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, service: Arc::new(Service::new(road.clone(), None, Stop::new())) }
    }

    fn connect(&self, delivery: Delivery) -> (DuplexStream, impl Future<Output = ()> + Send + use<>) {
        let (client, inner) = tokio::io::duplex(BUFFER);
        let pieces = Pieces { inner, delivery, read: 0, paused: false };
        (client, serve(Arc::clone(&self.service), pieces, Peer::default(), ()))
    }

    /// Sends bytes on an HTTP/1.1 connection, ends its own side, and reads all that comes.
    pub fn http1(&self, bytes: &[u8], delivery: Delivery) -> Vec<u8> {
        let (mut client, served) = self.connect(delivery);
        self.runtime.block_on(async {
            client.write_all(bytes).await.expect("room for all of it");
            client.shutdown().await.expect("ending this side");
            let mut answer = Vec::new();
            let read = client.read_to_end(&mut answer);
            let ((), read) = tokio::join!(served, read);
            read.expect("reading to the end");
            answer
        })
    }

    /// Sends requests on one HTTP/2 connection, one after the other.
    pub fn http2(&self, requests: &[&Request], delivery: Delivery) -> Vec<Response> {
        let (client, served) = self.connect(delivery);
        self.runtime.block_on(async {
            let served = tokio::spawn(served);
            let (send, connection) = http2::handshake(client).await;
            let driver = tokio::spawn(connection);
            let mut responses = Vec::new();
            for request in requests {
                let exchanged = http2::exchange(send.clone(), request).await;
                responses.push(exchanged.unwrap_or_else(|error| panic!("{error}: {delivery:?} {request:?}")));
            }
            drop(send);
            driver.await.expect("no panic").expect("a good end");
            served.await.expect("no panic");
            responses
        })
    }
}
