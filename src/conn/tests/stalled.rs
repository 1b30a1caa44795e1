//! Peers that stop reading, and what is told of those that misbehave.

use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::*;

fn impatient() -> Limits {
    limits(|limits| {
        limits.write_timeout = 200;
        limits.stream_comment = 20;
    })
}

/// A long event at once and a long wait behind it, and events without end.
fn endless() -> [String; 2] {
    let text = "x".repeat(150_000);
    [
        format!("{{\"ms\":60000,\"steps\":1,\"text\":\"{text}\"}}"),
        format!("{{\"ms\":10,\"steps\":100000,\"text\":\"{}\"}}", &text[..30_000]),
    ]
}

async fn ended(task: tokio::task::JoinHandle<()>) {
    tokio::time::timeout(Duration::from_secs(5), task).await.expect("an end in time").unwrap();
}

#[tokio::test]
async fn a_stream_that_nobody_reads_ends_though_more_is_queued() {
    for arguments in endless() {
        let mut client = Client::new(impatient());
        client.send(call_http1("wait", &arguments, "")).await;
        ended(client.task).await;
        assert_eq!(client.finished.count(), 0);
    }
}

#[tokio::test]
async fn a_slow_reader_is_no_stalled_one() {
    let mut client = Client::new(impatient());
    client.send(call_http1("wait", &endless()[0].replace("60000", "400"), "")).await;
    let mut text = Vec::new();
    while !text.ends_with(b"0\r\n\r\n") {
        let mut some = vec![0; 20_000];
        let read = client.pipe.read(&mut some).await.unwrap();
        assert!(read > 0, "closed after {} bytes", text.len());
        text.extend_from_slice(&some[..read]);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    assert_eq!(client.finished.count(), 1);
}

/// A socket that can stop reading.
struct Deaf {
    pipe: DuplexStream,
    deaf: Arc<AtomicBool>,
}

impl AsyncRead for Deaf {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.deaf.load(Ordering::SeqCst) {
            return Poll::Pending;
        }
        Pin::new(&mut self.pipe).poll_read(cx, out)
    }
}

impl AsyncWrite for Deaf {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.pipe).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.pipe).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.pipe).poll_shutdown(cx)
    }
}

/// A call over HTTP/2 by a client with large windows.
fn request2(name: &str, arguments: &str) -> (http::Request<()>, Bytes) {
    let (fields, body) = call(name, arguments);
    let mut request = http::Request::post("http://localhost/mcp").header("content-type", "application/json");
    for line in fields.lines() {
        let (name, value) = line.split_once(": ").unwrap();
        request = request.header(name, value);
    }
    (request.body(()).unwrap(), body.into())
}

#[tokio::test]
async fn an_http2_stream_that_nobody_reads_is_reset_though_more_is_queued() {
    for arguments in endless() {
        let client = Client::new(impatient());
        let (mut send, connection) = h2::client::handshake(client.pipe).await.unwrap();
        tokio::spawn(connection);
        let (request, body) = request2("wait", &arguments);
        let (response, mut stream) = send.send_request(request, false).unwrap();
        stream.send_data(body, true).unwrap();
        let mut body = response.await.unwrap().into_body();
        let end = async {
            loop {
                // The window is never opened again.
                match body.data().await {
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return error.reason(),
                    None => return None,
                }
            }
        };
        let end = tokio::time::timeout(Duration::from_secs(5), end).await.expect("a reset in time");
        assert_eq!(end, Some(h2::Reason::CANCEL));
        assert_eq!(client.finished.count(), 0);
    }
}

fn few_answers() -> Limits {
    limits(|limits| limits.answer_memory = 65_536)
}

/// Besides what the pipe takes and what is free.
#[tokio::test]
async fn answers_that_nobody_reads_share_one_budget() {
    for (length, fits) in [(100_000, true), (400_000, false)] {
        let text = "x".repeat(length);
        let mut client = Client::new(few_answers());
        client.send(call_http1("echo", &format!("{{\"text\":\"{text}\"}}"), "")).await;
        if fits {
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert!(client.until("\"complete\"}}").await.contains(&text));
        } else {
            ended(client.task).await;
        }
    }
}

