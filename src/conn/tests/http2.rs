//! HTTP/2 over the same road, with the client half of the same library.

use std::future::poll_fn;

use bytes::{BufMut, Bytes};
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, SendStream};
use http::{HeaderMap, Request};

use super::*;
use crate::conn::stop::Phase;

struct Peer2 {
    send: SendRequest<Bytes>,
    service: Arc<Service>,
    finished: Finished,
    /// Ends with the connection.
    connection: tokio::task::JoinHandle<Result<(), h2::Error>>,
}

async fn connect(limits: Limits) -> Peer2 {
    let Client { pipe, service, finished, task: _ } = Client::new(limits);
    let (send, connection) = h2::client::handshake(pipe).await.unwrap();
    Peer2 { send, service, finished, connection: tokio::spawn(connection) }
}

fn request(method: &str, fields: &str) -> Request<()> {
    let mut request = Request::builder().method(method).uri("http://localhost/mcp");
    for line in fields.lines() {
        let (name, value) = line.split_once(": ").unwrap();
        request = request.header(name, value);
    }
    request.body(()).unwrap()
}

impl Peer2 {
    fn start(&mut self, fields: &str) -> (ResponseFuture, SendStream<Bytes>) {
        let request = request("POST", &format!("content-type: application/json\r\n{fields}"));
        self.send.send_request(request, false).unwrap()
    }

    fn post(&mut self, fields: &str, body: &str) -> ResponseFuture {
        let (response, mut stream) = self.start(fields);
        stream.send_data(Bytes::copy_from_slice(body.as_bytes()), true).unwrap();
        response
    }

    fn wait(&mut self, arguments: &str) -> ResponseFuture {
        let (fields, body) = call("wait", arguments);
        self.post(&fields, &body)
    }
}

