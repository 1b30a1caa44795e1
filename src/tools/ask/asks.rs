//! The questions of one call that are open, and what it remembers. The state stands in the call's mailbox and is made when it is needed.

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::asking::Asking;
use super::error::AskError;
use super::given::{Brought, Given, read_json};
use super::memory::Memory;
use super::question::Question;
use crate::session::requests::{RequestId, Waiting};
use crate::tables::versions::{Era, Feature};
use crate::tools::call::CallShared;
use crate::tools::mailbox::{Item, Mailbox, wake};
use crate::tools::produced::InputRequired;

/// What a call has asked, was told, and remembers.
#[derive(Debug, Default)]
pub(in crate::tools) struct Asks {
    /// The answers that came with this request and that no question has taken.
    given: Given,
    memory: Memory,
    /// Modern: the questions that this round ends with.
    open: Vec<Open>,
    /// Legacy: the requests that wait for their answers.
    sent: Vec<Sent>,
    /// The effects that run and must come to their end before the round may.
    running: Vec<String>,
    /// What tells one open question from another.
    count: u64,
}

#[derive(Debug)]
struct Open {
    number: u64,
    key: String,
    request: Value,
    /// Dropped with the call; then whoever waits knows.
    _ask: oneshot::Sender<()>,
}

#[derive(Debug)]
struct Sent {
    waiting: Waiting,
    taken: bool,
}

/// Room for a question's answer. Dropped without one, the question is taken back.
pub(super) struct OpenQuestion<'a> {
    shared: &'a CallShared,
    number: u64,
    over: oneshot::Receiver<()>,
}

impl OpenQuestion<'_> {
    /// Waits for the end of the round.
    pub(super) async fn over(mut self) {
        let _ = (&mut self.over).await;
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        let number = self.number;
        let mut mailbox = self.shared.mailbox();
        let taken = mailbox.asks.as_mut().and_then(|asks| {
            let at = asks.open.iter().position(|open| open.number == number)?;
            Some(asks.open.swap_remove(at))
        });
        drop(mailbox);
        drop(taken);
    }
}

/// A request that was sent to the client of a session. Dropped, it is taken back.
pub(super) struct SentRequest<'a> {
    shared: &'a CallShared,
    id: RequestId,
}

impl Drop for SentRequest<'_> {
    fn drop(&mut self) {
        let mut mailbox = self.shared.mailbox();
        let Some(asks) = mailbox.asks.as_mut() else { return };
        let Some(at) = asks.sent.iter().position(|sent| sent.waiting.id() == self.id) else { return };
        let sent = asks.sent.swap_remove(at);
        let unsent = mailbox.take_back(&sent);
        wake(mailbox);
        drop((sent, unsent));
    }
}

impl Mailbox {
    fn asks(&mut self) -> &mut Asks {
        self.asks.get_or_insert_default()
    }

    /// What no stream has taken is not sent; what one has taken and nobody has answered is cancelled on the same stream. Whoever waits for a
    /// stream to take it learns of it when the item is dropped: not under the lock.
    #[must_use]
    fn take_back(&mut self, sent: &Sent) -> Option<Item> {
        let id = sent.waiting.id();
        if !sent.taken {
            let is_it = |item: &Item| matches!(item, Item::Request { id: other, .. } if *other == id);
            return self.queue.iter().position(is_it).and_then(|at| self.queue.remove(at));
        }
        if self.open && sent.waiting.is_open() {
            let params = json!({"requestId": id.as_str(), "reason": "The answer is no longer needed"});
            let notification =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            self.queue.push_back(Item::Notification(notification.to_string().into_bytes()));
        }
        None
    }

    /// The call is over: whatever is open is taken back, and whoever waits learns it once what is returned is dropped: not under the lock.
    pub(in crate::tools) fn end_asking(&mut self) -> Option<(Box<Asks>, Vec<Item>)> {
        let asks = self.asks.take()?;
        let unsent = asks.sent.iter().filter_map(|sent| self.take_back(sent)).collect();
        Some((asks, unsent))
    }

    /// A stream has taken a request.
    pub(in crate::tools) fn note_taken(&mut self, id: RequestId) {
        let sent = self.asks.iter_mut().flat_map(|asks| &mut asks.sent);
        for sent in sent.filter(|sent| sent.waiting.id() == id) {
            sent.taken = true;
        }
    }
}

impl CallShared {
    /// What an earlier round remembered, and the answers that came with this request.
    pub(in crate::tools) fn resume(&self, memory: Memory, given: Given) {
        let mut mailbox = self.mailbox();
        let asks = mailbox.asks();
        asks.memory = memory;
        asks.given = given;
    }

    /// The answer to a question, where it is known: one taken in an earlier round first, so that no answer changes after the handler has
    /// acted on it, then the one that came with this request. One that does not fit is as good as none.
    pub(super) fn known_answer<Q: Question>(
        &self,
        key: &str,
        question: &Q,
        asking: &Asking,
    ) -> Result<Option<Q::Answer>, AskError> {
        let (kept, brought) = {
            let mut mailbox = self.mailbox();
            let Some(asks) = mailbox.asks.as_mut() else { return Ok(None) };
            (asks.memory.answers.get(key).cloned(), asks.given.take(key))
        };
        let read = |json: &[u8]| question.read(&read_json(json)?, self.revision()).ok();
        if let Some(answer) = kept.as_deref().and_then(read) {
            return Ok(Some(answer));
        }
        match brought {
            Brought::Nothing => Ok(None),
            Brought::TooMuch => Err(AskError::too_long(asking.answer_bytes())),
            Brought::Answer(json) => {
                let Some(answer) = read(&json) else { return Ok(None) };
                let mut mailbox = self.mailbox();
                if mailbox.open {
                    mailbox.asks().memory.answers.insert(key.to_owned(), json);
                }
                Ok(Some(answer))
            }
        }
    }

