//! A call that goes on: what its answer needs, with nothing borrowed from the request.

use std::sync::Arc;
use std::task::{self, Poll};

use super::{Outcome, Request};
use crate::reply::{Exchange, Reply, envelope};
use crate::session::state::OpenGuard;
use crate::tables::versions::{Era, Feature, Revision};
use crate::tools::Identity;
use crate::tools::{Produced, ProtocolError, Running, ToolResult};
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
    /// What it came to, while notifications sent before that are still on their way.
    produced: Option<Produced>,
}

/// What happened to a call.
#[derive(Debug)]
pub enum Step {
    /// A notification for the call's stream, as JSON.
    Event(Vec<u8>),
    /// The answer stands in the exchange, as JSON.
    Done(Reply),
}

/// How a call is answered.
pub(super) struct Answering<'r> {
    pub(super) revision: Revision,
    pub(super) may_stream: bool,
    pub(super) identity: &'r Arc<Identity>,
}

impl Pending {
    /// Polls a call for the first time. One that is ready and has sent nothing is answered on the spot.
    pub(super) fn begin(
        mut running: Running,
        request: &Request<'_, '_, '_>,
        answering: Answering<'_>,
        exchange: &mut Exchange,
        cx: &mut task::Context<'_>,
    ) -> Outcome {
        let polled = running.poll(cx);
        let first = if answering.may_stream { running.take_notification() } else { None };
        let produced = match polled {
            Poll::Ready(produced) if first.is_none() => {
                let out = &mut exchange.body;
                envelope::begin(out);
                request.id.write(out);
                write(out, &produced, answering.revision, answering.identity);
                return Outcome::Done(Reply::json(200));
            }
            Poll::Ready(produced) => Some(produced),
            Poll::Pending => None,
        };
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
            produced,
        }))
    }

    /// Goes on with the call. Notifications come out before the result; where the client takes no stream they are dropped.
    pub fn poll(&mut self, cx: &mut task::Context<'_>, exchange: &mut Exchange) -> Poll<Step> {
        loop {
            // A result that comes now comes after everything the handler has sent by now.
            if self.produced.is_none()
                && let Poll::Ready(produced) = self.running.poll(cx)
            {
                self.produced = Some(produced);
            }
            match self.first.take().or_else(|| self.running.take_notification()) {
                Some(notification) if self.may_stream => return Poll::Ready(Step::Event(notification)),
                Some(_) => continue,
                None => {}
            }
            let Some(produced) = self.produced.take() else { return Poll::Pending };
            let out = &mut exchange.body;
            out.clear();
            envelope::begin(out);
            out.extend_from_slice(&self.id);
            write(out, &produced, self.revision, &self.identity);
            return Poll::Ready(Step::Done(Reply::json(200)));
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
        Produced::Failed(error) => write_failure(out, error),
    }
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
