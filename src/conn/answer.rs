//! Answers on HTTP/1.x: head and body into the output buffer, and what becomes of the connection.

use tokio::io::{AsyncRead, AsyncWrite};

use super::access::Note;
use super::connection::{Connection, End, Flow};
use super::framing::Frame;
use super::guard::tell;
use super::stop::Phase;
use crate::reply::head::{Framing, Persistence, write_http1};
use crate::reply::json::write_str;
use crate::reply::{Content, Exchange, Reply};
use crate::view::head::{HeadFault, HttpVersion};

/// Bodies up to this are copied behind their head; longer ones are written from where they are.
const COPIED: usize = 16 * 1024;

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Puts an answer out. An error when the connection ends with it: because the reply or the request says so, the server drains, or
    /// `close` tells that a part of the request stays unread.
    pub(super) fn answer(&mut self, frame: Frame, reply: &Reply, close: bool) -> Flow<()> {
        let persistence = self.persistence(frame, close || reply.close);
        let now = self.now();
        let writer = self.writer();
        let length = match reply.content {
            Content::Empty => 0,
            Content::Json | Content::EventStream => writer.ex.body.len(),
        };
        let framing = if reply.status == 204 { Framing::None } else { Framing::Length(length) };
        write_http1(&mut writer.out, reply, &writer.ex, framing, persistence, writer.date.at(now.into_std()));
        let sent = if frame.head_only || reply.status == 204 { 0 } else { length };
        if sent > COPIED {
            writer.tail = true;
        } else {
            writer.out.extend_from_slice(&writer.ex.body[..sent]);
        }
        self.log(reply.status, sent);
        if persistence == Persistence::Close { Err(End::Answered) } else { Ok(()) }
    }

    /// Writes a body that was not copied: the next request needs its place.
    pub(super) async fn flush_tail(&mut self) -> Flow<()> {
        if self.writer.as_ref().is_some_and(|writer| writer.tail) { self.deliver().await } else { Ok(()) }
    }

    /// What the answer's `Connection` says.
    pub(super) fn persistence(&self, frame: Frame, close: bool) -> Persistence {
        if close || self.stop.phase() != Phase::Running { Persistence::Close } else { frame.persistence }
    }

    /// Answers a request that cannot be read. This is no rejection: it never reached the road. The connection ends, since nobody knows where
    /// the next request would start.
    #[cold]
    pub(super) fn fault(&mut self, fault: HeadFault) -> End {
        // The request line may not have been read, or not as a whole; whoever asked by HEAD reads no body in any case.
        let line = self.waiting().iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
        let head_only = self.waiting()[line..].starts_with(b"HEAD ");
        let writer = self.writer();
        write_fault(&mut writer.ex, fault);
        match self.answer(Frame { head_only, ..Frame::UNREAD }, &Reply::json(fault.status), true) {
            Ok(()) => End::Answered,
            Err(end) => end,
        }
    }

    /// Answers a head that cannot be read.
    #[cold]
    pub(super) fn head_fault(&mut self, fault: HeadFault) -> End {
        self.writer().ex.begin();
        self.note = self.service.log.is_some().then(|| Note::unread(HttpVersion::Http11));
        self.fault(fault)
    }

    /// Hands the open request's line to the access log.
    pub(super) fn log(&mut self, status: u16, bytes: usize) {
        if let Some(note) = self.note.take()
            && let Some(log) = &self.service.log
            && let Some(writer) = &self.writer
        {
            tell(&note, log, &self.peer, status, bytes, &writer.ex);
        }
    }
}

/// The answer to an unreadable request, in the place of whatever was there. What `origin` has allowed stands: the client may read it.
pub(super) fn write_fault(ex: &mut Exchange, fault: HeadFault) {
    ex.mark = None;
    ex.body.clear();
    ex.body.extend_from_slice(b"{\"error\":");
    write_str(&mut ex.body, fault.text);
    ex.body.push(b'}');
}
