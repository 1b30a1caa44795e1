//! What a call, its handler and its connection share, kept by the connection and reused for its next call.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::sync::Notify;

use crate::base::principal::Principal;
use crate::session::state::Session;
use crate::tables::capabilities::Capabilities;
use crate::tables::levels::LogLevel;
use crate::tables::versions::{Feature, Revision};
use crate::tasks::Task;
use crate::view::node::{Kind, Number, Value};

use super::ask::Asking;
use super::context::Context;
use super::mailbox::{Mailbox, hand_out, wake};
use super::members::{Members, write_number};

/// What is known of a call before it starts.
#[derive(Debug, Clone)]
pub struct CallInfo<'a> {
    /// The revision the caller speaks.
    pub revision: Revision,
    /// The authenticated caller.
    pub principal: Option<&'a Arc<Principal>>,
    /// The client program's name and version.
    pub client: Option<(&'a str, &'a str)>,
    /// What the client can do.
    pub capabilities: Capabilities,
    /// How the client is asked; `None` for methods that must not ask.
    pub asking: Option<&'a Arc<Asking>>,
    /// The session, on the legacy lane.
    pub session: Option<&'a Arc<Session>>,
    /// The mildest log messages that a request without a session wants; `None`: none at all.
    pub log_level: Option<LogLevel>,
    /// Whether the client takes an event stream: without, nothing is sent but the answer.
    pub may_stream: bool,
    /// `_meta.progressToken` as sent. Anything but a string or an integer counts as absent; so should a token whose caller admits no
    /// event stream.
    pub progress_token: Option<Value<'a, 'a>>,
    /// The most notifications kept for a slow reader (`Limits::stream_buffer`).
    pub buffer: u64,
    /// What the call has to do with tasks.
    pub task: TaskLink,
}

/// What a call has to do with tasks.
#[derive(Debug, Clone, Default)]
pub enum TaskLink {
    /// It is answered on its request.
    #[default]
    None,
    /// It becomes a task when its handler says so.
    OnDemand,
    /// Its handler has said so, and waits in these places.
    Wanted(Vec<Waker>),
    /// It is one.
    Linked(Arc<Task>),
}

impl TaskLink {
    /// Wakes whoever waits. Not under a lock.
    fn wake(self) {
        match self {
            Self::Wanted(waiting) => waiting.into_iter().for_each(Waker::wake),
            Self::None | Self::OnDemand | Self::Linked(_) => {}
        }
    }
}

/// The state of one call.
#[derive(Debug)]
pub struct CallShared {
    revision: Revision,
    principal: Option<Arc<Principal>>,
    has_client: bool,
    client_name: String,
    client_version: String,
    capabilities: Capabilities,
    /// How the client is asked; `None` where it cannot be.
    asking: Option<Arc<Asking>>,
    log_level: Option<LogLevel>,
    may_stream: bool,
    /// The progress token as JSON; empty for none.
    token: Vec<u8>,
    cancelled: AtomicBool,
    cancel: Notify,
    mailbox: Mutex<Mailbox>,
}

impl Default for CallShared {
    fn default() -> Self {
        Self {
            revision: Revision::NEWEST_MODERN,
            principal: None,
            has_client: false,
            client_name: String::new(),
            client_version: String::new(),
            capabilities: Capabilities::NONE,
            asking: None,
            log_level: None,
            may_stream: false,
            token: Vec::new(),
            cancelled: AtomicBool::new(false),
            cancel: Notify::new(),
            mailbox: Mutex::new(Mailbox::default()),
        }
    }
}

