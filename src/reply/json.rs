//! JSON written straight into the answer's buffer.

use crate::base::swar::{WORD, any_below, any_is};

/// Appends `text` as a JSON string: quotes, backslashes and control characters escaped, everything else as it is.
pub fn write_str(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    write_str_part(out, text);
    out.push(b'"');
}

/// Appends the inside of a JSON string, without its quotes. Whole blocks become vector code, which long texts want; in the rest eight bytes
/// at once are told from those that need a closer look.
pub fn write_str_part(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes.len() - at >= BLOCK {
            at += plain_blocks::<LONG_BLOCK>(&bytes[at..]);
            at += plain_blocks::<BLOCK>(&bytes[at..]);
        }
        match bytes[at..].first_chunk() {
            Some(word) if !needs_escape(*word) => {
                at += WORD;
                continue;
            }
            // The last few bytes are looked at together with those before.
            None if bytes.last_chunk().is_some_and(|word| !needs_escape(*word)) => break,
            Some(_) | None => {}
        }
        let end = bytes.len().min(at + WORD);
        while at < end {
            let byte = bytes[at];
            at += 1;
            if ESCAPE[usize::from(byte)] != 0 {
                out.extend_from_slice(&bytes[from..at - 1]);
                from = at;
                write_escape(out, byte);
            }
        }
    }
    out.extend_from_slice(&bytes[from..]);
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    match ESCAPE[usize::from(byte)] {
        b'u' => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        }
        letter => out.extend_from_slice(&[b'\\', letter]),
    }
}

const BLOCK: usize = 32;
/// What a whole block comes to is one more step, of which a long text should not take many.
const LONG_BLOCK: usize = 128;

/// How many bytes from the front need no escape, in whole blocks.
fn plain_blocks<const BLOCK: usize>(bytes: &[u8]) -> usize {
    let escaped = |byte: u8| u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\');
    let plain = |block: &&[u8]| block.iter().fold(0, |any, &byte| any | escaped(byte)) == 0;
    BLOCK * bytes.chunks_exact(BLOCK).take_while(plain).count()
}

fn needs_escape(word: [u8; WORD]) -> bool {
    any_below(word, 0x20) | any_is(word, b'"') | any_is(word, b'\\')
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

    #[test]
    fn an_escape_is_found_wherever_it_stands() {
        for len in (0..=3 * BLOCK).chain([LONG_BLOCK - 1, LONG_BLOCK, 2 * LONG_BLOCK + BLOCK + 1]) {
            for at in 0..len {
                let mut text = "x".repeat(len);
                text.replace_range(at..=at, "\n");
                assert_eq!(written(&text), format!("\"{}\\n{}\"", &text[..at], &text[at + 1..]));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn every_string_reads_back(text in ".{0,200}", plain in "[ -~]{0,200}") {
            let text = plain + &text;
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
