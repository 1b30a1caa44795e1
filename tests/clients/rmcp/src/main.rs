//! rmcp as a client of a running server: without a handshake, and on each revision that has one.
//!
//! usage: twolane-rmcp-client http://HOST:PORT/mcp [demo]

// Sampling, roots and logging are on their way out of the protocol, and served all the same.
#![allow(deprecated)]

mod asking;
mod calls;
mod changes;
mod peer;
mod primitives;
mod steps;
mod tasks;
mod wire;

use std::time::Duration;

use rmcp::ClientLifecycleMode;
use rmcp::model::{ClientCapabilities, ProtocolVersion, ServerCapabilities};
use serde_json::json;

use peer::{Peer, connect};
use steps::step;

const DEADLINE: Duration = Duration::from_secs(120);

fn everything() -> ClientCapabilities {
    let capabilities = json!({"sampling": {}, "elicitation": {}, "roots": {"listChanged": true}});
    serde_json::from_value(capabilities).expect("capabilities")
}

async fn modern(url: &str, capabilities: ClientCapabilities) -> Peer {
    let version = ProtocolVersion::V_2026_07_28;
    let mode = ClientLifecycleMode::Discover { preferred_versions: vec![version.clone()] };
    connect(url, mode, version, capabilities).await
}

async fn session(url: &str, version: ProtocolVersion, capabilities: ClientCapabilities) -> Peer {
    connect(url, ClientLifecycleMode::Initialize, version, capabilities).await
}

fn assert_offers_everything(offered: &ServerCapabilities) {
    let offered = serde_json::to_value(offered).expect("capabilities as JSON");
    for pointer in ["/tools/listChanged", "/prompts/listChanged", "/resources/subscribe"] {
        assert_eq!(steps::at(&offered, pointer), &json!(true), "{offered}");
    }
    assert!(offered["completions"].is_object() && offered["logging"].is_object(), "{offered}");
}

/// What every client must get, whatever its era.
async fn usual(peer: &Peer) {
    primitives::tools(peer).await;
    primitives::resources(peer).await;
    primitives::prompts(peer).await;
    calls::progress(peer).await;
    calls::logging(peer).await;
    calls::cancellation(peer).await;
    if peer.version >= ProtocolVersion::V_2025_06_18 {
        asking::elicitation(peer).await;
    } else {
        asking::no_elicitation(peer).await;
    }
    asking::sampling(peer).await;
    asking::roots(peer).await;
}

/// Closes the client and asserts what went over the wire.
async fn closed(peer: Peer, verbs: &[&str]) {
    let Peer { label, modern, client, wire, .. } = peer;
    step(format!("{label}: was refused only what it provoked, and closed cleanly"), async {
        client.cancel().await.expect("an orderly end");
        let exchanges = wire.exchanges();
        for verb in verbs {
            assert!(exchanges.iter().any(|exchange| exchange.verb == *verb), "no {verb}");
        }
        assert!(exchanges.iter().all(|exchange| verbs.contains(&exchange.verb)), "{exchanges:?}");
        assert!(
            !modern || exchanges.iter().all(|exchange| !exchange.session),
            "the modern lane has no sessions"
        );
        // A client comes back to the stream of a call that it has cancelled, and is told that there is nothing more.
        let faults: Vec<_> =
            exchanges.iter().filter(|exchange| exchange.fault.is_some() && !exchange.resumes).collect();
        assert!(faults.is_empty(), "{faults:?}");
    })
    .await;
}

async fn without_a_handshake(url: &str) {
    let peer = step("2026-07-28: discovers versions and capabilities".to_owned(), async {
        let peer = modern(url, everything()).await;
        assert_eq!(peer.negotiated(), ProtocolVersion::V_2026_07_28);
        assert_offers_everything(&peer.client.peer().peer_info().expect("what the server said").capabilities);
        peer
    })
    .await;
    usual(&peer).await;
    asking::rounds(&peer).await;
    changes::listeners(&peer).await;
    closed(peer, &["POST"]).await;

    let tasks = json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
    let patient = modern(url, serde_json::from_value(tasks).expect("capabilities")).await;
    tasks::tasks(&patient).await;
    closed(patient, &["POST"]).await;

    let silent = modern(url, ClientCapabilities::default()).await;
    asking::nothing_declared(&silent).await;
    silent.client.cancel().await.expect("an orderly end");
}

