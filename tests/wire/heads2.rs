//! HTTP/2 heads and bodies that are refused before the road: the limits of heads, and bodies that come too late.

use std::time::{Duration, Instant};

use crate::frames::{Frames, Outcome};
use crate::limits::server;
use crate::support::{Framing, Request, Server};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn ping() -> Request {
    Request::post(PING)
}

/// The same bounds as over HTTP/1.1, where a head is lines.
#[test]
fn limits_of_heads() {
    let server = Server::start();
    let mut client = server.http2();
    let mut at_and_above = |request: &dyn Fn(usize) -> Request, at: usize, status: u16| {
        let response = client.send(&request(at));
        assert_eq!(response.status, 200, "{response}");
        let response = client.send(&request(at + 1));
        assert_eq!(response.status, status, "{response}");
        assert!(response.json()["error"].is_string(), "{response}");
    };
    let line = |length: usize| {
        let mut request = ping();
        request.target = format!("/mcp?{}", "q".repeat(length - "POST /mcp? HTTP/1.1".len()));
        request
    };
    at_and_above(&line, 10_000, 414);
    at_and_above(&|length| ping().header("X-Pad", "p".repeat(length - "x-pad: ".len())), 10_000, 431);
    let lines = |count: usize| {
        let there = ping().headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host")).count() + 1;
        (there..count).fold(ping(), |request, at| request.header(&format!("X-{at}"), "x"))
    };
    at_and_above(&lines, 100, 431);
}

/// Who was too slow with a body is not waited for again.
#[test]
fn a_late_body_gets_no_second_wait() {
    let server = server(&[("body_timeout", 700)]);
    let mut client = Frames::connect(server.address);
    let fields = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/mcp"),
        (":authority", "localhost"),
        ("content-type", "application/json"),
    ];
    client.headers(1, &fields, false);
    let Outcome::Answered(body) = client.outcome(1) else { panic!("no answer") };
    assert!(String::from_utf8(body).unwrap().contains("too long"));
    let answered = Instant::now();
    assert!(matches!(client.outcome(1), Outcome::Reset(_)));
    assert!(answered.elapsed() < Duration::from_millis(500), "{:?}", answered.elapsed());
}

/// What `origin` has allowed may read every answer.
#[test]
fn refused_bodies_have_cors_headers() {
    let server = server(&[("body_timeout", 30)]);
    let allowed = |head: &[(String, String)]| {
        head.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("access-control-allow-origin") && value == "http://localhost"
        })
    };
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nOrigin: http://localhost\r\n";
    for (rest, status) in [
        ("Content-Length: 40\r\n\r\n{", 408),
        ("Transfer-Encoding: chunked\r\n\r\nnonsense\r\n", 400),
        ("Transfer-Encoding: chunked\r\n\r\n1\r\n{", 408),
    ] {
        let mut client = server.http1();
        client.write(format!("{head}{rest}").as_bytes());
        let response = client.read("POST");
        assert_eq!(response.status, status, "{response}");
        assert!(allowed(&response.headers), "{response}");
    }
    // A head that cannot be read has no allowed origin, whatever came before it.
    let mut client = server.http1();
    let ping = ping().header("Origin", "http://localhost").bytes();
    client.write(&[&ping[..], b"POST\r\n\r\n"].concat());
    assert!(allowed(&client.read("POST").headers));
    let response = client.read("POST");
    assert!(response.status == 400 && !allowed(&response.headers), "{response}");

    let mut client = server.http2();
    let request = self::ping().header("Origin", "http://localhost").body("").framing(Framing::AsIs);
    let mut late = client.start_with(&request, false);
    let head = client.head(&mut late);
    assert_eq!(head.status, 408);
    assert!(allowed(&head.headers));
}

/// An answer to HEAD has no body, not even where the head cannot be read.
#[test]
fn faults_of_head_requests() {
    let server = server(&[("head_timeout", 30)]);
    for (head, status) in [
        ("HEAD /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", 400),
        ("HEAD /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\n\r\n", 417),
        ("\r\nHEAD /mcp HTTP/1.1\r\n\r\n", 400),
        ("HEAD /mcp HTTP/1.1\r\n", 408),
    ] {
        let mut client = server.http1();
        client.write(head.as_bytes());
        let wire = String::from_utf8(client.read_to_end()).unwrap();
        assert!(wire.starts_with(&format!("HTTP/1.1 {status} ")), "{wire}");
        assert!(wire.ends_with("\r\n\r\n") && !wire.contains("content-length: 0"), "{wire}");
    }
}
