//! While floods run, honest clients on the same port are served: every one of their requests, over both protocols.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::json;

use crate::support::{Protocol, Server, messages};

use super::floods::{ATTACKS, strike};

const FLOODERS: usize = 3;
/// Requests that each honest client makes at least.
const REQUESTS: usize = 200;

#[test]
fn honest_clients_are_served_while_floods_run() {
    let server = Server::start();
    let over = AtomicBool::new(false);
    let waves = AtomicUsize::new(0);
    let rounds = AtomicUsize::new(0);
    let faults = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for flooder in 0..FLOODERS {
            let (server, over, waves, rounds, faults) = (&server, &over, &waves, &rounds, &faults);
            scope.spawn(move || {
                let mut attacks = ATTACKS.iter().cycle().skip(flooder * ATTACKS.len() / FLOODERS);
                for at in 1.. {
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    let attack = attacks.next().unwrap();
                    // A panic must not leave the others waiting.
                    match catch_unwind(AssertUnwindSafe(|| strike(server, attack))) {
                        Ok(outcome) if attack.meets(&outcome) => {}
                        outcome => faults.lock().unwrap().push(format!("{}: {outcome:?}", attack.name)),
                    }
                    waves.fetch_add(1, Ordering::Relaxed);
                    if at == ATTACKS.len() {
                        rounds.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        // Each flooder goes once through all of it at least.
        let honest = Protocol::BOTH.map(|protocol| {
            let (server, rounds) = (&server, &rounds);
            scope.spawn(move || {
                let mut client = server.client(protocol);
                let mut served = 0;
                while served < REQUESTS || rounds.load(Ordering::Relaxed) < FLOODERS {
                    let text = format!("honest {served}");
                    let call = messages::modern_call(1, "echo", json!({"message": text}));
                    assert_eq!(client.send(&call).tool_text(), text);
                    served += 1;
                }
                served
            })
        });
        let served = honest.map(|honest| honest.join());
        over.store(true, Ordering::Relaxed);
        for served in served {
            assert!(served.unwrap() >= REQUESTS);
        }
    });
    assert_eq!(*faults.lock().unwrap(), Vec::<String>::new());
    assert!(waves.load(Ordering::Relaxed) >= FLOODERS * ATTACKS.len());
    let fates = server.tools.gate.await_fates(|fates| fates.dropped == fates.begun);
    assert_eq!(fates.ended, 0, "what the floods have called has been given up");
}
