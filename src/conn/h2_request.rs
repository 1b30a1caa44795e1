//! One HTTP/2 stream: its head and body onto the road.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use tokio::time::Instant;

use super::Service;
use super::access::Note;
use super::answer::write_fault;
use super::guard::{guarded, internal_error};
use super::h2_head::{check_head, declared, index_head};
use super::http1::with_context;
use super::memory::{FREE_BODY, Share};
use super::scratch::{Reader, Writer};
use super::stream::UNHEARD;
use super::timer::{Timer, after};
use crate::reply::Reply;
use crate::road::{Answer, Entry, Peer, Ticket};
use crate::tables::headers::Known;
use crate::tables::routes::Verb;
use crate::view::head::{HeadFault, HeadIndex, RequestHead};

const LATE_BODY: HeadFault = HeadFault { status: 408, text: "the request body took too long" };

/// The peer has reset the stream or is gone: there is nobody to answer.
#[derive(Debug)]
pub(super) struct Reset;

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
    /// Whether the peer waits for leave to send the body.
    expects: bool,
    /// Whether the body's time is over.
    late: bool,
}

/// How reading a body went.
enum Taken {
    Whole,
    Outgrown,
    NoMemory,
    Late,
}

/// Serves one stream. The answer, or the silence after a reset, is h2's to send.
pub(super) async fn serve(
    service: Arc<Service>,
    peer: Peer,
    request: Request<RecvStream>,
    respond: SendResponse<Bytes>,
) {
    let mut reader = Reader::take(&service.road);
    let mut exchange = Exchange2 {
        writer: Writer::take(service.log.is_some()),
        peer,
        respond,
        timer: Timer::default(),
        head_only: false,
        note: None,
        expects: false,
        late: false,
        service,
    };
    exchange.writer.ex.begin();
    let (parts, mut body) = request.into_parts();
    let answer = exchange.receive(&parts, &mut body, &mut reader).await;
    // One who waits for leave to send does not send after the answer, and one who was too slow gets no more time.
    let comes = !exchange.late && !exchange.expects;
    drop(parts);
    reader.put();
    let answered = match answer {
        Ok(Answer::Done(reply)) => exchange.answer(&reply).await,
        Ok(Answer::Pending(call)) => exchange.pending(call).await,
        Err(reset) => Err(reset),
    };
    if answered.is_err() {
        exchange.log(UNHEARD, 0);
    }
    // A reset ends the stream; there is nothing left to do then.
    if answered.is_ok() && comes {
        exchange.discard(&mut body).await;
    }
    exchange.writer.put();
}

impl Exchange2 {
    /// Takes the request in and carries it along the road.
    async fn receive(
        &mut self,
        parts: &Parts,
        body: &mut RecvStream,
        reader: &mut Reader,
    ) -> Result<Answer, Reset> {
        let indexed = index_head(parts, &mut reader.lines, self.service.limits());
        let index = &indexed.index;
        let head = RequestHead::new(&reader.lines, index);
        self.expects = index.has(Known::Expect);
        self.head_only = head.verb() == Verb::Head;
        self.note = self.service.log.is_some().then(|| Note::of(head));
        if let Err(fault) = check_head(parts, &indexed, self.service.limits()) {
            return Ok(Answer::Done(self.fault(fault)));
        }
        let declared = if body.is_end_stream() { Some(0) } else { declared(head, parts) };
        let ex = &mut self.writer.ex;
        let ticket = match guarded("head", || self.service.road.enter(head, declared, &self.peer, ex)) {
            Some(Entry::Answer(reply)) => return Ok(Answer::Done(reply)),
            Some(Entry::Body(ticket)) => ticket,
            Some(Entry::Stream(call)) => return Ok(Answer::Pending(call)),
            None => return Ok(Answer::Done(internal_error(head.verb(), &mut self.writer.ex))),
        };
        let mut share = self.service.memory.share();
        let taken = self.collect(body, declared, ticket.ceiling(), reader, &mut share).await?;
        let head = RequestHead::new(&reader.lines, index);
        Ok(match taken {
            Taken::Whole => with_context(|cx| self.post(index, ticket, reader, cx)).await,
            Taken::Outgrown => Answer::Done(self.service.road.outgrown(head, &ticket, &mut self.writer.ex)),
            Taken::NoMemory => Answer::Done(self.service.road.shed(head, &mut self.writer.ex)),
            Taken::Late => {
                self.late = true;
                Answer::Done(self.fault(LATE_BODY))
            }
        })
    }

