//! Why a value does not fit a type.

use std::fmt::{self, Display, Write as _};

use serde::de::{Error, Expected, Unexpected};

/// Strings of the peer are repeated up to this many bytes.
const LONGEST_TEXT: usize = 100;
/// A type's own message is repeated up to this many bytes.
const LONGEST_MESSAGE: usize = 1000;

/// Why a value does not fit a type, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeError {
    /// Where, as a JSON pointer (RFC 6901): empty for the whole value, else like `/items/0/name`.
    pub path: String,
    /// What kind of fault it is, with its parts.
    pub kind: DeErrorKind,
    /// The fault in one line, without the path.
    pub message: String,
}

/// The kinds of [`DeError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeErrorKind {
    /// The wrong type of value, or a value outside what the type holds.
    Mismatch {
        /// What the type wants, like `i64` or `a string`.
        expected: String,
        /// What came, like ``string "x"`` or `null`.
        got: String,
    },
    /// A required member is missing; the path is the object's.
    Missing(String),
    /// A member that the type does not have; the path is the object's.
    Unknown(String),
    /// A member that comes twice; the path is the object's.
    Duplicated(String),
    /// A type's own refusal.
    Other,
}

impl Display for DeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for DeError {}

/// A step of a path.
#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// A fault on its way up, collecting its path from the inside out. Boxed: results stay small where nothing fails.
#[derive(Debug)]
pub(super) struct Fault(Box<Inner>);

#[derive(Debug)]
struct Inner {
    steps: Vec<Step>,
    kind: DeErrorKind,
    message: String,
}

impl Fault {
    #[cold]
    fn new(kind: DeErrorKind, message: String) -> Self {
        Self(Box::new(Inner { steps: Vec::new(), kind, message }))
    }

    #[cold]
    pub(super) fn duplicated(key: &str) -> Self {
        let key = cut(key, LONGEST_TEXT);
        let message = format!("duplicate field `{}`", key.escape_debug());
        Self::new(DeErrorKind::Duplicated(key), message)
    }

    /// The fault lies in this member.
    #[cold]
    pub(super) fn in_key(mut self, key: &str) -> Self {
        self.0.steps.push(Step::Key(cut(key, LONGEST_TEXT)));
        self
    }

    /// The fault lies in this key itself. An unknown one is named already, as a fault of the object.
    #[cold]
    pub(super) fn of_key(self, key: &str) -> Self {
        match self.0.kind {
            DeErrorKind::Unknown(_) => self,
            DeErrorKind::Mismatch { .. }
            | DeErrorKind::Missing(_)
            | DeErrorKind::Duplicated(_)
            | DeErrorKind::Other => self.in_key(key),
        }
    }

    /// The fault lies in this element.
    #[cold]
    pub(super) fn at_index(mut self, index: usize) -> Self {
        self.0.steps.push(Step::Index(index));
        self
    }

    /// The fault with its whole path.
    #[cold]
    pub(super) fn finish(self) -> DeError {
        let Inner { steps, kind, message } = *self.0;
        let mut path = String::new();
        for step in steps.iter().rev() {
            // Writing to a String cannot fail.
            let _ = match step {
                Step::Key(key) => write!(path, "/{}", key.replace('~', "~0").replace('/', "~1")),
                Step::Index(index) => write!(path, "/{index}"),
            };
        }
        DeError { path, kind, message }
    }

    #[cold]
    fn mismatch(what: &str, got: String, expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        let message = format!("{what}: {got}, expected {expected}");
        Self::new(DeErrorKind::Mismatch { expected, got }, message)
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Fault {}

impl Error for Fault {
    #[cold]
    fn custom<T: Display>(message: T) -> Self {
        Self::new(DeErrorKind::Other, cut(&message.to_string(), LONGEST_MESSAGE))
    }

    #[cold]
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::mismatch("invalid type", describe(unexpected), expected)
    }

    #[cold]
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::mismatch("invalid value", describe(unexpected), expected)
    }

    #[cold]
    fn invalid_length(len: usize, expected: &dyn Expected) -> Self {
        Self::mismatch("invalid length", len.to_string(), expected)
    }

    #[cold]
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let got = format!("`{}`", cut(variant, LONGEST_TEXT).escape_debug());
        let expected = one_of(expected, "no variant");
        let message = format!("unknown variant {got}, expected {expected}");
        Self::new(DeErrorKind::Mismatch { expected, got }, message)
    }

    #[cold]
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let field = cut(field, LONGEST_TEXT);
        let message =
            format!("unknown field `{}`, expected {}", field.escape_debug(), one_of(expected, "no field"));
        Self::new(DeErrorKind::Unknown(field), message)
    }

    #[cold]
    fn missing_field(field: &'static str) -> Self {
        Self::new(DeErrorKind::Missing(field.to_owned()), format!("missing field `{field}`"))
    }

    #[cold]
    fn duplicate_field(field: &'static str) -> Self {
        Self::duplicated(field)
    }
}

/// What came, in JSON's words.
fn describe(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Unit => "null".to_owned(),
        Unexpected::Str(text) => format!("string {:?}", cut(text, LONGEST_TEXT)),
        Unexpected::Float(number) => format!("number `{}`", serde_json::Value::from(number)),
        Unexpected::Seq => "array".to_owned(),
        Unexpected::Map => "object".to_owned(),
        Unexpected::UnitVariant => "string".to_owned(),
        other => other.to_string(),
    }
}

fn one_of(names: &[&str], none: &str) -> String {
    match names {
        [] => none.to_owned(),
        [name] => format!("`{name}`"),
        [first, second] => format!("`{first}` or `{second}`"),
        names => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("one of {}", names.join(", "))
        }
    }
}

/// At most `most` bytes of `text`, and a sign where it was cut.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}