impl CallShared {
    fn begin(&mut self, call: &CallInfo<'_>) {
        self.revision = call.revision;
        self.principal = call.principal.cloned();
        self.has_client = call.client.is_some();
        let (name, version) = call.client.unwrap_or_default();
        put(&mut self.client_name, name);
        put(&mut self.client_version, version);
        self.capabilities = call.capabilities;
        let same = match (&self.asking, call.asking) {
            (Some(mine), Some(asking)) => Arc::ptr_eq(mine, asking),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        // As a rule it is that of the connection's last call.
        if !same {
            self.asking = call.asking.cloned();
        }
        self.log_level = call.log_level;
        self.may_stream = call.may_stream;
        self.token.clear();
        if let Some(token) = call.progress_token.filter(is_token) {
            token.write_json(&mut self.token);
        }
        *self.cancelled.get_mut() = false;
        let mailbox = self.mailbox.get_mut().unwrap_or_else(PoisonError::into_inner);
        mailbox.begin(call.buffer, call.session);
        mailbox.task = call.task.clone();
    }

    pub(super) fn mailbox(&self) -> MutexGuard<'_, Mailbox> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task that the call is.
    pub(super) fn task(&self) -> Option<Arc<Task>> {
        match &self.mailbox().task {
            TaskLink::Linked(task) => Some(Arc::clone(task)),
            TaskLink::None | TaskLink::OnDemand | TaskLink::Wanted(_) => None,
        }
    }

    /// The handler wants the call to be a task. False where nothing is left to wait for. It may say so from a task of its own, so whoever
    /// drives the call is woken, and the handler when it is one.
    pub(super) fn want_task(&self, waker: &Waker) -> bool {
        let mut mailbox = self.mailbox();
        let first = matches!(mailbox.task, TaskLink::OnDemand);
        if first {
            mailbox.task = TaskLink::Wanted(Vec::new());
        }
        let TaskLink::Wanted(waiting) = &mut mailbox.task else { return false };
        if !waiting.iter().any(|other| other.will_wake(waker)) {
            waiting.push(waker.clone());
        }
        if first {
            wake(mailbox);
        }
        true
    }

    pub(super) fn wants_task(&self) -> bool {
        matches!(self.mailbox().task, TaskLink::Wanted(_))
    }

    /// The call is a task from now on, or stays what it is.
    pub(super) fn link_task(&self, task: Option<Arc<Task>>) {
        let link = task.map_or(TaskLink::None, TaskLink::Linked);
        let before = std::mem::replace(&mut self.mailbox().task, link);
        before.wake();
    }

    pub(super) fn revision(&self) -> Revision {
        self.revision
    }

    pub(super) fn principal(&self) -> Option<&Arc<Principal>> {
        self.principal.as_ref()
    }

    pub(super) fn client(&self) -> Option<(&str, &str)> {
        self.has_client.then_some((self.client_name.as_str(), self.client_version.as_str()))
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// How the client is asked; `None` where it cannot be.
    pub(super) fn asking(&self) -> Option<&Asking> {
        self.asking.as_deref()
    }

    /// Whether what is sent before the answer reaches the client.
    pub(super) fn may_stream(&self) -> bool {
        self.may_stream && !self.mailbox().muted
    }

    /// The client has gone, and nothing is kept for it: what it was to be asked is not sent.
    pub(super) fn mute(&self) {
        let mut mailbox = self.mailbox();
        mailbox.muted = true;
        let unsent = mailbox.take_requests();
        drop(mailbox);
        // Whoever waits for a stream to take them learns of it here, without the lock.
        drop(unsent);
    }

    /// The session, on the legacy lane, while the call goes on.
    pub(super) fn session(&self) -> Option<Arc<Session>> {
        self.mailbox().session.clone()
    }

    pub(super) fn wants_progress(&self) -> bool {
        !self.token.is_empty()
    }

    pub(super) fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if let (Some(message), Some(task)) = (message, self.task()) {
            task.set_message(message);
        }
        if self.token.is_empty() || !progress.is_finite() {
            return;
        }
        let mut mailbox = self.mailbox();
        if progress > mailbox.progress
            && mailbox.put(|| progress_notification(&self.token, progress, total, message))
        {
            mailbox.progress = progress;
            wake(mailbox);
        }
    }

    /// Whether a log message of this level reaches the client. A session's level may change while its calls run.
    pub(super) fn logs(&self, level: LogLevel) -> bool {
        if !self.may_stream {
            return false;
        }
        let mailbox = self.mailbox();
        if mailbox.muted {
            return false;
        }
        let least = mailbox.session.as_ref().map_or(self.log_level, |session| Some(session.log_level()));
        mailbox.open && least.is_some_and(|least| level >= least)
    }

    /// Sends a notification, unless the call is over or a slow reader leaves no room.
    pub(super) fn notify(&self, notification: impl FnOnce() -> Vec<u8>) {
        if !self.may_stream {
            return;
        }
        let mut mailbox = self.mailbox();
        if mailbox.put(notification) {
            wake(mailbox);
        }
    }

    /// Ends the connection of the call's stream, where its client can come back to it.
    pub(super) fn close_stream(&self, retry_ms: u64) {
        if !self.may_stream || !self.revision.has(Feature::Priming) {
            return;
        }
        let mut mailbox = self.mailbox();
        if mailbox.session.is_some() && mailbox.put_close(retry_ms) {
            wake(mailbox);
        }
    }

    /// Takes the wish for the stream's connection to end, where it comes next.
    pub(super) fn take_close(&self) -> Option<u64> {
        self.mailbox().take_close()
    }

    /// Takes the oldest notification or request, if that comes next.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        hand_out(self.mailbox())
    }

