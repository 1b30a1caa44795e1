//! Counts the HTTP/2 frames that cost a peer nothing, and the streams that come to nothing: `h2` bounds what is held, but not how often it
//! is made to move. Only frame heads are looked at.

use std::time::{Duration, Instant};

use super::frame_heads::{FrameHead, FrameHeads};
use super::sniff::PREFACE;
use crate::base::limits::Limits;

const WINDOW: Duration = Duration::from_secs(1);
/// What one request entitles to: a priority or a window update or two.
const PER_REQUEST: u32 = 4;
/// Bytes sent that entitle to one window update, and bytes of a header block's next frame that are worth the frame.
const PER_UPDATE: usize = 256;
/// Most that is saved up.
const MOST_CREDIT: u32 = 1 << 16;
/// Most streams that a connection makes the server reset before it is told to go, in peace: `h2` ends one that goes on for twice as long.
const MOST_FAULTS: u32 = super::http2::FAULT_RESETS / 2;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;

/// Codes of resets that blame nobody: an early answer, and a peer that takes nothing.
const NO_ERROR: u32 = 0;
const CANCEL: u32 = 8;

/// Things counted in windows of time.
#[derive(Debug)]
struct Rate {
    most: u32,
    count: u32,
    since: Instant,
}

impl Rate {
    fn new(most: u64) -> Self {
        Self { most: u32::try_from(most).unwrap_or(u32::MAX), count: 0, since: Instant::now() }
    }

    /// Counts one more. True when it is one too many.
    fn more(&mut self) -> bool {
        self.count = self.count.saturating_add(1);
        if self.count <= self.most {
            return false;
        }
        // The clock is read once in so many.
        let now = Instant::now();
        if now.duration_since(self.since) < WINDOW {
            return true;
        }
        (self.count, self.since) = (1, now);
        false
    }
}

/// What is made of what has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Work.
    Work,
    /// Faults beyond what a connection lives with, but slowly.
    Worn,
    /// A flood.
    Flood,
}

/// Reads along.
#[derive(Debug)]
pub(super) struct Meter {
    theirs: FrameHeads,
    ours: FrameHeads,
    idle: Rate,
    resets: Rate,
    /// Streams reset by us for the peer's faults.
    faults: u32,
    credit: u32,
    heads: u32,
}

