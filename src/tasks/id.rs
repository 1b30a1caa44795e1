//! Task ids: 24 bytes from the operating system's generator, in unpadded URL-safe base64. Whoever knows one can use the task, so they
//! cannot be guessed. The table they are looked up in hashes with keys of its own, so that the time of a look-up tells nothing of how much of
//! an id agrees with another.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The length of a task id in characters.
pub const TASK_ID_LEN: usize = 32;

/// A task's id, as it stands on the wire: 32 visible ASCII characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TaskId([u8; TASK_ID_LEN]);

impl TaskId {
    /// A fresh id, or `None` where the operating system has no randomness to give.
    #[must_use]
    pub fn random() -> Option<Self> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).ok()?;
        let mut text = [0; TASK_ID_LEN];
        URL_SAFE_NO_PAD.encode_slice(bytes, &mut text).ok()?;
        Some(Self(text))
    }

    /// Reads an id a client sent. Anything of another length or alphabet cannot be one of ours.
    #[must_use]
    pub fn from_wire(text: &str) -> Option<Self> {
        let bytes: [u8; TASK_ID_LEN] = text.as_bytes().try_into().ok()?;
        let ours = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        bytes.iter().all(ours).then_some(Self(bytes))
    }

    /// The id's characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Every constructor lets ASCII alone pass.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for TaskId {
    /// A task id is a credential: logs get its beginning only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({}…)", self.0[..4].escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_and_differ() {
        let (one, two) = (TaskId::random().unwrap(), TaskId::random().unwrap());
        assert_ne!(one, two);
        assert_eq!(TaskId::from_wire(one.as_str()), Some(one));
        let long = format!("{}x", one.as_str());
        for bad in ["", &one.as_str()[1..], &long, &"é".repeat(16), &" ".repeat(32)] {
            assert_eq!(TaskId::from_wire(bad), None, "{bad}");
        }
        assert!(!format!("{one:?}").contains(one.as_str()));
    }
}
