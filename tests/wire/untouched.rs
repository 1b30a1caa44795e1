//! A refused request changes nothing: it runs no tool, opens and ends no session, and keeps none alive.

use serde_json::json;
use twolane::tables::rejection::Rejection;
use twolane::tables::scenarios::{Base, Scenario, World, scenario};

use crate::draft::Draft;
use crate::place::{self, Place};
use crate::rejections::request_of;
use crate::support::{Protocol, Request, Server, messages};

/// The idle time of a session, by the default limits.
const IDLE_MS: u64 = 1_800_000;

/// A place whose sessions are the ones that a test gives it.
fn place(world: World) -> Place {
    let place = Place::of(world);
    place.server.clock.advance_ms(IDLE_MS);
    place.server.handle.sweep();
    assert_eq!(place.server.handle.sessions(), 0);
    place
}

#[test]
fn a_refused_request_keeps_no_session_alive() {
    let mut usual = place(World::Usual);
    for &row in Rejection::ALL {
        let scenario = scenario(row);
        if scenario.world != World::Usual {
            continue;
        }
        for verb in scenario.verbs {
            for protocol in Protocol::BOTH {
                outlived(&mut usual, row, &scenario, verb, protocol);
            }
        }
    }
}

/// Opens a session, refuses a request that names it a moment before it is idle, and finds it idle a moment later.
fn outlived(place: &mut Place, row: Rejection, scenario: &Scenario, verb: &str, protocol: Protocol) {
    let context = format!("{row:?} {verb} {protocol:?}");
    let ready = scenario.base != Base::Opened;
    let session = place::open_session(&place.server, messages::LEGACY, ready);
    place.session.clone_from(&session);
    place.opened = session;
    let server = &place.server;
    server.clock.advance_ms(IDLE_MS - 1);
    let (runs, before) = (server.tools.runs(), server.met());
    let response = server.client(protocol).send(&request_of(scenario, verb, place));
    assert_eq!(server.met_since(&before), [row], "{context}: {response}");
    assert_eq!((server.tools.runs(), server.handle.sessions()), (runs, 1), "{context}");
    server.clock.advance_ms(1);
    server.handle.sweep();
    assert_eq!(server.handle.sessions(), 0, "{context}: it kept the session alive");
}

/// The other side of it: what is not refused does keep it alive, whatever becomes of it then.
#[test]
fn a_message_that_is_taken_keeps_its_session_alive() {
    let server = Server::start();
    let call = |tool, arguments| messages::request(1, "tools/call", messages::call(tool, arguments));
    for (message, status) in [
        (call("count", json!({})), 200),
        (call("nope", json!({})), 200),
        (call("echo", json!({})), 200),
        (messages::request(1, "ping", serde_json::Value::Null), 200),
        (messages::request(1, "unknown/method", serde_json::Value::Null), 200),
        (messages::notification("notifications/cancelled"), 202),
        (json!({"jsonrpc": "2.0", "id": 1, "result": {}}), 202),
    ] {
        let session = server.session();
        server.clock.advance_ms(IDLE_MS - 1);
        let response = server.send(&messages::legacy(&session, &message));
        assert_eq!(response.status, status, "{message}: {response}");
        server.clock.advance_ms(1);
        server.handle.sweep();
        assert_eq!(server.handle.sessions(), 1, "{message}");
        server.clock.advance_ms(IDLE_MS - 1);
        server.handle.sweep();
        assert_eq!(server.handle.sessions(), 0, "{message}");
    }
}

/// The modern lane knows no sessions: it neither looks one up nor keeps one alive.
#[test]
fn a_modern_request_leaves_sessions_alone() {
    let server = Server::start();
    let session = server.session();
    server.clock.advance_ms(IDLE_MS - 1);
    for id in [session.as_str(), place::NO_SESSION, "", "not an id"] {
        let request = messages::modern_call(1, "count", json!({}))
            .header("Mcp-Session-Id", id)
            .header("Last-Event-ID", "a");
        for protocol in Protocol::BOTH {
            let response = server.client(protocol).send(&request);
            assert_eq!(response.status, 200, "{id:?}: {response}");
            assert_eq!(response.header("mcp-session-id"), None, "{id:?}: {response}");
        }
    }
    server.clock.advance_ms(1);
    server.handle.sweep();
    assert_eq!(server.handle.sessions(), 0);
}

/// A session with an open call is not idle, however long it takes.
#[test]
fn an_open_call_keeps_its_session_alive() {
    let server = Server::start();
    let session = server.session();
    let mut message = messages::request(1, "tools/call", messages::call("gate", json!({})));
    message["params"]["_meta"] = json!({"progressToken": 1});
    let mut client = server.http1();
    client.write(&messages::legacy(&session, &message).bytes());
    // The stream is there, so the call is known to be open.
    assert_eq!(client.read_head().status, 200);
    server.clock.advance_ms(10 * IDLE_MS);
    server.handle.sweep();
    assert_eq!(server.handle.sessions(), 1);
    server.tools.gate.open(1);
    while client.next_event().is_some() {}
    // The idle time starts when somebody first looks after the end of the call, and the call ends just after its last byte.
    server.handle.sweep();
    assert_eq!(server.handle.sessions(), 1);
    for _ in 0..1000 {
        server.clock.advance_ms(IDLE_MS);
        server.handle.sweep();
        if server.handle.sessions() == 0 {
            return;
        }
        std::thread::yield_now();
    }
    panic!("a session without an open call is idle in the end");
}

/// In the worlds of one trait too: nothing is opened, ended or run.
#[test]
fn worlds_with_a_trait_are_untouched() {
    for world in [World::Crowded, World::Draining, World::LaneOff, World::Full] {
        let place = Place::of(world);
        let state = |place: &Place| (place.server.tools.runs(), place.server.handle.sessions());
        let before = state(&place);
        for &row in Rejection::ALL {
            let scenario = scenario(row);
            if scenario.world == world {
                for verb in scenario.verbs {
                    let request: Request = request_of(&scenario, verb, &place);
                    assert_eq!(place.server.send(&request).status, scenario.status, "{row:?} {verb}");
                }
            }
        }
        assert_eq!(state(&place), before, "{world:?}");
        let stays = Draft::of(Base::Modern, "POST", &place).request();
        let status = place.server.send(&stays).status;
        assert_eq!(status, if world == World::Draining { 503 } else { 200 }, "{world:?}");
    }
}
