//! An HTTP/1.1 client that sends exactly the bytes it is given and reads strictly.

use std::io::{BufReader, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use super::message::{Request, Response};
use super::read::{self, Event, Head};

/// A hang is a failure, not a wait without end. Nothing is measured by this.
const PATIENCE: Duration = Duration::from_secs(20);

/// One connection.
#[derive(Debug)]
pub struct Http1 {
    stream: BufReader<TcpStream>,
    /// Decoded bytes of an event stream that no event has been read from yet.
    events: Vec<u8>,
}

impl Http1 {
    pub fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).expect("connecting"))
    }

    /// Connects as another peer: from an address of this machine that is not the usual one.
    pub fn connect_from(peer: IpAddr, address: SocketAddr) -> Self {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).expect("a socket");
        socket.bind(&SocketAddr::new(peer, 0).into()).expect("an address of our own");
        socket.connect(&address.into()).expect("connecting");
        Self::over(socket.into())
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream: BufReader::new(stream), events: Vec::new() }
    }

    /// Writes bytes in one piece.
    #[track_caller]
    pub fn write(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).expect("writing");
    }

    /// Writes bytes one by one.
    #[track_caller]
    pub fn write_single(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write(std::slice::from_ref(byte));
        }
    }

    /// Writes as much as the server takes: it may close before it has read all.
    pub fn write_until_refused(&mut self, bytes: &[u8]) {
        let _ = self.stream.get_mut().write_all(bytes);
    }

    /// Reads the response to a request of `verb`.
    #[track_caller]
    pub fn read(&mut self, verb: &str) -> Response {
        read::response(&mut self.stream, verb)
    }

    /// Sends a request and reads its response.
    #[track_caller]
    pub fn send(&mut self, request: &Request) -> Response {
        self.write(&request.bytes());
        self.read(&request.verb)
    }

    /// Reads the head of a response whose body is read in pieces.
    #[track_caller]
    pub fn read_head(&mut self) -> Head {
        read::head(&mut self.stream)
    }

    /// Reads one chunk; `None` is the last.
    #[track_caller]
    pub fn read_chunk(&mut self) -> Option<Vec<u8>> {
        read::chunk(&mut self.stream)
    }

    /// The next event of a chunked stream; `None` at its end.
    #[track_caller]
    pub fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.events.windows(2).position(|two| two == b"\n\n") {
                let block: Vec<u8> = self.events.drain(..end + 2).collect();
                if let Some(event) = read::events(&block).pop() {
                    return Some(event);
                }
                continue;
            }
            let Some(more) = self.read_chunk() else {
                assert!(
                    self.events.is_empty(),
                    "half an event: {:?}",
                    self.events.escape_ascii().to_string()
                );
                return None;
            };
            self.events.extend_from_slice(&more);
        }
    }

    /// Ends this side; the other may still answer.
    pub fn finish(&mut self) {
        self.stream.get_ref().shutdown(Shutdown::Write).expect("shutting down");
    }

    /// Everything up to the end of the connection.
    #[track_caller]
    pub fn read_to_end(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).expect("reading to the end");
        rest
    }

    /// The server has ended the connection and sent nothing more.
    #[track_caller]
    pub fn assert_closed(&mut self) {
        let rest = self.read_to_end();
        assert!(rest.is_empty(), "bytes after the last answer: {:?}", rest.escape_ascii().to_string());
    }

    /// Sets how long a read may take before it is a failure.
    pub fn patience(&self, patience: Duration) {
        self.stream.get_ref().set_read_timeout(Some(patience)).unwrap();
    }

    /// The socket, for what only a socket can do.
    pub fn socket(&self) -> &TcpStream {
        self.stream.get_ref()
    }
}
