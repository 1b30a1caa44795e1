//! Answers on HTTP/2.

use std::cell::RefCell;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::{Reason, SendStream};
use http::{HeaderName, HeaderValue, Response, StatusCode, header};

use super::guard::tell;
use super::h2_request::{Exchange2, Reset};
use super::timer::after;
use crate::base::clock::DATE_LEN;
use crate::reply::head::fields;
use crate::reply::{Content, Reply};

/// Bodies up to this are copied, so that the exchange keeps its storage; longer ones are handed over.
const COPIED: usize = 16 * 1024;

/// A body, or what is left of it, and where it goes.
pub(super) struct Unsent {
    stream: SendStream<Bytes>,
    body: Bytes,
    stalled: bool,
}

/// What nearly every answer is: a field that needs neither a check nor a copy.
const JSON: &str = "application/json";

thread_local! {
    /// The last date sent.
    static DATE: RefCell<HeaderValue> = const { RefCell::new(HeaderValue::from_static("")) };
}

/// A date as a field's value. The answers of one second share it.
fn date(now: &[u8; DATE_LEN]) -> HeaderValue {
    DATE.with_borrow_mut(|date| {
        if date.as_bytes() != now
            && let Ok(value) = HeaderValue::from_bytes(now)
        {
            *date = value;
        }
        date.clone()
    })
}

impl Exchange2 {
    /// Sends an answer whole.
    pub(super) async fn answer(&mut self, reply: &Reply) -> Result<(), Reset> {
        match self.answer_head(reply)? {
            Some(mut unsent) => poll_fn(|cx| self.poll_unsent(&mut unsent, cx)).await,
            None => Ok(()),
        }
    }

    /// Sends the head of an answer, and gives the body that is to follow it.
    pub(super) fn answer_head(&mut self, reply: &Reply) -> Result<Option<Unsent>, Reset> {
        let length = match reply.content {
            Content::Empty => 0,
            Content::Json | Content::EventStream => self.writer.ex.body.len(),
        };
        let length = (reply.status != 204).then_some(length);
        let sent = if self.head_only { 0 } else { length.unwrap_or(0) };
        let response = self.head(reply, length);
        let stream = self.respond.send_response(response, sent == 0).map_err(|_| Reset)?;
        self.log(reply.status, sent);
        if sent == 0 {
            return Ok(None);
        }
        let body = &mut self.writer.ex.body;
        let body =
            if sent > COPIED { Bytes::from(std::mem::take(body)) } else { Bytes::copy_from_slice(body) };
        Ok(Some(Unsent { stream, body, stalled: false }))
    }

    /// The head of an answer. Nothing that belongs to a connection is ever in it (RFC 9113 8.2.2).
    pub(super) fn head(&mut self, reply: &Reply, length: Option<usize>) -> Response<()> {
        let mut response = Response::new(());
        *response.status_mut() =
            StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        if let Some(length) = length {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        }
        fields(reply, &self.writer.ex, &mut |name, value| {
            if (name, value) == ("content-type", JSON.as_bytes()) {
                headers.append(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
            } else if let Ok(value) = HeaderValue::from_bytes(value) {
                headers.append(HeaderName::from_static(name), value);
            }
        });
        headers.insert(header::DATE, date(self.writer.date.now()));
        response
    }

    /// Sends a body as the peer's windows allow. A peer that takes nothing for the write timeout loses the stream.
    pub(super) fn poll_unsent(
        &mut self,
        unsent: &mut Unsent,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Reset>> {
        let Unsent { stream, body, stalled } = unsent;
        while !body.is_empty() {
            stream.reserve_capacity(body.len());
            match stream.poll_capacity(cx) {
                Poll::Ready(Some(Ok(room))) => {
                    let piece = body.split_to(room.min(body.len()));
                    stream.send_data(piece, body.is_empty()).map_err(|_| Reset)?;
                    *stalled = false;
                }
                Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(Err(Reset)),
                Poll::Pending => {
                    if !std::mem::replace(stalled, true) {
                        self.timer.set(after(self.service.limits().write_timeout));
                    }
                    ready!(self.timer.poll(cx));
                    stream.send_reset(Reason::CANCEL);
                    return Poll::Ready(Err(Reset));
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Hands the request's line to the access log.
    pub(super) fn log(&mut self, status: u16, bytes: usize) {
        if let Some(note) = self.note.take()
            && let Some(log) = &self.service.log
        {
            tell(&note, log, &self.peer, status, bytes, &self.writer.ex);
        }
    }
}
