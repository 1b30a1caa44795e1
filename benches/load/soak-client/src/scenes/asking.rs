//! Questions of the server's to its client: in rounds on the modern lane, on the call's stream in a session.

use serde_json::{Value, json};

use super::session::Session;
use crate::http1::PATIENCE;
use crate::ledger::Outcome;
use crate::link::{Answer, Link};
use crate::person::Person;
use crate::post::Post;

const QUESTION: &str = "elicitation/create";

/// The answer to a question, and what the tool makes of it when it asks no more.
fn answer(person: &mut Person, second: bool) -> (Value, String) {
    let name = format!("name {}", person.random.within(0, 1_000_000));
    match person.random.within(0, 5) {
        0 if !second => (json!({"action": "decline"}), "Nobody: decline".to_owned()),
        1 if !second => (json!({"action": "cancel"}), "Nobody: cancel".to_owned()),
        2 if !second => (json!({"action": "accept", "content": {"name": format!("{name}+")}}), String::new()),
        _ => (json!({"action": "accept", "content": {"name": name}}), format!("Hello, {name}!")),
    }
}

/// The text that must come after two questions.
fn both(first: &Value, second: &Value) -> String {
    let name = |answer: &Value| answer["content"]["name"].as_str().unwrap_or("?").to_owned();
    format!("Hello, {} and {}!", name(first), name(second))
}

pub(super) async fn rounds(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    let mut given: Vec<Value> = Vec::new();
    let mut wanted = String::new();
    let mut params = json!({"name": "ask", "arguments": {}});
    loop {
        let id = person.ask();
        let post = Post::modern_with(id, "tools/call", params.clone(), json!({"elicitation": {}}));
        let whole = link.send(&post).await?;
        let message = whole.json()?;
        if message["id"] != id.json() {
            return Err(format!("the answer of {:?} wanted, came {}", id.json(), whole.told()));
        }
        person.ledger().answered(&message["id"])?;
        let result = &message["result"];
        if result["resultType"] != "input_required" {
            let text = result["content"][0]["text"].as_str();
            let good = !given.is_empty() && text == Some(wanted.as_str());
            return if good { Ok(()) } else { Err(format!("{wanted:?} wanted, came {}", whole.told())) };
        }
        if person.random.chance(15) {
            person.ledger().done("questions left open");
            return Ok(());
        }
        let key = if given.is_empty() { "first" } else { "second" };
        if result["inputRequests"][key]["method"] != QUESTION {
            return Err(format!("{key} is not asked: {}", whole.told()));
        }
        let (reply, text) = answer(person, !given.is_empty());
        wanted = if given.is_empty() { text } else { both(&given[0], &reply) };
        given.push(reply.clone());
        params = json!({"name": "ask", "arguments": {}, "requestState": result["requestState"], "inputResponses": {key: reply}});
    }
}

/// The next question on a call's stream: its id.
async fn question(link: &mut Link, stream: &mut Answer) -> Outcome<Value> {
    let (_, mut message) = link.message(stream).await?;
    if message["method"] != QUESTION {
        return Err(format!("a question wanted, came {message}"));
    }
    Ok(message["id"].take())
}

pub(super) async fn asked(person: &mut Person) -> Outcome {
    let (mut link, mut other) = (person.link().await?, person.link().await?);
    let version = person.random.pick(&["2025-06-18", "2025-11-25"]);
    let session = Session::open(person, &mut link, version).await?;
    let id = person.ask();
    let call = session.request(id, "tools/call", &json!({"name": "ask", "arguments": {}}));
    let mut stream = link.stream(&call).await?;
    let asked = question(&mut link, &mut stream).await?;
    if person.random.chance(25) {
        return unanswered(person, &session, (link, stream), other, id).await;
    }
    let (reply, mut wanted) = answer(person, false);
    session.accepted(person, &mut other, &json!({"jsonrpc": "2.0", "id": asked, "result": reply})).await?;
    if wanted.is_empty() {
        let asked = question(&mut link, &mut stream).await?;
        let (second, _) = answer(person, true);
        wanted = both(&reply, &second);
        session
            .accepted(person, &mut other, &json!({"jsonrpc": "2.0", "id": asked, "result": second}))
            .await?;
    }
    let (_, message) = link.message(&mut stream).await?;
    if message["id"] != id.json() || message["result"]["content"][0]["text"] != wanted {
        return Err(format!("{wanted:?} wanted, came {message}"));
    }
    person.ledger().answered(&message["id"])?;
    link.over(&mut stream).await?;
    // One that nobody waits for any more is accepted as well.
    session.accepted(person, &mut other, &json!({"jsonrpc": "2.0", "id": asked, "result": {}})).await?;
    session.leave(person, &mut other).await
}

/// The client never answers: it ends its session, calls the call off, or is gone.
async fn unanswered(
    person: &mut Person,
    session: &Session,
    (mut link, mut stream): (Link, Answer),
    mut other: Link,
    id: crate::ledger::Id,
) -> Outcome {
    person.ledger().done("questions left open");
    person.ledger().give_up(id);
    match person.random.within(0, 2) {
        0 => session.delete(person, &mut other).await?,
        1 => {
            let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id.json()}});
            session.accepted(person, &mut other, &cancel).await?;
        }
        _ => {
            let reset = person.random.chance(50);
            link.leave(Some(stream), reset);
            return session.delete(person, &mut other).await;
        }
    }
    let ends = async {
        while let Some(event) = link.event(&mut stream).await? {
            if event.message.as_ref().is_some_and(|message| message.get("result").is_some()) {
                return Err(format!("an answer to what was never answered: {event:?}"));
            }
        }
        Ok(())
    };
    tokio::time::timeout(PATIENCE, ends).await.map_err(|_| "a stream that does not end".to_owned())?
}
