//! Event streams of legacy calls: read to their end, or left and come back to.

use std::collections::HashSet;

use serde_json::Value;

use super::session::{Session, VERSIONS};
use crate::ledger::{Id, Outcome};
use crate::link::{Answer, Link};
use crate::person::Person;

/// What has come of a stream so far.
#[derive(Debug, Default)]
struct Heard {
    ids: HashSet<String>,
    last: Option<String>,
    /// The last report.
    step: u64,
}

impl Heard {
    /// Takes an event in: the next report, or the answer.
    fn take(&mut self, id: Id, event: Option<String>, message: &Value) -> Outcome<bool> {
        let event = event.ok_or_else(|| format!("an event without an id: {message}"))?;
        if !self.ids.insert(event.clone()) {
            return Err(format!("the event {event} came twice: {message}"));
        }
        self.last = Some(event);
        if message["id"] == id.json() && message.get("result").is_some() {
            return Ok(true);
        }
        if message["params"]["progress"] != self.step + 1 || message["params"]["progressToken"] != id.json() {
            return Err(format!("report {} wanted, came {message}", self.step + 1));
        }
        self.step += 1;
        Ok(false)
    }
}

/// Reads so many messages, or until the answer has come. True when it has.
async fn read(link: &mut Link, stream: &mut Answer, heard: &mut Heard, id: Id, most: u64) -> Outcome<bool> {
    for _ in 0..most {
        let (event, message) = loop {
            let event = link.event(stream).await?.ok_or("the stream has ended without its answer")?;
            match event.message {
                Some(message) => break (event.id, message),
                // The priming event can be come back to as well.
                None => heard.last = event.id.or(heard.last.take()),
            }
        };
        if heard.take(id, event, &message)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn complete(person: &Person, heard: &Heard, id: Id, steps: u64) -> Outcome {
    if heard.step != steps {
        return Err(format!("the answer after {} of {steps} reports", heard.step));
    }
    person.ledger().answered(&id.json())
}

/// In one piece.
pub(super) async fn whole(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    let version = person.random.pick(VERSIONS);
    let session = Session::open(person, &mut link, version).await?;
    for _ in 0..person.random.within(1, 3) {
        let steps = person.random.within(1, 8);
        let (id, ms) = (person.ask(), person.random.within(0, 150));
        let mut stream = link.stream(&session.reporting(id, ms, steps)).await?;
        let mut heard = Heard::default();
        read(&mut link, &mut stream, &mut heard, id, u64::MAX).await?;
        complete(person, &heard, id, steps)?;
        link.over(&mut stream).await?;
    }
    session.leave(person, &mut link).await
}

/// Left once or more, each time by a reset or an end, and come back to over whichever protocol.
pub(super) async fn resumed(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    let version = person.random.pick(VERSIONS);
    let session = Session::open(person, &mut link, version).await?;
    let (id, steps) = (person.ask(), person.random.within(4, 12));
    let ms = person.random.within(100, 900);
    let mut stream = link.stream(&session.reporting(id, ms, steps)).await?;
    let mut heard = Heard::default();
    loop {
        let most = person.random.within(1, 5);
        if read(&mut link, &mut stream, &mut heard, id, most).await? {
            break;
        }
        let reset = person.random.chance(50);
        link.leave(Some(stream), reset);
        person.pause(0, 200).await;
        person.ledger().done("streams left and resumed");
        person.ledger().sent();
        link = person.link().await?;
        stream = link.stream(&session.get(heard.last.as_deref())).await?;
    }
    complete(person, &heard, id, steps)?;
    link.over(&mut stream).await?;
    session.leave(person, &mut link).await
}
