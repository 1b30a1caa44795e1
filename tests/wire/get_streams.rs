//! The event streams that a GET opens on a session: how they begin, what they carry, and how they end.

use serde_json::{Value, json};
use twolane::tools::{Resource, Typed};

use crate::limits::server;
use crate::support::{Framing, Protocol, Request, Server, Source, messages};

/// The revisions of the legacy lane, and whether their streams are primed.
pub const REVISIONS: [(&str, bool); 3] = [("2025-03-26", false), ("2025-06-18", false), ("2025-11-25", true)];

pub fn get(session: &str) -> Request {
    Request::get().header("Mcp-Session-Id", session)
}

/// Opens a stream of a session of 2025-11-25, and reads its priming event.
#[track_caller]
pub fn listen(server: &Server, protocol: Protocol, session: &str) -> Source {
    let mut source = Source::open(server, protocol, &get(session));
    source.priming();
    source
}

/// Changes the list of tools, and waits until that has been announced.
pub fn change_tools(server: &Server, name: &str) {
    let tool = Typed::immediate(name, "Comes late.", |_: Value| "here");
    server.handle.registry().add(tool).expect("a new tool");
}

const TOOLS_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

#[test]
fn a_stream_begins_at_once() {
    for (revision, primed) in REVISIONS {
        for protocol in Protocol::BOTH {
            let server = Server::start();
            let session = server.session_of(revision);
            for accept in
                [Some("text/event-stream"), Some("application/json, text/*;q=0.1"), Some("*/*"), None]
            {
                let request = match accept {
                    Some(accept) => get(&session).set("Accept", accept),
                    None => get(&session).without("Accept"),
                };
                let mut source = Source::open(&server, protocol, &request);
                assert_eq!(source.head.header("mcp-session-id"), None);
                let mut begin = Vec::new();
                let enough = if primed { b":\n\nid: 12345678-1-0\ndata:\n\n".len() } else { b":\n\n".len() };
                while begin.len() < enough {
                    begin.extend(source.piece().expect("the stream goes on"));
                }
                let begin = String::from_utf8(begin).unwrap();
                assert!(begin.starts_with(":\n\n"), "{begin:?}");
                let rest = &begin[3..];
                assert_eq!(rest.starts_with("id: ") && rest.ends_with("-0\ndata:\n\n"), primed, "{begin:?}");
                assert_eq!(rest.is_empty(), !primed, "{begin:?}");
            }
        }
    }
}

#[test]
fn a_client_that_takes_no_stream_is_told() {
    let server = Server::start();
    let session = server.session();
    for protocol in Protocol::BOTH {
        for accept in ["application/json", "text/html, application/*", "text/event-stream;q=0, */*", ""] {
            let response = server.client(protocol).send(&get(&session).set("Accept", accept));
            assert_eq!(response.status, 406, "{accept:?}: {response}");
        }
        // What comes before it in the order is judged first.
        let nothing = Request::get().set("Accept", "application/json");
        assert_eq!(server.client(protocol).send(&nothing).status, 405);
        let unknown = get("nobody's").set("Accept", "application/json");
        assert_eq!(server.client(protocol).send(&unknown).status, 404);
        let other = get(&session).set("Accept", "application/json").set("MCP-Protocol-Version", "2025-06-18");
        assert_eq!(server.client(protocol).send(&other).status, 400);
    }
    assert_eq!(server.handle.streams(), 0);
}

/// However many changes a burst has, the client is told once, on one stream, the newest.
#[test]
fn changed_lists_are_told_once_on_the_newest_stream() {
    for (revision, primed) in REVISIONS {
        for protocol in Protocol::BOTH {
            let server = Server::start();
            let session = server.session_of(revision);
            let mut old = Source::open(&server, protocol, &get(&session));
            let mut new = Source::open(&server, protocol, &get(&session));
            if primed {
                assert_ne!(old.priming(), new.priming());
            }
            for at in 0..10 {
                change_tools(&server, &format!("late-{at}"));
            }
            let (_, message) = new.message();
            assert_eq!(message.to_string(), TOOLS_CHANGED);
            // One message for one burst, on one stream.
            assert_eq!(server.send(&Request::delete().header("Mcp-Session-Id", &session)).status, 200);
            assert_eq!((old.rest(), new.rest()), (vec![], vec![]), "{revision} {protocol:?}");
        }
    }
}

