//! Several messages in one body: served on sessions of 2025-03-26 alone, each element from `classify` on.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{self, Poll};

use super::call::{self, Call, Turn};
use super::classify::{self, Message};
use super::pace::Toll;
use super::post::{Resolved, Run};
use super::session;
use super::settings::Settings;
use super::shared::{Peer, Shared};
use super::singleton::Singletons;
use super::{dispatch, parse, validate};
use crate::methods::{self, METHOD_NOT_FOUND, Outcome};
use crate::reply::rejection::{Refusal, render_element};
use crate::reply::{Exchange, Reply};
use crate::session::state::{Lifecycle, Session};
use crate::session::store::Sessions;
use crate::tables::methods::{Lifecycle as MethodLifecycle, Method};
use crate::tables::rejection::Rejection;
use crate::tables::versions::{Era, Feature};
use crate::tools::Behind;
use crate::view::id::Id;
use crate::view::message::{Document, Envelope};
use crate::view::node::Value;

/// The most messages in one batch.
pub(super) const MOST: usize = 100;

/// The session of an array that may be served as a batch; `None` sends it on to `validate`, which refuses it.
///
/// # Errors
/// `unknown_session`, `protocol_version_mismatch`: a client that batches must learn too that its session has ended.
pub(super) fn session<'h>(
    settings: &Settings,
    sessions: &Sessions,
    singletons: &Singletons<'h>,
    root: Value<'_, '_>,
    now_ms: u64,
) -> Result<Option<Arc<Session>>, Refusal<'h>> {
    let (Some(_), Some(id)) = (root.as_array(), singletons.session_id()) else { return Ok(None) };
    let session = session::find(settings, sessions, singletons, id, now_ms)?;
    Ok(session.revision.has(Feature::Batches).then_some(session))
}

/// What an array has to wait for: each of its messages counts, up to the most that are served. Anything else has paid at the door.
#[cold]
pub(super) fn toll(shared: &Shared, peer: &Peer, root: Value<'_, '_>, paid: Toll) -> Toll {
    let (Some(rates), Some(array)) = (&shared.rates, root.as_array()) else { return paid };
    let messages = u64::try_from(array.len().min(MOST)).unwrap_or(u64::MAX);
    rates.enter_rest(peer, shared.clock.now_ms(), messages)
}

/// Serves every element in order.
///
/// # Errors
/// `malformed_json` and `invalid_message`, for the batch as a whole: nothing of it has been served then.
pub(super) fn serve<'r>(
    run: &mut Run<'_>,
    behind: &Behind,
    singletons: &Singletons<'_>,
    document: Document<'r, 'r>,
    session: &Arc<Session>,
    resolved: &Resolved,
    cx: &mut task::Context<'_>,
) -> Result<BatchPending, Refusal<'r>> {
    let envelopes = read(document.root())?;
    session.touch(resolved.now_ms);
    let mut batch = BatchPending {
        session: Arc::clone(session),
        items: Vec::with_capacity(envelopes.len()),
        events: VecDeque::new(),
    };
    for envelope in &envelopes {
        run.exchange.body.clear();
        let item = element(run, behind, singletons, document, envelope, resolved, cx);
        batch.items.extend(item);
    }
    run.exchange.body.clear();
    Ok(batch)
}

fn read<'r>(root: Value<'r, 'r>) -> Result<Vec<Envelope<'r, 'r>>, Refusal<'r>> {
    let elements = root.as_array().map_or(0, |array| array.len());
    if elements == 0 || elements > MOST {
        return Err(validate::refuse_batch("", "a batch has 1 to 100 messages"));
    }
    let mut envelopes = Vec::with_capacity(elements);
    for value in root.as_array().into_iter().flat_map(|array| array.iter()) {
        envelopes.push(Envelope::read(value).map_err(|fault| parse::malformed(&fault))?);
    }
    let initializes = |envelope: &Envelope<'_, '_>| {
        envelope.method.and_then(|method| method.as_str()) == Some("initialize")
    };
    if let Some(at) = envelopes.iter().position(initializes) {
        return Err(validate::refuse_batch(&format!("/{at}/method"), "initialize must not stand in a batch"));
    }
    Ok(envelopes)
}

/// One element: what it is answered with, if it is.
fn element<'r>(
    run: &mut Run<'_>,
    behind: &Behind,
    singletons: &Singletons<'_>,
    document: Document<'r, 'r>,
    envelope: &'r Envelope<'r, 'r>,
    resolved: &Resolved,
    cx: &mut task::Context<'_>,
) -> Option<Item> {
    let message = match classify::step(envelope, document.spellings()) {
        Ok(message) => message,
        Err(refusal) => return Some(refused(run, &refusal, None)),
    };
    match pass(run, behind, singletons, &message, resolved, cx) {
        Ok(item) => item,
        Err(refusal) => Some(refused(run, &refusal, Some(&message))),
    }
}

fn refused(run: &mut Run<'_>, refusal: &Refusal<'_>, message: Option<&Message<'_, '_>>) -> Item {
    let id = message.and_then(Message::rejection_id);
    let scene = run.shared.scene(&run.head, id);
    run.exchange.body.clear();
    render_element(refusal, scene, &run.shared.counters, run.exchange);
    answer(run, id)
}

fn answer(run: &mut Run<'_>, id: Option<Id<'_>>) -> Item {
    let mut written = Vec::new();
    match id {
        Some(id) => id.write(&mut written),
        None => written.extend_from_slice(b"null"),
    }
    Item::Answer { id: written.into(), json: std::mem::take(&mut run.exchange.body) }
}

