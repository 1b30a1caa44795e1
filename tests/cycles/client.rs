//! What the clients do: many connections on one thread, each as plain as can be.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use h2::client::SendRequest;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::url;

/// How many connections open at the same time.
const AT_ONCE: usize = 64;
/// How many streams an HTTP/2 connection carries.
const STREAMS: usize = 100;
/// Of a hundred listeners, how many have an HTTP/1.1 connection each.
const ALONE_PERCENT: usize = 85;
/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// A message with the headers that go with it.
struct Post {
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Post {
    fn legacy(session: Option<&str>, message: &Value) -> Self {
        let session = session.map(|id| ("mcp-session-id", id.to_owned()));
        Self { headers: session.into_iter().collect(), body: message.to_string() }
    }

    fn modern(method: &'static str, mut params: Value) -> Self {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
        });
        let name = params["name"].as_str().map(|name| ("mcp-name", name.to_owned()));
        let mut headers =
            vec![("mcp-protocol-version", MODERN.to_owned()), ("mcp-method", method.to_owned())];
        headers.extend(name);
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        Self { headers, body: message.to_string() }
    }

    fn listen() -> Self {
        Self::modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
            accept: application/json, text/event-stream\r\n"
            .to_owned();
        for (name, value) in &self.headers {
            out += &format!("{name}: {value}\r\n");
        }
        out += &format!("content-length: {}\r\n\r\n{}", self.body.len(), self.body);
        out.into_bytes()
    }
}

/// Sends a message and reads until `until` has come; the text so far.
async fn exchange(stream: &mut TcpStream, post: &Post, until: &str) -> String {
    exchange_bytes(stream, &post.bytes(), until).await
}

async fn exchange_bytes(stream: &mut TcpStream, bytes: &[u8], until: &str) -> String {
    stream.write_all(bytes).await.expect("sending");
    let mut text = Vec::new();
    let read = async {
        while !text.windows(until.len()).any(|window| window == until.as_bytes()) {
            let read = stream.read_buf(&mut text).await.expect("reading");
            assert_ne!(read, 0, "the server has hung up after {:?}", String::from_utf8_lossy(&text));
        }
    };
    let in_time = tokio::time::timeout(PATIENCE, read).await.is_ok();
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(in_time, "no {until:?} in {text:?}");
    text
}

/// Sends a message and reads its whole answer, which is no stream.
async fn answer(stream: &mut TcpStream, post: &Post) -> String {
    let mut text = exchange(stream, post, "\r\n\r\n").await;
    let head = text.find("\r\n\r\n").map_or(0, |at| at + 4);
    let length = text[..head].lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.unwrap_or_else(|| panic!("no length: {text}")).parse().expect("a number");
    let mut rest = vec![0; (head + length).saturating_sub(text.len())];
    let read = tokio::time::timeout(PATIENCE, stream.read_exact(&mut rest)).await;
    read.expect("the whole answer in time").expect("reading");
    text += std::str::from_utf8(&rest).expect("UTF-8");
    text
}

/// Connects, a few at a time: the listen queue is not what is tested here.
async fn connect(address: SocketAddr, gate: &Semaphore) -> TcpStream {
    let _turn = gate.acquire().await.expect("the gate is never closed");
    let stream = TcpStream::connect(address).await.expect("connecting");
    stream.set_nodelay(true).expect("an option");
    stream
}

/// Opens the event stream of a session and leaves it, now by a reset, now by an end.
async fn listen_and_leave(address: SocketAddr, gate: &Semaphore, id: &str, reset: bool) {
    let mut stream = connect(address, gate).await;
    let get = format!(
        "GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\nmcp-session-id: {id}\r\n\r\n"
    );
    exchange_bytes(&mut stream, get.as_bytes(), "id: ").await;
    if reset {
        socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).expect("an option");
    }
}

/// Opens sessions over a few connections, and uses each, its event stream too.
pub async fn sessions(address: SocketAddr, count: usize) {
    each(count, move |share, gate| async move {
        let mut stream = connect(address, &gate).await;
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "cycles", "version": "1"}}});
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "echo", "arguments": {"message": "here"}}});
        for at in 0..share {
            let opened = answer(&mut stream, &Post::legacy(None, &initialize)).await;
            let id = opened.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
            let id = id.unwrap_or_else(|| panic!("no session: {opened}")).to_owned();
            let accepted = answer(&mut stream, &Post::legacy(Some(&id), &ready)).await;
            assert!(accepted.starts_with("HTTP/1.1 202"), "{accepted}");
            let called = answer(&mut stream, &Post::legacy(Some(&id), &call)).await;
            assert!(called.contains("\"text\":\"here\""), "{called}");
            listen_and_leave(address, &gate, &id, at % 2 == 0).await;
        }
    })
    .await;
}

