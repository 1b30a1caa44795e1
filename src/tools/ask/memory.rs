//! What a call remembers over its rounds.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::given::FirstWins;
use crate::tools::members::Members;

/// On the modern lane it is sealed and comes back with the next round; on the legacy lane there is one round only.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Memory {
    /// Answers that were taken, by the key of their question: clients' words, so as JSON.
    pub(super) answers: BTreeMap<String, Box<[u8]>>,
    /// What effects came to that must not happen again, by key.
    pub(super) once: Map<String, Value>,
    /// The handler's own.
    pub(super) state: Option<Value>,
}

/// What is sealed.
#[derive(Deserialize)]
struct Sealed {
    /// The clients' own text, so read as it was when it was taken.
    #[serde(default)]
    a: BTreeMap<String, FirstWins>,
    #[serde(default)]
    o: Map<String, Value>,
    #[serde(default)]
    s: Option<Value>,
}

impl Memory {
    /// The bytes to seal.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut out = b"{".to_vec();
        let mut members = Members::new(&mut out);
        if !self.answers.is_empty() {
            let answers = members.key("a");
            answers.push(b'{');
            let mut each = Members::new(answers);
            for (key, json) in &self.answers {
                each.foreign_key(key).extend_from_slice(json);
            }
            answers.push(b'}');
        }
        if !self.once.is_empty() {
            members.value("o", &self.once);
        }
        if let Some(state) = &self.state {
            members.value("s", state);
        }
        out.push(b'}');
        out
    }

    /// Reads what was sealed, by this version of the server or by another; `None` where it is no memory.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let Sealed { a, o, s } = serde_json::from_slice(bytes).ok()?;
        let text =
            |(key, FirstWins(answer)): (String, FirstWins)| (key, answer.to_string().into_bytes().into());
        let answers = a.into_iter().map(text).collect();
        Some(Self { answers, once: o, state: s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn memory_comes_back() {
        let mut memory = Memory::default();
        assert_eq!(memory.write(), b"{}");
        assert_eq!(Memory::read(b"{}"), Some(memory.clone()));
        memory.answers.insert("a".to_owned(), br#"{"action":"cancel"}"#.as_slice().into());
        memory.answers.insert("\"".to_owned(), br#"{}"#.as_slice().into());
        memory.once.insert("b".to_owned(), json!(null));
        memory.state = Some(json!(1));
        assert_eq!(
            String::from_utf8(memory.write()).unwrap(),
            r#"{"a":{"\"":{},"a":{"action":"cancel"}},"o":{"b":null},"s":1}"#
        );
        assert_eq!(Memory::read(&memory.write()), Some(memory));
        for bad in ["", "[1]", "{\"a\":1}", "{"] {
            assert_eq!(Memory::read(bad.as_bytes()), None, "{bad}");
        }
    }
}
