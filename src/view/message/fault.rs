//! Why a body is refused, in words for whoever sent it. All of this runs after a fault only.

use std::fmt;

use simd_json::{Error, ErrorType};

/// What is wrong with a body. `at` is a byte offset from the body's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonFault {
    /// Nothing there, or whitespace only.
    Empty,
    /// It starts with a byte-order mark (RFC 8259 8.1).
    ByteOrderMark,
    /// It is not UTF-8.
    NotUtf8 {
        /// The first byte that is not.
        at: usize,
    },
    /// Arrays and objects nest deeper than the ceiling.
    TooDeep {
        /// The deepest nesting that is read.
        ceiling: usize,
        /// Where it was passed.
        at: usize,
    },
    /// It is made of more values than are read.
    TooMany {
        /// The most that are read.
        ceiling: usize,
    },
    /// An integer outside i64..u64, or a float that overflows.
    NumberOutOfRange {
        /// Where the number starts.
        at: usize,
    },
    /// One of the protocol's own keys comes twice in one object. The key is cut after 64 bytes.
    DuplicatedKey(Box<str>),
    /// It is not JSON.
    Syntax {
        /// Where.
        at: usize,
        /// What is wrong there.
        what: &'static str,
    },
}

impl JsonFault {
    /// The longest key that is repeated in a diagnosis, in bytes.
    const LONGEST_KEY: usize = 64;

    pub(super) fn duplicated(key: &str) -> Self {
        Self::DuplicatedKey(key[..key.floor_char_boundary(Self::LONGEST_KEY)].into())
    }

    /// Appends the diagnosis: one line.
    pub fn write_text(&self, out: &mut impl fmt::Write) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the body is empty"),
            Self::ByteOrderMark => f.write_str("the body starts with a byte-order mark, JSON has none"),
            Self::NotUtf8 { at } => write!(f, "the body is not UTF-8 at byte {at}"),
            Self::TooDeep { ceiling, at } => {
                write!(f, "the body nests deeper than {ceiling} arrays and objects at byte {at}")
            }
            Self::TooMany { ceiling } => {
                write!(f, "the body has more than {ceiling} values, keys counted too")
            }
            Self::NumberOutOfRange { at } => {
                write!(f, "the number at byte {at} is an integer outside i64..u64 or a float that overflows")
            }
            Self::DuplicatedKey(key) => write!(f, "the key `{}` is duplicated", key.escape_debug()),
            Self::Syntax { at, what } => write!(f, "{what} at byte {at}"),
        }
    }
}

impl std::error::Error for JsonFault {}

/// Faults that are looked for before the parser runs.
pub(super) fn before_parsing(body: &[u8]) -> Option<JsonFault> {
    match body {
        [b'{' | b'[', ..] => None,
        [0xef, 0xbb, 0xbf, ..] => Some(JsonFault::ByteOrderMark),
        _ if body.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) => Some(JsonFault::Empty),
        _ => None,
    }
}

/// What the parser left behind when it gave up.
pub(super) struct Evidence<'e> {
    /// The body; strings before the fault are unescaped in place, so their tails are garbage.
    pub(super) body: &'e [u8],
    /// Offsets of all punctuation and of the first byte of every scalar.
    pub(super) structurals: &'e [u32],
    /// How many nodes were made before the fault.
    pub(super) nodes: usize,
    /// Whether the root, an array or object, is complete in these nodes.
    pub(super) root_closed: bool,
    /// The depth ceiling.
    pub(super) max_depth: usize,
}

