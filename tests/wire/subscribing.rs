//! `resources/subscribe` and `resources/unsubscribe` of sessions, and what they are told.

use serde_json::{Value, json};
use twolane::Limits;
use twolane::tools::{Resource, ResourceTemplate};

use crate::get_streams::{REVISIONS, get};
use crate::limits::changed;
use crate::support::{Protocol, Request, Response, Server, Source, messages};

fn server(limits: Limits) -> Server {
    Server::with(|builder| {
        builder
            .limits(limits)
            .resource(Resource::text("test://one", "one", "1"))
            .resource(Resource::text("test://two", "two", "2"))
            .resource_template(ResourceTemplate::new("test://many/{id}", "many", |_| async { "m" }))
    })
}

fn ask(session: &str, method: &str, uri: &str) -> Request {
    let message = messages::request(7, method, json!({"uri": uri}));
    messages::legacy(session, &message).without("MCP-Protocol-Version")
}

#[track_caller]
fn subscribe(server: &Server, session: &str, uri: &str) {
    let response = server.send(&ask(session, "resources/subscribe", uri));
    assert_eq!(response.text(), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
}

#[track_caller]
fn unsubscribe(server: &Server, session: &str, uri: &str) {
    let response = server.send(&ask(session, "resources/unsubscribe", uri));
    assert_eq!(response.text(), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
}

fn open(server: &Server, protocol: Protocol, session: &str, primed: bool) -> Source {
    let mut source = Source::open(server, protocol, &get(session));
    if primed {
        source.priming();
    }
    source
}

#[track_caller]
fn updated(source: &mut Source) -> String {
    let (_, message) = source.message();
    let uri = message["params"]["uri"].as_str().expect("a URI").to_owned();
    let whole =
        json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}});
    assert_eq!(message, whole);
    uri
}

fn end(server: &Server, session: &str) {
    assert_eq!(server.send(&Request::delete().header("Mcp-Session-Id", session)).status, 200);
}

#[test]
fn subscribers_are_told() {
    for (revision, primed) in REVISIONS {
        for protocol in Protocol::BOTH {
            let server = server(Limits::default());
            let (session, other) = (server.session_of(revision), server.session_of(revision));
            let mut source = open(&server, protocol, &session, primed);
            let mut others = open(&server, protocol, &other, primed);
            for uri in ["test://one", "test://one", "test://many/7"] {
                subscribe(&server, &session, uri);
            }
            subscribe(&server, &other, "test://two");
            let registry = server.handle.registry();
            // Once a burst, and of nothing else.
            for _ in 0..10 {
                registry.resource_updated("test://one");
                registry.resource_updated("test://many/8");
            }
            assert_eq!(updated(&mut source), "test://one");
            registry.resource_updated("test://many/7");
            assert_eq!(updated(&mut source), "test://many/7");
            registry.resource_updated("test://two");
            assert_eq!(updated(&mut others), "test://two");
            // Until it says otherwise, which it may say twice.
            for _ in 0..2 {
                unsubscribe(&server, &session, "test://one");
            }
            registry.resource_updated("test://one");
            registry.resource_updated("test://many/7");
            assert_eq!(updated(&mut source), "test://many/7");
            end(&server, &session);
            end(&server, &other);
            assert_eq!((source.rest(), others.rest()), (vec![], vec![]), "{revision}");
        }
    }
}

/// The newest stream alone tells; without one the debt waits, each resource once.
#[test]
fn updates_wait_for_a_stream() {
    let server = server(Limits::default());
    for protocol in Protocol::BOTH {
        let (session, witness) = (server.session(), server.session());
        let mut telling = open(&server, protocol, &witness, true);
        for uri in ["test://one", "test://two"] {
            subscribe(&server, &session, uri);
            subscribe(&server, &witness, uri);
        }
        for uri in ["test://two", "test://one", "test://two"] {
            server.handle.registry().resource_updated(uri);
            assert_eq!(updated(&mut telling), uri, "it is announced");
        }
        unsubscribe(&server, &session, "test://one");
        let mut source = open(&server, protocol, &session, true);
        assert_eq!(updated(&mut source), "test://two");
        let mut newest = open(&server, protocol, &session, true);
        server.handle.registry().resource_updated("test://two");
        assert_eq!((updated(&mut newest), updated(&mut telling)), ("test://two".into(), "test://two".into()));
        end(&server, &session);
        end(&server, &witness);
        assert_eq!((source.rest(), newest.rest(), telling.rest()), (vec![], vec![], vec![]));
    }
}

#[track_caller]
fn refused(response: &Response, code: i64) -> Value {
    assert_eq!((response.status, response.code()), (200, code), "{response}");
    response.json()["error"].clone()
}

#[test]
fn what_cannot_be_subscribed_to() {
    let server = server(changed(&[("session_subscriptions", 2), ("resource_uri", 64)]));
    let session = server.session();
    let longest = format!("test://many/{}", "x".repeat(52));
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let mut send = |method: &str, uri: &str| client.send(&ask(&session, method, uri));
        // What a read would not find.
        let error = refused(&send("resources/subscribe", "test://nope"), -32002);
        assert_eq!(error["data"]["uri"], "test://nope");
        refused(&send("resources/subscribe", ""), -32002);
        assert_eq!(longest.len(), 64);
        assert_eq!(send("resources/subscribe", &longest).result(), json!({}));
        refused(&send("resources/subscribe", &format!("{longest}x")), -32602);
        // At the limit, and above.
        assert_eq!(send("resources/subscribe", "test://one").result(), json!({}));
        assert_eq!(send("resources/subscribe", "test://one").result(), json!({}), "that is no new one");
        let error = refused(&send("resources/subscribe", "test://two"), -32000);
        assert!(error["message"].as_str().unwrap().contains("session_subscriptions"), "{error}");
        assert_eq!(send("resources/unsubscribe", "test://nope").result(), json!({}));
        assert_eq!(send("resources/unsubscribe", "test://one").result(), json!({}));
        assert_eq!(send("resources/subscribe", "test://two").result(), json!({}));
        for uri in ["test://two", &longest] {
            assert_eq!(send("resources/unsubscribe", uri).result(), json!({}));
        }
        for method in ["resources/subscribe", "resources/unsubscribe"] {
            let params = messages::request(7, method, json!({"uri": 7}));
            refused(&client.send(&messages::legacy(&session, &params)), -32602);
            // The modern lane listens instead.
            assert_eq!(client.send(&messages::modern(7, method, json!({"uri": "test://one"}))).status, 404);
        }
    }
}

#[test]
fn subscriptions_share_a_budget_and_give_it_back() {
    let server = server(changed(&[("subscription_memory", 1_024), ("session_idle", 1_000)]));
    let uri = |at: usize| format!("test://many/{at}{}", "x".repeat(403));
    let sessions: Vec<_> = (0..3).map(|_| server.session()).collect();
    // Each costs an entry of 96 bytes, too.
    assert_eq!(uri(0).len(), 512 - 96);
    subscribe(&server, &sessions[0], &uri(0));
    subscribe(&server, &sessions[1], &uri(1));
    let error = refused(&server.send(&ask(&sessions[2], "resources/subscribe", "test://one")), -32000);
    assert!(error["message"].as_str().unwrap().contains("subscription_memory"), "{error}");
    end(&server, &sessions[0]);
    subscribe(&server, &sessions[2], &uri(2));
    server.wait_until("all are idle", |server| {
        server.clock.advance_ms(1_000);
        server.handle.sweep();
        server.handle.sessions() == 0
    });
    let session = server.session();
    subscribe(&server, &session, &uri(3));
    subscribe(&server, &session, &uri(4));
}
