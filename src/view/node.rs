//! A JSON value inside a parsed body: a position on the tape, cheap to copy.

mod container;
mod write;
pub use container::{Array, Elements, Members, Object};
pub(super) use write::write_str;
#[cfg(test)]
pub(crate) mod tests;

use simd_json::{Node, StaticNode};

/// A value on the tape. `'b` is the body, whose bytes the strings borrow; `'t` is the tape.
///
/// Holds the tape from the value's own node to the tape's end: where it ends follows from the counts in the nodes, and where it starts from
/// the length.
#[derive(Debug, Clone, Copy)]
pub struct Value<'t, 'b>(&'t [Node<'b>]);

/// The kinds of value that the protocol tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number without fraction and exponent.
    Integer,
    /// A number with a fraction or an exponent, `1.0` too.
    Float,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The kind's name in diagnoses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Integer => "integer",
            Self::Float => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// A number by value; the spelling is gone, but for this: `-0` is `I64(0)`, `0` is `U64(0)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A negative integer, or `-0`.
    I64(i64),
    /// An integer that is not negative.
    U64(u64),
    /// A number written with a fraction or an exponent. Finite.
    F64(f64),
}

impl Number {
    /// The value, when it was written as an integer and is in the range.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::I64(value) => Some(value),
            Self::U64(value) => i64::try_from(value).ok(),
            Self::F64(_) => None,
        }
    }

    /// The value, when it was written as an integer and is not negative.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        match self {
            Self::I64(value) => u64::try_from(value).ok(),
            Self::U64(value) => Some(value),
            Self::F64(_) => None,
        }
    }

    /// The value as a float, rounded where an integer is too large to be one exactly.
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        match self {
            Self::I64(value) => value as f64,
            Self::U64(value) => value as f64,
            Self::F64(value) => value,
        }
    }
}

impl Value<'static, 'static> {
    /// `null`, of no body.
    pub const NULL: Self = Self(&[Node::Static(StaticNode::Null)]);
    /// `{}`, of no body: what absent arguments stand for.
    pub const EMPTY_OBJECT: Self = Self(&[Node::Object { len: 0, count: 0 }]);
}

impl<'t, 'b> Value<'t, 'b> {
    /// The value at the start of `nodes`.
    pub(super) const fn new(nodes: &'t [Node<'b>]) -> Self {
        Self(nodes)
    }

    fn node(self) -> Node<'b> {
        self.0.first().copied().unwrap_or(Node::Static(StaticNode::Null))
    }

    /// The number of nodes from this one to the tape's end: tells values of one tape apart.
    #[must_use]
    pub const fn nodes_to_end(self) -> usize {
        self.0.len()
    }

    /// What kind of value it is.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self.node() {
            Node::Static(StaticNode::Null) => Kind::Null,
            Node::Static(StaticNode::Bool(_)) => Kind::Bool,
            Node::Static(StaticNode::I64(_) | StaticNode::U64(_)) => Kind::Integer,
            Node::Static(StaticNode::F64(_)) => Kind::Float,
            Node::String(_) => Kind::String,
            Node::Array { .. } => Kind::Array,
            Node::Object { .. } => Kind::Object,
        }
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        matches!(self.node(), Node::Static(StaticNode::Null))
    }

    /// The string, escapes resolved.
    #[must_use]
    pub fn as_str(self) -> Option<&'b str> {
        match self.node() {
            Node::String(text) => Some(text),
            Node::Static(_) | Node::Array { .. } | Node::Object { .. } => None,
        }
    }

    /// The boolean.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        match self.node() {
            Node::Static(StaticNode::Bool(value)) => Some(value),
            _ => None,
        }
    }

    /// The number.
    #[must_use]
    pub fn as_number(self) -> Option<Number> {
        match self.node() {
            Node::Static(StaticNode::I64(value)) => Some(Number::I64(value)),
            Node::Static(StaticNode::U64(value)) => Some(Number::U64(value)),
            Node::Static(StaticNode::F64(value)) => Some(Number::F64(value)),
            _ => None,
        }
    }

    /// The object.
    #[must_use]
    pub fn as_object(self) -> Option<Object<'t, 'b>> {
        match self.node() {
            Node::Object { len, .. } => Some(Object::new(&self.0[1..], len)),
            Node::Static(_) | Node::String(_) | Node::Array { .. } => None,
        }
    }

    /// The array.
    #[must_use]
    pub fn as_array(self) -> Option<Array<'t, 'b>> {
        match self.node() {
            Node::Array { len, .. } => Some(Array::new(&self.0[1..], len)),
            Node::Static(_) | Node::String(_) | Node::Object { .. } => None,
        }
    }

    /// The member of an object with this key; the first where the key comes more than once.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Self> {
        self.as_object()?.get(key)
    }
}
