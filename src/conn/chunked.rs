//! The chunked transfer coding (RFC 9112 7.1), decoded in place: the body moves to the front of the bytes it came in.
//!
//! The result is a function of the bytes alone. How they were split into reads changes nothing, and neither does what follows the body.

use crate::base::ascii::is_tchar;
use crate::base::limits::Limits;
use crate::view::head::HeadFault;

/// How far one call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Every byte was taken and the body goes on.
    More,
    /// The body has ended.
    Complete,
    /// The next chunk passes the ceiling.
    Outgrown,
}

/// A body being decoded.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    /// Where the next raw byte lies.
    read: usize,
    /// How many body bytes lie at the front.
    written: usize,
    /// Bytes of the current size line, or of the trailer section.
    line: usize,
    ceiling: u64,
    most_line: usize,
    most_trailers: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In a chunk size of so many digits.
    Size {
        size: u64,
        digits: u8,
    },
    /// In a chunk extension.
    Extension {
        size: u64,
    },
    /// After the CR of a size line.
    SizeLf {
        size: u64,
    },
    /// In a chunk's data, so many bytes to come.
    Data {
        left: u64,
    },
    DataCr,
    DataLf,
    /// At the start of a trailer line.
    Trailer,
    TrailerName,
    TrailerValue,
    TrailerLf,
    /// After the CR of the empty line.
    EndLf,
    Done,
}

const MALFORMED: HeadFault = HeadFault { status: 400, text: "the chunked body is malformed" };
const LONG_LINE: HeadFault = HeadFault { status: 400, text: "a chunk-size line is too long" };
const LONG_TRAILERS: HeadFault = HeadFault { status: 431, text: "the trailer section is too long" };
const START: State = State::Size { size: 0, digits: 0 };

#[allow(clippy::len_without_is_empty, reason = "nobody asks")]
impl Decoder {
    /// A decoder for a body of at most `ceiling` bytes.
    #[must_use]
    pub fn new(ceiling: u64, limits: &Limits) -> Self {
        Self {
            state: START,
            read: 0,
            written: 0,
            line: 0,
            ceiling,
            most_line: usize::try_from(limits.chunk_line).unwrap_or(usize::MAX),
            most_trailers: usize::try_from(limits.trailers).unwrap_or(usize::MAX),
        }
    }

    /// The body's length so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.written
    }

    /// How many raw bytes were taken, in the buffer as it stands.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.read
    }

    /// Decodes what has arrived. `bytes` begins at the body's first byte and ends with the last byte read. After `More` the caller cuts it to
    /// [`Self::len`] and appends what comes next.
    ///
    /// # Errors
    /// The body cannot be read, and nobody knows where it ends.
    pub fn decode(&mut self, bytes: &mut [u8]) -> Result<Progress, HeadFault> {
        while self.read < bytes.len() {
            if let State::Data { left } = self.state {
                self.copy(bytes, left);
                continue;
            }
            let byte = bytes[self.read];
            self.state = self.step(byte)?;
            self.read += 1;
            if self.state == State::Done {
                return Ok(Progress::Complete);
            }
            if let State::Data { left } = self.state
                && u64::try_from(self.written)
                    .map_or(true, |written| left > self.ceiling.saturating_sub(written))
            {
                return Ok(Progress::Outgrown);
            }
        }
        self.read = self.written;
        Ok(Progress::More)
    }

    fn copy(&mut self, bytes: &mut [u8], left: u64) {
        let here = bytes.len() - self.read;
        let count = usize::try_from(left).map_or(here, |left| left.min(here));
        bytes.copy_within(self.read..self.read + count, self.written);
        self.read += count;
        self.written += count;
        let left = left - u64::try_from(count).unwrap_or(left);
        self.state = if left == 0 { State::DataCr } else { State::Data { left } };
    }

    fn step(&mut self, byte: u8) -> Result<State, HeadFault> {
        match self.state {
            State::Size { size, digits } => self.size(byte, size, digits),
            State::Extension { size } => {
                self.count_line()?;
                match byte {
                    b'\r' => Ok(State::SizeLf { size }),
                    byte if is_field_byte(byte) => Ok(State::Extension { size }),
                    _ => Err(MALFORMED),
                }
            }
            State::SizeLf { size: 0 } => {
                self.line = 0;
                expect(byte, b'\n', State::Trailer)
            }
            State::SizeLf { size } => expect(byte, b'\n', State::Data { left: size }),
            State::DataCr => expect(byte, b'\r', State::DataLf),
            State::DataLf => {
                self.line = 0;
                expect(byte, b'\n', START)
            }
            State::Trailer | State::TrailerName | State::TrailerValue | State::TrailerLf | State::EndLf => {
                self.trailer(byte)
            }
            State::Data { .. } | State::Done => Err(MALFORMED),
        }
    }

    fn size(&mut self, byte: u8, size: u64, digits: u8) -> Result<State, HeadFault> {
        self.count_line()?;
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            b'\r' if digits > 0 => return Ok(State::SizeLf { size }),
            b';' if digits > 0 => return Ok(State::Extension { size }),
            _ => return Err(MALFORMED),
        };
        if digits == 16 {
            return Err(MALFORMED);
        }
        Ok(State::Size { size: size << 4 | u64::from(digit), digits: digits + 1 })
    }

    /// Counts a byte of the size line; its CR is let through, so that the limit is what the line holds.
    fn count_line(&mut self) -> Result<(), HeadFault> {
        self.line += 1;
        if self.line > self.most_line.saturating_add(1) { Err(LONG_LINE) } else { Ok(()) }
    }

    /// Trailers are read as header lines and dropped (RFC 9112 7.1.2): merging them would let them past every check.
    fn trailer(&mut self, byte: u8) -> Result<State, HeadFault> {
        self.line += 1;
        if self.line > self.most_trailers.saturating_add(2) {
            return Err(LONG_TRAILERS);
        }
        match (self.state, byte) {
            (State::Trailer, b'\r') => Ok(State::EndLf),
            (State::EndLf, b'\n') => Ok(State::Done),
            (State::TrailerName, b':') => Ok(State::TrailerValue),
            (State::Trailer | State::TrailerName, byte) if is_tchar(byte) => Ok(State::TrailerName),
            (State::TrailerValue, b'\r') => Ok(State::TrailerLf),
            (State::TrailerValue, byte) if is_field_byte(byte) => Ok(State::TrailerValue),
            (State::TrailerLf, b'\n') => Ok(State::Trailer),
            _ => Err(MALFORMED),
        }
    }
}