#[test]
fn when_the_newest_leaves_the_one_before_it_is_told() {
    let server = server(&[("replay_streams", 0), ("half_close_grace", 0)]);
    for protocol in Protocol::BOTH {
        let session = server.session();
        let mut old = listen(&server, protocol, &session);
        let new = listen(&server, protocol, &session);
        assert_eq!(server.handle.streams(), 2);
        new.leave();
        server.wait_until("the newest has left", |server| server.handle.streams() == 1);
        change_tools(&server, &format!("late-{protocol:?}"));
        assert_eq!(old.message().1.to_string(), TOOLS_CHANGED);
        assert_eq!(server.send(&Request::delete().session(&session)).status, 200);
        assert_eq!(old.rest(), []);
    }
}

/// There may be no stream when something changes: the debt stays, and the next stream pays it, unless the list is served before.
#[test]
fn what_is_owed_waits_for_a_stream() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        let (waiting, served, opened) =
            (server.session(), server.session(), server.open_session(messages::LEGACY));
        let mut early = listen(&server, protocol, &opened);
        let witness = server.session();
        let mut witness = listen(&server, protocol, &witness);
        change_tools(&server, &format!("late-{protocol:?}"));
        // Once one has been told, all are owed it.
        assert_eq!(witness.message().1.to_string(), TOOLS_CHANGED);
        let listing = messages::request(7, "tools/list", Value::Null);
        assert_eq!(server.send(&messages::legacy(&served, &listing)).status, 200);
        let mut source = listen(&server, protocol, &waiting);
        assert_eq!(source.message().1.to_string(), TOOLS_CHANGED);
        // Told once: a second stream has nothing to tell.
        for session in [&waiting, &served] {
            let mut source = listen(&server, protocol, session);
            assert_eq!(server.send(&Request::delete().session(session)).status, 200);
            assert_eq!(source.rest(), []);
        }
        // A session that is not ready is told when it is.
        let ready = messages::legacy(&opened, &messages::notification("notifications/initialized"));
        assert_eq!(server.send(&ready).status, 202);
        assert_eq!(early.message().1.to_string(), TOOLS_CHANGED);
    }
}

/// What the server did not offer when the session was opened is not spoken of in it: clients act on what was negotiated.
#[test]
fn a_session_hears_of_what_it_was_offered_alone() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        let before = server.session();
        let mut before_source = listen(&server, protocol, &before);
        let registry = server.handle.registry();
        registry.add_resource(Resource::text("a:1", "one", "1")).unwrap();
        let after = server.session();
        let mut after_source = listen(&server, protocol, &after);
        registry.add_resource(Resource::text("a:2", "two", "2")).unwrap();
        let told = r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#;
        assert_eq!(after_source.message().1.to_string(), told);
        change_tools(&server, &format!("late-{protocol:?}"));
        for source in [&mut before_source, &mut after_source] {
            assert_eq!(source.message().1.to_string(), TOOLS_CHANGED, "the first word of it");
        }
        for uri in ["a:1", "a:2"] {
            registry.remove_resource(uri);
        }
    }
}

/// Resources and their templates are two lists with one notification: who has read the one may not know of the other.
#[test]
fn reading_the_templates_settles_nothing() {
    let server = Server::with(|builder| builder.resource(Resource::text("a:0", "zero", "0")));
    for protocol in Protocol::BOTH {
        let [witness, session] = [(); 2].map(|()| server.session());
        let mut witness = listen(&server, protocol, &witness);
        let uri = format!("a:{protocol:?}");
        server.handle.registry().add_resource(Resource::text(&uri, "late", "1")).unwrap();
        let told = r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#;
        assert_eq!(witness.message().1.to_string(), told);
        let read = |method: &str| {
            let listing = messages::request(7, method, Value::Null);
            assert_eq!(server.send(&messages::legacy(&session, &listing)).status, 200);
        };
        read("resources/templates/list");
        let mut source = listen(&server, protocol, &session);
        assert_eq!(source.message().1.to_string(), told);
    }
}

