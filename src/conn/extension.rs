//! Chunk extensions (RFC 9112 7.1.1): names with an optional value, told apart byte by byte. They are ignored, but not skimmed over: servers
//! that disagree on where a malformed one ends disagree on where the chunk begins.

use crate::base::ascii::is_tchar;

/// Where in an extension the next byte stands. Whitespace around a semicolon or an equals sign must be read (RFC 9110 5.6.3); the end of
/// the line may not follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// After whitespace that only a semicolon may follow.
    Gap,
    /// After a semicolon.
    Semicolon,
    Name,
    /// After whitespace behind a name.
    NameGap,
    /// After an equals sign.
    Equals,
    Token,
    Quoted,
    /// After a backslash in a quoted string.
    Escaped,
    /// After the end of a quoted string.
    Unquoted,
}

impl Place {
    /// The place after the first byte behind a chunk's size. `None`: no extension begins like that.
    pub(super) const fn begin(byte: u8) -> Option<Self> {
        match byte {
            b';' => Some(Self::Semicolon),
            b' ' | b'\t' => Some(Self::Gap),
            _ => None,
        }
    }

    /// The place after `byte`. `None`: it cannot stand here.
    pub(super) const fn step(self, byte: u8) -> Option<Self> {
        let blank = matches!(byte, b' ' | b'\t');
        match self {
            Self::Gap => Self::begin(byte),
            Self::Semicolon if blank => Some(self),
            Self::Semicolon | Self::Name if is_tchar(byte) => Some(Self::Name),
            Self::Name | Self::NameGap if byte == b'=' => Some(Self::Equals),
            Self::Name | Self::NameGap if byte == b';' => Some(Self::Semicolon),
            Self::Name | Self::NameGap if blank => Some(Self::NameGap),
            Self::Equals if blank => Some(self),
            Self::Equals if byte == b'"' => Some(Self::Quoted),
            Self::Equals | Self::Token if is_tchar(byte) => Some(Self::Token),
            Self::Token | Self::Unquoted => Self::begin(byte),
            Self::Quoted if byte == b'"' => Some(Self::Unquoted),
            Self::Quoted if byte == b'\\' => Some(Self::Escaped),
            Self::Quoted | Self::Escaped if is_field_byte(byte) => Some(Self::Quoted),
            Self::Semicolon | Self::Name | Self::NameGap | Self::Equals | Self::Quoted | Self::Escaped => {
                None
            }
        }
    }

    /// Whether the line may end here.
    pub(super) const fn may_end(self) -> bool {
        match self {
            Self::Name | Self::Token | Self::Unquoted => true,
            Self::Gap | Self::Semicolon | Self::NameGap | Self::Equals | Self::Quoted | Self::Escaped => {
                false
            }
        }
    }
}

/// Visible characters, spaces, tabs and bytes above ASCII (RFC 9110 5.5).
pub(super) const fn is_field_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `text`, which follows a chunk's size, is a list of extensions.
    fn is_list(text: &[u8]) -> bool {
        let Some((&first, rest)) = text.split_first() else { return true };
        let last = rest.iter().try_fold(Place::begin(first), |place, &byte| Some(place?.step(byte)));
        last.flatten().is_some_and(Place::may_end)
    }

    #[test]
    fn lists() {
        for text in [
            "",
            ";a",
            ";a=b",
            ";a;b=c;d",
            ";a=\"\"",
            ";a=\"b;c = d\"",
            ";a=\"\\\"\\\\\\\t\"",
            ";a=\"\u{e9}\";b",
            " ;\ta \t= b\t; c = \"d\" ;e",
            ";!#$%&'*+-.^_`|~=!#$%&'*+-.^_`|~",
        ] {
            assert!(is_list(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn no_lists() {
        for text in [
            "a",
            ";",
            ";;a",
            ";a;",
            ";=",
            ";=b",
            ";a=",
            ";a==b",
            ";a=b=c",
            ";a b",
            ";a ",
            " ",
            " a",
            ";a=b ",
            ";a=b c",
            ";a=\"",
            ";a=\"b",
            ";a=\"b\\\"",
            ";a=\"\"b",
            ";a=\"b\" ",
            ";\"a\"",
            ";a(b)",
            ";a,b",
            ";a=b\"c\"",
            ";a=\"\n\"",
            ";a=\"\\\n\"",
            ";a=\"\r\"",
            ";a=\"\0\"",
            ";a=\"\x7f\"",
            ";\u{e9}",
            ";a=\u{e9}",
            ",a",
            "\n;a",
        ] {
            assert!(!is_list(text.as_bytes()), "{text:?}");
        }
    }
}