impl Evidence<'_> {
    /// Puts the parser's error into words.
    #[cold]
    pub(super) fn explain(&self, error: &Error) -> JsonFault {
        // The first stage names no character; it runs before any byte is overwritten.
        if error.character().is_none() {
            return self.explain_first_stage();
        }
        let at = error.index();
        let syntax = |what| JsonFault::Syntax { at, what };
        match error.error() {
            ErrorType::DepthLimitExceeded => JsonFault::TooDeep { ceiling: self.max_depth, at },
            ErrorType::InvalidNumber => self.explain_number(at),
            // The parser's own offset counts from the string's start on some machines and from the body's on others.
            ErrorType::InvalidEscape => {
                JsonFault::Syntax { at: self.last_node(), what: "an escape that is not JSON's in the string" }
            }
            ErrorType::InvalidUnicodeCodepoint | ErrorType::InvalidUnicodeEscape | ErrorType::InvalidUtf8 => {
                JsonFault::Syntax {
                    at: self.last_node(),
                    what: "a malformed \\u escape or a lone surrogate in the string",
                }
            }
            ErrorType::Syntax => JsonFault::Syntax { at: self.body.len(), what: "the text ends too early" },
            // The offset is that of the root: of a scalar's start, of an array's or object's closing bracket.
            ErrorType::TrailingData => self.trailing(at),
            ErrorType::InternalError if self.root_closed && matches!(error.character(), Some('}' | ']')) => {
                self.trailing(at)
            }
            ErrorType::ExpectedObjectColon => syntax("expected `:`"),
            ErrorType::ExpectedObjectKey => syntax("expected a key in quotes"),
            ErrorType::ExpectedObjectContent => syntax("expected a key, `,` or `}`"),
            ErrorType::ExpectedArrayContent => syntax("expected `,` or `]`"),
            ErrorType::ExpectedTrue | ErrorType::ExpectedFalse | ErrorType::ExpectedNull => {
                syntax("a word that is not true, false or null")
            }
            _ => syntax("unexpected text"),
        }
    }

    fn explain_first_stage(&self) -> JsonFault {
        if let Err(error) = std::str::from_utf8(self.body) {
            return JsonFault::NotUtf8 { at: error.valid_up_to() };
        }
        let mut opened = None;
        let mut escaped = false;
        for (at, &byte) in self.body.iter().enumerate() {
            match (opened, byte) {
                (Some(_), 0..=0x1f) => {
                    return JsonFault::Syntax { at, what: "an unescaped control character in a string" };
                }
                _ if escaped => escaped = false,
                (Some(_), b'\\') => escaped = true,
                (Some(_), b'"') => opened = None,
                (None, b'"') => opened = Some(at),
                _ => {}
            }
        }
        match opened {
            Some(at) => JsonFault::Syntax { at, what: "a string that does not end" },
            None => JsonFault::Syntax { at: 0, what: "unexpected text" },
        }
    }

    /// Tells a number that is too large from one that is misspelled.
    fn explain_number(&self, near: usize) -> JsonFault {
        let in_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let near = near.min(self.body.len());
        let start = near - self.body[..near].iter().rev().take_while(|byte| in_number(byte)).count();
        let len = self.body[start..].iter().take_while(|byte| in_number(byte)).count();
        let ends_well = self
            .body
            .get(start + len)
            .is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b']' | b'}'));
        if ends_well && is_number(&self.body[start..start + len]) {
            JsonFault::NumberOutOfRange { at: start }
        } else {
            JsonFault::Syntax { at: start, what: "a malformed number" }
        }
    }

    /// Text after the root, of which `at` is a part.
    fn trailing(&self, at: usize) -> JsonFault {
        let mut offsets = self.structurals.iter().map(|&offset| offset as usize);
        JsonFault::Syntax {
            at: offsets.find(|&offset| offset > at).unwrap_or(at),
            what: "more text after the end of the value",
        }
    }

    /// Where the node starts that the parser could not finish.
    fn last_node(&self) -> usize {
        self.structurals
            .iter()
            .map(|&offset| offset as usize)
            .filter(|&offset| !matches!(self.body.get(offset), Some(b',' | b':' | b']' | b'}')))
            .nth(self.nodes)
            .unwrap_or(self.body.len())
    }
}

/// Whether `text` is a JSON number (RFC 8259 section 6).
fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (rest[0] == b'0' && whole > 1) {
        return false;
    }
    rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent =
            exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
        let count = digits(exponent);
        if count == 0 {
            return false;
        }
        rest = &exponent[count..];
    }
    rest.is_empty()
}
