//! Event streams, as far as both protocols share them.

use tokio::time::Instant;

use super::h2_stall::Stall;
use super::scratch::Writer;
use super::timer::after;
use crate::base::limits::Limits;
use crate::reply::{Content, Extra, Reply};
use crate::road::Pending;
use crate::tables::versions::Era;

/// An open event stream.
pub(super) struct Stream {
    /// Whether its messages are HTTP/1.1 chunks.
    pub(super) chunked: bool,
    /// Whether the connection ends with it.
    pub(super) closes: bool,
    /// When a comment must go out; never any more once the last event is on its way.
    pub(super) comment_due: Option<Instant>,
    /// Bytes of events and comments sent.
    pub(super) bytes: usize,
    /// On HTTP/2, a wait for the peer to take something. It outlives a call's turns: what is staged meanwhile is no progress.
    pub(super) stall: Stall,
}

/// What the access log says of a request whose client has gone before its answer.
pub(super) const UNHEARD: u16 = 499;

impl Stream {
    /// The head of every stream.
    pub(super) const REPLY: Reply =
        Reply { status: 200, content: Content::EventStream, close: false, extra: Extra::NONE };

    pub(super) fn open(chunked: bool, closes: bool, limits: &Limits) -> Self {
        Self {
            chunked,
            closes,
            comment_due: Some(after(limits.stream_comment)),
            bytes: 0,
            stall: Stall::default(),
        }
    }

    /// Notes that something is being sent.
    pub(super) fn touched(&mut self, limits: &Limits) {
        self.comment_due = Some(after(limits.stream_comment));
    }

    /// Moves what is staged to the output, as one chunk where there are chunks.
    pub(super) fn seal(&mut self, writer: &mut Writer) {
        if writer.stage.is_empty() {
            return;
        }
        self.bytes += writer.stage.len();
        if self.chunked {
            write_chunk_size(&mut writer.out, writer.stage.len());
        }
        writer.out.extend_from_slice(&writer.stage);
        if self.chunked {
            writer.out.extend_from_slice(b"\r\n");
        }
        writer.stage.clear();
    }
}

/// Appends the line that begins a chunk.
fn write_chunk_size(out: &mut Vec<u8>, size: usize) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = (usize::BITS - size.leading_zeros()).div_ceil(4).max(1);
    out.extend((0..digits).rev().map(|at| DIGITS[size >> (4 * at) & 15]));
    out.extend_from_slice(b"\r\n");
}

/// Stages the last event of an open stream.
pub(super) fn stage_answer(writer: &mut Writer) {
    if writer.stage.is_empty() {
        std::mem::swap(&mut writer.stage, &mut writer.ex.body);
        writer.ex.body.clear();
    } else {
        writer.stage.extend_from_slice(&writer.ex.body);
    }
}

/// Gives up a call whose client is gone: a modern one is cancelled by dropping it, a legacy one runs on unheard.
pub(super) fn abandon(call: Pending) {
    match call.era() {
        Era::Modern => drop(call),
        Era::Legacy => call.detach(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_hexadecimal() {
        for size in [0, 1, 9, 10, 15, 16, 255, 256, 4095, 65_536, 0x1234_5678, usize::MAX] {
            let mut out = Vec::new();
            write_chunk_size(&mut out, size);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{size:x}\r\n"));
        }
    }
}
