//! Stage `header_binding`: mirrored headers against the body (2026-07-28, streamable HTTP, server validation). Body-bound. Runs after
//! `protocol_fields`, which has proven that the body's version is a string.

use super::protocol_fields::Fields;
use super::sentinel;
use crate::reply::json;
use crate::reply::rejection::{Fault, Refusal, quote};
use crate::schema::{BindingKind, HeaderBinding};
use crate::tables::headers::Known;
use crate::tables::methods::{NameSource, name_source};
use crate::tables::rejection::Rejection;
use crate::tables::versions::Revision;
use crate::tools::Snapshot;
use crate::view::head::{Cardinality, RequestHead};
use crate::view::message::Params;
use crate::view::node::{Number, Value};

/// Compares the headers of a request in the order of the specification's table, and says which revision it speaks.
///
/// # Errors
/// `header_missing`, `header_duplicated`, `header_malformed`, `header_mismatch`: the first row that fails.
pub fn check(
    head: &RequestHead<'_>,
    method: &str,
    params: &Params<'_, '_>,
    fields: &Fields<'_>,
    tools: &Snapshot,
) -> Result<Revision, Refusal<'static>> {
    compare(head, Header::Known(Known::ProtocolVersion), Compared::Plain(fields.version()), Required::Yes)?;
    compare(head, Header::Known(Known::Method), Compared::Plain(method), Required::Yes)?;
    if let Some(name) = body_name(method, params) {
        compare(head, Header::Known(Known::Name), Compared::Encoded(name), Required::Yes)?;
    }
    if method == "tools/call"
        && let Some(entry) = params.name.and_then(|name| name.as_str()).and_then(|name| tools.find(name))
    {
        for binding in entry.input().bindings() {
            check_parameter(head, binding, params.arguments)?;
        }
    }
    // Only a version that differs from its header gets here without a revision, and the first row has refused that.
    fields.revision().ok_or_else(|| {
        mismatch(Header::Known(Known::ProtocolVersion), Some(fields.version()), Some(fields.version()))
    })
}

/// A modern notification needs no mirrored header, but one that it sends must match what the body has.
///
/// # Errors
/// As [`check`], but never `header_missing`.
pub fn check_notification(
    head: &RequestHead<'_>,
    method: &str,
    params: &Params<'_, '_>,
) -> Result<(), Refusal<'static>> {
    if let Some(version) = params.fields.protocol_version.and_then(|version| version.as_str()) {
        compare(head, Header::Known(Known::ProtocolVersion), Compared::Plain(version), Required::No)?;
    }
    compare(head, Header::Known(Known::Method), Compared::Plain(method), Required::No)?;
    match body_name(method, params) {
        Some(name) => compare(head, Header::Known(Known::Name), Compared::Encoded(name), Required::No),
        None => Ok(()),
    }
}

fn body_name<'b>(method: &str, params: &Params<'_, 'b>) -> Option<&'b str> {
    match name_source(method) {
        NameSource::None => None,
        NameSource::Name => params.name,
        NameSource::Uri => params.uri,
        NameSource::TaskId => params.task_id,
    }
    .and_then(|value| value.as_str())
}

#[derive(Clone, Copy)]
enum Header<'a> {
    Known(Known),
    Parameter(&'a HeaderBinding),
}

impl Header<'_> {
    fn canonical(&self) -> &str {
        match self {
            Self::Known(known) => known.canonical(),
            Self::Parameter(binding) => &binding.header,
        }
    }
}

#[derive(Clone, Copy)]
enum Compared<'a> {
    /// As it stands.
    Plain(&'a str),
    /// May be wrapped in the base64 sentinel.
    Encoded(&'a str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Required {
    Yes,
    No,
}

fn compare(
    head: &RequestHead<'_>,
    header: Header<'_>,
    body: Compared<'_>,
    required: Required,
) -> Result<(), Refusal<'static>> {
    let expected = match body {
        Compared::Plain(text) | Compared::Encoded(text) => text,
    };
    let Some(value) = single(head, header, Some(expected), required)? else { return Ok(()) };
    if sentinel::is_plainly(value, expected) {
        return Ok(());
    }
    let matches = match body {
        Compared::Plain(text) => sentinel::plain(value).map(|value| value == text),
        Compared::Encoded(text) => sentinel::decode(value).map(|value| value == text),
    };
    match matches {
        Ok(true) => Ok(()),
        Ok(false) => Err(mismatch(header, Some(expected), text_of(value))),
        Err(sentinel::Malformed) => Err(malformed(header, Some(expected), value)),
    }
}

