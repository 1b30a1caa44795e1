//! The parts of arrays, objects and enums, each adding its step to the path of a fault inside it.

use std::collections::HashSet;
use std::str::FromStr;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, Unexpected, VariantAccess,
    Visitor,
};

use super::Reader;
use super::error::Fault;
use crate::view::node::{Array, Elements as Values, Members as Pairs, Object, Value};

/// An array's elements.
pub(super) struct Elements<'t, 'b> {
    rest: Values<'t, 'b>,
    at: usize,
}

impl<'t, 'b> Elements<'t, 'b> {
    pub(super) fn read<V: Visitor<'b>>(array: Array<'t, 'b>, visitor: V) -> Result<V::Value, Fault> {
        let mut elements = Self { rest: array.iter(), at: 0 };
        let value = visitor.visit_seq(&mut elements)?;
        // A tuple that is shorter than the array.
        if elements.rest.len() == 0 {
            Ok(value)
        } else {
            Err(Fault::invalid_length(array.len(), &"fewer elements"))
        }
    }
}

impl<'b> SeqAccess<'b> for Elements<'_, 'b> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'b>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(value) = self.rest.next() else { return Ok(None) };
        let at = self.at;
        self.at += 1;
        seed.deserialize(Reader(value)).map(Some).map_err(|fault| fault.at_index(at))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// Keys that are compared with those before them; beyond, a set is made, so that a million of them take no quadratic time.
const FEW: usize = 16;

/// An object's members. Small, for it lies on the stack once for each level of nesting.
pub(super) struct Members<'t, 'b> {
    object: Object<'t, 'b>,
    rest: Pairs<'t, 'b>,
    current: Option<(&'b str, Value<'t, 'b>)>,
    /// Whether a key that comes twice is a fault here.
    unique: bool,
    /// All keys so far, once there are many.
    keys: Option<HashSet<&'b str>>,
}

impl<'t, 'b> Members<'t, 'b> {
    /// Reads all members; a key that comes twice is a fault.
    pub(super) fn read<V: Visitor<'b>>(object: Object<'t, 'b>, visitor: V) -> Result<V::Value, Fault> {
        Self::visit(object, true, visitor)
    }

    /// Reads all members and leaves repeated keys to the visitor.
    pub(super) fn read_unchecked<V: Visitor<'b>>(
        object: Object<'t, 'b>,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Self::visit(object, false, visitor)
    }

    fn visit<V: Visitor<'b>>(object: Object<'t, 'b>, unique: bool, visitor: V) -> Result<V::Value, Fault> {
        let mut members = Self { object, rest: object.iter(), current: None, unique, keys: None };
        let value = visitor.visit_map(&mut members)?;
        if members.rest.len() == 0 {
            Ok(value)
        } else {
            Err(Fault::invalid_length(object.len(), &"fewer members"))
        }
    }

    /// Whether the key just taken from the rest has come before.
    fn is_repeated(&mut self, key: &'b str) -> bool {
        let before = self.object.len() - self.rest.len() - 1;
        let mut keys = self.object.iter().take(before).map(|(key, _)| key);
        if before <= FEW {
            return keys.any(|other| other == key);
        }
        !self.keys.get_or_insert_with(|| keys.collect()).insert(key)
    }
}

impl<'b> MapAccess<'b> for Members<'_, 'b> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'b>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        self.current = self.rest.next();
        let Some((key, _)) = self.current else { return Ok(None) };
        if self.unique && self.is_repeated(key) {
            return Err(Fault::duplicated(key));
        }
        seed.deserialize(Key(key)).map(Some).map_err(|fault| fault.of_key(key))
    }

    fn next_value_seed<V: DeserializeSeed<'b>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some((key, value)) = self.current.take() else {
            return Err(Fault::custom("a value before its key"));
        };
        seed.deserialize(Reader(value)).map_err(|fault| fault.in_key(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// An object's key: a string, which may spell a number or a boolean where the type wants one.
#[derive(Clone, Copy)]
struct Key<'b>(&'b str);

impl Key<'_> {
    /// The number that the key spells as JSON would: no plus sign, no leading zeros, no words.
    fn number<T: FromStr>(self) -> Option<T> {
        let digits = self.0.strip_prefix('-').unwrap_or(self.0).as_bytes();
        match digits {
            [b'0', b'0'..=b'9', ..] => None,
            [b'0'..=b'9', ..] => self.0.parse().ok(),
            _ => None,
        }
    }
}

macro_rules! spelled {
    ($($method:ident: $visit:ident)+) => { $(
        fn $method<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.number() {
                Some(value) => visitor.$visit(value),
                None => Err(Fault::invalid_type(Unexpected::Str(self.0), &visitor)),
            }
        }
    )+ };
}

impl<'b> Deserializer<'b> for Key<'b> {
    type Error = Fault;

    spelled! {
        deserialize_i8: visit_i64 deserialize_i16: visit_i64 deserialize_i32: visit_i64 deserialize_i64: visit_i64
        deserialize_u8: visit_u64 deserialize_u16: visit_u64 deserialize_u32: visit_u64 deserialize_u64: visit_u64
        deserialize_i128: visit_i128 deserialize_u128: visit_u128 deserialize_f32: visit_f64 deserialize_f64: visit_f64
    }

    fn deserialize_bool<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            text => Err(Fault::invalid_type(Unexpected::Str(text), &visitor)),
        }
    }

    fn deserialize_any<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_bytes<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_bytes(self.0.as_bytes())
    }

    fn deserialize_option<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'b>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'b>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(Variant { name: self.0, value: None })
    }

    serde::forward_to_deserialize_any! {
        <V: Visitor<'b>>
        char str string byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// An enum's variant: its name, and its content unless it was a bare string.
pub(super) struct Variant<'t, 'b> {
    pub(super) name: &'b str,
    pub(super) value: Option<Value<'t, 'b>>,
}

impl<'t, 'b> EnumAccess<'b> for Variant<'t, 'b> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'b>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        Ok((seed.deserialize(BorrowedStrDeserializer::new(self.name))?, self))
    }
}

impl<'b> Variant<'_, 'b> {
    /// The content, or the fault of a bare string.
    fn content(&self, wanted: &'static str) -> Result<Value<'_, 'b>, Fault> {
        self.value.ok_or_else(|| Fault::invalid_type(Unexpected::UnitVariant, &wanted))
    }
}

impl<'b> VariantAccess<'b> for Variant<'_, 'b> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.value {
            None => Ok(()),
            Some(value) if value.is_null() => Ok(()),
            Some(value) => {
                Err(Fault::invalid_type(Reader(value).unexpected(), &"unit variant").in_key(self.name))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'b>>(self, seed: T) -> Result<T::Value, Fault> {
        let value = self.content("newtype variant")?;
        seed.deserialize(Reader(value)).map_err(|fault| fault.in_key(self.name))
    }

    fn tuple_variant<V: Visitor<'b>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        let value = self.content("tuple variant")?;
        Reader(value).deserialize_seq(visitor).map_err(|fault| fault.in_key(self.name))
    }

    fn struct_variant<V: Visitor<'b>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let value = self.content("struct variant")?;
        match value.as_object() {
            Some(object) => Members::read_unchecked(object, visitor),
            None => Err(Fault::invalid_type(Reader(value).unexpected(), &"struct variant")),
        }
        .map_err(|fault| fault.in_key(self.name))
    }
}
