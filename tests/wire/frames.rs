//! An HTTP/2 client that writes its frames by hand: it can send what a well-behaved client cannot.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// The largest frame that every peer takes.
const LARGEST: usize = 16_384;

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    pub fn new(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Self {
        Self { kind, flags, stream, payload: payload.to_vec() }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let length = u32::try_from(self.payload.len()).unwrap().to_be_bytes();
        let mut bytes = length[1..].to_vec();
        bytes.extend_from_slice(&[self.kind, self.flags]);
        bytes.extend_from_slice(&self.stream.to_be_bytes());
        bytes.extend_from_slice(&self.payload);
        bytes
    }
}

/// What became of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A head and a body that has ended.
    Answered(Vec<u8>),
    /// RST_STREAM with this code, before the answer had ended.
    Reset(u32),
    /// The connection has ended, after GOAWAY with this code if there was one.
    Gone(Option<u32>),
}

/// A connection.
#[derive(Debug)]
pub struct Frames {
    io: BufReader<TcpStream>,
    /// A frame that has been given back.
    unread: Option<Frame>,
    /// Whether acknowledgements of settings are shown.
    acks: bool,
}

impl Frames {
    /// A connection that has sent nothing yet.
    pub fn silent(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("connecting");
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { io: BufReader::new(stream), unread: None, acks: false }
    }

    /// A connection that has sent its preface and its settings.
    pub fn connect(address: SocketAddr) -> Self {
        let mut frames = Self::silent(address);
        frames.write(PREFACE);
        frames.frame(SETTINGS, 0, 0, &[]);
        frames
    }

    /// Writes bytes. The server may have ended the connection already.
    pub fn write(&mut self, bytes: &[u8]) {
        let _ = self.io.get_mut().write_all(bytes);
    }

    pub fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.write(&Frame::new(kind, flags, stream, payload).bytes());
    }

    /// Sends a header block, in as many frames as it needs.
    pub fn headers(&mut self, stream: u32, fields: &[(&str, &str)], ends: bool) {
        let block = block(fields);
        let pieces: Vec<&[u8]> = block.chunks(LARGEST).collect();
        for (at, piece) in pieces.iter().enumerate() {
            let kind = if at == 0 { HEADERS } else { CONTINUATION };
            let mut flags = if at + 1 == pieces.len() { END_HEADERS } else { 0 };
            flags |= if ends && at == 0 { END_STREAM } else { 0 };
            self.frame(kind, flags, stream, piece);
        }
    }

    pub fn data(&mut self, stream: u32, bytes: &[u8], ends: bool) {
        self.frame(DATA, if ends { END_STREAM } else { 0 }, stream, bytes);
    }

    /// From now on acknowledgements of settings are frames like others.
    pub fn see_acks(&mut self) {
        self.acks = true;
    }

    /// Gives a frame back, to be read once more.
    pub fn unread(&mut self, frame: Frame) {
        self.unread = Some(frame);
    }

    /// The first frame like this from here on, or the code of GOAWAY, if there was one, where the connection ends before it.
    #[track_caller]
    pub fn first(&mut self, like: impl Fn(&Frame) -> bool) -> Result<Frame, Option<u32>> {
        let mut goaway = None;
        while let Some(frame) = self.next() {
            if like(&frame) {
                return Ok(frame);
            }
            if frame.kind == GOAWAY {
                goaway = Some(u32::from_be_bytes(frame.payload[4..8].try_into().unwrap()));
            }
        }
        Err(goaway)
    }

    /// The next frame that is no acknowledgement of settings; `None` at the end of the connection.
    #[track_caller]
    pub fn next(&mut self) -> Option<Frame> {
        if let Some(frame) = self.unread.take() {
            return Some(frame);
        }
        loop {
            let mut head = [0; 9];
            match self.io.read_exact(&mut head) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("the server hangs"),
                Err(_) => return None,
            }
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut payload = vec![0; usize::try_from(length).unwrap()];
            self.io.read_exact(&mut payload).ok()?;
            let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            let frame = Frame { kind: head[3], flags: head[4], stream, payload };
            if self.acks || (frame.kind, frame.flags & ACK) != (SETTINGS, ACK) {
                return Some(frame);
            }
        }
    }

    /// Reads until a stream has ended, one way or another.
    #[track_caller]
    pub fn outcome(&mut self, stream: u32) -> Outcome {
        let mut goaway = None;
        let mut body = Vec::new();
        loop {
            let Some(frame) = self.next() else { return Outcome::Gone(goaway) };
            let ends = frame.flags & END_STREAM != 0;
            match frame.kind {
                GOAWAY => goaway = Some(u32::from_be_bytes(frame.payload[4..8].try_into().unwrap())),
                RST_STREAM if frame.stream == stream => {
                    return Outcome::Reset(u32::from_be_bytes(frame.payload[..4].try_into().unwrap()));
                }
                DATA if frame.stream == stream => {
                    body.extend_from_slice(&frame.payload);
                    if ends {
                        return Outcome::Answered(body);
                    }
                }
                HEADERS if frame.stream == stream && ends => return Outcome::Answered(body),
                _ => {}
            }
        }
    }
}

/// A header block of literals that are not indexed.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            integer(&mut block, text.len());
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}

/// A length with a prefix of 7 bits (RFC 7541 5.1).
fn integer(out: &mut Vec<u8>, value: usize) {
    if value < 127 {
        out.push(u8::try_from(value).unwrap());
        return;
    }
    out.push(127);
    let mut rest = value - 127;
    while rest >= 128 {
        out.push(u8::try_from(rest % 128).unwrap() | 128);
        rest /= 128;
    }
    out.push(u8::try_from(rest).unwrap());
}
