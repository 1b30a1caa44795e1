//! The tape as jsonschema sees it, so that arguments are validated where they lie.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array as ArrayNode, Json, JsonNumber, Node, NodeIdentity, Object as ObjectNode};
use serde_json::Value as Document;

use crate::view::node::{
    Array, Elements as TapeElements, Kind, Members as TapeMembers, Number, Object, Value,
};

use super::equal;

/// The representation's name.
#[derive(Debug)]
pub(super) struct TapeJson;

/// One value of an instance.
#[derive(Debug, Clone, Copy)]
pub(super) enum TapeNode<'a> {
    /// A value on the tape.
    Tape(Value<'a, 'a>),
    /// A property's name, which `propertyNames` validates like a string.
    Name(&'a str),
    /// Arguments that were left out: an object without members.
    Empty,
}

impl Json for TapeJson {
    type Node<'a> = TapeNode<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(TapeNode<'_>) -> T) -> T {
        f(TapeNode::Name(string))
    }
}

impl<'a> Node<'a, TapeJson> for TapeNode<'a> {
    type Object = TapeObject<'a>;
    type Array = Array<'a, 'a>;
    type Number = TapeNumber;

    fn as_object(&self) -> Option<TapeObject<'a>> {
        match self {
            Self::Tape(value) => value.as_object().map(|object| TapeObject(Some(object))),
            Self::Name(_) => None,
            Self::Empty => Some(TapeObject(None)),
        }
    }

    fn as_array(&self) -> Option<Array<'a, 'a>> {
        match self {
            Self::Tape(value) => value.as_array(),
            Self::Name(_) | Self::Empty => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::Tape(value) => value.as_str().map(Cow::Borrowed),
            Self::Name(name) => Some(Cow::Borrowed(name)),
            Self::Empty => None,
        }
    }

    fn as_number(&self) -> Option<TapeNumber> {
        match self {
            Self::Tape(value) => value.as_number().map(TapeNumber),
            Self::Name(_) | Self::Empty => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self {
            Self::Tape(value) => value.as_bool(),
            Self::Name(_) | Self::Empty => None,
        }
    }

    fn is_null(&self) -> bool {
        match self {
            Self::Tape(value) => value.is_null(),
            Self::Name(_) | Self::Empty => false,
        }
    }

    fn is_number(&self) -> bool {
        self.json_type() == JsonType::Number
    }

    fn json_type(&self) -> JsonType {
        match self {
            Self::Tape(value) => match value.kind() {
                Kind::Null => JsonType::Null,
                Kind::Bool => JsonType::Boolean,
                Kind::Integer | Kind::Float => JsonType::Number,
                Kind::String => JsonType::String,
                Kind::Array => JsonType::Array,
                Kind::Object => JsonType::Object,
            },
            Self::Name(_) => JsonType::String,
            Self::Empty => JsonType::Object,
        }
    }

    /// Compared where it lies: the default makes a copy for every option of an `enum`.
    fn equals_value(&self, expected: &Document) -> bool {
        match self {
            Self::Tape(value) => equal::to_document(*value, expected),
            Self::Name(name) => expected.as_str() == Some(name),
            Self::Empty => expected.as_object().is_some_and(serde_json::Map::is_empty),
        }
    }

    fn to_value(&self) -> Cow<'a, Document> {
        Cow::Owned(self.document())
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(match self {
            Self::Tape(value) => NodeIdentity::new(value.nodes_to_end()),
            Self::Name(name) => NodeIdentity::tagged(name.as_ptr().addr(), 1),
            Self::Empty => NodeIdentity::tagged(0, 2),
        })
    }
}

impl<'a> TapeNode<'a> {
    /// An owned copy.
    pub(super) fn document(&self) -> Document {
        match self {
            Self::Tape(value) => value.to_serde(),
            Self::Name(name) => Document::String((*name).to_owned()),
            Self::Empty => Document::Object(serde_json::Map::new()),
        }
    }
}

/// An object on the tape, or none: the empty one.
#[derive(Debug, Clone, Copy)]
pub(super) struct TapeObject<'a>(Option<Object<'a, 'a>>);

impl<'a> ObjectNode<'a, TapeJson> for TapeObject<'a> {
    type Node = TapeNode<'a>;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        self.0.map_or(0, |object| object.len())
    }

    fn get(&self, key: &String) -> Option<TapeNode<'a>> {
        self.0?.get(key).map(TapeNode::Tape)
    }

    fn members(&self) -> Members<'a> {
        Members(self.0.map(|object| object.iter()))
    }
}

/// The members of an object, in document order.
pub(super) struct Members<'a>(Option<TapeMembers<'a, 'a>>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, TapeNode<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.as_mut()?.next().map(|(name, value)| (name, TapeNode::Tape(value)))
    }
}

impl<'a> ArrayNode<'a, TapeJson> for Array<'a, 'a> {
    type Node = TapeNode<'a>;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        Array::len(self)
    }

    fn elements(&self) -> Elements<'a> {
        Elements(self.iter())
    }

    fn is_unique(&self) -> bool {
        equal::all_different(*self)
    }
}

/// The elements of an array.
pub(super) struct Elements<'a>(TapeElements<'a, 'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = TapeNode<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(TapeNode::Tape)
    }
}

/// A number on the tape.
#[derive(Debug, Clone, Copy)]
pub(super) struct TapeNumber(Number);

impl JsonNumber for TapeNumber {
    fn as_u64(&self) -> Option<u64> {
        match self.0 {
            Number::U64(value) => Some(value),
            Number::I64(value) => u64::try_from(value).ok(),
            Number::F64(_) => None,
        }
    }

    fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Number::U64(value) => i64::try_from(value).ok(),
            Number::I64(value) => Some(value),
            Number::F64(_) => None,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "bounds are compared as doubles once they leave the integers"
    )]
    fn as_f64(&self) -> Option<f64> {
        Some(match self.0 {
            Number::U64(value) => value as f64,
            Number::I64(value) => value as f64,
            Number::F64(value) => value,
        })
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_number().to_string())
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned(match self.0 {
            Number::U64(value) => value.into(),
            Number::I64(value) => value.into(),
            // The tape holds finite numbers only: JSON has no others, and an overflow is refused while parsing.
            Number::F64(value) => serde_json::Number::from_f64(value).unwrap_or_else(|| 0.into()),
        })
    }

    fn is_integer(&self) -> bool {
        match self.0 {
            Number::U64(_) | Number::I64(_) => true,
            Number::F64(value) => value.fract() == 0.0,
        }
    }

    fn is_written_as_integer(&self) -> bool {
        matches!(self.0, Number::U64(_) | Number::I64(_))
    }
}
