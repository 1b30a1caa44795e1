//! What a POST runs: one call, or those of a batch. On a session a call that goes on is known by its request id, so that the client can cancel
//! it.

use std::sync::Arc;
use std::task::{self, Poll};

use super::batch::BatchPending;
use super::shedding::Place;
use crate::methods::{self, Step};
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply, envelope};
use crate::session::flight::{Flight, Registered};
use crate::session::state::Session;
use crate::tables::versions::Era;
use crate::view::id::Id;

/// JSON-RPC: the server has given the request up.
const GIVEN_UP: i32 = -32000;

/// One call that goes on. Dropping it cancels its handler.
#[derive(Debug)]
pub(super) struct Call {
    pending: Box<methods::Pending>,
    registered: Option<Registered>,
    _place: Place,
}

/// What became of a call.
pub(super) enum Turn {
    /// A message for its stream, as JSON.
    Event(Vec<u8>),
    /// The stream's connection is to end, and the client to come back after so many milliseconds.
    Close(u64),
    /// The answer stands in the exchange, as JSON.
    Done(Reply),
    /// The request is refused; the same error stands in the exchange.
    Refused(Refusal<'static>),
    /// The client has cancelled it. What stands in the exchange is for a client that still waits for an answer.
    Cancelled(Reply),
}

impl From<Step> for Turn {
    fn from(step: Step) -> Self {
        match step {
            Step::Event(event) => Self::Event(event),
            Step::Close(retry_ms) => Self::Close(retry_ms),
            Step::Done(reply) => Self::Done(reply),
            Step::Refused(refusal) => Self::Refused(refusal),
        }
    }
}

impl Call {
    pub(super) fn new(pending: Box<methods::Pending>, session: Option<&Arc<Session>>, place: Place) -> Self {
        let registered = session.map(|session| session.register(pending.id()));
        Self { pending, registered, _place: place }
    }

    pub(super) fn poll(&mut self, cx: &mut task::Context<'_>, exchange: &mut Exchange) -> Poll<Turn> {
        if let Some(turn) = self.cancelled(cx, exchange) {
            return Poll::Ready(turn);
        }
        self.pending.poll(cx, exchange).map(Turn::from)
    }

    /// Goes on while nothing that it sends can be taken. Ready when it is cancelled, and then alone.
    pub(super) fn poll_held(&mut self, cx: &mut task::Context<'_>, exchange: &mut Exchange) -> Poll<Turn> {
        if let Some(turn) = self.cancelled(cx, exchange) {
            return Poll::Ready(turn);
        }
        self.pending.poll_held(cx);
        Poll::Pending
    }

    fn cancelled(&self, cx: &mut task::Context<'_>, exchange: &mut Exchange) -> Option<Turn> {
        let flight = self.flight()?;
        flight.poll_cancelled(cx).is_ready().then(|| {
            write_given_up(&mut exchange.body, flight.id(), "Request was cancelled");
            Turn::Cancelled(Reply::json(200))
        })
    }

    /// The request's id, as JSON.
    pub(super) fn id(&self) -> &[u8] {
        self.pending.id()
    }

    pub(super) const fn era(&self) -> Era {
        self.pending.era()
    }

    /// Nobody hears any more what it sends before its answer.
    pub(super) fn mute(&self) {
        self.pending.mute();
    }

    fn flight(&self) -> Option<&Arc<Flight>> {
        self.registered.as_ref().map(Registered::flight)
    }
}

/// All that a POST runs.
#[derive(Debug)]
pub(super) enum Calls {
    One(Call),
    Batch(BatchPending),
    Listen(Box<methods::Listening>),
}

impl Calls {
    pub(super) fn poll(&mut self, cx: &mut task::Context<'_>, exchange: &mut Exchange) -> Poll<Turn> {
        match self {
            Self::One(call) => call.poll(cx, exchange),
            Self::Batch(batch) => batch.poll(cx, exchange),
            Self::Listen(listening) => listening.poll(cx, exchange).map(Turn::from),
        }
    }

    /// Goes on while nothing that they send can be taken. Ready when nothing is left to go on with.
    pub(super) fn poll_held(&mut self, cx: &mut task::Context<'_>, exchange: &mut Exchange) -> Poll<Turn> {
        match self {
            Self::One(call) => call.poll_held(cx, exchange),
            Self::Batch(batch) => {
                batch.poll_held(cx, exchange);
                Poll::Pending
            }
            // It is held up by its connection alone, which polls it no more then.
            Self::Listen(_) => Poll::Pending,
        }
    }

    pub(super) const fn era(&self) -> Era {
        match self {
            Self::One(call) => call.era(),
            Self::Batch(_) => Era::Legacy,
            Self::Listen(_) => Era::Modern,
        }
    }

    /// The id of the one request that they answer.
    pub(super) fn id(&self) -> Option<Id<'_>> {
        match self {
            Self::One(call) => std::str::from_utf8(call.id()).ok().map(Id::Literal),
            Self::Batch(_) | Self::Listen(_) => None,
        }
    }

    /// Nobody hears any more what they send before their answer.
    pub(super) fn mute(&self) {
        match self {
            Self::One(call) => call.mute(),
            Self::Batch(batch) => batch.calls().for_each(Call::mute),
            Self::Listen(_) => {}
        }
    }

    /// The session that they belong to.
    pub(super) fn session(&self) -> Option<&Arc<Session>> {
        match self {
            Self::One(call) => call.registered.as_ref().map(Registered::session),
            Self::Batch(batch) => Some(batch.session()),
            Self::Listen(_) => None,
        }
    }

    /// Everything that can be cancelled.
    pub(super) fn flights(&self) -> Vec<Arc<Flight>> {
        match self {
            Self::One(call) => call.flight().cloned().into_iter().collect(),
            Self::Batch(batch) => batch.calls().filter_map(Call::flight).cloned().collect(),
            Self::Listen(_) => Vec::new(),
        }
    }

    /// The answer, of at most so many bytes, in the place of one that is too long to be kept until its client comes back.
    pub(super) fn too_long(&self, most: usize) -> Vec<u8> {
        let shorter = match self {
            Self::One(call) => too_long(call.id()),
            Self::Batch(batch) => batch.too_long(most),
            Self::Listen(_) => Vec::new(),
        };
        // With ids as long as that, its client learns at least that it need not wait.
        if shorter.is_empty() || shorter.len() > most { too_long(b"null") } else { shorter }
    }
}

/// The answer in the place of one that is too long to be kept.
pub(super) fn too_long(id: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let text = "The answer was too long to be kept until its client came back; see replay_bytes";
    write_given_up(&mut out, id, text);
    out
}

fn write_given_up(out: &mut Vec<u8>, id: &[u8], text: &str) {
    out.clear();
    envelope::begin(out);
    out.extend_from_slice(id);
    envelope::write_error_member(out, GIVEN_UP, text, None);
}
