//! Calls that take their time, on HTTP/1.x.

use super::*;
use crate::conn::stop::Phase;

fn wait(ms: u64, steps: u32, fields: &str) -> String {
    call_http1("wait", &format!("{{\"ms\":{ms},\"steps\":{steps},\"text\":\"a\u{2028}b\"}}"), fields)
}

#[tokio::test]
async fn a_quiet_call_is_answered_with_json() {
    let mut client = Client::new(Limits::default());
    client.send(wait(20, 0, "") + &ping(2, "")).await;
    let answer = client.until("\"result\":{}}").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\ncontent-length: "), "{answer}");
    assert!(answer.find("done").unwrap() < answer.find("\"id\":2").unwrap(), "{answer}");
}

#[tokio::test]
async fn a_call_that_speaks_becomes_a_stream() {
    let mut client = Client::new(Limits::default());
    client.send(wait(10, 2, "") + &ping(2, "")).await;
    let answer = client.until("\"result\":{}}").await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    for field in [
        "transfer-encoding: chunked",
        "content-type: text/event-stream",
        "cache-control: no-cache",
        "x-accel-buffering: no",
    ] {
        assert_eq!(count(head, field), 1, "{head}");
    }
    assert!(body.starts_with("3\r\n:\n\n\r\n") || body.contains("\r\n:\n\ndata: "), "{body}");
    assert_eq!(count(body, "data: "), 3, "{body}");
    assert_eq!(count(body, "a\\u2028b"), 2, "{body}");
    assert!(body.contains("\n\n\r\n0\r\n\r\nHTTP/1.1 200 OK"), "{body}");
}

#[tokio::test]
async fn an_http_1_0_stream_ends_with_the_connection() {
    let mut client = Client::new(Limits::default());
    client.send(wait(10, 1, "Connection: keep-alive\r\n").replacen("HTTP/1.1", "HTTP/1.0", 1)).await;
    let answer = client.rest().await;
    assert!(answer.contains("connection: close\r\n") && !answer.contains("chunked"), "{answer}");
    assert!(answer.contains("\r\n\r\n:\n\ndata: ") && answer.ends_with("\n\n"), "{answer}");
    assert_eq!(count(&answer, "data: "), 2, "{answer}");
}

#[tokio::test]
async fn a_quiet_stream_gets_comments() {
    let limits = limits(|limits| limits.stream_comment = 20);
    let mut client = Client::new(limits);
    client.send(wait(120, 1, "")).await;
    let answer = client.until("0\r\n\r\n").await;
    assert!(count(&answer, "3\r\n:\n\n\r\n") >= 3, "{answer}");
}

#[tokio::test]
async fn a_half_closed_connection_is_answered_within_the_grace() {
    let limits = limits(|limits| limits.half_close_grace = 100);
    let client = Client::new(limits.clone());
    let finished = client.finished.clone();
    let answer = client.whole(wait(20, 0, "") + &ping(2, "")).await;
    assert!(answer.contains("done") && answer.contains("\"id\":2"), "{answer}");
    assert_eq!(finished.count(), 1);
    let client = Client::new(limits);
    let finished = client.finished.clone();
    let answer = client.whole(wait(300, 0, "")).await;
    assert_eq!(answer, "");
    tokio::time::sleep(Duration::from_millis(350)).await;
    assert_eq!(finished.count(), 0, "a modern call is cancelled");
}

async fn legacy_session(client: &mut Client) -> String {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    client.send(post("", body)).await;
    let answer = client.until("}}}").await;
    let id = answer.split("mcp-session-id: ").nth(1).unwrap();
    id[..43].to_owned()
}

#[tokio::test]
async fn a_legacy_call_outlives_its_connection() {
    let limits = limits(|limits| limits.half_close_grace = 10);
    let mut client = Client::new(limits);
    let session = legacy_session(&mut client).await;
    let body =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{"ms":60}}}"#;
    let finished = client.finished.clone();
    assert_eq!(client.whole(post(&format!("Mcp-Session-Id: {session}\r\n"), body)).await, "");
    assert_eq!(finished.count(), 0);
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(finished.count(), 1);
}

#[tokio::test]
async fn open_calls_finish_while_the_server_drains_and_end_when_it_stops() {
    let mut client = Client::new(Limits::default());
    client.send(wait(50, 0, "") + &ping(2, "")).await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    client.service.road().start_draining();
    client.service.stop().advance(Phase::Draining);
    let answer = client.rest().await;
    assert!(answer.contains("done") && answer.contains("connection: close"), "{answer}");
    assert_eq!(count(&answer, "HTTP/1.1 "), 1, "{answer}");
    let mut client = Client::new(Limits::default());
    client.send(wait(10_000, 0, "")).await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    client.service.stop().advance(Phase::Stopped);
    assert_eq!(client.rest().await, "");
}

/// A reader that stops reading holds the call's output within bounds, and gets all of it once it reads on.
#[tokio::test]
async fn a_slow_reader_gets_everything() {
    let mut client = Client::new(Limits::default());
    let text = "x".repeat(2_000);
    client.send(call_http1("wait", &format!("{{\"ms\":0,\"steps\":100,\"text\":\"{text}\"}}"), "")).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let answer = client.until("0\r\n\r\n").await;
    assert_eq!(count(&answer, "data: "), 101);
}