fn expect(byte: u8, wanted: u8, then: State) -> Result<State, HeadFault> {
    if byte == wanted { Ok(then) } else { Err(MALFORMED) }
}

/// Visible characters, spaces, tabs and bytes above ASCII (RFC 9110 5.5).
const fn is_field_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, PartialEq, Eq)]
    enum Outcome {
        Body(Vec<u8>, usize),
        Incomplete,
        Outgrown,
        Fault(u16),
    }

    /// Feeds `wire` in pieces that end at `cuts`, as a connection does: what follows the body stays where it is.
    fn decode(wire: &[u8], cuts: &[usize], ceiling: u64) -> Outcome {
        let mut decoder = Decoder::new(ceiling, &Limits::default());
        let mut buffer = Vec::new();
        let mut from = 0;
        for &cut in cuts.iter().chain([&wire.len()]) {
            buffer.extend_from_slice(&wire[from..cut]);
            from = cut;
            match decoder.decode(&mut buffer) {
                Ok(Progress::More) => buffer.truncate(decoder.len()),
                Ok(Progress::Complete) => {
                    let rest = buffer.len() - decoder.taken() + wire.len() - cut;
                    return Outcome::Body(buffer[..decoder.len()].to_vec(), wire.len() - rest);
                }
                Ok(Progress::Outgrown) => return Outcome::Outgrown,
                Err(fault) => return Outcome::Fault(fault.status),
            }
        }
        Outcome::Incomplete
    }

    /// The coding as the grammar has it, on whole input, without limits: None where it is not complete and well formed.
    fn naive(wire: &[u8]) -> Option<(Vec<u8>, usize)> {
        let line =
            |at: usize| wire[at..].windows(2).position(|pair| pair == b"\r\n").map(|len| &wire[at..at + len]);
        let plain = |text: &[u8]| text.iter().all(|&byte| byte == 9 || (byte >= 32 && byte != 127));
        let (mut at, mut body) = (0, Vec::new());
        loop {
            let text = line(at)?;
            at += text.len() + 2;
            let digits = text.split(|&byte| byte == b';').next()?;
            let hex = !digits.is_empty() && digits.len() <= 16 && digits.iter().all(u8::is_ascii_hexdigit);
            let size = usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16)
                .ok()
                .filter(|_| hex && plain(text))?;
            if size == 0 {
                break;
            }
            body.extend_from_slice(wire.get(at..at.checked_add(size)?)?);
            at += size;
            at += (wire.get(at..at + 2)? == b"\r\n").then_some(2)?;
        }
        loop {
            let text = line(at)?;
            at += text.len() + 2;
            if text.is_empty() {
                return Some((body, at));
            }
            let colon = text.iter().position(|&byte| byte == b':')?;
            (crate::base::ascii::is_token(&text[..colon]) && plain(&text[colon..])).then_some(())?;
        }
    }

    #[test]
    fn bodies() {
        for (wire, body, rest) in [
            (&b"0\r\n\r\n"[..], &b""[..], &b""[..]),
            (b"0\r\n\r\nGET", b"", b"GET"),
            (b"3\r\nabc\r\n0\r\n\r\n", b"abc", b""),
            (b"3\r\nabc\r\n00A\r\n0123456789\r\n000\r\n\r\n", b"abc0123456789", b""),
            (b"3;a=b;c=\"d e\"\r\nabc\r\n0;x\r\n\r\n", b"abc", b""),
            (b"3;\r\nabc\r\n0\r\nX-Check: ok\r\nA:\r\n\r\nnext", b"abc", b"next"),
            (b"0000000000000001\r\nx\r\n0\r\n\r\n", b"x", b""),
        ] {
            let text = String::from_utf8_lossy(wire);
            let expected = Outcome::Body(body.to_vec(), wire.len() - rest.len());
            assert_eq!(decode(wire, &[], u64::MAX), expected, "{text}");
        }
    }

    #[test]
    fn faults() {
        for wire in [
            &b"\r\n"[..],
            b";a\r\n",
            b"+1\r\nx\r\n",
            b"-0\r\n\r\n",
            b"0x1\r\nx",
            b"1_0\r\n",
            b"3 \r\nabc",
            b"3 ;a\r\nabc",
            b" 3\r\nabc",
            b"3\nabc",
            b"3\rabc",
            b"3\r\r\n",
            b"g\r\n",
            b"3\r\nabcd",
            b"3\r\nabc\n",
            b"3\r\nabc\r\r",
            b"3;a\nabc",
            b"3;a\0\r\nabc",
            b"00000000000000001\r\nx\r\n0\r\n\r\n",
            b"0\r\n\n",
            b"0\r\n\rX",
            b"0\r\n Folded: x\r\n\r\n",
            b"0\r\nA: b\r\n c\r\n\r\n",
            b"0\r\nNo-Colon\r\n\r\n",
            b"0\r\nSpace : x\r\n\r\n",
            b"0\r\n: x\r\n\r\n",
            b"0\r\nA: \x01\r\n\r\n",
            b"0\r\nA: b\rc\r\n\r\n",
        ] {
            let text = String::from_utf8_lossy(wire);
            assert_eq!(decode(wire, &[], u64::MAX), Outcome::Fault(400), "{text}");
            assert_eq!(naive(wire), None, "{text}");
        }
    }

    #[test]
    fn limits_are_inclusive() {
        let limits = Limits::default();
        let line = usize::try_from(limits.chunk_line).unwrap();
        let with_line = |len: usize| format!("1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(len - 2));
        assert!(matches!(decode(with_line(line).as_bytes(), &[], 1), Outcome::Body(..)));
        assert_eq!(decode(with_line(line + 1).as_bytes(), &[], 1), Outcome::Fault(400));
        let trailers = usize::try_from(limits.trailers).unwrap();
        let with_trailers = |len: usize| format!("0\r\nA: {}\r\n\r\n", "t".repeat(len - 5));
        assert!(matches!(decode(with_trailers(trailers).as_bytes(), &[], 1), Outcome::Body(..)));
        assert_eq!(decode(with_trailers(trailers + 1).as_bytes(), &[], 1), Outcome::Fault(431));
        assert!(matches!(decode(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", &[], 5), Outcome::Body(..)));
        assert_eq!(decode(b"3\r\nabc\r\n2\r\n", &[], 4), Outcome::Outgrown);
        assert_eq!(decode(b"ffffffffffffffff\r\n", &[], u64::MAX - 1), Outcome::Outgrown);
    }

    fn wire() -> impl Strategy<Value = Vec<u8>> {
        let data = prop::collection::vec(any::<u8>(), 1..40);
        let ext = prop_oneof![3 => Just(String::new()), 1 => Just(";a=\"b c\"".to_owned())];
        let chunk = (data, ext).prop_map(|(data, ext)| {
            let mut wire = format!("{:x}{ext}\r\n", data.len()).into_bytes();
            wire.extend_from_slice(&data);
            wire.extend_from_slice(b"\r\n");
            wire
        });
        let tail =
            prop_oneof![Just("\r\n"), Just("A: b\r\nC:\r\n\r\n"), Just("\r\nPOST / HTTP/1.1\r\n"), Just("")];
        (prop::collection::vec(chunk, 0..6), tail).prop_map(|(chunks, tail)| {
            let mut wire = chunks.concat();
            wire.extend_from_slice(b"0\r\n");
            wire.extend_from_slice(tail.as_bytes());
            wire
        })
    }

    proptest! {
        #[test]
        fn agrees_with_the_naive_decoder_at_every_split(
            mut wire in wire(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
            change in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            if let Some((at, byte)) = change {
                let at = at.index(wire.len());
                wire[at] = byte;
            }
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(wire.len() + 1)).collect();
            cuts.sort_unstable();
            let whole = decode(&wire, &[], u64::MAX);
            prop_assert_eq!(&decode(&wire, &cuts, u64::MAX), &whole);
            let every: Vec<usize> = (0..wire.len()).collect();
            prop_assert_eq!(&decode(&wire, &every, u64::MAX), &whole);
            match naive(&wire) {
                Some((body, taken)) => prop_assert_eq!(whole, Outcome::Body(body, taken)),
                None => prop_assert!(!matches!(whole, Outcome::Body(..))),
            }
        }
    }
}
