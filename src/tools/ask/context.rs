//! Asking, as handlers do it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::asking::Asking;
use super::asks::Began;
use super::elicitation::{Elicitation, Elicited};
use super::error::AskError;
use super::given::read_json;
use super::question::{Question, permit};
use super::roots::{ListRoots, Root};
use super::sampling::{Sampled, Sampling};
use crate::session::requests::{ClientAnswer, RequestFault, Waiting};
use crate::session::state::Lifecycle;
use crate::tables::versions::{Era, Revision};
use crate::tasks::Task;
use crate::tools::context::Context;

use std::sync::Arc;

/// How often a task's client may answer a question with something that is no answer to it.
const TASK_TRIES: usize = 3;

/// Asking the client. Handlers of tools, prompts and resources may, on either lane, with the same words.
///
/// On the legacy lane a question is a request on the call's event stream, and the handler waits for the client's answer. On the modern lane
/// nothing waits: a handler whose question is not answered yet is dropped where it awaits, the client gets all questions that are open, and
/// calls again with its answers; the handler then runs **anew from its beginning**, and what was answered is there at once. What comes before
/// a question therefore happens again in each round. [`Context::once`] keeps an effect from that, and [`Context::keep_state`] remembers what
/// the handler itself wants to know.
///
/// `key` names the question: the same in each round, and no two questions of a call share one. Several questions are asked together by
/// awaiting them together (`tokio::join!`).
impl Context {
    /// Asks the client's user.
    ///
    /// ```
    /// use twolane::tools::{Context, Elicitation, Field, Form, ToolError};
    ///
    /// async fn greet(context: Context) -> Result<String, ToolError> {
    ///     let form = Form::new().field("name", Field::string());
    ///     let answer = context.elicit("user_name", Elicitation::form("What is your name?", form)).await?;
    ///     Ok(match answer.content() {
    ///         Some(content) => format!("Hello, {}!", content["name"].as_str().unwrap_or_default()),
    ///         None => "Hello, whoever you are!".to_owned(),
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    /// [`AskError`]: the client cannot be asked, or its answer did not come.
    pub async fn elicit(&self, key: &str, elicitation: Elicitation) -> Result<Elicited, AskError> {
        self.ask(key, elicitation).await
    }

    /// Asks the client's model.
    ///
    /// # Errors
    /// [`AskError`]: the client cannot be asked, or its answer did not come.
    pub async fn sample(&self, key: &str, sampling: Sampling) -> Result<Sampled, AskError> {
        self.ask(key, sampling).await
    }

    /// Asks which folders the client works in.
    ///
    /// # Errors
    /// [`AskError`]: the client cannot be asked, or its answer did not come.
    pub async fn roots(&self, key: &str) -> Result<Vec<Root>, AskError> {
        self.ask(key, ListRoots).await
    }

    /// What [`Self::keep_state`] kept, in this round or an earlier one; `None` where nothing was, or where it does not read as a `T`.
    #[must_use]
    pub fn state<T: DeserializeOwned>(&self) -> Option<T> {
        self.shared().kept_state().and_then(|state| serde_json::from_value(state).ok())
    }

    /// Remembers a small value over the rounds of a call, in place of what was kept before. On the modern lane the client carries it, sealed:
    /// it reads and changes nothing of it, but may bring it back more than once while it is valid.
    ///
    /// # Errors
    /// [`AskError::InvalidMemory`] when it cannot be written as JSON.
    pub fn keep_state(&self, state: &impl Serialize) -> Result<(), AskError> {
        self.shared().keep_state(to_value(state)?);
        Ok(())
    }

    /// Runs an effect in one round, and gives what it came to in that round and in all later ones. A round does not end while an effect runs.
    /// `key` names the effect; no two effects of a call share one. Like all that a call remembers, what an effect came to should be small; a
    /// client may bring a round back, so what must never happen twice needs a memory of the server's own.
    ///
    /// # Errors
    /// [`AskError::InvalidMemory`] when what it came to cannot be written as JSON or read back.
    pub async fn once<T>(&self, key: &str, effect: impl Future<Output = T>) -> Result<T, AskError>
    where
        T: Serialize + DeserializeOwned,
    {
        match self.shared().begin_effect(key) {
            Began::KeyTaken => Err(AskError::KeyTaken(key.to_owned())),
            Began::Known(result) => {
                serde_json::from_value(result).map_err(|fault| AskError::InvalidMemory(fault.to_string()))
            }
            Began::Run(leave) => {
                let result = effect.await;
                leave.done(to_value(&result)?);
                Ok(result)
            }
        }
    }

    /// Tells the client that what a page was opened for has been done, by the [`Elicitation::id`] it was asked with. Only revision
    /// 2025-11-25 has words for it, and only while the call goes on.
    pub fn elicitation_complete(&self, id: &str) {
        if self.shared().completes_elicitations() {
            let params = json!({"elicitationId": id});
            let notification =
                json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": params});
            self.shared().notify(|| notification.to_string().into_bytes());
        }
    }

