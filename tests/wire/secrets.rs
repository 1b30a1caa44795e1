//! Nothing that opens a door is ever written down: not by the access log, and not by the program's own log at its most talkative.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Client, Http1, Http2, Request, messages};

const TOKEN: &str = "t0ken-5ecret-one";
const WRONG: &str = "wr0ng-5ecret-two";
const KEY: &str = "5ec2e7005ec2e7005ec2e7005ec2e7005ec2e7005ec2e7005ec2e7005ec2e700";

fn requests(session: &str) -> Vec<Request> {
    let mut requests = Vec::new();
    for credentials in [
        format!("Bearer {TOKEN}"),
        format!("Bearer {WRONG}"),
        format!("bearer  {WRONG}=="),
        format!("Bearer {WRONG} {WRONG}"),
        format!("Basic {WRONG}"),
        format!("{WRONG}\u{e9}"),
        WRONG.to_owned(),
    ] {
        let state = json!({"name": "echo", "arguments": {"message": "x"}, "requestState": "st4te-5ecret"});
        for request in [
            messages::modern_call(1, "echo", json!({"message": "x"})),
            messages::modern(1, "tools/call", state),
            messages::legacy(session, &messages::request(1, "tools/list", Value::Null)),
            messages::legacy("gone-5ecret", &messages::request(1, "tools/list", Value::Null)),
            Request::get().session("gone-5ecret").header("Last-Event-ID", "ev3nt-5ecret"),
            Request::delete().session("gone-5ecret"),
            Request::post("nonsense"),
            Request::new("GET", &format!("/mcp?access_token={WRONG}")),
            Request::new("BREW", &format!("/elsewhere?{WRONG}")),
        ] {
            requests.push(request.header("Authorization", &credentials).header("Cookie", WRONG));
        }
    }
    requests
}

#[test]
fn nothing_that_opens_a_door_is_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let [tokens, keys] = ["tokens", "keys"].map(|name| folder.path().join(name));
    std::fs::write(&tokens, format!("ann {TOKEN}\n")).unwrap();
    std::fs::write(&keys, KEY).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_twolane"))
        .args(["--listen", "127.0.0.1:0", "--log", "trace", "--access-log"])
        .arg("--bearer-token-file")
        .arg(&tokens)
        .arg("--sealing-key-file")
        .arg(&keys)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut told = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        told.read_to_string(&mut text).map(|_| text)
    });
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("twolane listening on http://").unwrap().strip_suffix("/mcp\n").unwrap();
    let address = address.parse().unwrap();
    let opened = Http1::connect(address)
        .send(&messages::initialize(messages::LEGACY).header("Authorization", format!("Bearer {TOKEN}")));
    let session = opened.header("mcp-session-id").expect("a session").to_owned();
    for request in requests(&session) {
        for mut client in [Client::Http1(Http1::connect(address)), Client::Http2(Http2::connect(address))] {
            let response = client.send(&request);
            assert!(!response.text().contains("5ecret"), "{response}");
        }
    }
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    let told = reader.join().unwrap().unwrap();
    assert!(told.lines().count() > 200, "it does not say much: {told}");
    for secret in [TOKEN, WRONG, KEY, "5ecret", "5ec2e7", &session, "t0ken"] {
        let found = told.lines().find(|line| line.contains(secret));
        assert!(found.is_none(), "{secret} in {found:?}");
    }
}
