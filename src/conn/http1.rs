//! HTTP/1.x: the batch loop. Read; answer every complete request in the buffer into one output buffer; write once; read again. Nothing
//! is read while the peer does not take its answers.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::access::Note;
use super::body::Taken;
use super::connection::{Connection, End, Fill, Flow};
use super::framing::{Body, Frame};
use super::guard::{guarded, internal_error};
use super::memory::FREE_BODY;
use super::pending::Course;
use super::scratch::Reader;
use super::timer::after;
use crate::reply::Reply;
use crate::reply::head::Persistence;
use crate::road::{Answer, Entry, Pending, Ticket};
use crate::view::head::{HeadFault, RequestHead};

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
/// How long a connection that has sent nothing yet gets for the beginning of its first request once the server drains, in milliseconds.
const FIRST_WORD: u64 = 250;
const LATE_HEAD: HeadFault = HeadFault { status: 408, text: "the request head took too long" };

/// How a batch ended.
enum Batch {
    /// The next request is not there yet.
    Dry,
    /// As much is in the output buffer as is written at once.
    Full,
    /// A request has to wait for something.
    Slow(Slow),
}

/// A request that cannot be answered without waiting.
enum Slow {
    /// Its body is not there, or is not of the simple kind.
    Body(Box<Admitted>),
    /// Its call goes on.
    Call(Box<Course>),
    /// It is answered, but its unread body is still to come.
    Discard(Body),
}

