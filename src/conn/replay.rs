//! The socket under HTTP/2: hands out the bytes that were read while the protocol was not known yet, then reads on. All of it passes a
//! meter. What is written is held back while its owner says so: `h2` writes, and flushes, once for every frame of some length, and the
//! answers of one turn are to leave together.

use std::io;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::meter::Meter;

/// Most bytes held back, and the longest piece: a longer one is not worth the copy, and goes out at once behind what is held.
const MOST_HELD: usize = 64 * 1024;
const MOST_PIECE: usize = 8 * 1024;
/// Storage for held bytes that a connection keeps.
const KEPT: usize = 1024;

/// A socket with bytes that come before its own.
#[derive(Debug)]
pub(super) struct Replay<S> {
    first: Vec<u8>,
    at: usize,
    io: S,
    /// What is held back, or what the peer has not taken of it.
    held: Vec<u8>,
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
    /// Whether what is written may be held back.
    hold: AtomicBool,
    /// Whether anything is.
    holds: AtomicBool,
    /// Heads of requests seen, those among them that do not become streams.
    heads: AtomicU32,
}

const MOVING: u64 = u64::MAX;

impl Signs {
    fn new() -> Self {
        Self {
            flooded: AtomicBool::new(false),
            made: Instant::now(),
            stuck: AtomicU64::new(MOVING),
            hold: AtomicBool::new(false),
            holds: AtomicBool::new(false),
            heads: AtomicU32::new(0),
        }
    }

    /// Whether the peer floods; nothing more is read then.
    pub(super) fn flooded(&self) -> bool {
        self.flooded.load(Ordering::Relaxed)
    }

    /// Says whether what is written may be held back. Who has said so must say the contrary before waiting, and have `h2` flush.
    pub(super) fn hold(&self, hold: bool) {
        self.hold.store(hold, Ordering::Relaxed);
    }

    /// Whether anything is held back.
    pub(super) fn holds(&self) -> bool {
        self.holds.load(Ordering::Relaxed)
    }

