//! The tasks extension: calls that are answered with a task, and what becomes of it.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use twolane::Limits;
use twolane::tools::{Context, Elicitation, Field, Form, ProtocolError, TaskSupport, ToolError, Typed};

use crate::listen::Ear;
use crate::support::{Client, Protocol, Request, Response, Server, door::Keys, messages};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

#[derive(Deserialize, JsonSchema)]
struct Work {
    /// For how long, in milliseconds.
    ms: u64,
}

fn server_with(customise: impl FnOnce(twolane::Builder) -> twolane::Builder) -> Server {
    async fn work(work: Work, context: Context) -> String {
        context.progress(1.0, None, Some("at work"));
        tokio::time::sleep(Duration::from_millis(work.ms)).await;
        format!("worked {} ms, task: {}", work.ms, context.is_task())
    }
    async fn fail(work: Work) -> Result<String, ToolError> {
        tokio::time::sleep(Duration::from_millis(work.ms)).await;
        Err(ToolError::new("no luck"))
    }
    async fn break_down(work: Work) -> Result<String, ToolError> {
        tokio::time::sleep(Duration::from_millis(work.ms)).await;
        Err(ProtocolError::new(-32000, "broken").data(json!({"why": "tired"})).into())
    }
    async fn panic(work: Work) -> String {
        tokio::time::sleep(Duration::from_millis(work.ms)).await;
        std::panic::resume_unwind(Box::new("a panic in a task"))
    }
    /// Asks, becomes a task, and asks again.
    async fn later(work: Work, context: Context) -> Result<String, ToolError> {
        let form = || Form::new().field("name", Field::string());
        let first = context.elicit("first", Elicitation::form("Who?", form())).await?;
        context.start_task().await;
        tokio::time::sleep(Duration::from_millis(work.ms)).await;
        let task = context.is_task();
        if !task {
            return Ok(format!("{} alone", first.content().unwrap()["name"]));
        }
        let second = context.elicit("first", Elicitation::form("And who?", form())).await?;
        Ok(format!("{} and {}", first.content().unwrap()["name"], second.content().unwrap()["name"]))
    }
    async fn elsewhere(work: Work, context: Context) -> Result<String, ToolError> {
        let said = tokio::spawn(async move {
            // Whoever drives the call rests by now.
            tokio::time::sleep(Duration::from_millis(work.ms)).await;
            context.start_task().await;
            context.is_task()
        });
        Ok(format!("task: {}", said.await?))
    }
    Server::with(|builder| {
        let builder = builder
            .tool(Typed::new("later", "Asks first.", later).tasks(TaskSupport::RequiredByHandler))
            .tool(Typed::new("maybe", "Asks first.", later).tasks(TaskSupport::OptionalByHandler))
            .tool(
                Typed::new("elsewhere", "Says so from a task of its own.", elsewhere)
                    .tasks(TaskSupport::OptionalByHandler),
            )
            .tool(Typed::new("work", "Works.", work).tasks(TaskSupport::Optional))
            .tool(Typed::new("job", "Works as a task.", work).tasks(TaskSupport::Required))
            .tool(Typed::new("failing", "Fails as a task.", fail).tasks(TaskSupport::Required))
            .tool(Typed::new("breaking", "Breaks as a task.", break_down).tasks(TaskSupport::Required))
            .tool(Typed::new("panicking", "Panics as a task.", panic).tasks(TaskSupport::Required));
        customise(builder)
    })
}

fn server() -> Server {
    server_with(|builder| builder)
}

/// A modern request of a client that takes tasks.
fn with_tasks(method: &str, params: Value) -> Request {
    let task = params["taskId"].as_str().map(str::to_owned);
    let request = messages::modern(5, method, params);
    let mut body: Value = serde_json::from_slice(&request.body).unwrap();
    body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"extensions": {EXTENSION: {}}});
    let request = request.body(body.to_string());
    match task {
        Some(task) => request.header("Mcp-Name", task),
        None => request,
    }
}

fn call(tool: &str, ms: u64) -> Request {
    with_tasks("tools/call", messages::call(tool, json!({"ms": ms})))
}

