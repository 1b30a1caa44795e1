//! JSON written straight into the answer's buffer.

/// Appends `text` as a JSON string: quotes, backslashes and control characters escaped, everything else as it is.
pub fn write_str(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    write_str_part(out, text);
    out.push(b'"');
}

/// Appends the inside of a JSON string, without its quotes.
pub fn write_str_part(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let class = ESCAPE[usize::from(byte)];
        if class == 0 {
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        if class == b'u' {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        } else {
            out.extend_from_slice(&[b'\\', class]);
        }
    }
    out.extend_from_slice(&bytes[from..]);
}

/// Appends `bytes` as a JSON string, invalid UTF-8 replaced and everything past `most` bytes cut: for diagnoses that repeat what a peer
/// sent.
pub fn write_lossy(out: &mut Vec<u8>, bytes: &[u8], most: usize) {
    let cut = &bytes[..bytes.len().min(most)];
    write_str(out, &String::from_utf8_lossy(cut));
}

/// Appends an integer.
pub fn write_int(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// 0: as it is; `u`: as `\u00XX`; else the letter after the backslash.
const ESCAPE: [u8; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 0x20 {
        table[at] = b'u';
        at += 1;
    }
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0a] = b'n';
    table[0x0c] = b'f';
    table[0x0d] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write_str(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn escapes_are_minimal() {
        assert_eq!(written(""), "\"\"");
        assert_eq!(written("a\"b\\c/é😀\u{7f}"), "\"a\\\"b\\\\c/é😀\u{7f}\"");
        assert_eq!(written("\0\u{1f}\n\r\t\u{8}\u{c}"), "\"\\u0000\\u001f\\n\\r\\t\\b\\f\"");
    }

    proptest::proptest! {
        #[test]
        fn every_string_reads_back(text: String) {
            let back: String = serde_json::from_str(&written(&text)).unwrap();
            proptest::prop_assert_eq!(back, text);
        }
    }

    #[test]
    fn lossy_cuts_and_replaces() {
        let mut out = Vec::new();
        write_lossy(&mut out, b"ab\xffcd", 4);
        assert_eq!(String::from_utf8(out).unwrap(), "\"ab\u{fffd}c\"");
    }
}