#[test]
fn beyond_the_limit_the_oldest_ends() {
    let server = server(&[("get_streams", 2), ("stream_retry", 777)]);
    for protocol in Protocol::BOTH {
        let session = server.session();
        let mut streams: Vec<_> = (0..2).map(|_| listen(&server, protocol, &session)).collect();
        // At the limit both are open: the newest is told.
        change_tools(&server, &format!("late-{protocol:?}"));
        assert_eq!(streams[1].message().1.to_string(), TOOLS_CHANGED);
        streams.push(listen(&server, protocol, &session));
        assert_eq!(streams[0].assert_cut(), 777);
        // The connection of a stream that has ended serves on.
        let ping = messages::legacy(&session, &messages::request(1, "ping", Value::Null));
        assert_eq!(streams[0].again(&ping).status, 200);
        let other = server.session();
        let mut unharmed = listen(&server, protocol, &other);
        change_tools(&server, &format!("later-{protocol:?}"));
        assert_eq!(streams[2].message().1.to_string(), TOOLS_CHANGED);
        assert_eq!(unharmed.message().1.to_string(), TOOLS_CHANGED);
        assert_eq!(server.send(&Request::delete().session(&session)).status, 200);
        assert_eq!((streams[1].rest(), streams[2].rest()), (vec![], vec![]));
    }
}

#[test]
fn a_session_that_is_deleted_ends_its_streams() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        let (session, other) = (server.session(), server.session());
        let mut streams: Vec<_> = (0..3).map(|_| listen(&server, protocol, &session)).collect();
        let mut kept = listen(&server, protocol, &other);
        assert_eq!(server.handle.streams(), 4);
        assert_eq!(server.send(&Request::delete().session(&session)).status, 200);
        for stream in &mut streams {
            assert_eq!(stream.rest(), []);
        }
        assert_eq!(server.handle.streams(), 1);
        assert_eq!(server.send(&get(&session)).status, 404);
        change_tools(&server, &format!("late-{protocol:?}"));
        assert_eq!(kept.message().1.to_string(), TOOLS_CHANGED);
        assert_eq!(server.send(&Request::delete().session(&other)).status, 200);
        assert_eq!((server.handle.streams(), server.handle.replay_bytes()), (0, 0));
    }
}

#[test]
fn a_draining_server_ends_streams_that_listen() {
    for protocol in Protocol::BOTH {
        let server = server(&[("stream_retry", 55)]);
        let session = server.session();
        let mut streams = [listen(&server, protocol, &session), listen(&server, protocol, &session)];
        server.handle.shut_down();
        for stream in &mut streams {
            assert_eq!(stream.assert_cut(), 55);
        }
    }
}

/// A session whose stream is open is not idle, however long nothing comes; one whose stream has ended is in the end.
#[test]
fn an_open_stream_keeps_its_session() {
    let server = server(&[("session_idle", 1_000), ("half_close_grace", 0)]);
    for protocol in Protocol::BOTH {
        let session = server.session();
        let stream = listen(&server, protocol, &session);
        server.clock.advance_ms(10_000);
        server.handle.sweep();
        assert_eq!(server.handle.sessions(), 1);
        stream.leave();
        server.wait_until("the session is idle", |server| {
            server.clock.advance_ms(1_000);
            server.handle.sweep();
            server.handle.sessions() == 0
        });
        assert_eq!((server.handle.streams(), server.handle.replay_bytes()), (0, 0));
    }
}

#[test]
fn a_quiet_stream_gets_comments() {
    let server = server(&[("stream_comment", 10)]);
    let session = server.session_of("2025-06-18");
    for protocol in Protocol::BOTH {
        let mut source = Source::open(&server, protocol, &get(&session));
        let mut bytes = Vec::new();
        while bytes.len() < 15 {
            bytes.extend(source.piece().expect("the stream goes on"));
        }
        assert!(bytes.chunks(3).all(|three| three == b":\n\n"), "{}", bytes.escape_ascii());
    }
}

