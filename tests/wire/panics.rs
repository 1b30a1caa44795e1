//! Panics in handlers, at every moment and with anything: each costs its own call and nothing else, and says nothing to the client.

use std::panic::resume_unwind;

use serde::Deserialize;
use serde_json::{Value, json};
use twolane::server::Builder;
use twolane::tools::{
    CompletionInput, Context, HandlerError, Prompt, PromptArguments, Resource, ResourceTemplate, TaskSupport,
    Typed, Variables,
};

use crate::support::{Client, Protocol, Request, Response, Server, messages};

/// What a panic says. It stays here.
const SAID: &str = "s3cret in /etc/shadow";

/// Something that panics when it is dropped, with something that does so, too.
struct Bomb(u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 && !std::thread::panicking() {
            resume_unwind(Box::new(Bomb(self.0 - 1)));
        }
    }
}

const PAYLOADS: [&str; 4] = ["text", "string", "number", "bomb"];
const MOMENTS: [&str; 7] = ["call", "first", "later", "much later", "told", "asked", "end"];

/// Panics without the hook, which would write into the tests' output.
fn throw(payload: &str) -> ! {
    match payload {
        "string" => resume_unwind(Box::new(SAID.to_owned())),
        "number" => resume_unwind(Box::new(7_u8)),
        "bomb" => resume_unwind(Box::new(Bomb(3))),
        _ => resume_unwind(Box::new(SAID)),
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
struct When {
    moment: String,
    payload: String,
}

async fn throw_at(when: When, context: Context) -> &'static str {
    let mut moment = when.moment.as_str();
    let _at_the_end = (moment == "end").then_some(Bomb(2));
    if moment == "first" {
        throw(&when.payload);
    }
    tokio::task::yield_now().await;
    if moment == "told" {
        context.progress(1.0, None, Some("soon"));
        tokio::task::yield_now().await;
        moment = "later";
    }
    if moment == "asked" {
        // Held, and asked once: the question is on its way.
        let mut roots = std::pin::pin!(context.roots("folders"));
        std::future::poll_fn(|cx| {
            let _ = roots.as_mut().poll(cx);
            std::task::Poll::Ready(())
        })
        .await;
        moment = "later";
    }
    if moment == "much later" {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        moment = "later";
    }
    if moment == "later" {
        throw(&when.payload);
    }
    "done"
}

fn register(builder: Builder) -> Builder {
    builder
        .tool(Typed::new("future", "Panics.", |when: When, context: Context| {
            if when.moment == "call" {
                throw(&when.payload);
            }
            throw_at(when, context)
        }))
        .tool(Typed::immediate("now", "Panics.", |when: When| -> String { throw(&when.payload) }))
        .tool(Typed::blocking("blocking", "Panics.", |when: When| -> String { throw(&when.payload) }))
        .tool(Typed::new("task", "Panics.", throw_at).tasks(TaskSupport::Required))
        .tool(Typed::new("left", "Panics when it is left.", |_: Value, context: Context| async move {
            let _bomb = Bomb(3);
            context.progress(1.0, None, Some("waiting"));
            std::future::pending::<String>().await
        }))
        .resource(Resource::new("file:///panics", "panics", || async {
            throw("string");
            #[allow(unreachable_code, reason = "it has to have a result")]
            Ok::<_, HandlerError>("")
        }))
        .resource_template(
            ResourceTemplate::new("panic://{payload}", "panics", |variables: Variables| async move {
                throw(variables.get("payload").unwrap_or("text"));
                #[allow(unreachable_code, reason = "it has to have a result")]
                Ok::<_, HandlerError>("")
            })
            .complete_with("payload", |_: CompletionInput| async {
                throw("bomb");
                #[allow(unreachable_code, reason = "it has to have a result")]
                Ok::<_, HandlerError>(vec![String::new()])
            }),
        )
        .prompt(Prompt::new("panics", "Panics.", |_: PromptArguments| async {
            throw("number");
            #[allow(unreachable_code, reason = "it has to have a result")]
            ""
        }))
}

/// What a client learns of a panic.
#[track_caller]
fn assert_says_nothing(text: &str) {
    for word in ["s3cret", "shadow", "Bomb", "panic", "unwind", ".rs", "Any"] {
        // The names of what was called have been chosen by the test.
        let text = text.replace("file:///panics", "").replace("panic://", "").replace("\\\"panics\\\"", "");
        assert!(!text.contains(word), "{word} in {text}");
    }
}

/// The result that an answer ends with, a stream's too.
fn last(response: &Response) -> Value {
    match response.header("content-type") {
        Some("text/event-stream") => response.messages().pop().expect("an answer"),
        _ => response.json(),
    }
}

#[test]
fn tools() {
    let server = Server::with(register);
    let session = server.session();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for (tool, moments) in [("future", &MOMENTS[..]), ("now", &["call"]), ("blocking", &["call"])] {
            for (moment, payload) in
                moments.iter().flat_map(|moment| PAYLOADS.map(|payload| (moment, payload)))
            {
                let arguments = json!({"moment": moment, "payload": payload});
                let mut params = messages::call(tool, arguments.clone());
                params["_meta"] = json!({"progressToken": "token"});
                let legacy = messages::legacy(&session, &messages::request(1, "tools/call", params));
                for request in [messages::modern_call_with_progress(1, tool, arguments.clone()), legacy] {
                    let response = client.send(&request);
                    assert_eq!(response.status, 200, "{moment} {payload}: {response}");
                    let answer = last(&response);
                    assert_says_nothing(response.text());
                    // On the modern lane, and for a client that cannot be asked, the question comes to something else.
                    if *moment != "asked" {
                        assert_eq!(answer["result"]["isError"], true, "{moment} {payload}: {answer}");
                    }
                }
            }
        }
        assert_eq!(client.send(&messages::modern_call(1, "echo", json!({"message": "x"}))).tool_text(), "x");
    }
    server.wait_until("nothing is left", |server| server.handle.detached_calls() == 0);
}

