//! Shedding: who is turned away while a worker has too much to do, and while as many calls are in flight as may be. The tests' clocks are
//! moved by hand, and so is the pulse: a call takes as long as a test says.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use twolane::base::clock::Clock;
use twolane::tables::rejection::Rejection;
use twolane::tables::scenarios::{World, scenario};
use twolane::tools::Typed;

use crate::limits::{changed, server};
use crate::listen::Ear;
use crate::place::Place;
use crate::rejections::request_of;
use crate::support::{Client, Http1, Http2, Protocol, Request, Response, Server, messages};

const LATE: &str = "The server is overloaded: requests would wait for too long (overload_delay); retry later";
const FULL: &str = "The server is overloaded: as many calls are in flight as may be (calls); retry later";

fn ping() -> Request {
    messages::modern(1, "tools/list", Value::Null)
}

/// The worker's turn ends.
fn pulse(server: &Server) {
    server.road.loads()[0].pulse(server.road.clock());
}

/// One request that takes the worker so long.
fn take(server: &Server, client: &mut Client, ms: u64) -> u16 {
    let response = client.send(&ping());
    server.clock.advance_ms(ms);
    response.status
}

/// Keeps the worker busy until it turns requests away, by a peer that is not asked for anything else.
fn overwhelm(server: &Server) {
    pulse(server);
    let statuses: Vec<u16> = (0..40)
        .map(|_| take(server, &mut server.client_of(9, Protocol::Http1), 50))
        .take_while(|status| *status != 503)
        .collect();
    // Eight come before anybody is looked at, and what they took counts as one piece; then it must last for three delays.
    assert_eq!(statuses.len(), 15);
}

#[track_caller]
fn assert_shed(response: &Response, verb: &str, text: &str) {
    assert_eq!((response.status, response.header("retry-after")), (503, Some("1")), "{response}");
    let body = match verb {
        "POST" => {
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": text}}).to_string()
        }
        "HEAD" => String::new(),
        _ => json!({ "error": text }).to_string(),
    };
    assert_eq!(response.text(), body);
}

/// Whatever is asked, by whichever verb, and whatever else is wrong with it: it is not looked at.
#[test]
fn nothing_else_is_looked_at() {
    let place = Place::of(World::Usual);
    let server = &place.server;
    overwhelm(server);
    let mut sent = 0;
    for &row in Rejection::ALL.iter().filter(|row| **row != Rejection::Overloaded) {
        let scenario = scenario(row);
        for verb in scenario.verbs {
            for protocol in Protocol::BOTH {
                let (before, runs, asked) = (server.met(), server.tools.runs(), place.keys.asked());
                let request = request_of(&scenario, verb, &place);
                let response = server.client(protocol).send(&request);
                assert_shed(&response, verb, LATE);
                let context = format!("{row:?} {verb} {protocol:?}");
                assert_eq!(server.met_since(&before), [Rejection::Overloaded], "{context}");
                assert_eq!((server.tools.runs(), place.keys.asked()), (runs, asked), "{context}");
                sent += 1;
            }
        }
    }
    assert!(sent > 100, "{sent}");
    // Other paths are not the endpoint's.
    let mut elsewhere = ping();
    elsewhere.target = "/else".to_owned();
    assert_eq!(server.send(&elsewhere).status, 404);
}

#[test]
fn a_connection_ends_and_a_stream_does_not() {
    let server = Server::start();
    overwhelm(&server);
    let mut client = server.http1();
    // What was sent behind it is not answered.
    client.write(&[ping().bytes(), ping().bytes()].concat());
    let response = client.read("POST");
    assert_shed(&response, "POST", LATE);
    assert_eq!(response.header("connection"), Some("close"));
    client.finish();
    client.assert_closed();
    let mut client = server.http2();
    for _ in 0..3 {
        assert_shed(&client.send(&ping()), "POST", LATE);
    }
    pulse(&server);
    assert_eq!(client.send(&ping()).status, 200);
}

/// Who is turned away for what all of them want together has not spent its own allowance on that.
#[test]
fn who_is_turned_away_pays_nothing() {
    let limits = changed(&[("peer_rate", 1), ("peer_burst", 20)]);
    let server = Server::with(|builder| builder.limits(limits).limit_loopback(true));
    overwhelm(&server);
    let mut client = server.client_of(2, Protocol::Http2);
    for _ in 0..50 {
        assert_shed(&client.send(&ping()), "POST", LATE);
    }
    for _ in 0..10 {
        pulse(&server);
        assert_eq!([client.send(&ping()).status, client.send(&ping()).status], [200; 2]);
    }
}

