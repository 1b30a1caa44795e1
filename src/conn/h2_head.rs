//! Heads on HTTP/2: what is asked of them beyond what `h2` checks, and their lines for the road.

use http::header;
use http::request::Parts;

use crate::base::ascii::parse_decimal;
use crate::base::limits::Limits;
use crate::view::head::{HeadBuilder, HeadFault, HeadIndex};

const TWO_HOSTS: HeadFault = HeadFault { status: 400, text: ":authority and host differ; send one of them" };
const NO_HOST: HeadFault = HeadFault { status: 400, text: "a request needs :authority or host" };
const EXPECTATION: HeadFault = HeadFault { status: 417, text: "the only expectation served is 100-continue" };
const LONG_LINE: HeadFault =
    HeadFault { status: 414, text: "the method and path are longer than this server reads" };
const LONG_FIELD: HeadFault = HeadFault { status: 431, text: "a header is longer than this server reads" };
const MANY_FIELDS: HeadFault = HeadFault { status: 431, text: "more headers than this server reads" };

/// Writes the parts of a head that the server reads as lines, and indexes them.
pub(super) fn index_head(parts: &Parts, lines: &mut Vec<u8>) -> HeadIndex {
    let path = parts.uri.path_and_query().map_or("", |target| target.as_str());
    let authority = parts.uri.authority().map(|authority| authority.as_str().as_bytes());
    let mut builder =
        HeadBuilder::new(lines).method(parts.method.as_str().as_bytes()).target(path.as_bytes(), authority);
    for (name, value) in &parts.headers {
        builder.field(name.as_str().as_bytes(), value.as_bytes());
    }
    builder.finish()
}

/// What RFC 9113 8.3.1 and RFC 9110 7.2 and 10.1.1 ask of a head beyond what `h2` checks.
pub(super) fn check_head(parts: &Parts, limits: &Limits) -> Result<(), HeadFault> {
    check_size(parts, limits)?;
    let authority = parts.uri.authority();
    let mut hosts = parts.headers.get_all(header::HOST).iter();
    match (authority, hosts.next(), hosts.next()) {
        (None, None, _) => return Err(NO_HOST),
        (_, Some(_), Some(_)) => return Err(TWO_HOSTS),
        (Some(authority), Some(host), None)
            if !authority.as_str().as_bytes().eq_ignore_ascii_case(host.as_bytes()) =>
        {
            return Err(TWO_HOSTS);
        }
        (Some(_), Some(_) | None, None) | (None, Some(_), None) | (Some(_), None, Some(_)) => {}
    }
    let mut expectations = parts.headers.get_all(header::EXPECT).iter();
    if expectations.any(|value| !value.as_bytes().eq_ignore_ascii_case(b"100-continue")) {
        return Err(EXPECTATION);
    }
    Ok(())
}

/// The length a head declares. `h2` has refused what is not a number and holds the body to it.
pub(super) fn declared(parts: &Parts) -> Option<u64> {
    parts.headers.get(header::CONTENT_LENGTH).and_then(|value| parse_decimal(value.as_bytes()))
}

/// Holds a head to the limits that it would meet as lines, where `:authority` is no line of its own: what passes over HTTP/1.1 passes here
/// too. Its size in all is `h2`'s to bound.
fn check_size(parts: &Parts, limits: &Limits) -> Result<(), HeadFault> {
    let over = |length: usize, most: u64| u64::try_from(length).map_or(true, |length| length > most);
    let path = parts.uri.path_and_query().map_or(0, |target| target.as_str().len());
    if over(parts.method.as_str().len() + path + "  HTTP/1.1".len(), limits.request_line) {
        return Err(LONG_LINE);
    }
    if over(parts.headers.len(), limits.headers) {
        return Err(MANY_FIELDS);
    }
    let long = |name: &str, value: &[u8]| over(name.len() + ": ".len() + value.len(), limits.header_line);
    if parts.headers.iter().any(|(name, value)| long(name.as_str(), value.as_bytes())) {
        return Err(LONG_FIELD);
    }
    Ok(())
}
