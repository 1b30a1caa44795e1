//! Byte-string helpers for header values (RFC 9110 section 5.6).

use super::swar::{WORD, any_below, any_beyond_ascii, any_is};

/// Strips spaces and tabs from both ends: surrounding whitespace is not part of a field value (RFC 9110 5.5).
#[must_use]
pub fn trim_ows(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// Whether `byte` may stand in a token (RFC 9110 5.6.2).
#[must_use]
pub const fn is_tchar(byte: u8) -> bool {
    matches!(
        byte,
        b'!' | b'#'
            | b'$'
            | b'%'
            | b'&'
            | b'\''
            | b'*'
            | b'+'
            | b'-'
            | b'.'
            | b'^'
            | b'_'
            | b'`'
            | b'|'
            | b'~'
    ) || byte.is_ascii_alphanumeric()
}

/// Whether `value` is a token: at least one character, token characters only.
#[must_use]
pub fn is_token(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(|&byte| is_tchar(byte))
}

/// The members of a comma-separated list, trimmed, empty ones left out (RFC 9110 5.6.1). Quoted strings keep their commas.
pub fn list_members(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    split_outside_quotes(value, b',').map(trim_ows).filter(|member| !member.is_empty())
}

/// Splits at `separator` wherever it stands outside a quoted string.
pub fn split_outside_quotes(value: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(value);
    std::iter::from_fn(move || {
        let current = rest?;
        let mut quoted = false;
        let mut at = 0;
        while at < current.len() {
            match current[at] {
                b'"' => quoted = !quoted,
                b'\\' if quoted => at += 1,
                byte if byte == separator && !quoted => {
                    rest = Some(&current[at + 1..]);
                    return Some(&current[..at]);
                }
                _ => {}
            }
            at += 1;
        }
        rest = None;
        Some(current)
    })
}

/// An unsigned decimal with digits only: no sign, no spaces, no overflow.
#[must_use]
pub fn parse_decimal(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > 20 {
        return None;
    }
    value.iter().try_fold(0_u64, |total, &byte| {
        if !byte.is_ascii_digit() {
            return None;
        }
        total.checked_mul(10)?.checked_add(u64::from(byte - b'0'))
    })
}

/// Whether there is nothing but visible ASCII and spaces.
#[inline]
#[must_use]
pub fn is_visible(bytes: &[u8]) -> bool {
    let visible = |word: [u8; WORD]| !any_below(word, b' ') && !any_is(word, 0x7f) && !any_beyond_ascii(word);
    match (bytes.last_chunk(), bytes.as_chunks().0) {
        (Some(last), words) => visible(*last) && words.iter().all(|word| visible(*word)),
        (None, _) => bytes.iter().all(|byte| matches!(byte, b' '..=b'~')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_is_judged_byte_by_byte() {
        for byte in 0..=255_u8 {
            for len in 1..20 {
                for at in 0..len {
                    let mut bytes = vec![b'~'; len];
                    bytes[at] = byte;
                    assert_eq!(is_visible(&bytes), (b' '..=b'~').contains(&byte), "{byte} at {at} of {len}");
                }
            }
        }
        assert!(is_visible(b""));
    }

    #[test]
    fn trims_spaces_and_tabs_only() {
        assert_eq!(trim_ows(b" \t a b\t "), b"a b");
        assert_eq!(trim_ows(b"\r a"), b"\r a");
        assert_eq!(trim_ows(b"   "), b"");
    }

    #[test]
    fn tokens() {
        assert!(is_token(b"application"));
        assert!(!is_token(b""));
        assert!(!is_token(b"a b"));
        assert!(!is_token("é".as_bytes()));
    }

    #[test]
    fn lists_keep_quoted_commas() {
        let members: Vec<_> = list_members(b"a, \"b,\\\"c\" ,, d").collect();
        assert_eq!(members, [&b"a"[..], b"\"b,\\\"c\"", b"d"]);
    }

    #[test]
    fn decimals_have_digits_only() {
        assert_eq!(parse_decimal(b"0"), Some(0));
        assert_eq!(parse_decimal(b"18446744073709551615"), Some(u64::MAX));
        for bad in ["", "+1", "-1", " 1", "1 ", "0x1", "18446744073709551616", "1,1", "111111111111111111111"]
        {
            assert_eq!(parse_decimal(bad.as_bytes()), None, "{bad:?}");
        }
    }
}