/// What a turn admits, once turns are cut: at least two requests, and those of others for as long as the pulse is not late.
#[test]
fn a_turn_goes_on_until_it_is_late() {
    let server = server(&[("overload_delay", 100)]);
    overwhelm(&server);
    let mut client = server.client_of(2, Protocol::Http2);
    for (ms, admitted) in [(1_000, 2), (56, 4), (10, 12), (1, 113)] {
        pulse(&server);
        let statuses: Vec<u16> =
            (0..200).map(|_| take(&server, &mut client, ms)).take_while(|status| *status == 200).collect();
        assert_eq!(statuses.len(), admitted, "{ms}");
        assert_eq!(client.send(&ping()).status, 503, "nor is the next one");
    }
}

/// A flood of one peer's meets a closed door while a peer that has had little is served, and so is a connection of the flood's own address
/// that has had nothing, for a shorter time.
#[test]
fn who_has_had_little_is_served_longer() {
    for protocol in Protocol::BOTH {
        let server = Server::start();
        overwhelm(&server);
        pulse(&server);
        let mut flood = server.client_of(2, protocol);
        while take(&server, &mut flood, 10) == 200 {}
        // The pulse is late by 100 ms and what the last one took.
        let mut other = server.client_of(2, protocol);
        assert_eq!(other.send(&ping()).status, 200);
        assert_eq!(other.send(&ping()).status, 503);
        server.clock.advance_ms(50);
        assert_eq!(server.client_of(2, protocol).send(&ping()).status, 503);
        for round in 0..6 {
            let mut honest = server.client_of(3, protocol);
            let expected = if round < 4 { 200 } else { 503 };
            assert_eq!(honest.send(&ping()).status, expected, "{round}");
        }
        server.clock.advance_ms(50);
        let mut late = server.client_of(4, protocol);
        assert_eq!(late.send(&ping()).status, 503, "nobody waits for that long");
    }
}

#[test]
fn it_is_over_when_no_turn_has_been_late_for_a_while() {
    let server = Server::start();
    overwhelm(&server);
    for _ in 0..16 {
        pulse(&server);
        server.clock.advance_ms(100);
    }
    let mut client = server.client_of(2, Protocol::Http2);
    pulse(&server);
    for _ in 0..8 {
        assert_eq!(take(&server, &mut client, 40), 200);
    }
}

/// At the delay nobody is turned away, above it somebody is, and never where it is none.
#[test]
fn the_delay_is_a_limit() {
    for (delay, statuses) in [(57, [200, 200, 503]), (58, [200; 3]), (59, [200; 3])] {
        let server = server(&[("overload_delay", delay)]);
        overwhelm_by(&server, 40 * delay);
        pulse(&server);
        let mut client = server.client_of(2, Protocol::Http2);
        let mut flood = server.client_of(2, Protocol::Http2);
        (0..4).for_each(|_| assert_eq!(take(&server, &mut flood, 0), 200));
        assert_eq!([35, 35, 0].map(|ms| take(&server, &mut client, ms)), statuses, "{delay}");
    }
    let server = server(&[("overload_delay", 0)]);
    pulse(&server);
    let mut client = server.client(Protocol::Http2);
    for _ in 0..100 {
        assert_eq!(take(&server, &mut client, 1_000), 200);
    }
}

/// One long turn of short pieces.
fn overwhelm_by(server: &Server, ms: u64) {
    pulse(server);
    let mut client = server.client_of(9, Protocol::Http2);
    for _ in 0..40 {
        take(server, &mut client, ms / 40);
    }
    assert_eq!(client.send(&ping()).status, 503);
}

fn gate(id: u64) -> Request {
    messages::modern_call(id, "gate", json!({}))
}

/// Calls that wait take nobody's turn.
#[test]
fn calls_that_wait_are_no_load() {
    let server = Server::start();
    overwhelm(&server);
    pulse(&server);
    let mut client = server.http2();
    let mut waiting = Vec::new();
    for id in 0..200 {
        waiting.push(client.start(&gate(id)));
        client.turn();
    }
    server.tools.gate.await_begun(200);
    server.wait_until("all are counted", |server| server.handle.calls() == 200);
    server.tools.gate.open(200);
    for mut stream in waiting {
        assert_eq!(client.head(&mut stream).status, 200);
    }
    server.wait_until("no call goes on", |server| server.handle.calls() == 0);
    assert_eq!(server.handle.rejections(Rejection::Overloaded), 1);
}