    fn post(
        &mut self,
        index: &HeadIndex,
        ticket: Ticket,
        reader: &mut Reader,
        cx: &mut std::task::Context<'_>,
    ) -> Answer {
        let Reader { read, scratch, lines, .. } = reader;
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

    /// Collects the body into the reader's buffer, releasing the stream's window as it goes.
    async fn collect(
        &mut self,
        body: &mut RecvStream,
        declared: Option<u64>,
        ceiling: u64,
        reader: &mut Reader,
        share: &mut Share,
    ) -> Result<Taken, Reset> {
        let mut due = None;
        let mut expects = self.expects;
        let known = declared.and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        loop {
            let data = match self.next_data(body, &mut expects, &mut due).await {
                None => return Ok(Taken::Late),
                Some(None) => return Ok(Taken::Whole),
                Some(Some(Ok(data))) => data,
                Some(Some(Err(_))) => return Err(Reset),
            };
            let len = reader.read.len() + data.len();
            if u64::try_from(len).map_or(true, |len| len > ceiling) {
                return Ok(Taken::Outgrown);
            }
            // The declared length is not believed before as much has come as every request may hold.
            let hold = if len > FREE_BODY { len.max(known) } else { len };
            if !share.cover(hold) {
                return Ok(Taken::NoMemory);
            }
            if hold > len {
                reader.read.reserve(hold);
            }
            reader.read.extend(&data);
            // Fails only on a stream that has ended, whose window nobody needs.
            let _ = body.flow_control().release_capacity(data.len());
        }
    }

    /// The next piece of the body; `None` when its time is over. Leave to send it is given when there is a wait.
    async fn next_data(
        &mut self,
        body: &mut RecvStream,
        expects: &mut bool,
        due: &mut Option<Instant>,
    ) -> Option<Option<Result<Bytes, h2::Error>>> {
        poll_fn(|cx| {
            if let Poll::Ready(data) = body.poll_data(cx) {
                return Poll::Ready(Some(data));
            }
            if std::mem::take(expects) {
                let mut leave = Response::new(());
                *leave.status_mut() = StatusCode::CONTINUE;
                // Fails only on a stream that has ended; the next poll tells.
                let _ = self.respond.send_informational(leave);
            }
            let timeout = self.service.limits().body_timeout;
            self.timer.set(*due.get_or_insert_with(|| after(timeout)));
            self.timer.poll(cx).map(|()| None)
        })
        .await
    }

    /// Takes what is left of a body that was answered unread, up to the bound: a stream that is dropped with its body still coming is
    /// reset, and to some clients the reset overtakes the answer.
    async fn discard(&mut self, body: &mut RecvStream) {
        let mut left = usize::try_from(self.service.limits().drain).unwrap_or(usize::MAX);
        let mut due = None;
        while !body.is_end_stream() {
            let Some(Some(Ok(data))) = self.next_data(body, &mut false, &mut due).await else { return };
            let Some(rest) = left.checked_sub(data.len()) else { return };
            left = rest;
            // Fails only on a stream that has ended, whose window nobody needs.
            let _ = body.flow_control().release_capacity(data.len());
        }
    }

    /// The answer to a head that is not one of ours to judge. This is no rejection.
    #[cold]
    fn fault(&mut self, fault: HeadFault) -> Reply {
        write_fault(&mut self.writer.ex, fault);
        Reply::json(fault.status)
    }
}