#[test]
fn tasks() {
    let server = Server::with(register);
    let with_tasks = |method: &str, params: Value| {
        let request = messages::modern(1, method, params.clone());
        let mut message: Value = serde_json::from_slice(&request.body).unwrap();
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        let request = request.body(message.to_string());
        match params["taskId"].as_str() {
            Some(id) => request.header("Mcp-Name", id),
            None => request,
        }
    };
    let mut client = server.client(Protocol::Http1);
    for (moment, payload) in
        ["later", "much later"].iter().flat_map(|moment| PAYLOADS.map(|payload| (moment, payload)))
    {
        let arguments = json!({"moment": moment, "payload": payload});
        let created = client.send(&with_tasks("tools/call", messages::call("task", arguments))).result();
        let id = created["taskId"].as_str().unwrap_or_else(|| panic!("{created}"));
        let mut task = client.send(&with_tasks("tasks/get", json!({"taskId": id})));
        while task.result()["status"] == "working" {
            std::thread::sleep(std::time::Duration::from_millis(1));
            task = client.send(&with_tasks("tasks/get", json!({"taskId": id})));
        }
        assert_says_nothing(task.text());
        let result = task.result();
        assert_eq!(result["result"]["isError"], true, "{result}");
    }
}

#[test]
fn what_is_no_tool() {
    let server = Server::with(register);
    let session = server.session();
    let template = json!({"type": "ref/resource", "uri": "panic://{payload}"});
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for (method, params) in [
            ("resources/read", json!({"uri": "file:///panics"})),
            ("resources/read", json!({"uri": "panic://number"})),
            ("resources/read", json!({"uri": "panic://bomb"})),
            ("prompts/get", json!({"name": "panics"})),
            ("completion/complete", json!({"ref": template, "argument": {"name": "payload", "value": ""}})),
        ] {
            let legacy = messages::legacy(&session, &messages::request(1, method, params.clone()));
            for request in [messages::modern(1, method, params), legacy] {
                let response = client.send(&request);
                assert_eq!((response.status, response.code()), (200, -32603), "{method}: {response}");
                assert_says_nothing(response.text());
            }
        }
    }
}

/// A handler that panics while it is dropped, because its client has gone or its session ends, takes nobody with it.
#[test]
fn handlers_that_are_left() {
    let server = Server::with(register);
    for protocol in Protocol::BOTH {
        let mut beside = server.client(protocol);
        for round in 0..4 {
            let call = messages::modern_call_with_progress(1, "left", json!({}));
            match server.client(protocol) {
                Client::Http1(mut client) => {
                    client.write(&call.bytes());
                    client.read_head();
                    client.next_event().expect("it waits");
                    socket2::SockRef::from(client.socket())
                        .set_linger(Some(std::time::Duration::ZERO))
                        .unwrap();
                }
                Client::Http2(mut client) => {
                    let mut stream = client.start(&call);
                    client.head(&mut stream);
                    client.reset(stream);
                }
            }
            let session = server.session();
            let mut client = server.http1();
            let mut params = messages::call("left", json!({}));
            params["_meta"] = json!({"progressToken": "token"});
            client.write(&messages::legacy(&session, &messages::request(1, "tools/call", params)).bytes());
            client.read_head();
            if round % 2 == 0 {
                drop(client);
            }
            assert_eq!(server.send(&Request::delete().session(&session)).status, 200);
            assert_eq!(
                beside.send(&messages::modern_call(1, "echo", json!({"message": "x"}))).tool_text(),
                "x"
            );
        }
    }
    server.wait_until("nothing is left", |server| {
        (server.handle.sessions(), server.handle.streams(), server.handle.detached_calls()) == (0, 0, 0)
    });
}
