//! One HTTP/2 stream: its head and body onto the road. What can be answered at once is answered in the connection's own turn; what is left
//! of any other becomes a task.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::Request;
use http::request::Parts;

use super::Service;
use super::access::Note;
use super::answer::write_fault;
use super::guard::{guarded, internal_error};
use super::h2_answer::Unsent;
use super::h2_body::{Intake, Rest, Taken};
use super::h2_head::{check_head, declared, index_head};
use super::http1::with_context;
use super::memory::BodyMemory;
use super::scratch::{Reader, Writer};
use super::stream::UNHEARD;
use super::timer::Timer;
use crate::reply::Reply;
use crate::road::{Answer, Entry, Peer, Pending, Ticket};
use crate::tables::headers::Known;
use crate::tables::routes::Verb;
use crate::view::head::{HeadFault, RequestHead};

const LATE_BODY: HeadFault = HeadFault { status: 408, text: "the request body took too long" };

/// The peer has reset the stream or is gone: there is nobody to answer.
#[derive(Debug)]
pub(super) struct Reset;

/// What is left of a stream, to be run as a task.
pub(super) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One stream's request while it is served.
pub(super) struct Exchange2 {
    pub(super) service: Arc<Service>,
    pub(super) peer: Peer,
    pub(super) respond: SendResponse<Bytes>,
    pub(super) writer: Box<Writer>,
    pub(super) timer: Timer,
    /// Whether the answer's body is left out.
    pub(super) head_only: bool,
    pub(super) note: Option<Box<Note>>,
    /// What is still to be said of the body.
    pub(super) rest: Rest,
    /// The connection's memory for answers that wait.
    pub(super) unsent: BodyMemory,
}

/// A request that cannot be answered without waiting.
enum Slow {
    /// Its body is not there.
    Body(Ticket, Intake, Box<Reader>),
    /// Its call goes on.
    Call(Pending),
    /// Its answer is longer than the peer's windows.
    Answer(Unsent),
    /// It is answered, but its unread body is still to come.
    Discard,
}

/// Serves one stream as far as that needs no wait. The answer, or the silence after a reset, is h2's to send.
pub(super) fn serve(
    service: &Arc<Service>,
    peer: Peer,
    request: Request<RecvStream>,
    respond: SendResponse<Bytes>,
    unsent: &BodyMemory,
    cx: &mut Context<'_>,
) -> Option<Task> {
    let (parts, mut body) = request.into_parts();
    let mut exchange = Exchange2 {
        writer: Writer::take(service.log.is_some()),
        peer,
        respond,
        timer: Timer::default(),
        head_only: false,
        note: None,
        rest: Rest::Comes,
        unsent: unsent.clone(),
        service: Arc::clone(service),
    };
    exchange.writer.ex.begin();
    match exchange.begin(parts, &mut body, cx) {
        Ok(None) => {
            exchange.writer.put();
            None
        }
        Ok(Some(slow)) => Some(Box::pin(exchange.finish(slow, body))),
        Err(Reset) => {
            exchange.give_up();
            None
        }
    }
}

impl Exchange2 {
    /// Serves the stream as far as that needs no wait, and says what is left.
    fn begin(
        &mut self,
        parts: Parts,
        body: &mut RecvStream,
        cx: &mut Context<'_>,
    ) -> Result<Option<Slow>, Reset> {
        let mut reader = Reader::take(&self.service.road);
        let (entry, declared) = self.enter(parts, body, &mut reader);
        let ticket = match entry {
            Entry::Body(ticket) => ticket,
            Entry::Answer(reply) => {
                reader.put();
                return self.begin_answer(&reply, body, cx);
            }
            Entry::Stream(call) => {
                reader.put();
                return Ok(Some(Slow::Call(call)));
            }
        };
        let mut intake = Intake::new(declared, ticket.ceiling(), self.service.memory.share());
        let answer = match self.poll_body(body, &mut intake, &mut reader, cx) {
            Poll::Ready(Ok(taken)) => self.taken(taken, ticket, &mut reader, cx),
            Poll::Ready(Err(Reset)) => {
                reader.put();
                return Err(Reset);
            }
            Poll::Pending => return Ok(Some(Slow::Body(ticket, intake, reader))),
        };
        reader.put();
        let slow = match answer {
            Answer::Done(reply) => self.begin_answer(&reply, body, cx)?,
            Answer::Pending(call) => Some(Slow::Call(call)),
        };
        if slow.is_some() {
            intake.release(body);
        }
        Ok(slow)
    }