    /// Notes a question that this round ends with.
    pub(super) fn open_question(
        &self,
        key: &str,
        method: &str,
        params: Option<Value>,
    ) -> Result<OpenQuestion<'_>, AskError> {
        let mut request = json!({"method": method});
        if let Some(params) = params {
            request["params"] = params;
        }
        let (ask, over) = oneshot::channel();
        let mut mailbox = self.mailbox();
        if !mailbox.open {
            return Err(AskError::CallOver);
        }
        let asks = mailbox.asks();
        if asks.open.iter().any(|open| open.key == key && open.request != request) {
            return Err(AskError::KeyTaken(key.to_owned()));
        }
        let number = asks.count;
        asks.count += 1;
        asks.open.push(Open { number, key: key.to_owned(), request, _ask: ask });
        // The handler may ask from another task than the connection's.
        wake(mailbox);
        Ok(OpenQuestion { shared: self, number, over })
    }

    /// What the round ends with, where the handler waits for answers and for nothing else that must not be cut short.
    pub(in crate::tools) fn input_required(&self) -> Option<InputRequired> {
        if self.revision().era() != Era::Modern {
            return None;
        }
        let mut mailbox = self.mailbox();
        let asks = mailbox.asks.as_mut().filter(|asks| !asks.open.is_empty() && asks.running.is_empty())?;
        // Whoever waits is told by the end of the call, which follows.
        let mut questions: Vec<&Open> = asks.open.iter().collect();
        questions.sort_by_key(|open| open.number);
        let requests = questions.into_iter().map(|open| (open.key.clone(), open.request.clone())).collect();
        Some(InputRequired { requests, memory: std::mem::take(&mut asks.memory) })
    }

    /// Whether the handler waits for the client of a session.
    pub(in crate::tools) fn waits_for_client(&self) -> bool {
        self.mailbox().asks.as_ref().is_some_and(|asks| !asks.sent.is_empty())
    }

    /// Sends a request to the client of a session, on the call's own stream. The receiver hears when the stream has taken it.
    pub(super) fn send_request(
        &self,
        waiting: Waiting,
        method: &str,
        params: Option<Value>,
    ) -> Result<(SentRequest<'_>, oneshot::Receiver<()>), AskError> {
        let id = waiting.id();
        let mut request = json!({"jsonrpc": "2.0", "id": id.as_str(), "method": method});
        if let Some(params) = params {
            request["params"] = params;
        }
        let (taken, when_taken) = oneshot::channel();
        let mut mailbox = self.mailbox();
        if !mailbox.open || mailbox.muted {
            let error = if mailbox.open { AskError::NoStream } else { AskError::CallOver };
            drop(mailbox);
            return Err(error);
        }
        mailbox.asks().sent.push(Sent { waiting, taken: false });
        // Not bounded like notifications: as many requests as a session may have wait at most.
        mailbox.queue.push_back(Item::Request { id, json: request.to_string().into_bytes(), taken });
        wake(mailbox);
        Ok((SentRequest { shared: self, id }, when_taken))
    }

    pub(super) fn kept_state(&self) -> Option<Value> {
        self.mailbox().asks.as_ref()?.memory.state.clone()
    }

    pub(super) fn keep_state(&self, state: Value) {
        let mut mailbox = self.mailbox();
        if mailbox.open {
            mailbox.asks().memory.state = Some(state);
        }
    }

    /// What an effect has come to, or leave to run it.
    pub(super) fn begin_effect(&self, key: &str) -> Began<'_> {
        let mut mailbox = self.mailbox();
        let asks = mailbox.asks();
        if let Some(result) = asks.memory.once.get(key) {
            return Began::Known(result.clone());
        }
        if asks.running.iter().any(|running| running == key) {
            return Began::KeyTaken;
        }
        asks.running.push(key.to_owned());
        Began::Run(Effect { shared: self, key: key.to_owned() })
    }

    pub(in crate::tools) fn completes_elicitations(&self) -> bool {
        self.revision().has(Feature::ElicitationIds)
    }
}

/// How an effect begins.
pub(super) enum Began<'a> {
    /// It has run.
    Known(Value),
    /// Another of this key runs.
    KeyTaken,
    Run(Effect<'a>),
}

/// Leave to run an effect.
pub(super) struct Effect<'a> {
    shared: &'a CallShared,
    key: String,
}

impl Effect<'_> {
    /// It has come to this, and will not run again.
    pub(super) fn done(self, result: Value) {
        let mut mailbox = self.shared.mailbox();
        if mailbox.open {
            mailbox.asks().memory.once.insert(self.key.clone(), result);
        }
    }
}

impl Drop for Effect<'_> {
    fn drop(&mut self) {
        let mut mailbox = self.shared.mailbox();
        let Some(asks) = mailbox.asks.as_mut() else { return };
        if let Some(at) = asks.running.iter().position(|running| *running == self.key) {
            asks.running.swap_remove(at);
        }
        // The round may end now, and the effect may have run on another task than the connection's.
        wake(mailbox);
    }
}
