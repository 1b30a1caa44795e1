//! Event ids: which session, which of its streams, which of the stream's events.

/// An event's id. On the wire `1f0c9a3e-2-17`: eight hexadecimal digits that tell sessions apart, the stream, the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventId {
    /// The session's.
    pub tag: u32,
    /// Which stream of the session.
    pub stream: u64,
    /// Which event of the stream, from 0.
    pub event: u64,
}

impl EventId {
    /// Reads an id that a client sent. Only what [`Self::write`] writes is one.
    #[must_use]
    pub fn parse(sent: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(sent).ok()?;
        let mut parts = text.split('-');
        let (tag, stream, event) = (parts.next()?, parts.next()?, parts.next()?);
        let id = Self {
            tag: u32::from_str_radix(tag, 16).ok()?,
            stream: stream.parse().ok()?,
            event: event.parse().ok()?,
        };
        let mut written = Vec::with_capacity(sent.len());
        id.write(&mut written);
        (written == sent).then_some(id)
    }

    /// Appends the id.
    pub fn write(self, out: &mut Vec<u8>) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        out.extend((0..8).rev().map(|at| DIGITS[(self.tag >> (4 * at)) as usize & 15]));
        let mut digits = itoa::Buffer::new();
        for number in [self.stream, self.event] {
            out.push(b'-');
            out.extend_from_slice(digits.format(number).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(id: EventId) -> Vec<u8> {
        let mut out = Vec::new();
        id.write(&mut out);
        out
    }

    #[test]
    fn ids_are_read_in_one_spelling_alone() {
        assert_eq!(written(EventId { tag: 0x1f0c_9a3e, stream: 2, event: 17 }), b"1f0c9a3e-2-17");
        for bad in [
            "",
            "-",
            "1f0c9a3e",
            "1f0c9a3e-2",
            "1f0c9a3e-2-",
            "1f0c9a3e-2-17-",
            "1f0c9a3e-2-17-1",
            "1F0C9A3E-2-17",
            "f0c9a3e-2-17",
            "01f0c9a3e-2-17",
            "1f0c9a3e-02-17",
            "1f0c9a3e-+2-17",
            "1f0c9a3e-2-18446744073709551616",
            " 1f0c9a3e-2-17",
            "1f0c9a3e-2-1é",
        ] {
            assert_eq!(EventId::parse(bad.as_bytes()), None, "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn ids_come_back(tag: u32, stream: u64, event: u64) {
            let id = EventId { tag, stream, event };
            prop_assert_eq!(EventId::parse(&written(id)), Some(id));
        }

        #[test]
        fn whatever_is_read_is_written_the_same(sent in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Some(id) = EventId::parse(&sent) {
                prop_assert_eq!(written(id), sent);
            }
        }
    }
}
