//! A call that did not answer at once, on HTTP/1.x: it is polled while the socket is watched, and becomes an event stream the moment it
//! sends something before its answer.

use std::future::poll_fn;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::connection::{Connection, End, Flow};
use super::framing::Frame;
use super::hang_up::{Gone, HangUp};
use super::stop::Phase;
use super::stream::{Stream, abandon, stage_answer};
use super::timer::after;
use crate::reply::head::{Framing, Persistence, write_http1};
use crate::reply::sse;
use crate::road::{Pending, Step};
use crate::view::head::HttpVersion;

/// Most bytes read ahead while a call runs.
const READ_AHEAD: usize = 64 * 1024;

/// A peer that takes nothing.
struct Stall {
    /// How much it had taken when it stopped.
    sent: usize,
    /// When it has taken nothing for too long.
    due: Instant,
}

/// A peer of which as much waits as is read ahead.
#[derive(Default)]
struct Ahead {
    /// Made once, where it can be.
    hang_up: Option<Option<HangUp>>,
    /// When it was seen that its side has ended.
    ended: Option<Instant>,
}

/// Why a call gets a turn.
enum Turn {
    /// It moved.
    Step(Step),
    /// The stream has been quiet for long enough.
    Quiet,
    /// The peer is gone, too slow, or has been half gone for too long.
    Abandon,
}

impl<S: AsyncRead + AsyncWrite + Unpin + 'static> Connection<S> {
    /// Sees a call through.
    pub(super) async fn pending(&mut self, frame: Frame, mut call: Pending) -> Flow<()> {
        let mut stream = None;
        let mut stalled = None;
        let mut ahead = Ahead::default();
        loop {
            match self.turn(&mut call, &mut stream, &mut stalled, &mut ahead).await {
                Turn::Step(Step::Event(event)) => {
                    let open = match &mut stream {
                        Some(open) => open,
                        None => stream.insert(self.open_stream(frame)),
                    };
                    self.writer().stage.extend_from_slice(&event);
                    open.touched(self.service.limits());
                }
                Turn::Step(Step::Cut(event)) => {
                    let stream = stream.unwrap_or_else(|| self.open_stream(frame));
                    self.writer().stage.extend_from_slice(&event);
                    return self.end_stream(stream);
                }
                Turn::Step(Step::Done(reply)) => {
                    return match stream {
                        Some(stream) => {
                            stage_answer(self.writer());
                            self.end_stream(stream)
                        }
                        None => {
                            self.answer(frame, &reply, false)?;
                            self.flush_tail().await
                        }
                    };
                }
                Turn::Quiet => {
                    self.writer().stage.extend_from_slice(sse::COMMENT);
                    if let Some(open) = &mut stream {
                        open.touched(self.service.limits());
                    }
                }
                Turn::Abandon => {
                    // Answers go out in order, so that with this one given up no request behind it could be answered any more: they
                    // end with the connection, undispatched, also those that came whole before the peer's side ended.
                    abandon(call);
                    if let Some(stream) = stream {
                        self.log(Stream::REPLY.status, stream.bytes);
                    }
                    return Err(End::Gone);
                }
            }
        }
    }

    /// Polls everything that can move the call on. The call goes first, so that whatever it has queued leaves in one write; but not while the
    /// peer leaves too much unread. A stall outlives the turn: what is queued meanwhile is no progress.
    async fn turn(
        &mut self,
        call: &mut Pending,
        stream: &mut Option<Stream>,
        stalled: &mut Option<Stall>,
        ahead: &mut Ahead,
    ) -> Turn {
        let limits = self.service.limits();
        let most = usize::try_from(limits.batch_bytes).unwrap_or(usize::MAX);
        poll_fn(|cx| {
            loop {
                let writer = self.writer();
                let full = writer.out.len() - writer.sent.min(writer.out.len()) + writer.stage.len() >= most;
                if !full && let Poll::Ready(step) = call.poll(cx, &mut writer.ex) {
                    return Poll::Ready(Turn::Step(step));
                }
                if let Some(stream) = &mut *stream {
                    stream.seal(writer);
                }
                match self.poll_flush(cx) {
                    Poll::Ready(Err(_)) => return Poll::Ready(Turn::Abandon),
                    Poll::Ready(Ok(())) => *stalled = None,
                    Poll::Pending => {
                        let sent = self.writer().sent;
                        if stalled.as_ref().is_none_or(|stall| stall.sent != sent) {
                            *stalled = Some(Stall { sent, due: after(self.service.limits().write_timeout) });
                        }
                        break;
                    }
                }
                if !full {
                    break;
                }
            }
            if self.watch(ahead, cx).is_ready() {
                return Poll::Ready(Turn::Abandon);
            }
            let grace = std::time::Duration::from_millis(self.service.limits().half_close_grace);
            let ended = self.ended.or(ahead.ended).map(|ended| ended + grace);
            let stalled = stalled.as_ref().map(|stall| stall.due);
            // A peer that takes nothing needs no comment behind what it does not take.
            let comment = stream.as_ref().and_then(|stream| stream.comment_due).filter(|_| stalled.is_none());
            self.timer.set_first([ended, stalled, comment]);
            self.poll_limits(cx).map(|phase| {
                let now = Instant::now();
                let over = |due: Option<Instant>| due.is_some_and(|due| due <= now);
                if phase == Phase::Stopped || over(ended) || over(stalled) {
                    Turn::Abandon
                } else {
                    Turn::Quiet
                }
            })
        })
        .await
    }

    /// Reads ahead, to notice that the peer is gone. Ready when it is.
    fn watch(&mut self, ahead: &mut Ahead, cx: &mut Context<'_>) -> Poll<()> {
        while self.ended.is_none() && self.waiting().len() < READ_AHEAD {
            match self.poll_fill(cx) {
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Pending => break,
            }
        }
        if self.ended.is_none() && ahead.ended.is_none() && self.waiting().len() >= READ_AHEAD {
            let hang_up = ahead.hang_up.get_or_insert_with(|| HangUp::of(&self.io));
            match hang_up.as_mut().map_or(Poll::Pending, |hang_up| hang_up.poll(cx)) {
                Poll::Ready(Gone::Reset) => return Poll::Ready(()),
                Poll::Ready(Gone::Ended) => ahead.ended = Some(Instant::now()),
                Poll::Pending => {}
            }
        }
        Poll::Pending
    }

    fn open_stream(&mut self, frame: Frame) -> Stream {
        let chunked = frame.version != HttpVersion::Http10;
        let framing = if chunked { Framing::Chunked } else { Framing::UntilClose };
        let persistence = self.persistence(frame, !chunked);
        let writer = self.writer();
        write_http1(&mut writer.out, &Stream::REPLY, &writer.ex, framing, persistence, &mut writer.date);
        writer.stage.extend_from_slice(sse::COMMENT);
        Stream::open(chunked, persistence == Persistence::Close, self.service.limits())
    }

    fn end_stream(&mut self, mut stream: Stream) -> Flow<()> {
        let writer = self.writer();
        stream.seal(writer);
        if stream.chunked {
            writer.out.extend_from_slice(b"0\r\n\r\n");
        }
        self.log(Stream::REPLY.status, stream.bytes);
        if stream.closes || self.stop.phase() != Phase::Running { Err(End::Answered) } else { Ok(()) }
    }
}
