//! One modern echo over HTTP/2: for clients that compare no more than lengths.

use std::net::Ipv4Addr;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use crate::answer::Answer;
use crate::args::{Fallible, port};
use crate::work::{self, FIRST_ID, Work};

/// Asks, checks the answer, and gives its length.
pub(crate) fn run() -> Fallible<()> {
    let (port, canned) = (port()?, std::env::args().any(|argument| argument == "--canned"));
    let (status, body) = twolane_load::runtime(1)?.block_on(ask(port))?;
    let answer = Answer { status, head: b"", body: &body, closes: false };
    let wanted = work::Request::new(Work::ModernEcho, port, 16, None, canned);
    if !wanted.accepts(&answer, FIRST_ID) {
        return Err(format!("wrong answer over HTTP/2: {status} {}", answer.text()).into());
    }
    println!("{{\"length\":{}}}", body.len());
    Ok(())
}

async fn ask(port: u16) -> Fallible<(u16, Bytes)> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut request = Request::post(format!("http://127.0.0.1:{port}/mcp"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for line in Work::ModernEcho.fields().lines() {
        let (name, value) = line.split_once(": ").ok_or("a field without a value")?;
        request = request.header(name, value);
    }
    let request = request.body(Full::<Bytes>::from(Work::ModernEcho.body(16)))?;
    let (head, body) = sender.send_request(request).await?.into_parts();
    Ok((head.status.as_u16(), body.collect().await?.to_bytes()))
}
