use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::base::limits::Limits;
use crate::session::requests::ClientAnswer;
use crate::tables::capabilities::Capability;
use crate::tools::{
    AskError, Asking, Context, Elicitation, Field, Form, Given, InputRequired, Memory, Typed,
};

fn capable() -> Capabilities {
    Capability::ALL.iter().fold(Capabilities::NONE, |all, &capability| all.with(capability))
}

fn asking(set: &[(&str, u64)]) -> Arc<Asking> {
    let mut limits = Limits::default();
    for (name, value) in set {
        limits.set(name, *value).unwrap();
    }
    Arc::new(Asking::new(&limits, &[]))
}

fn modern(slot: &mut CallSlot, memory: Memory, given: Value) -> Context {
    let asking = asking(&[]);
    let context = slot.prepare(&CallInfo { capabilities: capable(), asking: Some(&asking), ..info() });
    let mut brought = Given::new(asking.answer_bytes());
    for (key, answer) in given.as_object().into_iter().flatten() {
        brought.keep(key, answer.to_string().into_bytes());
    }
    context.resume(memory, brought);
    context
}

fn legacy(session: &Arc<Session>, asking: &Arc<Asking>) -> Context {
    CallSlot::default().prepare(&CallInfo {
        revision: Revision::V2025_11_25,
        capabilities: capable(),
        asking: Some(asking),
        session: Some(session),
        ..info()
    })
}

fn who() -> Elicitation {
    Elicitation::form("Who?", Form::new().field("name", Field::string()))
}

fn alice() -> Value {
    json!({"action": "accept", "content": {"name": "Alice"}})
}

/// A call of a handler that has this context.
fn running<F, R>(context: &Context, handler: F) -> Running
where
    F: Fn(Context) -> R + Send + Sync + 'static,
    R: Future<Output = String> + Send + 'static,
{
    let entry = registered(Typed::new("t", "T.", move |_: Value, context: Context| handler(context)));
    entry.start(Arguments::EMPTY, context.clone(), MINUTE)
}

