//! Connections as attackers and honest clients make them.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// Connects from 127.0.0.`host`: each has ports of its own.
pub async fn connect_from(host: u8, to: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 0, 0, host), 0).into())?;
    let stream = socket.connect(to).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Connects with next to no room for what comes in.
pub async fn connect_narrow(host: u8, to: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 0, 0, host), 0).into())?;
    socket.set_recv_buffer_size(2048)?;
    socket.connect(to).await
}

/// Ends the connection with a reset: no port is kept for it.
pub fn reset_at_end(stream: &TcpStream) {
    let _ = socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO));
}

/// An answer as far as it matters here.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// Sends a request and reads its whole answer, which is no stream. `buffer` keeps its storage between calls.
pub async fn exchange(stream: &mut TcpStream, request: &[u8], buffer: &mut Vec<u8>) -> io::Result<Answer> {
    stream.write_all(request).await?;
    read_answer(stream, buffer).await
}

/// Reads an answer with a length.
pub async fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Answer> {
    buffer.clear();
    let at = loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8_lossy(&buffer[..at]).into_owned();
    let status = head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
    let mut answer = Answer { status, head, body: Vec::new() };
    let length: usize = answer.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while buffer.len() < at + length {
        if stream.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    answer.body = buffer[at..at + length].to_vec();
    Ok(answer)
}

/// Opens a session and readies it.
pub async fn session(stream: &mut TcpStream, revision: &str) -> io::Result<Option<String>> {
    let mut buffer = Vec::new();
    let answer = exchange(stream, &super::messages::initialize(revision), &mut buffer).await?;
    let Some(id) = answer.header("mcp-session-id").map(str::to_owned) else { return Ok(None) };
    exchange(stream, &super::messages::in_session(&id, super::messages::READY), &mut buffer).await?;
    Ok(Some(id))
}

/// Reads until the other side ends, and drops what comes.
pub async fn drain(stream: &mut TcpStream) {
    let mut room = [0; 4096];
    while matches!(stream.read(&mut room).await, Ok(1..)) {}
}
