use std::sync::atomic::AtomicUsize;

use serde_json::{Value, json};

use super::*;

fn task() -> (Arc<Task>, Arc<AtomicUsize>) {
    let changes = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&changes);
    let hooks = Hooks {
        changed: Box::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        }),
        held: AtomicU64::new(0),
        most_held: 1000,
    };
    let id = TaskId::random().unwrap();
    let task = Task::new(id, None, &Clock::system(), (1000, 50), Arc::new(hooks), 7).unwrap();
    (Arc::new(task), changes)
}

fn held(task: &Task) -> u64 {
    task.hooks.held.load(Ordering::Relaxed)
}

fn read(task: &Task) -> Value {
    let mut out = b"{".to_vec();
    task.write_detailed(&mut out);
    out.push(b'}');
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn a_working_task_has_the_common_members_alone() {
    let (task, _) = task();
    task.set_message("half done");
    let read = read(&task);
    let keys: Vec<_> = read.as_object().unwrap().keys().collect();
    let common =
        ["taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"];
    assert_eq!(keys, common);
    assert_eq!((&read["status"], &read["ttlMs"]), (&json!("working"), &json!(1000)));
    assert!(read["createdAt"].as_str().unwrap().ends_with('Z'));
    task.set_message(&"é".repeat(1000));
    assert_eq!(self::read(&task)["statusMessage"].as_str().unwrap().len(), MESSAGE);
}

#[tokio::test]
async fn questions_open_and_close_one_by_one() {
    let (task, changes) = task();
    let name = task.ask("name", br#"{"method":"elicitation/create"}"#.to_vec()).unwrap();
    let color = task.ask("color", b"{}".to_vec()).unwrap();
    assert_eq!(read(&task)["status"], "input_required");
    assert_eq!(read(&task)["inputRequests"]["name"]["method"], "elicitation/create");
    let answer = |text: &str| ClientAnswer::Result(text.into());
    assert!(!task.answer("other", answer("1")));
    assert!(task.answer("name", answer("2")));
    assert!(!task.answer("name", answer("3")), "an answered key is closed");
    let left = read(&task);
    assert_eq!(left["status"], "input_required");
    assert_eq!(left["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["color"]);
    assert_eq!(name.answer().await, Some(answer("2")));
    drop(color);
    assert_eq!(read(&task)["status"], "working");
    assert!(read(&task).get("inputRequests").is_none());
    assert_eq!(changes.load(Ordering::Relaxed), 4);
}

#[test]
fn keys_are_never_used_twice() {
    let (task, _) = task();
    let mut seen = HashSet::new();
    for _ in 0..50 {
        let question = task.ask("again", Vec::new()).unwrap();
        assert!(seen.insert(question.key().to_owned()), "{}", question.key());
    }
    let taken = task.ask("again-3", Vec::new()).unwrap();
    assert!(seen.insert(taken.key().to_owned()), "{}", taken.key());
}

#[tokio::test]
async fn cancelling_ends_everything_once() {
    let (task, _) = task();
    let stopped = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&stopped);
    task.on_cancel(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let question = task.ask("q", Vec::new()).unwrap();
    task.cancel();
    task.cancel();
    assert_eq!(stopped.load(Ordering::Relaxed), 1);
    assert_eq!(question.answer().await, None);
    assert_eq!(read(&task)["status"], "cancelled");
    assert!(!task.finish(Outcome::Completed(b"{}".to_vec())), "what comes late is dropped");
    assert!(read(&task).get("result").is_none());
    assert!(task.ask("q", Vec::new()).is_none());
    let counted = Arc::clone(&stopped);
    task.on_cancel(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(stopped.load(Ordering::Relaxed), 2, "told at once, for it was cancelled before");
}

#[test]
fn what_it_came_to_is_inlined() {
    let (completed, _) = task();
    assert!(completed.finish(Outcome::Completed(br#"{"content":[]}"#.to_vec())));
    completed.cancel();
    assert_eq!(read(&completed)["status"], "completed");
    assert_eq!(read(&completed)["result"], json!({"content": []}));
    let (failed, _) = task();
    failed.finish(Outcome::Failed(br#"{"code":-1,"message":"no"}"#.to_vec()));
    assert_eq!(read(&failed)["status"], "failed");
    assert_eq!(read(&failed)["error"]["code"], -1);
    assert_eq!(held(&failed), 26);
    failed.release();
    assert_eq!(held(&failed), 0);
}

#[test]
fn requests_and_questions_are_charged_while_it_runs() {
    let (task, _) = task();
    assert_eq!(held(&task), 7);
    let first = task.ask("q", vec![b' '; 900]).unwrap();
    assert!(task.ask("q", vec![b' '; 94]).is_none(), "there is no room");
    let second = task.ask("q", vec![b' '; 93]).unwrap();
    assert_eq!(held(&task), 1000);
    drop(first);
    task.answer(second.key(), ClientAnswer::TooLong);
    assert_eq!(held(&task), 7);
    drop(second);
    let third = task.ask("q", vec![b' '; 10]).unwrap();
    task.cancel();
    drop(third);
    assert_eq!(held(&task), 0);
    task.release();
    assert_eq!(held(&task), 0);
}
