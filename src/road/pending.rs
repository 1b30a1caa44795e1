//! An answer that takes its time, as a connection sees it: bytes to send, framed already, until the last ones. A call of a session that sends
//! anything before its answer moves to a task of its own, and what it sends is recorded: its connection is then one reader among those that
//! may come for it.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{self, Poll};

use bytes::Bytes;

use super::call::{Call, Calls, Turn};
use super::media::Accept;
use super::shared::{Road, Shared};
use crate::reply::rejection::{Refusal, Scene, render};
use crate::reply::{Allow, Content, Exchange, Reply, sse};
use crate::session::commons::Permit;
use crate::session::reader::{Next, Reader};
use crate::session::state::Session;
use crate::session::writer::Writer;
use crate::tables::routes::Verb;
use crate::tables::versions::{Era, Revision};
use crate::view::id::Id;

/// What is to be done next.
#[derive(Debug)]
pub enum Step {
    /// These bytes go out on the event stream, which is opened by the first. There may be none.
    Event(Bytes),
    /// The event stream ends with these bytes, early: no answer has come, and this connection gets none.
    Cut(Bytes),
    /// The answer, whose body stands in the exchange: all of it, or the last bytes of the stream that has been opened.
    Done(Reply),
}

/// An answer in the making. Nothing of the request is borrowed. Dropping it cancels a modern call, and detaches the reader of a stream.
#[derive(Debug)]
pub struct Pending {
    source: Source,
    accept: Accept,
}

#[derive(Debug)]
enum Source {
    /// Calls that run here.
    Calls {
        calls: Calls,
        streamed: bool,
        /// Refuses a request after a while. Only modern ones are.
        refuser: Option<Road>,
    },
    /// A stream of a session.
    Stream {
        reader: Reader,
        opened: bool,
    },
    Over,
}

/// What makes a call's answer a stream.
enum First {
    /// It sends something.
    Event(Vec<u8>),
    /// It ends its connection, and may run on without.
    Close(u64, Permit),
}

impl Pending {
    pub(super) const fn calls(calls: Calls, accept: Accept) -> Self {
        Self { source: Source::Calls { calls, streamed: false, refuser: None }, accept }
    }

    /// A call that may still be refused.
    pub(super) fn modern(call: Call, accept: Accept, shared: &Arc<Shared>) -> Self {
        let refuser = Some(Road(Arc::clone(shared)));
        Self { source: Source::Calls { calls: Calls::One(call), streamed: false, refuser }, accept }
    }

    /// The stream that a GET has opened: its head goes out at once.
    pub(super) const fn stream(reader: Reader) -> Self {
        Self { source: Source::Stream { reader, opened: false }, accept: Accept::EventStream }
    }

    /// Goes on. An event comes only where the client takes a stream. After `Cut` and `Done` nothing comes.
    pub fn poll(&mut self, cx: &mut task::Context<'_>, exchange: &mut Exchange) -> Poll<Step> {
        match &mut self.source {
            Source::Over => Poll::Pending,
            Source::Stream { reader, opened } => {
                if !std::mem::replace(opened, true) {
                    return Poll::Ready(Step::Event(Bytes::new()));
                }
                reader.poll(cx).map(|next| read(next, exchange))
            }
            Source::Calls { calls, streamed, refuser } => loop {
                match task::ready!(calls.poll(cx, exchange)) {
                    Turn::Event(json) => match calls.session().map(Arc::clone) {
                        Some(session) => {
                            return self.move_to_stream(&session, First::Event(json), cx, exchange);
                        }
                        None => {
                            *streamed = true;
                            let mut event = Vec::new();
                            sse::write_event(&mut event, &json);
                            return Poll::Ready(Step::Event(event.into()));
                        }
                    },
                    Turn::Close(retry_ms) => {
                        let session = calls.session().map(Arc::clone);
                        if let Some(session) = session
                            && let Some(permit) = session.permit()
                        {
                            let first = First::Close(retry_ms, permit);
                            return self.move_to_stream(&session, first, cx, exchange);
                        }
                    }
                    Turn::Refused(refusal) => {
                        let reply = match refuser {
                            Some(road) => refuse(road, refusal, calls.id(), exchange),
                            None => dress(Reply::json(200), self.accept, exchange),
                        };
                        self.source = Source::Over;
                        return Poll::Ready(Step::Done(reply));
                    }
                    Turn::Done(reply) | Turn::Cancelled(reply) => {
                        let reply = if *streamed {
                            framed(reply, exchange)
                        } else {
                            dress(reply, self.accept, exchange)
                        };
                        self.source = Source::Over;
                        return Poll::Ready(Step::Done(reply));
                    }
                }
            },
        }
    }

