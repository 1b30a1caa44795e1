//! The request line and the forms of its target (RFC 9112 section 3).

use super::host;
use super::span::Span;
use super::{HeadFault, HttpVersion};
use crate::base::ascii::is_token;
use crate::tables::routes::Verb;

/// A request line taken apart; spans count from the start of the bytes that hold the line.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestLine {
    pub(super) method: Span,
    pub(super) verb: Verb,
    pub(super) version: HttpVersion,
    pub(super) target: Target,
}

/// The pieces of a target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) authority: Span,
    /// Empty where an absolute-form target has no path.
    pub(super) path: Span,
    pub(super) query: Span,
}

impl RequestLine {
    /// Reads `line`, a part of `whole`, without its line end.
    pub(super) fn read(whole: &[u8], line: &[u8]) -> Result<Self, HeadFault> {
        let mut pieces = line.splitn(3, |&byte| byte == b' ');
        let (Some(method), Some(target), Some(version)) = (pieces.next(), pieces.next(), pieces.next())
        else {
            return Err(HeadFault::REQUEST_LINE);
        };
        if !is_token(method) {
            return Err(HeadFault::METHOD);
        }
        // Before the target: an HTTP/2 preface has the target `*`, and its version is what is wrong with it.
        let version = read_version(version)?;
        Self::from_pieces(whole, method, target, version)
    }

    /// Builds the line from a method that is a token and a version, both checked already.
    pub(super) fn from_pieces(
        whole: &[u8],
        method: &[u8],
        target: &[u8],
        version: HttpVersion,
    ) -> Result<Self, HeadFault> {
        let verb = Verb::from_token(method);
        if verb == Verb::Other && method == b"CONNECT" {
            return Err(HeadFault::CONNECT);
        }
        let target = Target::read(whole, target, verb)?;
        Ok(Self { method: Span::of(whole, method), verb, version, target })
    }
}

fn read_version(text: &[u8]) -> Result<HttpVersion, HeadFault> {
    match text {
        b"HTTP/1.1" => return Ok(HttpVersion::Http11),
        b"HTTP/1.0" => return Ok(HttpVersion::Http10),
        _ => {}
    }
    match text.strip_prefix(b"HTTP/") {
        Some([b'0'..=b'9', b'.', b'0'..=b'9']) => Err(HeadFault::UNSERVED_VERSION),
        _ => Err(HeadFault::VERSION),
    }
}

impl Target {
    fn read(whole: &[u8], target: &[u8], verb: Verb) -> Result<Self, HeadFault> {
        if target.is_empty() {
            return Err(HeadFault::REQUEST_LINE);
        }
        if !target.iter().all(|&byte| (0x21..=0x7e).contains(&byte) && byte != b'#') {
            return Err(HeadFault::TARGET_BYTE);
        }
        if target[0] == b'/' {
            return Ok(Self::split(whole, Span::ABSENT, target));
        }
        if target == b"*" && verb == Verb::Options {
            return Ok(Self::split(whole, Span::ABSENT, target));
        }
        let rest = strip_scheme(target, b"http://")
            .or_else(|| strip_scheme(target, b"https://"))
            .ok_or(HeadFault::TARGET_FORM)?;
        let end = rest.iter().position(|&byte| byte == b'/' || byte == b'?').unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        if authority.is_empty() || !host::is_valid(authority) {
            return Err(HeadFault::TARGET_AUTHORITY);
        }
        Ok(Self::split(whole, Span::of(whole, authority), rest))
    }

    /// Splits a path from its query; the question mark belongs to neither.
    pub(super) fn split(whole: &[u8], authority: Span, path_and_query: &[u8]) -> Self {
        let (path, query) = match memchr::memchr(b'?', path_and_query) {
            Some(at) => (&path_and_query[..at], Span::of(whole, &path_and_query[at + 1..])),
            None => (path_and_query, Span::ABSENT),
        };
        Self { authority, path: Span::of(whole, path), query }
    }
}

fn strip_scheme<'b>(target: &'b [u8], scheme: &[u8]) -> Option<&'b [u8]> {
    let (start, rest) = target.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}
