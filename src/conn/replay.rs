//! The socket under HTTP/2: hands out the bytes that were read while the protocol was not known yet, then reads on. All of it passes a
//! meter.

use std::io;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::meter::Meter;

/// A socket with bytes that come before its own.
#[derive(Debug)]
pub(super) struct Replay<S> {
    first: Vec<u8>,
    at: usize,
    io: S,
    meter: Meter,
    flooded: Arc<AtomicBool>,
}

impl<S> Replay<S> {
    pub(super) fn new(first: Vec<u8>, io: S) -> Self {
        Self { first, at: 0, io, meter: Meter::new(), flooded: Arc::default() }
    }

    /// Becomes true when the peer floods; nothing more is read then.
    pub(super) fn flooded(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flooded)
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
        if this.flooded.load(Ordering::Relaxed) {
            // Whoever owns the connection looks at the flag after every poll and ends it; there is nothing to be woken for.
            return Poll::Pending;
        }
        let before = out.filled().len();
        ready!(this.poll_bytes(cx, out))?;
        if this.meter.received(&out.filled()[before..]) {
            this.flooded.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Replay<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.io).poll_write(cx, bytes))?;
        self.meter.sent(written);
        Poll::Ready(Ok(written))
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
        let written = ready!(Pin::new(&mut self.io).poll_write_vectored(cx, parts))?;
        self.meter.sent(written);
        Poll::Ready(Ok(written))
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
