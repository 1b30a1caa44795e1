//! The access log: one line for each answer, with everything in it that is known and no secret.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};
use twolane::conn::access::AccessLog;

use crate::support::door::Keys;
use crate::support::{Protocol, Request, Server, messages};

struct Sink(Sender<u8>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            self.0.send(byte).map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A server whose log is read here.
fn logged(
    customise: impl FnOnce(twolane::server::Builder) -> twolane::server::Builder,
) -> (Server, Receiver<u8>) {
    let (sender, lines) = channel();
    let log = AccessLog::to_writer(Sink(sender)).unwrap();
    (Server::with(|builder| customise(builder.access_log(log))), lines)
}

/// The next line, as text and as JSON.
#[track_caller]
fn line(lines: &Receiver<u8>) -> (String, Value) {
    let mut text = Vec::new();
    while text.last() != Some(&b'\n') {
        text.push(lines.recv_timeout(Duration::from_secs(20)).expect("a line"));
    }
    let text = String::from_utf8(text).unwrap();
    let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    (text, value)
}

const KEYS: [&str; 14] = [
    "time",
    "peer",
    "verb",
    "path",
    "protocol",
    "era",
    "method",
    "name",
    "status",
    "bytes",
    "microseconds",
    "rejecter",
    "reason",
    "http",
];

/// The line has every key in its order, and what is expected of it.
#[track_caller]
fn assert_line(line: &(String, Value), expected: &Value) {
    let (text, value) = line;
    let mut at = 0;
    for key in KEYS {
        let found =
            text[at..].find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("{key} is not in {text}"));
        at += found;
    }
    assert_eq!(value.as_object().unwrap().len(), KEYS.len(), "{text}");
    for (key, expected) in expected.as_object().unwrap() {
        assert_eq!(&value[key], expected, "{key} in {text}");
    }
    assert!(value["microseconds"].is_u64(), "{text}");
    assert_eq!(value["time"].as_str().map(str::len), Some(24), "{text}");
    assert!(value["peer"].as_str().is_some_and(|peer| peer.starts_with("127.0.0.1:")), "{text}");
}

#[test]
fn a_line_for_each_answer() {
    let (server, lines) = logged(|builder| builder);
    let session = server.session();
    for method in ["initialize", "notifications/initialized"] {
        assert_line(
            &line(&lines),
            &json!({"method": method, "era": "legacy", "rejecter": null, "reason": null}),
        );
    }
    for protocol in Protocol::BOTH {
        let http = if protocol == Protocol::Http1 { "1.1" } else { "2" };
        let mut client = server.client(protocol);
        let list = messages::request(1, "tools/list", Value::Null);
        for (request, expected) in [
            (
                messages::modern_call(1, "echo", json!({"message": "x"})),
                json!({"verb": "POST", "path": "/mcp", "protocol": "2026-07-28", "era": "modern", "method": "tools/call",
                    "name": "echo", "status": 200, "rejecter": null, "reason": null}),
            ),
            (
                messages::legacy(&session, &list),
                json!({"protocol": "2025-11-25", "era": "legacy", "method": "tools/list", "name": null, "status": 200}),
            ),
            (
                messages::legacy(&session, &messages::notification("notifications/x")),
                json!({"era": "legacy", "method": "notifications/x", "status": 202, "bytes": 0}),
            ),
            (
                messages::legacy("gone", &list),
                json!({"method": "tools/list", "status": 404, "rejecter": "session", "reason": "unknown_session"}),
            ),
            (
                messages::modern(1, "no/such", Value::Null),
                json!({"era": "modern", "method": "no/such", "status": 404, "rejecter": "dispatch", "reason": "unknown_method"}),
            ),
            (
                messages::modern_call(1, "\u{1}\"\\", json!({})).set("Mcp-Name", "=?base64?ASJc?="),
                json!({"name": "\u{1}\"\\", "status": 200}),
            ),
            (
                Request::post("nonsense").set("Content-Type", "text/plain"),
                json!({"method": null, "era": null, "status": 415, "rejecter": "parse", "reason": "unsupported_media_type"}),
            ),
            (
                Request::get(),
                json!({"verb": "GET", "method": null, "status": 405, "rejecter": "session", "reason": "no_stream_offered"}),
            ),
            (
                Request::new("BREW", "/mcp?token=s3cret"),
                json!({"path": "/mcp", "status": 405, "rejecter": "router", "reason": "method_not_allowed"}),
            ),
            (
                Request::new("GET", "/no%20where/\"x\"?token=s3cret"),
                json!({"path": "/no%20where/\"x\"", "status": 404, "rejecter": null, "reason": null, "era": null}),
            ),
            (Request::new("HEAD", "/mcp"), json!({"verb": "HEAD", "status": 405, "bytes": 0})),
        ] {
            let response = client.send(&request);
            let line = line(&lines);
            assert_line(&line, &expected);
            assert_eq!((&line.1["http"], &line.1["status"]), (&json!(http), &json!(response.status)));
            assert_eq!(line.1["bytes"], response.body.len(), "{}", line.0);
            assert!(!line.0.contains("s3cret"), "{}", line.0);
        }
    }
}

