//! Requests, notifications, responses and errors as such.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use twolane::road::{classify, validate};
use twolane::view::message::{JsonScratch, PADDING};

use crate::choices::{self, Choices};
use crate::deviations::{DEVIATIONS, ENVELOPE_DEVIATIONS, definition_of};
use crate::instances::make;
use crate::mutations::change;
use crate::official::Official;

/// Messages for each revision.
const MESSAGES: u32 = 4000;

const KEYS: [&str; 8] = ["jsonrpc", "id", "method", "params", "result", "error", "code", "message"];

#[test]
fn envelopes_are_judged_as_the_official_schemas_judge() {
    let Some(revisions) = Official::all(&[DEVIATIONS, ENVELOPE_DEVIATIONS]) else { return };
    for official in &revisions {
        compare(official);
    }
}

fn compare(official: &Official) {
    let keys = KEYS.map(str::to_owned);
    let response = |new, old| if official.definitions().contains_key(new) { new } else { old };
    let names = [
        "JSONRPCRequest",
        "JSONRPCNotification",
        response("JSONRPCResultResponse", "JSONRPCResponse"),
        response("JSONRPCErrorResponse", "JSONRPCError"),
    ];
    let validators = names.map(|name| (name, official.validator(&[name])));
    let verdicts = [Cell::new(0_u32), Cell::new(0)];
    let config = ProptestConfig { cases: MESSAGES, failure_persistence: None, ..ProptestConfig::default() };
    let result =
        TestRunner::new(config).run(&(choices::numbers(80), choices::numbers(40)), |(whole, changes)| {
            let choices = &mut Choices::new(&changes);
            let shape = &official.definitions()[choices.of(&names)];
            let mut message = make(official, shape, &mut Choices::new(&whole), 0);
            for _ in 0..choices.below(4) {
                change(&mut message, &keys, choices);
            }
            let fits = definition_of(&message, official.revision).is_some_and(|name| {
                validators.iter().any(|(known, validator)| *known == name && validator.is_valid(&message))
            });
            verdicts[usize::from(fits)].update(|count| count + 1);
            prop_assert_eq!(passes(&message), fits, "{} {}", official.revision.as_str(), message);
            Ok(())
        });
    if let Err(fault) = result {
        panic!("{fault}");
    }
    assert!(
        verdicts.iter().all(|count| count.get() >= MESSAGES / 10),
        "one verdict is too rare in {verdicts:?}"
    );
}

/// What the stages `classify` and `validate` say.
fn passes(message: &Value) -> bool {
    let mut body = message.to_string().into_bytes();
    let len = body.len();
    body.resize(len + PADDING, 0);
    JsonScratch::new(128).parse(&mut body, len, |document| {
        let document = document.expect("JSON");
        match classify::step(document.envelope(), document.spellings()) {
            Ok(message) => validate::check(&message).is_ok(),
            Err(_) => false,
        }
    })
}
