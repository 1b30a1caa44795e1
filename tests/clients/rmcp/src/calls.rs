//! Calls that last: progress and log messages while they run, and what becomes of one that nobody waits for any more.

use std::time::{Duration, Instant};

use rmcp::RoleClient;
use rmcp::ServiceError;
use rmcp::model::{ClientRequest, LoggingLevel, Request, RequestMetaObject, SetLevelRequestParams};
use rmcp::service::{PeerRequestOptions, RequestHandle};
use serde_json::{Value, json};

use crate::peer::{Peer, refused, request};
use crate::steps::{step, until};

const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// A call this long has to be ended by somebody.
const ENDLESS_MS: u64 = 60_000;
/// Long enough for a call to be seen running, on a machine that is busy.
const PATIENCE: Duration = Duration::from_millis(800);

pub async fn progress(peer: &Peer) {
    step(peer.step_name("receives progress while a tool runs"), async {
        let from = peer.heard();
        let call = peer.call("test_tool_with_progress", Value::Null);
        let first = async {
            until("the first report", async || !peer.heard_since(from, "progress").is_empty()).await;
            Instant::now()
        };
        let timed = async {
            call.await;
            Instant::now()
        };
        let (ended, first) = tokio::join!(timed, first);
        let lead = ended.saturating_duration_since(first);
        assert!(
            lead >= Duration::from_millis(60),
            "the first report came {lead:?} before the result: buffered, not streamed"
        );
        until("three reports", async || peer.heard_since(from, "progress").len() == 3).await;
        let mut reports: Vec<(f64, f64)> = Vec::new();
        for report in peer.heard_since(from, "progress") {
            reports.push((
                report["progress"].as_f64().expect("progress"),
                report["total"].as_f64().expect("total"),
            ));
        }
        reports.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert_eq!(reports, [(0.0, 100.0), (50.0, 100.0), (100.0, 100.0)]);
    })
    .await;
}

fn wanting(level: &str) -> RequestMetaObject {
    serde_json::from_value(json!({LOG_LEVEL: level})).expect("metadata")
}

async fn logged(peer: &Peer, level: Option<(LoggingLevel, &str)>, count: usize) {
    let mut meta = None;
    match level {
        Some((_, name)) if peer.modern => meta = Some(wanting(name)),
        Some((level, _)) => {
            peer.client.set_level(SetLevelRequestParams::new(level)).await.expect("a level set")
        }
        None => {}
    }
    let from = peer.heard();
    peer.try_call("test_tool_with_logging", Value::Null, meta).await.expect("a result");
    // This client hears messages in tasks of their own: they may come after the result, and in any order.
    until("the log messages", async || peer.heard_since(from, "message").len() >= count).await;
    if count == 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut messages: Vec<String> = Vec::new();
    for message in peer.heard_since(from, "message") {
        assert_eq!(message["level"], "info", "{message}");
        messages.push(message["data"].as_str().expect("words").to_owned());
    }
    messages.sort();
    let all = ["Tool execution completed", "Tool execution started", "Tool processing data"];
    assert_eq!(messages, all[..count], "{level:?}");
}

pub async fn logging(peer: &Peer) {
    step(peer.step_name("receives the log messages that it asked for, and is spared the others"), async {
        logged(peer, Some((LoggingLevel::Info, "info")), 3).await;
        logged(peer, Some((LoggingLevel::Debug, "debug")), 3).await;
        logged(peer, Some((LoggingLevel::Error, "error")), 0).await;
        logged(peer, None, 0).await;
        logged(peer, Some((LoggingLevel::Info, "info")), 3).await;
    })
    .await;
    if peer.modern {
        step(peer.step_name("names a log level that there is not: -32602"), async {
            let error =
                refused(peer.try_call("test_tool_with_logging", Value::Null, Some(wanting("loud"))).await);
            assert_eq!(error.code.0, -32602, "{error:?}");
        })
        .await;
    }
}

async fn waiting(peer: &Peer, label: &str) -> usize {
    peer.call("test_waiting", json!({"label": label})).await.parse().expect("a number of calls")
}

async fn lasting(peer: &Peer, label: &str, options: PeerRequestOptions) -> RequestHandle<RoleClient> {
    let from = peer.heard();
    let params = request("test_wait", json!({"label": label, "ms": ENDLESS_MS}), None);
    let call = ClientRequest::CallToolRequest(Request::new(params));
    let handle = peer.client.send_cancellable_request(call, options).await.expect("a call that is under way");
    until("the start of the call", async || !peer.heard_since(from, "progress").is_empty()).await;
    assert_eq!(waiting(peer, label).await, 1);
    handle
}

pub async fn cancellation(peer: &Peer) {
    let stopped =
        async |label: &str| until("the end on the server", async || waiting(peer, label).await == 0).await;
    step(peer.step_name("cancels a running call, which stops on the server"), async {
        let label = format!("rmcp {} cancelled", peer.label);
        let handle = lasting(peer, &label, PeerRequestOptions::no_options()).await;
        let since = Instant::now();
        handle.cancel(Some("changed my mind".to_owned())).await.expect("a cancelled call");
        assert!(since.elapsed() < Duration::from_secs(1), "the client waited for an answer");
        stopped(&label).await;
    })
    .await;
    step(peer.step_name("runs out of patience with a call, which stops on the server"), async {
        let label = format!("rmcp {} timed out", peer.label);
        let handle = lasting(peer, &label, PeerRequestOptions::with_timeout(PATIENCE)).await;
        let outcome = handle.await_response().await;
        assert!(matches!(outcome, Err(ServiceError::Timeout { .. })), "{outcome:?}");
        stopped(&label).await;
    })
    .await;
    step(peer.step_name("forgets a call, which stops on the server"), async {
        let label = format!("rmcp {} dropped", peer.label);
        let call = peer.try_call("test_wait", json!({"label": label, "ms": ENDLESS_MS}), None);
        tokio::select! {
            outcome = call => panic!("was answered: {outcome:?}"),
            () = until("the start of the call", async || waiting(peer, &label).await == 1) => {}
        }
        stopped(&label).await;
        assert_eq!(peer.call("greet", json!({"name": "next"})).await, "Hello, next!");
    })
    .await;
}
