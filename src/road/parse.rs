//! Stage `parse`: content type, query, body ceilings, JSON. The arms stand in the order in which a request wrong in several ways meets
//! them; arms 1 to 7 need the head alone and answer before a byte of the body is read. Body-bound: GET and DELETE have no body.

use super::media::{self, Accept};
use super::settings::Settings;
use crate::reply::rejection::{Fault, Refusal};
use crate::tables::headers::Known;
use crate::tables::rejection::Rejection;
use crate::view::head::{Cardinality, RequestHead};
use crate::view::message::JsonFault;

/// What the head promises of the body, and what the client takes in return.
#[derive(Debug, Clone, Copy)]
pub struct HeadParsed {
    /// What the client takes.
    pub accept: Accept,
}

/// Arms 1 to 7. `declared` is the body's length where the head names it.
///
/// # Errors
/// The first arm that the head meets.
pub fn head<'h>(
    settings: &Settings,
    head: &RequestHead<'h>,
    declared: Option<u64>,
) -> Result<HeadParsed, Refusal<'h>> {
    let content_type = match head.header(Known::ContentType) {
        Cardinality::Many => return Err(Refusal::plain(Rejection::DuplicatedContentType)),
        Cardinality::One(value) => value,
        Cardinality::Missing => b"(none)",
    };
    if let Some(query) = head.query() {
        check_query(settings, query)?;
    }
    if !media::is_json(content_type) {
        return Err(Refusal::quoting(Rejection::UnsupportedMediaType, content_type));
    }
    check_encoding(head)?;
    let accept = match head.header(Known::Accept) {
        Cardinality::Missing => Some(Accept::Both),
        Cardinality::One(_) | Cardinality::Many => media::accepted(head.values(Known::Accept)),
    };
    let accept = accept.ok_or(Refusal::plain(Rejection::NotAcceptable))?;
    if declared.is_some_and(|length| length > settings.limits.body) {
        return Err(too_large(settings));
    }
    Ok(HeadParsed { accept })
}

/// Arm 7 for a body whose length was not known beforehand.
#[must_use]
pub fn too_large(settings: &Settings) -> Refusal<'static> {
    Refusal::number(Rejection::BodyTooLarge, settings.limits.body)
}

/// Arm 8.
#[cold]
#[must_use]
pub fn malformed(fault: &JsonFault) -> Refusal<'static> {
    Refusal::fault(Rejection::MalformedJson, Fault { text: fault.to_string(), ..Fault::default() })
}

fn check_query<'h>(settings: &Settings, query: &[u8]) -> Result<(), Refusal<'h>> {
    if query.len() as u64 > settings.limits.query {
        return Err(Refusal::number(Rejection::QueryTooLong, settings.limits.query));
    }
    if is_utf8_after_decoding(query) { Ok(()) } else { Err(Refusal::plain(Rejection::QueryNotUtf8)) }
}

fn is_utf8_after_decoding(query: &[u8]) -> bool {
    if memchr::memchr(b'%', query).is_none() {
        return std::str::from_utf8(query).is_ok();
    }
    let mut decoded = Vec::with_capacity(query.len());
    let mut rest = query;
    while let Some(at) = memchr::memchr(b'%', rest) {
        decoded.extend_from_slice(&rest[..at]);
        let [_, high, low, ..] = rest[at..] else { return false };
        let (Some(high), Some(low)) = (hex(high), hex(low)) else { return false };
        decoded.push(high << 4 | low);
        rest = &rest[at + 3..];
    }
    decoded.extend_from_slice(rest);
    std::str::from_utf8(&decoded).is_ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// `identity` is no encoding; everything else is one that we do not undo.
fn check_encoding<'h>(head: &RequestHead<'h>) -> Result<(), Refusal<'h>> {
    if matches!(head.header(Known::ContentEncoding), Cardinality::Missing) {
        return Ok(());
    }
    match head.values(Known::ContentEncoding).find(|value| !value.eq_ignore_ascii_case(b"identity")) {
        None => Ok(()),
        Some(value) => Err(Refusal::quoting(Rejection::UnsupportedContentEncoding, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries() {
        for good in ["", "a=b", "a=%C3%A9", "%e4%b8%96", "a=é", "%25"] {
            assert!(is_utf8_after_decoding(good.as_bytes()), "{good}");
        }
        for bad in ["%", "a%2", "%zz", "%+1", "%ff", "%C3", "%c3%28", "%ed%a0%80"] {
            assert!(!is_utf8_after_decoding(bad.as_bytes()), "{bad}");
        }
        assert!(!is_utf8_after_decoding(b"\xff"));
    }
}
