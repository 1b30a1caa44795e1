//! One connection that never waits, with requests under way.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::event::epoll::{self, EventData, EventFlags};

use crate::answer::Input;
use crate::args::Fallible;
use crate::work::Request;

#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    slot: usize,
    /// What it sends in turn.
    pub(crate) requests: Vec<Request>,
    pub(crate) turn: usize,
    /// The request whose turn it is, as often as it is sent at once.
    batch: Vec<u8>,
    sent: usize,
    watches_room: bool,
    pub(crate) input: Input,
    pub(crate) under_way: VecDeque<UnderWay>,
    /// Calls the slow tool: its times are not counted.
    pub(crate) slow: bool,
}

/// A request that is not answered yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnderWay {
    pub(crate) id: u64,
    /// When it was sent or, at a fixed rate, when it should have been.
    pub(crate) since: Instant,
}

impl Connection {
    pub(crate) fn open(
        epoll: &OwnedFd,
        port: u16,
        slot: usize,
        requests: Vec<Request>,
        pipeline: usize,
    ) -> Fallible<Self> {
        let first = requests.first().ok_or("a connection without requests")?;
        let (stream, batch) = (connect(epoll, port, slot)?, first.bytes.repeat(pipeline));
        Ok(Self {
            stream,
            slot,
            requests,
            turn: 0,
            sent: batch.len(),
            batch,
            watches_room: false,
            input: Input::default(),
            under_way: VecDeque::with_capacity(pipeline),
            slow: false,
        })
    }

    /// Another connection in the place of one that the server has ended, with nothing under way.
    pub(crate) fn reopen(&mut self, epoll: &OwnedFd, port: u16) -> Fallible<()> {
        self.stream = connect(epoll, port, self.slot)?;
        self.input = Input::default();
        self.watches_room = false;
        self.under_way.clear();
        Ok(())
    }

    /// Sends the next batch.
    pub(crate) fn send(&mut self, epoll: &OwnedFd, next_id: &mut u64, since: Instant) -> io::Result<()> {
        if self.requests.len() > 1 {
            let count = self.batch.len() / self.requests[self.turn].bytes.len();
            self.turn = (self.turn + 1) % self.requests.len();
            self.batch.clear();
            (0..count).for_each(|_| self.batch.extend_from_slice(&self.requests[self.turn].bytes));
        }
        let request = &self.requests[self.turn];
        for bytes in self.batch.chunks_exact_mut(request.bytes.len()) {
            *next_id += 1;
            request.number(bytes, *next_id);
            self.under_way.push_back(UnderWay { id: *next_id, since });
        }
        self.sent = 0;
        self.flush(epoll)
    }

    /// Writes what is left of the batch, and waits for room if there is not enough.
    pub(crate) fn flush(&mut self, epoll: &OwnedFd) -> io::Result<()> {
        while self.sent < self.batch.len() {
            match self.stream.write(&self.batch[self.sent..]) {
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        let waits = self.sent < self.batch.len();
        if waits != self.watches_room {
            self.watches_room = waits;
            let flags = if waits { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
            epoll::modify(epoll, &self.stream, EventData::new_u64(self.slot as u64), flags)?;
        }
        Ok(())
    }

    /// Whether all of the batch has left.
    pub(crate) fn is_sent(&self) -> bool {
        self.sent == self.batch.len()
    }

    /// Reads once.
    pub(crate) fn read(&mut self) -> io::Result<()> {
        match self.input.fill(&mut self.stream) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            other => other,
        }
    }
}

fn connect(epoll: &OwnedFd, port: u16, slot: usize) -> Fallible<TcpStream> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    epoll::add(epoll, &stream, EventData::new_u64(slot as u64), EventFlags::IN)?;
    Ok(stream)
}
