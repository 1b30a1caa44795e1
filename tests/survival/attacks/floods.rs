//! Requests as fast as they are answered.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::attacker::{Target, more};
use super::super::messages;
use super::super::sockets::{exchange, reset_at_end};
use super::{Attack, Run, crowd, forever};

pub const ATTACKS: &[fn() -> Attack] = &[
    || Attack::new("pings", "pipelined pings, 64 at once over each of 64 connections", pings).sends(2_000.0),
    || Attack::new("calls", "modern calls over 64 connections, one at a time", calls).sends(1_000.0),
    || Attack::new("refusals", "requests that are refused, each by another stage", refusals).sends(1_000.0),
    || Attack::new("bad JSON", "bodies that are no JSON, each over a new connection", bad_json).sends(500.0),
];

/// Pipelined pings whose answers are counted by their heads.
pub fn pings(target: Target) -> Run {
    crowd(&target, 64, |target, number| async move {
        let mut stream = target.connect(number).await?;
        let batch = messages::ping().repeat(64);
        pipelined(&target, &mut stream, &batch, 64).await
    });
    begin(target)
}

/// Refused at the door, by the parse step, by its headers, by its method.
pub fn refusals(target: Target) -> Run {
    crowd(&target, 32, |target, number| async move {
        let mut stream = target.connect(number).await?;
        let modern = messages::modern_headers("tools/call", Some("add"));
        let batch = [
            messages::post("origin: https://elsewhere.example\r\n", messages::PING),
            messages::post("content-encoding: gzip\r\n", messages::PING),
            messages::post(&modern, &messages::call_body(1, "echo", "{}")),
            messages::post("mcp-session-id: none\r\n", messages::READY),
        ]
        .concat();
        pipelined(&target, &mut stream, &batch, 4).await
    });
    begin(target)
}

fn calls(target: Target) -> Run {
    crowd(&target, 64, |target, number| async move {
        let mut stream = target.connect(number).await?;
        let mut buffer = Vec::new();
        loop {
            let request = messages::call(1, "add", r#"{"a":1,"b":2}"#);
            let answer = exchange(&mut stream, &request, &mut buffer).await?;
            more(&target.counts.sent);
            match answer.status {
                200 => more(&target.counts.answered),
                429 | 503 => more(&target.counts.refused),
                status => target.counts.fault(format!("{status} to a call")),
            }
        }
    });
    begin(target)
}

fn bad_json(target: Target) -> Run {
    crowd(&target, 64, |target, number| async move {
        let mut stream = target.connect(number).await?;
        reset_at_end(&stream);
        let answer = exchange(&mut stream, &messages::post("", "{\"jsonrpc\":"), &mut Vec::new()).await?;
        more(&target.counts.sent);
        if answer.status != 400 {
            target.counts.fault(format!("{} to bad JSON", answer.status));
        }
        Ok(())
    });
    begin(target)
}

fn begin(target: Target) -> Run {
    Box::pin(async move {
        target.until_sent(500).await;
        forever().await;
    })
}

/// Sends a batch of `count` requests over and over, and counts the answers.
async fn pipelined(
    target: &Target,
    stream: &mut tokio::net::TcpStream,
    batch: &[u8],
    count: u64,
) -> io::Result<()> {
    let mut room = vec![0; 64 * 1024];
    loop {
        stream.write_all(batch).await?;
        let mut left = count;
        // A head's first bytes may be split over two reads: what is counted is the line end before them or the begin, so carry is kept.
        let mut carry = Vec::new();
        while left > 0 {
            let read = stream.read(&mut room).await?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            carry.extend_from_slice(&room[..read]);
            let heads = memchr::memmem::find_iter(&carry, b"HTTP/1.1 ").count() as u64;
            left = left.saturating_sub(heads);
            let kept = carry.len().saturating_sub(8);
            carry.drain(..kept);
        }
        target.counts.sent.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
        target.counts.answered.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
    }
}