/// An answer, or a long event of a stream that is open.
#[tokio::test]
async fn http2_answers_that_nobody_reads_share_it_too() {
    for (length, fits) in [(100_000, true), (400_000, false)] {
        let text = "x".repeat(length);
        let event = format!("{{\"ms\":10,\"steps\":1,\"text\":\"{text}\"}}");
        for (tool, arguments) in [("echo", format!("{{\"text\":\"{text}\"}}")), ("wait", event)] {
            let (taken, end) = read_late(tool, &arguments).await;
            // What others hold is no fault of this client's: it is not told to be calm.
            assert_eq!(end, (!fits).then_some(h2::Reason::CANCEL), "{tool}: {taken}");
            assert_eq!(taken > length, fits, "{tool}");
        }
    }
}

/// Calls a tool over HTTP/2, and reads the answer only after a while: how much came, and why no more did.
async fn read_late(tool: &str, arguments: &str) -> (usize, Option<h2::Reason>) {
    let client = Client::new(few_answers());
    let (mut send, connection) = h2::client::handshake(client.pipe).await.unwrap();
    tokio::spawn(connection);
    let (request, body) = request2(tool, arguments);
    let (response, mut stream) = send.send_request(request, false).unwrap();
    stream.send_data(body, true).unwrap();
    // The reset may overtake the answer's head.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut body = match response.await {
        Ok(response) => response.into_body(),
        Err(error) => return (0, error.reason()),
    };
    let mut taken = 0;
    loop {
        match body.data().await {
            Some(Ok(data)) => {
                taken += data.len();
                let _ = body.flow_control().release_capacity(data.len());
            }
            Some(Err(error)) => return (taken, error.reason()),
            None => return (taken, None),
        }
    }
}

/// Answers that fit into the library's buffers have no deadline of their own.
#[tokio::test]
async fn an_http2_connection_that_nobody_reads_ends() {
    let Client { pipe, task, service, .. } = Client::new(impatient());
    let deaf = Arc::new(AtomicBool::new(false));
    let (mut send, connection) = h2::client::Builder::new()
        .initial_window_size(1 << 24)
        .initial_connection_window_size(1 << 24)
        .handshake(Deaf { pipe, deaf: Arc::clone(&deaf) })
        .await
        .unwrap();
    let _connection = tokio::spawn(connection);
    let text = "x".repeat(100_000);
    let (request, body) = request2("echo", &format!("{{\"text\":\"{text}\"}}"));
    for at in 0..3 {
        deaf.store(at > 0, Ordering::SeqCst);
        send = send.ready().await.unwrap();
        let (response, mut stream) = send.send_request(request.clone(), false).unwrap();
        stream.send_data(body.clone(), true).unwrap();
        if at == 0 {
            let mut body = response.await.unwrap().into_body();
            while let Some(data) = body.data().await {
                data.unwrap();
            }
        } else {
            std::mem::forget(response);
        }
    }
    ended(task).await;
    assert_eq!(service.http2_faults(), 0);
}

#[tokio::test]
async fn ends_by_protocol_errors_are_counted() {
    const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
    let preface: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    // DATA on stream 0, HEADERS on an even stream, and pings without end.
    let faults: [Vec<u8>; 3] = [
        vec![0, 0, 1, 0, 0, 0, 0, 0, 0, 7],
        vec![0, 0, 1, 1, 5, 0, 0, 0, 2, 0x82],
        [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8].repeat(2_000),
    ];
    for (fault, expected) in [(Vec::new(), 0)].into_iter().chain(faults.map(|fault| (fault, 1))) {
        let Client { mut pipe, task, service, .. } = Client::new(limits(|limits| limits.idle_timeout = 50));
        pipe.write_all(&[preface, SETTINGS, &fault].concat()).await.unwrap();
        let read = async {
            let _ = pipe.read_to_end(&mut Vec::new()).await;
        };
        let _ = tokio::time::timeout(Duration::from_secs(5), read).await;
        if fault.len() > 10 {
            // Who closes is waited for no longer.
            drop(pipe);
        }
        ended(task).await;
        assert_eq!(service.http2_faults(), expected, "{:?}", &fault[..fault.len().min(10)]);
    }
}
