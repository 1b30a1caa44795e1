//! One task.

mod write;

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::id::TaskId;
use crate::base::clock::Clock;
use crate::base::principal::{Principal, may_use};
use crate::session::requests::ClientAnswer;

/// Where a task is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It runs.
    Working,
    /// It waits for the client to answer its questions.
    InputRequired,
    /// It came to a result.
    Completed,
    /// It came to a JSON-RPC error.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl Status {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing changes it any more.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Working | Self::InputRequired => false,
            Self::Completed | Self::Failed | Self::Cancelled => true,
        }
    }
}

/// What a task came to, as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The result object that the call would have been answered with.
    Completed(Vec<u8>),
    /// The error object that the call would have been answered with.
    Failed(Vec<u8>),
}

impl Outcome {
    fn json(&self) -> &[u8] {
        match self {
            Self::Completed(json) | Self::Failed(json) => json,
        }
    }
}

/// A question that waits for its answer.
#[derive(Debug)]
struct Open {
    key: String,
    /// `{"method":…,"params":…}`.
    request: Vec<u8>,
    answer: oneshot::Sender<ClientAnswer>,
}

/// The asking side of a question. Dropping it takes the question back.
#[derive(Debug)]
pub struct Question {
    task: Arc<Task>,
    key: String,
    answer: oneshot::Receiver<ClientAnswer>,
}

impl Question {
    /// The key that the client sees: unique over the task's life.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Waits for the answer; `None` when the task is over.
    pub async fn answer(mut self) -> Option<ClientAnswer> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        let mut state = self.task.state();
        let Some(at) = state.open.iter().position(|open| open.key == self.key) else { return };
        let open = state.open.remove(at);
        state.give(&self.task.hooks, open.request.len() as u64);
        state.settle(self.task.clock.wall_ms());
        drop(state);
        drop(open);
        self.task.changed();
    }
}

#[derive(Debug)]
struct State {
    status: Status,
    updated_wall_ms: u64,
    message: Option<String>,
    open: Vec<Open>,
    /// Every key ever used: none is used again.
    used: HashSet<String>,
    outcome: Option<Outcome>,
    /// Bytes charged: of the request and of open questions while it runs, of what it came to afterwards.
    charged: u64,
}

impl State {
    fn give(&mut self, hooks: &Hooks, bytes: u64) {
        self.charged -= bytes;
        hooks.give(bytes);
    }

    /// The status of a task that is not over follows from its questions.
    fn settle(&mut self, wall_ms: u64) {
        if !self.status.is_terminal() {
            self.status = if self.open.is_empty() { Status::Working } else { Status::InputRequired };
            self.updated_wall_ms = wall_ms;
        }
    }
}

/// What all tasks share: whom to tell of changes, and the bytes that they hold.
pub(super) struct Hooks {
    pub(super) changed: Box<dyn Fn(&TaskId) + Send + Sync>,
    pub(super) held: AtomicU64,
    pub(super) most_held: u64,
}

impl Hooks {
    /// Charges for `bytes`, if there is room.
    fn take(&self, bytes: u64) -> bool {
        let fits = self.held.fetch_add(bytes, Ordering::AcqRel).saturating_add(bytes) <= self.most_held;
        if !fits {
            self.give(bytes);
        }
        fits
    }

    fn give(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::AcqRel);
    }
}

/// A call that outlives its request.
pub struct Task {
    id: TaskId,
    principal: Option<Arc<Principal>>,
    clock: Clock,
    created_ms: u64,
    created_wall_ms: u64,
    ttl_ms: u64,
    poll_interval_ms: u64,
    hooks: Arc<Hooks>,
    cancel: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    state: Mutex<State>,
}

/// The error of a task whose result found no room.
const NO_ROOM: &[u8] =
    br#"{"code":-32603,"message":"The server has no room for the task's result; try again later"}"#;

/// The longest status message that is kept, in bytes.
const MESSAGE: usize = 1024;

impl Task {
    pub(super) fn new(
        id: TaskId,
        principal: Option<Arc<Principal>>,
        clock: &Clock,
        (ttl_ms, poll_interval_ms): (u64, u64),
        hooks: Arc<Hooks>,
        request_bytes: u64,
    ) -> Option<Self> {
        let now = clock.wall_ms();
        hooks.take(request_bytes).then(|| Self {
            id,
            principal,
            clock: clock.clone(),
            created_ms: clock.now_ms(),
            created_wall_ms: now,
            ttl_ms,
            poll_interval_ms,
            hooks,
            cancel: Mutex::new(None),
            state: Mutex::new(State {
                status: Status::Working,
                updated_wall_ms: now,
                message: None,
                open: Vec::new(),
                used: HashSet::new(),
                outcome: None,
                charged: request_bytes,
            }),
        })
    }

    /// The id.
    #[must_use]
    pub const fn id(&self) -> &TaskId {
        &self.id
    }

    /// How long it is kept, from its creation, in milliseconds.
    #[must_use]
    pub const fn ttl_ms(&self) -> u64 {
        self.ttl_ms
    }

