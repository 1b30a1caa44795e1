//! The members of a JSON object, comma by comma.

use serde::Serialize;

use crate::reply::json;

/// Writes members one after another; the braces are the caller's.
pub(super) struct Members<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
}

impl<'o> Members<'o> {
    /// Starts at the first member.
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, first: true }
    }

    /// Writes a comma where one is due and the name, which needs no escapes, and lends the buffer for the value.
    pub(super) fn key(&mut self, name: &'static str) -> &mut Vec<u8> {
        debug_assert!(name.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\'));
        let before: &[u8] = if self.first { b"\"" } else { b",\"" };
        self.first = false;
        for piece in [before, name.as_bytes(), b"\":"] {
            self.out.extend_from_slice(piece);
        }
        self.out
    }

    /// The same for a name that is not ours.
    pub(super) fn foreign_key(&mut self, name: &str) -> &mut Vec<u8> {
        self.comma();
        json::write_str(self.out, name);
        self.out.push(b':');
        self.out
    }

    /// Writes a comma where one is due, and lends the buffer for members that are rendered already.
    pub(super) fn rendered(&mut self, members: &[u8]) {
        if !members.is_empty() {
            self.comma();
            self.out.extend_from_slice(members);
        }
    }

    pub(super) fn text(&mut self, name: &'static str, value: &str) {
        json::write_str(self.key(name), value);
    }

    pub(super) fn text_if(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    pub(super) fn flag_if(&mut self, name: &'static str, value: Option<bool>) {
        if let Some(value) = value {
            self.key(name).extend_from_slice(if value { b"true" } else { b"false" });
        }
    }

    pub(super) fn value(&mut self, name: &'static str, value: &(impl Serialize + ?Sized)) {
        write_value(self.key(name), value);
    }

    fn comma(&mut self) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
    }
}

/// Appends any value as JSON; one that cannot be written (a map whose keys are no strings) becomes null.
pub(super) fn write_value(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let from = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(from);
        out.extend_from_slice(b"null");
    }
}

/// Appends a number; one without a fraction is written without one, a number that is not finite as null.
pub(super) fn write_number(out: &mut Vec<u8>, value: f64) {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "integral and within 2^53")]
        json::write_int(out, value as i64);
    } else {
        write_value(out, &value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (50.0, "50"),
            (-3.0, "-3"),
            (0.25, "0.25"),
            (1e300, "1e+300"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ] {
            let mut out = Vec::new();
            write_number(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }
}
