//! Small changes to a value, most of which make it fit no more.

use serde_json::Value;

use crate::choices::Choices;
use crate::instances::anything;

/// Changes one place of `value`. `keys` are those that the schemas know.
pub fn change(value: &mut Value, keys: &[String], choices: &mut Choices<'_>) {
    let place = choices.below(places(value));
    let mut left = place;
    let place = find(value, &mut left).expect("a place that was counted");
    match place {
        Value::Object(members) if choices.below(4) > 0 => {
            let known: Vec<String> = members.keys().cloned().collect();
            let one = (!known.is_empty()).then(|| known[choices.below(known.len())].clone());
            match (choices.below(5), one) {
                (0, Some(key)) => drop(members.remove(&key)),
                (1, Some(key)) => members[&key] = Value::Null,
                (2, Some(key)) => members[&key] = anything(choices),
                (3, Some(key)) => {
                    let value = members.remove(&key).unwrap_or_default();
                    let renamed = choices
                        .of(&[key.to_uppercase(), format!("{key} "), String::new()].each_ref())
                        .clone();
                    members.insert(renamed, value);
                }
                (_, _) => {
                    let key = keys[choices.below(keys.len())].clone();
                    members.insert(key, anything(choices));
                }
            }
        }
        Value::Array(elements) if choices.below(2) == 0 => elements.push(anything(choices)),
        Value::String(text) if choices.below(2) == 0 => *text = text.to_uppercase(),
        other => *other = anything(choices),
    }
}

fn places(value: &Value) -> usize {
    1 + match value {
        Value::Object(members) => members.values().map(places).sum(),
        Value::Array(elements) => elements.iter().map(places).sum(),
        _ => 0,
    }
}

fn find<'v>(value: &'v mut Value, left: &mut usize) -> Option<&'v mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Object(members) => members.values_mut().find_map(|member| find(member, left)),
        Value::Array(elements) => elements.iter_mut().find_map(|element| find(element, left)),
        _ => None,
    }
}
