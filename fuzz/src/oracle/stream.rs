//! What holds for event streams: their framing, their ids, and what they may carry.

use super::Told;
use crate::json::{self, Json};
use crate::model::declares;
use crate::response::{self, Event};

/// What a stream belongs to.
#[derive(Debug, Clone)]
pub enum Of {
    /// A modern request.
    Modern,
    /// A session of this revision, whose client has declared this; and the event that the client has seen last.
    Session { revision: &'static str, declared: Json, last: Option<String> },
}

/// The messages of a stream, up to now.
pub fn messages(bytes: &[u8], of: &Of, told: Told<'_>) -> Vec<Json> {
    let events = response::events(bytes);
    if let Of::Session { revision, last, .. } = of {
        check_ids(&events, revision, last.as_deref(), told);
    } else {
        assert!(events.iter().all(|event| event.id.is_none() && event.retry.is_none()), "{}", told());
    }
    let data = events.iter().filter_map(|event| event.data.as_ref());
    data.map(|data| json::read(data.as_bytes()).expect("it has been read")).collect()
}

/// The ids of the events that a stream has carried.
pub fn ids(bytes: &[u8]) -> Vec<String> {
    response::events(bytes).into_iter().filter_map(|event| event.id).collect()
}

/// An event's stream, and its number in it.
fn split(id: &str) -> (&str, u64) {
    let (stream, event) = id.rsplit_once('-').unwrap_or_else(|| panic!("{id}"));
    (stream, event.parse().unwrap_or_else(|_| panic!("{id}")))
}

/// One after the other, nothing left out, on from where the client was.
fn check_ids(events: &[Event], revision: &str, last: Option<&str>, told: Told<'_>) {
    let mut before: Option<(&str, u64)> = None;
    for (at, event) in events.iter().enumerate() {
        if event.retry.is_some() {
            assert!(at + 1 == events.len(), "it is the last word\n{}", told());
            continue;
        }
        let (stream, number) = split(event.id.as_deref().unwrap_or_else(|| panic!("no id\n{}", told())));
        let expected = match (before, last.and_then(|last| last.rsplit_once('-'))) {
            (Some((known, number)), _) => {
                assert_eq!(known, stream, "another stream\n{}", told());
                number + 1
            }
            (None, Some((seen, number))) if seen == stream => {
                number.parse::<u64>().unwrap_or_else(|_| panic!("{}", told())) + 1
            }
            (None, _) => 0,
        };
        assert_eq!(number, expected, "{}", told());
        let priming = revision == "2025-11-25" && number == 0;
        assert_eq!(event.data.is_none(), priming, "a priming event opens streams of 2025-11-25\n{}", told());
        before = Some((stream, number));
    }
}

/// A message that is no answer: a notification, or a request of the server's to a client that can answer it. Gives its method.
pub fn check_message<'m>(message: &'m Json, of: &Of, told: Told<'_>) -> &'m str {
    assert_eq!(message.get("jsonrpc").and_then(Json::as_str), Some("2.0"), "{}", told());
    let method = message.get("method").and_then(Json::as_str).unwrap_or_else(|| panic!("{}", told()));
    let params = message.get("params");
    let has = |key: &str| params.is_some_and(|params| params.get(key).is_some());
    if let Some(id) = message.get("id") {
        let Of::Session { revision, declared, .. } = of else {
            panic!("a request to a modern client\n{}", told())
        };
        assert!(id.as_str().is_some(), "{}", told());
        let capability = match method {
            "elicitation/create" => "elicitation",
            "sampling/createMessage" => "sampling",
            "roots/list" => "roots",
            _ => panic!("{method}\n{}", told()),
        };
        assert!(declares(Some(declared), capability), "{}", told());
        assert!(capability != "elicitation" || *revision != "2025-03-26", "{}", told());
        return method;
    }
    match method {
        "notifications/progress" => assert!(has("progressToken") && has("progress"), "{}", told()),
        "notifications/message" => assert!(has("level") && has("data"), "{}", told()),
        "notifications/resources/updated" => assert!(has("uri"), "{}", told()),
        // Those of listeners are looked at by whoever listens.
        _ => assert!(method.starts_with("notifications/"), "{method}\n{}", told()),
    }
    method
}
