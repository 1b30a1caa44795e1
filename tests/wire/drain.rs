//! The beginning of the end: whoever is connected when a server begins to drain is answered, or can tell that its request was not begun.

use std::net::TcpStream;

use serde_json::json;
use twolane::base::limits::Limits;

use crate::support::{Http1, Request, Response, Server, messages};

fn ping() -> Request {
    Request::post(messages::request(1, "ping", json!(null)).to_string())
}

fn assert_refused(response: &Response) {
    assert_eq!((response.status, response.header("connection")), (503, Some("close")), "{response}");
    assert!(response.header("retry-after").is_some(), "{response}");
}

/// To their clients they are connected, and their requests have been sent.
#[test]
fn what_waits_in_the_listen_queue_is_answered() {
    for connections in [1, 2, 5] {
        let server = Server::with(|builder| {
            let mut limits = Limits::default();
            limits.connections = connections;
            builder.limits(limits)
        });
        let mut busy: Vec<Http1> = (0..connections).map(|_| server.http1()).collect();
        for client in &mut busy {
            client.write(&messages::modern_call(1, "gate", json!({})).bytes());
        }
        server.tools.gate.await_begun(connections);
        // No place is left: one is held at the door, the others are with the system.
        let mut waiting: Vec<Http1> = (0..40).map(|_| server.http1()).collect();
        waiting.iter_mut().for_each(|client| client.write(&ping().bytes()));
        server.handle.shut_down();
        server.tools.gate.open(connections);
        for client in &mut busy {
            assert_eq!(client.read("POST").tool_text(), "let go");
            client.assert_closed();
        }
        for client in &mut waiting {
            assert_refused(&client.read("POST"));
            client.assert_closed();
        }
        server.wait_until("the listener is closed", |server| TcpStream::connect(server.address).is_err());
    }
}

/// A connection that has sent nothing yet has its first request answered, if it comes soon.
#[test]
fn a_first_request_on_its_way_is_answered() {
    let served = (0..10).any(|_| {
        let server = Server::start();
        // An answer after the connection shows that it has been accepted.
        let mut fresh = server.http1();
        assert_eq!(server.send(&ping()).status, 200);
        server.handle.shut_down();
        fresh.write_until_refused(&ping().bytes());
        let mut answer = Vec::new();
        let _ = std::io::Read::read_to_end(&mut fresh.socket(), &mut answer);
        answer.starts_with(b"HTTP/1.1 503")
    });
    // One of ten: how soon is soon is a matter of time, and the machine may be busy.
    assert!(served);
}

/// A request that crosses the end of an idle connection meets an end, not a reset: a reset would take answers with it that are on their way.
#[test]
fn an_idle_connection_is_ended_and_not_reset() {
    let server = Server::start();
    let mut idle: Vec<Http1> = (0..8).map(|_| server.http1()).collect();
    idle.iter_mut().for_each(|client| assert_eq!(client.send(&ping()).status, 200));
    server.handle.shut_down();
    server.wait_until("the listener is closed", |server| TcpStream::connect(server.address).is_err());
    for client in &mut idle {
        client.write(&ping().bytes());
        // An error would be a reset.
        let answer = client.read_to_end();
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 503"), "{}", answer.escape_ascii());
    }
}
