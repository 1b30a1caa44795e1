//! Legacy sessions: opened, used, deleted or left; batches; calls that are called off.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::calls::exchange;
use super::session::{Session, VERSIONS};
use crate::asks::{Ask, Want, anything, judge};
use crate::ledger::Outcome;
use crate::person::Person;

pub(super) async fn sessions(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    let version = person.random.pick(VERSIONS);
    let session = Session::open(person, &mut link, version).await?;
    for _ in 0..person.random.within(0, 12) {
        if person.random.chance(15) {
            // A session is bound to no connection.
            link = person.link().await?;
        }
        let ask = session.anything(person);
        exchange(person, &mut link, &ask).await?;
        if person.random.chance(20) {
            person.pause(0, 30).await;
        }
    }
    if person.random.chance(35) {
        person.ledger().done("sessions left idle");
        return Ok(());
    }
    session.delete(person, &mut link).await?;
    let mut late = session.anything(person);
    late.want = Want::Refusal { status: 404, code: -32001, with_id: true };
    exchange(person, &mut link, &late).await
}

/// All elements are answered, each once, in one array; in a stream where one of them reports.
pub(super) async fn batches(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    let session = Session::open(person, &mut link, "2025-03-26").await?;
    for _ in 0..person.random.within(1, 4) {
        let mut batch = Vec::new();
        let mut wanted = BTreeMap::new();
        for _ in 0..person.random.within(1, 20) {
            let (method, params, want) = match person.random.within(0, 9) {
                0 => ("nothing", json!({}), Want::Error(-32601)),
                1 => (
                    "tools/call",
                    json!({"name": "sleep", "arguments": {"ms": 5}}),
                    Want::Text("Slept 5 ms in 1 steps.".to_owned()),
                ),
                2 => {
                    batch.push(json!({"jsonrpc": "2.0", "method": "notifications/whatever"}));
                    continue;
                }
                _ => anything(person),
            };
            let id = person.ask().json();
            wanted.insert(id.to_string(), want);
            batch.push(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        }
        let whole = link.send(&session.post(&Value::Array(batch.clone()))).await?;
        if wanted.is_empty() {
            if batch.is_empty() || whole.head.status == 202 {
                continue;
            }
            return Err(format!("a batch of notifications: {}", whole.told()));
        }
        let answers = whole.json()?;
        for answer in answers.as_array().ok_or_else(|| format!("no array: {}", whole.told()))? {
            let want = wanted.remove(&answer["id"].to_string());
            judge(answer, &want.ok_or_else(|| format!("{answer} was not in the batch, or is there twice"))?)?;
            person.ledger().answered(&answer["id"])?;
        }
        if !wanted.is_empty() {
            return Err(format!("no answers to {wanted:?}"));
        }
    }
    session.leave(person, &mut link).await
}

/// A call is called off: the quiet one gets an error, the stream of the other ends without an answer.
pub(super) async fn cancelled(person: &mut Person) -> Outcome {
    let (mut link, mut other) = (person.link().await?, person.link().await?);
    let version = person.random.pick(VERSIONS);
    let session = Session::open(person, &mut link, version).await?;
    let id = person.ask();
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id.json()}});
    if person.random.chance(50) {
        let mut answer = link.stream(&session.reporting(id, 60_000, 1_000)).await?;
        link.message(&mut answer).await?;
        session.accepted(person, &mut other, &cancel).await?;
        while let Some(event) = link.event(&mut answer).await? {
            if event.message.as_ref().is_some_and(|message| !message["id"].is_null()) {
                return Err(format!("an answer of what was cancelled: {event:?}"));
            }
        }
        person.ledger().give_up(id);
    } else {
        let params = json!({"name": "sleep", "arguments": {"ms": 60_000}});
        let ask = Ask::new(session.request(id, "tools/call", &params), id, Want::Error(-32000));
        let mut call = Box::pin(exchange(person, &mut link, &ask));
        loop {
            // It may be called off before it has begun; who means it says so again.
            tokio::select! {
                called = &mut call => break called?,
                () = tokio::time::sleep(Duration::from_millis(60)) => session.accepted(person, &mut other, &cancel).await?,
            }
        }
    }
    session.leave(person, &mut other).await
}
