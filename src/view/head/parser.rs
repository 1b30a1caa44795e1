//! HTTP/1 heads, in whatever pieces they arrive.
//!
//! Every answer is a function of the bytes so far, and a fault is found at the first byte that makes it one: so a head gets the same answer
//! whether it arrives whole or byte by byte. The usual head arrives whole: it is one of those remembered (`memo`), or takes one pass
//! (`read_head`). Any other is walked line by line (`scan`), which is the authority on faults: neither accepts what the walk would refuse.

use std::mem::MaybeUninit;

use super::host;
use super::index::HeadIndex;
use super::memo::Memo;
use super::request::RequestHead;
use super::span::Span;
use super::target::RequestLine;
use super::{Cardinality, HeadFault, HttpVersion};
use crate::base::ascii::is_tchar;
use crate::base::limits::{LimitInfo, Limits};
use crate::tables::headers::Known;

/// Empty lines before a request line that are skipped (RFC 9112 2.2): old clients send one after a body.
const BLANK_LINES: usize = 4;

/// The largest value of `Limits::headers`.
const MOST_FIELDS: usize = 256;

const _: () = {
    let mut at = 0;
    while at < Limits::ALL.len() {
        let LimitInfo { name, max, .. } = Limits::ALL[at];
        if let b"headers" = name.as_bytes() {
            assert!(max as usize <= MOST_FIELDS);
        }
        at += 1;
    }
};

/// Reads one head from a buffer that grows, and remembers how far it has looked.
#[derive(Debug, Default)]
pub struct HeadParser {
    /// Where the request line starts, or the leading empty lines seen so far end.
    start: usize,
    /// Where the unfinished line starts.
    line: usize,
    /// No line end before here is still to be found.
    scanned: usize,
    /// Finished lines, the request line among them.
    lines: usize,
    memo: Memo,
}

impl HeadParser {
    /// A parser at the start of a request.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts over, for the next request. Heads that were read are remembered.
    pub fn reset(&mut self) {
        (self.start, self.line, self.scanned, self.lines) = (0, 0, 0, 0);
    }

    /// Looks for a complete head at the start of `buf`, which holds all bytes of the request so far: the same ones as in the call before,
    /// and possibly more. `None` asks for more.
    ///
    /// # Errors
    /// The fault of the head. It may be found before the head is complete; the parser is of no use afterwards until reset.
    pub fn parse(&mut self, buf: &[u8], limits: &Limits) -> Result<Option<HeadIndex>, HeadFault> {
        if self.scanned == 0 {
            if let Some(index) = self.memo.find(buf, limits) {
                return Ok(Some(index));
            }
            if let Ok(index) = read_head(buf, 0, limits) {
                self.memo.keep(buf, &index, limits);
                return Ok(Some(index));
            }
        }
        self.scan(buf, limits)
    }

    fn scan(&mut self, buf: &[u8], limits: &Limits) -> Result<Option<HeadIndex>, HeadFault> {
        if self.lines == 0 && !self.skip_blank_lines(buf)? {
            return Ok(None);
        }
        let most = self.start.saturating_add(size(limits.head));
        let window = &buf[..buf.len().min(most)];
        while let Some(at) = memchr::memchr(b'\n', &window[self.scanned..]) {
            let end = self.scanned + at;
            let line = &window[self.line..end];
            let longest = self.longest_line(limits);
            let content = line.strip_suffix(b"\r");
            if content.unwrap_or(line).len() > longest {
                return Err(self.long_line());
            }
            let content = content.ok_or(HeadFault::BARE_LF)?;
            if content.is_empty() {
                return read_head(&buf[..=end], self.start, limits).map(Some);
            }
            if self.lines == 0 {
                RequestLine::read(buf, content)?;
            } else if self.lines > size(limits.headers) {
                return Err(HeadFault::MANY_FIELDS);
            }
            self.lines += 1;
            self.scanned = end + 1;
            self.line = end + 1;
        }
        self.scanned = window.len();
        let rest = &window[self.line..];
        // A CR just past the limit may be the line end's.
        let content = rest.strip_suffix(b"\r").unwrap_or(rest);
        if content.len() > self.longest_line(limits) {
            return Err(self.long_line());
        }
        if buf.len() > most {
            return Err(HeadFault::LONG_HEAD);
        }
        Ok(None)
    }