    async fn ask<Q: Question>(&self, key: &str, question: Q) -> Result<Q::Answer, AskError> {
        let shared = self.shared();
        let asking = shared.asking().ok_or(AskError::NotHere)?;
        let (revision, declared) = (shared.revision(), shared.capabilities());
        match revision.era() {
            Era::Legacy => {
                // What the revision does not have, no client of it can declare: say that first.
                let params = written(asking, &question, revision)?;
                permit(&question, revision, declared)?;
                self.ask_session(asking, &question, params).await
            }
            Era::Modern => {
                permit(&question, revision, declared)?;
                if let Some(task) = shared.task() {
                    let params = written(asking, &question, revision)?;
                    return self.ask_by_task(asking, &task, key, &question, params).await;
                }
                if let Some(answer) = shared.known_answer(key, &question, asking)? {
                    return Ok(answer);
                }
                let params = written(asking, &question, revision)?;
                shared.open_question(key, Q::METHOD, params)?.over().await;
                Err(AskError::CallOver)
            }
        }
    }

    async fn ask_session<Q: Question>(
        &self,
        asking: &Asking,
        question: &Q,
        params: Option<Value>,
    ) -> Result<Q::Answer, AskError> {
        let shared = self.shared();
        if !shared.may_stream() {
            return Err(AskError::NoStream);
        }
        let session = shared.session().ok_or(AskError::CallOver)?;
        if session.lifecycle() != Lifecycle::Ready {
            return Err(AskError::NotReady);
        }
        let (waiting, answer) = Waiting::open(&session, asking.server_requests, asking.answer_bytes())
            .map_err(|fault| match fault {
                RequestFault::TooMany => AskError::TooMany,
                RequestFault::Ended => AskError::CallOver,
                RequestFault::Draining => AskError::Stopping,
                RequestFault::NoRandomness => {
                    AskError::InvalidQuestion("there is no randomness for its id".to_owned())
                }
            })?;
        let (_sent, taken) = shared.send_request(waiting, Q::METHOD, params)?;
        match timeout(asking.push_window, taken).await {
            Err(_) => return Err(AskError::NotTaken),
            // The call is over, or its client has gone.
            Ok(Err(_)) if shared.may_stream() => return Err(AskError::CallOver),
            Ok(Err(_)) => return Err(AskError::NoStream),
            Ok(Ok(())) => {}
        }
        match timeout(asking.answer_timeout, answer).await {
            Err(_) => Err(AskError::TimedOut),
            Ok(Err(_)) => Err(AskError::CallOver),
            Ok(Ok(answer)) => self.read_answer(asking, question, answer),
        }
    }

    /// A task's questions are answered by tasks/update. What is no answer is asked again, a few times.
    async fn ask_by_task<Q: Question>(
        &self,
        asking: &Asking,
        task: &Arc<Task>,
        key: &str,
        question: &Q,
        params: Option<Value>,
    ) -> Result<Q::Answer, AskError> {
        let mut request = json!({"method": Q::METHOD});
        if let Some(params) = params {
            request["params"] = params;
        }
        let request = request.to_string().into_bytes();
        let mut fault = String::new();
        for _ in 0..TASK_TRIES {
            let open = task.ask(key, request.clone()).ok_or(AskError::CallOver)?;
            let answer = open.answer().await.ok_or(AskError::CallOver)?;
            match self.read_answer(asking, question, answer) {
                Err(AskError::InvalidAnswer(what)) => fault = what,
                done => return done,
            }
        }
        Err(AskError::InvalidAnswer(fault))
    }

    /// Reads what a client has answered, now that somebody wants it.
    fn read_answer<Q: Question>(
        &self,
        asking: &Asking,
        question: &Q,
        answer: ClientAnswer,
    ) -> Result<Q::Answer, AskError> {
        match answer {
            ClientAnswer::Error { code, message } => Err(AskError::Refused { code, message }),
            ClientAnswer::Unheard => Err(AskError::Stopping),
            ClientAnswer::TooLong => Err(AskError::too_long(asking.answer_bytes())),
            ClientAnswer::Result(json) => {
                let tree = read_json(&json).ok_or("it nests too deeply".to_owned());
                drop(json);
                tree.and_then(|tree| question.read(&tree, self.revision())).map_err(AskError::InvalidAnswer)
            }
        }
    }
}

/// The params of a question, where they are no longer than they may be: they are kept until the answer comes.
fn written<Q: Question>(
    asking: &Asking,
    question: &Q,
    revision: Revision,
) -> Result<Option<Value>, AskError> {
    let params = question.params(revision)?;
    let most = asking.question_bytes;
    if params.as_ref().is_some_and(|params| params.to_string().len() > most) {
        return Err(AskError::InvalidQuestion(format!(
            "it is longer than the {most} bytes a question may take"
        )));
    }
    Ok(params)
}

fn to_value(value: &impl Serialize) -> Result<Value, AskError> {
    serde_json::to_value(value).map_err(|fault| AskError::InvalidMemory(fault.to_string()))
}
