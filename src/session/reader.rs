//! Who reads a stream: the connection of the POST that became one, or of a GET.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;

use super::log::{Kind, Life};
use super::state::{OpenGuard, Session};
use super::streams::Streams;

/// What a stream gives its reader.
#[derive(Debug)]
pub enum Next {
    /// An event, framed.
    Event(Bytes),
    /// The last event, framed: the answer of the stream's call.
    Answer(Bytes),
    /// The server ends this connection early; the client may come back after so many milliseconds.
    Cut(u64),
    /// The stream is over.
    End,
}

/// The one reader of a stream. Dropped, it leaves the stream to whoever comes back to it.
#[derive(Debug)]
pub struct Reader {
    session: Arc<Session>,
    /// A session with an open stream is not idle.
    _open: OpenGuard,
    stream: u64,
    reader: u64,
}

impl Reader {
    pub(super) fn new(session: &Arc<Session>, stream: u64, reader: u64) -> Self {
        Self { session: Arc::clone(session), _open: session.open(), stream, reader }
    }

    /// What comes next.
    pub fn poll(&self, cx: &Context<'_>) -> Poll<Next> {
        let polled = self.session.with_made_streams(|streams| {
            let reader = self.reader;
            let is_dry = streams.get(self.stream).is_some_and(|log| {
                log.kind == Kind::Listen
                    && log.place.as_ref().is_some_and(|place| place.is_at(reader, log.end()))
            });
            if is_dry {
                self.session.pay(streams, self.stream);
            }
            self.take(streams, cx)
        });
        polled.unwrap_or(Poll::Ready(Next::End))
    }

    fn take(&self, streams: &mut Streams, cx: &Context<'_>) -> Poll<Next> {
        let Some(log) = streams.get(self.stream) else { return Poll::Ready(Next::End) };
        let (life, end) = (log.life, log.end());
        let Some(place) = log.place.as_mut().filter(|place| place.reader == self.reader) else {
            // Its client has come back for it on another connection.
            return Poll::Ready(Next::Cut(self.session.commons().bounds.retry_ms));
        };
        match place.cut {
            Some((at, retry_ms)) if place.next >= at => return Poll::Ready(Next::Cut(retry_ms)),
            Some(_) | None => {}
        }
        if place.next == end {
            if life != Life::Open {
                return Poll::Ready(Next::End);
            }
            if !place.waker.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
                let old = place.waker.replace(cx.waker().clone());
                // Not dropped under the lock. That it is woken once more does no harm.
                streams.after.wake.extend(old);
            }
            return Poll::Pending;
        }
        let at = place.next;
        place.next += 1;
        let writer = log.writer.take();
        let event = log.get(at).cloned().unwrap_or_default();
        let is_answer = at + 1 == end && matches!(life, Life::Finished { answered: true, .. });
        streams.after.wake.extend(writer);
        streams.trim(self.stream);
        Poll::Ready(if is_answer { Next::Answer(event) } else { Next::Event(event) })
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.session.with_made_streams(|streams| {
            let told = streams.leave(self.stream, self.reader);
            self.session.left(streams, told);
        });
    }
}
