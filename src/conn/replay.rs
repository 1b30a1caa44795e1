//! The socket under HTTP/2: hands out the bytes that were read while the protocol was not known yet, then reads on. All of it passes a
//! meter.

use std::io;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::meter::Meter;

/// A socket with bytes that come before its own.
#[derive(Debug)]
pub(super) struct Replay<S> {
    first: Vec<u8>,
    at: usize,
    io: S,
    meter: Meter,
    signs: Arc<Signs>,
    /// Whether `signs` say that the peer takes nothing.
    stuck: bool,
}

/// What the owner of the connection is told of the socket that `h2` holds.
#[derive(Debug)]
pub(super) struct Signs {
    flooded: AtomicBool,
    made: Instant,
    /// Milliseconds after `made`; [`MOVING`] while the peer takes what is written.
    stuck: AtomicU64,
}

const MOVING: u64 = u64::MAX;

impl Signs {
    fn new() -> Self {
        Self { flooded: AtomicBool::new(false), made: Instant::now(), stuck: AtomicU64::new(MOVING) }
    }

    /// Whether the peer floods; nothing more is read then.
    pub(super) fn flooded(&self) -> bool {
        self.flooded.load(Ordering::Relaxed)
    }

    /// Since when the peer has taken nothing of what is to be written to it.
    pub(super) fn stuck_since(&self) -> Option<Instant> {
        match self.stuck.load(Ordering::Relaxed) {
            MOVING => None,
            millis => Some(self.made + Duration::from_millis(millis)),
        }
    }
}

impl<S> Replay<S> {
    pub(super) fn new(first: Vec<u8>, io: S) -> Self {
        Self { first, at: 0, io, meter: Meter::new(), signs: Arc::new(Signs::new()), stuck: false }
    }

    /// What is seen of the peer from here.
    pub(super) fn signs(&self) -> Arc<Signs> {
        Arc::clone(&self.signs)
    }

    /// Notes how a write went.
    fn wrote(&mut self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Ready(Ok(written)) => {
                self.meter.sent(*written);
                if std::mem::take(&mut self.stuck) {
                    self.signs.stuck.store(MOVING, Ordering::Relaxed);
                }
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending if self.stuck => {}
            Poll::Pending => {
                self.stuck = true;
                let millis = u64::try_from(self.signs.made.elapsed().as_millis()).unwrap_or(MOVING - 1);
                self.signs.stuck.store(millis, Ordering::Relaxed);
            }
        }
    }
}

impl<S: AsyncRead + Unpin> Replay<S> {
    fn poll_bytes(&mut self, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.at == self.first.len() {
            return Pin::new(&mut self.io).poll_read(cx, out);
        }
        let count = out.remaining().min(self.first.len() - self.at);
        out.put_slice(&self.first[self.at..self.at + count]);
        self.at += count;
        if self.at == self.first.len() {
            (self.first, self.at) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Replay<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.signs.flooded() {
            // Whoever owns the connection looks at the flag after every poll and ends it; there is nothing to be woken for.
            return Poll::Pending;
        }
        let before = out.filled().len();
        ready!(this.poll_bytes(cx, out))?;
        if this.meter.received(&out.filled()[before..]) {
            this.signs.flooded.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Replay<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.wrote(&written);
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, parts);
        self.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn the_first_bytes_come_first() {
        let mut replay = Replay::new(b"first".to_vec(), &b"second"[..]);
        let mut small = [0; 3];
        replay.read_exact(&mut small).await.unwrap();
        assert_eq!(&small, b"fir");
        let mut rest = Vec::new();
        replay.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"stsecond");
    }
}
