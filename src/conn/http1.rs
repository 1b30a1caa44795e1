//! HTTP/1.x: the batch loop. Read; answer every complete request in the buffer into one output buffer; write once; read again. Nothing
//! is read while the peer does not take its answers.

use std::convert::Infallible;
use std::future::poll_fn;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};

use super::access::Note;
use super::body::Taken;
use super::connection::{Connection, End, Fill, Flow};
use super::framing::Frame;
use super::guard::{guarded, internal_error};
use super::stream::UNHEARD;
use super::timer::after;
use crate::reply::Reply;
use crate::road::{Answer, Entry, Ticket};
use crate::view::head::{HeadFault, HeadIndex, RequestHead};

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
const LATE_HEAD: HeadFault = HeadFault { status: 408, text: "the request head took too long" };

/// What a head led to before its body was looked at.
enum Opened {
    Fault(HeadFault),
    Answered(Frame, Reply),
    Admitted(Frame, Ticket),
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Serves requests until the connection ends.
    pub(super) async fn serve_http1(mut self) {
        let end = match self.batches().await {
            Err(end) => end,
            Ok(never) => match never {},
        };
        // Nothing for a request that has been answered: its note is gone.
        self.log(UNHEARD, 0);
        self.finish(end).await;
    }

    async fn batches(&mut self) -> Flow<Infallible> {
        loop {
            let more = self.batch().await?;
            self.flush().await?;
            self.rest();
            if !more {
                self.await_head().await?;
            }
        }
    }

    /// Answers what is complete, up to the limits of one batch. False when the next request is not there yet.
    async fn batch(&mut self) -> Flow<bool> {
        let limits = self.service.limits();
        let (most, bytes) = (limits.pipeline, usize::try_from(limits.batch_bytes).unwrap_or(usize::MAX));
        for _ in 0..most {
            let Some(index) = self.next_head().await? else { return Ok(false) };
            self.request(index).await?;
            if self.writer.as_ref().is_some_and(|writer| writer.out.len() >= bytes) {
                break;
            }
        }
        Ok(true)
    }

    async fn next_head(&mut self) -> Flow<Option<HeadIndex>> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        match reader.parser.parse(reader.read.filled(), self.service.road.limits()) {
            Ok(Some(index)) => {
                reader.parser.reset();
                self.head_due = None;
                Ok(Some(index))
            }
            Ok(None) => Ok(None),
            Err(fault) => Err(self.head_fault(fault)),
        }
    }

    /// Waits for the bytes that the next head lacks.
    pub(super) async fn await_head(&mut self) -> Flow<()> {
        let idle = self.waiting().is_empty();
        let deadline = match self.head_due {
            Some(due) => due,
            None if idle => after(self.service.limits().idle_timeout),
            None => *self.head_due.insert(after(self.service.limits().head_timeout)),
        };
        match self.fill(deadline, idle).await? {
            Fill::Bytes => Ok(()),
            Fill::Ended | Fill::Draining => Err(End::Gone),
            Fill::Late if idle => Err(End::Gone),
            Fill::Late => Err(self.head_fault(LATE_HEAD)),
        }
    }

    async fn request(&mut self, index: HeadIndex) -> Flow<()> {
        match self.open(&index) {
            Opened::Fault(fault) => Err(self.fault(fault)),
            Opened::Answered(frame, reply) => self.answer_unread(&index, frame, &reply).await,
            Opened::Admitted(frame, ticket) => self.admitted(&index, frame, ticket).await,
        }
    }

    /// Everything that is decided by the head.
    fn open(&mut self, index: &HeadIndex) -> Opened {
        let (reader, writer, service, peer) = self.parts();
        writer.ex.begin();
        let head = RequestHead::new(&reader.read.filled()[..index.len()], index);
        let note = service.log.is_some().then(|| Note::of(head));
        let opened = match Frame::read(head) {
            Err(fault) => Opened::Fault(fault),
            Ok(frame) => {
                match guarded(|| service.road.enter(head, frame.body.declared(), peer, &mut writer.ex)) {
                    Some(Entry::Answer(reply)) => Opened::Answered(frame, reply),
                    Some(Entry::Body(ticket)) => Opened::Admitted(frame, ticket),
                    None => Opened::Answered(frame, internal_error(head.verb(), &mut writer.ex)),
                }
            }
        };
        self.note = note;
        opened
    }

    /// Answers without having looked at the body. The body is drained and never read as the next request; where it is too long, or
    /// where the client waits for leave to send it, the connection ends instead.
    async fn answer_unread(&mut self, index: &HeadIndex, frame: Frame, reply: &Reply) -> Flow<()> {
        let most = self.service.limits().drain;
        let long = frame.body.declared().is_some_and(|length| length > most);
        self.answer(frame, reply, long || (frame.expects && !frame.body.is_empty()))?;
        self.flush_tail().await?;
        self.consume(index.len());
        self.discard(frame.body).await
    }

    async fn admitted(&mut self, index: &HeadIndex, frame: Frame, ticket: Ticket) -> Flow<()> {
        if frame.expects && !frame.body.is_empty() && self.waiting().len() == index.len() {
            self.writer().out.extend_from_slice(CONTINUE);
            self.flush().await?;
        }
        let (body, share) = self.take_body(index.len(), frame.body, ticket.ceiling()).await?;
        let reply = match body {
            Taken::Whole { len, raw } => {
                let answer = with_context(|cx| self.post(index, ticket, len, cx)).await;
                self.consume(index.len() + raw);
                drop(share);
                return match answer {
                    Answer::Done(reply) => {
                        self.answer(frame, &reply, false)?;
                        self.flush_tail().await
                    }
                    Answer::Pending(call) => self.pending(frame, call).await,
                };
            }
            Taken::Outgrown => {
                let (reader, writer, service, _) = self.parts();
                let head = RequestHead::new(&reader.read.filled()[..index.len()], index);
                service.road.outgrown(head, &ticket, &mut writer.ex)
            }
            Taken::NoMemory => {
                let (reader, writer, service, _) = self.parts();
                let head = RequestHead::new(&reader.read.filled()[..index.len()], index);
                service.road.shed(head, &mut writer.ex)
            }
            Taken::Fault(fault) => return Err(self.fault(fault)),
        };
        self.answer(frame, &reply, true)
    }

    fn post(&mut self, index: &HeadIndex, ticket: Ticket, len: usize, cx: &mut Context<'_>) -> Answer {
        let (reader, writer, service, peer) = self.parts();
        let (head, body) = reader.read.padded_mut().split_at_mut(index.len());
        let head = RequestHead::new(head, index);
        let (scratch, ex) = (&mut reader.scratch, &mut writer.ex);
        guarded(|| service.road.post(head, ticket, body, len, scratch, peer, ex, cx)).unwrap_or_else(|| {
            reader.scratch = service.road.scratch();
            Answer::Done(internal_error(head.verb(), &mut writer.ex))
        })
    }
}

/// Runs `once` with the task's context.
pub(super) async fn with_context<T>(once: impl FnOnce(&mut Context<'_>) -> T) -> T {
    let mut once = Some(once);
    poll_fn(|cx| once.take().map_or(Poll::Pending, |once| Poll::Ready(once(cx)))).await
}