/// A GET has no use for a body: it is never read as the next request, and a stream does not wait for it.
#[test]
fn a_body_of_a_get_is_no_request() {
    let server = Server::start();
    let session = server.session();
    let smuggled = messages::legacy(&session, &messages::request(1, "ping", Value::Null)).bytes();
    let end = || assert_eq!(server.send(&Request::delete().session(&session)).status, 200);
    let whole = get(&session).body(smuggled.clone());
    // On HTTP/2 a stream's body is nobody else's.
    let other = server.session();
    let mut source = Source::open(&server, Protocol::Http2, &get(&other).body(smuggled.clone()));
    source.priming();
    assert_eq!(server.send(&Request::delete().session(&other)).status, 200);
    assert_eq!(source.rest(), []);
    let again = messages::legacy(&session, &messages::request(2, "ping", Value::Null));
    assert_eq!(source.again(&again).result(), json!({}));
    // Here it ends the connection with the stream, whether it comes at once or not, whole or in pieces, or only with leave.
    let half = {
        let bytes = whole.bytes();
        bytes[..bytes.len() - 1].to_vec()
    };
    let chunked = whole.clone().framing(Framing::Chunks(9)).bytes();
    let expecting = whole.clone().header("Expect", "100-continue").bytes();
    let expecting = expecting[..expecting.len() - smuggled.len()].to_vec();
    let mut open = Vec::new();
    for bytes in [whole.bytes(), half, chunked, expecting] {
        let mut client = server.http1();
        client.write(&bytes);
        let head = client.read_head();
        assert_eq!((head.status, head.header("connection")), (200, Some("close")), "{head:?}");
        open.push(client);
    }
    end();
    for mut client in open {
        let mut events = 0;
        while client.next_event().is_some() {
            events += 1;
        }
        assert_eq!(events, 1, "the priming event");
        client.finish();
        client.assert_closed();
    }
}

#[test]
fn a_stream_on_http_1_0_ends_with_its_connection() {
    let server = Server::start();
    let session = server.session();
    let mut client = server.http1();
    client.write(
        format!("GET /mcp HTTP/1.0\r\nHost: localhost\r\nMcp-Session-Id: {session}\r\n\r\n").as_bytes(),
    );
    let head = client.read_head();
    assert_eq!((head.status, head.header("connection")), (200, Some("close")), "{head:?}");
    assert_eq!(head.header("transfer-encoding"), None);
    server.wait_until("the stream is open", |server| server.handle.streams() == 1);
    assert_eq!(server.send(&Request::delete().session(&session)).status, 200);
    let events = crate::support::read::events(&client.read_to_end());
    assert_eq!((events.len(), events[0].data.as_deref()), (1, Some("")));
}

/// What comes behind a GET on its connection waits for the end of the stream, and is answered then.
#[test]
fn requests_behind_a_stream_wait() {
    let server = Server::start();
    let (session, other) = (server.session(), server.session());
    let mut client = server.http1();
    let ping = messages::legacy(&other, &messages::request(9, "ping", Value::Null));
    client.write(&[get(&session).bytes(), ping.bytes()].concat());
    assert_eq!(client.read_head().status, 200);
    assert_eq!(client.next_event().unwrap().data.as_deref(), Some(""));
    assert_eq!(server.send(&Request::delete().session(&session)).status, 200);
    assert_eq!(client.next_event(), None);
    assert_eq!(client.read("POST").json()["id"], 9);
}

/// A client that takes streams alone gets its answer as one message that every revision can read: nothing comes before it.
#[test]
fn an_answer_alone_is_not_primed() {
    let server = Server::start();
    for (revision, _) in REVISIONS {
        let session = server.session_of(revision);
        for protocol in Protocol::BOTH {
            for (tool, arguments) in [("sleep", json!({"ms": 20})), ("count", json!({}))] {
                let message = messages::request(9, "tools/call", messages::call(tool, arguments));
                let request = messages::legacy(&session, &message)
                    .set("Accept", "text/event-stream")
                    .set("MCP-Protocol-Version", revision);
                let events = server.client(protocol).send(&request).events();
                assert_eq!((events.len(), &events[0].json()["id"]), (1, &json!(9)), "{revision}");
            }
        }
    }
    assert_eq!(server.handle.streams(), 0, "nobody can come back to it, so it is not kept");
}