    /// Where it is in its life.
    #[must_use]
    pub fn status(&self) -> Status {
        self.state().status
    }

    /// Whether its time is over.
    #[must_use]
    pub fn is_expired(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.created_ms) >= self.ttl_ms
    }

    /// Whether `principal` may use it. One made without a principal is anybody's who knows its id.
    #[must_use]
    pub fn belongs_to(&self, principal: Option<&Arc<Principal>>) -> bool {
        may_use(self.principal.as_ref(), principal)
    }

    /// Says what it is doing. A long text is cut.
    pub fn set_message(&self, text: &str) {
        let mut state = self.state();
        if state.status.is_terminal() {
            return;
        }
        state.message = Some(text[..text.floor_char_boundary(MESSAGE)].to_owned());
        state.updated_wall_ms = self.clock.wall_ms();
        drop(state);
        self.changed();
    }

    /// Asks the client something. The key on the wire is `key`, or one made of it where that was used before. `None` when the task is
    /// over, or where there is no memory for the question.
    #[must_use]
    pub fn ask(self: &Arc<Self>, key: &str, request: Vec<u8>) -> Option<Question> {
        let mut state = self.state();
        if state.status.is_terminal() {
            return None;
        }
        if !self.hooks.take(request.len() as u64) {
            return None;
        }
        state.charged += request.len() as u64;
        let mut unique = key.to_owned();
        let mut count = state.used.len();
        while !state.used.insert(unique.clone()) {
            count += 1;
            unique = format!("{key}-{count}");
        }
        let (sender, answer) = oneshot::channel();
        state.open.push(Open { key: unique.clone(), request, answer: sender });
        state.settle(self.clock.wall_ms());
        drop(state);
        self.changed();
        Some(Question { task: Arc::clone(self), key: unique, answer })
    }

    /// Takes the answer to an open question. False for a key that is not open: it is ignored.
    pub fn answer(&self, key: &str, answer: ClientAnswer) -> bool {
        let mut state = self.state();
        let Some(at) = state.open.iter().position(|open| open.key == key) else { return false };
        let open = state.open.remove(at);
        state.give(&self.hooks, open.request.len() as u64);
        state.settle(self.clock.wall_ms());
        drop(state);
        // Whoever asked may have gone meanwhile.
        let _ = open.answer.send(answer);
        self.changed();
        true
    }

    /// Whether a question of this key is open.
    #[must_use]
    pub fn is_open(&self, key: &str) -> bool {
        self.state().open.iter().any(|open| open.key == key)
    }

    /// It came to something, for which its request and its questions make room. False when it was over already: what comes late is dropped.
    pub fn finish(&self, outcome: Outcome) -> bool {
        let status = match outcome {
            Outcome::Completed(_) => Status::Completed,
            Outcome::Failed(_) => Status::Failed,
        };
        self.end(status, Some(outcome))
    }

    /// Cancels it, unless it is over: its handler is told, its questions are taken back.
    pub fn cancel(&self) {
        if self.end(Status::Cancelled, None) {
            self.stop();
        }
    }

    /// What cancels the handler. Called at most once, and at once where the task was cancelled before.
    pub fn on_cancel(&self, cancel: impl FnOnce() + Send + 'static) {
        *self.canceller() = Some(Box::new(cancel));
        if self.status() == Status::Cancelled {
            self.stop();
        }
    }

    /// Tells the handler to stop.
    pub(super) fn stop(&self) {
        let cancel = self.canceller().take();
        if let Some(cancel) = cancel {
            cancel();
        }
    }

    /// It is forgotten: nothing is charged for it any more.
    pub(super) fn release(&self) {
        self.cancel();
        let mut state = self.state();
        let charged = state.charged;
        state.give(&self.hooks, charged);
    }

    fn end(&self, status: Status, outcome: Option<Outcome>) -> bool {
        let mut state = self.state();
        if state.status.is_terminal() {
            return false;
        }
        let charged = state.charged;
        state.give(&self.hooks, charged);
        let size = outcome.as_ref().map_or(0, |outcome| outcome.json().len() as u64);
        let (status, outcome) = if self.hooks.take(size) {
            state.charged = size;
            (status, outcome)
        } else {
            // The text is not charged for: it is the same for all.
            (Status::Failed, Some(Outcome::Failed(NO_ROOM.to_vec())))
        };
        state.status = status;
        state.outcome = outcome;
        state.updated_wall_ms = self.clock.wall_ms();
        let open = std::mem::take(&mut state.open);
        state.used = HashSet::new();
        drop(state);
        drop(open);
        if status != Status::Cancelled {
            // The handler is over; what would have cancelled it is not needed any more.
            drop(self.canceller().take());
        }
        self.changed();
        true
    }

    fn changed(&self) {
        (self.hooks.changed)(&self.id);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn canceller(&self) -> MutexGuard<'_, Option<Box<dyn FnOnce() + Send>>> {
        self.cancel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("id", &self.id).field("status", &self.status()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