/// Calls a tool and gives the id of its task.
fn create(client: &mut Client, tool: &str, ms: u64) -> String {
    let created = client.send(&call(tool, ms)).result();
    assert_eq!(created["resultType"], "task", "{created}");
    created["taskId"].as_str().unwrap().to_owned()
}

fn get(client: &mut Client, task: &str) -> Response {
    client.send(&with_tasks("tasks/get", json!({"taskId": task})))
}

/// Polls until the task has left `working`.
pub fn settled(client: &mut Client, task: &str) -> Value {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let state = get(client, task).result();
        assert_eq!(state["resultType"], "complete", "{state}");
        if state["status"] != "working" {
            return state;
        }
        assert!(Instant::now() < until, "{state}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_call_becomes_a_task_that_completes() {
    let server = server();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let created = client.send(&call("work", 30)).result();
        let keys: Vec<_> = created.as_object().unwrap().keys().map(String::as_str).collect();
        let wanted = [
            "taskId",
            "status",
            "createdAt",
            "lastUpdatedAt",
            "ttlMs",
            "pollIntervalMs",
            "resultType",
            "_meta",
        ];
        assert_eq!(keys, wanted, "{created}");
        assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")));
        assert_eq!((&created["ttlMs"], &created["pollIntervalMs"]), (&json!(3_600_000), &json!(1000)));
        assert_eq!(created["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "wire");
        let id = created["taskId"].as_str().unwrap();
        assert_eq!(get(&mut client, id).result()["taskId"], id, "it can be found at once");
        let state = settled(&mut client, id);
        assert_eq!(state["status"], "completed");
        assert_eq!(state["statusMessage"], "at work");
        assert_eq!(
            state["result"],
            json!({"content": [{"type": "text", "text": "worked 30 ms, task: true"}], "resultType": "complete"})
        );
        assert!(state.get("error").is_none() && state.get("inputRequests").is_none());
        assert_eq!(get(&mut client, id).result()["result"], state["result"], "it stays");
    }
}

#[test]
fn failures_of_the_tool_complete_and_those_of_the_protocol_fail() {
    let server = server();
    let mut client = server.client(Protocol::Http1);
    let failing = create(&mut client, "failing", 1);
    let state = settled(&mut client, &failing);
    assert_eq!((&state["status"], &state["result"]["isError"]), (&json!("completed"), &json!(true)));
    let breaking = create(&mut client, "breaking", 1);
    let state = settled(&mut client, &breaking);
    assert_eq!(state["status"], "failed");
    assert_eq!(state["error"], json!({"code": -32000, "message": "broken", "data": {"why": "tired"}}));
    assert!(state.get("result").is_none());
    let panicking = create(&mut client, "panicking", 1);
    let state = settled(&mut client, &panicking);
    assert_eq!((&state["status"], &state["result"]["isError"]), (&json!("completed"), &json!(true)));
    assert!(!state.to_string().contains("a panic in a task"), "{state}");
}

#[test]
fn without_the_extension_optional_tools_run_inline_and_required_ones_are_refused() {
    let server = server();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let inline = client.send(&messages::modern_call(1, "work", json!({"ms": 1})));
        assert_eq!(inline.tool_text(), "worked 1 ms, task: false");
        let refused = client.send(&messages::modern_call(2, "job", json!({"ms": 1})));
        assert_eq!((refused.status, refused.code()), (400, -32021), "{refused}");
        assert_eq!(
            refused.json()["error"]["data"],
            json!({"requiredCapabilities": {"extensions": {EXTENSION: {}}}})
        );
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = json!({"taskId": "unknown", "inputResponses": {}});
            let request = messages::modern(3, method, params).header("Mcp-Name", "unknown");
            let refused = client.send(&request);
            assert_eq!((refused.status, refused.code()), (400, -32021), "an unknown task too: {refused}");
        }
    }
    assert_eq!(server.handle.tasks(), 0);
}

#[test]
fn the_legacy_lane_has_no_tasks() {
    let server = server();
    let session = server.session();
    let legacy = |method: &str, params: Value| {
        server.send(&messages::legacy(&session, &messages::request(1, method, params)))
    };
    assert_eq!(
        legacy("tools/call", messages::call("work", json!({"ms": 1}))).tool_text(),
        "worked 1 ms, task: false"
    );
    let refused = legacy("tools/call", messages::call("job", json!({"ms": 1})));
    assert_eq!((refused.status, refused.code()), (200, -32603), "{refused}");
    for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"] {
        assert_eq!(legacy(method, json!({"taskId": "x"})).code(), -32601);
    }
}