fn pass<'r>(
    run: &mut Run<'_>,
    behind: &Behind,
    singletons: &Singletons<'_>,
    message: &Message<'r, 'r>,
    resolved: &Resolved,
    cx: &mut task::Context<'_>,
) -> Result<Option<Item>, Refusal<'r>> {
    match message {
        Message::Request { id, method, envelope } => {
            gate(method, resolved)?;
            let validated = validate::check(message)?;
            let dispatched = run.dispatched((*id, method, envelope), resolved, singletons);
            Ok(match dispatch::request(behind, &validated, dispatched, run.slot, run.exchange, cx) {
                Ok(Outcome::Done(_)) => Some(answer(run, Some(*id))),
                Ok(Outcome::Pending(call)) => {
                    Some(Item::Call(Call::new(call, resolved.session.as_ref(), run.shared.loads.place())))
                }
                // Only the modern lane listens, and it has no batches.
                Ok(Outcome::Listening(_)) => {
                    let _ = methods::error(run.exchange, *id, METHOD_NOT_FOUND, "Method not found");
                    Some(answer(run, Some(*id)))
                }
                Err(refusal) => Some(refused(run, &refusal, Some(message))),
            })
        }
        Message::Notification { method, envelope } => {
            let validated = validate::check(message)?;
            let session = resolved.session.as_ref();
            let _accepted = dispatch::notification(&validated, method, envelope.params, session);
            Ok(None)
        }
        Message::Response(_) | Message::Unknown(_) => {
            let validated = validate::check(message)?;
            let _accepted = dispatch::response(&validated, message, resolved.session.as_ref());
            Ok(None)
        }
    }
}

/// The lifecycle gate of `session`, for one element.
fn gate(method: &str, resolved: &Resolved) -> Result<(), Refusal<'static>> {
    let lifecycle = Method::find(method)
        .filter(|method| method.eras().has(Era::Legacy))
        .map_or(MethodLifecycle::Ready, Method::lifecycle);
    let opened = resolved.session.as_ref().is_some_and(|session| session.lifecycle() == Lifecycle::Opened);
    if opened && lifecycle == MethodLifecycle::Ready {
        Err(Refusal::plain(Rejection::NotReady))
    } else {
        Ok(())
    }
}

impl Call {
    fn answered(&self, exchange: &mut Exchange) -> Item {
        Item::Answer { id: self.id().into(), json: std::mem::take(&mut exchange.body) }
    }
}

#[derive(Debug)]
enum Item {
    /// The answer and the id of its request, as JSON.
    Answer {
        id: Box<[u8]>,
        json: Vec<u8>,
    },
    Call(Call),
}

/// A batch in flight: the answers that are there, and the calls that go on.
#[derive(Debug)]
pub struct BatchPending {
    session: Arc<Session>,
    items: Vec<Item>,
    events: VecDeque<Vec<u8>>,
}

impl BatchPending {
    /// Goes on with every call. The last turn is the array of all answers.
    pub(super) fn poll(&mut self, cx: &mut task::Context<'_>, exchange: &mut Exchange) -> Poll<Turn> {
        if let Some(event) = self.events.pop_front() {
            return Poll::Ready(Turn::Event(event));
        }
        let mut open = false;
        for item in &mut self.items {
            let Item::Call(call) = item else { continue };
            match call.poll(cx, exchange) {
                Poll::Ready(Turn::Event(event)) => return Poll::Ready(Turn::Event(event)),
                Poll::Ready(Turn::Close(retry_ms)) => return Poll::Ready(Turn::Close(retry_ms)),
                // The others are still answered, so a call that was cancelled is too.
                Poll::Ready(Turn::Done(_) | Turn::Refused(_) | Turn::Cancelled(_)) => {
                    *item = call.answered(exchange);
                }
                Poll::Pending => open = true,
            }
        }
        if open { Poll::Pending } else { Poll::Ready(Turn::Done(self.collect(exchange))) }
    }

    /// Goes on with every call while nothing that they send can be taken.
    pub(super) fn poll_held(&mut self, cx: &mut task::Context<'_>, exchange: &mut Exchange) {
        for item in &mut self.items {
            let Item::Call(call) = item else { continue };
            if call.poll_held(cx, exchange).is_ready() {
                *item = call.answered(exchange);
            }
        }
    }

    /// The array in the place of one that is too long to be kept, if so many bytes are kept: of its answers, those that are longer than
    /// their share give way.
    pub(super) fn too_long(&self, most: usize) -> Vec<u8> {
        let share = most / self.items.len().max(1);
        let mut out = Vec::new();
        self.write(&mut out, |id, json| {
            if json.len() > share { Cow::Owned(call::too_long(id)) } else { Cow::Borrowed(json) }
        });
        out
    }

    /// The session that it came on.
    pub(super) const fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The calls that go on.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.items.iter().filter_map(|item| match item {
            Item::Call(call) => Some(call),
            Item::Answer { .. } => None,
        })
    }

    /// Puts an event back that nobody could take yet.
    pub(super) fn give_back(&mut self, event: Vec<u8>) {
        self.events.push_front(event);
    }

    fn collect(&self, exchange: &mut Exchange) -> Reply {
        exchange.body.clear();
        if self.items.is_empty() {
            return Reply::accepted();
        }
        self.write(&mut exchange.body, |_, json| Cow::Borrowed(json));
        Reply::json(200)
    }

    /// Writes the array of all answers, each as `as_written` has it.
    fn write<'s>(&'s self, out: &mut Vec<u8>, as_written: impl Fn(&'s [u8], &'s [u8]) -> Cow<'s, [u8]>) {
        out.push(b'[');
        for (at, item) in self.items.iter().enumerate() {
            let Item::Answer { id, json } = item else { continue };
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(&as_written(id, json));
        }
        out.push(b']');
    }
}
