//! Eight bytes compared at once, in one register: for pieces too short for vector code to pay.

/// How many bytes a word has.
pub const WORD: usize = 8;

const ONES: u64 = u64::from_le_bytes([1; WORD]);
const TOPS: u64 = ONES << 7;

/// Whether a byte of the word is below `least`, which is at most 128. Subtracting borrows into the top bit of a byte that is smaller; which
/// byte that is may be wrong after the first one, but not whether there is one.
#[inline]
#[must_use]
pub const fn any_below(word: [u8; WORD], least: u8) -> bool {
    below(u64::from_le_bytes(word), least) & TOPS != 0
}

/// Whether a byte of the word is this one.
#[inline]
#[must_use]
pub const fn any_is(word: [u8; WORD], byte: u8) -> bool {
    below(u64::from_le_bytes(word) ^ (ONES * byte as u64), 1) & TOPS != 0
}

/// Whether a byte of the word is outside ASCII.
#[inline]
#[must_use]
pub const fn any_beyond_ascii(word: [u8; WORD]) -> bool {
    u64::from_le_bytes(word) & TOPS != 0
}

const fn below(word: u64, least: u8) -> u64 {
    word.wrapping_sub(ONES * least as u64) & !word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_judged_as_its_bytes_are() {
        for byte in 0..=255_u8 {
            for neighbour in [0x20, 0x21, 0x5b, 0x5d, 0x7e, 0x7f, 0x80, 0xff] {
                for at in 0..WORD {
                    let mut word = [neighbour; WORD];
                    word[at] = byte;
                    let any = |wanted: &dyn Fn(u8) -> bool| word.iter().any(|&byte| wanted(byte));
                    assert_eq!(any_below(word, 0x20), any(&|byte| byte < 0x20), "{word:?}");
                    assert_eq!(any_is(word, 0x5c), any(&|byte| byte == 0x5c), "{word:?}");
                    assert_eq!(any_beyond_ascii(word), !word.is_ascii(), "{word:?}");
                }
            }
        }
    }
}
