//! Who waits for changes: `subscriptions/listen` on the modern lane, GET streams of sessions. The registry changes all the time, so that
//! something must come, and soon.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::session::{Session, VERSIONS};
use crate::ledger::Outcome;
use crate::person::Person;
use crate::post::Post;

const WATCHED: &str = "soak://watched";

/// Whether this is news that was asked for.
fn is_news(message: &Value) -> bool {
    match message["method"].as_str() {
        Some("notifications/resources/updated") => message["params"]["uri"] == WATCHED,
        Some(
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed",
        ) => true,
        Some(_) | None => false,
    }
}

pub(super) async fn listen(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    let id = person.ask();
    let filter = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": [WATCHED]});
    let mut stream =
        link.stream(&Post::modern(id, "subscriptions/listen", json!({"notifications": filter}))).await?;
    // No result is waited for: only a server that stops gives one.
    person.ledger().give_up(id);
    let (_, first) = link.message(&mut stream).await?;
    if first["method"] != "notifications/subscriptions/acknowledged" {
        return Err(format!("an acknowledgement wanted, came {first}"));
    }
    for _ in 0..person.random.within(1, 12) {
        let (event, news) = link.message(&mut stream).await?;
        let mine = news["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == id.json();
        if event.is_some() || !mine || !is_news(&news) {
            return Err(format!("news wanted, came {event:?} {news}"));
        }
        person.ledger().done("changes heard of");
    }
    let reset = person.random.chance(50);
    link.leave(Some(stream), reset);
    Ok(())
}

pub(super) async fn get_streams(person: &mut Person) -> Outcome {
    let (mut link, mut other) = (person.link().await?, person.link().await?);
    let version = person.random.pick(VERSIONS);
    let session = Session::open(person, &mut other, version).await?;
    let id = person.ask();
    let subscribed =
        other.send(&session.request(id, "resources/subscribe", &json!({"uri": WATCHED}))).await?;
    let answer = subscribed.json()?;
    if answer["result"] != json!({}) {
        return Err(format!("subscribing: {}", subscribed.told()));
    }
    person.ledger().answered(&answer["id"])?;
    let mut seen = HashSet::new();
    let mut last = None;
    for _ in 0..person.random.within(1, 3) {
        person.ledger().sent();
        let mut stream = link.stream(&session.get(last.as_deref())).await?;
        for _ in 0..person.random.within(1, 6) {
            let (event, news) = link.message(&mut stream).await?;
            let event = event.ok_or_else(|| format!("an event without an id: {news}"))?;
            if !is_news(&news) || !seen.insert(event.clone()) {
                return Err(format!("news wanted, came {event} {news}"));
            }
            last = Some(event);
            person.ledger().done("changes heard of");
        }
        let reset = person.random.chance(50);
        link.leave(Some(stream), reset);
        link = person.link().await?;
    }
    session.leave(person, &mut other).await
}
