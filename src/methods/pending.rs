//! A call that goes on: what its answer needs, with nothing borrowed from the request.

use std::sync::Arc;
use std::task::{self, Poll};

use super::rounds::Sealing;
use super::task_run::{self, Handed, Handover};
use super::{INTERNAL_ERROR, Outcome, Request, capabilities};
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply, envelope, json};
use crate::session::state::OpenGuard;
use crate::tables::versions::{Era, Feature, Revision};
use crate::tools::Identity;
use crate::tools::seal::SealFault;
use crate::tools::{Asked, Asking, Produced, ProtocolError, Running, ToolResult};
use crate::tools::{write_completion, write_prompt, write_read, write_result};

/// A call in flight. Dropping it cancels its handler.
#[derive(Debug)]
pub struct Pending {
    running: Running,
    /// The id, as JSON.
    id: Vec<u8>,
    revision: Revision,
    may_stream: bool,
    identity: Arc<Identity>,
    /// Keeps a legacy session from being idle.
    _open: Option<OpenGuard>,
    /// A notification that came before the call was handed over.
    first: Option<Vec<u8>>,
    /// What sealing needs, where the call may end with questions.
    sealing: Option<Sealing>,
    /// Whether anything has gone out.
    sent: bool,
    /// What it needs to become a task, where its handler may want that.
    handover: Option<Handover>,
    /// What it came to, while notifications sent before that are still on their way.
    produced: Option<Produced>,
}

/// What happened to a call.
#[derive(Debug)]
pub enum Step {
    /// A notification for the call's stream, as JSON.
    Event(Vec<u8>),
    /// The stream's connection is to end, and the client to come back after so many milliseconds.
    Close(u64),
    /// The answer stands in the exchange, as JSON.
    Done(Reply),
    /// The request is refused. Nothing has been sent; for whoever cannot refuse any more, the same error stands in the exchange.
    Refused(Refusal<'static>),
}

/// How a call is answered.
pub(super) struct Answering<'r> {
    pub(super) revision: Revision,
    pub(super) may_stream: bool,
    pub(super) identity: &'r Arc<Identity>,
}

impl Pending {
    /// Polls a call for the first time. One that is ready and has sent nothing is answered on the spot.
    ///
    /// # Errors
    /// `missing_client_capability` (modern lane), where the handler has failed for want of it.
    pub(super) fn begin(
        mut running: Running,
        request: &Request<'_, '_, '_>,
        answering: Answering<'_>,
        asking: Option<&Arc<Asking>>,
        exchange: &mut Exchange,
        cx: &mut task::Context<'_>,
    ) -> Result<Outcome, Refusal<'static>> {
        let polled = running.poll(cx);
        let first = if answering.may_stream { running.take_first(polled.is_ready()) } else { None };
        let sealing =
            |running: &Running| asking.and_then(|asking| Sealing::of(asking, request, running.declared()));
        let produced = match polled {
            Poll::Pending => {
                let sealing = sealing(&running);
                return Ok(Self::pending(running, request, answering, first, None, sealing));
            }
            Poll::Ready(Produced::InputRequired(required)) => {
                settle(Produced::InputRequired(required), &running, sealing(&running).as_ref())
            }
            Poll::Ready(produced) => produced,
        };
        if first.is_some() {
            return Ok(Self::pending(running, request, answering, first, Some(produced), None));
        }
        if let Some(refusal) = refusal(&produced, answering.revision) {
            return Err(refusal);
        }
        let out = &mut exchange.body;
        envelope::begin(out);
        request.id.write(out);
        write(out, &produced, answering.revision, answering.identity);
        Ok(Outcome::Done(Reply::json(200)))
    }

    fn pending(
        running: Running,
        request: &Request<'_, '_, '_>,
        answering: Answering<'_>,
        first: Option<Vec<u8>>,
        produced: Option<Produced>,
        sealing: Option<Sealing>,
    ) -> Outcome {
        let mut id = Vec::new();
        request.id.write(&mut id);
        Outcome::Pending(Box::new(Self {
            running,
            id,
            revision: answering.revision,
            may_stream: answering.may_stream,
            identity: Arc::clone(answering.identity),
            first,
            _open: request.session.map(|session| session.open()),
            sealing,
            sent: false,
            handover: None,
            produced,
        }))
    }

    /// Lets the call become a task when its handler says so.
    pub(super) fn allow_task(&mut self, handover: Handover) {
        self.handover = Some(handover);
    }

    /// Goes on with the call. Notifications come out before the result; where the client takes no stream they are dropped.
    pub fn poll(&mut self, cx: &mut task::Context<'_>, exchange: &mut Exchange) -> Poll<Step> {
        loop {
            // A result that comes now comes after everything the handler has sent by now.
            if self.produced.is_none()
                && let Poll::Ready(produced) = self.running.poll(cx)
            {
                self.produced = Some(settle(produced, &self.running, self.sealing.as_ref()));
            }
            if self.first.is_none()
                && let Some(retry_ms) = self.running.take_close()
            {
                return Poll::Ready(Step::Close(retry_ms));
            }
            match self.first.take().or_else(|| self.running.take_notification()) {
                Some(notification) if self.may_stream => {
                    self.sent = true;
                    return Poll::Ready(Step::Event(notification));
                }
                Some(_) => continue,
                None => {}
            }
            let Some(produced) = self.produced.take() else {
                if !self.running.wants_task() {
                    return Poll::Pending;
                }
                match self.hand_over(exchange) {
                    Some(step) => return Poll::Ready(step),
                    // It goes on without a task, or has come to something: either way there is more to do now.
                    None => continue,
                }
            };
            let out = &mut exchange.body;
            out.clear();
            envelope::begin(out);
            out.extend_from_slice(&self.id);
            write(out, &produced, self.revision, &self.identity);
            let refused = if self.sent { None } else { refusal(&produced, self.revision) };
            return Poll::Ready(refused.map_or_else(|| Step::Done(Reply::json(200)), Step::Refused));
        }
    }

    /// Goes on with the call while nothing that it sends can be taken.
    pub fn poll_held(&mut self, cx: &mut task::Context<'_>) {
        if self.produced.is_none()
            && let Poll::Ready(produced) = self.running.poll_held(cx)
        {
            self.produced = Some(settle(produced, &self.running, self.sealing.as_ref()));
        }
    }

    /// Nobody hears any more what is sent before the answer: the client cannot be asked.
    pub fn mute(&self) {
        self.running.mute();
    }

    /// The request's id, as JSON.
    #[must_use]
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// The answer of a call that becomes a task. What it sent before has gone out.
    fn hand_over(&mut self, exchange: &mut Exchange) -> Option<Step> {
        let handed = match &self.handover {
            Some(handover) => handover.hand_over(&mut self.running, self.revision),
            None => {
                self.running.become_task(None);
                Handed::No
            }
        };
        match handed {
            Handed::Task(task) => {
                let id = &self.id;
                let out = &mut exchange.body;
                Some(Step::Done(task_run::answer(
                    &self.identity,
                    &task,
                    |out| out.extend_from_slice(id),
                    out,
                )))
            }
            Handed::No => None,
            Handed::Failed(produced) => {
                self.produced = Some(produced);
                None
            }
        }
    }

    /// The lane: a modern call ends with its audience, a legacy one runs on.
    #[must_use]
    pub const fn era(&self) -> Era {
        self.revision.era()
    }

    /// Whether the client takes an event stream.
    #[must_use]
    pub const fn may_stream(&self) -> bool {
        self.may_stream
    }
}