/// Calls that become tasks which nobody polls.
pub async fn tasks(address: SocketAddr, count: usize) {
    each(count, move |share, gate| async move {
        let mut stream = connect(address, &gate).await;
        let call = Post::modern("tools/call", json!({"name": "sleep", "arguments": {"ms": 1}}));
        for _ in 0..share {
            let called = answer(&mut stream, &call).await;
            assert!(called.contains("\"taskId\":\""), "{called}");
        }
    })
    .await;
}

/// Gives the server something to do.
pub async fn pings(address: SocketAddr, count: usize) {
    each(count, move |share, gate| async move {
        let mut stream = connect(address, &gate).await;
        let ping = Post::legacy(None, &json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
        for _ in 0..share {
            answer(&mut stream, &ping).await;
        }
    })
    .await;
}

/// Spreads `count` things over a few tasks.
async fn each<F>(count: usize, work: impl Fn(usize, Arc<Semaphore>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let gate = Arc::new(Semaphore::new(AT_ONCE));
    let mut tasks = JoinSet::new();
    for at in 0..AT_ONCE {
        let share = count / AT_ONCE + usize::from(at < count % AT_ONCE);
        tasks.spawn(work(share, Arc::clone(&gate)));
    }
    tasks.join_all().await;
}

/// Open listeners. Dropped, half of those with a connection of their own are reset, the others end it; those that share one go with it.
pub struct Listening {
    alone: Vec<TcpStream>,
    shared: Vec<Shared>,
}

struct Shared {
    _send: SendRequest<Bytes>,
    _streams: Vec<RecvStream>,
    driver: tokio::task::JoinHandle<()>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        for stream in self.alone.iter().step_by(2) {
            socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO)).expect("an option");
        }
        for shared in &self.shared {
            shared.driver.abort();
        }
    }
}

/// Opens listeners, each of which has been acknowledged.
pub async fn listeners(address: SocketAddr, count: usize) -> Listening {
    let gate = Arc::new(Semaphore::new(AT_ONCE));
    let alone = count * ALONE_PERCENT / 100;
    let mut opening = JoinSet::new();
    for _ in 0..alone {
        let gate = Arc::clone(&gate);
        opening.spawn(async move {
            let mut stream = connect(address, &gate).await;
            exchange(&mut stream, &Post::listen(), "subscriptions/acknowledged").await;
            stream
        });
    }
    let alone = opening.join_all().await;
    let mut shared = Vec::new();
    let mut left = count - alone.len();
    while left > 0 {
        let streams = left.min(STREAMS);
        shared.push(share(connect(address, &gate).await, address, streams).await);
        left -= streams;
    }
    Listening { alone, shared }
}

/// Opens so many listeners on one HTTP/2 connection.
async fn share(stream: TcpStream, address: SocketAddr, count: usize) -> Shared {
    let (mut send, connection) = h2::client::handshake(stream).await.expect("an HTTP/2 handshake");
    let driver = tokio::spawn(async {
        let _ = connection.await;
    });
    let mut streams = Vec::with_capacity(count);
    for _ in 0..count {
        let post = Post::listen();
        let mut head = http::Request::post(url(address))
            .version(http::Version::HTTP_2)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in &post.headers {
            head = head.header(*name, value);
        }
        send = send.ready().await.expect("a free stream");
        let (response, mut body) =
            send.send_request(head.body(()).expect("a head"), false).expect("sending a head");
        body.send_data(Bytes::from(post.body), true).expect("sending a body");
        let mut incoming =
            tokio::time::timeout(PATIENCE, response).await.expect("in time").expect("an answer").into_body();
        let mut text = Vec::new();
        while !text.windows(12).any(|window| window == b"acknowledged") {
            let data = tokio::time::timeout(PATIENCE, incoming.data()).await.expect("in time");
            let data = data.expect("the stream goes on").expect("data");
            let _ = incoming.flow_control().release_capacity(data.len());
            text.extend_from_slice(&data);
        }
        streams.push(incoming);
    }
    Shared { _send: send, _streams: streams, driver }
}
