//! A client that reads answers with a length, over one connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;

/// A connection and what has been read from it.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    buf: Vec<u8>,
    filled: usize,
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a server");
        stream.set_nodelay(true).expect("a TCP option");
        Self { stream, buf: vec![0; 256 * 1024], filled: 0 }
    }

    /// Writes requests.
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    /// Reads so many answers, and lends the status and the body of the last one.
    pub fn receive(&mut self, answers: usize) -> (u16, &[u8]) {
        self.filled = 0;
        let (mut at, mut last) = (0, (0, 0..0));
        for _ in 0..answers {
            last = loop {
                match parse(&self.buf[at..self.filled]) {
                    Some((status, body)) => break (status, at + body.start..at + body.end),
                    None => self.fill(),
                }
            };
            at = last.1.end;
        }
        assert_eq!(at, self.filled, "nothing follows the answers");
        (last.0, &self.buf[last.1])
    }

    fn fill(&mut self) {
        let read = self.stream.read(&mut self.buf[self.filled..]).expect("the server answers");
        assert_ne!(read, 0, "the connection stays open and the answers fit");
        self.filled += read;
    }
}

/// The status and the place of the body, once all of the answer is there.
fn parse(bytes: &[u8]) -> Option<(u16, Range<usize>)> {
    const LENGTH: &[u8] = b"content-length: ";
    let head = memmem(bytes, b"\r\n\r\n")? + 4;
    let status = std::str::from_utf8(bytes.get(9..12)?).ok()?.parse().ok()?;
    let digits = &bytes[memmem(&bytes[..head], LENGTH).expect("a length") + LENGTH.len()..];
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit());
    let length = length.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
    (bytes.len() >= head + length).then_some((status, head..head + length))
}

fn memmem(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