/// The header's one value; `None` where it is absent and need not be there.
fn single<'h>(
    head: &RequestHead<'h>,
    header: Header<'_>,
    expected: Option<&str>,
    required: Required,
) -> Result<Option<&'h [u8]>, Refusal<'static>> {
    let cardinality = match header {
        Header::Known(known) => head.header(known),
        Header::Parameter(binding) => head.field(binding.lower.as_bytes()),
    };
    match cardinality {
        Cardinality::One(value) => Ok(Some(value)),
        Cardinality::Missing if required == Required::No => Ok(None),
        Cardinality::Missing => Err(missing(header, expected)),
        Cardinality::Many => {
            let joined = match header {
                Header::Known(known) => join(head.values(known)),
                Header::Parameter(binding) => join(head.field_values(binding.lower.as_bytes())),
            };
            Err(duplicated(header, expected, &joined))
        }
    }
}

/// What a body value looks like in a header.
enum Spelling<'b> {
    /// Absent or null: the header must not be sent.
    Absent,
    /// Another type than the schema has: nothing to compare; the tool's schema answers it.
    Unspellable,
    Text(&'b str),
    Integer(i128),
    Bool(bool),
}

fn check_parameter(
    head: &RequestHead<'_>,
    binding: &HeaderBinding,
    arguments: Option<Value<'_, '_>>,
) -> Result<(), Refusal<'static>> {
    let header = Header::Parameter(binding);
    let spelling = spell(binding, arguments);
    let expected = match &spelling {
        Spelling::Absent | Spelling::Unspellable => None,
        Spelling::Text(text) => Some((*text).to_owned()),
        Spelling::Integer(value) => Some(value.to_string()),
        Spelling::Bool(value) => Some(value.to_string()),
    };
    let expected = expected.as_deref();
    let required = if expected.is_some() { Required::Yes } else { Required::No };
    let Some(value) = single(head, header, expected, required)? else { return Ok(()) };
    let Ok(text) = sentinel::decode(value) else { return Err(malformed(header, expected, value)) };
    let matches = match (binding.kind, &spelling) {
        (BindingKind::String, Spelling::Text(body)) => text == *body,
        (BindingKind::Integer, spelling) => {
            let Some(sent) = parse_integer(&text) else { return Err(malformed(header, expected, value)) };
            match spelling {
                Spelling::Integer(body) => sent == *body,
                Spelling::Unspellable => true,
                Spelling::Absent | Spelling::Text(_) | Spelling::Bool(_) => false,
            }
        }
        (BindingKind::Boolean, spelling) => {
            if text != "true" && text != "false" {
                return Err(malformed(header, expected, value));
            }
            match spelling {
                Spelling::Bool(body) => (text == "true") == *body,
                Spelling::Unspellable => true,
                Spelling::Absent | Spelling::Text(_) | Spelling::Integer(_) => false,
            }
        }
        (BindingKind::String, Spelling::Unspellable) => true,
        (BindingKind::String, Spelling::Absent | Spelling::Integer(_) | Spelling::Bool(_)) => false,
    };
    if matches { Ok(()) } else { Err(mismatch(header, expected, text_of(value))) }
}

fn spell<'b>(binding: &HeaderBinding, arguments: Option<Value<'_, 'b>>) -> Spelling<'b> {
    let Some(mut value) = arguments else { return Spelling::Absent };
    for key in &binding.path {
        let Some(object) = value.as_object() else {
            return if value.is_null() { Spelling::Absent } else { Spelling::Unspellable };
        };
        match object.get(key) {
            Some(next) => value = next,
            None => return Spelling::Absent,
        }
    }
    if value.is_null() {
        return Spelling::Absent;
    }
    match binding.kind {
        BindingKind::String => value.as_str().map(Spelling::Text),
        BindingKind::Integer => match value.as_number() {
            Some(Number::F64(number)) if number.abs() >= LARGEST => return Spelling::Absent,
            Some(number) => integral(number).map(Spelling::Integer),
            None => None,
        },
        BindingKind::Boolean => value.as_bool().map(Spelling::Bool),
    }
    .unwrap_or(Spelling::Unspellable)
}

/// Integers beyond this are compared with no header: a tool cannot be served one, and a header that is sent is a mismatch.
const LARGEST: f64 = 1e38;

