//! A call that did not answer at once, on HTTP/1.x: it is polled while the socket is watched, and becomes an event stream the moment it
//! sends something before its answer.

use std::future::poll_fn;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::connection::{Connection, End, Flow};
use super::framing::Frame;
use super::hang_up::{Gone, HangUp};
use super::scratch::Kept as _;
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

/// A call under way, and what has come of it so far. In a box of its own: a stream may be open for days, and a connection must not have the
/// room for it all its life.
pub(super) struct Course {
    call: Pending,
    frame: Frame,
    stream: Option<Stream>,
    stalled: Option<Stall>,
    ahead: Ahead,
}

impl Course {
    pub(super) fn begin(frame: Frame, call: Pending) -> Box<Self> {
        Box::new(Self { call, frame, stream: None, stalled: None, ahead: Ahead::default() })
    }
}

/// How a call has ended.
enum Over {
    /// Its answer, or the end of its stream, is on its way out.
    Answered(Flow<()>),
    /// It is given up.
    Abandoned,
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
    pub(super) async fn pending(&mut self, mut course: Box<Course>) -> Flow<()> {
        match poll_fn(|cx| self.poll_course(&mut course, cx)).await {
            Over::Answered(answered) => {
                drop(course);
                answered?;
                self.flush_tail().await
            }
            Over::Abandoned => {
                // Answers go out in order, so that with this one given up no request behind it could be answered any more: they
                // end with the connection, undispatched, also those that came whole before the peer's side ended.
                let Course { call, stream, .. } = *course;
                abandon(call);
                if let Some(stream) = stream {
                    self.log(Stream::REPLY.status, stream.bytes);
                }
                Err(End::Gone)
            }
        }
    }

    fn poll_course(&mut self, course: &mut Course, cx: &mut Context<'_>) -> Poll<Over> {
        loop {
            let Poll::Ready(turn) = self.poll_turn(course, cx) else {
                self.rest_stream(course);
                return Poll::Pending;
            };
            match turn {
                Turn::Step(Step::Event(event)) => self.stage(course, &event),
                Turn::Step(Step::Cut(event)) => {
                    self.stage(course, &event);
                    return Poll::Ready(Over::Answered(self.end_stream(course)));
                }
                Turn::Step(Step::Done(reply)) => {
                    return Poll::Ready(Over::Answered(if course.stream.is_some() {
                        stage_answer(self.writer());
                        self.end_stream(course)
                    } else {
                        self.answer(course.frame, &reply, false)
                    }));
                }
                Turn::Quiet if course.stream.is_some() => self.stage(course, sse::COMMENT),
                Turn::Quiet => {}
                Turn::Abandon => return Poll::Ready(Over::Abandoned),
            }
        }
    }

    /// Puts storage back: a stream that waits holds none. There may be many, and hardly ever is there anything to tell.
    fn rest_stream(&mut self, course: &Course) {
        if course.stream.is_none() {
            return;
        }
        self.rest();
        // The access log's note needs what else the writer has.
        if let Some(writer) = self.writer.as_mut().filter(|writer| !writer.has_unsent()) {
            writer.lighten();
        }
    }

    /// Polls everything that can move the call on. The call goes first, so that whatever it has queued leaves in one write; but not while the
    /// peer leaves too much unread. A stall outlives the turn: what is queued meanwhile is no progress.
    fn poll_turn(&mut self, course: &mut Course, cx: &mut Context<'_>) -> Poll<Turn> {
        let Course { call, stream, stalled, ahead, .. } = course;
        let limits = self.service.limits();
        let most = usize::try_from(limits.batch_bytes).unwrap_or(usize::MAX);
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
            if phase == Phase::Stopped || over(ended) || over(stalled) { Turn::Abandon } else { Turn::Quiet }
        })
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

    /// Stages an event. The first one opens the stream.
    fn stage(&mut self, course: &mut Course, event: &[u8]) {
        let mut stream = match course.stream.take() {
            Some(stream) => stream,
            None => self.open_stream(course.frame),
        };
        self.writer().stage.extend_from_slice(event);
        stream.touched(self.service.limits());
        course.stream = Some(stream);
    }

    fn open_stream(&mut self, frame: Frame) -> Stream {
        let chunked = frame.version != HttpVersion::Http10;
        let framing = if chunked { Framing::Chunked } else { Framing::UntilClose };
        let persistence = self.persistence(frame, !chunked);
        let writer = self.writer();
        write_http1(&mut writer.out, &Stream::REPLY, &writer.ex, framing, persistence, writer.date.now());
        writer.stage.extend_from_slice(sse::COMMENT);
        Stream::open(chunked, persistence == Persistence::Close, self.service.limits())
    }

    fn end_stream(&mut self, course: &mut Course) -> Flow<()> {
        let Some(mut stream) = course.stream.take() else { return Err(End::Gone) };
        let writer = self.writer();
        stream.seal(writer);
        if stream.chunked {
            writer.out.extend_from_slice(b"0\r\n\r\n");
        }
        self.log(Stream::REPLY.status, stream.bytes);
        if stream.closes || self.stop.phase() != Phase::Running { Err(End::Answered) } else { Ok(()) }
    }
}
