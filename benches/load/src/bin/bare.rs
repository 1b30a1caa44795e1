//! The floor: a responder that looks for nothing but the length of a request, and answers the same to each.
//!
//! `bare --port PORT [--bytes N]`: one thread, level-triggered epoll, one read and one write a turn.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use memchr::memmem;
use rustix::event::epoll::{self, EventData, EventFlags};
use twolane_load::{canned_body, flag, raise_open_files};

const LISTENER: u64 = u64::MAX;
/// Room for another request, at least.
const ROOM: usize = 4096;
/// Answers that one write can hold, unless they are large.
const BATCH: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    raise_open_files();
    let body = canned_body(flag("--bytes", 16)?);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\ndate: Mon, 30 Nov 2026 08:00:00 GMT\r\n\r\n",
        body.len()
    );
    let answer = head + &body;
    let batch = if answer.len() < 4096 { BATCH } else { 1 };
    Responder::new(flag("--port", 8080)?, &answer, batch)?.run()
}

struct Responder {
    epoll: OwnedFd,
    listener: TcpListener,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// The answer, as often as one write may hold it.
    answers: Vec<u8>,
    length: usize,
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
    /// How long the request is that the buffer begins with, once its head is there.
    request: Option<usize>,
    /// Bytes of answers that are not written yet.
    owed: usize,
    watches_room: bool,
}

impl Responder {
    fn new(port: u16, answer: &str, batch: usize) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        let (answers, length) = (answer.repeat(batch).into_bytes(), answer.len());
        Ok(Self { epoll, listener, connections: Vec::new(), free: Vec::new(), answers, length })
    }

    fn run(mut self) -> Result<(), Box<dyn Error>> {
        let mut events = Vec::with_capacity(512);
        loop {
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    slot => self.serve(slot as usize),
                }
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            let slot = self.free.pop().unwrap_or(self.connections.len());
            epoll::add(&self.epoll, &stream, EventData::new_u64(slot as u64), EventFlags::IN)?;
            let connection = Connection {
                stream,
                buffer: Vec::new(),
                filled: 0,
                request: None,
                owed: 0,
                watches_room: false,
            };
            if slot == self.connections.len() {
                self.connections.push(None);
            }
            self.connections[slot] = Some(connection);
        }
    }

    fn serve(&mut self, slot: usize) {
        let Some(connection) = &mut self.connections[slot] else { return };
        let served = connection
            .read(self.length)
            .and_then(|()| connection.write(&self.answers, self.length))
            .and_then(|()| connection.watch(&self.epoll, slot));
        if served.is_err() {
            // Closing a descriptor takes it out of the epoll as well.
            self.connections[slot] = None;
            self.free.push(slot);
        }
    }
}

impl Connection {
    /// Reads once, unless answers are still owed, and counts the requests that are complete.
    fn read(&mut self, answer: usize) -> io::Result<()> {
        if self.owed > 0 {
            return Ok(());
        }
        let room = self.request.unwrap_or(0).saturating_sub(self.filled).max(ROOM);
        if self.buffer.len() < self.filled + room {
            self.buffer.resize(self.filled + room, 0);
        }
        match self.stream.read(&mut self.buffer[self.filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => self.filled += read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
        let mut taken = 0;
        loop {
            let rest = &self.buffer[taken..self.filled];
            self.request = self.request.or_else(|| request_length(rest));
            match self.request {
                Some(length) if length <= rest.len() => {
                    taken += length;
                    self.owed += answer;
                    self.request = None;
                }
                _ => break,
            }
        }
        self.buffer.copy_within(taken..self.filled, 0);
        self.filled -= taken;
        Ok(())
    }

    fn write(&mut self, answers: &[u8], answer: usize) -> io::Result<()> {
        while self.owed > 0 {
            let begin = (answer - self.owed % answer) % answer;
            let end = answers.len().min(begin + self.owed);
            match self.stream.write(&answers[begin..end]) {
                Ok(written) => self.owed -= written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for room where answers are owed, else for requests.
    fn watch(&mut self, epoll: &OwnedFd, slot: usize) -> io::Result<()> {
        let wanted = self.owed > 0;
        if wanted != self.watches_room {
            self.watches_room = wanted;
            let flags = if wanted { EventFlags::OUT } else { EventFlags::IN };
            epoll::modify(epoll, &self.stream, EventData::new_u64(slot as u64), flags)?;
        }
        Ok(())
    }
}

/// Head and body of the request that the bytes begin with, once the head is whole.
fn request_length(bytes: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    let head = memmem::find(bytes, b"\r\n\r\n")? + 4;
    let after = |colon: usize| {
        let start = (colon + 1).checked_sub(NAME.len())?;
        bytes[start..=colon].eq_ignore_ascii_case(NAME).then_some(&bytes[colon + 1..head])
    };
    let value = memchr::memchr_iter(b':', &bytes[..head]).find_map(after).unwrap_or_default();
    let digits = value.trim_ascii_start().iter().take_while(|byte| byte.is_ascii_digit());
    Some(head + digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0')))
}
