//! Finds the heads of HTTP/2 frames in bytes that pass by, wherever those are split.

const HEAD: usize = 9;
const RST_STREAM: u8 = 3;
const CODE: usize = 4;

/// What a frame says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameHead {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) length: usize,
    /// The error code of a frame that resets a stream.
    pub(super) code: u32,
}

/// Reads along one direction of a connection.
#[derive(Debug)]
pub(super) struct FrameHeads {
    /// Bytes to pass over before the next head.
    skip: usize,
    head: [u8; HEAD + CODE],
    have: usize,
}

impl FrameHeads {
    /// The first frame comes after `skip` bytes.
    pub(super) fn new(skip: usize) -> Self {
        Self { skip, head: [0; HEAD + CODE], have: 0 }
    }

    /// The next head that is complete in `bytes`, which are left where it ends; `None` when they are used up.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Option<FrameHead> {
        let passed = self.skip.min(bytes.len());
        self.skip -= passed;
        *bytes = &bytes[passed..];
        loop {
            if bytes.is_empty() {
                return None;
            }
            let wanted = self.wanted();
            let taken = (wanted - self.have).min(bytes.len());
            self.head[self.have..self.have + taken].copy_from_slice(&bytes[..taken]);
            self.have += taken;
            *bytes = &bytes[taken..];
            if self.have == wanted && self.wanted() == wanted {
                return Some(self.complete(wanted));
            }
        }
    }

    fn length(&self) -> usize {
        let [high, middle, low, ..] = self.head;
        usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low)
    }

    /// How many bytes tell what is to be known of the frame, as far as can be said yet.
    fn wanted(&self) -> usize {
        if self.have >= HEAD && self.head[3] == RST_STREAM && self.length() == CODE {
            HEAD + CODE
        } else {
            HEAD
        }
    }

    fn complete(&mut self, wanted: usize) -> FrameHead {
        let [_, _, _, kind, flags, _, _, _, _, a, b, c, d] = self.head;
        let length = self.length();
        self.skip = length - (wanted - HEAD);
        self.have = 0;
        let code = if wanted > HEAD { u32::from_be_bytes([a, b, c, d]) } else { 0 };
        FrameHead { kind, flags, length, code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_found_at_every_split() {
        let bytes = [
            &b"skip"[..],
            &[0, 0, 3, 0, 1, 0, 0, 0, 1, 7, 7, 7],
            &[0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 1, 2],
            &[0, 0, 5, 3, 0, 0, 0, 0, 1, 9, 9, 9, 9, 9],
            &[0, 0, 0, 4, 1, 0, 0, 0, 0],
            &[0, 1, 2, 6, 0, 0, 0, 0, 0],
        ]
        .concat();
        let frame = |kind, flags, length, code| FrameHead { kind, flags, length, code };
        let expected = [
            frame(0, 1, 3, 0),
            frame(3, 0, 4, 258),
            frame(3, 0, 5, 0),
            frame(4, 1, 0, 0),
            frame(6, 0, 258, 0),
        ];
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let mut heads = FrameHeads::new(4);
                let mut found = Vec::new();
                for mut piece in [&bytes[..first], &bytes[first..second], &bytes[second..]] {
                    found.extend(std::iter::from_fn(|| heads.next(&mut piece)));
                }
                assert_eq!(found, expected, "{first} {second}");
            }
        }
    }
}