async fn with_a_session(url: &str, version: ProtocolVersion) {
    let peer = step(format!("{version}: connects, and is offered everything"), async {
        let peer = session(url, version.clone(), everything()).await;
        assert_eq!(peer.negotiated(), version);
        assert_offers_everything(&peer.client.peer().peer_info().expect("what the server said").capabilities);
        peer
    })
    .await;
    usual(&peer).await;
    changes::sessions(&peer).await;
    resumption(&peer).await;
    closed(peer, &["POST", "GET", "DELETE"]).await;

    let silent = session(url, version, ClientCapabilities::default()).await;
    asking::nothing_declared(&silent).await;
    silent.client.cancel().await.expect("an orderly end");
}

/// A tool that lets go of its own stream before it is done: the client comes back for the result by `Last-Event-ID`.
async fn resumption(peer: &Peer) {
    step(peer.step_name("comes back for the result of a stream that was let go of"), async {
        let from = peer.wire.exchanges().len();
        assert!(!peer.call("test_reconnection", json!({})).await.is_empty());
        let exchanges = peer.wire.exchanges();
        let resumed = exchanges[from..].iter().any(|exchange| exchange.resumes && exchange.fault.is_none());
        assert!(
            resumed || peer.version < ProtocolVersion::V_2025_11_25,
            "never came back: {:?}",
            &exchanges[from..]
        );
    })
    .await;
}

async fn all(url: &str) {
    without_a_handshake(url).await;
    step("negotiating by itself: chooses the modern era without a handshake".to_owned(), async {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        let mode = ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let peer = connect(url, mode, ProtocolVersion::V_2026_07_28, everything()).await;
        assert_eq!(peer.negotiated(), ProtocolVersion::V_2026_07_28);
        assert_eq!(peer.call("greet", json!({"name": "auto"})).await, "Hello, auto!");
        peer.client.cancel().await.expect("an orderly end");
    })
    .await;
    for version in
        [ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_03_26]
    {
        with_a_session(url, version).await;
    }
    step("2024-11-05: is offered the newest revision that has a handshake".to_owned(), async {
        let peer = session(url, ProtocolVersion::V_2024_11_05, everything()).await;
        assert_eq!(peer.negotiated(), ProtocolVersion::V_2025_11_25);
        assert_eq!(peer.call("greet", json!({"name": "old"})).await, "Hello, old!");
        peer.client.cancel().await.expect("an orderly end");
    })
    .await;
}

/// The binary with its demo tools: that what is shipped serves what the library serves.
async fn demo(url: &str) {
    let older = ProtocolVersion::V_2025_11_25;
    for peer in [modern(url, everything()).await, session(url, older, everything()).await] {
        step(peer.step_name("demo: lists the tools and calls them"), async {
            let tools = peer.client.list_all_tools().await.expect("tools");
            for name in ["echo", "add", "sleep", "fail"] {
                assert_eq!(tools.iter().filter(|tool| tool.name == name).count(), 1, "{name}");
            }
            assert_eq!(peer.call("echo", json!({"message": "hällo"})).await, "hällo");
            assert_eq!(peer.call("add", json!({"a": 40, "b": 2})).await, "42");
            let failed = peer.try_call("fail", json!({}), None).await.expect("a result");
            assert_eq!(failed.is_error, Some(true));
        })
        .await;
        peer.client.cancel().await.expect("an orderly end");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let run = async || match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [url] => all(url).await,
        [url, "demo"] => demo(url).await,
        _ => {
            eprintln!("usage: twolane-rmcp-client http://HOST:PORT/mcp [demo]");
            std::process::exit(2);
        }
    };
    steps::watch();
    tokio::time::timeout(DEADLINE, run()).await.expect("an end within the deadline");
    steps::summary();
}
