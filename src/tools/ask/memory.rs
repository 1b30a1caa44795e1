//! What a call remembers over its rounds.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// On the modern lane it is sealed and comes back with the next round; on the legacy lane there is one round only.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Answers that were taken, by the key of their question.
    #[serde(rename = "a", default, skip_serializing_if = "Map::is_empty")]
    pub(super) answers: Map<String, Value>,
    /// What effects came to that must not happen again, by key.
    #[serde(rename = "o", default, skip_serializing_if = "Map::is_empty")]
    pub(super) once: Map<String, Value>,
    /// The handler's own.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<Value>,
}

impl Memory {
    /// The bytes to seal.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads what was sealed, by this version of the server or by another; `None` where it is no memory.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
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
        memory.answers.insert("a".to_owned(), json!({"action": "cancel"}));
        memory.once.insert("b".to_owned(), json!(null));
        memory.state = Some(json!(1));
        assert_eq!(Memory::read(&memory.write()), Some(memory));
        for bad in ["", "[1]", "{\"a\":1}", "{"] {
            assert_eq!(Memory::read(bad.as_bytes()), None, "{bad}");
        }
    }
}
