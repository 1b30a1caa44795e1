//! JSON bodies. Oracles:
//! - a body is taken exactly where serde_json takes it and none of the listed stricter rules stands against it, and a refusal by a
//!   stricter rule names that rule;
//! - the tape has the members, in order, repeated ones too, and the numbers, by value, that the text has; so have what is written back,
//!   what is deserialised, and the owned copy;
//! - the envelope's slots are the first members with their keys;
//! - an id comes back as it was sent, or is refused for what it is.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use twolane::view::de::{DeErrorKind, from_value};
use twolane::view::id::{Id, IdFault, LONGEST_ID};
use twolane::view::message::{Document, Envelope, JsonFault, JsonScratch, PADDING};
use twolane::view::node::{Kind, Number, Value};
use twolane_fuzz::control::Control;
use twolane_fuzz::json::{self, Json};

/// Low, so that small inputs reach it, and lower than serde_json's own.
const DEPTH: usize = 12;

const META_PREFIX: &str = "io.modelcontextprotocol/";

thread_local! {
    /// One for all runs: nothing of one body may show in the next.
    static SCRATCH: RefCell<JsonScratch> = RefCell::new(JsonScratch::new(DEPTH));
}

fuzz_target!(|input: &[u8]| {
    let Some((body, mut control)) = Control::split(input) else { return };
    let mut buf = body.to_vec();
    // What follows may look like more of the same, and must not be read or changed.
    let padding: Vec<u8> = (0..PADDING).map(|_| b"1\",}]\\ e"[control.below(8)]).collect();
    buf.extend_from_slice(&padding);
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.parse(&mut buf, body.len(), |document| judge(body, document));
        if control.below(16) == 0 {
            scratch.shrink(control.below(64));
        }
    });
    assert_eq!(buf[body.len()..], padding, "the padding is left as it was");
});

fn judge(body: &[u8], ours: Result<Document<'_, '_>, JsonFault>) {
    let theirs = json::read(body);
    let too_deep = json::depth(body) > DEPTH;
    if let Err(fault) = &ours {
        check_text(fault, body.len());
    }
    match (ours, theirs) {
        (Ok(document), Ok(json)) => {
            assert!(!too_deep, "nests too deep");
            assert_eq!(json::repeated(&json), Vec::<String>::new(), "a protocol key comes twice");
            compare(document, &json);
        }
        (Ok(_), Err(error)) => panic!("taken, but serde_json says: {error}"),
        (Err(fault), Ok(json)) => {
            let mut out_of_range = false;
            json.each_number(&mut |spelling| out_of_range |= json::is_out_of_range(spelling));
            match fault {
                JsonFault::TooMany { .. } => unreachable!("there is no ceiling"),
                JsonFault::TooDeep { ceiling, .. } => assert!(too_deep && ceiling == DEPTH),
                JsonFault::NumberOutOfRange { .. } => assert!(out_of_range),
                JsonFault::DuplicatedKey(key) => {
                    assert!(!too_deep && !out_of_range && json::repeated(&json).contains(&key.into_string()));
                }
                JsonFault::Empty
                | JsonFault::ByteOrderMark
                | JsonFault::NotUtf8 { .. }
                | JsonFault::Syntax { .. } => {
                    panic!("{fault}, but serde_json reads {json:?}");
                }
            }
        }
        (Err(fault), Err(error)) => check_words(&fault, body, &error),
    }
}

/// A diagnosis is one line, and the place it names is there.
fn check_text(fault: &JsonFault, len: usize) {
    let mut text = String::new();
    fault.write_text(&mut text).expect("a String takes everything");
    assert!(!text.is_empty() && !text.contains(['\n', '\r']));
    match fault {
        JsonFault::NotUtf8 { at }
        | JsonFault::TooDeep { at, .. }
        | JsonFault::NumberOutOfRange { at }
        | JsonFault::Syntax { at, .. } => assert!(*at <= len, "{fault}"),
        JsonFault::Empty
        | JsonFault::ByteOrderMark
        | JsonFault::TooMany { .. }
        | JsonFault::DuplicatedKey(_) => {}
    }
}

