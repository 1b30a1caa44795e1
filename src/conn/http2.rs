//! HTTP/2 (RFC 9113): the connection. Framing, HPACK and flow control are `h2`'s; here its bounds are set and its streams are handed to the
//! road.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use h2::server::{Builder, Connection};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::Service;
use super::connection::Handover;
use super::h2_bell::{Bellhop, Watch};
use super::h2_request;
use super::h2_signs::Signs;
use super::memory::BodyMemory;
use super::replay::Replay;
use super::stop::{Phase, StopWatch};
use super::timer::{Timer, after};
use crate::base::limits::Limits;
use crate::road::Peer;

/// How long a connection without streams gets to acknowledge its end, in milliseconds.
const FAREWELL: u64 = 1_000;
/// What one stream may hold unsent.
const SEND_BUFFER: usize = 256 * 1024;
/// Streams reset by us that are remembered, and for how long.
const RESET_STREAMS: usize = 50;
const RESET_MEMORY: Duration = Duration::from_secs(1);
/// Streams reset by the peer before they were looked at: more end the connection.
const PENDING_RESETS: usize = 20;
/// Streams reset by us for the peer's faults, in all: more end the connection. The meter counts how many there are in a second, but not those
/// that the peer does not read.
pub(super) const FAULT_RESETS: u32 = 1_024;

/// Serves an HTTP/2 connection whose first bytes have been read already.
pub(super) async fn serve<S>(handover: Handover<S>, first: Vec<u8>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Handover { io, service, peer, mut timer, mut stop } = handover;
    timer.set(after(service.limits().head_timeout));
    let io = Replay::new(first, io, service.limits());
    let signs = io.signs();
    let mut handshake = pin!(builder(service.limits()).handshake::<_, Bytes>(io));
    let shaken = poll_fn(|cx| {
        if let Poll::Ready(shaken) = handshake.as_mut().poll(cx) {
            return Poll::Ready(shaken.inspect_err(|error| service.note_http2_end(error)).ok());
        }
        if stop.poll(cx) == Phase::Stopped { Poll::Ready(None) } else { timer.poll(cx).map(|()| None) }
    });
    let Some(connection) = shaken.await else { return };
    let unsent = BodyMemory::new(service.limits().h2_unsent);
    let mut http2 = Http2 {
        connection,
        service,
        peer,
        timer,
        stop,
        unsent,
        accepted: 0,
        quiet_due: None,
        course: Course::Open,
        signs,
    };
    let mut bellhop = Bellhop::default();
    poll_fn(|cx| bellhop.turn(cx, |watch, cx| http2.poll(watch, cx))).await;
}

fn builder(limits: &Limits) -> Builder {
    let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(small(limits.h2_streams))
        .initial_window_size(small(limits.h2_stream_window))
        .initial_connection_window_size(small(limits.h2_connection_window))
        .max_header_list_size(small(limits.head))
        .max_send_buffer_size(SEND_BUFFER)
        .max_concurrent_reset_streams(RESET_STREAMS)
        .reset_stream_duration(RESET_MEMORY)
        .max_pending_accept_reset_streams(PENDING_RESETS)
        .max_local_error_reset_streams(usize::try_from(FAULT_RESETS).ok());
    builder
}

/// How far a connection's end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Course {
    Open,
    /// The peer has been told to go.
    Parting,
    /// A flood has been answered.
    Calmed,
    /// Nothing more is sent; what still comes is dropped.
    Shut,
    /// Nothing is waited for any more.
    Over,
}

struct Http2<S: AsyncRead + AsyncWrite + Unpin> {
    connection: Connection<Replay<S>, Bytes>,
    service: Arc<Service>,
    peer: Peer,
    timer: Timer,
    stop: StopWatch,
    /// Memory for answers that wait for the peer's windows.
    unsent: BodyMemory,
    /// Streams accepted, counted round and compared with the heads that have come.
    accepted: u32,
    /// When a connection without streams has been quiet for too long.
    quiet_due: Option<Instant>,
    course: Course,
    /// What is seen of the peer under `h2`.
    signs: Arc<Signs>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Http2<S> {
    /// Ready when the connection has ended.
    fn poll(&mut self, watch: &Watch<'_>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.poll_streams(watch, cx).is_ready() {
                return Poll::Ready(());
            }
            if self.signs.flooded() && self.course < Course::Calmed {
                self.course = Course::Calmed;
                self.service.note_http2_fault();
                self.connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
                continue;
            }
            match self.stop.poll(cx) {
                Phase::Running if !self.signs.worn() => {}
                Phase::Running | Phase::Draining if self.course >= Course::Parting => {}
                Phase::Running | Phase::Draining => {
                    self.part();
                    continue;
                }
                Phase::Stopped => return Poll::Ready(()),
            }
            let stuck_due = self.set_timer();
            if self.timer.poll(cx).is_pending() {
                return Poll::Pending;
            }
            if self.course == Course::Shut {
                // `h2` has yet to say why.
                self.course = Course::Over;
                self.signs.leave();
                continue;
            }
            // Small answers wait inside `h2`, where no stream's own deadline sees them.
            if self.course >= Course::Parting || stuck_due.is_some_and(|due| due <= Instant::now()) {
                return Poll::Ready(());
            }
            self.part();
        }
    }

    /// Sets the timer to what is due first. Gives the time at which a peer that takes nothing has done so for too long.
    fn set_timer(&mut self) -> Option<Instant> {
        let timeout = Duration::from_millis(self.service.limits().write_timeout);
        let stuck_due = self.signs.stuck_since().map(|since| since + timeout);
        if self.signs.shut() {
            if self.course < Course::Shut {
                self.course = Course::Shut;
                self.quiet_due = Some(after(FAREWELL));
            }
        } else if self.connection.has_streams() {
            self.quiet_due = None;
        } else {
            let parting = self.course >= Course::Parting;
            let quiet = if parting { FAREWELL } else { self.service.limits().idle_timeout };
            self.quiet_due.get_or_insert_with(|| after(quiet));
        }
        self.timer.set_first([stuck_due, self.quiet_due]);
        stuck_due
    }

    /// Tells the peer to open no more streams; those that are open go on.
    fn part(&mut self) {
        self.connection.graceful_shutdown();
        self.course = Course::Parting;
        self.quiet_due = None;
    }

    /// Moves the connection and serves its new streams. One that does not answer at once becomes a task.
    ///
    /// `h2` flushes whenever it is asked for a stream. While more of them have come, the answers of those before are held back, so that all
    /// leave in one write.
    fn poll_streams(&mut self, watch: &Watch<'_>, cx: &mut Context<'_>) -> Poll<()> {
        let mut hold = false;
        loop {
            watch.look();
            self.signs.hold(hold);
            match self.connection.poll_accept(cx) {
                Poll::Ready(Some(Ok((request, respond)))) => {
                    self.quiet_due = None;
                    let slow =
                        h2_request::serve(&self.service, self.peer, request, respond, &self.unsent, cx);
                    if let Some(mut task) = slow
                        && task.as_mut().poll(cx).is_pending()
                    {
                        tokio::spawn(task);
                    }
                    self.accepted = self.accepted.wrapping_add(1);
                    hold = self.accepted != self.signs.heads();
                }
                // `h2` has sent what there was to say.
                Poll::Ready(Some(Err(error))) => {
                    self.service.note_http2_end(&error);
                    return Poll::Ready(());
                }
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => {
                    // Not all heads become streams.
                    self.accepted = self.signs.heads();
                    if !self.signs.holds() || !std::mem::replace(&mut hold, false) {
                        self.signs.hold(false);
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}