/// A stream's line comes when it ends, and counts what was sent.
#[test]
fn streams() {
    let (server, lines) = logged(|builder| builder);
    for protocol in Protocol::BOTH {
        let request = messages::modern_call_with_progress(1, "steps", json!({"steps": 3}));
        let response = server.client(protocol).send(&request);
        let expected =
            json!({"method": "tools/call", "name": "steps", "status": 200, "bytes": response.body.len()});
        assert_line(&line(&lines), &expected);
    }
}

#[test]
fn heads_that_cannot_be_read() {
    let (server, lines) = logged(|builder| builder);
    for (wire, status) in [
        ("nonsense\r\n\r\n", 400),
        ("GET /mcp?token=s3cret HTTP/3.0\r\n\r\n", 505),
        ("GET /mcp?token=s3cret#x HTTP/1.1\r\n\r\n", 400),
        ("GET /mcp?token=s3cret HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    ] {
        let mut client = server.http1();
        client.write(wire.as_bytes());
        assert_eq!(client.read("GET").status, status);
        let line = line(&lines);
        assert_line(
            &line,
            &json!({"verb": null, "path": null, "status": status, "rejecter": null, "method": null}),
        );
        assert!(!line.0.contains("s3cret"), "{}", line.0);
    }
    // The head was read, but not its framing.
    let mut client = server.http1();
    client.write(b"POST /mcp?token=s3cret HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n");
    assert_eq!(client.read("POST").status, 400);
    assert_line(&line(&lines), &json!({"verb": "POST", "path": "/mcp", "status": 400, "rejecter": null}));
}

/// Whatever a caller writes into a request, no credential of theirs gets into a line.
#[test]
fn secrets_stay_out() {
    let (server, lines) = logged(|builder| builder.authenticator(Keys::default()));
    for credentials in ["Bearer s3cret", "Bearer s3cret s3cret", "Basic s3cret", "s3cret"] {
        for target in ["/mcp?access_token=s3cret", "/mcp/?s3cret"] {
            for protocol in Protocol::BOTH {
                let request = messages::modern_call(1, "echo", json!({"message": "s3cret"}))
                    .header("Authorization", credentials)
                    .header("Cookie", "s3cret")
                    .header("Referer", "https://s3cret.example");
                let request = Request { target: target.to_owned(), ..request };
                let status = server.client(protocol).send(&request).status;
                let line = line(&lines);
                assert!([400, 401].contains(&status) && !line.0.contains("s3cret"), "{}", line.0);
                assert_line(&line, &json!({"status": status, "rejecter": "auth"}));
            }
        }
    }
}
