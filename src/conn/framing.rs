//! How a request's body is delimited and what becomes of the connection after it (RFC 9112 sections 6, 7 and 9; RFC 9110 10.1.1).

use crate::base::ascii::{list_members, parse_decimal, trim_ows};
use crate::reply::head::Persistence;
use crate::tables::headers::Known;
use crate::tables::routes::Verb;
use crate::view::head::{Cardinality, HeadFault, HttpVersion, RequestHead};

/// How the body is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// So many bytes; none where nothing was declared.
    Length(u64),
    /// By chunks.
    Chunked,
}

impl Body {
    pub(super) fn is_empty(self) -> bool {
        self == Self::Length(0)
    }

    /// The length, where the head tells it.
    pub(super) fn declared(self) -> Option<u64> {
        match self {
            Self::Length(length) => Some(length),
            Self::Chunked => None,
        }
    }
}

/// What a head says about its message and its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) body: Body,
    /// Whether the client waits for `100 Continue`.
    pub(super) expects: bool,
    /// Whether the answer's body is left out.
    pub(super) head_only: bool,
    pub(super) version: HttpVersion,
    pub(super) persistence: Persistence,
}

impl Frame {
    /// The frame of an answer to a head that could not be read.
    pub(super) const UNREAD: Self = Self {
        body: Body::Length(0),
        expects: false,
        head_only: false,
        version: HttpVersion::Http11,
        persistence: Persistence::Close,
    };

    /// Reads an HTTP/1.x head.
    pub(super) fn read(head: RequestHead<'_>) -> Result<Self, HeadFault> {
        let version = head.version();
        Ok(Self {
            body: body(head, version)?,
            expects: expects(head, version)?,
            head_only: head.verb() == Verb::Head,
            version,
            persistence: persistence(head, version),
        })
    }
}

const fn fault(status: u16, text: &'static str) -> HeadFault {
    HeadFault { status, text }
}

fn body(head: RequestHead<'_>, version: HttpVersion) -> Result<Body, HeadFault> {
    let length = head.header(Known::ContentLength);
    match head.header(Known::TransferEncoding) {
        Cardinality::Missing => {}
        Cardinality::Many => return Err(fault(400, "more than one Transfer-Encoding header")),
        Cardinality::One(coding) => {
            if !matches!(length, Cardinality::Missing) {
                return Err(fault(400, "Content-Length beside Transfer-Encoding; send one of them"));
            }
            if version == HttpVersion::Http10 {
                return Err(fault(400, "an HTTP/1.0 request cannot have Transfer-Encoding"));
            }
            return chunked(coding);
        }
    }
    match length {
        Cardinality::Missing => Ok(Body::Length(0)),
        Cardinality::Many => Err(fault(400, "more than one Content-Length header")),
        Cardinality::One(digits) => parse_decimal(digits)
            .map(Body::Length)
            .ok_or(fault(400, "Content-Length is not a decimal number")),
    }
}

/// `chunked` alone is served. Another coding before it is one we lack; a list that does not end in it, or names it twice, has no end.
fn chunked(codings: &[u8]) -> Result<Body, HeadFault> {
    const IS: &[u8] = b"chunked";
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(IS);
    if is_chunked(codings) {
        return Ok(Body::Chunked);
    }
    let last = list_members(codings).last().unwrap_or_default();
    if !is_chunked(last) || list_members(codings).filter(|coding| is_chunked(coding)).count() > 1 {
        return Err(fault(400, "Transfer-Encoding does not end in one chunked"));
    }
    if list_members(codings).count() > 1 {
        return Err(fault(501, "transfer codings other than chunked are not served"));
    }
    Err(fault(400, "Transfer-Encoding is malformed"))
}

fn expects(head: RequestHead<'_>, version: HttpVersion) -> Result<bool, HeadFault> {
    match head.header(Known::Expect) {
        _ if version == HttpVersion::Http10 => Ok(false),
        Cardinality::Missing => Ok(false),
        Cardinality::One(value) if value.eq_ignore_ascii_case(b"100-continue") => Ok(true),
        Cardinality::One(_) | Cardinality::Many => {
            Err(fault(417, "the only expectation served is 100-continue"))
        }
    }
}

