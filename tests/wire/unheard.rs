//! What the observer is told of requests whose clients have gone, and panics in code that is lent to the server.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::json;
use twolane::base::principal::Principal;
use twolane::road::auth::{AuthFault, Authenticator};
use twolane::road::limit::{Caller, RateLimiter, RetryAfter};
use twolane::{AccessLog, Answered};

use crate::limits::changed;
use crate::support::capture::Told;
use crate::support::{Protocol, Request, Server, messages};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn observed() -> (Server, Receiver<(u16, u64, String)>) {
    let (sender, seen) = channel();
    let observer = move |answered: &Answered<'_>| {
        let _ = sender.send((answered.status, answered.bytes, answered.name.to_owned()));
    };
    let server = Server::with(|builder| {
        builder.limits(changed(&[("half_close_grace", 20)])).access_log(AccessLog::to_observer(observer))
    });
    (server, seen)
}

#[test]
fn who_has_gone_is_told() {
    let (server, seen) = observed();
    let told = || seen.recv_timeout(Duration::from_secs(20)).expect("the observer is told");
    let quiet = messages::modern_call(1, "gate", json!({}));
    let streamed = messages::modern_call_with_progress(1, "gate", json!({}));
    let mut client = server.http1();
    client.write(&quiet.bytes());
    server.tools.gate.await_begun(1);
    client.finish();
    assert_eq!(told(), (499, 0, "gate".to_owned()));

    let mut client = server.http1();
    client.write(&streamed.bytes());
    assert_eq!(client.read_head().status, 200);
    client.next_event().unwrap();
    client.finish();
    let (status, bytes, name) = told();
    assert_eq!((status, name.as_str()), (200, "gate"));
    assert!(bytes > 0);

    // In the middle of a body.
    let mut client = server.http1();
    let bytes = quiet.bytes();
    client.write(&bytes[..bytes.len() - 1]);
    client.finish();
    assert_eq!(told(), (499, 0, String::new()));

    let mut client = server.http2();
    let stream = client.start(&quiet);
    client.turn();
    server.tools.gate.await_begun(3);
    client.reset(stream);
    assert_eq!(told(), (499, 0, "gate".to_owned()));
    let mut stream = client.start(&streamed);
    assert_eq!(client.head(&mut stream).status, 200);
    client.data(&mut stream).unwrap().unwrap();
    client.reset(stream);
    let (status, bytes, name) = told();
    assert_eq!((status, name.as_str()), (200, "gate"));
    assert!(bytes > 0);
    // One that is answered is told once.
    assert_eq!(client.send(&Request::post(PING)).status, 200);
    assert_eq!(told().0, 200);
    drop((client, server));
    assert!(seen.try_recv().is_err());
}

/// A peer that pipelines more behind a call than is read ahead is seen to go all the same.
#[test]
fn who_has_gone_behind_much_that_waits() {
    let (server, _seen) = observed();
    let ping = Request::post(PING).header("X-Fill", "z".repeat(900)).bytes();
    let quiet = messages::modern_call(1, "gate", json!({}));
    let streamed = messages::modern_call_with_progress(1, "gate", json!({}));
    let listening =
        messages::modern(1, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let mut dropped = 0;
    // With more than the server's socket takes, not even the end arrives.
    for (kib, most) in [(0, 0), (50, 50), (100, 200)] {
        for request in [&quiet, &streamed] {
            let mut client = server.http1();
            client.write(&request.bytes());
            server.tools.gate.await_begun(dropped + 1);
            client.write(&ping.repeat(kib));
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(server.tools.gate.fates().dropped, dropped);
            client.finish();
            dropped += 1;
            server.tools.gate.await_fates(|fates| fates.dropped == dropped);
        }
        // What the client has not read makes it a reset.
        let mut client = server.http1();
        client.write(&listening.bytes());
        server.wait_until("it listens", |server| server.handle.listeners() == 1);
        client.write(&ping.repeat(most));
        drop(client);
        server.wait_until("it is noticed", |server| server.handle.listeners() == 0);
    }
}

#[derive(Debug)]
struct Fragile;

impl Authenticator for Fragile {
    fn authenticate(&self, token: &[u8]) -> Result<Arc<Principal>, AuthFault> {
        match token {
            b"panic" => panic!("an authenticator that panics"),
            _ => Ok(Arc::new(Principal::new(std::str::from_utf8(token).unwrap()))),
        }
    }
}

impl RateLimiter for Fragile {
    fn admit(&self, caller: Caller<'_>) -> Result<(), RetryAfter> {
        assert!(
            caller.principal.is_none_or(|principal| principal.subject != "limit"),
            "a limiter that panics"
        );
        Ok(())
    }
}

#[test]
fn panics_of_lent_code_are_answered() {
    let server = Server::with(|builder| builder.authenticator(Fragile).limiter(Fragile));
    let bearer = |request: Request, token: &str| request.header("Authorization", format!("Bearer {token}"));
    let posted = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}"#;
    let plain = r#"{"error":"Internal error"}"#;
    for protocol in Protocol::BOTH {
        for token in ["panic", "limit"] {
            for (request, text) in [
                (Request::post(PING), posted),
                (Request::get().session("s"), plain),
                (Request::delete().session("s"), plain),
            ] {
                let mut client = server.client(protocol);
                let open = client.send(&bearer(Request::post(PING), "alice"));
                assert_eq!(open.status, 200, "{open}");
                let response =
                    client.send(&bearer(request.clone(), token).header("Origin", "http://localhost"));
                assert_eq!((response.status, response.text()), (500, text), "{request:?}");
                assert!(response.header("access-control-allow-origin").is_some(), "{response}");
                match protocol {
                    Protocol::Http1 => assert_eq!(response.header("connection"), Some("close")),
                    Protocol::Http2 => {
                        assert_eq!(client.send(&bearer(Request::post(PING), "alice")).status, 200);
                    }
                }
            }
        }
    }
    let told = server.told.take();
    for text in ["an authenticator that panics", "a limiter that panics"] {
        let is = |told: &&Told| told.level == tracing::Level::ERROR && told.field("said") == Some(text);
        assert_eq!(told.iter().filter(is).count(), 6, "{text}");
    }
}

#[test]
fn an_observer_that_panics_costs_no_answer() {
    let observer = |_: &Answered<'_>| panic!("an observer that panics");
    let server = Server::with(|builder| builder.access_log(AccessLog::to_observer(observer)));
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for _ in 0..3 {
            assert_eq!(client.send(&Request::post(PING)).status, 200);
        }
    }
}
