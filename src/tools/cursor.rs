//! The cursors of lists: a place in the order of registration, opaque to clients (MCP server/utilities/pagination).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const BYTES: usize = 9;
/// The length of a cursor in characters.
pub(super) const LEN: usize = 12;

/// A cursor that this list did not hand out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadCursor;

/// The cursor that continues after the entry with this sequence number, in the list that `tag` stands for.
pub(super) fn encode(tag: u8, sequence: u64) -> [u8; LEN] {
    let mut bytes = [tag; BYTES];
    bytes[1..].copy_from_slice(&sequence.to_be_bytes());
    let mut text = [0; LEN];
    // Nine bytes are exactly twelve characters.
    let written = URL_SAFE_NO_PAD.encode_slice(bytes, &mut text);
    debug_assert!(matches!(written, Ok(LEN)));
    text
}

/// The sequence number in a cursor of the list that `tag` stands for.
pub(super) fn decode(tag: u8, text: &str) -> Result<u64, BadCursor> {
    let mut bytes = [0; BYTES];
    if text.len() != LEN || !matches!(URL_SAFE_NO_PAD.decode_slice(text, &mut bytes), Ok(BYTES)) {
        return Err(BadCursor);
    }
    let [own, sequence @ ..] = bytes;
    if own == tag { Ok(u64::from_be_bytes(sequence)) } else { Err(BadCursor) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back() {
        for sequence in [0, 1, 255, 256, u64::MAX] {
            let text = encode(b't', sequence);
            assert_eq!(decode(b'p', std::str::from_utf8(&text).unwrap()), Err(BadCursor));
            assert_eq!(decode(b't', std::str::from_utf8(&text).unwrap()), Ok(sequence));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let good = String::from_utf8(encode(b't', 5).to_vec()).unwrap();
        for bad in [
            "",
            "abc",
            "!!!!!!!!!!!!",
            "AAAAAAAAAAAA",
            "dAAAAAAAAAA",
            "dAAAAAAAAAA=",
            " dAAAAAAAAAA",
            "dAAAAAAAAAAA=",
            "é",
        ] {
            assert_eq!(decode(b't', bad), Err(BadCursor), "{bad:?}");
        }
        assert_eq!(decode(b't', &format!("{good}A")), Err(BadCursor));
    }
}
