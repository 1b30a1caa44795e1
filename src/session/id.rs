//! Session ids: 32 bytes from the operating system's generator, in unpadded URL-safe base64.
//!
//! They are looked up in a table, not compared in constant time: the time of a look-up tells at most how much of an id agrees with one that
//! lies in the same slot, and where ids lie follows from bits that nobody can choose without knowing the id. To get at 256 random bits a
//! guess has to be right as a whole; a guess that is nearly right is as good as any other.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::reply::{SESSION_ID_LEN, SessionText};

/// A session id, as it stands on the wire: 43 visible ASCII characters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SessionId(SessionText);

impl SessionId {
    /// A fresh id, or `None` where the operating system has no randomness to give.
    #[must_use]
    pub fn random() -> Option<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).ok()?;
        let mut text = [0; SESSION_ID_LEN];
        URL_SAFE_NO_PAD.encode_slice(bytes, &mut text).ok()?;
        Some(Self(text))
    }

    /// Reads an id a client sent. Anything of another length cannot be one of ours.
    #[must_use]
    pub fn from_wire(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The id's characters.
    #[must_use]
    pub const fn text(&self) -> &SessionText {
        &self.0
    }

    /// A number spread evenly over the ids we mint: they are random, so some of their own bits will do.
    #[must_use]
    pub fn spread(&self) -> u64 {
        let mut low = [0; 8];
        low.copy_from_slice(&self.0[..8]);
        // The characters have six random bits in eight; the multiplication moves them to where tables look.
        u64::from_le_bytes(low).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl fmt::Debug for SessionId {
    /// A session id is a credential: logs get its beginning only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({}…)", self.0[..4].escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_visible_ascii_and_differ() {
        let (one, two) = (SessionId::random().unwrap(), SessionId::random().unwrap());
        assert!(one.text().iter().all(|byte| (0x21..=0x7e).contains(byte)));
        assert_ne!(one.text(), two.text());
        assert_eq!(SessionId::from_wire(one.text()), Some(one));
        for bad in [&one.text()[1..], b"", &[b'x'; 44]] {
            assert_eq!(SessionId::from_wire(bad), None);
        }
        assert!(!format!("{one:?}").contains(std::str::from_utf8(one.text()).unwrap()));
    }
}