#[test]
fn calls_in_flight_are_bounded() {
    for protocol in Protocol::BOTH {
        let server = server(&[("calls", 3)]);
        let session = server.session();
        // Streams are no calls.
        let listening =
            messages::modern(9, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
        let mut ears: Vec<_> = (0..3).map(|_| Ear::open(&server, protocol, &listening)).collect();
        ears.extend((0..3).map(|_| Ear::open(&server, protocol, &Request::get().session(&session))));
        let mut waiting: Vec<Box<dyn FnOnce() -> u16>> = Vec::new();
        for id in 1..=3 {
            assert_eq!(server.client(protocol).send(&ping()).status, 200);
            waiting.push(start(&server, protocol, &gate(id)));
            server.tools.gate.await_begun(id);
            server.wait_until("the call is counted", |server| server.handle.calls() == id);
        }
        // Whatever its method: who asks for something may be kept waiting for it.
        for request in
            [gate(4), ping(), messages::legacy(&session, &messages::request(4, "ping", Value::Null))]
        {
            assert_shed(&server.client(protocol).send(&request), "POST", FULL);
        }
        // What ends calls is let in, and so is what opens a stream.
        let cancelled =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}});
        assert_eq!(server.client(protocol).send(&messages::legacy(&session, &cancelled)).status, 202);
        let answer = json!({"jsonrpc": "2.0", "id": 5, "result": {}});
        assert_eq!(server.client(protocol).send(&messages::legacy(&session, &answer)).status, 202);
        ears.push(Ear::open(&server, protocol, &Request::get().session(&session)));
        assert_eq!(server.handle.rejections(Rejection::Overloaded), 3);
        server.tools.gate.open(1);
        server.wait_until("a call is over", |server| server.handle.calls() == 2);
        assert_eq!(server.client(protocol).send(&ping()).status, 200);
        server.tools.gate.open(2);
        assert!(waiting.into_iter().all(|answer| answer() == 200));
    }
}

/// Sends a request, and gives what waits for its answer.
fn start(server: &Server, protocol: Protocol, request: &Request) -> Box<dyn FnOnce() -> u16> {
    match protocol {
        Protocol::Http1 => {
            let mut client = server.http1();
            client.write(&request.bytes());
            Box::new(move || client.read("POST").status)
        }
        Protocol::Http2 => {
            let mut client: Http2 = server.http2();
            let mut stream = client.start(request);
            client.turn();
            Box::new(move || client.head(&mut stream).status)
        }
    }
}

/// The messages of a batch count one by one, and it is refused as a whole.
#[test]
fn a_batch_has_many_calls() {
    let server = server(&[("calls", 3)]);
    let session = server.session_of("2025-03-26");
    let batch = |count: u64| {
        let messages: Vec<_> = (0..count)
            .map(|id| messages::request(id, "tools/call", messages::call("gate", json!({}))))
            .collect();
        Request::post(Value::from(messages).to_string()).session(&session)
    };
    assert_shed(&server.send(&batch(4)), "POST", FULL);
    assert_eq!(server.tools.runs(), 0);
    let answer = start(&server, Protocol::Http1, &batch(2));
    server.wait_until("two are counted", |server| server.handle.calls() == 2);
    assert_shed(&server.send(&batch(2)), "POST", FULL);
    server.tools.gate.open(3);
    assert_eq!((answer(), server.send(&batch(1)).status), (200, 200));
}

/// With a clock that runs and handlers that really take the worker's time.
#[test]
fn a_worker_that_is_kept_busy_sheds_and_recovers() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}
    let burn = |_: Nothing| {
        let until = Instant::now() + Duration::from_millis(3);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        "burnt"
    };
    let server = Server::with(|builder| {
        builder.clock(Clock::system()).limits(changed(&[("overload_delay", 20)])).tool(Typed::immediate(
            "burn",
            "Takes the worker's time.",
            burn,
        ))
    });
    let request = messages::modern_call(1, "burn", json!({})).bytes();
    let (shed, over) = (AtomicBool::new(false), Instant::now() + Duration::from_secs(20));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                while !shed.load(Ordering::Relaxed) && Instant::now() < over {
                    let mut client = Http1::connect(server.address);
                    for _ in 0..8 {
                        client.write_until_refused(&request);
                        if client.read("POST").status == 503 {
                            shed.store(true, Ordering::Relaxed);
                            break;
                        }
                    }
                }
            });
        }
    });
    assert!(shed.into_inner(), "nobody was turned away");
    server.wait_until("it serves again", |server| server.send(&ping()).status == 200);
}
