//! The binary, as a process: what it prints, what it refuses, and how it ends.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};
use twolane::base::limits::Limits;
use twolane::tables::rejection::Rejection;

use crate::support::{Http1, Request, messages};

/// A request to be told when the list of tools changes.
fn listen() -> Request {
    messages::modern(1, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
}

/// The binary with these arguments, and nothing from outside that it would listen to.
fn twolane(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twolane"));
    command.args(arguments).env_remove("TWOLANE_LOG").stdin(Stdio::null());
    command
}

/// Runs it to its end.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = twolane(arguments).output().expect("the binary runs");
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A process that serves; it does not outlive its test.
struct Process {
    child: Child,
    out: BufReader<ChildStdout>,
    addresses: Vec<SocketAddr>,
}

impl Process {
    /// Starts it with `arguments` and as many listeners.
    fn start(arguments: &[&str], listeners: usize, path: &str) -> Self {
        let listen = ["--listen", "127.0.0.1:0"].repeat(listeners);
        let mut child = twolane(&[arguments, &listen].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut addresses = Vec::new();
        for _ in 0..listeners {
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            let address = line
                .strip_prefix("twolane listening on http://")
                .and_then(|rest| rest.strip_suffix(&format!("{path}\n")))
                .unwrap_or_else(|| panic!("not where it listens: {line:?}"));
            addresses.push(address.parse().expect("an address"));
        }
        Self { child, out, addresses }
    }

    fn http1(&self) -> Http1 {
        Http1::connect(self.addresses[0])
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// How it ended.
    #[track_caller]
    fn ended(mut self) -> Option<i32> {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "nothing else is printed");
        self.child.wait().unwrap().code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ping() -> Request {
    Request::post(messages::request(1, "ping", Value::Null).to_string())
}

#[test]
fn it_says_where_it_listens() {
    for arguments in
        [&["serve"][..], &[], &["--scheduler", "stealing", "--workers", "2"], &["--workers", "2"]]
    {
        let process = Process::start(arguments, 2, "/mcp");
        assert_ne!(process.addresses[0], process.addresses[1]);
        for &address in &process.addresses {
            assert_ne!(address.port(), 0);
            let mut client = Http1::connect(address);
            assert_eq!(client.send(&ping()).status, 200);
            assert_eq!(
                client.send(&messages::modern_call(1, "add", json!({"a": 0.5, "b": 1}))).tool_text(),
                "1.5"
            );
        }
        process.signal("-TERM");
        assert_eq!(process.ended(), Some(0), "{arguments:?}");
    }
}

#[test]
fn a_call_in_flight_finishes() {
    for (scheduler, signal) in [("per-core", "-TERM"), ("stealing", "-INT")] {
        let process = Process::start(&["--workers", "2", "--scheduler", scheduler], 1, "/mcp");
        let mut idle = process.http1();
        assert_eq!(idle.send(&ping()).status, 200);
        let mut busy = process.http1();
        busy.write(&messages::modern_call_with_progress(1, "sleep", json!({"ms": 400, "steps": 2})).bytes());
        assert_eq!(busy.read_head().status, 200);
        assert_eq!(busy.next_event().unwrap().json()["params"]["progress"], 1);
        process.signal(signal);
        idle.assert_closed();
        assert_eq!(busy.next_event().unwrap().json()["params"]["progress"], 2);
        assert!(busy.next_event().unwrap().json()["result"]["content"][0]["text"].is_string());
        assert_eq!(busy.next_event(), None);
        busy.assert_closed();
        assert_eq!(process.ended(), Some(0));
    }
}

/// One who waits no longer asks twice.
/// Asked what is open, it says so; and listeners get their result when it ends, whichever worker they are on.
#[test]
fn it_says_what_is_open() {
    let mut child = twolane(&["--workers", "2", "--listen", "127.0.0.1:0", "--log", "off"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let (out, mut told) =
        (BufReader::new(child.stdout.take().unwrap()), BufReader::new(child.stderr.take().unwrap()));
    let mut process = Process { child, out, addresses: Vec::new() };
    let mut line = String::new();
    process.out.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("twolane listening on http://").unwrap();
    process.addresses.push(address.strip_suffix("/mcp").unwrap().parse().unwrap());
    let mut open = |process: &Process| {
        process.signal("-USR1");
        let mut line = String::new();
        told.read_line(&mut line).unwrap();
        line
    };
    assert_eq!(
        open(&process),
        "twolane: open are 0 sessions, 0 streams, 0 detached calls, 0 listeners, 0 tasks\n"
    );
    assert_eq!(process.http1().send(&messages::initialize("2025-11-25")).status, 200);
    let mut ears: Vec<Http1> = (0..8)
        .map(|_| {
            let mut ear = process.http1();
            ear.write(&listen().bytes());
            assert_eq!(ear.read_head().status, 200);
            ear.next_event().expect("the acknowledgement");
            ear
        })
        .collect();
    assert_eq!(
        open(&process),
        "twolane: open are 1 sessions, 0 streams, 0 detached calls, 8 listeners, 0 tasks\n"
    );
    process.signal("-TERM");
    for ear in &mut ears {
        assert_eq!(ear.next_event().unwrap().json()["result"]["resultType"], "complete");
        assert_eq!(ear.next_event(), None);
        ear.assert_closed();
    }
    assert_eq!(process.ended(), Some(0));
}

#[test]
fn a_second_signal_ends_it() {
    let process = Process::start(&[], 1, "/mcp");
    let mut idle = process.http1();
    let mut busy = process.http1();
    assert_eq!(idle.send(&ping()).status, 200);
    busy.write(
        &messages::modern_call_with_progress(1, "sleep", json!({"ms": 60_000, "steps": 1000})).bytes(),
    );
    assert_eq!(busy.read_head().status, 200);
    process.signal("-TERM");
    idle.assert_closed();
    process.signal("-TERM");
    assert_eq!(process.ended(), Some(1));
}

#[test]
fn settings_reach_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let (tokens, log) = (folder.path().join("tokens"), folder.path().join("access.log"));
    std::fs::write(&tokens, "alice s3cret\n").unwrap();
    let arguments = [
        "serve",
        "--path",
        "/deep/er/",
        "--legacy",
        "off",
        "--bearer-token-file",
        tokens.to_str().unwrap(),
        "--access-log",
        log.to_str().unwrap(),
        "--allow-origin",
        "https://app.example",
        "--allow-host",
        "mcp.example",
        "--instructions",
        "Be kind.",
        "--cache-ttl",
        "77",
        "--body",
        "1000",
        "--page-size",
        "1",
    ];
    let process = Process::start(&arguments, 1, "/deep/er");
    let mut client = process.http1();
    let discover = messages::modern(1, "server/discover", Value::Null);
    let there = |request: Request| Request { target: "/deep/er".to_owned(), ..request };
    assert_eq!(client.send(&discover).status, 404);
    assert_eq!(client.send(&there(discover.clone())).status, 401);
    let known = there(discover).header("Authorization", "Bearer s3cret");
    let page = known.clone().header("Origin", "https://app.example").set("Host", "mcp.example");
    let discovered = client.send(&page).result();
    assert_eq!(discovered["supportedVersions"], json!([messages::MODERN]));
    assert_eq!((&discovered["instructions"], &discovered["ttlMs"]), (&json!("Be kind."), &json!(77)));
    let list = there(messages::modern(1, "tools/list", Value::Null)).header("Authorization", "Bearer s3cret");
    assert_eq!(client.send(&list).result()["tools"].as_array().unwrap().len(), 1);
    assert_eq!(client.send(&known.clone().set("Host", "other.example")).status, 403);
    let legacy = there(messages::initialize(messages::LEGACY)).header("Authorization", "Bearer s3cret");
    assert_eq!(client.send(&legacy).code(), -32022);
    assert_eq!(client.send(&known.body("x".repeat(1_001))).status, 413);
    process.signal("-TERM");
    assert_eq!(process.ended(), Some(0));
    let lines = std::fs::read_to_string(log).unwrap();
    assert_eq!(lines.lines().count(), 7, "{lines}");
    assert!(
        lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()) && !lines.contains("s3cret")
    );
}

#[test]
fn limits_for_each_peer_reach_the_server() {
    let limits = ["--limit-loopback", "--peer-connections", "1", "--peer-rate", "1", "--peer-burst", "2"];
    let process = Process::start(&limits, 1, "/mcp");
    let mut only = process.http1();
    assert_eq!(only.send(&ping()).status, 200);
    let mut second = process.http1();
    second.write_until_refused(&ping().bytes());
    assert!(second.socket().read(&mut [0]).map_or(true, |read| read == 0), "it has one connection already");
    // A slow machine may take long for some of them.
    let limited = (0..100).find(|_| only.send(&ping()).status == 429);
    assert!(limited.is_some(), "no rate is kept");
    process.signal("-TERM");
    assert_eq!(process.ended(), Some(0));
}

#[test]
fn check_reports_every_fault_at_once() {
    let (code, out, err) = run(&[
        "check",
        "--listen",
        "nowhere",
        "--listen",
        "127.0.0.1:1",
        "--listen",
        "127.0.0.1:1",
        "--path",
        "mcp",
        "--allow-origin",
        "app.example",
        "--allow-origin",
        "https://fine.example",
        "--allow-host",
        "http://x",
        "--bearer-token-file",
        "/nowhere/tokens",
        "--body",
        "63",
        "--json-depth",
        "513",
        "--sessions",
        "1",
    ]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    let faults: Vec<&str> = err.lines().collect();
    assert_eq!(faults.len(), 8, "{err}");
    assert!(faults.iter().all(|fault| fault.starts_with("twolane: ")), "{err}");
    for words in
        ["--listen nowhere", "given twice", "\"mcp\"", "app.example", "--allow-host", "/nowhere/tokens"]
    {
        assert!(err.contains(words), "{words} is not in {err}");
    }
    // The server itself starts no better.
    assert_eq!(run(&["--path", "mcp", "--allow-host", "http://x"]).0, Some(1));
    let (code, out, err) =
        run(&["check", "--listen", "127.0.0.1:0", "--listen", "[::1]:0", "--workers", "3"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("2 listener(s), 3 worker(s)"), "{out}");
}

#[test]
fn token_files_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    for (text, words) in
        [("", "no token"), ("# nobody\n", "no token"), ("a b c\n", "line 1"), ("x\nx\n", "line 2")]
    {
        std::fs::write(&file, text).unwrap();
        let (code, _, err) = run(&["check", "--bearer-token-file", file.to_str().unwrap()]);
        assert_eq!(code, Some(1), "{text:?}");
        assert!(err.contains(words) && err.contains("--bearer-token-file"), "{err}");
    }
}

#[test]
fn key_files_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    let key = "5ec2e7".repeat(11);
    for (text, words) in [
        (String::new(), "no key"),
        (format!("{key}\n"), "line 1"),
        (format!("# a\n{0}\n{0}", &key[..64]), "line 3"),
    ] {
        std::fs::write(&file, text).unwrap();
        let (code, out, err) = run(&["check", "--sealing-key-file", file.to_str().unwrap()]);
        assert_eq!((code, out.as_str()), (Some(1), ""));
        assert!(err.contains(words) && err.contains("--sealing-key-file"), "{err}");
        assert!(!err.contains("5ec2e7"), "{err}");
    }
    std::fs::write(&file, b"\xff\xfe").unwrap();
    let (code, _, err) = run(&["check", "--sealing-key-file", file.to_str().unwrap()]);
    assert!(code == Some(1) && err.contains("--sealing-key-file"), "{err}");
    let (code, _, err) = run(&["check", "--sealing-key-file", "/no/such/file"]);
    assert!(code == Some(1) && err.contains("/no/such/file"), "{err}");
    std::fs::write(&file, &key[..64]).unwrap();
    assert_eq!(run(&["check", "--sealing-key-file", file.to_str().unwrap()]).0, Some(0));
}

#[test]
fn tables() {
    let (code, out, err) = run(&["rejections"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(out.lines().count(), Rejection::ALL.len());
    for (line, rejection) in out.lines().zip(Rejection::ALL) {
        let row = rejection.row();
        assert!(line.starts_with(&format!("{}.{}", row.rejecter.name(), row.reason)), "{line}");
        assert!(line.contains(&row.status.to_string()), "{line}");
    }
    assert_eq!(run(&["rejections", "--format", "text"]).1, out);
    assert_eq!(run(&["rejections", "--format", "markdown"]).1, twolane::rejection_table());
    assert_eq!(run(&["limits"]), (Some(0), Limits::markdown(), String::new()));
    for shell in ["bash", "zsh", "fish"] {
        let (code, out, err) = run(&["completions", shell]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{shell}");
        assert!(out.contains("twolane") && out.contains("allow-origin"), "{shell}");
    }
}

#[test]
fn flags_that_are_none() {
    for arguments in [
        &["--nope"][..],
        &["nope"],
        &["serve", "extra"],
        &["--workers", "0"],
        &["--workers", "many"],
        &["--legacy", "maybe"],
        &["--scheduler", "none"],
        &["--head-timeout", "-1"],
        &["--listen"],
        &["completions"],
        &["completions", "nosh"],
        &["rejections", "--format", "xml"],
        &["limits", "--body", "100"],
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}: {err}");
        assert!(err.starts_with("error: "), "{arguments:?}: {err}");
    }
    let (code, _, err) = run(&["--listen", "127.0.0.1:0", "--log", "!!=!!"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("--log"), "{err}");
}

/// Every limit is a flag, with its default and range.
#[test]
fn help() {
    let (code, out, _) = run(&["--help"]);
    assert_eq!(code, Some(0));
    for info in Limits::ALL {
        let flag = format!("--{}", info.name.replace('_', "-"));
        assert!(out.contains(&flag) && out.contains(&format!("[default: {}]", info.default)), "{flag}");
    }
    assert_eq!(
        run(&["--version"]),
        (Some(0), format!("twolane {}\n", env!("CARGO_PKG_VERSION")), String::new())
    );
}

#[test]
fn an_address_that_is_taken() {
    let process = Process::start(&[], 1, "/mcp");
    let taken = process.addresses[0].to_string();
    for more in [&[][..], &["--workers", "2"], &["--scheduler", "stealing"]] {
        let (code, out, err) = run(&[&["--listen", &taken], more].concat());
        assert_eq!((code, out.as_str()), (Some(1), ""), "{more:?}: {err}");
        assert!(err.contains(&format!("cannot listen on {taken}")), "{err}");
    }
    let (code, _, err) = run(&["--listen", "127.0.0.1:0", "--access-log", "/nowhere/log"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("--access-log /nowhere/log"), "{err}");
    assert_eq!(process.http1().send(&ping()).status, 200);
}
