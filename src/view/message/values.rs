//! How many values a body is made of, counted before it is parsed: punctuation is dear to hold, a few bytes of it become thirty.

/// Whether a body has more than `most` values, keys counted too, and empty arrays and objects twice. What is no JSON is counted by its
/// punctuation all the same.
pub(super) fn exceed(body: &[u8], most: usize) -> bool {
    // Strings are full of punctuation that counts for nothing, but hardly any body is full of punctuation.
    punctuation(body) >= most && outside_of_strings(body) >= most
}

/// Each of these has one more value behind it.
const fn precedes_a_value(byte: u8) -> bool {
    matches!(byte, b',' | b':' | b'[' | b'{')
}

/// In pieces whose counts fit a byte, so that many bytes are looked at together.
fn punctuation(body: &[u8]) -> usize {
    let of = |piece: &[u8]| piece.iter().map(|&byte| u8::from(precedes_a_value(byte))).sum::<u8>();
    body.chunks(usize::from(u8::MAX)).map(|piece| usize::from(of(piece))).sum()
}

fn outside_of_strings(body: &[u8]) -> usize {
    let mut count = 0;
    let mut rest = body;
    while let Some(quote) = memchr::memchr(b'"', rest) {
        count += punctuation(&rest[..quote]);
        rest = after_string(&rest[quote + 1..]);
    }
    count + punctuation(rest)
}

/// What follows the string that `text` begins in.
fn after_string(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        if rest[at] == b'"' {
            return &rest[at + 1..];
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (body, values) in [
            ("1", 1),
            ("[1]", 2),
            ("[1,2,[3]]", 5),
            (r#"{"a":1,"b":[true]}"#, 6),
            (r#"{"a,:[{":"\\\",[{:","b":"\\"}"#, 5),
            ("[]", 2),
            (r#"{"never ends: [,,,"#, 2),
            (r#""ends in an escape,\"#, 1),
        ] {
            assert!(!exceed(body.as_bytes(), values), "{body}");
            assert!(exceed(body.as_bytes(), values - 1), "{body}");
        }
        let long = format!("[{}1]", "1,".repeat(999));
        assert!(!exceed(long.as_bytes(), 1001) && exceed(long.as_bytes(), 1000));
    }
}
