//! What holds for answers, whatever was asked.

use twolane::reply::Content;

pub mod refusal;
pub mod stream;

pub use refusal::{check_envelope, check_refusal, plain_error};
pub use stream::Of;

use crate::json::{self, Json};
use crate::model::{self, Answered, Element, Lacks};
use crate::rig::{Outcome, Request};

/// Tells what was asked and what came of it, for a failure's message.
pub type Told<'t> = &'t dyn Fn() -> String;

/// One message, or one array of them: the body, or the last event of the stream. The messages before it are given too.
pub fn answer(request: &Request, outcome: &Outcome, of: &Of, told: Told<'_>) -> (Vec<Json>, Json) {
    let streams_only = model::accepts(request) == Some((false, true));
    if outcome.streamed {
        assert_eq!(outcome.reply.content, Content::EventStream, "{}", told());
        let all = [&outcome.events[..], &outcome.body].concat();
        let mut messages = stream::messages(&all, of, told);
        let answer = messages.pop().unwrap_or_else(|| panic!("a stream without its answer\n{}", told()));
        return (messages, answer);
    }
    let answer = match outcome.reply.content {
        Content::Json if !streams_only || outcome.reply.status != 200 => {
            json::read(&outcome.body).unwrap_or_else(|error| panic!("{error}\n{}", told()))
        }
        // A stream of one message, which nobody comes back for.
        Content::EventStream if streams_only => {
            let mut messages = stream::messages(&outcome.body, &Of::Modern, told);
            assert_eq!(messages.len(), 1, "{}", told());
            messages.remove(0)
        }
        Content::Empty | Content::Json | Content::EventStream => panic!("content\n{}", told()),
    };
    (Vec::new(), answer)
}

/// The answer to a request that reached its method. `late`: its call went on.
pub fn check_answered(message: &Json, answered: &Answered, late: bool, told: Told<'_>) {
    assert_eq!(message.get("jsonrpc").and_then(Json::as_str), Some("2.0"), "{}", told());
    assert_eq!(message.get("id"), Some(&answered.id), "the id comes back as it was sent\n{}", told());
    assert_eq!(message.members().len(), 3, "{}", told());
    match (message.get("result"), message.get("error")) {
        (Some(result), None) if answered.modern => check_modern(result, answered, told),
        (Some(result), None) => check_legacy(result, answered, told),
        (None, Some(error)) => {
            let Some(Json::Number(code)) = error.get("code") else { panic!("no code\n{}", told()) };
            let codes = codes(answered, late);
            assert!(codes.contains(&&code[..]), "{code} is none of {codes:?}\n{}", told());
            assert!(answered.opens.is_none(), "{}", told());
            refusal::one_line(error.get("message"), told);
        }
        _ => panic!("a result or an error\n{}", told()),
    }
}

/// The errors that a method may end with.
fn codes(answered: &Answered, late: bool) -> Vec<&'static str> {
    let Answered { modern, method, lacks, listens, .. } = answered;
    if !modern && !model::is_legacy_method(method) {
        return vec!["-32601"];
    }
    let mut codes = vec!["-32602"];
    match (&method[..], modern) {
        // Not found, in the revisions with a handshake; and as many as there may be.
        ("resources/subscribe", false) => codes.extend(["-32002", "-32000"]),
        ("resources/read", false) => codes.extend(["-32002", "-32603"]),
        // Tools fail with results; but there may be no task for one, or no way to have one.
        ("tools/call" | "resources/read" | "prompts/get" | "completion/complete", _) => codes.push("-32603"),
        ("subscriptions/listen", true) if listens.is_some() => codes = vec!["-32603"],
        _ => {}
    }
    if *lacks == Lacks::Perhaps && late {
        codes.push("-32021");
    }
    if late && !modern {
        // Cancelled.
        codes.push("-32000");
    }
    codes
}

fn check_legacy(result: &Json, answered: &Answered, told: Told<'_>) {
    let method = &answered.method[..];
    assert!(model::is_legacy_method(method), "{}", told());
    assert!(result.get("resultType").is_none(), "{}", told());
    let meta = result.get("_meta");
    assert!(meta.is_none_or(|meta| meta.get("io.modelcontextprotocol/serverInfo").is_none()), "{}", told());
    assert!(["ttlMs", "cacheScope"].iter().all(|key| result.get(key).is_none()), "{}", told());
    let bare = ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
    assert!(!bare.contains(&method) || result.members().is_empty(), "{}", told());
    let opened = result.get("protocolVersion").and_then(Json::as_str);
    assert_eq!(answered.opens, opened, "{}", told());
    assert_eq!(method == "initialize", opened.is_some(), "{}", told());
}

fn check_modern(result: &Json, answered: &Answered, told: Told<'_>) {
    let method = &answered.method[..];
    let has = |key: &str| result.get(key).is_some();
    let meta = result.get("_meta").unwrap_or_else(|| panic!("no _meta\n{}", told()));
    assert!(meta.get("io.modelcontextprotocol/serverInfo").is_some(), "{}", told());
    match result.get("resultType").and_then(Json::as_str) {
        Some("complete") => {
            let lists = method.ends_with("/list") || matches!(method, "server/discover" | "resources/read");
            // A task has a time to live, too.
            let lives = lists || method == "tasks/get";
            assert_eq!((lives, lists), (has("ttlMs"), has("cacheScope")), "{}", told());
            assert_eq!(method.starts_with("tasks/get"), has("taskId"), "{}", told());
            assert!(method != "tasks/get" || fits_status(result), "{}", told());
        }
        Some("input_required") => {
            assert!(matches!(method, "tools/call" | "resources/read" | "prompts/get"), "{}", told());
            assert!(has("requestState"), "{}", told());
            let questions = result.get("inputRequests").map(Json::members).unwrap_or_default();
            assert!(!questions.is_empty(), "{}", told());
            for (_, question) in questions {
                assert!(question.get("method").is_some_and(|method| method.as_str().is_some()), "{}", told());
            }
        }
        Some("task") => {
            assert!(
                method == "tools/call" && has("taskId") && has("ttlMs") && has("createdAt"),
                "{}",
                told()
            );
        }
        other => panic!("{other:?}\n{}", told()),
    }
}

/// What a task has come to stands beside its status.
fn fits_status(task: &Json) -> bool {
    let has = |key: &str| task.get(key).is_some();
    let all = (has("inputRequests"), has("result"), has("error"));
    match task.get("status").and_then(Json::as_str) {
        Some("working" | "cancelled") => all == (false, false, false),
        Some("input_required") => all == (true, false, false),
        Some("completed") => all == (false, true, false),
        Some("failed") => all == (false, false, true),
        _ => false,
    }
}

/// The answers to a batch.
pub fn check_elements(answers: &[Json], elements: &[Option<Element>], told: Told<'_>) {
    let expected: Vec<&Element> = elements.iter().flatten().collect();
    assert_eq!(answers.len(), expected.len(), "{}", told());
    for (answer, element) in answers.iter().zip(expected) {
        match element {
            // A later element may have cancelled it.
            Element::Answered(answered) => check_answered(answer, answered, true, told),
            Element::Refused(row, id) => check_envelope(answer, *row, id.as_ref(), told),
        }
    }
}
