//! One HTTP/1.x connection: its socket, the storage it holds right now, its one timer, and the four ways it waits.
//!
//! An `async fn` is the state machine; what is here are the moves it is made of. Every wait also watches the deadline and the server's
//! phase, so that no state can outlive either.

use std::future::{Future, poll_fn};
use std::io;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::Service;
use super::access::Note;
use super::scratch::{Reader, Writer};
use super::stop::{Phase, StopWatch};
use super::timer::{Timer, after};
use crate::road::Peer;

/// Why a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The peer is gone, or must not be waited for: drop the socket.
    Gone,
    /// The last answer has been written or waits in `out`: let the peer read it.
    Answered,
}

/// What a step of a connection gives, or its end.
pub(super) type Flow<T> = Result<T, End>;

/// What waiting for bytes gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    /// Some bytes.
    Bytes,
    /// The peer has ended its side.
    Ended,
    /// The deadline passed.
    Late,
    /// The server drains; told only to those who ask.
    Draining,
}

/// An HTTP/1.x connection, or one that has not shown its protocol yet.
pub(super) struct Connection<S> {
    pub(super) io: S,
    pub(super) service: Arc<Service>,
    pub(super) peer: Peer,
    /// Held while bytes wait.
    pub(super) reader: Option<Box<Reader>>,
    /// Held while a request is open or an answer waits.
    pub(super) writer: Option<Box<Writer>>,
    pub(super) timer: Timer,
    pub(super) stop: StopWatch,
    /// When the peer's side ended.
    pub(super) ended: Option<Instant>,
    /// When the head that is awaited must be complete. From the accept on for the first one, from its first byte for later ones.
    pub(super) head_due: Option<Instant>,
    /// The access log's note on the open request.
    pub(super) note: Option<Box<Note>>,
}

/// What another protocol takes over.
pub(super) struct Handover<S> {
    pub(super) io: S,
    pub(super) service: Arc<Service>,
    pub(super) peer: Peer,
    pub(super) timer: Timer,
    pub(super) stop: StopWatch,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(super) fn new(service: Arc<Service>, io: S, peer: Peer) -> Self {
        let head_due = Some(after(service.limits().head_timeout));
        let stop = service.stop.watch();
        Self {
            io,
            service,
            peer,
            reader: None,
            writer: None,
            timer: Timer::default(),
            stop,
            ended: None,
            head_due,
            note: None,
        }
    }

    /// What time it is.
    pub(super) fn now(&mut self) -> Instant {
        *self.writer().now.get_or_insert_with(Instant::now)
    }

    /// Has the clock read anew: something has been waited for.
    pub(super) fn forget_now(&mut self) {
        if let Some(writer) = &mut self.writer {
            writer.now = None;
        }
    }

    /// The reader, taken from the shelf if none is held.
    pub(super) fn reader(&mut self) -> &mut Reader {
        self.reader.get_or_insert_with(|| Reader::take(&self.service.road))
    }

    /// The writer, taken from the shelf if none is held.
    pub(super) fn writer(&mut self) -> &mut Writer {
        self.writer.get_or_insert_with(|| Writer::take(self.service.log.is_some()))
    }

    /// Both at once, and the service.
    pub(super) fn parts(&mut self) -> (&mut Reader, &mut Writer, &Service, &Peer) {
        let service = &*self.service;
        let reader = self.reader.get_or_insert_with(|| Reader::take(&service.road));
        let writer = self.writer.get_or_insert_with(|| Writer::take(service.log.is_some()));
        (reader, writer, service, &self.peer)
    }

    /// The bytes that wait.
    pub(super) fn waiting(&self) -> &[u8] {
        self.reader.as_ref().map_or(&[], |reader| reader.read.filled())
    }

    /// Drops `bytes` from the front of what waits.
    pub(super) fn consume(&mut self, bytes: usize) {
        if let Some(reader) = &mut self.reader {
            reader.read.consume(bytes);
        }
    }

    /// The socket and the bytes read from it, for another protocol.
    pub(super) fn into_parts(mut self) -> (Handover<S>, Vec<u8>) {
        let first = self.waiting().to_vec();
        self.release();
        (
            Handover {
                io: self.io,
                service: self.service,
                peer: self.peer,
                timer: self.timer,
                stop: self.stop,
            },
            first,
        )
    }

