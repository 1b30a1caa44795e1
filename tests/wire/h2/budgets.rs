//! The settings that bound what a connection may do in a second: below them, at them, above them.

use serde_json::json;

use crate::frames::{Frames, Outcome};
use crate::limits::server;

use super::*;

const ANOTHER: u32 = 2_001;

/// What has been sent is within the bounds, or ends the connection.
#[track_caller]
fn assert_passes(client: &mut Frames, passes: bool, context: &str) {
    client.headers(ANOTHER, &get(), true);
    // What was read in one go with the flood may still be answered.
    let came = client.outcome(if passes { ANOTHER } else { u32::MAX >> 1 });
    match came {
        Outcome::Answered(_) if passes => {}
        Outcome::Gone(Some(ENHANCE_YOUR_CALM)) if !passes => {}
        other => panic!("{context}: {other:?}"),
    }
}

#[test]
fn idle_frames() {
    let server = server(&[("h2_idle_frames", 20)]);
    for (frames, passes) in [(19, true), (20, true), (21, false)] {
        let mut client = Frames::connect(server.address);
        // The first are the client's settings.
        for _ in 1..frames {
            client.frame(PINGS, 0, 0, &[0; 8]);
        }
        assert_passes(&mut client, passes, &format!("{frames} frames"));
    }
}

#[test]
fn resets() {
    let server = server(&[("h2_resets", 6)]);
    for (resets, passes) in [(5, true), (6, true), (7, false)] {
        let context = format!("{resets} resets");
        let mut client = Frames::connect(server.address);
        client.headers(1, &get(), true);
        client.outcome(1);
        for _ in 0..resets {
            client.frame(RST_STREAM, 0, 1, &CANCEL.to_be_bytes());
        }
        assert_passes(&mut client, passes, &context);

        // Those that the server is made to send count as well, and with the others.
        for theirs in [0, 3] {
            let mut client = Frames::connect(server.address);
            client.headers(1, &get(), true);
            client.outcome(1);
            for _ in 0..theirs {
                client.frame(RST_STREAM, 0, 1, &CANCEL.to_be_bytes());
            }
            for at in theirs..resets {
                client.headers(2 * at + 3, &get()[1..], true);
            }
            assert_passes(&mut client, passes, &context);
        }
    }
}

/// Waits until the server has dealt with what has been sent.
fn settle(client: &mut Frames) {
    client.frame(PINGS, 0, 0, b"settled?");
    assert_eq!(client.first(|frame| frame.kind == PINGS).map(|pong| pong.flags), Ok(1));
}

/// A client that makes faults for a long time, but few in each second, is told to go, and loses nothing.
#[test]
fn a_connection_that_is_worn_out() {
    let server = server(&[("h2_resets", 1_000_000)]);
    for (faults, worn) in [(511, false), (512, true)] {
        let mut client = Frames::connect(server.address);
        client.headers(1, &call("gate"), false);
        client.data(1, &arguments("gate", json!({})), true);
        for at in 0..faults {
            client.headers(2 * at + 3, &get()[1..], true);
            // Streams count until their resets are sent, and more than allowed are refused.
            if at % 100 == 99 {
                settle(&mut client);
            }
        }
        if worn {
            let goaway = client.first(|frame| frame.kind == GOAWAY).unwrap();
            assert_eq!(goaway.payload, [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0], "no stream is turned away yet");
            let ping = client.first(|frame| frame.kind == PINGS).unwrap();
            assert_eq!(ping.flags, 0);
            client.frame(PINGS, 1, 0, &ping.payload);
        } else {
            settle(&mut client);
        }
        server.tools.gate.open(1);
        assert!(matches!(client.outcome(1), Outcome::Answered(_)));
        client.headers(ANOTHER, &get(), true);
        match client.outcome(ANOTHER) {
            Outcome::Answered(_) if !worn => {}
            // The reason may have come before the last answer.
            Outcome::Gone(None | Some(NO_ERROR)) if worn => {}
            other => panic!("after {faults} faults: {other:?}"),
        }
    }
}

/// Faults that nobody reads of are not kept without end.
#[test]
fn faults_that_are_not_read_about() {
    let server = server(&[("h2_resets", 1_000_000)]);
    let mut client = Frames::connect(server.address);
    for at in 0..1_025 {
        client.headers(2 * at + 1, &get()[1..], true);
    }
    assert_eq!(client.outcome(u32::MAX >> 1), Outcome::Gone(Some(ENHANCE_YOUR_CALM)));
}