    /// The same, where a call that is `over` wants no connection to end any more.
    pub(super) fn take_first(&self, over: bool) -> Option<Vec<u8>> {
        let mut mailbox = self.mailbox();
        while over && mailbox.take_close().is_some() {}
        hand_out(mailbox)
    }

    /// Whether a notification would find room.
    pub(super) fn has_room(&self) -> bool {
        let mailbox = self.mailbox();
        mailbox.queue.len() < mailbox.capacity
    }

    /// How many notifications found no room.
    pub(super) fn dropped(&self) -> u64 {
        self.mailbox().dropped
    }

    /// Notes whom to wake when a notification or a cancellation comes.
    pub(super) fn register(&self, waker: &Waker) {
        let mut mailbox = self.mailbox();
        if mailbox.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            return;
        }
        let old = mailbox.waker.replace(waker.clone());
        drop(mailbox);
        // Dropped without the lock: whatever hangs on it may look at this mailbox.
        drop(old);
    }

    /// Ends the call: later notifications are dropped, waiting ones can still be taken.
    pub(super) fn close(&self) {
        let mut mailbox = self.mailbox();
        let asks = mailbox.end_asking();
        mailbox.open = false;
        // Whoever waits to become a task waits no longer, and what a task came to is the table's alone to keep.
        let task = std::mem::take(&mut mailbox.task);
        let held = (mailbox.waker.take(), mailbox.session.take(), asks);
        drop(mailbox);
        drop(held);
        task.wake();
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Cancels the call, unless it is over.
    pub(super) fn cancel(&self) {
        let mut mailbox = self.mailbox();
        if !mailbox.open {
            return;
        }
        self.cancelled.store(true, Ordering::Release);
        let waker = mailbox.waker.take();
        drop(mailbox);
        self.cancel.notify_waiters();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) async fn cancelled(&self) {
        let mut waiting = pin!(self.cancel.notified());
        // Enabled before the flag is read: a cancellation between the two is not missed.
        waiting.as_mut().enable();
        if !self.is_cancelled() {
            waiting.await;
        }
    }
}

/// Where a connection keeps the state of its calls. A call that no handler holds on to leaves its storage to the next one.
#[derive(Debug, Default)]
pub struct CallSlot {
    shared: Arc<CallShared>,
}

impl CallSlot {
    /// Prepares the state of the next call. Allocates only when the last call's [`Context`] is still held somewhere, or when a text is
    /// longer than any before.
    pub fn prepare(&mut self, call: &CallInfo<'_>) -> Context {
        if Arc::get_mut(&mut self.shared).is_none() {
            self.shared = Arc::new(CallShared::default());
        }
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.begin(call);
        }
        Context::new(Arc::clone(&self.shared))
    }
}

fn put(field: &mut String, text: &str) {
    field.clear();
    field.push_str(text);
}

/// A progress token is a string or an integer (MCP basic/patterns/progress).
fn is_token(value: &Value<'_, '_>) -> bool {
    match value.kind() {
        Kind::String | Kind::Integer => true,
        Kind::Float => matches!(value.as_number(), Some(Number::F64(number)) if number.fract() == 0.0),
        Kind::Null | Kind::Bool | Kind::Array | Kind::Object => false,
    }
}

fn progress_notification(token: &[u8], progress: f64, total: Option<f64>, message: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(128 + token.len() + message.map_or(0, str::len));
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"#);
    let mut members = Members::new(&mut out);
    members.key("progressToken").extend_from_slice(token);
    write_number(members.key("progress"), progress);
    if let Some(total) = total.filter(|total| total.is_finite()) {
        write_number(members.key("total"), total);
    }
    members.text_if("message", message);
    out.extend_from_slice(b"}}");
    out
}