fn required(running: &mut Running) -> InputRequired {
    match running.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        Poll::Ready(Produced::InputRequired(required)) => *required,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_round_ends_when_all_wait_and_goes_on_with_the_answers() {
    let mut slot = CallSlot::default();
    let handler = |context: Context| async move {
        let (one, two) = tokio::join!(context.elicit("one", who()), context.elicit("two", who()));
        format!("{} {}", one.unwrap().action(), two.unwrap().action())
    };
    let context = modern(&mut slot, Memory::default(), json!({}));
    let first = required(&mut running(&context, handler));
    assert_eq!(first.requests.keys().collect::<Vec<_>>(), ["one", "two"]);
    let context = modern(&mut slot, first.memory, json!({"one": alice()}));
    let second = required(&mut running(&context, handler));
    assert_eq!(second.requests.keys().collect::<Vec<_>>(), ["two"]);
    let context =
        modern(&mut slot, second.memory, json!({"two": {"action": "cancel"}, "one": {"action": "decline"}}));
    let mut last = running(&context, handler);
    assert_eq!(poll_once(&mut last), Poll::Ready(ToolResult::text("accept cancel")));
}

#[tokio::test]
async fn an_answer_stays_what_it_was_whatever_its_client_repeats() {
    let mut slot = CallSlot::default();
    let handler = |context: Context| async move {
        let one = context.elicit("one", who()).await.unwrap();
        let two = context.elicit("two", who()).await.unwrap();
        format!("{} {}", one.action(), two.action())
    };
    let asking = asking(&[]);
    let context = slot.prepare(&CallInfo { capabilities: capable(), asking: Some(&asking), ..info() });
    let mut brought = Given::new(asking.answer_bytes());
    brought.keep("one", br#"{"action":"decline","action":"accept","content":{"name":"Al"}}"#.to_vec());
    context.resume(Memory::default(), brought);
    let mut memory = required(&mut running(&context, handler)).memory;
    drop(context);
    for round in 0..3 {
        // As it goes through the client.
        memory = Memory::read(&memory.write()).unwrap();
        let context = modern(&mut slot, memory, json!({}));
        let again = required(&mut running(&context, handler));
        assert_eq!(again.requests.keys().collect::<Vec<_>>(), ["two"], "{round}");
        memory = again.memory;
    }
    let context = modern(&mut slot, memory, json!({"two": {"action": "cancel"}}));
    let done = poll_once(&mut running(&context, handler));
    assert_eq!(done, Poll::Ready(ToolResult::text("decline cancel")));
}

#[tokio::test]
async fn one_key_is_one_question() {
    let mut slot = CallSlot::default();
    let twice = |context: Context| async move {
        let (one, two) = tokio::join!(context.elicit("key", who()), context.elicit("key", who()));
        format!("{} {}", one.unwrap().action(), two.unwrap().action())
    };
    let context = modern(&mut slot, Memory::default(), json!({}));
    let first = required(&mut running(&context, twice));
    assert_eq!(first.requests.len(), 1);
    let context = modern(&mut slot, first.memory, json!({"key": alice()}));
    assert_eq!(poll_once(&mut running(&context, twice)), Poll::Ready(ToolResult::text("accept accept")));

    let context = modern(&mut slot, Memory::default(), json!({}));
    let mut other = running(&context, |context: Context| async move {
        let (_one, two) = tokio::join!(context.elicit("key", who()), context.roots("key"));
        two.unwrap_err().text()
    });
    // The handler knows of the clash, and its first question goes out all the same.
    assert_eq!(required(&mut other).requests["key"]["method"], "elicitation/create");
}

#[tokio::test]
async fn effects_run_to_their_end_and_once() {
    let runs = Arc::new(AtomicUsize::new(0));
    let mut slot = CallSlot::default();
    let handler = {
        let runs = Arc::clone(&runs);
        move |context: Context| {
            let runs = Arc::clone(&runs);
            async move {
                let effect = context.once("effect", async {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    runs.fetch_add(1, Ordering::SeqCst) + 1
                });
                let (answer, number) = tokio::join!(context.elicit("who", who()), effect);
                format!("{} {}", answer.unwrap().action(), number.unwrap())
            }
        }
    };
    let context = modern(&mut slot, Memory::default(), json!({}));
    let mut first = running(&context, handler.clone());
    assert!(
        first.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_pending(),
        "the effect runs"
    );
    let Produced::InputRequired(ended) = std::future::poll_fn(|cx| first.poll(cx)).await else {
        panic!("the round ends after the effect")
    };
    let context = modern(&mut slot, ended.memory, json!({"who": alice()}));
    assert_eq!(poll_once(&mut running(&context, handler)), Poll::Ready(ToolResult::text("accept 1")));
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn effects_of_one_key_are_one() {
    let mut slot = CallSlot::default();
    let context = modern(&mut slot, Memory::default(), json!({}));
    let slow = context.once("key", async {
        tokio::task::yield_now().await;
        1
    });
    let (one, two) = tokio::join!(slow, context.once("key", async { 2 }));
    assert_eq!((one, two), (Ok(1), Err(AskError::KeyTaken("key".to_owned()))));
    assert_eq!(context.once("key", async { 3 }).await, Ok(1));
    let odd = context.once("key", async { String::new() }).await;
    assert!(matches!(odd, Err(AskError::InvalidMemory(_))), "{odd:?}");
    // One that was dropped half-way may begin anew.
    drop(Box::pin(context.once("other", std::future::pending::<u8>())));
    let half =
        tokio::time::timeout(Duration::from_millis(1), context.once("other", std::future::pending::<u8>()));
    assert!(half.await.is_err());
    assert_eq!(context.once("other", async { 4 }).await, Ok(4));
}

#[tokio::test]
async fn memory_is_the_calls_own() {
    let mut slot = CallSlot::default();
    let context = modern(&mut slot, Memory::default(), json!({"who": alice()}));
    context.keep_state(&json!({"a": 1})).unwrap();
    assert_eq!(context.state::<Value>(), Some(json!({"a": 1})));
    assert_eq!(context.state::<String>(), None, "it reads as another type");
    context.shared().close();
    context.keep_state(&2).unwrap();
    assert_eq!(context.state::<Value>(), None);
    drop(context);
    let next = modern(&mut slot, Memory::default(), json!({}));
    assert_eq!(next.state::<Value>(), None);
    assert_eq!(
        required(&mut running(&next, |context: Context| async move {
            context.elicit("who", who()).await.unwrap().action().to_owned()
        }))
        .requests
        .len(),
        1
    );
}

#[tokio::test]
async fn methods_that_must_not_ask() {
    for context in [CallSlot::default().prepare(&info()), Context::detached()] {
        assert_eq!(context.elicit("who", who()).await, Err(AskError::NotHere));
        assert_eq!(context.roots("roots").await, Err(AskError::NotHere));
        assert_eq!(context.once("effect", async { 1 }).await, Ok(1));
    }
}

#[tokio::test]
async fn a_question_that_outlives_its_call_learns_so() {
    let session = open_session();
    for context in
        [modern(&mut CallSlot::default(), Memory::default(), json!({})), legacy(&session, &asking(&[]))]
    {
        let asked = tokio::spawn({
            let context = context.clone();
            async move { context.elicit("who", who()).await }
        });
        tokio::task::yield_now().await;
        context.shared().close();
        assert_eq!(asked.await.unwrap(), Err(AskError::CallOver));
        assert_eq!(context.elicit("who", who()).await, Err(AskError::CallOver));
    }
    assert_eq!(Arc::strong_count(&session), 1);
}

#[tokio::test]
async fn a_question_that_no_stream_takes() {
    let session = open_session();
    let asking = asking(&[("push_window", 20), ("server_requests", 1)]);
    let context = legacy(&session, &asking);
    assert_eq!(context.elicit("who", who()).await, Err(AskError::NotTaken));
    assert_eq!(context.shared().take(), None, "it is not sent later");
    // Its place is free again. One that is taken in time has time to be answered.
    let asked = tokio::spawn({
        let context = context.clone();
        async move { context.elicit("who", who()).await }
    });
    tokio::time::sleep(Duration::from_millis(5)).await;
    let request: Value = serde_json::from_slice(&context.shared().take().unwrap()).unwrap();
    tokio::time::sleep(Duration::from_millis(40)).await;
    assert!(
        session.answer(request["id"].as_str().unwrap(), || ClientAnswer::Result(alice().to_string().into()))
    );
    assert_eq!(asked.await.unwrap().unwrap().action(), "accept");
    assert_eq!(context.shared().take(), None, "what was answered is not cancelled");
}

#[tokio::test]
async fn who_has_gone_is_not_asked() {
    let session = open_session();
    let context = legacy(&session, &asking(&[]));
    let ask = |key: &'static str| {
        let context = context.clone();
        tokio::spawn(async move { context.elicit(key, who()).await })
    };
    let taken = ask("taken");
    tokio::task::yield_now().await;
    let request: Value = serde_json::from_slice(&context.shared().take().unwrap()).unwrap();
    let queued = ask("queued");
    tokio::task::yield_now().await;
    context.shared().mute();
    assert_eq!(queued.await.unwrap(), Err(AskError::NoStream), "what waits for a stream waits no longer");
    assert_eq!(context.shared().take(), None, "nor is it sent");
    assert_eq!(context.elicit("later", who()).await, Err(AskError::NoStream));
    // What was taken may still be answered.
    let answer = || ClientAnswer::Result(alice().to_string().into());
    assert!(session.answer(request["id"].as_str().unwrap(), answer));
    assert_eq!(taken.await.unwrap().unwrap().action(), "accept");
}

#[tokio::test]
async fn what_is_open_when_the_call_ends_is_taken_back_on_its_stream() {
    let session = open_session();
    let context = legacy(&session, &asking(&[]));
    let asked = tokio::spawn({
        let context = context.clone();
        async move { context.elicit("who", who()).await }
    });
    tokio::task::yield_now().await;
    let request: Value = serde_json::from_slice(&context.shared().take().unwrap()).unwrap();
    context.shared().close();
    let cancelled: Value = serde_json::from_slice(&context.shared().take().unwrap()).unwrap();
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
    assert_eq!(asked.await.unwrap(), Err(AskError::CallOver));
    assert!(!session.answer(request["id"].as_str().unwrap(), || unreachable!()));
}

#[tokio::test]
async fn answers_known_by_key_are_held_to_the_question() {
    let mut slot = CallSlot::default();
    let given = json!({"who": {"roots": []}, "folders": {"roots": [{"uri": "file:///a"}]}});
    let context = modern(&mut slot, Memory::default(), given);
    assert_eq!(context.roots("folders").await.unwrap().len(), 1);
    assert_eq!(context.roots("folders").await.unwrap().len(), 1, "as often as it is asked");
    let open = required(&mut running(&context, |context: Context| async move {
        format!("{:?}", context.elicit("who", who()).await)
    }));
    assert_eq!(open.requests.keys().collect::<Vec<_>>(), ["who"]);
    let memory: Value = serde_json::from_slice(&open.memory.write()).unwrap();
    assert_eq!(
        memory,
        json!({"a": {"folders": {"roots": [{"uri": "file:///a"}]}}}),
        "no more than what was taken"
    );
}
