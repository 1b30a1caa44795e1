//! Mirrored header values: their characters, and the base64 sentinel (2026-07-28, streamable HTTP, value encoding).

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::base::ascii::is_visible;

/// A header value that is not one: a control character, a byte outside ASCII, or a sentinel that does not decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// Whether `value` stands for `text` as the usual values do: it is the same, has no tab, and is not wrapped. False says nothing.
#[must_use]
pub fn is_plainly(value: &[u8], text: &str) -> bool {
    value == text.as_bytes() && is_visible(value) && !value.starts_with(b"=?")
}

/// Checks a value that is compared as it stands: visible ASCII, space and tab.
///
/// # Errors
/// [`Malformed`] for any other byte.
pub fn plain(value: &[u8]) -> Result<&str, Malformed> {
    if value.iter().all(|&byte| matches!(byte, b'\t' | 0x20..=0x7e)) {
        std::str::from_utf8(value).map_err(|_| Malformed)
    } else {
        Err(Malformed)
    }
}

/// Reads a value that may be wrapped as `=?base64?…?=`: exact-case markers, standard alphabet, padding, zero trailing bits, UTF-8 inside.
///
/// # Errors
/// [`Malformed`] for characters outside visible ASCII, and for a wrapped value that is not strict base64 of UTF-8.
pub fn decode(value: &[u8]) -> Result<Cow<'_, str>, Malformed> {
    let text = plain(value)?;
    let Some(inner) = text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Ok(Cow::Borrowed(text));
    };
    let bytes = STANDARD.decode(inner).map_err(|_| Malformed)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentinels() {
        for (value, want) in [
            ("us-west1", Ok("us-west1")),
            ("=?base64?SGVsbG8=?=", Ok("Hello")),
            ("=?base64??=", Ok("")),
            ("SGVsbG8=", Ok("SGVsbG8=")),
            ("=?base64?SGVsbG8=", Ok("=?base64?SGVsbG8=")),
            ("=?BASE64?SGVsbG8=?=", Ok("=?BASE64?SGVsbG8=?=")),
            ("=?base64?SGVsbG8sIOS4lueVjA==?=", Ok("Hello, 世界")),
            ("=?base64?=", Ok("=?base64?=")),
            ("=?base64?SGVsbG8?=", Err(Malformed)),
            ("=?base64?SGVs!!!bG8=?=", Err(Malformed)),
            ("=?base64?SGVsbG9=?=", Err(Malformed)),
            ("=?base64?/w==?=", Err(Malformed)),
            ("=?base64?SGVs bG8=?=", Err(Malformed)),
            ("=?base64?SGVsbG8_?=", Err(Malformed)),
            ("caf\u{e9}", Err(Malformed)),
            ("a\u{1}b", Err(Malformed)),
        ] {
            assert_eq!(decode(value.as_bytes()).as_deref(), want.as_ref().map(|text| *text), "{value}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_plain_decodes_to_itself(text in "[ -~]{0,20}[\\x00-\\x{80}]{0,2}[ -~]{0,20}") {
            if is_plainly(text.as_bytes(), &text) {
                let decoded = decode(text.as_bytes()).map(Cow::into_owned);
                proptest::prop_assert_eq!(decoded.as_ref(), Ok(&text));
                proptest::prop_assert_eq!(plain(text.as_bytes()), Ok(text.as_str()));
            } else {
                let odd = text.starts_with("=?") || text.bytes().any(|byte| !(b' '..=b'~').contains(&byte));
                proptest::prop_assert!(odd);
            }
            let longer = text.clone() + "x";
            proptest::prop_assert!(!is_plainly(text.as_bytes(), &longer));
        }

        #[test]
        fn whatever_is_wrapped_reads_back(text: String) {
            let wrapped = format!("=?base64?{}?=", STANDARD.encode(&text));
            proptest::prop_assert_eq!(decode(wrapped.as_bytes()).unwrap(), text);
        }
    }
}
