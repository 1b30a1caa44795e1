//! Answers on HTTP/2.

use std::cell::RefCell;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::{Reason, SendStream};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};

use super::guard::tell;
use super::h2_request::{Exchange2, Reset};
use super::h2_stall::Stall;
use super::memory::Share;
use super::scratch::{Kept, Writer};
use crate::base::clock::DATE_LEN;
use crate::reply::head::fields;
use crate::reply::{Content, Exchange, Reply};

/// Bodies up to this are copied, so that the exchange keeps its storage; longer ones are handed over.
const COPIED: usize = 16 * 1024;

/// A body, or what is left of it, and where it goes.
pub(super) struct Unsent {
    stream: SendStream<Bytes>,
    body: Bytes,
    stall: Stall,
    /// What it has of its connection's memory and of all answers', once it waits.
    share: Option<(Share, Share)>,
}

/// The fields of a bare JSON answer, which every other JSON answer has too.
#[derive(Default)]
struct Bare {
    date: [u8; DATE_LEN],
    length: usize,
    fields: HeaderMap,
}

thread_local! {
    /// The last ones. They are copied: that is cheaper than to insert each, and lengths are often the same.
    static BARE: RefCell<Bare> = RefCell::default();
}

fn bare_fields(length: usize, now: &[u8; DATE_LEN]) -> HeaderMap {
    BARE.with_borrow_mut(|bare| {
        if bare.date != *now {
            let fields = all_fields(&Reply::json(200), &Exchange::new(false), Some(length), now);
            *bare = Bare { date: *now, length, fields };
        } else if bare.length != length {
            bare.fields.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
            bare.length = length;
        }
        bare.fields.clone()
    })
}

fn all_fields(reply: &Reply, exchange: &Exchange, length: Option<usize>, now: &[u8; DATE_LEN]) -> HeaderMap {
    let mut all = HeaderMap::new();
    if let Some(length) = length {
        all.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    fields(reply, exchange, &mut |name, value| add(&mut all, name, value));
    if let Ok(date) = HeaderValue::from_bytes(now) {
        all.insert(header::DATE, date);
    }
    all
}

fn add(fields: &mut HeaderMap, name: &'static str, value: &[u8]) {
    if let Ok(value) = HeaderValue::from_bytes(value) {
        fields.append(HeaderName::from_static(name), value);
    }
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
        Ok(Some(Unsent { stream, body, stall: Stall::default(), share: None }))
    }

    /// The head of an answer. Nothing that belongs to a connection is ever in it (RFC 9113 8.2.2).
    pub(super) fn head(&mut self, reply: &Reply, length: Option<usize>) -> Response<()> {
        let mut response = Response::new(());
        *response.status_mut() =
            StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let Writer { ex, date, .. } = &mut *self.writer;
        *response.headers_mut() = match (reply.content, length) {
            (Content::Json, Some(length)) => {
                let mut all = bare_fields(length, date.now());
                fields(reply, ex, &mut |name, value| {
                    if name != "content-type" {
                        add(&mut all, name, value);
                    }
                });
                all
            }
            (Content::Json | Content::Empty | Content::EventStream, length) => {
                all_fields(reply, ex, length, date.now())
            }
        };
        response
    }

    /// Sends a body as the peer's windows allow. A peer that takes nothing for the write timeout loses the stream, and so does one that
    /// leaves too much of its answers waiting.
    pub(super) fn poll_unsent(
        &mut self,
        unsent: &mut Unsent,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Reset>> {
        let Unsent { stream, body, stall, share } = unsent;
        let limits = self.service.limits();
        while !body.is_empty() {
            stream.reserve_capacity(body.len());
            match stream.poll_capacity(cx) {
                Poll::Ready(Some(Ok(room))) => {
                    let piece = body.split_to(room.min(body.len()));
                    stall.took(piece.len(), limits);
                    stream.send_data(piece, body.is_empty()).map_err(|_| Reset)?;
                }
                Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(Err(Reset)),
                Poll::Pending => {
                    if share.is_none() {
                        // The answer has left it.
                        self.writer.lighten();
                    }
                    if let Err(reason) = self.count_waiting(share, body.len()) {
                        stream.send_reset(reason);
                        return Poll::Ready(Err(Reset));
                    }
                    self.timer.set(stall.waits(limits));
                    ready!(self.timer.poll(cx));
                    stream.send_reset(Reason::CANCEL);
                    return Poll::Ready(Err(Reset));
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Has `len` bytes count that wait for the peer's windows.
    ///
    /// # Errors
    /// Why the stream is reset, where there is no room for them. Only what waits on the peer's own connection is the peer's fault.
    pub(super) fn count_waiting(&self, share: &mut Option<(Share, Share)>, len: usize) -> Result<(), Reason> {
        let (own, all) = share.get_or_insert_with(|| (self.unsent.share(), self.service.answers.share()));
        if !own.cover(len) {
            return Err(Reason::ENHANCE_YOUR_CALM);
        }
        if all.cover_on_stream(len) { Ok(()) } else { Err(Reason::CANCEL) }
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
