//! Counts the HTTP/2 frames that cost a peer nothing: `h2` bounds what is held, but not how often it is made to move. Only frame heads are
//! looked at.

use std::time::{Duration, Instant};

use super::sniff::PREFACE;

/// Most idle frames in one window of time. A client that resets all its streams at once, or answers every round trip with a ping, stays
/// far below.
const MOST: u32 = 1_000;
const WINDOW: Duration = Duration::from_secs(1);
/// What one request entitles to: a priority or a window update or two.
const PER_REQUEST: u32 = 4;
/// Bytes sent that entitle to one window update.
const PER_UPDATE: usize = 256;
/// Most that is saved up.
const MOST_CREDIT: u32 = 1 << 16;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;

/// Reads along.
#[derive(Debug)]
pub(super) struct Meter {
    /// Bytes to pass over before the next frame head: the preface, then payloads.
    skip: usize,
    head: [u8; 9],
    have: usize,
    /// Idle frames since `since`.
    idle: u32,
    since: Instant,
    credit: u32,
    heads: u32,
}

impl Meter {
    pub(super) fn new() -> Self {
        Self {
            skip: PREFACE.len(),
            head: [0; 9],
            have: 0,
            idle: 0,
            since: Instant::now(),
            credit: 0,
            heads: 0,
        }
    }

    /// Notes what was sent to the peer.
    pub(super) fn sent(&mut self, bytes: usize) {
        let earned = u32::try_from(bytes / PER_UPDATE).unwrap_or(MOST_CREDIT);
        self.credit = self.credit.saturating_add(earned).min(MOST_CREDIT);
    }

    /// How many HEADERS frames have begun, counted round.
    pub(super) fn heads(&self) -> u32 {
        self.heads
    }

    /// Notes what came from the peer. True when it is a flood.
    pub(super) fn received(&mut self, mut bytes: &[u8]) -> bool {
        loop {
            let passed = self.skip.min(bytes.len());
            self.skip -= passed;
            bytes = &bytes[passed..];
            if bytes.is_empty() {
                return false;
            }
            let taken = (self.head.len() - self.have).min(bytes.len());
            self.head[self.have..self.have + taken].copy_from_slice(&bytes[..taken]);
            self.have += taken;
            bytes = &bytes[taken..];
            if self.have == self.head.len() {
                self.have = 0;
                if self.frame() {
                    return true;
                }
            }
        }
    }

    fn frame(&mut self) -> bool {
        let [high, middle, low, kind, flags, ..] = self.head;
        let length = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        self.skip = length;
        match kind {
            HEADERS => {
                self.heads = self.heads.wrapping_add(1);
                self.credit = (self.credit + PER_REQUEST).min(MOST_CREDIT);
            }
            DATA if length > 0 || flags & END_STREAM != 0 => {}
            PRIORITY | WINDOW_UPDATE if self.credit > 0 => self.credit -= 1,
            _ => self.idle += 1,
        }
        if self.idle <= MOST {
            return false;
        }
        // The clock is read once in so many frames.
        let now = Instant::now();
        if now.duration_since(self.since) < WINDOW {
            return true;
        }
        (self.idle, self.since) = (0, now);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, length: u8) -> Vec<u8> {
        let mut frame = vec![0, 0, length, kind, flags, 0, 0, 0, 1];
        frame.resize(9 + usize::from(length), 6);
        frame
    }

    fn opened() -> Meter {
        let mut meter = Meter::new();
        assert!(!meter.received(PREFACE));
        meter
    }

    fn flooded(meter: &mut Meter, frame: &[u8], times: u32) -> bool {
        (0..times).any(|_| meter.received(frame))
    }

    #[test]
    fn floods_are_seen_and_split_nowhere() {
        for (kind, flags, length) in
            [(0, 0, 0), (2, 0, 5), (3, 0, 4), (4, 0, 0), (6, 0, 8), (8, 0, 4), (9, 0, 3), (77, 0, 1)]
        {
            let frame = frame(kind, flags, length);
            assert!(!flooded(&mut opened(), &frame, MOST), "{kind}");
            assert!(flooded(&mut opened(), &frame, MOST + 1), "{kind}");
            let stream = [PREFACE, &frame.repeat(MOST as usize + 1)].concat();
            assert!(Meter::new().received(&stream), "{kind}");
            let mut meter = Meter::new();
            assert!(stream.iter().any(|byte| meter.received(&[*byte])), "{kind}");
        }
    }

    #[test]
    fn work_is_no_flood() {
        let mut meter = opened();
        for _ in 0..10 * MOST {
            for part in [frame(1, 4, 40), frame(0, 0, 100), frame(0, 1, 0), frame(8, 0, 4), frame(8, 0, 4)] {
                assert!(!meter.received(&part));
            }
        }
        let mut reader = opened();
        for _ in 0..10 * MOST {
            reader.sent(16_384);
            assert!(!flooded(&mut reader, &frame(8, 0, 4), 2));
        }
    }

    #[test]
    fn a_window_ends() {
        let mut meter = opened();
        assert!(!flooded(&mut meter, &frame(3, 0, 4), MOST));
        meter.since -= WINDOW;
        assert!(!flooded(&mut meter, &frame(3, 0, 4), MOST));
        assert!(flooded(&mut meter, &frame(3, 0, 4), 2));
    }
}
