//! Clients that take no answers, or a byte now and then: their streams end in time, and what waits for them is bounded.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::frames::{Frames, Outcome};
use crate::limits::server;
use crate::support::Server;

use super::*;

const BIG: usize = 600_000;

/// A client whose streams begin without a window.
fn closed(server: &Server) -> Frames {
    let mut client = Frames::connect(server.address);
    client.frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]);
    client
}

fn update(client: &mut Frames, stream: u32, by: u32) {
    client.frame(WINDOW_UPDATE, 0, stream, &by.to_be_bytes());
}

/// Asks for a long answer.
fn ask(client: &mut Frames, stream: u32) {
    client.headers(stream, &call("big"), false);
    client.data(stream, &arguments("big", json!({"bytes": BIG})), true);
}

/// Asks, and waits for the head of the answer.
fn ask_and_see(client: &mut Frames, stream: u32) {
    ask(client, stream);
    let head = client.first(|frame| frame.stream == stream).unwrap();
    assert_eq!(head.kind, HEADERS);
}

/// How long that answer is.
fn length(server: &Server) -> u64 {
    let mut client = server.http2();
    let body = client.send(&crate::support::messages::modern_call(1, "big", json!({"bytes": BIG}))).body;
    u64::try_from(body.len()).unwrap()
}

#[test]
fn windows_that_never_open() {
    let server = server(&[("write_timeout", 250)]);
    let mut client = closed(&server);
    let streams: Vec<u32> = (0..8).map(|at| 2 * at + 1).collect();
    for stream in &streams {
        ask(&mut client, *stream);
    }
    let mut reset = Vec::new();
    while reset.len() < streams.len() {
        let frame = client.first(|frame| frame.kind == RST_STREAM || frame.kind == DATA).unwrap();
        assert_eq!((frame.kind, &frame.payload[..]), (RST_STREAM, &CANCEL.to_be_bytes()[..]));
        reset.push(frame.stream);
    }
    reset.sort_unstable();
    assert_eq!(reset, streams);
    client.headers(101, &get(), true);
    update(&mut client, 101, 65_535);
    assert!(matches!(client.outcome(101), Outcome::Answered(_)), "the connection is no worse for it");
}

/// An event stream holds no less.
#[test]
fn streams_that_nobody_reads() {
    let server = server(&[("write_timeout", 250)]);
    let mut client = closed(&server);
    let steps = crate::support::messages::modern_call_with_progress(1, "steps", json!({"steps": 2_000}));
    client.headers(1, &call("steps"), false);
    client.data(1, &steps.body, true);
    assert_eq!(client.outcome(1), Outcome::Reset(CANCEL));
}

#[test]
fn a_byte_now_and_then_is_no_progress() {
    let server = server(&[("write_timeout", 300)]);
    let mut client = closed(&server);
    ask_and_see(&mut client, 1);
    for taken in 0.. {
        assert!(taken < 1_000, "it goes on for ever");
        update(&mut client, 1, 1);
        let frame = client.next().unwrap();
        assert_eq!(frame.stream, 1);
        if frame.kind == RST_STREAM {
            assert_eq!(frame.payload, CANCEL.to_be_bytes());
            break;
        }
        assert_eq!(frame.payload.len(), 1);
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_slow_reader_is_served() {
    let server = server(&[("write_timeout", 300)]);
    let mut client = closed(&server);
    ask_and_see(&mut client, 1);
    let mut taken = 0;
    loop {
        update(&mut client, 1, 16_384);
        update(&mut client, 0, 16_384);
        // Five times as long as the timeout, in all.
        sleep(Duration::from_millis(40));
        let mut left = 16_384;
        while left > 0 {
            let frame = client.next().unwrap();
            assert_eq!((frame.kind, frame.stream), (DATA, 1), "after {taken} bytes: {:?}", frame.payload);
            taken += frame.payload.len();
            left -= frame.payload.len();
            if frame.flags & END_STREAM != 0 {
                assert!(taken > BIG);
                return;
            }
        }
    }
}

/// What waits on one connection is bounded, and given back.
#[test]
fn unsent_answers() {
    let held = length(&Server::start()) - 65_536;
    for (limit, wait) in [(2 * held - 1, 1), (2 * held, 2), (2 * held + 1, 2)] {
        let server = server(&[("h2_unsent", limit)]);
        let mut client = closed(&server);
        for at in 0..wait {
            ask_and_see(&mut client, 2 * at + 1);
        }
        let refused = 2 * wait + 1;
        ask(&mut client, refused);
        assert_eq!(client.outcome(refused), Outcome::Reset(ENHANCE_YOUR_CALM), "{limit}");
        // Another connection has its own.
        let mut other = closed(&server);
        ask_and_see(&mut other, 1);
        // One that is taken makes room for another.
        update(&mut client, 0, 100_000_000);
        update(&mut client, 1, 100_000_000);
        assert!(matches!(client.outcome(1), Outcome::Answered(body) if body.len() > BIG));
        ask_and_see(&mut client, refused + 2);
        update(&mut client, refused + 2, 100_000_000);
        assert!(matches!(client.outcome(refused + 2), Outcome::Answered(body) if body.len() > BIG));
    }
}