#[test]
fn removed_methods_stay_removed() {
    let server = server();
    for method in ["tasks/result", "tasks/list"] {
        let refused = server.send(&with_tasks(method, json!({"taskId": "x"})).without("Mcp-Name"));
        assert_eq!((refused.status, refused.code()), (404, -32601), "{refused}");
    }
}

#[test]
fn cancelling_settles_at_once_and_is_acknowledged_twice() {
    let server = server();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let id = create(&mut client, "job", 60_000);
        for _ in 0..2 {
            let acknowledged = client.send(&with_tasks("tasks/cancel", json!({"taskId": id}))).result();
            let keys: Vec<_> = acknowledged.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, ["resultType", "_meta"], "{acknowledged}");
            assert_eq!(acknowledged["resultType"], "complete");
            let state = get(&mut client, &id).result();
            assert_eq!(state["status"], "cancelled");
            assert!(state.get("result").is_none() && state.get("error").is_none(), "{state}");
        }
        let done = create(&mut client, "job", 1);
        settled(&mut client, &done);
        assert_eq!(client.send(&with_tasks("tasks/cancel", json!({"taskId": done}))).status, 200);
        assert_eq!(get(&mut client, &done).result()["status"], "completed");
    }
}

#[test]
fn unknown_tasks_and_bad_params() {
    let server = server();
    let mut client = server.client(Protocol::Http1);
    let id = create(&mut client, "job", 60_000);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for unknown in ["", "x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", &id[1..], &format!("{id}A")] {
            let params = json!({"taskId": unknown, "inputResponses": {}});
            let answer = client.send(&with_tasks(method, params));
            assert_eq!((answer.status, answer.code()), (200, -32602), "{method} {unknown}: {answer}");
        }
        for bad in [Value::Null, json!(1), json!({}), json!([id])] {
            let answer = client.send(&with_tasks(method, json!({"taskId": bad, "inputResponses": {}})));
            assert_eq!((answer.status, answer.code()), (200, -32602), "{method} {bad}: {answer}");
        }
    }
    for bad in [
        json!({"taskId": id}),
        json!({"taskId": id, "inputResponses": null}),
        json!({"taskId": id, "inputResponses": []}),
    ] {
        assert_eq!(client.send(&with_tasks("tasks/update", bad)).code(), -32602);
    }
    let ignored = json!({"taskId": id, "inputResponses": {"unknown-key": {"ignored": true}}});
    assert_eq!(client.send(&with_tasks("tasks/update", ignored)).result()["resultType"], "complete");
    assert_eq!(get(&mut client, &id).result()["status"], "working");
}

#[test]
fn the_name_header_is_the_task_id() {
    let server = server();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let id = create(&mut client, "job", 60_000);
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let right = || with_tasks(method, json!({"taskId": id, "inputResponses": {}}));
            for wrong in [
                right().without("Mcp-Name"),
                right().set("Mcp-Name", "other"),
                right().set("Mcp-Method", "tasks/geT"),
            ] {
                let refused = client.send(&wrong);
                assert_eq!((refused.status, refused.code()), (400, -32020), "{method}: {refused}");
            }
            assert_eq!(client.send(&right()).status, 200);
        }
    }
}

#[test]
fn time_and_number_are_bounded() {
    let server = server_with(|builder| {
        let mut limits = Limits::default();
        (limits.tasks, limits.task_ttl) = (2, 5000);
        builder.limits(limits)
    });
    let mut client = server.client(Protocol::Http1);
    let first = create(&mut client, "job", 60_000);
    server.clock.advance_ms(1000);
    let second = create(&mut client, "job", 1);
    assert_eq!(settled(&mut client, &second)["ttlMs"], 5000);
    let full = client.send(&call("job", 1));
    assert_eq!((full.status, full.code()), (200, -32603), "{full}");
    assert_eq!(client.send(&call("work", 1)).tool_text(), "worked 1 ms, task: false", "it can do without");
    assert_eq!(server.handle.tasks(), 2);
    server.clock.advance_ms(3999);
    assert_eq!(get(&mut client, &first).status, 200);
    assert_eq!(get(&mut client, &first).result()["status"], "working");
    server.clock.advance_ms(1);
    assert_eq!(get(&mut client, &first).code(), -32602, "its time is over");
    assert_eq!(get(&mut client, &second).result()["status"], "completed");
    server.clock.advance_ms(1000);
    server.road.sweep();
    assert_eq!(server.handle.tasks(), 0);
    create(&mut client, "job", 1);
}

