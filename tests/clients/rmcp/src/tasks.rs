//! Calls that are answered with a task: polled until it is over, asked, cancelled.

use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolResponse, CancelTaskParams, CreateTaskResult, ErrorCode, GetTaskParams, InputResponses,
    UpdateTaskParams,
};
use serde_json::{Value, json};

use crate::peer::{Peer, refused, request};
use crate::steps::{at, step};

async fn begin(peer: &Peer, tool: &'static str, arguments: Value) -> String {
    let response = peer.client.call_tool_once(request(tool, arguments, None)).await.expect(tool);
    let CallToolResponse::Task(CreateTaskResult { task, .. }) = response else {
        panic!("{tool}: expected a task, got {response:?}")
    };
    task.task_id
}

async fn get(peer: &Peer, id: &str) -> Value {
    let got = peer.client.get_task(GetTaskParams::new(id)).await.expect("a task");
    serde_json::to_value(got).expect("a task as JSON")
}

/// Polls until the task is `status`.
async fn becomes(peer: &Peer, id: &str, status: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let task = get(peer, id).await;
        if task["status"] == status {
            return task;
        }
        assert!(Instant::now() < deadline, "expected {status}, got {task}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub async fn tasks(peer: &Peer) {
    step(peer.step_name("polls a task until it has completed"), async {
        let id = begin(peer, "slow_compute", json!({"seconds": 0.3, "label": "this"})).await;
        assert_eq!(get(peer, &id).await["status"], "working");
        let task = becomes(peer, &id, "completed").await;
        let words = at(&task, "/result/content/0/text").as_str().expect("words");
        assert!(words.contains("this"), "{task}");
        let failing = begin(peer, "failing_job", Value::Null).await;
        let broken = begin(peer, "protocol_error_job", Value::Null).await;
        assert_eq!(at(&becomes(peer, &failing, "completed").await, "/result/isError"), &json!(true));
        assert!(at(&becomes(peer, &broken, "failed").await, "/error/code").is_i64());
    })
    .await;
    step(peer.step_name("answers what a task asks, one thing after the other"), async {
        let id = begin(peer, "multi_input", Value::Null).await;
        let asking = becomes(peer, &id, "input_required").await;
        let questions = asking["inputRequests"].as_object().expect("questions").clone();
        assert_eq!(questions.len(), 2, "{asking}");
        for key in questions.keys() {
            let responses = json!({key: {"action": "decline"}});
            let responses: InputResponses = serde_json::from_value(responses).expect("responses");
            peer.client.update_task(UpdateTaskParams::new(id.as_str(), responses)).await.expect("an update");
        }
        let task = becomes(peer, &id, "completed").await;
        assert_eq!(at(&task, "/result/content/0/text"), "0 of 2 answers were given", "{task}");
    })
    .await;
    step(peer.step_name("cancels a task"), async {
        let id = begin(peer, "slow_compute", json!({"seconds": 60, "label": "that"})).await;
        peer.client.cancel_task(CancelTaskParams::new(id.as_str())).await.expect("a cancelled task");
        becomes(peer, &id, "cancelled").await;
        peer.client.cancel_task(CancelTaskParams::new(id.as_str())).await.expect("cancelled twice");
    })
    .await;
    step(peer.step_name("asks for a task that there is not: -32602"), async {
        let error = refused(peer.client.get_task(GetTaskParams::new("no-such-task")).await);
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{error:?}");
    })
    .await;
}
