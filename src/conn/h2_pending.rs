//! A call that did not answer at once, on HTTP/2: it is polled while the stream is watched for a reset.

use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::{Reason, SendStream};
use tokio::time::Instant;

use super::h2_request::{Exchange2, Reset};
use super::memory::Share;
use super::stream::{Stream, abandon, stage_answer};
use crate::reply::sse;
use crate::road::{Pending, Step};

/// An open event stream and where its events go.
struct Open {
    stream: Stream,
    send: SendStream<Bytes>,
    /// What has been staged and is on its way out: given out piece by piece, and never moved.
    unsent: Bytes,
    /// What that has of the budgets for what waits, once it does.
    share: Option<(Share, Share)>,
}

/// Why a call gets a turn.
enum Turn {
    /// It moved.
    Step(Step),
    /// The stream has been quiet for long enough.
    Quiet,
    /// The peer has reset the stream, or takes nothing.
    Abandon,
    /// Everything staged has been sent.
    Drained,
}

impl Exchange2 {
    /// Sees a call through.
    pub(super) async fn pending(&mut self, mut call: Pending) -> Result<(), Reset> {
        let mut open: Option<Open> = None;
        loop {
            match self.turn(Some(&mut call), &mut open).await {
                Turn::Step(Step::Event(event)) => {
                    let stream = match &mut open {
                        Some(open) => open,
                        None => match self.open_stream() {
                            Ok(opened) => open.insert(opened),
                            Err(reset) => {
                                abandon(call);
                                return Err(reset);
                            }
                        },
                    };
                    self.writer.stage.extend_from_slice(&event);
                    stream.stream.touched(self.service.limits());
                }
                Turn::Step(Step::Cut(event)) => {
                    let open = match open {
                        Some(open) => open,
                        None => self.open_stream()?,
                    };
                    self.writer.stage.extend_from_slice(&event);
                    return self.end_stream(open).await;
                }
                Turn::Step(Step::Done(reply)) => {
                    let Some(open) = open else { return self.answer(&reply).await };
                    stage_answer(&mut self.writer);
                    return self.end_stream(open).await;
                }
                Turn::Quiet => {
                    self.writer.stage.extend_from_slice(sse::COMMENT);
                    if let Some(open) = &mut open {
                        open.stream.touched(self.service.limits());
                    }
                }
                Turn::Drained => {}
                Turn::Abandon => {
                    abandon(call);
                    return Err(self.unheard(open.as_ref()));
                }
            }
        }
    }

    /// Tells the log that the client did not stay for the end of its stream.
    fn unheard(&mut self, open: Option<&Open>) -> Reset {
        if let Some(open) = open {
            self.log(Stream::REPLY.status, open.stream.bytes);
        }
        Reset
    }

    fn open_stream(&mut self) -> Result<Open, Reset> {
        let head = self.head(&Stream::REPLY, None);
        let send = self.respond.send_response(head, false).map_err(|_| Reset)?;
        self.writer.stage.extend_from_slice(sse::COMMENT);
        let stream = Stream::open(false, false, self.service.limits());
        Ok(Open { stream, send, unsent: Bytes::new(), share: None })
    }

    async fn end_stream(&mut self, mut open: Open) -> Result<(), Reset> {
        open.stream.comment_due = None;
        let mut open = Some(open);
        while self.waiting(open.as_ref()) > 0 {
            match self.turn(None, &mut open).await {
                Turn::Drained | Turn::Quiet | Turn::Step(_) => {}
                Turn::Abandon => return Err(self.unheard(open.as_ref())),
            }
        }
        let Some(mut open) = open else { return Ok(()) };
        self.log(Stream::REPLY.status, open.stream.bytes);
        open.send.send_data(Bytes::new(), true).map_err(|_| Reset)
    }

    /// Bytes of events that have not been sent.
    fn waiting(&self, open: Option<&Open>) -> usize {
        self.writer.stage.len() + open.map_or(0, |open| open.unsent.len())
    }

    /// Polls everything that can move the call on; without a call, until what is staged has been sent.
    async fn turn(&mut self, mut call: Option<&mut Pending>, open: &mut Option<Open>) -> Turn {
        let most = usize::try_from(self.service.limits().batch_bytes).unwrap_or(usize::MAX);
        poll_fn(|cx| {
            if let Some(call) = &mut call
                && self.waiting(open.as_ref()) < most
                && let Poll::Ready(step) = call.poll(cx, &mut self.writer.ex)
            {
                return Poll::Ready(Turn::Step(step));
            }
            if let Some(open) = open.as_mut() {
                let staged = self.waiting(Some(open));
                match self.poll_stage(open, cx) {
                    Poll::Ready(Err(Reset)) => return Poll::Ready(Turn::Abandon),
                    Poll::Ready(Ok(())) => {
                        open.stream.stall.over();
                        if staged > 0 {
                            return Poll::Ready(Turn::Drained);
                        }
                    }
                    Poll::Pending => {
                        let limits = self.service.limits();
                        open.stream.stall.took(staged - self.waiting(Some(open)), limits);
                        open.stream.stall.waits(limits);
                    }
                }
            }
            let reset = match open.as_mut() {
                Some(open) => open.send.poll_reset(cx),
                None => self.respond.poll_reset(cx),
            };
            if reset.is_ready() {
                return Poll::Ready(Turn::Abandon);
            }
            let stalled = open.as_ref().and_then(|open| open.stream.stall.due());
            // A peer that takes nothing needs no comment behind what it does not take.
            let comment =
                open.as_ref().and_then(|open| open.stream.comment_due).filter(|_| stalled.is_none());
            self.timer.set_first([stalled, comment]);
            self.timer.poll(cx).map(|()| {
                if stalled.is_none_or(|due| due > Instant::now()) {
                    return Turn::Quiet;
                }
                if let Some(open) = open.as_mut() {
                    open.send.send_reset(Reason::CANCEL);
                }
                Turn::Abandon
            })
        })
        .await
    }

    /// Sends what is staged, as far as the peer's windows allow. What is left waits within the budgets, or the stream is reset.
    fn poll_stage(&mut self, open: &mut Open, cx: &mut Context<'_>) -> Poll<Result<(), Reset>> {
        loop {
            if open.unsent.is_empty() {
                if self.writer.stage.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                open.unsent = Bytes::from(std::mem::take(&mut self.writer.stage));
            }
            open.send.reserve_capacity(open.unsent.len());
            match open.send.poll_capacity(cx) {
                Poll::Ready(Some(Ok(room))) => {
                    let piece = open.unsent.split_to(room.min(open.unsent.len()));
                    open.stream.bytes += piece.len();
                    open.send.send_data(piece, false).map_err(|_| Reset)?;
                }
                Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(Err(Reset)),
                Poll::Pending => {
                    let waits = self.waiting(Some(open));
                    if let Err(reason) = self.count_waiting(&mut open.share, waits) {
                        open.send.send_reset(reason);
                        return Poll::Ready(Err(Reset));
                    }
                    return Poll::Pending;
                }
            }
        }
    }
}
