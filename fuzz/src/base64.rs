//! Base64 as the sentinel has it: standard alphabet, padding required, zero trailing bits.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let word = (0..3).fold(0_u32, |word, at| word << 8 | u32::from(group.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = ALPHABET[(word >> (18 - 6 * at)) as usize & 63];
            out.push(if at <= group.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

/// Decodes; `None` for what [`encode`] could not have written.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut bits = Vec::new();
    for digit in digits.bytes() {
        let value = ALPHABET.iter().position(|&other| other == digit)?;
        bits.extend((0..6).rev().map(|bit| value >> bit & 1 == 1));
    }
    let bytes: Vec<u8> = bits
        .chunks_exact(8)
        .map(|byte| byte.iter().fold(0, |byte, &bit| byte << 1 | u8::from(bit)))
        .collect();
    (encode(&bytes) == text).then_some(bytes)
}