#[test]
fn a_task_is_its_principals() {
    let server = server_with(|builder| builder.authenticator(Keys::default()));
    let mut client = server.client(Protocol::Http1);
    let alice = |request: Request| request.header("Authorization", "Bearer alice");
    let bob = |request: Request| request.header("Authorization", "Bearer bob");
    let created = client.send(&alice(call("job", 60_000))).result();
    let id = created["taskId"].as_str().unwrap();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let request = || with_tasks(method, json!({"taskId": id, "inputResponses": {}}));
        assert_eq!(client.send(&bob(request())).code(), -32602, "{method}");
        assert_eq!(client.send(&alice(request())).status, 200);
    }
}

#[test]
fn bad_arguments_are_told_at_once_and_leave_no_task() {
    let server = server();
    let mut client = server.client(Protocol::Http1);
    let request = with_tasks("tools/call", messages::call("job", json!({"ms": "long"})));
    let told = client.send(&request).result();
    assert_eq!((&told["isError"], &told["resultType"]), (&json!(true), &json!("complete")));
    assert_eq!(server.handle.tasks(), 0);
}

#[test]
fn listeners_are_told_of_their_tasks() {
    let server = server_with(|builder| builder.authenticator(Keys::default()));
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let alice = |request: Request| request.header("Authorization", "Bearer alice");
        let listen =
            |ids: &Value| with_tasks("subscriptions/listen", json!({"notifications": {"taskIds": ids}}));
        let [one, other] = [(); 2].map(|()| {
            let created = client.send(&alice(call("job", 60_000))).result();
            created["taskId"].as_str().unwrap().to_owned()
        });
        let mut ear = Ear::open(&server, protocol, &alice(listen(&json!([one, "unknown", one]))));
        assert_eq!(ear.acknowledged(&json!(5)), json!({"taskIds": [one]}));
        let (method, first) = ear.told(&json!(5));
        assert_eq!(
            (&*method, &first["taskId"], &first["status"]),
            ("notifications/tasks", &json!(one), &json!("working"))
        );
        for task in [&other, &one] {
            client.send(&alice(with_tasks("tasks/cancel", json!({"taskId": task}))));
        }
        let (_, told) = ear.told(&json!(5));
        let mut got = client.send(&alice(with_tasks("tasks/get", json!({"taskId": one})))).result();
        got.as_object_mut().unwrap().retain(|key, _| key != "resultType" && key != "_meta");
        assert_eq!((&told["status"], &told), (&json!("cancelled"), &got), "as tasks/get has it");
        let mut foreign =
            Ear::open(&server, protocol, &listen(&json!([one])).header("Authorization", "Bearer bob"));
        assert_eq!(foreign.acknowledged(&json!(5)), json!({}), "another's task is unknown");
        foreign.ends(&json!(5));
    }
}

/// A request of a client that can be asked, and takes tasks or not.
pub fn of_a_user(tasks: bool, method: &str, params: Value) -> Request {
    let mut capabilities = json!({"elicitation": {}});
    if tasks {
        capabilities["extensions"][EXTENSION] = json!({});
    }
    let request = with_tasks(method, params);
    let mut body: Value = serde_json::from_slice(&request.body).unwrap();
    body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    request.body(body.to_string())
}

fn named(name: &str) -> Value {
    json!({"action": "accept", "content": {"name": name}})
}

