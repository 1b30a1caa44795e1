//! The chunked transfer coding (RFC 9112 7.1), decoded in place: the body moves to the front of the bytes it came in.
//!
//! The result is a function of the bytes alone. How they were split into reads changes nothing, and neither does what follows the body.

use super::extension::{Place, is_field_byte};
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
    /// Bytes of all chunk extensions.
    extensions: usize,
    ceiling: u64,
    most_line: usize,
    most_extensions: usize,
    most_trailers: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In a chunk size of so many digits.
    Size {
        size: u64,
        digits: u8,
    },
    /// In the extensions of a chunk.
    Extension {
        size: u64,
        place: Place,
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
const LONG_EXTENSIONS: HeadFault =
    HeadFault { status: 400, text: "the chunk extensions are too long altogether" };
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
            extensions: 0,
            ceiling,
            most_line: usize::try_from(limits.chunk_line).unwrap_or(usize::MAX),
            most_extensions: usize::try_from(limits.chunk_extensions).unwrap_or(usize::MAX),
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
            State::Extension { size, place } => {
                self.count_line()?;
                if byte == b'\r' && place.may_end() {
                    return Ok(State::SizeLf { size });
                }
                self.extension(size, place.step(byte))
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
            _ if digits > 0 => return self.extension(size, Place::begin(byte)),
            _ => return Err(MALFORMED),
        };
        if digits == 16 {
            return Err(MALFORMED);
        }
        Ok(State::Size { size: size << 4 | u64::from(digit), digits: digits + 1 })
    }

    /// Counts a byte of an extension, after which `place` is reached.
    fn extension(&mut self, size: u64, place: Option<Place>) -> Result<State, HeadFault> {
        let place = place.ok_or(MALFORMED)?;
        self.extensions += 1;
        if self.extensions > self.most_extensions {
            return Err(LONG_EXTENSIONS);
        }
        Ok(State::Extension { size, place })
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

#[cfg(test)]
mod tests;
