//! Event streams: arbitrary texts as messages, through the framing alone and through the real loop to a client that leaves and comes back.
//! Oracles:
//! - a reader that does what WHATWG HTML says (9.2.6), and one that also takes U+0085, U+2028 and U+2029 for line ends, both get the same
//!   messages as went in, in order, with their ids and times to stay away, and each message stands on one `data:` line;
//! - over a connection every message of a call comes, whole and in order; on the legacy lane the ids are unique, and a client that leaves
//!   anywhere and comes back with the last id that it has seen misses none and gets none twice.
#![no_main]

use std::cell::RefCell;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tokio::runtime::Runtime;
use twolane::reply::json;
use twolane::reply::sse::{COMMENT, write_event, write_event_with_id, write_priming, write_retry};
use twolane::session::event_id::EventId;
use twolane_fuzz::say::{self, Sayer, Text};
use twolane_fuzz::whatwg::{self, Lines, Message};

#[derive(Debug, Arbitrary)]
struct Script {
    events: Vec<Event>,
    /// What a call says before it answers, and where its client leaves.
    said: Vec<Text>,
    modern: bool,
    leave: Option<u16>,
}

#[derive(Debug, Arbitrary)]
enum Event {
    Message(Text),
    WithId(Text, u32, u64, u64),
    Priming(u32, u64),
    Retry(u64),
    Comment,
}

thread_local! {
    static SAYER: Sayer = Sayer::default();
    static RUNTIME: RefCell<Runtime> = RefCell::new(
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime"),
    );
}

fuzz_target!(|script: Script| {
    framing(&script.events);
    if !script.said.is_empty() {
        let said: Vec<String> = script.said.iter().take(6).map(Text::text).collect();
        RUNTIME.with_borrow(|runtime| {
            SAYER.with(|sayer| runtime.block_on(say::check(sayer, &said, script.modern, script.leave)));
        });
    }
});

fn framing(events: &[Event]) {
    let mut stream = Vec::new();
    let mut expected = Vec::new();
    let mut retry = None;
    let mut last = String::new();
    for event in events {
        let before = stream.len();
        match event {
            Event::Message(text) => {
                write_event(&mut stream, &quoted(&text.text()));
                expected.push((text.text(), last.clone()));
            }
            Event::WithId(text, tag, number, event) => {
                let id = EventId { tag: *tag, stream: *number, event: *event };
                write_event_with_id(&mut stream, |out| id.write(out), &quoted(&text.text()));
                last = written(id);
                expected.push((text.text(), last.clone()));
            }
            Event::Priming(tag, number) => {
                let id = EventId { tag: *tag, stream: *number, event: 0 };
                write_priming(&mut stream, |out| id.write(out));
                last = written(id);
                // An empty `data` is a message all the same.
                expected.push((String::new(), last.clone()));
            }
            Event::Retry(ms) => {
                write_retry(&mut stream, *ms);
                retry = Some(*ms);
            }
            Event::Comment => stream.extend_from_slice(COMMENT),
        }
        let event = std::str::from_utf8(&stream[before..]).expect("UTF-8");
        assert!(event.ends_with("\n\n") && event.trim_end_matches('\n').lines().all(|line| !line.is_empty()));
        assert!(event.matches("\ndata:").count() + usize::from(event.starts_with("data:")) <= 1, "{event:?}");
        assert_eq!(event.matches('\n').count(), event.lines().count(), "{event:?}");
    }
    for lines in [Lines::Standard, Lines::Every] {
        let read = whatwg::read(&stream, lines);
        let got: Vec<_> = read
            .messages
            .iter()
            .map(|Message { data, id }| match serde_json::from_str(data) {
                Ok(Value::String(text)) => (text, id.clone()),
                Err(_) if data.is_empty() => (String::new(), id.clone()),
                other => panic!("{other:?}: {data:?}"),
            })
            .collect();
        assert_eq!(got, expected, "{}", stream.escape_ascii());
        assert_eq!((read.last_id, read.retry), (last.clone(), retry));
    }
}

/// By our own writer, or by another's, which escapes less.
fn quoted(text: &str) -> Vec<u8> {
    let mut own = Vec::new();
    json::write_str(&mut own, text);
    assert_eq!(serde_json::from_slice::<String>(&own).expect("a string"), text);
    assert!(!own.contains(&b'\n') && !own.contains(&b'\r'));
    if text.len() % 2 == 0 { own } else { serde_json::to_vec(text).expect("a string") }
}

fn written(id: EventId) -> String {
    let mut text = Vec::new();
    id.write(&mut text);
    assert_eq!(EventId::parse(&text), Some(id));
    String::from_utf8(text).expect("ASCII")
}
