//! Reading a head through its index.

use super::HttpVersion;
use super::index::HeadIndex;
use crate::base::ascii::trim_ows;
use crate::tables::headers::Known;
use crate::tables::routes::Verb;

/// What a header read finds: no reader can forget that a header may come twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cardinality<'b> {
    /// Not sent.
    Missing,
    /// Sent on one line; the value without surrounding whitespace, possibly empty.
    One(&'b [u8]),
    /// Sent on several lines.
    Many,
}

impl<'b> Cardinality<'b> {
    /// The value when there is exactly one.
    #[must_use]
    pub const fn one(self) -> Option<&'b [u8]> {
        match self {
            Self::One(value) => Some(value),
            Self::Missing | Self::Many => None,
        }
    }

    /// Whether the header was not sent.
    #[must_use]
    pub const fn is_missing(self) -> bool {
        matches!(self, Self::Missing)
    }
}

/// A head: its bytes and their index.
#[derive(Debug, Clone, Copy)]
pub struct RequestHead<'b> {
    bytes: &'b [u8],
    index: &'b HeadIndex,
}

impl<'b> RequestHead<'b> {
    /// Reads `bytes` by `index`, which must have been made from them. More bytes may follow the head.
    #[must_use]
    pub const fn new(bytes: &'b [u8], index: &'b HeadIndex) -> Self {
        Self { bytes, index }
    }

    /// The index.
    #[must_use]
    pub const fn index(&self) -> &'b HeadIndex {
        self.index
    }

    /// The verb, as far as the endpoint tells verbs apart.
    #[must_use]
    pub const fn verb(&self) -> Verb {
        self.index.verb
    }

    /// The method token as sent.
    #[must_use]
    pub fn method(&self) -> &'b [u8] {
        self.index.method.cut(self.bytes).unwrap_or_default()
    }

    /// The protocol version.
    #[must_use]
    pub const fn version(&self) -> HttpVersion {
        self.index.version
    }

    /// The target's path, percent-encoded as sent: `/` where an absolute-form target has none, `*` for the asterisk form.
    #[must_use]
    pub fn path(&self) -> &'b [u8] {
        match self.index.path.cut(self.bytes) {
            Some([]) | None => b"/",
            Some(path) => path,
        }
    }

    /// The target's query without its question mark, percent-encoded as sent. `Some` and empty for `/mcp?`.
    #[must_use]
    pub fn query(&self) -> Option<&'b [u8]> {
        self.index.query.cut(self.bytes)
    }

    /// Host and port of an absolute-form target, or HTTP/2's `:authority`.
    #[must_use]
    pub fn authority(&self) -> Option<&'b [u8]> {
        self.index.authority.cut(self.bytes)
    }

    /// A known header.
    #[must_use]
    pub fn header(&self, known: Known) -> Cardinality<'b> {
        if self.index.is_duplicated(known) {
            return Cardinality::Many;
        }
        match self.slot(known) {
            Some(value) => Cardinality::One(value),
            None => Cardinality::Missing,
        }
    }

    /// The values of every line of a known header, in order, each without surrounding whitespace.
    pub fn values(&self, known: Known) -> impl Iterator<Item = &'b [u8]> + use<'b> {
        let several = self.index.is_duplicated(known);
        let first = if several { None } else { self.slot(known) };
        let lines = several.then(|| self.lines());
        let name = known.lower().as_bytes();
        first.into_iter().chain(
            lines
                .into_iter()
                .flatten()
                .filter(move |(other, _)| other.eq_ignore_ascii_case(name))
                .map(|(_, value)| value),
        )
    }

    /// Any header by its name, in any case. Reads through all lines: known headers have [`Self::header`].
    #[must_use]
    pub fn field(&self, name: &[u8]) -> Cardinality<'b> {
        let mut values = self.field_values(name);
        match (values.next(), values.next()) {
            (None, _) => Cardinality::Missing,
            (Some(value), None) => Cardinality::One(value),
            (Some(_), Some(_)) => Cardinality::Many,
        }
    }

    /// The values of every line with this name, in any case, in order, each without surrounding whitespace.
    pub fn field_values<'n>(&self, name: &'n [u8]) -> impl Iterator<Item = &'b [u8]> + use<'b, 'n> {
        self.lines().filter(move |(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Every header line in order: its name as sent and its value without surrounding whitespace. Over HTTP/2 only the lines that the
    /// server has a use for.
    #[must_use]
    pub fn lines(&self) -> Lines<'b> {
        Lines { rest: self.index.block.cut(self.bytes).unwrap_or_default() }
    }

    fn slot(&self, known: Known) -> Option<&'b [u8]> {
        if self.index.has(known) { self.index.slots[known.slot()].cut(self.bytes) } else { None }
    }
}

/// Iterator over header lines: name and value.
#[derive(Debug, Clone)]
pub struct Lines<'b> {
    rest: &'b [u8],
}

impl<'b> Iterator for Lines<'b> {
    type Item = (&'b [u8], &'b [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        // The parser has seen to it that every line ends in CR LF and has a colon.
        let end = memchr::memchr(b'\n', self.rest)?;
        let line = self.rest[..end].strip_suffix(b"\r").unwrap_or(&self.rest[..end]);
        self.rest = &self.rest[end + 1..];
        let colon = memchr::memchr(b':', line)?;
        Some((&line[..colon], trim_ows(&line[colon + 1..])))
    }
}
