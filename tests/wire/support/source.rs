//! An event stream that is read as it comes, over either protocol.

use super::Protocol;
use super::http1::Http1;
use super::http2::{Http2, Stream};
use super::message::Request;
use super::read::{self, Event, Head};
use super::server::Server;

/// An open event stream, on a connection of its own.
#[derive(Debug)]
pub struct Source {
    pub head: Head,
    wire: Wire,
    /// Bytes that no event has been read from yet.
    bytes: Vec<u8>,
    /// How many of them hold no end of an event.
    searched: usize,
    /// How many bytes have come.
    pub read: usize,
}

#[derive(Debug)]
enum Wire {
    Http1(Http1),
    Http2(Http2, Stream),
}

impl Source {
    /// Sends a request whose answer is an event stream.
    #[track_caller]
    pub fn open(server: &Server, protocol: Protocol, request: &Request) -> Self {
        let source = Self::try_open(server, protocol, request);
        assert_eq!(source.head.status, 200, "{:?}", source.head);
        assert_eq!(source.head.header("content-type"), Some("text/event-stream"), "{:?}", source.head);
        read::check_body(&source.head, b"", &request.verb);
        source
    }

    /// Sends a request and reads the head of its answer.
    #[track_caller]
    pub fn try_open(server: &Server, protocol: Protocol, request: &Request) -> Self {
        match protocol {
            Protocol::Http1 => {
                let mut client = server.http1();
                client.write(&request.bytes());
                Self {
                    head: client.read_head(),
                    wire: Wire::Http1(client),
                    bytes: Vec::new(),
                    searched: 0,
                    read: 0,
                }
            }
            Protocol::Http2 => {
                let mut client = server.http2();
                let mut stream = client.start(request);
                let head = client.head(&mut stream);
                Self { head, wire: Wire::Http2(client, stream), bytes: Vec::new(), searched: 0, read: 0 }
            }
        }
    }

    /// The next piece; `None` at the end.
    #[track_caller]
    pub fn piece(&mut self) -> Option<Vec<u8>> {
        let piece = match &mut self.wire {
            Wire::Http1(client) => client.read_chunk()?,
            Wire::Http2(client, stream) => client.data(stream)?.expect("no reset").to_vec(),
        };
        self.read += piece.len();
        Some(piece)
    }

    /// The next event; `None` at the end of the stream. Comments are skipped.
    #[track_caller]
    pub fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = memchr::memmem::find(&self.bytes[self.searched..], b"\n\n") {
                let block: Vec<u8> = self.bytes.drain(..self.searched + end + 2).collect();
                self.searched = 0;
                if let Some(event) = read::events(&block).pop() {
                    return Some(event);
                }
                continue;
            }
            self.searched = self.bytes.len().saturating_sub(1);
            let Some(piece) = self.piece() else {
                assert!(self.bytes.is_empty(), "half an event: {:?}", self.bytes.escape_ascii().to_string());
                return None;
            };
            self.bytes.extend_from_slice(&piece);
        }
    }

    /// The next event, which carries a message.
    #[track_caller]
    pub fn message(&mut self) -> (String, serde_json::Value) {
        let event = self.next().expect("the stream goes on");
        (event.id.clone().expect("every event has an id"), event.json())
    }

    /// The next event, which primes the client.
    #[track_caller]
    pub fn priming(&mut self) -> String {
        let event = self.next().expect("the stream goes on");
        assert_eq!((event.data.as_deref(), event.retry, &event.event), (Some(""), None, &None), "{event:?}");
        event.id.expect("an id")
    }

    /// The stream ends early, and tells when to come back.
    #[track_caller]
    pub fn assert_cut(&mut self) -> u64 {
        let event = self.next().expect("how long to wait");
        assert_eq!((&event.data, &event.id), (&None, &None), "{event:?}");
        assert_eq!(self.next(), None);
        event.retry.expect("how long to wait")
    }

    /// The whole of what is left.
    #[track_caller]
    pub fn rest(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Leaves without a word.
    pub fn leave(self) {
        match self.wire {
            Wire::Http1(client) => drop(client),
            Wire::Http2(mut client, stream) => client.reset(stream),
        }
    }

    /// Sends another request on the same HTTP/1.1 connection, once the stream is over.
    #[track_caller]
    pub fn again(&mut self, request: &Request) -> super::Response {
        match &mut self.wire {
            Wire::Http1(client) => client.send(request),
            Wire::Http2(client, _) => client.send(request),
        }
    }
}
