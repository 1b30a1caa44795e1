//! The form of a host with an optional port (RFC 3986 section 3.2, without userinfo).

/// Whether `value` is a host with an optional port. Empty is valid: a target without an authority has an empty `Host` (RFC 9112 3.2). A port
/// alone is not: it would make a URL without a host, and that is none (RFC 9110 4.2.1).
pub(super) fn is_valid(value: &[u8]) -> bool {
    let name = value.iter().take_while(|&&byte| IS_NAME_BYTE[usize::from(byte)]).count();
    match &value[name..] {
        [] => true,
        [b':', port @ ..] => name > 0 && is_port(port),
        _ => is_unusual(value),
    }
}

/// An address in brackets, or a name with encoded bytes.
fn is_unusual(value: &[u8]) -> bool {
    if let Some(rest) = value.strip_prefix(b"[") {
        let Some(end) = memchr::memchr(b']', rest) else { return false };
        let (literal, rest) = (&rest[..end], &rest[end + 1..]);
        return !literal.is_empty()
            && literal.iter().all(|&byte| is_name_byte(byte) || byte == b':')
            && (rest.is_empty() || rest.strip_prefix(b":").is_some_and(is_port));
    }
    let (name, port) = match memchr::memchr(b':', value) {
        Some(at) => (&value[..at], &value[at + 1..]),
        None => (value, &value[..0]),
    };
    is_registered_name(name) && is_port(port)
}

/// Digits, or nothing (RFC 3986 3.2.3).
fn is_port(port: &[u8]) -> bool {
    port.iter().all(u8::is_ascii_digit)
}

fn is_registered_name(name: &[u8]) -> bool {
    let mut rest = name;
    loop {
        rest = match rest {
            [] => return true,
            [b'%', high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => after,
            [byte, after @ ..] if is_name_byte(*byte) => after,
            _ => return false,
        };
    }
}

const IS_NAME_BYTE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = is_name_byte(byte as u8);
        byte += 1;
    }
    table
};

/// Unreserved characters and sub-delimiters (RFC 3986 section 2).
const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'.'
                | b'_'
                | b'~'
                | b'!'
                | b'$'
                | b'&'
                | b'\''
                | b'('
                | b')'
                | b'*'
                | b'+'
                | b','
                | b';'
                | b'='
        )
}

#[cfg(test)]
mod tests {
    use super::is_valid;

    #[test]
    fn hosts() {
        for good in
            ["", "localhost", "a.example:80", "127.0.0.1:", "[::1]", "[::1]:8080", "a%2eb", "x_y", "[v1.a:b]"]
        {
            assert!(is_valid(good.as_bytes()), "{good:?}");
        }
        for bad in [
            "a b", "a/b", "u@h", "a:b", "a:80:80", "[::1", "[]", "[::1]x", "[::1]:x", "a%2", "a%zz", "a?b",
            "a#b", "é", "a\u{7f}", "::1", "\"a\"", "a\\b", "<a>", "[a/b]", ":80", ":",
        ] {
            assert!(!is_valid(bad.as_bytes()), "{bad:?}");
        }
    }
}
