//! The socket under HTTP/2: hands out the bytes that were read while the protocol was not known yet, then reads on. All of it passes a
//! meter. What is written is held back while its owner says so: `h2` writes, and flushes, once for every frame of some length, and the
//! answers of one turn are to leave together.

use std::io;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::h2_signs::{MOVING, Signs};
use super::meter::{Meter, Verdict};
use crate::base::limits::Limits;

/// Most bytes held back, and the longest piece: a longer one is not worth the copy, and goes out at once behind what is held.
const MOST_HELD: usize = 64 * 1024;
const MOST_PIECE: usize = 8 * 1024;
/// Most bytes that are dropped after the server's side has ended.
const MOST_DROPPED: usize = 1024 * 1024;
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
    /// While `signs` say that the peer takes nothing: how much it has taken all the same.
    stuck: Option<u64>,
    /// How much is progress.
    progress: u64,
    /// Bytes dropped after the end of what is written; none before that.
    dropped: Option<usize>,
}

impl<S> Replay<S> {
    pub(super) fn new(first: Vec<u8>, io: S, limits: &Limits) -> Self {
        Self {
            first,
            at: 0,
            io,
            held: Vec::new(),
            meter: Meter::new(limits),
            signs: Arc::new(Signs::new()),
            stuck: None,
            progress: limits.h2_progress,
            dropped: None,
        }
    }

    /// What is seen of the peer from here.
    pub(super) fn signs(&self) -> Arc<Signs> {
        Arc::clone(&self.signs)
    }

    /// Notes how a write went.
    fn wrote(&mut self, written: &Poll<io::Result<usize>>) {
        match (written, &mut self.stuck) {
            (Poll::Ready(Ok(written)), Some(taken)) => {
                *taken = taken.saturating_add(u64::try_from(*written).unwrap_or(u64::MAX));
                if *taken >= self.progress {
                    self.unstuck();
                }
            }
            (Poll::Pending, stuck @ None) => {
                *stuck = Some(0);
                let millis = u64::try_from(self.signs.made.elapsed().as_millis()).unwrap_or(MOVING - 1);
                self.signs.stuck.store(millis, Ordering::Relaxed);
            }
            (Poll::Ready(_), None) | (Poll::Ready(Err(_)) | Poll::Pending, Some(_)) => {}
        }
    }

    /// Notes that the peer takes what is written.
    fn unstuck(&mut self) {
        if self.stuck.take().is_some() {
            self.signs.stuck.store(MOVING, Ordering::Relaxed);
        }
    }

    /// Notes what `h2` has got rid of.
    fn sent(&mut self, parts: &[IoSlice<'_>], mut count: usize) {
        for part in parts {
            let taken = count.min(part.len());
            count -= taken;
            match self.meter.sent(&part[..taken]) {
                Verdict::Work => {}
                Verdict::Worn => self.signs.worn.store(true, Ordering::Relaxed),
                Verdict::Flood => self.signs.flooded.store(true, Ordering::Relaxed),
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
            self.sent(parts, len);
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
                self.sent(parts, written - of_held);
                return Poll::Ready(Ok(written - of_held));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Replay<S> {
    /// Reads and drops what still comes: a socket closed with unread bytes is reset, and a reset can overtake the last frames. Its owner
    /// bounds the time.
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut scratch = [0; 4096];
        while !self.signs.left.load(Ordering::Relaxed) {
            let mut out = ReadBuf::new(&mut scratch);
            let read = ready!(Pin::new(&mut self.io).poll_read(cx, &mut out));
            let dropped = self.dropped.get_or_insert(0);
            *dropped += out.filled().len();
            if read.is_err() || out.filled().is_empty() || *dropped > MOST_DROPPED {
                break;
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Replay<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_parts(cx, &[IoSlice::new(bytes)])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.may_hold(0) {
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_held(cx))?;
        self.unstuck();
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.dropped.is_none() {
            ready!(self.poll_held(cx))?;
            ready!(Pin::new(&mut self.io).poll_shutdown(cx))?;
            self.dropped = Some(0);
            self.signs.shut.store(true, Ordering::Relaxed);
        }
        self.poll_rest(cx).map(Ok)
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
        let mut replay = Replay::new(b"first".to_vec(), &b"second"[..], &Limits::default());
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

    impl AsyncRead for Writes {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
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
        let mut replay =
            Replay::new(Vec::new(), Writes { room: 100_000, seen: Vec::new() }, &Limits::default());
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
        let mut replay =
            Replay::new(Vec::new(), Writes { room: 100_000, seen: Vec::new() }, &Limits::default());
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
        let limits = Limits { h2_progress: 5, ..Limits::default() };
        let mut replay = Replay::new(Vec::new(), Writes { room: 7, seen: Vec::new() }, &limits);
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
        for (room, stuck) in [(0, true), (4, true), (1, false)] {
            replay.io.room = room;
            let _ = write(&mut replay, 9);
            assert_eq!(signs.stuck_since().is_some(), stuck, "{room}");
        }
        let _ = write(&mut replay, 9);
        assert!(signs.stuck_since().is_some() && flush(&mut replay) && signs.stuck_since().is_none());
    }
}
