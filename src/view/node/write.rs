//! Values out of the tape: as JSON text, and as owned documents.

use super::{Number, Value};

impl Value<'_, '_> {
    /// Appends the value as JSON: no whitespace, minimal escapes, members in order with repeated keys kept, floats in their shortest
    /// spelling that reads back the same. Recursion is bounded by the parser's depth ceiling.
    pub fn write_json(self, out: &mut Vec<u8>) {
        if let Some(object) = self.as_object() {
            let mut opening = b'{';
            for (key, value) in object {
                out.push(opening);
                write_str(out, key);
                out.push(b':');
                value.write_json(out);
                opening = b',';
            }
            out.extend_from_slice(if opening == b'{' { b"{}" } else { b"}" });
        } else if let Some(array) = self.as_array() {
            let mut opening = b'[';
            for value in array {
                out.push(opening);
                value.write_json(out);
                opening = b',';
            }
            out.extend_from_slice(if opening == b'[' { b"[]" } else { b"]" });
        } else {
            self.write_scalar(out);
        }
    }

    fn write_scalar(self, out: &mut Vec<u8>) {
        if let Some(text) = self.as_str() {
            write_str(out, text);
        } else if let Some(number) = self.as_number() {
            write_number(out, number);
        } else {
            out.extend_from_slice(match self.as_bool() {
                Some(true) => b"true",
                Some(false) => b"false",
                None => b"null",
            });
        }
    }

    /// An owned copy. Where a key comes more than once the first counts, as in [`Value::get`].
    #[must_use]
    pub fn to_serde(self) -> serde_json::Value {
        if let Some(object) = self.as_object() {
            let mut map = serde_json::Map::with_capacity(object.len());
            for (key, value) in object {
                map.entry(key).or_insert_with(|| value.to_serde());
            }
            serde_json::Value::Object(map)
        } else if let Some(array) = self.as_array() {
            serde_json::Value::Array(array.iter().map(Value::to_serde).collect())
        } else if let Some(text) = self.as_str() {
            serde_json::Value::String(text.to_owned())
        } else {
            match (self.as_number(), self.as_bool()) {
                (Some(Number::I64(value)), _) => serde_json::Value::from(value),
                (Some(Number::U64(value)), _) => serde_json::Value::from(value),
                (Some(Number::F64(value)), _) => serde_json::Value::from(value),
                (None, Some(value)) => serde_json::Value::Bool(value),
                (None, None) => serde_json::Value::Null,
            }
        }
    }
}

/// Appends `text` as a JSON string with minimal escapes.
pub(in crate::view) fn write_str(out: &mut Vec<u8>, text: &str) {
    // Writing to a Vec cannot fail.
    let _ = serde_json::to_writer(out, text);
}

fn write_number(out: &mut Vec<u8>, number: Number) {
    let mut digits = itoa::Buffer::new();
    match number {
        Number::I64(value) => out.extend_from_slice(digits.format(value).as_bytes()),
        Number::U64(value) => out.extend_from_slice(digits.format(value).as_bytes()),
        Number::F64(value) => {
            // As above: a finite float into a Vec.
            let _ = serde_json::to_writer(out, &value);
        }
    }
}
