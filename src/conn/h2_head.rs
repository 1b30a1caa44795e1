//! Heads on HTTP/2: what is asked of them beyond what `h2` checks, and their lines for the road.

use http::request::Parts;
use http::{HeaderValue, header};

use crate::base::ascii::parse_decimal;
use crate::base::limits::Limits;
use crate::tables::headers::Known;
use crate::view::head::{Cardinality, HeadBuilder, HeadFault, HeadIndex, RequestHead};

const TWO_HOSTS: HeadFault = HeadFault { status: 400, text: ":authority and host differ; send one of them" };
const NO_HOST: HeadFault = HeadFault { status: 400, text: "a request needs :authority or host" };
const EXPECTATION: HeadFault = HeadFault { status: 417, text: "the only expectation served is 100-continue" };
const LONG_LINE: HeadFault =
    HeadFault { status: 414, text: "the method and path are longer than this server reads" };
const LONG_FIELD: HeadFault = HeadFault { status: 431, text: "a header is longer than this server reads" };
const MANY_FIELDS: HeadFault = HeadFault { status: 431, text: "more headers than this server reads" };

/// Writes the parts of a head that the server reads as lines, and indexes them; tells whether each field is short enough. Names and values
/// were checked when `http` made them.
pub(super) fn index_head(parts: &Parts, lines: &mut Vec<u8>, index: &mut HeadIndex, limits: &Limits) -> bool {
    let path = parts.uri.path_and_query().map_or("", |target| target.as_str());
    let authority = parts.uri.authority().map(|authority| authority.as_str().as_bytes());
    let mut builder =
        HeadBuilder::new(lines).method(parts.method.as_str().as_bytes()).target(path.as_bytes(), authority);
    let mut fits = true;
    for (name, value) in &parts.headers {
        let (name, value) = (name.as_str().as_bytes(), value.as_bytes());
        fits &= !over(name.len() + ": ".len() + value.len(), limits.header_line);
        builder.checked_field(name, value);
    }
    *index = builder.finish();
    fits
}

/// What RFC 9113 8.3.1 and RFC 9110 7.2 and 10.1.1 ask of a head beyond what `h2` checks. The map of fields is asked only for what the
/// index says is there.
pub(super) fn check_head(
    parts: &Parts,
    index: &HeadIndex,
    fits: bool,
    limits: &Limits,
) -> Result<(), HeadFault> {
    check_size(parts, fits, limits)?;
    let authority = parts.uri.authority();
    if index.has(Known::Host) {
        let mut hosts = parts.headers.get_all(header::HOST).iter();
        let same = |host: &HeaderValue| {
            authority.is_none_or(|it| it.as_str().as_bytes().eq_ignore_ascii_case(host.as_bytes()))
        };
        if !hosts.next().is_none_or(same) || hosts.next().is_some() {
            return Err(TWO_HOSTS);
        }
    } else if authority.is_none() {
        return Err(NO_HOST);
    }
    if index.has(Known::Expect) {
        let mut expectations = parts.headers.get_all(header::EXPECT).iter();
        if expectations.any(|value| !value.as_bytes().eq_ignore_ascii_case(b"100-continue")) {
            return Err(EXPECTATION);
        }
    }
    Ok(())
}

/// The length a head declares. `h2` has refused what is not a number and holds the body to the first of several.
pub(super) fn declared(head: RequestHead<'_>, parts: &Parts) -> Option<u64> {
    match head.header(Known::ContentLength) {
        Cardinality::Missing => None,
        Cardinality::One(value) => parse_decimal(value),
        Cardinality::Many => {
            parts.headers.get(header::CONTENT_LENGTH).and_then(|value| parse_decimal(value.as_bytes()))
        }
    }
}

/// Holds a head to the limits that it would meet as lines, where `:authority` is no line of its own: what passes over HTTP/1.1 passes here
/// too. Its size in all is `h2`'s to bound.
fn check_size(parts: &Parts, fits: bool, limits: &Limits) -> Result<(), HeadFault> {
    let path = parts.uri.path_and_query().map_or(0, |target| target.as_str().len());
    if over(parts.method.as_str().len() + path + "  HTTP/1.1".len(), limits.request_line) {
        return Err(LONG_LINE);
    }
    if over(parts.headers.len(), limits.headers) {
        return Err(MANY_FIELDS);
    }
    if fits { Ok(()) } else { Err(LONG_FIELD) }
}

fn over(length: usize, most: u64) -> bool {
    u64::try_from(length).map_or(true, |length| length > most)
}
