//! An HTTP/2 client with prior knowledge, made synchronous: a runtime of its own moves it while a test waits.

use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderName, HeaderValue, Method, Uri};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::message::{Framing, Request, Response};
use super::read::{self, Head};

/// A hang is a failure, not a wait without end. Nothing is measured by this.
const PATIENCE: Duration = Duration::from_secs(20);

/// One connection.
#[derive(Debug)]
pub struct Http2 {
    runtime: Runtime,
    send: SendRequest<Bytes>,
    driver: JoinHandle<Result<(), h2::Error>>,
}

/// One stream whose answer is read in pieces.
#[derive(Debug)]
pub struct Stream {
    response: Option<ResponseFuture>,
    pub send: SendStream<Bytes>,
    body: Option<RecvStream>,
}

impl Http2 {
    pub fn connect(address: SocketAddr) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let stream = runtime.block_on(TcpStream::connect(address)).expect("connecting");
        stream.set_nodelay(true).unwrap();
        Self::over(runtime, stream)
    }

    /// Connects as another peer: from an address of this machine that is not the usual one.
    pub fn connect_from(peer: IpAddr, address: SocketAddr) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let stream = runtime.block_on(async {
            let socket = if peer.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.unwrap();
            socket.bind(SocketAddr::new(peer, 0)).expect("an address of our own");
            socket.connect(address).await.expect("connecting")
        });
        stream.set_nodelay(true).unwrap();
        Self::over(runtime, stream)
    }

    /// A connection over any transport, moved by `runtime`.
    pub fn over(runtime: Runtime, io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        let (send, connection) = runtime.block_on(handshake(io));
        let driver = runtime.spawn(connection);
        Self { runtime, send, driver }
    }

    /// Sends a request and reads its whole answer.
    #[track_caller]
    pub fn send(&mut self, request: &Request) -> Response {
        let exchanged = exchange(self.send.clone(), request);
        self.runtime
            .block_on(async { tokio::time::timeout(PATIENCE, exchanged).await })
            .expect("the server hangs")
            .unwrap_or_else(|error| panic!("{error}: {request:?}"))
    }

    /// Sends a request that may be reset.
    pub fn try_send(&mut self, request: &Request) -> Result<Response, h2::Error> {
        let exchanged = exchange(self.send.clone(), request);
        self.runtime
            .block_on(async { tokio::time::timeout(PATIENCE, exchanged).await })
            .expect("the server hangs")
    }

    /// Opens a stream with a request; its body is sent whole.
    #[track_caller]
    pub fn start(&mut self, request: &Request) -> Stream {
        let end = request.body.is_empty();
        self.start_with(request, end)
    }

    /// Opens a stream with a request whose body is there but goes on unless it `ends`.
    #[track_caller]
    pub fn start_with(&mut self, request: &Request, ends: bool) -> Stream {
        let (head, body) = (head_of(request), Bytes::from(request.body.clone()));
        let mut send = self.send.clone();
        self.runtime.block_on(async {
            send = send.ready().await.expect("a free stream");
            let no_body = body.is_empty() && ends;
            let (response, mut stream) = send.send_request(head, no_body).expect("sending a request");
            if !no_body {
                stream.send_data(body, ends || !request.body.is_empty()).expect("sending a body");
            }
            Stream { response: Some(response), send: stream, body: None }
        })
    }

    /// Waits for the head of a stream's answer.
    #[track_caller]
    pub fn head(&mut self, stream: &mut Stream) -> Head {
        let response = stream.response.take().expect("the head is read once");
        let response = self
            .runtime
            .block_on(async { tokio::time::timeout(PATIENCE, response).await })
            .expect("the server hangs")
            .expect("an answer");
        let (parts, body) = response.into_parts();
        stream.body = Some(body);
        taken(&parts)
    }

    /// The next piece of a stream's body; `None` at its end.
    pub fn data(&mut self, stream: &mut Stream) -> Option<Result<Bytes, h2::Error>> {
        let body = stream.body.as_mut().expect("the head is read first");
        self.runtime.block_on(async {
            let data = tokio::time::timeout(PATIENCE, body.data()).await.expect("the server hangs");
            if let Some(Ok(data)) = &data {
                let _ = body.flow_control().release_capacity(data.len());
            }
            data
        })
    }

    /// Resets a stream, and lets the connection say so.
    pub fn reset(&mut self, mut stream: Stream) {
        stream.send.send_reset(Reason::CANCEL);
        drop(stream);
        self.turn();
    }

    /// Gives the connection a turn.
    pub fn turn(&self) {
        self.runtime.block_on(async {
            for _ in 0..4 {
                tokio::task::yield_now().await;
            }
        });
    }

    /// Waits until the server has ended the connection.
    #[track_caller]
    pub fn closed(self) -> Result<(), h2::Error> {
        let Self { runtime, send, driver } = self;
        drop(send);
        runtime
            .block_on(async { tokio::time::timeout(PATIENCE, driver).await })
            .expect("the server hangs")
            .expect("the driver does not panic")
    }

    /// Runs something on the client's runtime.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }
}