/// Appends what a call came to, to an envelope whose id is there.
fn write(out: &mut Vec<u8>, produced: &Produced, revision: Revision, identity: &Identity) {
    match produced {
        Produced::Tool(result) => {
            envelope::open_result(out);
            write_tool(out, result, revision, identity);
            envelope::end_result(out);
        }
        Produced::Read(read) => {
            envelope::open_result(out);
            write_read(out, read, revision, identity);
            envelope::end_result(out);
        }
        Produced::Prompt(result) => {
            envelope::open_result(out);
            write_prompt(out, result, revision, identity);
            envelope::end_result(out);
        }
        Produced::Completion(completion) => {
            envelope::open_result(out);
            write_completion(out, completion, revision, identity);
            envelope::end_result(out);
        }
        Produced::Asked(asked) => write_asked(out, asked, identity),
        Produced::Failed(error) => write_failure(out, error),
        // Every call that may ask has been settled.
        Produced::InputRequired(_) => {
            write_failure(out, &ProtocolError::new(INTERNAL_ERROR, "The client cannot be asked here"));
        }
    }
}

/// Seals what a round ends with.
fn settle(produced: Produced, running: &Running, sealing: Option<&Sealing>) -> Produced {
    let Produced::InputRequired(required) = produced else { return produced };
    let Some(sealing) = sealing else { return Produced::InputRequired(required) };
    match sealing.seal(running.principal(), &required) {
        Ok(state) => Produced::Asked(Box::new(Asked { requests: required.requests, state })),
        Err(SealFault::TooLarge) => running.failure("has more to remember between its rounds than it may"),
        Err(SealFault::Failed) => running.failure("could not seal what it has to remember"),
    }
}

/// The rejection that a call's failure is, on the modern lane, while nothing has been sent.
fn refusal(produced: &Produced, revision: Revision) -> Option<Refusal<'static>> {
    match (produced, revision.era()) {
        (Produced::Failed(failure), Era::Modern) => capabilities::refusal_of(failure),
        (
            Produced::Failed(_)
            | Produced::Tool(_)
            | Produced::Read(_)
            | Produced::Prompt(_)
            | Produced::Completion(_)
            | Produced::Asked(_)
            | Produced::InputRequired(_),
            _,
        ) => None,
    }
}

#[cold]
fn write_asked(out: &mut Vec<u8>, asked: &Asked, identity: &Identity) {
    envelope::open_result(out);
    out.extend_from_slice(b"\"inputRequests\":");
    out.extend_from_slice(serde_json::Value::from(asked.requests.clone()).to_string().as_bytes());
    out.extend_from_slice(b",\"requestState\":");
    json::write_str(out, &asked.state);
    out.extend_from_slice(b",\"_meta\":{");
    out.extend_from_slice(identity.server_info());
    out.extend_from_slice(b"},\"resultType\":\"input_required\"");
    envelope::end_result(out);
}

#[cold]
fn write_failure(out: &mut Vec<u8>, error: &ProtocolError) {
    let data = error.data.as_ref().map(|data| data.to_string().into_bytes());
    envelope::write_error_member(out, error.code, &error.message, data.as_deref());
}

fn write_tool(out: &mut Vec<u8>, result: &ToolResult, revision: Revision, identity: &Identity) {
    if revision.has(Feature::ModernResults) {
        write_result(out, result, revision, identity.server_info());
        out.extend_from_slice(b",\"resultType\":\"complete\"");
    } else {
        write_result(out, result, revision, b"");
    }
}
