//! The variables of a URI template and their values.

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variable {
    /// One text.
    Text(String),
    /// A list, which an exploded variable (`{/path*}`) matches.
    List(Vec<String>),
    /// Names and values, which an exploded variable (`{?filter*}`) matches.
    Map(Vec<(String, String)>),
}

impl Variable {
    /// Whether a template takes it for missing: an empty list is as good as none.
    pub(super) fn is_undefined(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::List(list) => list.is_empty(),
            Self::Map(map) => map.is_empty(),
        }
    }
}

impl From<&str> for Variable {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Variable {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for Variable {
    fn from(list: Vec<String>) -> Self {
        Self::List(list)
    }
}

impl<const N: usize> From<[&str; N]> for Variable {
    fn from(list: [&str; N]) -> Self {
        Self::List(list.map(str::to_owned).into())
    }
}

impl From<Vec<(String, String)>> for Variable {
    fn from(map: Vec<(String, String)>) -> Self {
        Self::Map(map)
    }
}

/// Variables by name, in the order in which a template has them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variables(Vec<(Box<str>, Variable)>);

impl Variables {
    /// None.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a variable, or gives one another value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Variable>) -> Self {
        self.set(name, value.into());
        self
    }

    /// The text of a variable that is one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            Variable::Text(text) => Some(text),
            Variable::List(_) | Variable::Map(_) => None,
        }
    }

    /// The items of a variable that is a list.
    #[must_use]
    pub fn list(&self, name: &str) -> Option<&[String]> {
        match self.value(name)? {
            Variable::List(list) => Some(list),
            Variable::Text(_) | Variable::Map(_) => None,
        }
    }

    /// Any variable.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Variable> {
        self.0.iter().find(|(other, _)| **other == *name).map(|(_, value)| value)
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Variable)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    pub(super) fn set(&mut self, name: &str, value: Variable) {
        match self.0.iter_mut().find(|(other, _)| **other == *name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.into(), value)),
        }
    }
}
