//! The methods: one file each. A method reads its params, answers, and knows nothing of HTTP.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod capabilities;
pub mod calling;
pub mod completion_complete;
mod digest;
pub mod discover;
pub mod initialize;
pub mod listing;
pub mod logging_set_level;
pub mod params;
pub mod pending;
pub mod ping;
pub mod prompts_get;
pub mod prompts_list;
pub mod resources_list;
pub mod resources_read;
pub mod resources_subscribe;
pub mod resources_templates_list;
pub mod resources_unsubscribe;
mod rounds;
pub mod subscriptions_listen;
pub mod task_run;
pub mod tasks;
pub mod tasks_cancel;
pub mod tasks_get;
pub mod tasks_update;
pub mod tools_call;
pub mod tools_list;

use std::sync::Arc;
use std::task;

use crate::base::clock::Clock;
use crate::base::principal::Principal;
use crate::events::topic::Topic;
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply, envelope};
use crate::session::state::Session;
use crate::tables::methods::Method;
use crate::tables::versions::{Era, Revision};
use crate::tools::Behind;
use crate::tools::CallSlot;
use crate::view::id::Id;
use crate::view::message::Params;
use crate::view::node::Value;

pub use pending::{Pending, Step};
pub use subscriptions_listen::Listening;

/// JSON-RPC: the params do not fit the method.
pub const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC: the method is not known (legacy lane; a rejection on the modern one).
pub const METHOD_NOT_FOUND: i32 = -32601;
/// JSON-RPC: the server failed.
pub const INTERNAL_ERROR: i32 = -32603;

/// A request that has passed the road, ready for its method.
#[derive(Clone, Copy)]
pub struct Request<'r, 't, 'b> {
    /// The id.
    pub id: Id<'t>,
    /// The method.
    pub method: Method,
    /// The params the protocol knows.
    pub params: &'t Params<'t, 'b>,
    /// All of the params.
    pub all: Option<Value<'t, 'b>>,
    /// The revision it speaks.
    pub revision: Revision,
    /// The session, on the legacy lane, where the method needs one.
    pub session: Option<&'r Arc<Session>>,
    /// Who is asking.
    pub principal: Option<&'r Arc<Principal>>,
    /// Whether the client takes event streams; without, notifications are dropped.
    pub may_stream: bool,
    /// The server's clock.
    pub clock: &'r Clock,
    /// The length of the body that it came in, in bytes.
    pub size: usize,
}

impl<'t, 'b> Request<'_, 't, 'b> {
    /// The lane.
    #[must_use]
    pub const fn era(&self) -> Era {
        self.revision.era()
    }

    /// A member of the params.
    pub(super) fn member(&self, key: &str) -> Option<Value<'t, 'b>> {
        self.all.and_then(|params| params.get(key))
    }

    /// The list of `topic` is about to be served from its beginning: what its client is owed of changes until now is settled by that.
    fn settle(&self, topic: Topic) {
        let from_the_beginning = self.params.cursor.is_none_or(|cursor| cursor.is_null());
        if let Some(session) = self.session.filter(|_| from_the_beginning) {
            session.settle(topic);
        }
    }
}

/// What a method came to.
#[derive(Debug)]
pub enum Outcome {
    /// Answered: the body stands in the exchange.
    Done(Reply),
    /// A call that goes on.
    Pending(Box<Pending>),
    /// A stream of what changes.
    Listening(Box<Listening>),
}

/// Serves a request.
///
/// # Errors
/// The rows of `dispatch` that a method can meet.
pub fn serve(
    behind: &Behind,
    method: Method,
    request: Request<'_, '_, '_>,
    slot: &mut CallSlot,
    exchange: &mut Exchange,
    cx: &mut task::Context<'_>,
) -> Result<Outcome, Refusal<'static>> {
    if let Err(fault) = params::check(method, request.revision, request.all, request.params) {
        return Ok(Outcome::Done(error(exchange, request.id, INVALID_PARAMS, &fault.to_string())));
    }
    let reply = match method {
        Method::Initialize => initialize::serve(behind, &request, exchange)?,
        Method::Ping => ping::serve(&request, exchange),
        Method::Discover => discover::serve(behind, &request, exchange),
        Method::LoggingSetLevel => logging_set_level::serve(&request, exchange),
        Method::SubscriptionsListen => return subscriptions_listen::serve(behind, &request, exchange),
        Method::ToolsList => tools_list::serve(behind, &request, exchange),
        Method::ResourcesList => resources_list::serve(behind, &request, exchange),
        Method::ResourcesSubscribe => resources_subscribe::serve(behind, &request, exchange),
        Method::ResourcesUnsubscribe => resources_unsubscribe::serve(&request, exchange),
        Method::ResourcesTemplatesList => resources_templates_list::serve(behind, &request, exchange),
        Method::PromptsList => prompts_list::serve(behind, &request, exchange),
        Method::ResourcesRead => return resources_read::serve(behind, &request, slot, exchange, cx),
        Method::PromptsGet => return prompts_get::serve(behind, &request, slot, exchange, cx),
        Method::CompletionComplete => {
            return completion_complete::serve(behind, &request, slot, exchange, cx);
        }
        Method::TasksGet => tasks_get::serve(behind, &request, exchange)?,
        Method::TasksUpdate => tasks_update::serve(behind, &request, exchange)?,
        Method::TasksCancel => tasks_cancel::serve(behind, &request, exchange)?,
        Method::ToolsCall => return tools_call::serve(behind, &request, slot, exchange, cx),
    };
    Ok(Outcome::Done(reply))
}

/// A text among the params that must be there, which has been checked.
fn checked_text<'b>(member: Option<Value<'_, 'b>>) -> &'b str {
    member.and_then(|member| member.as_str()).unwrap_or_default()
}

/// The answer that is exactly `{}`.
fn empty(request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    envelope::begin_result_for(&mut exchange.body, request.id);
    envelope::end_result(&mut exchange.body);
    Reply::json(200)
}

/// An error that is no rejection goes with 200 on both lanes: 400 and 404 would read as a sign of the server's era.
pub(crate) fn error(exchange: &mut Exchange, id: Id<'_>, code: i32, message: &str) -> Reply {
    envelope::write_error(&mut exchange.body, id, code, message, None);
    Reply::json(200)
}