    /// Puts all storage back.
    pub(super) fn release(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.put();
        }
        if let Some(writer) = self.writer.take() {
            writer.put();
        }
    }

    /// Puts storage back that holds nothing.
    pub(super) fn rest(&mut self) {
        if self.waiting().is_empty()
            && let Some(reader) = self.reader.take()
        {
            reader.put();
        }
        if self.note.is_none()
            && let Some(writer) = self.writer.take_if(|writer| !writer.has_unsent())
        {
            writer.put();
        }
    }

    /// Puts a large reader back and keeps only what waits in it: a call may go on for long, and the memory that its body took is not
    /// its own any more.
    pub(super) fn set_aside(&mut self) {
        let Some(large) = self.reader.take_if(|reader| reader.is_large()) else { return };
        if !large.read.is_empty() {
            let mut small = Reader::fresh(&self.service.road);
            small.read.extend(large.read.filled());
            self.reader = Some(small);
        }
        large.put();
    }

    /// Reads once. Ready with 0 when the peer has ended its side.
    pub(super) fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.ended.is_some() {
            return Poll::Ready(Ok(0));
        }
        let reader = self.reader.get_or_insert_with(|| Reader::take(&self.service.road));
        let mut room = ReadBuf::new(reader.read.room());
        let polled = Pin::new(&mut self.io).poll_read(cx, &mut room);
        let read = room.filled().len();
        reader.read.advance(read);
        if reader.read.is_empty()
            && let Some(reader) = self.reader.take()
        {
            reader.put();
        }
        ready!(polled)?;
        if read == 0 {
            self.ended = Some(Instant::now());
        }
        Poll::Ready(Ok(read))
    }

    /// Writes until nothing is left. Every call that gets on moves the `sent` mark.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(writer) = &mut self.writer else { return Poll::Ready(Ok(())) };
        let mut io = Pin::new(&mut self.io);
        loop {
            let (out, tail) = writer.unsent();
            let written = match (out.is_empty(), tail.is_empty()) {
                (true, true) => break,
                (false, true) => ready!(io.as_mut().poll_write(cx, out))?,
                (true, false) => ready!(io.as_mut().poll_write(cx, tail))?,
                (false, false) => {
                    ready!(io.as_mut().poll_write_vectored(cx, &[IoSlice::new(out), IoSlice::new(tail)]))?
                }
            };
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            writer.sent += written;
        }
        writer.out.clear();
        writer.sent = 0;
        writer.tail = false;
        io.poll_flush(cx)
    }

    /// Ready when the deadline has passed or the server has stopped; tells which by the phase.
    pub(super) fn poll_limits(&mut self, cx: &mut Context<'_>) -> Poll<Phase> {
        let phase = self.stop.poll(cx);
        if phase == Phase::Stopped {
            return Poll::Ready(phase);
        }
        self.timer.poll(cx).map(|()| phase)
    }

    /// Waits for bytes until `deadline`; with `yields`, until the server drains. No `async fn`, whose arguments would be kept for as long as it
    /// waits: the timer has the deadline.
    pub(super) fn fill(&mut self, deadline: Instant, yields: bool) -> impl Future<Output = Flow<Fill>> {
        self.forget_now();
        self.timer.set(deadline);
        poll_fn(move |cx| {
            if let Poll::Ready(read) = self.poll_fill(cx) {
                return Poll::Ready(match read {
                    Ok(0) => Ok(Fill::Ended),
                    Ok(_) => Ok(Fill::Bytes),
                    Err(_) => Err(End::Gone),
                });
            }
            if yields && self.stop.poll(cx) != Phase::Running {
                return Poll::Ready(Ok(Fill::Draining));
            }
            self.poll_limits(cx)
                .map(|phase| if phase == Phase::Stopped { Err(End::Gone) } else { Ok(Fill::Late) })
        })
    }

    /// Writes everything that waits, between requests. What is not taken at once is seen to in a box, so that a connection at rest does not
    /// hold the room for it.
    pub(super) async fn deliver(&mut self) -> Flow<()> {
        match poll_fn(|cx| Poll::Ready(self.poll_flush(cx))).await {
            Poll::Ready(done) => done.map_err(|_| End::Gone),
            Poll::Pending => Box::pin(self.deliver_slowly()).await,
        }
    }

    /// Puts back what the request needed, and has what the answers hold count; where the budget has no room for it the connection ends.
    async fn deliver_slowly(&mut self) -> Flow<()> {
        self.set_aside();
        let mut share = self.service.answers.share();
        let held = self.writer.as_mut().map_or(0, |writer| writer.trimmed());
        if share.cover(held) { self.flush().await } else { Err(End::Gone) }
    }

    /// Writes everything that waits. The write timeout runs from the last progress.
    pub(super) async fn flush(&mut self) -> Flow<()> {
        let mut sent = usize::MAX;
        poll_fn(|cx| {
            if let Poll::Ready(done) = self.poll_flush(cx) {
                return Poll::Ready(done.map_err(|_| End::Gone));
            }
            self.forget_now();
            let now_sent = self.writer.as_ref().map_or(0, |writer| writer.sent);
            if sent != now_sent {
                sent = now_sent;
                self.timer.set(after(self.service.limits().write_timeout));
            }
            self.poll_limits(cx).map(|_| Err(End::Gone))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::limits::Limits;
    use crate::conn::stop::Stop;
    use crate::road::Road;
    use crate::road::settings::Settings;
    use crate::tables::versions::Revision;
    use crate::tools::{Behind, CacheScope, Identity, Registry, ServerInfo};

    /// One byte behind a large body must not keep its buffer and tape for as long as a call runs.
    #[test]
    fn what_waits_behind_a_large_body_moves_to_a_small_buffer() {
        let limits = Limits::default();
        let identity = Identity::new(&ServerInfo::new("test", "0"), Revision::ALL, 0, CacheScope::Public);
        let behind = Behind::new(Registry::new(&limits), identity, &limits);
        let road = Road::new(Settings::default(), Clock::system(), behind);
        let service = Arc::new(Service::new(road, None, Stop::new()));
        let mut connection = Connection::new(service, tokio::io::empty(), Peer::default());
        connection.reader().read.reserve(8_000_000);
        connection.reader().read.extend(b"POST");
        connection.set_aside();
        assert_eq!(connection.waiting(), b"POST");
        assert!(!connection.reader().is_large());
        connection.consume(4);
        connection.reader().read.reserve(8_000_000);
        connection.set_aside();
        assert!(connection.reader.is_none());
    }
}
