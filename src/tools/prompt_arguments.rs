//! The arguments of a prompt: texts by name.

use std::collections::HashSet;

use crate::view::node::Value;

/// The arguments that a prompt was given, all of them texts (`GetPromptRequest` in the schema).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptArguments(Vec<(String, String)>);

impl PromptArguments {
    /// Reads the member `arguments`, which has been checked: null counts as left out, of all of them or of one. Of one that comes twice the
    /// first counts, for every kind of handler: it is what a `requestState` is bound to.
    #[must_use]
    pub fn read(member: Option<Value<'_, '_>>) -> Self {
        let mut arguments = Self::default();
        let mut seen = HashSet::new();
        for (name, value) in member.and_then(|value| value.as_object()).into_iter().flatten() {
            if seen.insert(name)
                && let Some(text) = value.as_str()
            {
                arguments.0.push((name.to_owned(), text.to_owned()));
            }
        }
        arguments
    }

    /// Adds an argument, or gives one another value.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.retain(|(other, _)| other != name);
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The value of an argument.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// All of them, in the order in which they came.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
