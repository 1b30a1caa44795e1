//! Request bodies on HTTP/1.x: read whole into the buffer their head lies in, or dropped unread.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::chunked::{Decoder, Progress};
use super::connection::{Connection, End, Fill, Flow};
use super::framing::Body;
use super::memory::{FREE_BODY, Share};
use super::timer::after;
use crate::view::head::HeadFault;

const LATE_BODY: HeadFault = HeadFault { status: 408, text: "the request body took too long" };

/// Room is made for so many times what waits,
pub(super) const BEYOND: usize = 4;
/// which counts as this at least.
const LEAST: usize = 1024;

/// How reading a body went.
pub(super) enum Taken {
    /// It lies behind the head: so many bytes, taken from so many on the wire.
    Whole { len: usize, raw: usize },
    /// It passes the ceiling.
    Outgrown,
    /// The budget for large bodies is spent.
    NoMemory,
    /// Its framing cannot be read.
    Fault(HeadFault),
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Reads the body that begins `at` bytes into the buffer. The share is what it holds of the budget.
    pub(super) async fn take_body(&mut self, at: usize, body: Body, ceiling: u64) -> Flow<(Taken, Share)> {
        let mut share = self.service.memory.share();
        let taken = match body {
            Body::Length(length) if length > ceiling => Taken::Outgrown,
            Body::Length(length) => match usize::try_from(length) {
                Ok(length) => self.take_length(at, length, &mut share).await?,
                Err(_) => Taken::Outgrown,
            },
            Body::Chunked => self.take_chunks(at, ceiling, &mut share).await?,
        };
        Ok((taken, share))
    }

    /// Whoever promises much and sends little gets little room, and little of the budget: a few times what has come. A body that could not
    /// be held as it is declared is refused once its first part has come.
    async fn take_length(&mut self, at: usize, len: usize, share: &mut Share) -> Flow<Taken> {
        let mut due = None;
        let mut room = 0;
        while self.waiting().len() < at + len {
            let waiting = self.waiting().len();
            // Only when it is used up: to make room is to move all that waits.
            if waiting >= room {
                room = (at + len).min(BEYOND * waiting.max(LEAST));
                let promised = if waiting >= at + FREE_BODY { len } else { 0 };
                if !share.could_cover(promised) || !share.cover(room.saturating_sub(at)) {
                    return Ok(Taken::NoMemory);
                }
                self.reader().read.reserve(room);
            }
            self.fill_body(&mut due).await?;
        }
        Ok(Taken::Whole { len, raw: len })
    }

    async fn take_chunks(&mut self, at: usize, ceiling: u64, share: &mut Share) -> Flow<Taken> {
        let mut due = None;
        let mut decoder = Decoder::new(ceiling, self.service.limits());
        loop {
            let reader = self.reader();
            let progress = match decoder.decode(&mut reader.read.filled_mut()[at..]) {
                Ok(progress) => progress,
                Err(fault) => return Ok(Taken::Fault(fault)),
            };
            if progress == Progress::Outgrown {
                return Ok(Taken::Outgrown);
            }
            if !share.cover(decoder.len()) {
                return Ok(Taken::NoMemory);
            }
            if progress == Progress::Complete {
                return Ok(Taken::Whole { len: decoder.len(), raw: decoder.taken() });
            }
            reader.read.truncate(at + decoder.len());
            self.fill_body(&mut due).await?;
        }
    }

    /// Reads and drops a body that nobody looks at. Ends the connection where a chunked one turns out too long.
    pub(super) async fn discard(&mut self, body: Body) -> Flow<()> {
        let mut due = None;
        match body {
            Body::Length(length) => {
                let mut left = usize::try_from(length).unwrap_or(usize::MAX);
                loop {
                    let here = self.waiting().len().min(left);
                    self.consume(here);
                    left -= here;
                    if left == 0 {
                        return Ok(());
                    }
                    self.fill_unread(&mut due).await?;
                }
            }
            Body::Chunked => {
                let mut decoder = Decoder::new(self.service.limits().drain, self.service.limits());
                loop {
                    let reader = self.reader();
                    match decoder.decode(reader.read.filled_mut()) {
                        Ok(Progress::Complete) => {
                            self.consume(decoder.taken());
                            return Ok(());
                        }
                        Ok(Progress::More) => reader.read.truncate(decoder.len()),
                        Ok(Progress::Outgrown) | Err(_) => return Err(End::Answered),
                    }
                    self.fill_unread(&mut due).await?;
                }
            }
        }
    }

    /// Reads more of a body that is wanted.
    async fn fill_body(&mut self, due: &mut Option<Instant>) -> Flow<()> {
        if self.fill_in_time(due).await? { Ok(()) } else { Err(self.fault(LATE_BODY)) }
    }

    /// Reads more of a body that is dropped. Its request has been answered, so that its time ends without a word: a second answer would be
    /// taken for the next request's.
    async fn fill_unread(&mut self, due: &mut Option<Instant>) -> Flow<()> {
        if self.fill_in_time(due).await? { Ok(()) } else { Err(End::Answered) }
    }

    /// Reads more of a body, after writing the answers that wait before it: they are not held up by it. The body's time runs from its
    /// first wait; false when it is over.
    async fn fill_in_time(&mut self, due: &mut Option<Instant>) -> Flow<bool> {
        let due = match *due {
            Some(due) => due,
            None => {
                self.flush().await?;
                *due.insert(after(self.service.limits().body_timeout))
            }
        };
        match self.fill(due, false).await? {
            Fill::Bytes => Ok(true),
            Fill::Ended | Fill::Draining => Err(End::Gone),
            Fill::Late => Ok(false),
        }
    }
}