fn persistence(head: RequestHead<'_>, version: HttpVersion) -> Persistence {
    let names = |option: &[u8]| match head.header(Known::Connection) {
        Cardinality::Missing => false,
        Cardinality::One(_) | Cardinality::Many => head
            .values(Known::Connection)
            .any(|line| list_members(line).any(|member| trim_ows(member).eq_ignore_ascii_case(option))),
    };
    match version {
        HttpVersion::Http11 | HttpVersion::Http2 if names(b"close") => Persistence::Close,
        HttpVersion::Http11 | HttpVersion::Http2 => Persistence::Default,
        HttpVersion::Http10 if names(b"keep-alive") && !names(b"close") => Persistence::KeepAlive,
        HttpVersion::Http10 => Persistence::Close,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::limits::Limits;
    use crate::view::head::HeadParser;

    fn read(version: &str, fields: &str) -> Result<Frame, u16> {
        let text = format!("POST /mcp HTTP/{version}\r\nHost: localhost\r\n{fields}\r\n");
        let index = HeadParser::new().parse(text.as_bytes(), &Limits::default()).unwrap().unwrap();
        Frame::read(RequestHead::new(&text.as_bytes()[..index.len()], &index)).map_err(|fault| fault.status)
    }

    #[test]
    fn bodies() {
        for (fields, body) in [
            ("", Ok(Body::Length(0))),
            ("Content-Length: 0\r\n", Ok(Body::Length(0))),
            ("Content-Length: \t17 \r\n", Ok(Body::Length(17))),
            ("Content-Length: 0017\r\n", Ok(Body::Length(17))),
            ("Transfer-Encoding: chunked\r\n", Ok(Body::Chunked)),
            ("transfer-encoding: \tCHUNKED \r\n", Ok(Body::Chunked)),
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", Err(400)),
            ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", Err(400)),
            ("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n", Err(400)),
            ("Content-Length: 5\r\nContent-Length: 5\r\n", Err(400)),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", Err(400)),
            ("Content-Length: 5, 5\r\n", Err(400)),
            ("Content-Length: +5\r\n", Err(400)),
            ("Content-Length: -5\r\n", Err(400)),
            ("Content-Length: 5 5\r\n", Err(400)),
            ("Content-Length: 0x5\r\n", Err(400)),
            ("Content-Length: 5_0\r\n", Err(400)),
            ("Content-Length:\r\n", Err(400)),
            ("Content-Length: 1111111111111111111111111\r\n", Err(400)),
            ("Content-Length: 18446744073709551616\r\n", Err(400)),
            ("Transfer-Encoding: gzip, chunked\r\n", Err(501)),
            ("Transfer-Encoding: gzip\r\n", Err(400)),
            ("Transfer-Encoding: chunked, gzip\r\n", Err(400)),
            ("Transfer-Encoding: chunked, chunked\r\n", Err(400)),
            ("Transfer-Encoding: chunked,\r\n", Err(400)),
            ("Transfer-Encoding: chunked;q=1\r\n", Err(400)),
            ("Transfer-Encoding: xchunked\r\n", Err(400)),
            ("Transfer-Encoding: identity\r\n", Err(400)),
            ("Transfer-Encoding:\r\n", Err(400)),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", Err(400)),
            ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", Err(400)),
        ] {
            assert_eq!(read("1.1", fields).map(|frame| frame.body), body, "{fields:?}");
        }
        assert_eq!(read("1.0", "Transfer-Encoding: chunked\r\n"), Err(400));
        assert_eq!(read("1.0", "Content-Length: 3\r\n").map(|frame| frame.body), Ok(Body::Length(3)));
    }

    #[test]
    fn expectations() {
        for (version, fields, expects) in [
            ("1.1", "", Ok(false)),
            ("1.1", "Expect: 100-continue\r\n", Ok(true)),
            ("1.1", "Expect: 100-Continue\r\n", Ok(true)),
            ("1.1", "Expect: 200-ok\r\n", Err(417)),
            ("1.1", "Expect: 100-continue, x\r\n", Err(417)),
            ("1.1", "Expect:\r\n", Err(417)),
            ("1.1", "Expect: 100-continue\r\nExpect: 100-continue\r\n", Err(417)),
            ("1.0", "Expect: 100-continue\r\n", Ok(false)),
            ("1.0", "Expect: anything\r\n", Ok(false)),
        ] {
            assert_eq!(read(version, fields).map(|frame| frame.expects), expects, "{version} {fields:?}");
        }
    }

    #[test]
    fn persistence_follows_version_and_options() {
        for (version, fields, expected) in [
            ("1.1", "", Persistence::Default),
            ("1.1", "Connection: keep-alive\r\n", Persistence::Default),
            ("1.1", "Connection: close\r\n", Persistence::Close),
            ("1.1", "Connection: a, Close\r\n", Persistence::Close),
            ("1.1", "Connection: a\r\nConnection: close\r\n", Persistence::Close),
            ("1.1", "Connection: closed\r\n", Persistence::Default),
            ("1.1", "Connection: upgrade\r\nUpgrade: h2c\r\n", Persistence::Default),
            ("1.0", "", Persistence::Close),
            ("1.0", "Connection: Keep-Alive\r\n", Persistence::KeepAlive),
            ("1.0", "Connection: keep-alive, close\r\n", Persistence::Close),
        ] {
            let frame = read(version, fields).unwrap();
            assert_eq!(frame.persistence, expected, "{version} {fields:?}");
        }
    }
}
