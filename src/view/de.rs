//! Typed values out of the tape, for any `serde` type: strings are borrowed from the body, and a fault names its place.
//!
//! As serde_json reads a document, with these differences: an integral float is an integer where one is wanted (JSON Schema counts `1.0`
//! as one), and a key that comes twice in a map is a fault, since whoever checked the first must not hand out the second.

mod access;
mod error;
#[cfg(test)]
mod tests;

use serde::de::{Deserialize, Deserializer, Error as _, Unexpected, Visitor};

use self::access::{Elements, Members, Variant};
use self::error::Fault;
pub use self::error::{DeError, DeErrorKind};
use super::node::{Number, Value};

/// Reads a value as a `T`.
///
/// # Errors
/// What does not fit, and where.
pub fn from_value<'b, T: Deserialize<'b>>(value: Value<'_, 'b>) -> Result<T, DeError> {
    T::deserialize(Reader(value)).map_err(Fault::finish)
}

/// A value on its way into a type.
#[derive(Clone, Copy)]
struct Reader<'t, 'b>(Value<'t, 'b>);

impl<'b> Reader<'_, 'b> {
    /// What the value is, for diagnoses.
    fn unexpected(self) -> Unexpected<'b> {
        let value = self.0;
        if let Some(text) = value.as_str() {
            return Unexpected::Str(text);
        }
        match (value.as_number(), value.as_bool()) {
            (Some(Number::I64(number)), _) => Unexpected::Signed(number),
            (Some(Number::U64(number)), _) => Unexpected::Unsigned(number),
            (Some(Number::F64(number)), _) => Unexpected::Float(number),
            (None, Some(value)) => Unexpected::Bool(value),
            (None, None) if value.is_null() => Unexpected::Unit,
            (None, None) if value.as_array().is_some() => Unexpected::Seq,
            (None, None) => Unexpected::Map,
        }
    }

    #[cold]
    fn mismatch<V: Visitor<'b>>(self, visitor: &V) -> Fault {
        Fault::invalid_type(self.unexpected(), visitor)
    }

    fn number<V: Visitor<'b>>(self, number: Number, visitor: V) -> Result<V::Value, Fault> {
        match number {
            Number::I64(number) => visitor.visit_i64(number),
            Number::U64(number) => visitor.visit_u64(number),
            Number::F64(number) => visitor.visit_f64(number),
        }
    }

    fn integer<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.as_number() {
            Some(Number::F64(float)) => {
                self.number(exact_integer(float).unwrap_or(Number::F64(float)), visitor)
            }
            Some(number) => self.number(number, visitor),
            None => Err(self.mismatch(&visitor)),
        }
    }

    fn float<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.as_number() {
            Some(number) => self.number(number, visitor),
            None => Err(self.mismatch(&visitor)),
        }
    }

    fn text<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.as_str() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => Err(self.mismatch(&visitor)),
        }
    }

    fn unit<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.0.is_null() { visitor.visit_unit() } else { Err(self.mismatch(&visitor)) }
    }
}

/// The integer that a float is, when it is one in the range of i64 or u64.
fn exact_integer(float: f64) -> Option<Number> {
    // The bounds are powers of two, so exact as floats; in between every integral float casts exactly.
    const ABOVE_U64: f64 = 18_446_744_073_709_551_616.0;
    const LOWEST_I64: f64 = -9_223_372_036_854_775_808.0;
    if float.fract() != 0.0 {
        None
    } else if (0.0..ABOVE_U64).contains(&float) {
        Some(Number::U64(float as u64))
    } else if (LOWEST_I64..0.0).contains(&float) {
        Some(Number::I64(float as i64))
    } else {
        None
    }
}

macro_rules! forward {
    ($($from:ident)+ => $to:ident) => { $(
        fn $from<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> { self.$to(visitor) }
    )+ };
}

impl<'b> Deserializer<'b> for Reader<'_, 'b> {
    type Error = Fault;

    forward! { deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 => integer }
    forward! { deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 => integer }
    forward! { deserialize_f32 deserialize_f64 => float }
    forward! { deserialize_char deserialize_str deserialize_string deserialize_identifier => text }
    forward! { deserialize_unit => unit }
    forward! { deserialize_byte_buf => deserialize_bytes }

    fn deserialize_any<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        if let Some(text) = self.0.as_str() {
            visitor.visit_borrowed_str(text)
        } else if let Some(number) = self.0.as_number() {
            self.number(number, visitor)
        } else if let Some(value) = self.0.as_bool() {
            visitor.visit_bool(value)
        } else if let Some(array) = self.0.as_array() {
            Elements::read(array, visitor)
        } else if let Some(object) = self.0.as_object() {
            Members::read(object, visitor)
        } else {
            visitor.visit_unit()
        }
    }

    fn deserialize_bool<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.as_bool() {
            Some(value) => visitor.visit_bool(value),
            None => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_bytes<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.as_str() {
            Some(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            None => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit_struct<V: Visitor<'b>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        self.unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'b>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.as_array() {
            Some(array) => Elements::read(array, visitor),
            None => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'b>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'b>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.as_object() {
            Some(object) => Members::read(object, visitor),
            None => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'b>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        // Derived code finds the repeated fields that it reads by itself.
        match (self.0.as_object(), self.0.as_array()) {
            (Some(object), _) => Members::read_unchecked(object, visitor),
            (None, Some(array)) => Elements::read(array, visitor),
            (None, None) => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'b>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if let Some(name) = self.0.as_str() {
            return visitor.visit_enum(Variant { name, value: None });
        }
        let Some(object) = self.0.as_object() else {
            return Err(Fault::invalid_type(self.unexpected(), &"a string or an object with a single key"));
        };
        let mut members = object.iter();
        match (members.next(), members.next()) {
            (Some((name, value)), None) => visitor.visit_enum(Variant { name, value: Some(value) }),
            _ => Err(Fault::invalid_value(Unexpected::Map, &"an object with a single key")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }
}