    /// Answers as far as the peer's windows allow.
    fn begin_answer(
        &mut self,
        reply: &Reply,
        body: &RecvStream,
        cx: &mut Context<'_>,
    ) -> Result<Option<Slow>, Reset> {
        if let Some(mut unsent) = self.answer_head(reply)?
            && self.poll_unsent(&mut unsent, cx)?.is_pending()
        {
            return Ok(Some(Slow::Answer(unsent)));
        }
        Ok((self.rest == Rest::Comes && !body.is_end_stream()).then_some(Slow::Discard))
    }

    /// Sees the stream to its end.
    async fn finish(mut self, slow: Slow, mut body: RecvStream) {
        match self.go_on(slow, &mut body).await {
            // A reset ends the stream; there is nothing left to do then.
            Err(Reset) => return self.give_up(),
            Ok(()) if self.rest == Rest::Comes => self.discard(&mut body).await,
            Ok(()) => {}
        }
        self.writer.put();
    }

    async fn go_on(&mut self, slow: Slow, body: &mut RecvStream) -> Result<(), Reset> {
        let (ticket, mut intake, mut reader) = match slow {
            Slow::Body(ticket, intake, reader) => (ticket, intake, reader),
            Slow::Call(call) => return self.pending(call).await,
            Slow::Answer(mut unsent) => return poll_fn(|cx| self.poll_unsent(&mut unsent, cx)).await,
            Slow::Discard => return Ok(()),
        };
        let taken = match poll_fn(|cx| self.poll_body(body, &mut intake, &mut reader, cx)).await {
            Ok(taken) => taken,
            Err(Reset) => {
                reader.put();
                return Err(Reset);
            }
        };
        let answer = with_context(|cx| self.taken(taken, ticket, &mut reader, cx)).await;
        reader.put();
        intake.release(body);
        // What a call goes on with is its own memory.
        drop(intake);
        match answer {
            Answer::Done(reply) => self.answer(&reply).await,
            Answer::Pending(call) => self.pending(call).await,
        }
    }

    /// Gives up a stream that nobody listens to.
    fn give_up(mut self) {
        self.log(UNHEARD, 0);
        self.writer.put();
    }

    /// Carries the head along the road. Also gives the length it declares.
    fn enter(&mut self, parts: Parts, body: &RecvStream, reader: &mut Reader) -> (Entry, Option<u64>) {
        let Reader { lines, index, .. } = reader;
        let limits = self.service.limits();
        let fits = index_head(&parts, lines, index, limits);
        let head = RequestHead::new(lines, index);
        self.head_only = head.verb() == Verb::Head;
        self.note = self.service.log.is_some().then(|| Note::of(head));
        if index.has(Known::Expect) {
            self.rest = Rest::Withheld;
        }
        if let Err(fault) = check_head(&parts, index, fits, limits) {
            return (Entry::Answer(self.fault(fault)), None);
        }
        // `h2` has refused a stream that ends with a head which declares a body.
        let declared = declared(head, &parts).or_else(|| body.is_end_stream().then_some(0));
        let (road, peer, ex) = (&self.service.road, &self.peer, &mut self.writer.ex);
        let entry = guarded("head", || road.enter(head, declared, peer, ex));
        (entry.unwrap_or_else(|| Entry::Answer(internal_error(head.verb(), ex))), declared)
    }

    /// Carries the body along the road.
    fn taken(&mut self, taken: Taken, ticket: Ticket, reader: &mut Reader, cx: &mut Context<'_>) -> Answer {
        let head = RequestHead::new(&reader.lines, &reader.index);
        Answer::Done(match taken {
            Taken::Whole => return self.post(ticket, reader, cx),
            Taken::Outgrown => self.service.road.outgrown(head, &ticket, &mut self.writer.ex),
            Taken::NoMemory => self.service.road.shed(head, &mut self.writer.ex),
            Taken::Late => self.fault(LATE_BODY),
        })
    }

    fn post(&mut self, ticket: Ticket, reader: &mut Reader, cx: &mut Context<'_>) -> Answer {
        let Reader { read, scratch, lines, index, .. } = reader;
        let len = read.len();
        // An empty body has left the buffer without storage, and padding must follow it all the same.
        read.reserve(len);
        let head = RequestHead::new(lines, index);
        let (road, peer, ex) = (&self.service.road, &self.peer, &mut self.writer.ex);
        guarded("body", || road.post(head, ticket, read.padded_mut(), len, scratch, peer, ex, cx))
            .unwrap_or_else(|| {
                *scratch = road.scratch();
                Answer::Done(internal_error(head.verb(), ex))
            })
    }

    /// The answer to a head that is not one of ours to judge. This is no rejection.
    #[cold]
    fn fault(&mut self, fault: HeadFault) -> Reply {
        write_fault(&mut self.writer.ex, fault);
        Reply::json(fault.status)
    }
}
