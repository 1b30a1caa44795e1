//! The socket under HTTP/2: hands out the bytes that were read while the protocol was not known yet, then reads on.

use std::io;
use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A socket with bytes that come before its own.
#[derive(Debug)]
pub(super) struct Replay<S> {
    first: Vec<u8>,
    at: usize,
    io: S,
}

impl<S> Replay<S> {
    pub(super) const fn new(first: Vec<u8>, io: S) -> Self {
        Self { first, at: 0, io }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Replay<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.at == this.first.len() {
            return Pin::new(&mut this.io).poll_read(cx, out);
        }
        let count = out.remaining().min(this.first.len() - this.at);
        out.put_slice(&this.first[this.at..this.at + count]);
        this.at += count;
        if this.at == this.first.len() {
            (this.first, this.at) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Replay<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
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
        Pin::new(&mut self.io).poll_write_vectored(cx, parts)
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