    /// Moves past empty lines. True when a request line has begun.
    fn skip_blank_lines(&mut self, buf: &[u8]) -> Result<bool, HeadFault> {
        loop {
            match buf.get(self.start..).unwrap_or_default() {
                [] => return Ok(false),
                [b'\r', ..] if self.start >= BLANK_LINES * 2 => return Err(HeadFault::BLANK_LINES),
                [b'\r', b'\n', ..] => self.start += 2,
                [b'\r'] => return Ok(false),
                [b'\r', ..] => return Err(HeadFault::STRAY_CR),
                [b'\n', ..] => return Err(HeadFault::BARE_LF),
                [first, ..] if !is_tchar(*first) => return Err(HeadFault::NO_METHOD),
                _ => break,
            }
        }
        self.line = self.start;
        self.scanned = self.scanned.max(self.start);
        Ok(true)
    }

    fn longest_line(&self, limits: &Limits) -> usize {
        size(if self.lines == 0 { limits.request_line } else { limits.header_line })
    }

    fn long_line(&self) -> HeadFault {
        if self.lines == 0 { HeadFault::LONG_LINE } else { HeadFault::LONG_FIELD }
    }
}

/// A limit in bytes of memory.
fn size(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// Reads a whole head in one pass, its request line at `start`. An incomplete head is an error like any other.
fn read_head(buf: &[u8], start: usize, limits: &Limits) -> Result<HeadIndex, HeadFault> {
    let head = buf.get(start..).unwrap_or_default();
    if !head.first().is_some_and(|&first| is_tchar(first)) {
        return Err(HeadFault::NO_METHOD);
    }
    let mut fields = [const { MaybeUninit::uninit() }; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut []);
    let most = size(limits.headers).min(MOST_FIELDS);
    let end = match request.parse_with_uninit_headers(head, &mut fields[..most]) {
        Ok(httparse::Status::Complete(len)) => start + len,
        Ok(httparse::Status::Partial) => return Err(HeadFault::FIELD),
        Err(error) => return Err(explain(error)),
    };
    let (Some(method), Some(target), Some(minor)) = (request.method, request.path, request.version) else {
        return Err(HeadFault::REQUEST_LINE);
    };
    let version = if minor == 0 { HttpVersion::Http10 } else { HttpVersion::Http11 };
    let line = RequestLine::from_pieces(buf, method.as_bytes(), target.as_bytes(), version)?;
    let mut index = HeadIndex::new(&line);
    let mut lines = Lines { buf, start, longest: size(limits.request_line), long: HeadFault::LONG_LINE };
    let mut block = end - 2;
    for field in request.headers.iter() {
        let name = Span::of(buf, field.name.as_bytes()).start();
        block = block.min(name);
        lines.end_before(name)?;
        (lines.longest, lines.long) = (size(limits.header_line), HeadFault::LONG_FIELD);
        index.note(field.name.as_bytes(), Span::of(buf, field.value));
    }
    lines.end_before(end - 2)?;
    lines.end_before(end)?;
    if end - start > size(limits.head) {
        return Err(HeadFault::LONG_HEAD);
    }
    index.close(Span::new(block, end - 2), end);
    check_host(buf, &index)?;
    Ok(index)
}

/// Walks over the lines of a head that httparse took: each ends where the next one starts, and httparse takes a bare LF for a line end.
struct Lines<'b> {
    buf: &'b [u8],
    start: usize,
    longest: usize,
    long: HeadFault,
}

impl Lines<'_> {
    /// Checks the line that ends where the next one starts.
    fn end_before(&mut self, next: usize) -> Result<(), HeadFault> {
        if self.buf.get(next - 2) != Some(&b'\r') {
            return Err(HeadFault::BARE_LF);
        }
        if (next - 2).saturating_sub(self.start) > self.longest {
            return Err(self.long);
        }
        self.start = next;
        Ok(())
    }
}

/// The `Host` rule (RFC 9112 3.2).
fn check_host(buf: &[u8], index: &HeadIndex) -> Result<(), HeadFault> {
    match RequestHead::new(buf, index).header(Known::Host) {
        Cardinality::Missing if index.version == HttpVersion::Http11 => Err(HeadFault::NO_HOST),
        Cardinality::Missing => Ok(()),
        Cardinality::Many => Err(HeadFault::MANY_HOSTS),
        Cardinality::One(value) if host::is_valid(value) => Ok(()),
        Cardinality::One(_) => Err(HeadFault::HOST),
    }
}

#[cold]
fn explain(error: httparse::Error) -> HeadFault {
    match error {
        httparse::Error::HeaderName => HeadFault::FIELD_NAME,
        httparse::Error::HeaderValue => HeadFault::FIELD_VALUE,
        httparse::Error::NewLine => HeadFault::STRAY_CR,
        httparse::Error::Token => HeadFault::REQUEST_LINE,
        httparse::Error::TooManyHeaders => HeadFault::MANY_FIELDS,
        httparse::Error::Version => HeadFault::VERSION,
        httparse::Error::Status => HeadFault::FIELD,
    }
}
