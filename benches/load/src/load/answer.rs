//! Answers, read piece by piece.

use std::io::{self, Read};

use memchr::{memchr, memmem};

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) head: &'a [u8],
    /// As it came: with the lines of chunks, where it came in chunks.
    pub(crate) body: &'a [u8],
    pub(crate) closes: bool,
}

impl Answer<'_> {
    /// For the words of a complaint.
    pub(crate) fn text(&self) -> String {
        let shown = &self.body[..self.body.len().min(400)];
        format!("{}{}", String::from_utf8_lossy(self.head), String::from_utf8_lossy(shown))
    }
}

/// What has been read from a connection and not been taken.
#[derive(Debug, Default)]
pub(crate) struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Of the answer at `start`, once its head is there.
    head: Option<Head>,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    status: u16,
    length: usize,
    body: Body,
    closes: bool,
}

#[derive(Debug, Clone, Copy)]
enum Body {
    Length(usize),
    /// In chunks; the next one begins here, counted from the answer's begin.
    Chunks(usize),
}

/// Room for a read, at least.
const ROOM: usize = 8 * 1024;

impl Input {
    /// Reads once.
    ///
    /// # Errors
    /// What reading says, and the end of the connection.
    pub(crate) fn fill(&mut self, stream: &mut impl Read) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start > 0 && self.buffer.len() - self.end < ROOM {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let whole = self.head.map_or(0, |head| match head.body {
            Body::Length(length) => head.length + length,
            Body::Chunks(next) => next,
        });
        let wanted = (self.end + ROOM).max(self.start + whole);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted.next_power_of_two(), 0);
        }
        match stream.read(&mut self.buffer[self.end..])? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                self.end += read;
                Ok(())
            }
        }
    }

    /// Takes the next answer, if it is all there.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(crate) fn take(&mut self) -> io::Result<Option<Answer<'_>>> {
        let bytes = &self.buffer[self.start..self.end];
        if self.head.is_none() {
            self.head = Head::parse(bytes)?;
        }
        let Some(head) = &mut self.head else { return Ok(None) };
        let Some(whole) = head.whole(bytes)? else { return Ok(None) };
        let head = *head;
        self.head = None;
        let (head_bytes, body) = bytes[..whole].split_at(head.length);
        self.start += whole;
        Ok(Some(Answer { status: head.status, head: head_bytes, body, closes: head.closes }))
    }

    /// Whether the next answer is all there.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(crate) fn is_whole(&mut self) -> io::Result<bool> {
        let bytes = &self.buffer[self.start..self.end];
        if self.head.is_none() {
            self.head = Head::parse(bytes)?;
        }
        self.head.as_mut().map_or(Ok(false), |head| Ok(head.whole(bytes)?.is_some()))
    }

    /// The head of the next answer, whose body may go on for ever.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(crate) fn peek(&mut self) -> io::Result<Option<Answer<'_>>> {
        let bytes = &self.buffer[self.start..self.end];
        let Some(head) = Head::parse(bytes)? else { return Ok(None) };
        let (head_bytes, body) = bytes.split_at(head.length);
        Ok(Some(Answer { status: head.status, head: head_bytes, body, closes: head.closes }))
    }
}

impl Head {
    fn parse(bytes: &[u8]) -> io::Result<Option<Self>> {
        let Some(end) = memmem::find(bytes, b"\r\n\r\n") else { return Ok(None) };
        let length = end + 4;
        let head = &bytes[..length];
        let status = digits(head.get(9..12).unwrap_or_default())?;
        let body = if let Some(value) = field(head, b"content-length") {
            Body::Length(digits(value)?)
        } else if field(head, b"transfer-encoding").is_some() {
            Body::Chunks(length)
        } else {
            Body::Length(0)
        };
        let closes = field(head, b"connection").is_some_and(|value| value.eq_ignore_ascii_case(b"close"));
        Ok(Some(Self { status: status as u16, length, body, closes }))
    }

    /// How long the answer is, if it is all there.
    fn whole(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        let next = match &mut self.body {
            Body::Length(length) => {
                let whole = self.length + *length;
                return Ok((bytes.len() >= whole).then_some(whole));
            }
            Body::Chunks(next) => next,
        };
        while let Some(line) = bytes.get(*next..).and_then(|rest| Some(&rest[..memchr(b'\n', rest)?])) {
            let size = std::str::from_utf8(line).map_err(bad)?.trim_end();
            let size = usize::from_str_radix(size.split(';').next().unwrap_or_default(), 16).map_err(bad)?;
            let after = *next + line.len() + 1 + size + 2;
            if bytes.len() < after {
                return Ok(None);
            }
            if size == 0 {
                return Ok(Some(after));
            }
            *next = after;
        }
        Ok(None)
    }
}

/// The value of a header field.
pub(crate) fn field<'a>(head: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut rest = head;
    while let Some(end) = memchr(b'\n', rest) {
        let line = &rest[..end];
        rest = &rest[end + 1..];
        if line.get(name.len()) == Some(&b':') && line[..name.len()].eq_ignore_ascii_case(name) {
            return Some(line[name.len() + 1..].trim_ascii());
        }
    }
    None
}

fn digits(bytes: &[u8]) -> io::Result<usize> {
    std::str::from_utf8(bytes).map_err(bad)?.parse().map_err(bad)
}

fn bad(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str, step: usize) -> Vec<(u16, String)> {
        let mut input = Input::default();
        let mut answers = Vec::new();
        for mut piece in text.as_bytes().chunks(step) {
            input.fill(&mut piece).expect("a piece");
            while let Some(answer) = input.take().expect("answers") {
                answers.push((answer.status, String::from_utf8_lossy(answer.body).into_owned()));
            }
        }
        answers
    }

    #[test]
    fn answers_are_the_same_however_they_come() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}\
            HTTP/1.1 403 Forbidden\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n\
            HTTP/1.1 202 Accepted\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx";
        let wanted = [(200, "{}"), (403, "3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n"), (202, ""), (200, "x")];
        for step in 1..=text.len() {
            let read = read_all(text, step);
            let read: Vec<_> = read.iter().map(|(status, body)| (*status, body.as_str())).collect();
            assert_eq!(read, wanted, "in pieces of {step}");
        }
    }

    #[test]
    fn nonsense_is_told() {
        for text in ["HTTP/1.1 x\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n"] {
            let mut input = Input::default();
            input.fill(&mut text.as_bytes()).expect("a piece");
            assert!(input.take().is_err(), "{text:?}");
        }
    }
}
