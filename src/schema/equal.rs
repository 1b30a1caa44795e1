//! Equality as JSON Schema has it, over the tape: numbers by value, objects without order.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::{BuildHasher, Hash, Hasher};

use serde_json::Value as Document;

use crate::view::node::{Array, Kind, Number, Value};

/// Objects up to this many members are compared by looking keys up; larger ones are copied first, since a lookup is linear.
const SMALL: usize = 8;

/// Whether a value on the tape equals a document.
pub(super) fn to_document(value: Value<'_, '_>, expected: &Document) -> bool {
    match expected {
        Document::Null => value.is_null(),
        Document::Bool(expected) => value.as_bool() == Some(*expected),
        Document::String(expected) => value.as_str() == Some(expected),
        Document::Number(_) => {
            value.as_number().is_some() && jsonschema::json::cmp::equal(&value.to_serde(), expected)
        }
        Document::Array(expected) => value.as_array().is_some_and(|items| {
            items.len() == expected.len()
                && items.iter().zip(expected).all(|(item, expected)| to_document(item, expected))
        }),
        Document::Object(expected) => value.as_object().is_some_and(|members| {
            members.len() == expected.len()
                && members.iter().all(|(key, value)| {
                    expected.get(key).is_some_and(|expected| to_document(value, expected))
                })
        }),
    }
}

/// Whether no two elements are equal.
pub(super) fn all_different(items: Array<'_, '_>) -> bool {
    if items.len() < 2 {
        return true;
    }
    let state = RandomState::new();
    let mut seen = HashMap::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        match seen.entry(hash(item, &state)) {
            Entry::Vacant(place) => {
                place.insert(item);
            }
            Entry::Occupied(other) if equal(*other.get(), item) => return false,
            // Two values with one hash: look at all before this one.
            Entry::Occupied(_) if items.iter().take(at).any(|other| equal(other, item)) => return false,
            Entry::Occupied(_) => {}
        }
    }
    true
}

fn equal(one: Value<'_, '_>, other: Value<'_, '_>) -> bool {
    if let (Some(one), Some(other)) = (one.as_number(), other.as_number()) {
        return exact(one) == exact(other);
    }
    if let (Some(one), Some(other)) = (one.as_array(), other.as_array()) {
        return one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other));
    }
    if let (Some(members), Some(others)) = (one.as_object(), other.as_object()) {
        if members.len() > SMALL {
            return jsonschema::json::cmp::equal(&one.to_serde(), &other.to_serde());
        }
        return members.len() == others.len()
            && members.iter().all(|(key, value)| others.get(key).is_some_and(|other| equal(value, other)));
    }
    one.kind() == other.kind() && one.as_str() == other.as_str() && one.as_bool() == other.as_bool()
}

/// A number so that equal ones are equal: an integer where it is one.
#[derive(PartialEq, Hash)]
enum Exact {
    Integer(i128),
    Other(u64),
}

fn exact(number: Number) -> Exact {
    // Integral floats beyond this are no integers that the tape holds.
    const INTEGERS: f64 = 18_446_744_073_709_551_616.0;
    match number {
        Number::I64(value) => Exact::Integer(value.into()),
        Number::U64(value) => Exact::Integer(value.into()),
        Number::F64(value) if value.fract() == 0.0 && value.abs() <= INTEGERS => {
            Exact::Integer(value as i128)
        }
        Number::F64(value) => Exact::Other(value.to_bits()),
    }
}

/// A hash that nobody can foresee, equal for equal values.
fn hash(value: Value<'_, '_>, state: &RandomState) -> u64 {
    let mut hasher = state.build_hasher();
    match value.kind() {
        Kind::Integer | Kind::Float => value.as_number().map(exact).hash(&mut hasher),
        Kind::Null | Kind::Bool => value.as_bool().hash(&mut hasher),
        Kind::String => value.as_str().hash(&mut hasher),
        Kind::Array => {
            value.as_array().into_iter().flatten().for_each(|item| hasher.write_u64(hash(item, state)));
            hasher.write_u8(1);
        }
        Kind::Object => {
            // A sum, so that order does not count; keyed, so that it cannot be steered.
            let sum =
                value.as_object().into_iter().flatten().fold(0_u64, |sum, (key, value)| {
                    sum.wrapping_add(state.hash_one((key, hash(value, state))))
                });
            hasher.write_u64(sum);
            hasher.write_u8(2);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::with_value;
    use proptest::prelude::*;

    fn unique(text: &str) -> bool {
        with_value(text, |value| all_different(value.as_array().unwrap()))
    }

    #[test]
    fn elements_are_compared_by_value() {
        for text in [
            "[]",
            "[1]",
            r#"[1,"1",true,null,[1],{"a":1},"true"]"#,
            "[0,false,null,\"\",[],{}]",
            "[9007199254740993,9007199254740992.0]",
            "[18446744073709551615,18446744073709551616.0]",
            "[[1,2],[2,1],[[1],2],[1,[2]]]",
            r#"[{"a":1,"b":2},{"a":2,"b":1},{"a":1},{"a":1,"c":2}]"#,
        ] {
            assert!(unique(text), "{text}");
        }
        for text in [
            "[1,1]",
            "[1,1.0]",
            "[0,-0.0]",
            "[-0,0]",
            "[1e2,100]",
            "[null,1,null]",
            r#"["a","\u0061"]"#,
            r#"[{"a":1,"b":[2]},{"b":[2.0],"a":1}]"#,
            r#"[{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1},{"i":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"a":1.0}]"#,
        ] {
            assert!(!unique(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_documents(items in prop::collection::vec(crate::schema::tests::document(), 0..8)) {
            let whole = Document::Array(items.clone());
            prop_assert_eq!(unique(&whole.to_string()), jsonschema::json::unique::is_unique(&items));
            for item in &items {
                let same = with_value(&whole.to_string(), |value| {
                    value.as_array().unwrap().iter().map(|value| to_document(value, item)).collect::<Vec<_>>()
                });
                let expected: Vec<_> = items.iter().map(|other| jsonschema::json::cmp::equal(other, item)).collect();
                prop_assert_eq!(same, expected);
            }
        }
    }
}
