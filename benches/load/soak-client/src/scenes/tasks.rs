//! Calls that become tasks: polled, cancelled, answered, or forgotten.

use serde_json::{Value, json};

use crate::ledger::Outcome;
use crate::link::Link;
use crate::person::Person;
use crate::post::Post;

fn capabilities() -> Value {
    json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
}

/// Sends a request, and gives its result.
async fn result(person: &Person, link: &mut Link, method: &str, params: Value) -> Outcome<Value> {
    let id = person.ask();
    let whole = link.send(&Post::modern_with(id, method, params, capabilities())).await?;
    let mut message = whole.json()?;
    if message["id"] != id.json() || !message["result"].is_object() {
        return Err(format!("a result of {method} wanted, came {}", whole.told()));
    }
    person.ledger().answered(&message["id"])?;
    Ok(message["result"].take())
}

/// Makes a task: its id.
async fn create(person: &Person, link: &mut Link, call: Value) -> Outcome<String> {
    let created = result(person, link, "tools/call", call).await?;
    match created["taskId"].as_str() {
        Some(task) if created["resultType"] == "task" => Ok(task.to_owned()),
        Some(_) | None => Err(format!("a task wanted, came {created}")),
    }
}

async fn get(person: &Person, link: &mut Link, task: &str) -> Outcome<Value> {
    let state = result(person, link, "tasks/get", json!({"taskId": task})).await?;
    if state["taskId"] == task { Ok(state) } else { Err(format!("another task: {state}")) }
}

/// Polls until the task no longer works.
async fn settled(person: &mut Person, link: &mut Link, task: &str) -> Outcome<Value> {
    loop {
        let state = get(person, link, task).await?;
        if state["status"] != "working" {
            return Ok(state);
        }
        person.pause(10, 60).await;
    }
}

pub(super) async fn tasks(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    let fate = person.random.within(0, 9);
    // One that is to be cancelled must not be done before.
    let ms = if fate < 3 { 30_000 } else { person.random.within(0, 400) };
    let task = create(person, &mut link, json!({"name": "sleep", "arguments": {"ms": ms}})).await?;
    if fate < 3 {
        person.pause(0, 50).await;
        let state = get(person, &mut link, &task).await?;
        result(person, &mut link, "tasks/cancel", json!({"taskId": task})).await?;
        let after = get(person, &mut link, &task).await?;
        person.ledger().done("tasks cancelled");
        let good =
            state["status"] == "working" && after["status"] == "cancelled" && after["result"].is_null();
        return if good { Ok(()) } else { Err(format!("cancelled: {state}, then {after}")) };
    }
    if fate == 3 {
        person.ledger().done("tasks forgotten");
        return Ok(());
    }
    let state = settled(person, &mut link, &task).await?;
    let wanted = format!("Slept {ms} ms in 1 steps.");
    if state["status"] != "completed" || state["result"]["content"][0]["text"] != wanted {
        return Err(format!("{wanted:?} wanted, came {state}"));
    }
    Ok(())
}

/// One that asks, is answered by `tasks/update`, and goes on.
pub(super) async fn asking(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    let task = create(person, &mut link, json!({"name": "ask_later", "arguments": {}})).await?;
    let state = settled(person, &mut link, &task).await?;
    let questions = state["inputRequests"].as_object().filter(|_| state["status"] == "input_required");
    let questions = questions.ok_or_else(|| format!("a question wanted, came {state}"))?;
    let key = questions.keys().next().ok_or("no question")?;
    if person.random.chance(20) {
        person.ledger().done("tasks forgotten");
        return Ok(());
    }
    let name = format!("name {}", person.random.within(0, 1_000_000));
    let reply = json!({key: {"action": "accept", "content": {"name": name}}});
    result(person, &mut link, "tasks/update", json!({"taskId": task, "inputResponses": reply})).await?;
    // It goes on when its turn comes; until then it may still be said to wait.
    loop {
        let state = settled(person, &mut link, &task).await?;
        if state["status"] == "input_required" {
            person.pause(10, 30).await;
            continue;
        }
        let wanted = format!("Hello, {name}!");
        let good = state["status"] == "completed" && state["result"]["content"][0]["text"] == wanted;
        return if good { Ok(()) } else { Err(format!("{wanted:?} wanted, came {state}")) };
    }
}
