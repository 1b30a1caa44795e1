//! Values that fit a schema.

use serde_json::{Map, Value, json};

use crate::choices::Choices;
use crate::official::Official;

/// Deeper, optional members are left out and arrays are empty.
const DEEP: usize = 7;

/// A value that fits `schema`.
pub fn make(official: &Official, schema: &Value, choices: &mut Choices<'_>, depth: usize) -> Value {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return make(official, official.definition(reference), choices, depth + 1);
    }
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words[choices.below(words.len())].clone();
    }
    if let Some(options) = schema.get("anyOf").and_then(Value::as_array) {
        let last_resort = options.len() - 1;
        let option = if depth > DEEP { last_resort } else { choices.below(options.len()) };
        return make(official, &options[option], choices, depth + 1);
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => kinds[choices.below(kinds.len())].as_str().unwrap(),
        Some(_) | None => return anything(choices),
    };
    match kind {
        "object" => object(official, schema, choices, depth),
        "array" => {
            let length = if depth > DEEP { 0 } else { choices.below(3) };
            (0..length).map(|_| make(official, &schema["items"], choices, depth + 1)).collect()
        }
        "string" => json!(choices.of(&["", "text", "https://example.test/a", "é\n"])),
        "integer" => choices.of(&[&json!(0), &json!(-7), &json!(3.0), &json!(u64::MAX)]).clone(),
        "number" => choices.of(&[&json!(0), &json!(0.5), &json!(1)]).clone(),
        "boolean" => json!(choices.below(2) == 1),
        "null" => Value::Null,
        other => panic!("{other} is not in the schemas"),
    }
}

fn object(official: &Official, schema: &Value, choices: &mut Choices<'_>, depth: usize) -> Value {
    let mut object = Map::new();
    let required = schema.get("required").and_then(Value::as_array);
    for (key, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let needed = required.is_some_and(|keys| keys.iter().any(|required| required == key));
        if needed || (depth <= DEEP && choices.below(2) == 1) {
            object.insert(key.clone(), make(official, member, choices, depth + 1));
        }
    }
    if depth <= DEEP && choices.rarely(3) {
        let more = schema.get("additionalProperties").filter(|more| more.is_object());
        let value = match more {
            Some(more) => make(official, more, choices, depth + 1),
            None => anything(choices),
        };
        object.insert(choices.of(&["x", "a key", "example.test/y"]).to_owned(), value);
    }
    Value::Object(object)
}

/// A value of any kind.
pub fn anything(choices: &mut Choices<'_>) -> Value {
    match choices.below(15) {
        0 => Value::Null,
        1 => json!(""),
        2 => json!("text"),
        3 => json!(0),
        4 => json!(-1),
        5 => json!(1.0),
        6 => json!(1.5),
        7 => json!(1e300),
        8 => json!(true),
        9 => json!({}),
        10 => json!([]),
        11 => json!(["text"]),
        12 => json!({"type": "text", "name": "n"}),
        13 => json!(u64::MAX),
        _ => json!("t".repeat(choices.of(&[8192, 8193]))),
    }
}
