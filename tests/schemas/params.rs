//! Params of requests and notifications.

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use twolane::methods::params;
use twolane::tables::versions::Revision;
use twolane::view::message::{JsonScratch, PADDING};

use crate::choices::{self, Choices};
use crate::deviations::DEVIATIONS;
use crate::instances::make;
use crate::mutations::change;
use crate::official::Official;

/// Messages for each method of each revision, before they are changed, for each member there is in them.
const MESSAGES: u32 = 4;

/// Changed messages for each of these.
const VARIANTS: usize = 40;

/// Both kinds of message: what a definition's name ends with, the definition that all of the kind share, and our check.
const KINDS: [(&str, &str, Check); 2] = [
    ("Request", "JSONRPCRequest", |method, official, params| {
        params::check_request(method, official.revision, params)
            .expect("a known method")
            .map_err(|fault| fault.to_string())
    }),
    ("Notification", "JSONRPCNotification", |method, official, params| {
        match params::notification_fits(method, official.revision, params) {
            true => Ok(()),
            false => Err("it does not fit".to_owned()),
        }
    }),
];

type Check = fn(&str, &Official, Option<twolane::view::node::Value<'_, '_>>) -> Result<(), String>;

/// Tasks were in the core once, for one revision and as an experiment. The server has them as the extension that came after.
fn is_left_out(method: &str, revision: Revision) -> bool {
    revision == Revision::V2025_11_25
        && (method.starts_with("tasks/") || method == "notifications/tasks/status")
}

#[test]
fn params_are_judged_as_the_official_schemas_judge() {
    let Some(revisions) = Official::all(&[DEVIATIONS]) else { return };
    let mut pairs = 0;
    for official in &revisions {
        for (ending, shared, check) in KINDS {
            for (method, definition) in official.of_clients(ending) {
                if !is_left_out(method, official.revision) {
                    // Also made as other revisions have them: what only they know means nothing to this one.
                    let others =
                        || revisions.iter().filter(|other| other.definitions().contains_key(definition));
                    let by: Vec<(&Official, &Value)> = others()
                        .map(|other| (other, &other.definitions()[definition]["properties"]["params"]))
                        .collect();
                    let keys = others().flat_map(|other| other.keys(definition)).collect();
                    let made = Made { by: &by, whole: &|params| params };
                    compare(official, method, &[shared, definition], check, &made, &keys);
                    pairs += 1;
                }
            }
        }
    }
    assert!(pairs >= 60, "only {pairs} methods were found in the schemas");
}

/// Puts a part of an answer into the answer.
type Around = fn(Value) -> Value;

/// What lies so deep that messages as a whole rarely reach it: answers to the server's questions, each kind of content in them.
#[test]
fn answers_are_judged_as_the_official_schemas_judge() {
    let Some(revisions) = Official::all(&[DEVIATIONS]) else { return };
    let (_, shared, check) = KINDS[0];
    let official = revisions.last().unwrap();
    let parts: [(&str, Around); 4] = [
        ("CreateMessageResult", |answer| answer),
        ("ElicitResult", |answer| answer),
        ("ListRootsResult", |answer| answer),
        ("ContentBlock", |block| {
            let result = json!({"type": "tool_result", "toolUseId": "t", "content": [block]});
            json!({"role": "user", "model": "m", "content": [result]})
        }),
    ];
    for (part, answer) in parts {
        let field = |name: &str| format!("io.modelcontextprotocol/{name}");
        let meta = json!({field("protocolVersion"): "", field("clientCapabilities"): {}});
        let whole =
            |value: Value| json!({"_meta": meta, "name": "t", "inputResponses": {"a": answer(value)}});
        let made = Made { by: &[(official, &official.definitions()[part])], whole: &whole };
        compare(official, "tools/call", &[shared, "CallToolRequest"], check, &made, &official.keys(part));
    }
}

/// How messages are made.
struct Made<'a> {
    /// The schemas of what is made, and then changed, each with its revision.
    by: &'a [(&'a Official, &'a Value)],
    /// The params around it.
    whole: &'a dyn Fn(Value) -> Value,
}

fn compare(
    official: &Official,
    method: &str,
    definitions: &[&str],
    check: Check,
    made: &Made<'_>,
    keys: &BTreeSet<String>,
) {
    let validator = official.validator(definitions);
    let keys: Vec<String> = keys.iter().cloned().collect();
    let verdicts = [Cell::new(0_u32), Cell::new(0)];
    let judge = |params: &Value| {
        if !params.is_object() && !params.is_null() {
            // The envelope's to refuse.
            return Ok(());
        }
        let given = if params.is_null() { json!({}) } else { params.clone() };
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": given});
        let fits = validator.is_valid(&message);
        let ours = with_tape(params, |params| check(method, official, Some(params)));
        verdicts[usize::from(fits)].update(|count| count + 1);
        prop_assert_eq!(
            ours.is_ok(),
            fits,
            "{} {} {}: ours {:?}, theirs {:?}",
            official.revision.as_str(),
            method,
            params,
            ours,
            validator.iter_errors(&message).map(|fault| fault.to_string()).collect::<Vec<_>>()
        );
        Ok(())
    };
    let cases = MESSAGES * u32::try_from(keys.len()).unwrap();
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let changes = prop::collection::vec(choices::numbers(6), VARIANTS);
    let result = TestRunner::new(config).run(&(choices::numbers(160), changes), |(whole, changes)| {
        let choices = &mut Choices::new(&whole);
        let (other, shape) = choices.of(made.by);
        let sound = make(other, shape, choices, 0);
        judge(&(made.whole)(sound.clone()))?;
        for numbers in &changes {
            let choices = &mut Choices::new(numbers);
            let mut changed = sound.clone();
            change(&mut changed, &keys, choices);
            if choices.rarely(4) {
                change(&mut changed, &keys, choices);
            }
            judge(&(made.whole)(changed))?;
        }
        Ok(())
    });
    if let Err(fault) = result {
        panic!("{fault}");
    }
    let all = verdicts[0].get() + verdicts[1].get();
    assert!(
        verdicts.iter().all(|count| count.get() >= all / 50),
        "{method}: one verdict is too rare in {verdicts:?}"
    );
}

/// Lends `value` as the road reads it.
fn with_tape<R>(value: &Value, then: impl FnOnce(twolane::view::node::Value<'_, '_>) -> R) -> R {
    let mut body = value.to_string().into_bytes();
    let len = body.len();
    body.resize(len + PADDING, 0);
    JsonScratch::new(128).parse(&mut body, len, |document| then(document.expect("JSON").root()))
}
