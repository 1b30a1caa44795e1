//! Faults that need a process of their own. Each ends with a server that serves, or with one that has ended as it should.
//!
//! Heavy, so ignored: `tests/faults/run` runs it. `TWOLANE_BINARY` names the server.

#![cfg(target_os = "linux")]
#![allow(unreachable_pub, reason = "nothing is exported from a test binary")]

mod client;
mod load;
mod process;
mod server;

use std::fs;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use client::{Client, Outcome, call, legacy};
use process::{Process, Stderr};
use serde_json::{Value, json};

/// What ends at once, and what a busy machine may make of that.
const SOON: Duration = Duration::from_secs(10);

#[track_caller]
fn assert_serves(process: &Process) {
    let outcome =
        Client::open(process.address).expect("a connection").ask(&call("echo", json!({"message": "here"})));
    assert!(
        matches!(&outcome, Outcome::Answered { status: 200, body, .. } if body.contains("here")),
        "{outcome:?}"
    );
}

/// Every request is answered, or its client can tell that it was not begun; and whatever was answered has arrived.
#[test]
#[ignore = "heavy: see tests/faults/run"]
fn told_to_end_under_load() {
    for arguments in [["--scheduler", "per-core"], ["--scheduler", "stealing"]] {
        for round in 0..4 {
            let folder = tempfile::tempdir().unwrap();
            let log = folder.path().join("access");
            let arguments =
                [&arguments[..], &["--workers", "2", "--access-log", log.to_str().unwrap()]].concat();
            let process = Process::start(&arguments, Stderr::Kept);
            let address = process.address;
            let clients = load::start(address);
            std::thread::sleep(Duration::from_millis(300 + 130 * round));
            process.signal("-TERM");
            let tally = clients.join();
            let (code, told) = process.ended(SOON);
            assert_eq!(code, Some(0), "{told}");
            let lines = fs::read_to_string(&log).unwrap();
            let count = |status: u16| {
                let is = |line: &&str| {
                    line.contains("\"verb\":\"POST\"") && line.contains(&format!("\"status\":{status},"))
                };
                lines.lines().filter(is).count() as u64
            };
            println!("{arguments:?}: {tally:?}");
            assert_eq!((tally.torn, tally.other), (0, 0), "{tally:?}");
            assert!(tally.served > 100, "there was no load: {tally:?}");
            assert_eq!((count(200), count(503)), (tally.served, tally.refused), "{tally:?}");
            assert_eq!(lines.lines().count() as u64, tally.served + tally.refused, "{tally:?}");
        }
    }
}

/// Sessions are gone with the process, and say so; what is sealed with a key from a file goes on; the port is free at once.
#[test]
#[ignore = "heavy: see tests/faults/run"]
fn killed_and_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    fs::write(&key, format!("{}\n", "5a".repeat(32))).unwrap();
    let mut process = Process::start_here("127.0.0.1:0".parse().unwrap(), &key);
    let address = process.address;
    let mut client = Client::open(address).unwrap();
    let session = client.open_session();
    let asked = client.ask(&call("ask", json!({}))).json();
    let state = asked["result"]["requestState"].clone();
    assert!(state.is_string(), "{asked}");
    for _ in 0..3 {
        let busy = Client::open(address).unwrap();
        busy.send(&call("hold", json!({})));
        process.kill();
        process = Process::start_here(address, &key);
        let mut client = Client::open(address).unwrap();
        let lost = client.ask(&legacy(Some(&session), "tools/list", json!({})));
        assert!(
            matches!(&lost, Outcome::Answered { status: 404, body, .. } if body.contains("-32001")),
            "{lost:?}"
        );
        let anew = client.open_session();
        assert_ne!(anew, session);
        let mut again = call("ask", json!({}));
        again.params["requestState"] = state.clone();
        again.params["inputResponses"] = json!({"name": {"action": "accept", "content": {"name": "Ada"}}});
        let answered = client.ask(&again).json();
        assert_eq!(answered["result"]["content"][0]["text"], "Hello, Ada!", "{answered}");
    }
    // Without the key the state is worth nothing.
    process.kill();
    fs::write(&key, format!("{}\n", "5b".repeat(32))).unwrap();
    process = Process::start_here(address, &key);
    let mut again = call("ask", json!({}));
    again.params["requestState"] = state;
    let refused = Client::open(process.address).unwrap().ask(&again).json();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

/// The server goes on, says so once, and ends as ever.
#[test]
#[ignore = "heavy: see tests/faults/run"]
fn no_room_for_the_log() {
    let process = Process::start(&["--access-log", "/dev/full", "--log", "info"], Stderr::Kept);
    let until = Instant::now() + Duration::from_millis(1500);
    while Instant::now() < until {
        assert_serves(&process);
    }
    process.signal("-TERM");
    let (code, told) = process.ended(SOON);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(told.matches("lines cannot be written").count(), 1, "{told}");
}

