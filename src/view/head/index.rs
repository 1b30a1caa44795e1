//! Where everything in a head lies.

use super::HttpVersion;
use super::span::Span;
use super::target::RequestLine;
use crate::tables::headers::{Known, PARAM_PREFIX};
use crate::tables::routes::Verb;

/// A head as offsets: a slot for each header the server reads, and the block of all header lines for the rest. It borrows nothing, so it
/// may outlive a move of the bytes it describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadIndex {
    pub(super) verb: Verb,
    pub(super) version: HttpVersion,
    pub(super) has_params: bool,
    pub(super) present: u32,
    pub(super) duplicated: u32,
    pub(super) method: Span,
    pub(super) authority: Span,
    pub(super) path: Span,
    pub(super) query: Span,
    /// All header lines, each with its line end.
    pub(super) block: Span,
    len: u32,
    /// The value of each known header's first line.
    pub(super) slots: [Span; Known::COUNT],
}

impl HeadIndex {
    /// An index without headers.
    pub(super) fn new(line: &RequestLine) -> Self {
        Self {
            verb: line.verb,
            version: line.version,
            has_params: false,
            present: 0,
            duplicated: 0,
            method: line.method,
            authority: line.target.authority,
            path: line.target.path,
            query: line.target.query,
            block: Span::ABSENT,
            len: 0,
            slots: [Span::ABSENT; Known::COUNT],
        }
    }

    /// Notes one header line and tells whether the server has a use for it.
    pub(super) fn note(&mut self, name: &[u8], value: Span) -> bool {
        if let Some(known) = Known::find(name) {
            let bit = 1 << known.slot();
            if self.present & bit == 0 {
                self.present |= bit;
                self.slots[known.slot()] = value;
            } else {
                self.duplicated |= bit;
            }
            return true;
        }
        let param = is_param(name);
        self.has_params |= param;
        param
    }

    /// Sets the extent: where the header lines lie and how long the whole head is.
    pub(super) fn close(&mut self, block: Span, len: usize) {
        self.block = block;
        self.len = u32::try_from(len).unwrap_or(u32::MAX);
    }

    /// The length of the head in bytes: the body starts there.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether the head has no bytes. Never for a parsed one.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether any `Mcp-Param-*` header was sent.
    #[must_use]
    pub const fn has_params(&self) -> bool {
        self.has_params
    }

    /// Whether the header was sent at least once.
    #[must_use]
    pub const fn has(&self, known: Known) -> bool {
        self.present & (1 << known.slot()) != 0
    }

    /// Whether the header was sent on more than one line.
    #[must_use]
    pub const fn is_duplicated(&self, known: Known) -> bool {
        self.duplicated & (1 << known.slot()) != 0
    }
}

fn is_param(name: &[u8]) -> bool {
    name.get(..PARAM_PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PARAM_PREFIX.as_bytes()))
}
