//! HTTP/2, its frames written by hand.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::super::attacker::{Target, more};
use super::super::messages::{self, call_body};
use super::{Attack, Run, crowd, forever};

pub const ATTACKS: &[fn() -> Attack] = &[
    || {
        Attack::new("h2 rapid reset", "streams opened and reset at once, over 16 connections", rapid_reset)
            .sends(500.0)
            .takes_refusals(10)
    },
    || {
        Attack::new("h2 pings", "pings without end, over 16 connections", pings)
            .sends(500.0)
            .takes_refusals(10)
    },
    || {
        Attack::new("h2 streams", "calls that sleep on 256 streams of each of 32 connections", streams)
            .holds(8_192, "streams")
    },
    || {
        Attack::new("h2 windows", "answers of 16 kB to streams whose windows never open", windows)
            .flags(&["--answer-memory", "8388608"])
            .holds(2_000, "streams")
    },
];

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// A header block without compression.
fn block(headers: &[(&str, &str)]) -> Vec<u8> {
    let mut block = vec![0x83, 0x86];
    let mut literal = |name: &str, value: &str| {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).ok().filter(|&length| length < 127).expect("a short text"));
            block.extend_from_slice(text.as_bytes());
        }
    };
    literal(":path", "/mcp");
    literal(":authority", "127.0.0.1");
    literal("content-type", "application/json");
    for (name, value) in headers {
        literal(name, value);
    }
    block
}

fn call_block(tool: &str) -> Vec<u8> {
    block(&[("mcp-protocol-version", messages::MODERN), ("mcp-method", "tools/call"), ("mcp-name", tool)])
}

/// Opens a connection with these settings.
async fn open(target: &Target, number: usize, settings: &[u8]) -> io::Result<TcpStream> {
    let mut stream = target.connect(number).await?;
    stream.write_all(PREFACE).await?;
    stream.write_all(&frame(SETTINGS, 0, 0, settings)).await?;
    let mut room = [0; 1024];
    if stream.read(&mut room).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    stream.write_all(&frame(SETTINGS, ACK, 0, &[])).await?;
    Ok(stream)
}

/// Sends what `next` makes, and drops what comes, until the server ends the connection.
async fn flood(
    target: &Target,
    stream: TcpStream,
    count: u64,
    mut next: impl FnMut() -> Vec<u8>,
) -> io::Result<()> {
    let (mut read, mut write) = stream.into_split();
    let reader = tokio::spawn(async move {
        let mut room = vec![0; 64 * 1024];
        while matches!(read.read(&mut room).await, Ok(1..)) {}
    });
    while !reader.is_finished() && write.write_all(&next()).await.is_ok() {
        target.counts.sent.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
        tokio::task::yield_now().await;
    }
    more(&target.counts.refused);
    reader.abort();
    Ok(())
}

fn rapid_reset(target: Target) -> Run {
    crowd(&target, 16, |target, number| async move {
        let stream = open(&target, number, &[]).await?;
        let block = call_block("echo");
        let mut id = 1;
        let batch = move || {
            let mut bytes = Vec::new();
            for _ in 0..50 {
                bytes.extend(frame(HEADERS, END_HEADERS, id, &block));
                bytes.extend(frame(RST_STREAM, 0, id, &8_u32.to_be_bytes()));
                id += 2;
            }
            bytes
        };
        flood(&target, stream, 50, batch).await
    });
    begin(target)
}

fn pings(target: Target) -> Run {
    crowd(&target, 16, |target, number| async move {
        let stream = open(&target, number, &[]).await?;
        let batch = frame(PING, 0, 0, b"survival").repeat(100);
        flood(&target, stream, 100, move || batch.clone()).await
    });
    begin(target)
}

fn begin(target: Target) -> Run {
    Box::pin(async move {
        target.until_sent(500).await;
        forever().await;
    })
}

/// Opens `count` streams with the same call on one connection, and reads, or does not.
async fn many(
    target: Target,
    mut stream: TcpStream,
    tool: &str,
    arguments: &str,
    count: u32,
) -> io::Result<()> {
    let block = call_block(tool);
    let body = call_body(1, tool, arguments);
    let mut held = Vec::new();
    for number in 0..count {
        let id = 1 + 2 * number;
        let mut bytes = frame(HEADERS, END_HEADERS, id, &block);
        let mut pieces = body.as_bytes().chunks(16_000).peekable();
        while let Some(piece) = pieces.next() {
            let flags = if pieces.peek().is_none() { END_STREAM } else { 0 };
            bytes.extend(frame(DATA, flags, id, piece));
        }
        stream.write_all(&bytes).await?;
        more(&target.counts.sent);
        held.push(target.hold());
    }
    super::super::sockets::drain(&mut stream).await;
    more(&target.counts.refused);
    Ok(())
}

fn streams(target: Target) -> Run {
    crowd(&target, 32, |target, number| async move {
        let stream = open(&target, number, &[]).await?;
        many(target, stream, "sleep", r#"{"ms":50000}"#, 256).await
    });
    Box::pin(async move {
        target.until_held(8_192).await;
        forever().await;
    })
}

fn windows(target: Target) -> Run {
    crowd(&target, 32, |target, number| async move {
        // SETTINGS_INITIAL_WINDOW_SIZE: 0.
        let stream = open(&target, number, &[0, 4, 0, 0, 0, 0]).await?;
        let text = "a".repeat(16_000);
        // As much as the connection's window takes without waiting for more.
        many(target, stream, "echo", &format!(r#"{{"message":"{text}"}}"#), 64).await
    });
    Box::pin(async move {
        target.until_held(2_000).await;
        forever().await;
    })
}