/// The integer a JSON number stands for; `42.0` is one.
fn integral(number: Number) -> Option<i128> {
    match number {
        Number::I64(value) => Some(value.into()),
        Number::U64(value) => Some(value.into()),
        // Far beyond the 2^53 that the specification keeps to, and within what the comparison holds.
        Number::F64(value) if value.fract() == 0.0 && value.abs() < LARGEST =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and in range")]
            Some(value as i128)
        }
        Number::F64(_) => None,
    }
}

/// A decimal integer, with `.0…` allowed behind it.
fn parse_integer(text: &str) -> Option<i128> {
    let (digits, zeros) = text.split_once('.').map_or((text, None), |(digits, zeros)| (digits, Some(zeros)));
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    let all =
        |text: &str, fits: fn(u8) -> bool| !text.is_empty() && text.len() <= 30 && text.bytes().all(fits);
    if !all(unsigned, |byte| byte.is_ascii_digit())
        || zeros.is_some_and(|zeros| !all(zeros, |byte| byte == b'0'))
    {
        return None;
    }
    digits.parse().ok()
}

fn text_of(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok()
}

fn join<'h>(values: impl Iterator<Item = &'h [u8]>) -> Vec<u8> {
    let mut joined = Vec::new();
    for (at, value) in values.enumerate() {
        if at > 0 {
            joined.extend_from_slice(b", ");
        }
        joined.extend_from_slice(value);
        if joined.len() > MOST_DATA {
            break;
        }
    }
    joined
}

#[cold]
fn missing(header: Header<'_>, expected: Option<&str>) -> Refusal<'static> {
    let name = header.canonical();
    let text = format!("{name} is missing; send it with the value the body has");
    fault(Rejection::HeaderMissing, text, name, expected, None)
}

#[cold]
fn duplicated(header: Header<'_>, expected: Option<&str>, joined: &[u8]) -> Refusal<'static> {
    let name = header.canonical();
    let text = format!("More than one {name} header; send one");
    fault(Rejection::HeaderDuplicated, text, name, expected, text_of(joined))
}

#[cold]
fn malformed(header: Header<'_>, expected: Option<&str>, value: &[u8]) -> Refusal<'static> {
    let name = header.canonical();
    let text = format!(
        "{name} is malformed: it needs visible ASCII of its type, or strict base64 between =?base64? and ?="
    );
    fault(Rejection::HeaderMalformed, text, name, expected, text_of(value))
}

#[cold]
fn mismatch(header: Header<'_>, expected: Option<&str>, received: Option<&str>) -> Refusal<'static> {
    let name = header.canonical();
    let (sent, body) = (received.unwrap_or("bytes that are no text"), expected.unwrap_or("no such value"));
    let text = format!("{name} says {}, the body has {}; make them equal", quote(sent), quote(body));
    fault(Rejection::HeaderMismatch, text, name, expected, received)
}

/// What `data` repeats of a value, in bytes: all of it, unless it is longer than a header line may be.
const MOST_DATA: usize = 10_000;

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MOST_DATA)]
}

fn fault(
    row: Rejection,
    text: String,
    name: &str,
    expected: Option<&str>,
    received: Option<&str>,
) -> Refusal<'static> {
    let mut data = Vec::with_capacity(96);
    data.extend_from_slice(b"{\"header\":");
    json::write_str(&mut data, name);
    for (key, value) in [("expected", expected), ("received", received)] {
        if let Some(value) = value {
            data.push(b',');
            json::write_str(&mut data, key);
            data.push(b':');
            json::write_str(&mut data, cut(value));
        }
    }
    data.push(b'}');
    Refusal::fault(row, Fault { text, data: Some(data), ..Fault::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_compare_as_numbers() {
        for (text, want) in [
            ("42", Some(42)),
            ("-7", Some(-7)),
            ("42.0", Some(42)),
            ("42.000", Some(42)),
            ("007", Some(7)),
            ("-0", Some(0)),
            ("18446744073709551615", Some(18_446_744_073_709_551_615)),
            ("42.5", None),
            ("42.", None),
            ("+42", None),
            ("4e1", None),
            ("", None),
            ("-", None),
            (" 42", None),
        ] {
            assert_eq!(parse_integer(text), want, "{text}");
        }
        assert_eq!(integral(Number::F64(42.0)), Some(42));
        assert_eq!(integral(Number::F64(0.5)), None);
        assert_eq!(integral(Number::F64(1e300)), None);
    }
}