/// Opens a connection over any transport.
pub async fn handshake<S>(io: S) -> (SendRequest<Bytes>, h2::client::Connection<S, Bytes>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    h2::client::handshake(io).await.expect("an HTTP/2 handshake")
}

/// One request and its whole answer.
pub async fn exchange(send: SendRequest<Bytes>, request: &Request) -> Result<Response, h2::Error> {
    let mut send = send.ready().await?;
    let (response, mut stream) = send.send_request(head_of(request), request.body.is_empty())?;
    let size = match request.framing {
        Framing::Chunks(size) => size,
        Framing::Length | Framing::AsIs => request.body.len().max(1),
    };
    let mut pieces = request.body.chunks(size).peekable();
    // A server that has answered need not take the rest.
    let sending = async move {
        while let Some(piece) = pieces.next() {
            let last = pieces.peek().is_none();
            if send_all(&mut stream, Bytes::copy_from_slice(piece), last).await.is_err() {
                return stream;
            }
        }
        stream
    };
    let (response, _stream) = tokio::join!(response, sending);
    let (parts, mut incoming) = response?.into_parts();
    let mut body = Vec::new();
    while let Some(data) = incoming.data().await {
        let data = data?;
        let _ = incoming.flow_control().release_capacity(data.len());
        body.extend_from_slice(&data);
    }
    let head = taken(&parts);
    read::check_body(&head, &body, &request.verb);
    Ok(Response { status: head.status, headers: head.headers, body, interim: Vec::new() })
}

async fn send_all(stream: &mut SendStream<Bytes>, mut piece: Bytes, last: bool) -> Result<(), h2::Error> {
    while !piece.is_empty() {
        stream.reserve_capacity(piece.len());
        let room = match poll_fn(|cx| stream.poll_capacity(cx)).await {
            Some(room) => room?,
            None => return Ok(()),
        };
        let part = piece.split_to(room.min(piece.len()));
        stream.send_data(part, last && piece.is_empty())?;
    }
    Ok(())
}

fn head_of(request: &Request) -> http::Request<()> {
    let host = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let authority = host.map(|(_, value)| std::str::from_utf8(value).expect("a host"));
    let uri = match authority {
        Some(authority) => {
            Uri::builder().scheme("http").authority(authority).path_and_query(request.target.as_str()).build()
        }
        None => Uri::builder().path_and_query(request.target.as_str()).build(),
    };
    let mut head = http::Request::new(());
    *head.method_mut() = Method::from_bytes(request.verb.as_bytes()).expect("a verb");
    *head.uri_mut() = uri.unwrap_or_else(|error| panic!("{error}: {request:?}"));
    *head.version_mut() = http::Version::HTTP_2;
    for (name, value) in request.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
        let name = HeaderName::from_bytes(name.to_lowercase().as_bytes()).expect("a header name");
        head.headers_mut().append(name, HeaderValue::from_bytes(value).expect("a header value"));
    }
    if request.framing == Framing::Length && !request.body.is_empty() {
        head.headers_mut().append("content-length", HeaderValue::from(request.body.len()));
    }
    head
}

/// A response's head; nothing that belongs to a connection may be in it (RFC 9113 8.2.2).
fn taken(parts: &http::response::Parts) -> Head {
    let headers: Vec<_> = parts
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), value.to_str().expect("visible ASCII").to_owned()))
        .collect();
    for banned in ["connection", "keep-alive", "transfer-encoding", "upgrade", "proxy-connection"] {
        assert!(!headers.iter().any(|(name, _)| name == banned), "{banned} on HTTP/2: {headers:?}");
    }
    assert!(headers.iter().any(|(name, _)| name == "date"), "{headers:?}");
    Head { status: parts.status.as_u16(), headers }
}