#[test]
fn a_handler_asks_before_it_becomes_a_task_and_after() {
    let server = server();
    for (protocol, tool) in
        Protocol::BOTH.into_iter().flat_map(|protocol| [(protocol, "later"), (protocol, "maybe")])
    {
        let mut client = server.client(protocol);
        let params = |given: Value| {
            let mut params = messages::call(tool, json!({"ms": 1}));
            params.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
            params
        };
        let asked = client.send(&of_a_user(true, "tools/call", params(json!({})))).result();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        assert!(asked.get("taskId").is_none());
        let given =
            json!({"inputResponses": {"first": named("Alice")}, "requestState": asked["requestState"]});
        let created = client.send(&of_a_user(true, "tools/call", params(given))).result();
        assert_eq!(
            (&created["resultType"], &created["status"]),
            (&json!("task"), &json!("working")),
            "{created}"
        );
        assert!(created.get("requestState").is_none() && created.get("inputRequests").is_none());
        let id = created["taskId"].as_str().unwrap();
        let state = settled(&mut client, id);
        assert_eq!(state["status"], "input_required");
        let (key, question) = state["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(question["method"], "elicitation/create");
        // What is no answer is asked again, under another key.
        for (given, status) in [(json!({"action": "maybe"}), "input_required"), (named("Bob"), "completed")] {
            let state = settled(&mut client, id);
            let open = state["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
            assert!(status == "input_required" || open != *key, "no key is used twice: {state}");
            let update = json!({"taskId": id, "inputResponses": {open: given}});
            assert_eq!(
                client.send(&of_a_user(true, "tasks/update", update)).result()["resultType"],
                "complete"
            );
            assert_eq!(settled(&mut client, id)["status"], status);
        }
        let text = &settled(&mut client, id)["result"]["content"][0]["text"];
        assert_eq!(text, "\"Alice\" and \"Bob\"");
    }
}

#[test]
fn a_handler_that_may_not_become_a_task_goes_on_or_is_refused() {
    let server = server_with(|builder| {
        let mut limits = Limits::default();
        limits.tasks = 0;
        builder.limits(limits)
    });
    let given = |tool: &str| {
        let mut params = messages::call(tool, json!({"ms": 1}));
        params["inputResponses"] = json!({"first": named("Alice")});
        params
    };
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for takes_tasks in [false, true] {
            let answer = client.send(&of_a_user(takes_tasks, "tools/call", given("maybe")));
            assert_eq!(answer.tool_text(), "\"Alice\" alone");
        }
        let refused = client.send(&of_a_user(false, "tools/call", given("later")));
        assert_eq!((refused.status, refused.code()), (400, -32021), "{refused}");
        let full = client.send(&of_a_user(true, "tools/call", given("later"))).result();
        assert_eq!(full["isError"], true, "{full}");
    }
}

#[test]
fn a_handler_may_say_so_from_another_task() {
    let server = server();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let id = create(&mut client, "elsewhere", 20);
        assert_eq!(settled(&mut client, &id)["result"]["content"][0]["text"], "task: true");
        let request = messages::modern_call(1, "elsewhere", json!({"ms": 1}));
        assert_eq!(client.send(&request).tool_text(), "task: false", "it goes on at once");
    }
}

/// What a task holds of its request is charged for until it is over.
#[test]
fn memory_is_bounded() {
    let server = server_with(|builder| {
        let mut limits = Limits::default();
        limits.task_memory = 65_536;
        builder.limits(limits)
    });
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let padded = |tool: &str, bytes: usize, ms: u64| {
            let mut params = messages::call(tool, json!({"ms": ms}));
            params["arguments"]["padding"] = "x".repeat(bytes).into();
            with_tasks("tools/call", params)
        };
        let first = client.send(&padded("job", 60_000, 60_000)).result();
        assert_eq!(first["resultType"], "task", "{first}");
        let refused = client.send(&padded("job", 10_000, 1));
        assert_eq!((refused.status, refused.code()), (200, -32603), "{refused}");
        assert_eq!(client.send(&padded("work", 10_000, 1)).tool_text(), "worked 1 ms, task: false");
        let second = create(&mut client, "job", 1);
        assert_eq!(settled(&mut client, &second)["status"], "completed", "a small one fits beside it");
        let id = first["taskId"].as_str().unwrap();
        client.send(&with_tasks("tasks/cancel", json!({"taskId": id})));
        let third = client.send(&padded("job", 60_000, 60_000)).result();
        assert_eq!(third["resultType"], "task", "what was cancelled holds nothing");
        let id = third["taskId"].as_str().unwrap();
        client.send(&with_tasks("tasks/cancel", json!({"taskId": id})));
    }
}