async fn read(response: ResponseFuture) -> (u16, HeaderMap, String) {
    let response = tokio::time::timeout(Duration::from_secs(5), response).await.unwrap().unwrap();
    let (parts, mut body) = response.into_parts();
    let mut text = Vec::new();
    while let Some(data) = body.data().await {
        let data = data.unwrap();
        let _ = body.flow_control().release_capacity(data.len());
        text.extend_from_slice(&data);
    }
    (parts.status.as_u16(), parts.headers, String::from_utf8(text).unwrap())
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn a_request_is_answered_and_has_no_connection_headers() {
    let mut peer = connect(Limits::default()).await;
    let (status, headers, body) = read(peer.post("", PING)).await;
    assert_eq!((status, body.as_str()), (200, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
    assert_eq!(headers["content-length"], "36");
    assert_eq!(headers["content-type"], "application/json");
    assert!(headers.contains_key("date"));
    let (status, headers, body) = read(peer.post("", "nonsense")).await;
    assert_eq!(status, 400);
    assert!(!headers.contains_key("connection") && body.contains("-32700"), "{body}");
}

#[tokio::test]
async fn many_streams_at_once() {
    let mut peer = connect(Limits::default()).await;
    let mut responses = Vec::new();
    for at in 0..100 {
        responses.push(if at % 3 == 0 { peer.wait(r#"{"ms":5}"#) } else { peer.post("", PING) });
    }
    for response in responses {
        assert_eq!(read(response).await.0, 200);
    }
}

#[tokio::test]
async fn notifications_and_head_have_no_body() {
    let mut peer = connect(Limits::default()).await;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let (status, headers, body) = read(peer.post("", note)).await;
    assert_eq!((status, headers["content-length"].as_bytes(), body.as_str()), (202, &b"0"[..], ""));
    let (response, _) = peer.send.send_request(request("HEAD", ""), true).unwrap();
    let (status, headers, body) = read(response).await;
    assert_eq!((status, body.as_str()), (405, ""));
    assert_ne!(headers["content-length"], "0");
}

#[tokio::test]
async fn large_bodies_go_both_ways_through_the_windows() {
    let mut peer = connect(Limits::default()).await;
    let text = "x".repeat(1_500_000);
    let (fields, body) = call("echo", &format!("{{\"text\":\"{text}\"}}"));
    for declared in [String::new(), format!("content-length: {}\r\n", body.len())] {
        let (status, _, answer) = read(peer.post(&format!("{fields}{declared}"), &body)).await;
        assert_eq!(status, 200);
        assert!(answer.contains(&text));
    }
}

#[tokio::test]
async fn bodies_over_the_ceiling_are_refused_while_they_come() {
    let mut peer = connect(limits(|limits| limits.body = 1000)).await;
    let (status, _, _) = read(peer.post("", &"x".repeat(2000))).await;
    assert_eq!(status, 413);
    let (response, mut stream) = peer.start("");
    stream.send_data(Bytes::from("x".repeat(1001)), false).unwrap();
    assert_eq!(read(response).await.0, 413);
    let (response, _stream) = peer.start("content-length: 5000\r\n");
    assert_eq!(read(response).await.0, 413);
    assert_eq!(read(peer.post("", PING)).await.0, 200);
}

#[tokio::test]
async fn an_early_answer_does_not_wait_for_the_body() {
    let mut peer = connect(limits(|limits| limits.body_timeout = 50)).await;
    let request = request("POST", "content-type: text/plain");
    let (response, mut stream) = peer.send.send_request(request, false).unwrap();
    assert_eq!(read(response).await.0, 415);
    let reset = poll_fn(|cx| stream.poll_reset(cx)).await.unwrap();
    assert_eq!(reset, Reason::NO_ERROR);
    assert_eq!(read(peer.post("", PING)).await.0, 200);
}

#[tokio::test]
async fn heads_that_contradict_themselves_are_refused() {
    let mut peer = connect(Limits::default()).await;
    for (fields, status) in [
        ("host: localhost\r\n", 200),
        ("host: LOCALHOST\r\n", 200),
        ("host: elsewhere\r\n", 400),
        ("host: localhost\r\nhost: localhost\r\n", 400),
        ("expect: tea\r\n", 417),
        ("te: trailers\r\n", 200),
    ] {
        let (got, _, body) = read(peer.post(fields, PING)).await;
        assert_eq!(got, status, "{fields:?}: {body}");
    }
}

#[tokio::test]
async fn leave_to_send_is_given() {
    let mut peer = connect(Limits::default()).await;
    let (mut response, mut stream) = peer.start("expect: 100-continue\r\n");
    let leave = poll_fn(|cx| response.poll_informational(cx)).await;
    assert_eq!(leave.unwrap().unwrap().status(), 100);
    stream.send_data(Bytes::from_static(PING.as_bytes()), true).unwrap();
    assert_eq!(read(response).await.0, 200);
}

#[tokio::test]
async fn a_call_that_speaks_becomes_a_stream() {
    let mut peer = connect(limits(|limits| limits.stream_comment = 10)).await;
    let (status, headers, body) = read(peer.wait(r#"{"ms":40,"steps":2}"#)).await;
    assert_eq!(status, 200);
    assert_eq!(headers["content-type"], "text/event-stream");
    assert!(!headers.contains_key("content-length"));
    assert!(body.starts_with(":\n\n") && body.ends_with("\n\n"), "{body}");
    assert_eq!(count(&body, "data: "), 3, "{body}");
    assert!(count(&body, ":\n\n") >= 4, "{body}");
}

#[tokio::test]
async fn a_reset_cancels_a_modern_call() {
    let mut peer = connect(Limits::default()).await;
    for arguments in [r#"{"ms":60}"#, r#"{"ms":30,"steps":2}"#] {
        let (fields, body) = call("wait", arguments);
        let (response, mut stream) = peer.start(&fields);
        stream.send_data(Bytes::from(body), true).unwrap();
        tokio::time::sleep(Duration::from_millis(15)).await;
        stream.send_reset(Reason::CANCEL);
        drop(response);
    }
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(peer.finished.count(), 0);
    assert_eq!(read(peer.post("", PING)).await.0, 200);
}

#[tokio::test]
async fn a_gone_connection_cancels_its_calls() {
    let mut peer = connect(Limits::default()).await;
    let _response = peer.wait(r#"{"ms":60}"#);
    tokio::time::sleep(Duration::from_millis(15)).await;
    peer.connection.abort();
    tokio::time::sleep(Duration::from_millis(120)).await;
    assert_eq!(peer.finished.count(), 0);
}

#[tokio::test]
async fn a_stream_that_takes_nothing_is_reset() {
    let mut peer = connect(limits(|limits| limits.write_timeout = 50)).await;
    let text = "x".repeat(200_000);
    let (fields, body) = call("echo", &format!("{{\"text\":\"{text}\"}}"));
    let response = peer.post(&fields, &body).await.unwrap();
    let mut body = response.into_body();
    let failed = loop {
        match body.data().await {
            // The window is not given back.
            Some(Ok(_)) => {}
            Some(Err(error)) => break error.is_reset(),
            None => break false,
        }
    };
    assert!(failed, "the stream was reset");
}

#[tokio::test]
async fn every_wait_has_an_end() {
    let limits = limits(|limits| {
        limits.body_timeout = 30;
        limits.idle_timeout = 60;
    });
    let mut peer = connect(limits).await;
    let (response, _stream) = peer.start("");
    assert_eq!(read(response).await.0, 408);
    drop(_stream);
    let ended = tokio::time::timeout(Duration::from_secs(5), peer.connection).await;
    assert!(ended.unwrap().unwrap().is_ok(), "an idle connection ends without an error");
}

#[tokio::test]
async fn draining_lets_open_streams_finish() {
    let mut peer = connect(Limits::default()).await;
    let response = peer.wait(r#"{"ms":50}"#);
    tokio::time::sleep(Duration::from_millis(10)).await;
    peer.service.road().start_draining();
    peer.service.stop().advance(Phase::Draining);
    assert_eq!(read(response).await.0, 200);
    drop(peer.send);
    tokio::time::timeout(Duration::from_secs(5), peer.connection).await.unwrap().unwrap().unwrap();
}

/// Frames written by hand: what a well-behaved client cannot send.
async fn raw(frames: &[Vec<u8>]) -> Vec<(u8, u32, Vec<u8>)> {
    let mut client = Client::new(Limits::default());
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    client.send(frame(4, 0, 0, &[])).await;
    for frame in frames {
        client.send(frame).await;
    }
    let mut answers = Vec::new();
    loop {
        let mut head = [0; 9];
        let read = client.pipe.read_exact(&mut head);
        match tokio::time::timeout(Duration::from_millis(200), read).await {
            Ok(Ok(_)) => {}
            Ok(Err(_)) | Err(_) => return answers,
        }
        let length = usize::from(head[1]) << 8 | usize::from(head[2]);
        let mut payload = vec![0; length];
        client.pipe.read_exact(&mut payload).await.unwrap();
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        answers.push((head[3], stream, payload));
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    frame.put_uint(u64::try_from(payload.len()).unwrap(), 3);
    frame.extend_from_slice(&[kind, flags]);
    frame.put_u32(stream);
    frame.extend_from_slice(payload);
    frame
}

/// A header block of literals without indexing.
fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).unwrap());
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}

#[tokio::test]
async fn a_flood_ends_the_connection() {
    for (kind, length, stream) in [(6, 8, 0), (4, 0, 0), (2, 5, 1)] {
        let flood = frame(kind, 0, stream, &vec![1; length]).repeat(1_500);
        let answers = raw(&[flood]).await;
        let last = answers.iter().rfind(|answer| answer.0 == 7).expect("a GOAWAY");
        assert_eq!(last.2[4..8], [0, 0, 0, 11], "{kind}: ENHANCE_YOUR_CALM");
    }
}

#[tokio::test]
async fn malformed_requests_reset_their_stream_alone() {
    let good = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/mcp"),
        (":authority", "localhost"),
        ("content-type", "application/json"),
    ];
    // `h2` ends the whole connection where a field is not one at all, and the stream alone where it is out of place.
    for (bad, ends) in [
        (("connection", "keep-alive"), false),
        (("transfer-encoding", "chunked"), false),
        (("keep-alive", "1"), false),
        (("te", "gzip"), false),
        (("content-length", "7"), false),
        (("content-length", "x"), false),
        ((":path", "/again"), false),
        (("Upper", "x"), true),
        (("x", "a\r\nb"), true),
        (("x", "a\0b"), true),
    ] {
        let mut fields = good.to_vec();
        fields.push(bad);
        let answers = raw(&[
            frame(1, 4, 1, &block(&fields)),
            frame(0, 1, 1, PING.as_bytes()),
            frame(1, 4, 3, &block(&good)),
            frame(0, 1, 3, PING.as_bytes()),
        ])
        .await;
        let kinds = |stream: u32| {
            answers.iter().filter(|answer| answer.1 == stream).map(|answer| answer.0).collect::<Vec<_>>()
        };
        if ends {
            assert!(
                kinds(0).contains(&7) && kinds(1).is_empty() && kinds(3).is_empty(),
                "{bad:?}: {answers:?}"
            );
        } else {
            assert_eq!((kinds(1), kinds(3)), (vec![3], vec![1, 0]), "{bad:?}: a reset and an answer");
        }
    }
    let homeless = [(":method", "POST"), (":scheme", "http"), (":path", "/mcp")];
    let answers = raw(&[frame(1, 5, 1, &block(&homeless))]).await;
    let body = answers.iter().find(|answer| answer.0 == 0 && answer.1 == 1).unwrap();
    assert!(String::from_utf8_lossy(&body.2).contains(":authority"), "{answers:?}");
}
