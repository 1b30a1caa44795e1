//! The arguments of a call, read from the tape.

use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;
use serde_json::Value as Document;

use crate::schema::Fault;
use crate::view::de::{self, DeError, DeErrorKind};
use crate::view::node::{Kind, Value};

/// The `arguments` of a `tools/call`. Absent and null are the empty object.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'t, 'b>(Option<Value<'t, 'b>>);

impl<'t, 'b> Arguments<'t, 'b> {
    /// No arguments.
    pub const EMPTY: Self = Self(None);

    /// Reads the member `arguments` of the params, which has been checked: an object, null or absent.
    #[must_use]
    pub fn read(member: Option<Value<'t, 'b>>) -> Self {
        Self(member.filter(|value| value.kind() == Kind::Object))
    }

    /// The object, unless it was left out.
    #[must_use]
    pub fn value(&self) -> Option<Value<'t, 'b>> {
        self.0
    }

    /// Reads the arguments into a type.
    ///
    /// # Errors
    /// Where, what was expected and what came. Return it as [`super::Started::Invalid`], so that the model is told.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ArgumentFault> {
        match self.0 {
            Some(value) => de::from_value(value).map_err(|fault| ArgumentFault::from(&fault)),
            None => T::deserialize(MapDeserializer::new(std::iter::empty::<(&str, ())>()))
                .map_err(|fault: serde::de::value::Error| ArgumentFault::refused("", &fault)),
        }
    }

    /// The arguments as a document of their own, always an object.
    #[must_use]
    pub fn to_json(&self) -> Document {
        self.0.map_or_else(|| Document::Object(serde_json::Map::new()), |value| value.to_serde())
    }
}

/// Arguments that do not read as what the tool takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentFault(pub(super) Fault);

impl ArgumentFault {
    /// For arguments that are too large to be explained.
    pub(super) fn unexplained() -> Self {
        Self(Fault::new(
            "",
            "arguments that match the tool's input schema",
            "others; they are too large to name every fault",
        ))
    }

    /// A type's own refusal, which has no parts.
    pub(super) fn refused(path: &str, message: &dyn std::fmt::Display) -> Self {
        Self(Fault::new(path, "a value that the tool accepts", format!("one that it refuses: {message}")))
    }
}

impl From<&DeError> for ArgumentFault {
    fn from(fault: &DeError) -> Self {
        let path = fault.path.as_str();
        let member = |name: &str| format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
        match &fault.kind {
            DeErrorKind::Mismatch { expected, got } => Self(Fault::new(path, expected, got)),
            DeErrorKind::Missing(name) => Self(Fault::new(member(name), "a value (required)", "nothing")),
            DeErrorKind::Unknown(name) => {
                Self(Fault::new(member(name), "no property of this name", "a value"))
            }
            DeErrorKind::Duplicated(name) => {
                Self(Fault::new(member(name), "one value", "the property twice"))
            }
            DeErrorKind::Other => Self::refused(path, &fault.message),
        }
    }
}