/// When there is room again the log goes on where it has stopped: no line is lost and none is torn.
#[test]
#[ignore = "heavy: see tests/faults/run"]
fn room_for_the_log_again() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access");
    let process = Process::start(&["--access-log", log.to_str().unwrap(), "--log", "info"], Stderr::Kept);
    process.limit("--fsize=5000");
    let asked = 200;
    for _ in 0..asked {
        assert_serves(&process);
    }
    let until = Instant::now() + SOON;
    while fs::metadata(&log).unwrap().len() < 5000 {
        assert!(Instant::now() < until, "the log is not full");
        std::thread::sleep(Duration::from_millis(10));
    }
    process.limit("--fsize=100000000");
    let lines = || fs::read_to_string(&log).unwrap().lines().count();
    while lines() < asked {
        assert!(Instant::now() < until, "{} lines", lines());
        std::thread::sleep(Duration::from_millis(10));
    }
    for line in fs::read_to_string(&log).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(line["status"], 200);
    }
    assert_serves(&process);
    process.signal("-TERM");
    let (code, told) = process.ended(SOON);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(told.matches("lines can be written again").count(), 1, "{told}");
}

/// Full, closed, or a pipe that nobody reads: nobody waits for it and nothing ends.
#[test]
#[ignore = "heavy: see tests/faults/run"]
fn standard_error_takes_nothing() {
    for stderr in [Stderr::Full, Stderr::Closed, Stderr::Unread] {
        let process = Process::start(&["--log", "trace", "--access-log"], stderr);
        let mut client = Client::open(process.address).unwrap();
        for _ in 0..3000 {
            let refused = client.ask(&call("nosuch", json!({})));
            assert!(matches!(refused, Outcome::Answered { status: 200, .. }), "{stderr:?}: {refused:?}");
        }
        process.signal("-USR1");
        assert_serves(&process);
        process.signal("-TERM");
        assert_eq!(process.ended(SOON).0, Some(0), "{stderr:?}");
    }
}

/// Who is connected is served while there is no descriptor for anybody else, and newcomers are as soon as there is.
#[test]
#[ignore = "heavy: see tests/faults/run"]
fn no_descriptors() {
    let process = Process::start(&["--workers", "2", "--log", "warn"], Stderr::Kept);
    let mut open: Vec<Client> = (0..8).map(|_| Client::open(process.address).unwrap()).collect();
    let served = |client: &mut Client| {
        let outcome = client.ask(&call("echo", json!({"message": "x"})));
        assert!(matches!(outcome, Outcome::Answered { status: 200, .. }), "{outcome:?}");
    };
    open.iter_mut().for_each(served);
    process.limit(&format!("--nofile={}", process.descriptors() + 4));
    // To the system they are connected; the server has no descriptors for most of them.
    let crowd: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(process.address).unwrap()).collect();
    for _ in 0..20 {
        open.iter_mut().for_each(served);
        std::thread::sleep(Duration::from_millis(10));
    }
    let waiting = Client::open(process.address).unwrap();
    waiting.send(&call("echo", json!({"message": "x"})));
    drop(crowd);
    let begun = Instant::now();
    let mut waiting = waiting;
    assert!(matches!(waiting.read(), Outcome::Answered { status: 200, .. }));
    let recovered = begun.elapsed();
    println!("served {} ms after descriptors were free", recovered.as_millis());
    assert!(recovered < Duration::from_secs(2), "{recovered:?}");
    process.signal("-TERM");
    let (code, told) = process.ended(SOON);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("cannot accept connections") && told.lines().count() < 60, "{told}");
}

/// Handlers that never end, look at nothing and block what they run on: the server serves beside them and ends at its grace.
#[test]
#[ignore = "heavy: see tests/faults/run"]
fn handlers_that_never_end() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    fs::write(&key, "5a".repeat(32)).unwrap();
    for tool in ["hold", "spin_blocking", "spin"] {
        let process = Process::start_here("127.0.0.1:0".parse().unwrap(), &key);
        let busy: Vec<Client> = (0..if tool == "spin" { 1 } else { 4 })
            .map(|_| {
                let client = Client::open(process.address).unwrap();
                client.send(&call(tool, json!({})));
                client
            })
            .collect();
        std::thread::sleep(Duration::from_millis(100));
        let served = (0..16).filter(|_| {
            let mut client = Client::open(process.address).unwrap();
            client.patience(Duration::from_secs(2));
            matches!(client.ask(&call("echo", json!({}))), Outcome::Answered { status: 200, .. })
        });
        let served = served.count();
        // One of two workers is blocked by `spin`: what the system hands to it waits. The others block none.
        assert!(if tool == "spin" { served > 0 } else { served == 16 }, "{tool}: {served} of 16");
        let begun = Instant::now();
        process.signal("-TERM");
        let (code, told) = process.ended(SOON);
        assert_eq!(code, Some(0), "{tool}: {told}");
        println!(
            "{tool}: {served} of 16 served beside it; ended {} ms after it was told to",
            begun.elapsed().as_millis()
        );
        assert!(
            begun.elapsed() < Duration::from_millis(server::GRACE_MS + 3000),
            "{tool}: {:?}",
            begun.elapsed()
        );
        drop(busy);
    }
}