/// Some diagnoses can be held against the text where nobody can parse it.
fn check_words(fault: &JsonFault, body: &[u8], error: &serde_json::Error) {
    match fault {
        JsonFault::Empty => assert!(body.trim_ascii().is_empty()),
        JsonFault::ByteOrderMark => assert!(body.starts_with("\u{feff}".as_bytes())),
        JsonFault::NotUtf8 { at } => {
            assert_eq!(std::str::from_utf8(body).map_err(|error| error.valid_up_to()), Err(*at))
        }
        JsonFault::TooDeep { .. } => assert!(json::depth(body) > DEPTH),
        JsonFault::TooMany { .. } => unreachable!("there is no ceiling"),
        JsonFault::NumberOutOfRange { at } => {
            let end = body[*at..].iter().take_while(|byte| b"0123456789+-.eE".contains(byte)).count();
            let spelling = std::str::from_utf8(&body[*at..*at + end]).expect("ASCII");
            assert!(json::is_out_of_range(spelling), "{spelling}");
        }
        // Where several things are wrong, each reader names another one.
        JsonFault::Syntax { .. } => {}
        JsonFault::DuplicatedKey(_) => panic!("{fault}, but nobody can read the body: {error}"),
    }
}

fn compare(document: Document<'_, '_>, json: &Json) {
    compare_value(document.root(), json);
    let mut written = Vec::new();
    document.root().write_json(&mut written);
    let again = json::read(&written).expect("what is written is JSON");
    assert!(json::equal(&again, json), "written: {}", written.escape_ascii());
    assert!(!written.iter().any(|byte| *byte < b' '), "no whitespace outside strings, no controls inside");
    match from_value::<Json>(document.root()) {
        Ok(value) => assert!(!has_repeats(json) && json::equal(&value, json), "deserialised: {value:?}"),
        Err(fault) => {
            assert!(matches!(fault.kind, DeErrorKind::Duplicated(_)), "{fault:?}");
            assert!(has_repeats(json), "{fault:?}");
        }
    }
    let owned = serde_json::to_vec(&document.root().to_serde()).expect("a value is JSON");
    assert!(
        json::equal(&json::read(&owned).expect("JSON"), &first_members(json)),
        "owned: {}",
        owned.escape_ascii()
    );
    compare_envelope(document, json);
}

