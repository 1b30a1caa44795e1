//! Connections against the real road, over in-memory pipes and loopback sockets.

mod bodies;
mod http1;
mod http2;
mod pending;
mod rest;
mod stalled;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::Service;
use super::stop::Stop;
use crate::base::clock::Clock;
use crate::base::limits::Limits;
use crate::road::settings::Settings;
use crate::road::{Peer, Road};
use crate::tables::versions::Revision;
use crate::tools::{Behind, CacheScope, Context, Identity, Registry, ServerInfo, Typed};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Wait {
    ms: u64,
    #[serde(default)]
    steps: u32,
    #[serde(default)]
    text: String,
}

/// How many calls of `wait` ran to their end.
#[derive(Debug, Clone, Default)]
struct Finished(Arc<AtomicU32>);

impl Finished {
    fn count(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A service with one tool: `wait` sleeps, reporting its steps, and says `done`.
fn service(limits: Limits) -> (Arc<Service>, Finished) {
    let finished = Finished::default();
    let registry = Registry::default();
    let count = finished.clone();
    let wait = move |wait: Wait, context: Context| {
        let count = count.clone();
        async move {
            for step in 0..wait.steps {
                context.progress(f64::from(step), None, Some(&wait.text));
                tokio::time::sleep(Duration::from_millis(wait.ms)).await;
            }
            tokio::time::sleep(Duration::from_millis(wait.ms)).await;
            count.0.fetch_add(1, Ordering::SeqCst);
            "done"
        }
    };
    registry.add(Typed::new("wait", "Waits", wait)).unwrap();
    let echo = |text: Text| async move { text.text };
    registry.add(Typed::new("echo", "Echoes", echo)).unwrap();
    let settings = Settings { limits: limits.clone(), ..Settings::default() };
    let identity = Identity::new(&ServerInfo::new("test", "0"), Revision::ALL, 1000, CacheScope::Public);
    let road = Road::new(settings, Clock::system(), Behind::new(registry, identity, &limits));
    (Arc::new(Service::new(road, None, Stop::new())), finished)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

/// A connection to a service of its own.
struct Client {
    pipe: DuplexStream,
    service: Arc<Service>,
    finished: Finished,
    task: tokio::task::JoinHandle<()>,
}

fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

impl Client {
    fn new(limits: Limits) -> Self {
        let (service, finished) = service(limits);
        let (pipe, theirs) = tokio::io::duplex(64 * 1024);
        let task = tokio::spawn(super::serve(Arc::clone(&service), theirs, Peer::default(), ()));
        Self { pipe, service, finished, task }
    }

    async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.pipe.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Reads until `end` has come.
    async fn until(&mut self, end: &str) -> String {
        let mut text = Vec::new();
        while !text.ends_with(end.as_bytes()) {
            let byte = tokio::time::timeout(Duration::from_secs(5), self.pipe.read_u8()).await;
            match byte.expect("an answer in time") {
                Ok(byte) => text.push(byte),
                Err(_) => panic!("closed after {:?}", String::from_utf8_lossy(&text[..text.len().min(2000)])),
            }
        }
        String::from_utf8(text).unwrap()
    }

    /// Reads until the server closes.
    async fn rest(&mut self) -> String {
        let mut text = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(5), self.pipe.read_to_end(&mut text)).await;
        read.expect("a close in time").unwrap();
        String::from_utf8(text).unwrap()
    }

    /// Sends, ends the writing side, and reads everything.
    async fn whole(mut self, bytes: impl AsRef<[u8]>) -> String {
        self.send(bytes).await;
        self.pipe.shutdown().await.unwrap();
        self.rest().await
    }
}

/// A ping on the legacy lane, which needs no session.
fn ping(id: u32, fields: &str) -> String {
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    post(fields, &body)
}

fn post(fields: &str, body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{fields}\r\n{body}",
        body.len()
    )
}

/// A tool call on the modern lane: headers and body.
fn call(name: &str, arguments: &str) -> (String, String) {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments},"_meta":{{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let fields =
        format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n");
    (fields, body)
}

fn call_http1(name: &str, arguments: &str, fields: &str) -> String {
    let (own, body) = call(name, arguments);
    post(&format!("{own}{fields}"), &body)
}

/// How often `needle` stands in `text`.
fn count(text: &str, needle: &str) -> usize {
    text.matches(needle).count()
}
