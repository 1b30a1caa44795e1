//! Event stream framing (WHATWG HTML, server-sent events): one `data:` line a message, LF only.

/// What opens a stream and keeps a quiet one alive.
pub const COMMENT: &[u8] = b":\n\n";

/// Appends an event without data: it gives a client an id to come back with before there is anything to tell.
pub fn write_priming(out: &mut Vec<u8>, write_id: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b"id: ");
    write_id(out);
    out.extend_from_slice(b"\ndata:\n\n");
}

/// Appends how long a client is to wait before it comes back.
pub fn write_retry(out: &mut Vec<u8>, ms: u64) {
    out.extend_from_slice(b"retry: ");
    out.extend_from_slice(itoa::Buffer::new().format(ms).as_bytes());
    out.extend_from_slice(b"\n\n");
}

/// Appends one message as an event with an id. See [`write_event`].
pub fn write_event_with_id(out: &mut Vec<u8>, write_id: impl FnOnce(&mut Vec<u8>), json: &[u8]) {
    out.reserve(json.len() + 48);
    out.extend_from_slice(b"id: ");
    write_id(out);
    out.push(b'\n');
    write_event(out, json);
}

/// Appends one message as an event. `json` is one JSON value without line breaks. U+2028, U+2029 and U+0085 are escaped: some clients
/// split lines there. In JSON they can only stand inside strings, so the escape is always right.
pub fn write_event(out: &mut Vec<u8>, json: &[u8]) {
    out.reserve(json.len() + 8);
    out.extend_from_slice(b"data: ");
    let mut rest = json;
    while let Some(at) = memchr::memchr2(0xe2, 0xc2, rest) {
        let (plain, tail) = rest.split_at(at);
        out.extend_from_slice(plain);
        let (escape, used): (&[u8], usize) = match tail {
            [0xe2, 0x80, 0xa8, ..] => (b"\\u2028", 3),
            [0xe2, 0x80, 0xa9, ..] => (b"\\u2029", 3),
            [0xc2, 0x85, ..] => (b"\\u0085", 2),
            _ => (&tail[..1], 1),
        };
        out.extend_from_slice(escape);
        rest = &tail[used..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_separators_are_escaped_and_read_back() {
        let text = "a\u{2028}b\u{2029}c\u{85}d \u{2027} ¢ é €";
        let json = serde_json::to_vec(text).unwrap();
        let mut out = Vec::new();
        write_event(&mut out, &json);
        let event = std::str::from_utf8(&out).unwrap();
        assert!(event.starts_with("data: ") && event.ends_with("\n\n"));
        assert!(!event.contains(['\u{2028}', '\u{2029}', '\u{85}', '\r']));
        let data = event.strip_prefix("data: ").unwrap().trim_end();
        assert!(!data.contains('\n'));
        assert_eq!(serde_json::from_str::<String>(data).unwrap(), text);
    }
}
