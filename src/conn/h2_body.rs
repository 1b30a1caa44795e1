//! Request bodies on HTTP/2: read whole into the reader's buffer, or dropped unread.

use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::RecvStream;
use http::{Response, StatusCode};
use tokio::time::Instant;

use super::body::BEYOND;
use super::h2_request::{Exchange2, Reset};
use super::memory::{FREE_ON_STREAM, Share};
use super::scratch::Reader;
use super::timer::after;

/// How reading a body went.
pub(super) enum Taken {
    Whole,
    Outgrown,
    NoMemory,
    Late,
}

/// What becomes of a body that was answered unread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// It comes, and is read and dropped.
    Comes,
    /// The peer waits for leave to send it, and does not send it after the answer.
    Withheld,
    /// There is none, or it gets no more time.
    Over,
}

/// What has come of waiting for a body.
#[derive(Default)]
struct Wait {
    /// When its time is over: counted from the first wait.
    due: Option<Instant>,
    /// Whether leave to send it has been given.
    invited: bool,
}

/// A body on its way into the reader's buffer.
pub(super) struct Intake {
    /// The length its head declares.
    known: usize,
    /// What the reader's buffer has been made to hold.
    room: usize,
    ceiling: u64,
    share: Share,
    wait: Wait,
    /// Bytes of the stream's and the connection's windows that have not been given back.
    held: usize,
}

impl Intake {
    pub(super) fn new(declared: Option<u64>, ceiling: u64, share: Share) -> Self {
        let known = declared.and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        Self { known, room: 0, ceiling, share, wait: Wait::default(), held: 0 }
    }

    /// Gives back the windows that the last piece holds. A stream that ends with its answer needs none, and gives the connection's back
    /// by ending.
    pub(super) fn release(&mut self, body: &mut RecvStream) {
        // Fails only on a stream that has ended, whose window nobody needs.
        let _ = body.flow_control().release_capacity(std::mem::take(&mut self.held));
    }

    /// Makes room for `len` bytes, of which `reader` has some. Whoever promises much and sends little gets little room, and little of the
    /// budget. False where the budget does not have it, or could not hold the body as it is declared.
    fn make_room(&mut self, len: usize, reader: &mut Reader) -> bool {
        if len <= self.room {
            return true;
        }
        let large = len > FREE_ON_STREAM;
        self.room = if large { len.max(self.known.min(BEYOND * len)) } else { len };
        if (large && !self.share.could_cover_on_stream(self.known)) || !self.share.cover_on_stream(self.room)
        {
            return false;
        }
        if self.room > len {
            reader.read.reserve(self.room);
        }
        true
    }
}

impl Exchange2 {
    /// Collects the body into the reader's buffer, releasing the windows as it goes.
    pub(super) fn poll_body(
        &mut self,
        body: &mut RecvStream,
        intake: &mut Intake,
        reader: &mut Reader,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Taken, Reset>> {
        loop {
            let data = match ready!(self.poll_data(body, &mut intake.wait, cx)) {
                Some(Some(Ok(data))) => data,
                Some(Some(Err(_))) => return Poll::Ready(Err(Reset)),
                Some(None) => break,
                None => {
                    self.rest = Rest::Over;
                    return Poll::Ready(Ok(Taken::Late));
                }
            };
            let len = reader.read.len() + data.len();
            if u64::try_from(len).map_or(true, |len| len > intake.ceiling) {
                return Poll::Ready(Ok(Taken::Outgrown));
            }
            if !intake.make_room(len, reader) {
                return Poll::Ready(Ok(Taken::NoMemory));
            }
            reader.read.extend(&data);
            intake.held = data.len();
            if body.is_end_stream() {
                break;
            }
            intake.release(body);
        }
        self.rest = Rest::Over;
        Poll::Ready(Ok(Taken::Whole))
    }

    /// The next piece of the body; `None` when its time is over. Leave to send it is given when there is a wait, once.
    fn poll_data(
        &mut self,
        body: &mut RecvStream,
        wait: &mut Wait,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Option<Result<Bytes, h2::Error>>>> {
        if let Poll::Ready(data) = body.poll_data(cx) {
            return Poll::Ready(Some(data));
        }
        if self.rest == Rest::Withheld && !std::mem::replace(&mut wait.invited, true) {
            let mut leave = Response::new(());
            *leave.status_mut() = StatusCode::CONTINUE;
            // Fails only on a stream that has ended; the next poll tells.
            let _ = self.respond.send_informational(leave);
        }
        let timeout = self.service.limits().body_timeout;
        self.timer.set(*wait.due.get_or_insert_with(|| after(timeout)));
        self.timer.poll(cx).map(|()| None)
    }

    /// Takes what is left of a body that was answered unread, up to the bound: a stream that is dropped with its body still coming is
    /// reset, and to some clients the reset overtakes the answer.
    pub(super) async fn discard(&mut self, body: &mut RecvStream) {
        let mut left = usize::try_from(self.service.limits().drain).unwrap_or(usize::MAX);
        let mut wait = Wait::default();
        while !body.is_end_stream() {
            let next = poll_fn(|cx| self.poll_data(body, &mut wait, cx)).await;
            let Some(Some(Ok(data))) = next else { return };
            let Some(rest) = left.checked_sub(data.len()) else { return };
            left = rest;
            // Fails only on a stream that has ended, whose window nobody needs.
            let _ = body.flow_control().release_capacity(data.len());
        }
    }
}
