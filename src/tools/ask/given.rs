//! Clients' answers as JSON text, which is what is kept of them: as a tree, one takes many times its size, and no answer is worth that
//! before somebody asks for it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Tree};

use crate::view::node::Value;

/// What an answer takes in memory beside its key and its text.
const OVERHEAD: usize = 64;

/// The answers that a request of a later round brings, together at most so many bytes; what is kept beside their texts is held to as many.
#[derive(Debug, Default)]
pub struct Given {
    answers: Vec<(Box<str>, Box<[u8]>)>,
    texts_room: usize,
    keys_room: usize,
    cut: bool,
}

/// What a request has brought for a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Brought {
    /// This.
    Answer(Box<[u8]>),
    /// Nothing.
    Nothing,
    /// Nothing that there was room for.
    TooMuch,
}

impl Given {
    /// None yet, and room for so many bytes.
    #[must_use]
    pub const fn new(most: usize) -> Self {
        Self { answers: Vec::new(), texts_room: most, keys_room: most, cut: false }
    }

    /// Copies an answer out of the request. Where a key comes more than once the first counts.
    pub fn put(&mut self, key: &str, answer: Value<'_, '_>) {
        let mut json = Vec::new();
        answer.write_json(&mut json);
        self.keep(key, json);
    }

    pub(in crate::tools) fn keep(&mut self, key: &str, json: Vec<u8>) {
        let texts = self.texts_room.checked_sub(json.len());
        let keys = self.keys_room.checked_sub(key.len() + OVERHEAD);
        let (Some(texts_room), Some(keys_room)) = (texts, keys) else {
            self.cut = true;
            return;
        };
        (self.texts_room, self.keys_room) = (texts_room, keys_room);
        self.answers.push((key.into(), json.into()));
    }

    /// Takes the answer to a question.
    pub(super) fn take(&mut self, key: &str) -> Brought {
        match self.answers.iter().position(|(other, _)| **other == *key) {
            Some(at) => Brought::Answer(self.answers.remove(at).1),
            None if self.cut => Brought::TooMuch,
            None => Brought::Nothing,
        }
    }
}

/// Reads an answer. `None` where it nests too deeply.
pub(super) fn read_json(json: &[u8]) -> Option<Tree> {
    serde_json::from_slice(json).ok().map(|FirstWins(tree)| tree)
}

/// A tree in which the first of a repeated key counts, as everywhere: that is the one whose shape has been checked.
pub(super) struct FirstWins(pub(super) Tree);

impl<'de> Deserialize<'de> for FirstWins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor).map(Self)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Tree, A::Error> {
        let mut array = Vec::new();
        while let Some(FirstWins(element)) = elements.next_element()? {
            array.push(element);
        }
        Ok(Tree::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Tree, A::Error> {
        let mut object = Map::new();
        while let Some((key, FirstWins(value))) = members.next_entry::<String, _>()? {
            object.entry(key).or_insert(value);
        }
        Ok(Tree::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::message::{JsonScratch, PADDING};
    use serde_json::json;

    /// Puts all members of an object in, and takes some out.
    fn taken(most: usize, object: &Tree, keys: &[&str]) -> Vec<Brought> {
        let mut text = object.to_string().into_bytes();
        let len = text.len();
        text.resize(len + PADDING, 0);
        JsonScratch::new(64).parse(&mut text, len, |document| {
            let mut given = Given::new(most);
            for (key, answer) in document.expect("it is JSON").root().as_object().expect("an object") {
                given.put(key, answer);
            }
            keys.iter().map(|key| given.take(key)).collect()
        })
    }

    fn answer(json: &str) -> Brought {
        Brought::Answer(json.as_bytes().into())
    }

    #[test]
    fn an_answer_is_taken_once() {
        let brought = taken(1000, &json!({"a": {"x": [1, "é"]}, "b": {}}), &["b", "a", "a", "c"]);
        assert_eq!(brought, [answer("{}"), answer(r#"{"x":[1,"é"]}"#), Brought::Nothing, Brought::Nothing]);
    }

    #[test]
    fn the_room_holds_at_below_and_above() {
        let long = json!({"x": "y".repeat(200)});
        let size = long.to_string().len();
        let brought =
            |fits: bool, tree: &Tree| if fits { answer(&tree.to_string()) } else { Brought::TooMuch };
        for (most, fits) in [(size - 1, false), (size, true), (size + 1, true)] {
            assert_eq!(taken(most, &json!({"a": long}), &["a"]), [brought(fits, &long)], "{most}");
            let both = taken(most + 2, &json!({"a": {}, "b": long}), &["a", "b"]);
            assert_eq!(both, [answer("{}"), brought(fits, &long)], "{most}");
            // One that is too long takes no room from the others.
            let both = taken(most, &json!({"b": long, "a": {}}), &["b", "a"]);
            assert_eq!(both, [brought(fits, &long), if fits { Brought::TooMuch } else { answer("{}") }]);
        }
        // Keys and what they cost are held to as much again.
        let many: Map<String, Tree> = (0..4).map(|at| (at.to_string(), json!({}))).collect();
        let size = 4 * (1 + OVERHEAD);
        for (most, fits) in [(size - 1, false), (size, true)] {
            assert_eq!(taken(most, &many.clone().into(), &["3"]), [brought(fits, &json!({}))], "{most}");
        }
    }

    #[test]
    fn trees_are_read_as_they_are_checked() {
        for (text, tree) in [
            (r#"{"a":[null,true,-1,18446744073709551615,1.5,"é\n"],"b":{}}"#, None),
            (r#"{"a":1,"a":2,"b":{"c":{},"c":5}}"#, Some(json!({"a": 1, "b": {"c": {}}}))),
        ] {
            let expected = tree.unwrap_or_else(|| serde_json::from_str(text).unwrap());
            assert_eq!(read_json(text.as_bytes()), Some(expected));
        }
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        assert_eq!(read_json(deep.as_bytes()), None);
    }
}
