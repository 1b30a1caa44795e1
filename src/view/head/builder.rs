//! An index for heads that arrive in pieces: HTTP/2.

use super::HttpVersion;
use super::index::HeadIndex;
use super::span::Span;
use super::target::{RequestLine, Target};
use crate::tables::routes::Verb;

/// Writes the pieces of a head that the server has a use for into a scratch buffer and indexes them there. Fields come last.
#[derive(Debug)]
pub struct HeadBuilder<'s> {
    scratch: &'s mut Vec<u8>,
    index: HeadIndex,
    /// Where the header lines start; fixed by the first one.
    block: Option<usize>,
}

impl<'s> HeadBuilder<'s> {
    /// Starts a head in `scratch`, whose bytes are dropped and whose storage is reused.
    #[must_use]
    pub fn new(scratch: &'s mut Vec<u8>) -> Self {
        scratch.clear();
        let target = Target { authority: Span::ABSENT, path: Span::ABSENT, query: Span::ABSENT };
        let line =
            RequestLine { method: Span::ABSENT, verb: Verb::Other, version: HttpVersion::Http2, target };
        Self { scratch, index: HeadIndex::new(&line), block: None }
    }

    /// Sets the method (`:method`).
    #[must_use]
    pub fn method(mut self, method: &[u8]) -> Self {
        self.index.verb = Verb::from_token(method);
        self.index.method = self.append(method);
        self
    }

    /// Sets the target: path with query (`:path`) and authority (`:authority`).
    #[must_use]
    pub fn target(mut self, path_and_query: &[u8], authority: Option<&[u8]>) -> Self {
        if let Some(authority) = authority {
            self.index.authority = self.append(authority);
        }
        let start = self.append(path_and_query).start();
        let target = Target::split(self.scratch, Span::ABSENT, &self.scratch[start..]);
        (self.index.path, self.index.query) = (target.path, target.query);
        self
    }

    /// Adds a header. Dropped when the server has no use for it, or when it could not be a header line: a name with a colon, a name or
    /// value with a line end.
    pub fn field(&mut self, name: &[u8], value: &[u8]) {
        if memchr::memchr3(b'\r', b'\n', b':', name).is_none()
            && memchr::memchr2(b'\r', b'\n', value).is_none()
        {
            self.checked_field(name, value);
        }
    }

    /// Adds a header that could be a header line: others have checked its name, a token, and its value. Dropped when the server has no use
    /// for it.
    pub fn checked_field(&mut self, name: &[u8], value: &[u8]) {
        // RFC 9110 5.5: surrounding whitespace is not part of the value, whatever the framing.
        let value = crate::base::ascii::trim_ows(value);
        let start = self.scratch.len();
        let at = start + name.len() + 2;
        if self.index.note(name, Span::new(at, at + value.len())) {
            self.block.get_or_insert(start);
            self.scratch.reserve(name.len() + value.len() + 4);
            for piece in [name, b": ", value, b"\r\n"] {
                self.scratch.extend_from_slice(piece);
            }
        }
    }

    /// The index; it belongs to the bytes in the scratch buffer.
    #[must_use]
    pub fn finish(mut self) -> HeadIndex {
        let end = self.scratch.len();
        self.index.close(Span::new(self.block.unwrap_or(end), end), end);
        self.index
    }

    fn append(&mut self, piece: &[u8]) -> Span {
        debug_assert!(self.block.is_none(), "fields come last");
        let start = self.scratch.len();
        self.scratch.extend_from_slice(piece);
        Span::new(start, self.scratch.len())
    }
}