    /// How many heads have come, counted round. Some are trailers, and some are refused by `h2`.
    pub(super) fn heads(&self) -> u32 {
        self.heads.load(Ordering::Relaxed)
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
        Self {
            first,
            at: 0,
            io,
            held: Vec::new(),
            meter: Meter::new(),
            signs: Arc::new(Signs::new()),
            stuck: false,
        }
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
        this.signs.heads.store(this.meter.heads(), Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> Replay<S> {
    /// Whether `more` bytes may be held back.
    fn may_hold(&self, more: usize) -> bool {
        more <= MOST_PIECE && self.held.len() + more <= MOST_HELD && self.signs.hold.load(Ordering::Relaxed)
    }

    /// Writes what is held back.
    fn poll_held(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.held.is_empty() {
            let written = Pin::new(&mut self.io).poll_write(cx, &self.held);
            self.wrote(&written);
            match ready!(written)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => drop(self.held.drain(..written)),
            }
        }
        if self.signs.holds() {
            self.signs.holds.store(false, Ordering::Relaxed);
            self.held.shrink_to(KEPT);
        }
        Poll::Ready(Ok(()))
    }

    /// Writes some of `parts`, of which `h2` has two at most, behind what is held back; or holds them back too.
    fn poll_parts(&mut self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let len = parts.iter().map(|part| part.len()).sum();
        if self.may_hold(len) {
            self.signs.holds.store(true, Ordering::Relaxed);
            for part in parts {
                self.held.extend_from_slice(part);
            }
            return Poll::Ready(Ok(len));
        }
        loop {
            let mut all = [IoSlice::new(&self.held), IoSlice::new(&[]), IoSlice::new(&[])];
            for (slot, part) in all[1..].iter_mut().zip(parts) {
                *slot = *part;
            }
            let all = if self.held.is_empty() { &all[1..] } else { &all[..] };
            let written = Pin::new(&mut self.io).poll_write_vectored(cx, all);
            self.wrote(&written);
            let written = ready!(written)?;
            let of_held = written.min(self.held.len());
            self.held.drain(..of_held);
            if written == 0 || written > of_held {
                return Poll::Ready(Ok(written - of_held));
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Replay<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_parts(cx, &[IoSlice::new(bytes)])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.may_hold(0) {
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_held(cx))?;
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_held(cx))?;
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_parts(cx, parts)
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

    /// A socket that takes so many bytes, and notes each write.
    #[derive(Default)]
    struct Writes {
        room: usize,
        seen: Vec<usize>,
    }

    impl AsyncWrite for Writes {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.as_mut().poll_write_vectored(cx, &[IoSlice::new(bytes)])
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            parts: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            let taken = parts.iter().map(|part| part.len()).sum::<usize>().min(self.room);
            if taken == 0 {
                return Poll::Pending;
            }
            self.room -= taken;
            self.seen.push(taken);
            Poll::Ready(Ok(taken))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn write(replay: &mut Replay<Writes>, len: usize) -> Poll<usize> {
        let cx = &mut Context::from_waker(std::task::Waker::noop());
        Pin::new(replay).poll_write(cx, &vec![0; len]).map(Result::unwrap)
    }

    fn flush(replay: &mut Replay<Writes>) -> bool {
        let cx = &mut Context::from_waker(std::task::Waker::noop());
        Pin::new(replay).poll_flush(cx).map(Result::unwrap).is_ready()
    }

    #[test]
    fn what_is_held_back_leaves_in_one_write() {
        let mut replay = Replay::new(Vec::new(), Writes { room: 100_000, seen: Vec::new() });
        let signs = replay.signs();
        signs.hold(true);
        for len in [10, 20] {
            assert_eq!(write(&mut replay, len), Poll::Ready(len));
            assert!(flush(&mut replay) && signs.holds());
        }
        assert!(replay.io.seen.is_empty());
        signs.hold(false);
        assert!(flush(&mut replay) && !signs.holds());
        assert_eq!(replay.io.seen, [30]);
        assert_eq!(write(&mut replay, 5), Poll::Ready(5));
        assert_eq!(replay.io.seen, [30, 5]);
    }

    #[test]
    fn little_is_held_back() {
        let mut replay = Replay::new(Vec::new(), Writes { room: 100_000, seen: Vec::new() });
        replay.signs().hold(true);
        for len in std::iter::repeat_n(MOST_PIECE, MOST_HELD / MOST_PIECE).chain([1]) {
            assert_eq!(write(&mut replay, len), Poll::Ready(len));
        }
        assert_eq!(replay.io.seen, [MOST_HELD + 1]);
        assert_eq!(write(&mut replay, MOST_PIECE), Poll::Ready(MOST_PIECE));
        assert_eq!(replay.io.seen, [MOST_HELD + 1]);
        assert_eq!(write(&mut replay, MOST_PIECE + 1), Poll::Ready(MOST_PIECE + 1));
        assert_eq!(replay.io.seen, [MOST_HELD + 1, 2 * MOST_PIECE + 1]);
    }

    #[test]
    fn a_peer_that_takes_little_of_what_is_held_back() {
        let mut replay = Replay::new(Vec::new(), Writes { room: 7, seen: Vec::new() });
        let signs = replay.signs();
        signs.hold(true);
        assert_eq!(write(&mut replay, 10), Poll::Ready(10));
        signs.hold(false);
        assert!(!flush(&mut replay) && signs.holds() && signs.stuck_since().is_some());
        assert!(write(&mut replay, 4).is_pending());
        replay.io.room = 5;
        assert_eq!(write(&mut replay, 4), Poll::Ready(2));
        assert!(signs.stuck_since().is_none() && flush(&mut replay) && !signs.holds());
        assert_eq!(replay.io.seen, [7, 5]);
    }
}