/// A request whose body is wanted.
struct Admitted {
    frame: Frame,
    ticket: Ticket,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Connection<S> {
    /// Serves requests until the connection ends.
    pub(super) async fn serve_http1(&mut self) -> Flow<Infallible> {
        loop {
            let batch = with_context(|cx| self.batch(cx)).await?;
            let dry = matches!(batch, Batch::Dry);
            if let Batch::Slow(slow) = batch {
                self.forget_now();
                if let Some(course) = self.slow(slow).await? {
                    self.pending(course).await?;
                }
            }
            self.deliver().await?;
            let now = self.now();
            self.rest();
            if dry {
                self.await_head(now).await?;
            }
        }
    }

    /// Answers what is complete, up to the limits of one batch. Never waits.
    fn batch(&mut self, cx: &mut Context<'_>) -> Flow<Batch> {
        let limits = self.service.limits();
        let (most, bytes) = (limits.pipeline, usize::try_from(limits.batch_bytes).unwrap_or(usize::MAX));
        for _ in 0..most {
            if !self.next_head()? {
                return Ok(Batch::Dry);
            }
            if let Some(slow) = self.request(cx)? {
                return Ok(Batch::Slow(slow));
            }
            if self.writer.as_ref().is_some_and(|writer| writer.tail || writer.out.len() >= bytes) {
                break;
            }
        }
        Ok(Batch::Full)
    }

    /// Reads the next head. False when it is not complete.
    fn next_head(&mut self) -> Flow<bool> {
        let Some(reader) = &mut self.reader else { return Ok(false) };
        match reader.parser.parse(reader.read.filled(), self.service.road.limits()) {
            Ok(Some(index)) => {
                reader.parser.reset();
                reader.index = index;
                self.head_due = None;
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(fault) => Err(self.head_fault(fault)),
        }
    }

    /// Waits for the bytes that the next head lacks, from `now` on.
    pub(super) async fn await_head(&mut self, now: Instant) -> Flow<()> {
        let idle = self.waiting().is_empty();
        let deadline = match self.head_due {
            Some(due) => due,
            None if idle => now + Duration::from_millis(self.service.limits().idle_timeout),
            None => *self.head_due.insert(now + Duration::from_millis(self.service.limits().head_timeout)),
        };
        let fresh = idle && self.head_due.is_some();
        let mut came = self.fill(deadline, idle).await?;
        if came == Fill::Draining && fresh {
            // Its first request may be on its way: it was accepted, so it gets an answer.
            came = self.fill(deadline.min(after(FIRST_WORD)), false).await?;
            if came == Fill::Late {
                came = Fill::Draining;
            }
        }
        match came {
            Fill::Bytes => Ok(()),
            Fill::Ended => Err(End::Gone),
            // A request that crosses this end must not reset the connection: answers before it may still be on their way.
            Fill::Draining => Err(End::Answered),
            Fill::Late if idle => Err(End::Gone),
            Fill::Late => Err(self.head_fault(LATE_HEAD)),
        }
    }

    /// Answers one request as far as that needs no wait, and says what is left.
    fn request(&mut self, cx: &mut Context<'_>) -> Flow<Option<Slow>> {
        let (reader, writer, service, peer) = self.parts();
        writer.ex.begin();
        let at = reader.index.len();
        let head = RequestHead::new(&reader.read.filled()[..at], &reader.index);
        let note = service.log.is_some().then(|| Note::of(head));
        let frame = match Frame::read(head) {
            Ok(frame) => frame,
            Err(fault) => {
                self.note = note;
                return Err(self.fault(fault));
            }
        };
        let entry = guarded("head", || service.road.enter(head, frame.body.declared(), peer, &mut writer.ex))
            .unwrap_or_else(|| Entry::Answer(internal_error(head.verb(), &mut writer.ex)));
        self.note = note;
        let ticket = match entry {
            Entry::Answer(reply) => return self.answer_unread(at, frame, &reply),
            Entry::Body(ticket) => ticket,
            Entry::Stream(call) => return Ok(Some(self.open_unread(at, frame, call))),
        };
        let Some(len) = self.short_body(at, frame) else {
            return Ok(Some(Slow::Body(Box::new(Admitted { frame, ticket }))));
        };
        let answer = self.post(ticket, len, cx);
        self.consume(at + len);
        match answer {
            Answer::Done(reply) => self.answer(frame, &reply, false).map(|()| None),
            Answer::Pending(call) => Ok(Some(Slow::Call(Course::begin(frame, call)))),
        }
    }

    /// The length of a body that lies here whole and needs no care: the usual one.
    fn short_body(&self, at: usize, frame: Frame) -> Option<usize> {
        let len = usize::try_from(frame.body.declared()?).ok()?;
        (len <= FREE_BODY && self.waiting().len() >= at + len).then_some(len)
    }

    /// Answers without having looked at the body. The body is drained and never read as the next request; where it is too long, or
    /// where the client waits for leave to send it, the connection ends instead.
    fn answer_unread(&mut self, at: usize, frame: Frame, reply: &Reply) -> Flow<Option<Slow>> {
        let most = self.service.limits().drain;
        let long = frame.body.declared().is_some_and(|length| length > most);
        self.answer(frame, reply, long || (frame.expects && !frame.body.is_empty()))?;
        self.consume(at);
        match self.short_body(0, frame) {
            Some(len) => {
                self.consume(len);
                Ok(None)
            }
            None => Ok(Some(Slow::Discard(frame.body))),
        }
    }

    /// Begins an event stream without having looked at the body. Where there is one it is never looked at, and the connection ends with the
    /// stream: it may stay open for long, and how much of the body is here already is no matter of the answer's.
    fn open_unread(&mut self, at: usize, frame: Frame, call: Pending) -> Slow {
        self.consume(at);
        let persistence = if frame.body.is_empty() { frame.persistence } else { Persistence::Close };
        Slow::Call(Course::begin(Frame { persistence, ..frame }, call))
    }

    /// Waits for what a request needs before its call goes on. In a box, so that a connection at rest does not hold the room that only a
    /// waiting request needs; no `async fn`, which would keep the room of its argument too.
    fn slow(&mut self, slow: Slow) -> impl Future<Output = Flow<Option<Box<Course>>>> + Send {
        type Boxed<'c> = Pin<Box<dyn Future<Output = Flow<Option<Box<Course>>>> + Send + 'c>>;
        let (mut course, mut wait): (_, Option<Boxed<'_>>) = match slow {
            Slow::Call(course) => (Some(course), None),
            Slow::Body(admitted) => (None, Some(Box::pin(self.admitted(admitted)))),
            Slow::Discard(body) => (None, Some(Box::pin(self.discard_behind(body)))),
        };
        poll_fn(move |cx| match &mut wait {
            Some(wait) => wait.as_mut().poll(cx),
            None => Poll::Ready(Ok(course.take())),
        })
    }

    /// Reads and drops a body whose request has been answered.
    async fn discard_behind(&mut self, body: Body) -> Flow<Option<Box<Course>>> {
        self.flush_tail().await?;
        self.discard(body).await.map(|()| None)
    }

    /// Takes a body that is not there yet, and goes on with it: as far as its call, where that goes on.
    async fn admitted(&mut self, admitted: Box<Admitted>) -> Flow<Option<Box<Course>>> {
        let Admitted { frame, ticket } = *admitted;
        let at = self.reader().index.len();
        if frame.expects && !frame.body.is_empty() && self.waiting().len() == at {
            self.writer().out.extend_from_slice(CONTINUE);
            self.flush().await?;
        }
        let (body, share) = self.take_body(at, frame.body, ticket.ceiling()).await?;
        let (reader, writer, service, _) = self.parts();
        let head = RequestHead::new(&reader.read.filled()[..at], &reader.index);
        let reply = match body {
            Taken::Whole { len, raw } => {
                let answer = with_context(|cx| self.post(ticket, len, cx)).await;
                self.consume(at + raw);
                drop(share);
                return match answer {
                    Answer::Done(reply) => self.answer(frame, &reply, false).map(|()| None),
                    Answer::Pending(call) => {
                        self.set_aside();
                        Ok(Some(Course::begin(frame, call)))
                    }
                };
            }
            Taken::Outgrown => service.road.outgrown(head, &ticket, &mut writer.ex),
            Taken::NoMemory => service.road.shed(head, &mut writer.ex),
            Taken::Fault(fault) => return Err(self.fault(fault)),
        };
        self.answer(frame, &reply, true).map(|()| None)
    }

    /// Carries a request whose body lies behind its head along the road.
    fn post(&mut self, ticket: Ticket, len: usize, cx: &mut Context<'_>) -> Answer {
        let (reader, writer, service, peer) = self.parts();
        let Reader { read, index, scratch, .. } = reader;
        let (head, body) = read.padded_mut().split_at_mut(index.len());
        let head = RequestHead::new(head, index);
        // A handler may take its time.
        writer.now = None;
        let ex = &mut writer.ex;
        guarded("body", || service.road.post(head, ticket, body, len, scratch, peer, ex, cx)).unwrap_or_else(
            || {
                *scratch = service.road.scratch();
                Answer::Done(internal_error(head.verb(), ex))
            },
        )
    }
}

/// Runs `once` with the task's context.
pub(super) async fn with_context<T>(once: impl FnOnce(&mut Context<'_>) -> T) -> T {
    let mut once = Some(once);
    poll_fn(|cx| once.take().map_or(Poll::Pending, |once| Poll::Ready(once(cx)))).await
}
