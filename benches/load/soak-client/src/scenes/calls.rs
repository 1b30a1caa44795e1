//! Modern calls, one after the other, and refusals among them.

use serde_json::json;

use crate::asks::{Ask, modern, notification};
use crate::ledger::Outcome;
use crate::link::Link;
use crate::person::Person;
use crate::post::Post;
use crate::refusals;

/// Sends one, and holds the answer to what is expected of it.
pub(crate) async fn exchange(person: &Person, link: &mut Link, ask: &Ask) -> Outcome {
    let whole = link.send(&ask.post).await?;
    ask.check(person, &whole)
}

pub(super) async fn calls(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    for _ in 0..person.random.within(1, 20) {
        if person.random.chance(10) {
            let accepted = link.send(&notification(person)).await?;
            if accepted.head.status != 202 || !accepted.body.is_empty() {
                return Err(format!("a notification: {}", accepted.told()));
            }
            person.ledger().done("notifications");
        }
        let ask = modern(person);
        exchange(person, &mut link, &ask).await?;
        if person.random.chance(20) {
            person.pause(0, 20).await;
        }
    }
    Ok(())
}

/// Connections live through them.
pub(super) async fn refusals(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    for _ in 0..person.random.within(1, 12) {
        let ask = if person.random.chance(75) { refusals::open(person) } else { modern(person) };
        exchange(person, &mut link, &ask).await?;
    }
    Ok(())
}

/// HTTP/1.1 connections end with them, HTTP/2 connections do not.
pub(super) async fn closing_refusals(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    for _ in 0..3 {
        let before = modern(person);
        exchange(person, &mut link, &before).await?;
        let ask = refusals::closing(person);
        exchange(person, &mut link, &ask).await?;
        if let Link::One(http1, _) = &mut link {
            http1.ends().await?;
            link = person.link().await?;
        }
    }
    Ok(())
}

/// One that is idle for a while, and is there when it is needed.
pub(super) async fn idle(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    for _ in 0..2 {
        let ask = modern(person);
        exchange(person, &mut link, &ask).await?;
        person.pause(300, 2_500).await;
    }
    let ask = modern(person);
    exchange(person, &mut link, &ask).await
}

/// A call that reports: the reports in order, then the answer, then the end.
pub(super) async fn progress(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    for _ in 0..person.random.within(1, 3) {
        let (ms, steps) = (person.random.within(0, 120), person.random.within(1, 6));
        let id = person.ask();
        let params = json!({"name": "sleep", "arguments": {"ms": ms, "steps": steps}, "_meta": {"progressToken": id.json()}});
        let mut answer = link.stream(&Post::modern(id, "tools/call", params)).await?;
        for step in 1..=steps {
            let (event, message) = link.message(&mut answer).await?;
            let params = &message["params"];
            if event.is_some() || params["progress"] != step || params["progressToken"] != id.json() {
                return Err(format!("report {step} of {steps} wanted, came {event:?} {message}"));
            }
        }
        let (_, message) = link.message(&mut answer).await?;
        if message["id"] != id.json() || message["result"]["isError"] == true {
            return Err(format!("the result of {:?} wanted, came {message}", id.json()));
        }
        person.ledger().answered(&message["id"])?;
        link.over(&mut answer).await?;
    }
    Ok(())
}
