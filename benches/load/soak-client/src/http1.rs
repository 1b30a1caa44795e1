//! A connection over HTTP/1.1, read strictly.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::ledger::Outcome;

/// How long an answer may take, or a part of one.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The head of an answer.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    /// The one header of this name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }
}

/// Waits for something no longer than an answer may take.
pub(crate) async fn patiently<T>(what: &str, work: impl Future<Output = T>) -> Outcome<T> {
    timeout(PATIENCE, work).await.map_err(|_| format!("{what}: nothing for {PATIENCE:?}"))
}

/// A socket that comes from this address.
pub(crate) async fn connect(
    address: SocketAddr,
    from: Ipv4Addr,
    receives: Option<u32>,
) -> Outcome<TcpStream> {
    let failed = |error| format!("connecting: {error}");
    let socket = TcpSocket::new_v4().map_err(failed)?;
    if let Some(bytes) = receives {
        socket.set_recv_buffer_size(bytes).map_err(failed)?;
    }
    socket.bind((from, 0).into()).map_err(failed)?;
    let stream = patiently("connecting", socket.connect(address)).await?.map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    Ok(stream)
}

#[derive(Debug)]
pub(crate) struct Http1 {
    stream: TcpStream,
    buffer: BytesMut,
}

impl Http1 {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, buffer: BytesMut::new() }
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Outcome {
        let sent = patiently("sending", self.stream.write_all(bytes)).await?;
        sent.map_err(|error| format!("sending: {error}"))
    }

    /// Reads more. False at the end.
    async fn more(&mut self) -> Outcome<bool> {
        self.buffer.reserve(16_384);
        let read = patiently("an answer", self.stream.read_buf(&mut self.buffer)).await?;
        Ok(read.map_err(|error| format!("reading: {error}"))? > 0)
    }

    async fn line(&mut self) -> Outcome<String> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\r\n") {
                let line = self.buffer.split_to(end);
                self.buffer.advance(2);
                return String::from_utf8(line.to_vec()).map_err(|_| "a head that is no text".to_owned());
            }
            if !self.more().await? {
                return Err(format!(
                    "the server has hung up within or before an answer; there was {:?}",
                    self.buffer
                ));
            }
        }
    }

    /// The head of the next answer.
    pub(crate) async fn head(&mut self) -> Outcome<Head> {
        let line = self.line().await?;
        let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let status = status.ok_or_else(|| format!("no status line: {line:?}"))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                return Ok(Head { status, headers });
            }
            let (name, value) = line.split_once(": ").ok_or_else(|| format!("no header: {line:?}"))?;
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
    }

    /// So many bytes of a body.
    pub(crate) async fn exactly(&mut self, bytes: usize) -> Outcome<Bytes> {
        while self.buffer.len() < bytes {
            if !self.more().await? {
                return Err("the server has hung up within an answer".to_owned());
            }
        }
        Ok(self.buffer.split_to(bytes).freeze())
    }

    /// What there is of a body of which so many bytes are left.
    pub(crate) async fn some(&mut self, left: usize) -> Outcome<Bytes> {
        if self.buffer.is_empty() && !self.more().await? {
            return Err("the server has hung up within an answer".to_owned());
        }
        Ok(self.buffer.split_to(left.min(self.buffer.len())).freeze())
    }

    /// The next chunk of a chunked body.
    pub(crate) async fn chunk(&mut self) -> Outcome<Option<Bytes>> {
        let line = self.line().await?;
        let size = usize::from_str_radix(&line, 16).map_err(|_| format!("no chunk: {line:?}"))?;
        let chunk = self.exactly(size).await?;
        match self.line().await?.as_str() {
            "" => Ok((size > 0).then_some(chunk)),
            line => Err(format!("{line:?} behind a chunk")),
        }
    }

    /// There must be nothing more: the server ends the connection.
    pub(crate) async fn ends(&mut self) -> Outcome {
        if !self.buffer.is_empty() || self.more().await? {
            return Err(format!("{:?} where the connection should end", self.buffer));
        }
        Ok(())
    }

    /// There must be nothing that was not asked for.
    pub(crate) fn is_quiet(&self) -> Outcome {
        if self.buffer.is_empty() { Ok(()) } else { Err(format!("{:?} that nobody asked for", self.buffer)) }
    }

    /// Sends no more, and reads on.
    pub(crate) async fn finish(&mut self) -> Outcome {
        self.stream.shutdown().await.map_err(|error| format!("half-closing: {error}"))
    }

    /// Leaves without a word: a reset.
    pub(crate) fn reset(self) {
        let _ = self.stream.set_zero_linger();
    }
}
