//! Asking the client which folders it works in (MCP client/roots).

use serde::Deserialize;
use serde_json::Value;

use super::error::AskError;
use super::question::Question;
use crate::tables::capabilities::Capability;
use crate::tables::versions::Revision;

/// A folder or file that the client works in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// Where it is, a `file:` URI.
    pub uri: String,
    /// Its name for people.
    pub name: Option<String>,
}

/// The question for them.
#[derive(Debug, Clone, Copy)]
pub(in crate::tools) struct ListRoots;

#[derive(Deserialize)]
struct Answer {
    roots: Vec<Root>,
}

impl Question for ListRoots {
    type Answer = Vec<Root>;
    const METHOD: &'static str = "roots/list";

    fn needs(&self, _revision: Revision) -> Vec<Capability> {
        vec![Capability::Roots]
    }

    fn params(&self, _revision: Revision) -> Result<Option<Value>, AskError> {
        Ok(None)
    }

    fn read(&self, answer: &Value, _revision: Revision) -> Result<Vec<Root>, String> {
        // Arrays would read as structs.
        if !answer.is_object() {
            return Err("it must be an object with roots".to_owned());
        }
        Answer::deserialize(answer).map(|answer| answer.roots).map_err(|fault| fault.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn roots_are_read() {
        let read = |answer: Value| ListRoots.read(&answer, Revision::V2026_07_28);
        let roots = json!({"roots": [{"uri": "file:///a"}, {"uri": "file:///b", "name": "B", "_meta": {}}]});
        let roots = read(roots).unwrap();
        assert_eq!((roots.len(), &*roots[0].uri, roots[1].name.as_deref()), (2, "file:///a", Some("B")));
        assert_eq!(read(json!({"roots": []})), Ok(Vec::new()));
        for bad in [
            json!(null),
            json!(5),
            json!([[]]),
            json!({}),
            json!({"roots": null}),
            json!({"roots": {}}),
            json!({"roots": [1]}),
            json!({"roots": [{}]}),
            json!({"roots": [{"uri": 1}]}),
            json!({"roots": [{"uri": "file:///a", "name": 1}]}),
        ] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
    }
}