    /// Whether the client takes an event stream.
    #[must_use]
    pub const fn may_stream(&self) -> bool {
        !matches!(self.accept, Accept::Json)
    }

    /// The lane. A modern call ends with its audience; a legacy one is to be detached.
    #[must_use]
    pub const fn era(&self) -> Era {
        match &self.source {
            Source::Calls { calls, .. } => calls.era(),
            Source::Stream { .. } | Source::Over => Era::Legacy,
        }
    }

    /// Lets a call run on without an audience, on the current runtime, bounded by its own timeout, if it may.
    pub fn detach(self) {
        match self.source {
            Source::Calls { calls, .. } => {
                let permit = calls.session().and_then(|session| session.permit());
                let Some(permit) = permit else {
                    tracing::warn!(
                        "a call ends with its connection: as many as may run on without their clients"
                    );
                    return;
                };
                tokio::spawn(async move {
                    drive(calls, None).await;
                    drop(permit);
                });
            }
            // A stream's call runs elsewhere already, and its reader leaves it behind.
            Source::Stream { .. } | Source::Over => {}
        }
    }

    /// Moves calls to a task of their own, which writes the stream that is read here from now on.
    fn move_to_stream(
        &mut self,
        session: &Arc<Session>,
        first: First,
        cx: &mut task::Context<'_>,
        exchange: &mut Exchange,
    ) -> Poll<Step> {
        let Source::Calls { calls, .. } = std::mem::replace(&mut self.source, Source::Over) else {
            return Poll::Pending;
        };
        let Some((writer, reader)) = session.begin_stream(calls.flights()) else {
            // The session has ended in this very moment, and its calls with it.
            return Poll::Ready(Step::Cut(Bytes::new()));
        };
        match first {
            First::Event(json) => writer.append(&json),
            First::Close(retry_ms, permit) => writer.cut(retry_ms, Some(permit)),
        }
        tokio::spawn(drive(calls, Some(writer)));
        self.source = Source::Stream { reader, opened: true };
        self.poll(cx, exchange)
    }
}

fn refuse(road: &Road, refusal: Refusal<'_>, id: Option<Id<'_>>, exchange: &mut Exchange) -> Reply {
    let protocol = Some(Revision::NEWEST_MODERN.as_str().as_bytes());
    let scene = Scene { verb: Verb::Post, id, allow: Allow::Post, protocol };
    render(refusal, scene, &road.0.counters, exchange)
}

/// Sees calls through, for whoever reads their stream.
async fn drive(mut calls: Calls, writer: Option<Writer>) {
    let mut exchange = Exchange::new(false);
    if writer.is_none() {
        calls.mute();
    }
    let turn = |cx: &mut task::Context<'_>, calls: &mut Calls, exchange: &mut Exchange| {
        let has_room = writer.as_ref().is_none_or(|writer| writer.poll_room(cx).is_ready());
        if has_room { calls.poll(cx, exchange) } else { calls.poll_held(cx, exchange) }
    };
    loop {
        match poll_fn(|cx| turn(cx, &mut calls, &mut exchange)).await {
            Turn::Event(json) => {
                if let Some(writer) = &writer {
                    writer.append(&json);
                }
            }
            Turn::Close(retry_ms) => {
                if let Some(writer) = &writer {
                    writer.cut(retry_ms, None);
                }
            }
            Turn::Done(_) | Turn::Refused(_) => {
                if let Some(writer) = writer {
                    writer.answer(&exchange.body, |most| calls.too_long(most));
                }
                return;
            }
            // Its stream ends without an answer.
            Turn::Cancelled(_) => return,
        }
    }
}

/// What a stream gives, as a step.
fn read(next: Next, exchange: &mut Exchange) -> Step {
    match next {
        Next::Event(event) => Step::Event(event),
        Next::Answer(event) => {
            exchange.body.clear();
            exchange.body.extend_from_slice(&event);
            Step::Done(Reply { content: Content::EventStream, ..Reply::json(200) })
        }
        Next::Cut(retry_ms) => {
            let mut event = Vec::with_capacity(24);
            sse::write_retry(&mut event, retry_ms);
            Step::Cut(event.into())
        }
        Next::End => Step::Cut(Bytes::new()),
    }
}

/// A client that takes event streams alone gets its answer as a stream of one message. Rejections are always JSON.
pub(super) fn dress(reply: Reply, accept: Accept, exchange: &mut Exchange) -> Reply {
    if accept != Accept::EventStream || reply.status != 200 || reply.content != Content::Json {
        return reply;
    }
    framed(reply, exchange)
}

/// An answer as the last event of a stream.
fn framed(reply: Reply, exchange: &mut Exchange) -> Reply {
    let json = std::mem::take(&mut exchange.body);
    sse::write_event(&mut exchange.body, &json);
    Reply { content: Content::EventStream, ..reply }
}
