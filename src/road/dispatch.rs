//! Stage `dispatch`: from a method to the module that answers it.

use std::sync::Arc;
use std::task;

use super::classify::Message;
use super::validate::Validated;
use crate::base::clock::Clock;
use crate::base::principal::Principal;
use crate::methods::{self, METHOD_NOT_FOUND, Outcome, Request, params};
use crate::reply::rejection::{Fault, QUOTE, Refusal, quote};
use crate::reply::{Exchange, Reply};
use crate::session::requests::ClientAnswer;
use crate::session::state::Session;
use crate::tables::methods::Method;
use crate::tables::rejection::Rejection;
use crate::tables::versions::{Era, Revision};
use crate::tools::Behind;
use crate::tools::CallSlot;
use crate::view::id::Id;
use crate::view::message::Envelope;
use crate::view::node::Number;
use crate::view::node::Value;

/// What the stages before have found out about a request.
pub struct Dispatched<'r, 't, 'b> {
    /// The id.
    pub id: Id<'t>,
    /// The method's name.
    pub method: &'b str,
    /// All of the message.
    pub envelope: &'t Envelope<'t, 'b>,
    /// The revision.
    pub revision: Revision,
    /// The session, where there is one.
    pub session: Option<&'r Arc<Session>>,
    /// Who is asking.
    pub principal: Option<&'r Arc<Principal>>,
    /// Whether the client takes event streams.
    pub may_stream: bool,
    /// The server's clock.
    pub clock: &'r Clock,
    /// The length of the body, in bytes.
    pub size: usize,
}

/// Serves a request.
///
/// # Errors
/// `unknown_method` on the modern lane (on the legacy one an unknown method is an answer with 200), and what methods refuse.
pub fn request(
    behind: &Behind,
    _validated: &Validated,
    dispatched: Dispatched<'_, '_, '_>,
    slot: &mut CallSlot,
    exchange: &mut Exchange,
    cx: &mut task::Context<'_>,
) -> Result<Outcome, Refusal<'static>> {
    let Dispatched { id, method: name, envelope, revision, session, principal, may_stream, clock, size } =
        dispatched;
    let era = revision.era();
    match Method::find(name).filter(|method| method.eras().has(era)) {
        Some(method) => {
            let request = Request {
                id,
                method,
                params: &envelope.args,
                all: envelope.params,
                revision,
                session,
                principal,
                may_stream,
                clock,
                size,
            };
            methods::serve(behind, method, request, slot, exchange, cx)
        }
        None => unknown(era, id, name, exchange).map(Outcome::Done),
    }
}

/// Takes a notification: `notifications/initialized` makes the session ready, `notifications/cancelled` cancels every call of the session
/// that goes on and has the id, any other is accepted as it is. One whose params are not what its method says is accepted too, and changes
/// nothing.
pub fn notification(
    _validated: &Validated,
    method: &str,
    params: Option<Value<'_, '_>>,
    session: Option<&Arc<Session>>,
) -> Reply {
    let fits = |session: &&Arc<Session>| params::notification_fits(method, session.revision, params);
    let Some(session) = session.filter(fits) else { return Reply::accepted() };
    match method {
        "notifications/initialized" => session.make_ready(),
        "notifications/cancelled" => {
            if let Some(id) = params.and_then(|params| params.get("requestId")) {
                let mut json = Vec::new();
                id.write_json(&mut json);
                session.cancel(&json);
            }
        }
        _ => {}
    }
    Reply::accepted()
}

/// Takes a client's response: it reaches the request of this session's that waits for it. One that nobody waits for is accepted too.
pub fn response(_validated: &Validated, message: &Message<'_, '_>, session: Option<&Arc<Session>>) -> Reply {
    let envelope = message.envelope();
    let id = envelope.id.and_then(|id| id.as_str());
    if let (Some(session), Some(id)) = (session, id) {
        // What nobody waits for is not even read.
        session.answer(id, || answer(envelope));
    }
    Reply::accepted()
}

fn answer(envelope: &Envelope<'_, '_>) -> ClientAnswer {
    match (envelope.result, envelope.error) {
        (Some(result), _) => {
            let mut json = Vec::new();
            result.write_json(&mut json);
            ClientAnswer::Result(json)
        }
        (None, error) => {
            let member = |key| error.and_then(|error| error.get(key));
            let code = member("code").and_then(|code| code.as_number()).map_or(0, integer);
            let message = member("message").and_then(|message| message.as_str()).unwrap_or_default();
            ClientAnswer::Error { code, message: message[..message.floor_char_boundary(QUOTE)].to_owned() }
        }
    }
}

/// `validate` has seen to it that the code is integral.
fn integer(number: Number) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a cast saturates, and no code is that far out")]
    number.as_i64().unwrap_or(number.as_f64() as i64)
}

#[cold]
fn unknown(era: Era, id: Id<'_>, name: &str, exchange: &mut Exchange) -> Result<Reply, Refusal<'static>> {
    let name_quoted = quote(name);
    match era {
        Era::Legacy => {
            let text = format!("Method not found: {name_quoted}");
            Ok(methods::error(exchange, id, METHOD_NOT_FOUND, &text))
        }
        Era::Modern => {
            let text = match Method::find(name) {
                Some(_) => format!(
                    "Method not found: {name_quoted} belongs to the versions with a handshake, 2025-11-25 and older"
                ),
                None => format!("Method not found: {name_quoted}"),
            };
            Err(Refusal::fault(Rejection::UnknownMethod, Fault { text, ..Fault::default() }))
        }
    }
}
