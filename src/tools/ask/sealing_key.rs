//! The keys that seal what modern calls remember.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::base::error::Error;

/// A key of 32 bytes. Whoever has it can read and make states, so it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct SealingKey([u8; 32]);

impl SealingKey {
    /// A key from its bytes, which should come from a generator of randomness.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads the text of a key file: one key a line, the newest first, as 64 hexadecimal digits or as the base64 of 32 bytes; empty lines and
    /// lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// [`Error::Config`] names the line that cannot be read, never its text; a file without a key is an error too.
    pub fn parse(text: &str) -> Result<Vec<Self>, Error> {
        let mut keys: Vec<Self> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fault = |what: &str| Error::Config(format!("key file, line {}: {what}", at + 1));
            let key = Self::from_hex(line).ok().or_else(|| Self::from_base64(line)).ok_or_else(|| {
                fault("write a key of 32 bytes as 64 hexadecimal digits, or in base64, and nothing else")
            })?;
            if keys.contains(&key) {
                return Err(fault("the key stands there twice"));
            }
            keys.push(key);
        }
        if keys.is_empty() {
            return Err(Error::Config("key file: it has no key".to_owned()));
        }
        Ok(keys)
    }

    /// Either alphabet, with its padding or without.
    fn from_base64(text: &str) -> Option<Self> {
        let text = text.trim_end_matches('=');
        let bytes = STANDARD_NO_PAD.decode(text).or_else(|_| URL_SAFE_NO_PAD.decode(text)).ok()?;
        bytes.try_into().ok().map(Self)
    }

    /// Reads a key written as 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`Error::Config`] where the text is anything else. The text is not repeated.
    pub fn from_hex(text: &str) -> Result<Self, Error> {
        let fault = || Error::Config("a sealing key is 64 hexadecimal digits".to_owned());
        let digits: Option<Vec<u8>> =
            text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
        let digits: [u8; 64] = digits.and_then(|digits| digits.try_into().ok()).ok_or_else(fault)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_chunks::<2>().0) {
            *byte = pair[0] << 4 | pair[1];
        }
        Ok(Self(bytes))
    }

    pub(super) const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(super) fn random() -> Option<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_never_shown() {
        let key = SealingKey::from_hex(&"0aF1".repeat(16)).unwrap();
        assert_eq!(key, SealingKey::new(std::array::from_fn(|at| [0x0a, 0xf1][at % 2])));
        assert!(!format!("{key:?}").contains("0a"));
        for bad in ["", "0a", &"0".repeat(63), &"0".repeat(65), &"g".repeat(64), &"é".repeat(32)] {
            let error = SealingKey::from_hex(bad).unwrap_err().to_string();
            assert!(bad.is_empty() || !error.contains(bad), "{error}");
        }
    }

    #[test]
    fn files_of_keys() {
        let (ones, high) = ("01".repeat(32), STANDARD_NO_PAD.encode([0xfb; 32]));
        let url_safe = URL_SAFE_NO_PAD.encode([0xff; 32]);
        let text = format!("# newest\n{high}=\n\n  {ones}\r\n{url_safe}\n");
        let keys = [[0xfb; 32], [1; 32], [0xff; 32]].map(SealingKey::new);
        assert_eq!(SealingKey::parse(&text).unwrap(), keys);
        for (text, words) in [
            (String::new(), "no key"),
            ("# none\n".to_owned(), "no key"),
            (format!("{ones}\n{}", &ones[2..]), "line 2"),
            (format!("{ones} {high}"), "line 1"),
            (format!("\n{ones}\n{}", ones.to_uppercase()), "line 3: the key stands there twice"),
            (STANDARD_NO_PAD.encode([7; 31]), "line 1"),
            (STANDARD_NO_PAD.encode([7; 33]), "line 1"),
            (format!("{high}\u{e9}"), "line 1"),
        ] {
            let error = SealingKey::parse(&text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
            assert!(!error.contains(&ones[..8]) && !error.contains(&high[..8]), "{error}");
        }
    }
}
