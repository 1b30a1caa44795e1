//! A call that has become a task: it runs on without its request, and what it comes to is kept for `tasks/get`.

use std::sync::Arc;

use super::tasks::{self, write_tail};
use super::{INTERNAL_ERROR, Request, error};
use crate::base::clock::Clock;
use crate::base::principal::Principal;
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply, envelope, json};
use crate::tables::versions::{Era, Revision};
use crate::tasks::{Outcome, Task, Tasks};
use crate::tools::{Behind, Entry, Identity, Produced, Running, TaskLink, TaskSupport, write_result};

/// How a tool's call goes on.
pub enum Plan {
    /// On its request.
    Inline(TaskLink),
    /// As this task, which can be found already.
    Task(Arc<Task>),
    /// Not at all.
    Refused(Refused),
}

/// Why a call that must be a task cannot be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The session is of a revision that has no tasks.
    Legacy,
    /// As many tasks are kept as may be, or no id can be made.
    NoTask,
}

impl Refused {
    /// Answers the call.
    pub fn answer(self, request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
        let text = match self {
            Self::Legacy => {
                "The tool needs the extension io.modelcontextprotocol/tasks of revision 2026-07-28"
            }
            Self::NoTask => {
                "The server keeps as many tasks as it may, or has no memory left for another; try again later"
            }
        };
        error(exchange, request.id, INTERNAL_ERROR, text)
    }
}

/// Decides whether a call becomes a task: the tool's declaration and the request's own capabilities say.
///
/// # Errors
/// `missing_client_capability`, where the tool requires what the request does not declare.
pub fn plan(behind: &Behind, request: &Request<'_, '_, '_>, entry: &Entry) -> Result<Plan, Refusal<'static>> {
    let support = entry.tasks();
    if support == TaskSupport::Never {
        return Ok(Plan::Inline(TaskLink::None));
    }
    if request.era() == Era::Legacy {
        let refused = support.is_required();
        return Ok(if refused { Plan::Refused(Refused::Legacy) } else { Plan::Inline(TaskLink::None) });
    }
    if !tasks::declared(request) {
        return if support.is_required() { Err(tasks::missing()) } else { Ok(Plan::Inline(TaskLink::None)) };
    }
    match support {
        TaskSupport::OptionalByHandler | TaskSupport::RequiredByHandler => {
            Ok(Plan::Inline(TaskLink::OnDemand))
        }
        TaskSupport::Optional | TaskSupport::Required | TaskSupport::Never => {
            Ok(match create(behind.tasks(), request.principal, request.clock, request.size) {
                Some(task) => Plan::Task(task),
                None if support.is_required() => Plan::Refused(Refused::NoTask),
                None => Plan::Inline(TaskLink::None),
            })
        }
    }
}

/// Creates a task; without room for it there is none.
pub fn create(
    tasks: &Tasks,
    principal: Option<&Arc<Principal>>,
    clock: &Clock,
    size: usize,
) -> Option<Arc<Task>> {
    match tasks.create(principal.cloned(), clock, size as u64) {
        Ok(task) => Some(task),
        Err(reason) => {
            tracing::warn!(?reason, "a call cannot become a task");
            None
        }
    }
}

/// A call that is over already, by arguments that do not fit for instance, is answered directly: its task is forgotten, for nobody has
/// seen it.
pub fn decline(tasks: &Tasks, task: &Arc<Task>, running: &mut Running) {
    running.become_task(None);
    tasks.forget(task);
}

/// Answers a call with its task, and lets it run on.
pub fn begin(
    behind: &Behind,
    task: Arc<Task>,
    mut running: Running,
    request: &Request<'_, '_, '_>,
    exchange: &mut Exchange,
) -> Reply {
    running.become_task(Some(Arc::clone(&task)));
    let reply = answer(behind.identity(), &task, |out| request.id.write(out), &mut exchange.body);
    start(task, running, request.revision);
    reply
}

/// Lets `running` go on as `task`, on the current runtime.
pub fn start(task: Arc<Task>, mut running: Running, revision: Revision) {
    let canceller = running.canceller();
    task.on_cancel(move || canceller.cancel());
    tokio::spawn(async move {
        let produced = std::future::poll_fn(|cx| {
            let polled = running.poll(cx);
            // Progress and log messages have no place on a task.
            while running.take_notification().is_some() {}
            polled
        })
        .await;
        drop(running);
        task.finish(outcome(&produced, revision));
    });
}

/// What a call needs that becomes a task when its handler says so.
#[derive(Debug)]
pub struct Handover {
    tasks: Tasks,
    clock: Clock,
    required: bool,
    size: usize,
}

impl Handover {
    /// For a call of this tool.
    #[must_use]
    pub fn new(behind: &Behind, request: &Request<'_, '_, '_>, entry: &Entry) -> Self {
        let required = entry.tasks().is_required();
        Self { tasks: behind.tasks().clone(), clock: request.clock.clone(), required, size: request.size }
    }

    /// Lets the call run on as a task, and gives that. Without room for one the call goes on as it is, or ends where it may not.
    pub(super) fn hand_over(&self, running: &mut Running, revision: Revision) -> Handed {
        let Some(task) = create(&self.tasks, running.principal(), &self.clock, self.size) else {
            running.become_task(None);
            return if self.required {
                Handed::Failed(running.failure("found no room for its task"))
            } else {
                Handed::No
            };
        };
        running.become_task(Some(Arc::clone(&task)));
        start(Arc::clone(&task), running.take(), revision);
        Handed::Task(task)
    }
}

/// What has become of a call that wants to be a task.
pub(super) enum Handed {
    /// It is one.
    Task(Arc<Task>),
    /// It goes on as it is.
    No,
    /// It has come to this.
    Failed(Produced),
}

/// Appends the answer that hands a task out.
pub fn answer(identity: &Identity, task: &Task, id: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) -> Reply {
    out.clear();
    envelope::begin(out);
    id(out);
    envelope::open_result(out);
    task.write(out);
    out.push(b',');
    write_tail(out, identity, "task");
    envelope::end_result(out);
    Reply::json(200)
}

/// What the call would have been answered with, without what belongs to an answer of its own.
fn outcome(produced: &Produced, revision: Revision) -> Outcome {
    let mut out = b"{".to_vec();
    match produced {
        Produced::Tool(result) => {
            write_result(&mut out, result, revision, b"");
            out.extend_from_slice(b",\"resultType\":\"complete\"}");
            Outcome::Completed(out)
        }
        // Tools alone become tasks.
        Produced::Read(_) | Produced::Prompt(_) | Produced::Completion(_) => {
            Outcome::Failed(br#"{"code":-32603,"message":"No tool's result"}"#.to_vec())
        }
        Produced::Failed(error) => {
            out.extend_from_slice(b"\"code\":");
            json::write_int(&mut out, error.code);
            out.extend_from_slice(b",\"message\":");
            json::write_str(&mut out, &error.message);
            if let Some(data) = &error.data {
                out.extend_from_slice(b",\"data\":");
                out.extend_from_slice(data.to_string().as_bytes());
            }
            out.push(b'}');
            Outcome::Failed(out)
        }
        // A task's questions are the task's: its handler never ends with them.
        Produced::InputRequired(_) | Produced::Asked(_) => {
            out.extend_from_slice(br#""code":-32603,"message":"The client cannot be asked in this way"}"#);
            Outcome::Failed(out)
        }
    }
}
