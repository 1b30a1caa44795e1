//! One worker's load, with time moved by hand.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;

/// Whether a pulse was asked for.
fn is_wanted(load: &Load) -> bool {
    pin!(load.wanted()).poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
}

fn load(overload_delay: u64, blocked_worker: u64) -> (Load, Clock, crate::base::clock::ManualClock) {
    let limits = Limits { overload_delay, blocked_worker, ..Limits::default() };
    let (clock, hand) = Clock::manual();
    let load = Load::new(&limits);
    load.pulse(&clock);
    (load, clock, hand)
}

/// One in a few is looked at, and a few that block are one piece then: only at first.
#[test]
fn a_few_that_block_are_seen_in_spite_of_the_sample() {
    let (load, clock, hand) = load(100, 0);
    let peer = Peer::default();
    let mut refused = 0;
    for _ in 0..10 {
        for _ in 0..SAMPLE {
            if load.admits(&peer, &clock) {
                hand.advance_ms(400);
            } else {
                refused += 1;
            }
        }
        load.pulse(&clock);
    }
    assert!(refused > 40, "{refused}");
}

/// Who turns nobody away has no use for the pulse, unless the watchdog hears it.
#[test]
fn without_a_delay_the_pulse_is_the_watchdogs() {
    let peer = Peer::default();
    for (delay, blocked, beats) in [(0, 0, false), (0, 1_000, true), (1, 0, true), (100, 1_000, true)] {
        let (load, clock, hand) = load(delay, blocked);
        for _ in 0..3 {
            assert!(load.admits(&peer, &clock));
            assert_eq!(is_wanted(&load), beats, "{delay} {blocked}");
            hand.advance_ms(5);
            load.pulse(&clock);
        }
        if delay == 0 {
            assert!((0..1_000).all(|_| load.admits(&peer, &clock)));
            hand.advance_ms(3_600_000);
            assert!((0..1_000).all(|_| load.admits(&peer, &clock)));
        }
    }
}