impl Meter {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            theirs: FrameHeads::new(PREFACE.len()),
            ours: FrameHeads::new(0),
            idle: Rate::new(limits.h2_idle_frames),
            resets: Rate::new(limits.h2_resets),
            faults: 0,
            credit: 0,
            heads: 0,
        }
    }

    /// How many HEADERS frames have begun, counted round.
    pub(super) fn heads(&self) -> u32 {
        self.heads
    }

    /// Notes what was sent to the peer.
    pub(super) fn sent(&mut self, mut bytes: &[u8]) -> Verdict {
        let earned = u32::try_from(bytes.len() / PER_UPDATE).unwrap_or(MOST_CREDIT);
        self.credit = self.credit.saturating_add(earned).min(MOST_CREDIT);
        let mut verdict = Verdict::Work;
        while let Some(frame) = self.ours.next(&mut bytes) {
            if frame.kind == RST_STREAM && frame.code != NO_ERROR && frame.code != CANCEL {
                self.faults += 1;
                if self.resets.more() {
                    verdict = Verdict::Flood;
                } else if self.faults >= MOST_FAULTS && verdict == Verdict::Work {
                    verdict = Verdict::Worn;
                }
            }
        }
        verdict
    }

    /// Notes what came from the peer. True when it is a flood.
    pub(super) fn received(&mut self, mut bytes: &[u8]) -> bool {
        while let Some(frame) = self.theirs.next(&mut bytes) {
            if self.is_too_much(frame) {
                return true;
            }
        }
        false
    }

    fn is_too_much(&mut self, FrameHead { kind, flags, length, .. }: FrameHead) -> bool {
        match kind {
            HEADERS => {
                self.heads = self.heads.wrapping_add(1);
                self.credit = (self.credit + PER_REQUEST).min(MOST_CREDIT);
                false
            }
            DATA if length > 0 || flags & END_STREAM != 0 => false,
            // `h2` bounds them by the length of a head.
            CONTINUATION if length >= PER_UPDATE => false,
            RST_STREAM => self.resets.more(),
            PRIORITY | WINDOW_UPDATE if self.credit > 0 => {
                self.credit -= 1;
                false
            }
            _ => self.idle.more(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 1_000;
    const RESETS: u32 = 500;

    fn frame(kind: u8, flags: u8, length: u8) -> Vec<u8> {
        let mut frame = vec![0, 0, length, kind, flags, 0, 0, 0, 1];
        frame.resize(9 + usize::from(length), 6);
        frame
    }

    fn reset(code: u8) -> Vec<u8> {
        vec![0, 0, 4, RST_STREAM, 0, 0, 0, 0, 1, 0, 0, 0, code]
    }

    fn meter() -> Meter {
        Meter::new(&Limits::default())
    }

    fn opened() -> Meter {
        let mut meter = meter();
        assert!(!meter.received(PREFACE));
        meter
    }

    fn flooded(meter: &mut Meter, frame: &[u8], times: u32) -> bool {
        (0..times).any(|_| meter.received(frame))
    }

    #[test]
    fn floods_are_seen_and_split_nowhere() {
        for (kind, flags, length, most) in [
            (0, 0, 0, MOST),
            (2, 0, 5, MOST),
            (3, 0, 4, RESETS),
            (4, 0, 0, MOST),
            (6, 0, 8, MOST),
            (8, 0, 4, MOST),
            (9, 0, 3, MOST),
            (77, 0, 1, MOST),
        ] {
            let frame = frame(kind, flags, length);
            assert!(!flooded(&mut opened(), &frame, most), "{kind}");
            assert!(flooded(&mut opened(), &frame, most + 1), "{kind}");
            let stream = [PREFACE, &frame.repeat(most as usize + 1)].concat();
            assert!(meter().received(&stream), "{kind}");
            let mut meter = meter();
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
        let answer = [&[0, 0x40, 0, 0, 0, 0, 0, 0, 1][..], &[0; 16_384]].concat();
        for _ in 0..10 * MOST {
            assert_eq!(reader.sent(&answer), Verdict::Work);
            assert!(!flooded(&mut reader, &frame(8, 0, 4), 2));
        }
    }

    #[test]
    fn a_window_ends() {
        let mut meter = opened();
        assert!(!flooded(&mut meter, &frame(6, 0, 8), MOST));
        meter.idle.since -= WINDOW;
        assert!(!flooded(&mut meter, &frame(6, 0, 8), MOST));
        assert!(flooded(&mut meter, &frame(6, 0, 8), 1));
    }

    #[test]
    fn resets_are_counted_whoever_makes_them() {
        let mut meter = opened();
        for code in [1, 3, 5, 7] {
            assert!(!flooded(&mut meter, &reset(8), RESETS / 5));
            assert!((0..25).all(|_| meter.sent(&reset(code)) == Verdict::Work));
        }
        assert_eq!(meter.sent(&reset(0)), Verdict::Work, "an early answer is nobody's fault");
        assert_eq!(meter.sent(&reset(8)), Verdict::Work);
        assert_eq!(meter.sent(&reset(1)), Verdict::Flood);
    }

    #[test]
    fn a_connection_wears_out_slowly() {
        let mut meter = opened();
        for _ in 1..MOST_FAULTS {
            assert_eq!(meter.sent(&reset(1)), Verdict::Work);
            meter.resets.since -= WINDOW;
        }
        assert_eq!(meter.sent(&reset(1)), Verdict::Worn);
    }

    #[test]
    fn settings_are_kept() {
        let limits = Limits { h2_idle_frames: 3, h2_resets: 2, ..Limits::default() };
        for (frame, most) in [(frame(6, 0, 8), 3), (reset(8), 2)] {
            for times in [most - 1, most, most + 1] {
                let mut meter = Meter::new(&limits);
                assert!(!meter.received(PREFACE));
                assert_eq!(flooded(&mut meter, &frame, times), times > most);
            }
        }
    }
}