/// Whether any object has two members with one key.
fn has_repeats(json: &Json) -> bool {
    match json {
        Json::Array(values) => values.iter().any(has_repeats),
        Json::Object(members) => {
            !json::twice(json, |_| true).is_empty() || members.iter().any(|(_, value)| has_repeats(value))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => false,
    }
}

/// Only the first of members with the same key.
fn first_members(json: &Json) -> Json {
    match json {
        Json::Array(values) => Json::Array(values.iter().map(first_members).collect()),
        Json::Object(members) => {
            let mut kept: Vec<(String, Json)> = Vec::new();
            for (key, value) in members {
                if !kept.iter().any(|(other, _)| other == key) {
                    kept.push((key.clone(), first_members(value)));
                }
            }
            Json::Object(kept)
        }
        scalar => scalar.clone(),
    }
}

fn compare_value(value: Value<'_, '_>, json: &Json) {
    match (value.kind(), json) {
        (Kind::Null, Json::Null) => assert!(value.is_null()),
        (Kind::Bool, Json::Bool(expected)) => assert_eq!(value.as_bool(), Some(*expected)),
        (Kind::String, Json::Text(expected)) => assert_eq!(value.as_str(), Some(expected.as_str())),
        (Kind::Integer | Kind::Float, Json::Number(spelling)) => compare_number(value, spelling),
        (Kind::Array, Json::Array(expected)) => {
            let array = value.as_array().expect("an array");
            assert_eq!((array.len(), array.iter().count()), (expected.len(), expected.len()));
            array.iter().zip(expected).for_each(|(value, json)| compare_value(value, json));
        }
        (Kind::Object, Json::Object(expected)) => {
            let object = value.as_object().expect("an object");
            assert_eq!((object.len(), object.iter().count()), (expected.len(), expected.len()));
            for ((key, member), (name, json)) in object.iter().zip(expected) {
                assert_eq!(key, name);
                compare_value(member, json);
                assert!(value.get(name).is_some());
            }
        }
        (kind, json) => panic!("{kind:?} for {json:?}"),
    }
}

fn compare_number(value: Value<'_, '_>, spelling: &str) {
    assert!(!json::is_out_of_range(spelling), "{spelling}");
    assert_eq!(value.kind() == Kind::Integer, json::is_integer(spelling), "{spelling}");
    match value.as_number().expect("a number") {
        Number::U64(value) => assert_eq!(spelling.parse(), Ok(value)),
        Number::I64(value) => {
            assert_eq!(spelling.parse(), Ok(value));
            assert!(spelling.starts_with('-'), "{spelling}");
        }
        Number::F64(value) => {
            let nearest: f64 = spelling.parse().expect("a float");
            assert_eq!(value.to_bits(), nearest.to_bits(), "{spelling} became {value:?}");
        }
    }
}

fn compare_envelope(document: Document<'_, '_>, json: &Json) {
    let Envelope { object, jsonrpc, id, method, params, result, error, args } = *document.envelope();
    assert_eq!(object, json.is_object());
    let check = |slot: Option<Value<'_, '_>>, expected: Option<&Json>| {
        assert_eq!(slot.is_some(), expected.is_some());
        if let (Some(value), Some(json)) = (slot, expected) {
            compare_value(value, json);
        }
    };
    for (slot, key) in [jsonrpc, id, method, params, result, error]
        .into_iter()
        .zip(["jsonrpc", "id", "method", "params", "result", "error"])
    {
        check(slot, json.get(key));
    }
    let params = json.get("params");
    let of = |key: &str| params.and_then(|params| params.get(key));
    for (slot, key) in
        [args.meta, args.name, args.uri, args.arguments, args.task_id, args.protocol_version, args.cursor]
            .into_iter()
            .zip(["_meta", "name", "uri", "arguments", "taskId", "protocolVersion", "cursor"])
    {
        check(slot, of(key));
    }
    let fields = args.fields;
    for (slot, key) in
        [fields.protocol_version, fields.client_info, fields.client_capabilities, fields.log_level]
            .into_iter()
            .zip(["protocolVersion", "clientInfo", "clientCapabilities", "logLevel"])
    {
        check(slot, of("_meta").and_then(|meta| meta.get(&format!("{META_PREFIX}{key}"))));
    }
    check(fields.progress_token, of("_meta").and_then(|meta| meta.get("progressToken")));
    if let (Some(id), Some(json)) = (id, json.get("id")) {
        compare_id(Id::read(id, document.spellings()), json);
    }
}

fn compare_id(read: Result<Id<'_>, IdFault>, json: &Json) {
    let fault = match read {
        Ok(id) => {
            let mut echo = Vec::new();
            id.write(&mut echo);
            match json {
                Json::Text(text) => {
                    assert!(text.len() <= LONGEST_ID);
                    assert_eq!(json::read(&echo).expect("JSON").as_str(), Some(text.as_str()));
                }
                Json::Number(spelling) => {
                    assert!(json::is_integral(spelling), "{spelling} is no id");
                    assert_eq!(echo, spelling.as_bytes(), "digit for digit");
                }
                other => panic!("{other:?} is no id"),
            }
            return;
        }
        Err(fault) => fault,
    };
    match (fault, json) {
        (IdFault::Null, Json::Null) | (IdFault::Bool, Json::Bool(_)) => {}
        (IdFault::Container, Json::Array(_) | Json::Object(_)) => {}
        (IdFault::TooLong, Json::Text(text) | Json::Number(text)) => assert!(text.len() > LONGEST_ID),
        (IdFault::Fraction, Json::Number(spelling)) => {
            assert!(!json::is_integral(spelling), "{spelling} is an integer")
        }
        // Allowed for keys that are spelled with escapes, and for ids far inside of large bodies.
        (IdFault::Unspelled, Json::Number(spelling)) => {
            assert!(json::is_integral(spelling) || json::is_integral_value(spelling), "{spelling}")
        }
        (fault, json) => panic!("{fault:?} for {json:?}"),
    }
}
