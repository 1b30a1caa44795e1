//! The batch loop: framing, pipelining, early answers, timeouts, drain.

use super::*;
use crate::conn::stop::Phase;

const OK: &str = "HTTP/1.1 200 OK";

#[tokio::test]
async fn one_request_is_answered_and_the_connection_stays() {
    let mut client = Client::new(Limits::default());
    for id in 0..3 {
        client.send(ping(id, "")).await;
        let answer = client.until("\"result\":{}}").await;
        assert!(answer.starts_with(OK) && !answer.contains("connection:"), "{answer}");
        assert!(answer.contains(&format!("\"id\":{id}")), "{answer}");
    }
}

/// The answers must not depend on how the bytes were split into reads.
#[tokio::test]
async fn every_split_gives_the_same_answers() {
    let chunked = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\
                   10;x=y\r\n{\"jsonrpc\":\"2.0\"\r\n1b\r\n,\"id\":\"é\",\"method\":\"ping\"}\r\n0\r\nX: y\r\n\r\n";
    let refused =
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nabcd";
    let refused_chunked =
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    let wire = [&ping(1, ""), refused, chunked, refused_chunked, &ping(2, "Connection: close\r\n")].concat();
    let whole = dateless(&Client::new(Limits::default()).whole(&wire).await);
    assert_eq!(count(&whole, "HTTP/1.1 "), 5, "{whole}");
    assert_eq!(count(&whole, OK), 3);
    assert!(whole.contains("\"id\":\"é\"") && whole.contains("connection: close"), "{whole}");
    for at in 1..wire.len() {
        let mut client = Client::new(Limits::default());
        client.send(&wire.as_bytes()[..at]).await;
        tokio::task::yield_now().await;
        client.send(&wire.as_bytes()[at..]).await;
        assert_eq!(dateless(&client.rest().await), whole, "split at {at}");
    }
    let mut client = Client::new(Limits::default());
    for byte in wire.as_bytes() {
        client.send([*byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(dateless(&client.rest().await), whole);
}

fn dateless(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("date: ")).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_past_the_batch_limit() {
    let limits = limits(|limits| limits.pipeline = 4);
    let wire: String = (0..50).map(|id| ping(id, "")).collect();
    let text = Client::new(limits).whole(wire).await;
    let ids: Vec<u32> =
        text.split("\"id\":").skip(1).map(|rest| rest.split(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(ids, (0..50).collect::<Vec<_>>());
}

#[tokio::test]
async fn http_1_0_closes_unless_asked_to_stay() {
    let old = |fields: &str| ping(1, fields).replacen("HTTP/1.1", "HTTP/1.0", 1);
    let mut client = Client::new(Limits::default());
    client.send(old("Connection: keep-alive\r\n")).await;
    assert!(client.until("\"result\":{}}").await.contains("connection: keep-alive\r\n"));
    client.send(old("")).await;
    assert!(client.rest().await.contains("connection: close\r\n"));
}

#[tokio::test]
async fn unreadable_requests_close() {
    for (wire, status) in [
        ("GARBAGE\r\n\r\n".to_owned(), 400),
        (ping(1, "Transfer-Encoding: chunked\r\n"), 400),
        (ping(1, "Expect: tea\r\n"), 417),
        (ping(1, "Bad Name: x\r\n"), 400),
        ("POST /mcp HTTP/3.0\r\nHost: localhost\r\n\r\n".to_owned(), 505),
        (format!("POST /{} HTTP/1.1\r\n", "x".repeat(20_000)), 414),
        (ping(1, &format!("X: {}\r\n", "x".repeat(20_000))), 431),
        ("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\n".to_owned(), 400),
    ] {
        let mut client = Client::new(Limits::default());
        client.send(format!("{wire}{}", ping(2, ""))).await;
        let answer = client.rest().await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.contains("connection: close\r\n") && answer.contains("{\"error\":\""), "{answer}");
        assert_eq!(count(&answer, "content-length: "), 1, "{answer}");
    }
}

#[tokio::test]
async fn head_gets_a_length_and_no_body() {
    let mut client = Client::new(Limits::default());
    client.send("HEAD /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let answer = client.until("\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 405 ") && !answer.contains("content-length: 0\r\n"), "{answer}");
    client.send(ping(1, "")).await;
    assert!(client.until("\"result\":{}}").await.starts_with(OK));
}

#[tokio::test]
async fn long_unread_bodies_close_and_short_ones_do_not() {
    let refused = |length: usize| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    let limits = limits(|limits| limits.drain = 1000);
    let mut client = Client::new(limits.clone());
    client.send(refused(1000)).await;
    let answer = client.until("}}").await;
    assert!(answer.starts_with("HTTP/1.1 415 ") && !answer.contains("connection: close"), "{answer}");
    client.send("x".repeat(1000)).await;
    client.send(ping(1, "")).await;
    assert!(client.until("\"result\":{}}").await.starts_with(OK));
    client.send(refused(1001)).await;
    let answer = client.until("}}").await;
    assert!(answer.contains("connection: close"), "{answer}");
    client.send("x".repeat(1001)).await;
    client.send(ping(1, "")).await;
    assert_eq!(client.rest().await, "");
}

#[tokio::test]
async fn expectations_are_answered() {
    let mut client = Client::new(Limits::default());
    let request = ping(1, "Expect: 100-continue\r\n");
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    client.send(format!("{head}\r\n\r\n")).await;
    assert_eq!(client.until("\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(body).await;
    assert!(client.until("\"result\":{}}").await.starts_with(OK));
    // With the body already there nobody waits for leave.
    client.send(&request).await;
    assert!(client.until("\"result\":{}}").await.starts_with(OK));
    client.send(head.replace("application/json", "text/plain") + "\r\n\r\n").await;
    let answer = client.rest().await;
    assert!(answer.starts_with("HTTP/1.1 415 ") && answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn bodies_over_the_ceiling_are_refused_while_they_are_read() {
    let limits = limits(|limits| limits.body = 100);
    let declared = Client::new(limits.clone()).whole(post("", &"x".repeat(101))).await;
    assert!(declared.starts_with("HTTP/1.1 413 ") && declared.contains("connection: close"), "{declared}");
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut client = Client::new(limits);
    client.send(format!("{head}40\r\n{}\r\n40\r\n", "x".repeat(64))).await;
    let answer = client.rest().await;
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn large_bodies_share_one_budget() {
    let limits = limits(|limits| limits.body_memory = 1_048_576);
    let text = "x".repeat(200_000);
    let mut client = Client::new(limits.clone());
    client.send(call_http1("echo", &format!("{{\"text\":\"{text}\"}}"), "")).await;
    let answer = client.until("\"complete\"}}").await;
    assert!(answer.starts_with(OK) && answer.contains(&text));
    let text = "x".repeat(1_200_000);
    let client = Client::new(limits);
    let request = call_http1("echo", &format!("{{\"text\":\"{text}\"}}"), "");
    let (mut output, mut input) = tokio::io::split(client.pipe);
    let sending = tokio::spawn(async move { input.write_all(request.as_bytes()).await });
    let mut answer = String::new();
    output.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("retry-after"), "{answer}");
    sending.abort();
    client.task.abort();
}

#[tokio::test]
async fn every_wait_has_an_end() {
    let limits = limits(|limits| {
        limits.head_timeout = 30;
        limits.body_timeout = 30;
        limits.idle_timeout = 30;
    });
    let mut silent = Client::new(limits.clone());
    assert_eq!(silent.rest().await, "");
    let mut slow = Client::new(limits.clone());
    slow.send("POST /mcp HTTP/1.1\r\nHo").await;
    assert!(slow.rest().await.starts_with("HTTP/1.1 408 "));
    let mut body = Client::new(limits.clone());
    let request = ping(1, "");
    body.send(&request[..request.len() - 1]).await;
    assert!(body.rest().await.starts_with("HTTP/1.1 408 "));
    let mut idle = Client::new(limits);
    idle.send(ping(1, "")).await;
    assert_eq!(count(&idle.rest().await, "HTTP/1.1 "), 1);
}

#[tokio::test]
async fn a_peer_that_does_not_read_is_dropped() {
    let limits = limits(|limits| limits.write_timeout = 50);
    let mut client = Client::new(limits);
    let request = call_http1("echo", &format!("{{\"text\":\"{}\"}}", "x".repeat(150_000)), "");
    client.send(request).await;
    tokio::time::timeout(Duration::from_secs(5), client.task).await.unwrap().unwrap();
}

#[tokio::test]
async fn draining_closes_idle_connections_and_refuses_later_requests() {
    let mut idle = Client::new(Limits::default());
    idle.send(ping(1, "")).await;
    idle.until("\"result\":{}}").await;
    idle.service.stop().advance(Phase::Draining);
    assert_eq!(idle.rest().await, "");
    let mut begun = Client::new(Limits::default());
    let request = ping(1, "");
    begun.send(&request[..40]).await;
    tokio::task::yield_now().await;
    begun.service.road().start_draining();
    begun.service.stop().advance(Phase::Draining);
    begun.send(&request[40..]).await;
    let answer = begun.rest().await;
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("connection: close"), "{answer}");
    let mut stopped = Client::new(Limits::default());
    stopped.send(&request[..40]).await;
    tokio::task::yield_now().await;
    stopped.service.stop().advance(Phase::Stopped);
    assert_eq!(stopped.rest().await, "");
}
