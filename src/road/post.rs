//! A POST on the road: the stages in chain order, from `parse` on.

use std::sync::Arc;
use std::task::{self, Poll};

use super::batch;
use super::call::{Call, Calls, Turn};
use super::classify::{self, Message};
use super::dispatch::{self, Dispatched};
use super::media::Accept;
use super::origin::OriginPassed;
use super::pace::Toll;
use super::parse::{self, HeadParsed};
use super::pending::{Pending, dress};
use super::session::{self, Needs};
use super::shared::{Peer, Road, Shared};
use super::singleton::{self, Singletons};
use super::validate::{self, Validated};
use super::{auth, era, header_binding, limit, protocol_fields};
use crate::base::limits::Limits;
use crate::methods::Outcome;
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply};
use crate::session::state::Session;
use crate::tables::methods::Method;
use crate::tables::versions::{Era, Revision};
use crate::tools::Behind;
use crate::tools::CallSlot;
use crate::view::head::RequestHead;
use crate::view::id::Id;
use crate::view::message::{Document, Envelope, JsonFault, JsonScratch};

/// What the head of a request came to.
#[derive(Debug)]
#[must_use]
pub enum Entry {
    /// Answered. The body, if there is one, is unread.
    Answer(Reply),
    /// The body is wanted.
    Body(Ticket),
    /// An event stream. The body, if there is one, is unread.
    Stream(Pending),
}

/// A POST whose head has passed: its body is wanted.
#[derive(Debug)]
pub struct Ticket {
    passed: OriginPassed,
    parsed: HeadParsed,
    toll: Toll,
    ceiling: u64,
}

impl Ticket {
    pub(super) const fn new(passed: OriginPassed, parsed: HeadParsed, toll: Toll, ceiling: u64) -> Self {
        Self { passed, parsed, toll, ceiling }
    }

    /// The longest body that is taken, in bytes.
    #[must_use]
    pub const fn ceiling(&self) -> u64 {
        self.ceiling
    }
}

/// Storage that requests of one connection reuse: with it, a warm request allocates nothing in the framework.
#[derive(Debug)]
pub struct Scratch {
    json: JsonScratch,
    slot: CallSlot,
}

impl Scratch {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            json: JsonScratch::new(usize::try_from(limits.json_depth).unwrap_or(usize::MAX))
                .of_values(usize::try_from(limits.json_values).unwrap_or(usize::MAX)),
            slot: CallSlot::default(),
        }
    }

    /// Bytes held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.json.held()
    }

    /// Gives back what is held beyond `keep` bytes.
    pub fn shrink(&mut self, keep: usize) {
        self.json.shrink(keep);
        if keep == 0 {
            self.slot = CallSlot::default();
        }
    }
}

/// What a POST came to.
#[derive(Debug)]
#[must_use]
pub enum Answer {
    /// Answered: the body stands in the exchange.
    Done(Reply),
    /// A call that goes on.
    Pending(Pending),
}

impl Road {
    /// The rest of the road. `buf[..len]` is the body, and `PADDING` bytes follow it. Never blocks; a tool is polled once.
    #[expect(clippy::too_many_arguments, reason = "the storage is the connection's, lent for one request")]
    pub fn post(
        &self,
        head: RequestHead<'_>,
        ticket: Ticket,
        buf: &mut [u8],
        len: usize,
        scratch: &mut Scratch,
        peer: &Peer,
        exchange: &mut Exchange,
        cx: &mut task::Context<'_>,
    ) -> Answer {
        let Scratch { json, slot } = scratch;
        json.parse(buf, len, |parsed| {
            let accept = ticket.parsed.accept;
            let mut run = Run { shared: &self.0, head, peer, slot, exchange, accept, size: len };
            run.carry(ticket.passed, ticket.toll, parsed, cx)
        })
    }
}

/// One POST between `parse` and its answer.
pub(super) struct Run<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) head: RequestHead<'a>,
    pub(super) peer: &'a Peer,
    pub(super) slot: &'a mut CallSlot,
    pub(super) exchange: &'a mut Exchange,
    pub(super) accept: Accept,
    /// The length of the body, in bytes.
    pub(super) size: usize,
}

impl<'a> Run<'a> {
    fn carry(
        &mut self,
        passed: OriginPassed,
        toll: Toll,
        parsed: Result<Document<'_, '_>, JsonFault>,
        cx: &mut task::Context<'_>,
    ) -> Answer {
        let document = match parsed {
            Ok(document) => document,
            Err(fault) => return self.refuse(parse::malformed(&fault), None),
        };
        let message = match classify::step(document.envelope(), document.spellings()) {
            Ok(message) => message,
            Err(refusal) => return self.refuse(refusal, None),
        };
        self.note(&message);
        if let Err(refusal) = self.shared.loads.check_calls(&message, document.root()) {
            return self.refuse(refusal, None);
        }
        match self.climb(passed, toll, document, &message, cx) {
            Ok(answer) => answer,
            Err(refusal) => self.refuse(refusal, message.rejection_id()),
        }
    }

    fn refuse(&mut self, refusal: Refusal<'_>, id: Option<Id<'_>>) -> Answer {
        Answer::Done(self.shared.refuse(refusal, &self.head, id, self.exchange))
    }

    /// The wire checks, then the message's lane.
    fn climb<'r>(
        &mut self,
        passed: OriginPassed,
        toll: Toll,
        document: Document<'r, 'r>,
        message: &Message<'r, 'r>,
        cx: &mut task::Context<'_>,
    ) -> Result<Answer, Refusal<'r>>
    where
        'a: 'r,
    {
        let settings = &self.shared.settings;
        let authed = auth::check(settings, &self.head, passed)?;
        let address = self.peer.address.map(|address| address.ip());
        let toll = match message {
            Message::Unknown(_) => batch::toll(self.shared, self.peer, document.root(), toll),
            Message::Request { .. } | Message::Notification { .. } | Message::Response(_) => toll,
        };
        let admitted = limit::check(settings, self.head.verb(), address, toll, authed)?;
        let singletons = singleton::check(&self.head, admitted)?;
        let era = era::choose(settings, message, &singletons);
        self.exchange.era = Some(era);
        match era {
            Era::Modern => self.modern(&singletons, message, cx),
            Era::Legacy => self.legacy(&singletons, document, message, cx),
        }
    }

    fn modern<'r>(
        &mut self,
        singletons: &Singletons<'a>,
        message: &Message<'r, 'r>,
        cx: &mut task::Context<'_>,
    ) -> Result<Answer, Refusal<'r>>
    where
        'a: 'r,
    {
        let behind = self.shared.behind(singletons);
        match message {
            Message::Request { id, method, envelope } => {
                let fields =
                    protocol_fields::check(&self.shared.settings, method, &envelope.args, singletons)?;
                self.exchange.log.set_protocol(fields.version());
                let revision = header_binding::check(
                    &self.head,
                    method,
                    &envelope.args,
                    &fields,
                    &behind.registry().snapshot(),
                )?;
                let validated = validate::check(message)?;
                let resolved = Resolved { revision, session: None, now_ms: 0 };
                self.dispatch(behind, singletons, &validated, (*id, method, envelope), &resolved, cx)
            }
            Message::Notification { method, envelope } => {
                header_binding::check_notification(&self.head, method, &envelope.args)?;
                let validated = validate::check(message)?;
                Ok(Answer::Done(dispatch::notification(&validated, method, envelope.params, None)))
            }
            Message::Response(_) | Message::Unknown(_) => {
                let validated = validate::check(message)?;
                Ok(Answer::Done(dispatch::response(&validated, message, None)))
            }
        }
    }

    fn legacy<'r>(
        &mut self,
        singletons: &Singletons<'a>,
        document: Document<'r, 'r>,
        message: &Message<'r, 'r>,
        cx: &mut task::Context<'_>,
    ) -> Result<Answer, Refusal<'r>>
    where
        'a: 'r,
    {
        let settings = &self.shared.settings;
        if !settings.legacy {
            // Only responses come here then: every other kind is modern.
            return Err(validate::unexpected_response());
        }
        let behind = self.shared.behind(singletons);
        let now_ms = self.shared.clock.now_ms();
        let needs = match message {
            Message::Request { method, .. } => {
                Needs::Request(Method::find(method).filter(|method| method.eras().has(Era::Legacy)))
            }
            Message::Notification { .. } | Message::Response(_) => Needs::Message,
            Message::Unknown(_) => {
                if let Some(session) =
                    batch::session(settings, behind.sessions(), singletons, document.root(), now_ms)?
                {
                    return self.batch(behind, singletons, document, &session, now_ms, cx);
                }
                let validated = validate::check(message)?;
                return Ok(Answer::Done(dispatch::response(&validated, message, None)));
            }
        };
        let session = session::resolve(settings, behind.sessions(), singletons, needs, now_ms)?;
        let revision = session.as_ref().map_or(Revision::NEWEST_LEGACY, |session| session.revision);
        let validated = validate::check(message)?;
        if let Some(session) = &session {
            session.touch(now_ms);
        }
        let resolved = Resolved { revision, session, now_ms };
        match message {
            Message::Request { id, method, envelope } => {
                self.dispatch(behind, singletons, &validated, (*id, method, envelope), &resolved, cx)
            }
            Message::Notification { method, envelope } => {
                let session = resolved.session.as_ref();
                Ok(Answer::Done(dispatch::notification(&validated, method, envelope.params, session)))
            }
            Message::Response(_) | Message::Unknown(_) => {
                Ok(Answer::Done(dispatch::response(&validated, message, resolved.session.as_ref())))
            }
        }
    }

    fn dispatch<'r>(
        &mut self,
        behind: &Behind,
        singletons: &Singletons<'a>,
        validated: &Validated,
        request: (Id<'r>, &'r str, &'r Envelope<'r, 'r>),
        resolved: &Resolved,
        cx: &mut task::Context<'_>,
    ) -> Result<Answer, Refusal<'r>> {
        let dispatched = self.dispatched(request, resolved, singletons);
        match dispatch::request(behind, validated, dispatched, self.slot, self.exchange, cx)? {
            Outcome::Done(reply) => Ok(Answer::Done(dress(reply, self.accept, self.exchange))),
            Outcome::Pending(call) => {
                let call = Call::new(call, resolved.session.as_ref(), self.shared.loads.place());
                Ok(Answer::Pending(match resolved.revision.era() {
                    Era::Modern => Pending::modern(call, self.accept, self.shared),
                    Era::Legacy => Pending::calls(Calls::One(call), self.accept),
                }))
            }
            Outcome::Listening(listening) => {
                Ok(Answer::Pending(Pending::calls(Calls::Listen(listening), self.accept)))
            }
        }
    }

    pub(super) fn dispatched<'r, 's>(
        &self,
        (id, method, envelope): (Id<'r>, &'r str, &'r Envelope<'r, 'r>),
        resolved: &'s Resolved,
        singletons: &'s Singletons<'a>,
    ) -> Dispatched<'s, 'r, 'r>
    where
        'a: 's,
    {
        let shared: &'a Shared = self.shared;
        Dispatched {
            id,
            method,
            envelope,
            revision: resolved.revision,
            session: resolved.session.as_ref(),
            principal: singletons.principal(),
            may_stream: !matches!(self.accept, Accept::Json),
            clock: &shared.clock,
            size: self.size,
        }
    }

    fn batch<'r>(
        &mut self,
        behind: &Behind,
        singletons: &Singletons<'a>,
        document: Document<'r, 'r>,
        session: &Arc<Session>,
        now_ms: u64,
        cx: &mut task::Context<'_>,
    ) -> Result<Answer, Refusal<'r>>
    where
        'a: 'r,
    {
        let resolved = Resolved { revision: session.revision, session: Some(Arc::clone(session)), now_ms };
        let mut calls = batch::serve(self, behind, singletons, document, session, &resolved, cx)?;
        let accept = self.accept;
        match calls.poll(cx, self.exchange) {
            Poll::Ready(Turn::Done(reply) | Turn::Cancelled(reply)) => {
                return Ok(Answer::Done(dress(reply, accept, self.exchange)));
            }
            Poll::Ready(Turn::Event(event)) => calls.give_back(event),
            // No call of a session is refused once it runs.
            Poll::Ready(Turn::Refused(refusal)) => return Err(refusal),
            // The revision of batches knows no streams that are come back to.
            Poll::Ready(Turn::Close(_)) | Poll::Pending => {}
        }
        Ok(Answer::Pending(Pending::calls(Calls::Batch(calls), accept)))
    }

    fn note(&mut self, message: &Message<'_, '_>) {
        match message {
            Message::Request { method, .. } | Message::Notification { method, .. } => {
                self.exchange.log.set_method(method);
            }
            Message::Response(_) | Message::Unknown(_) => {}
        }
    }
}

/// What the stages up to `session` have found out about a message.
pub(super) struct Resolved {
    pub(super) revision: Revision,
    pub(super) session: Option<Arc<Session>>,
    pub(super) now_ms: u64,
}
