//! Event streams: when an answer becomes one, what is in it, and when it does not.

use serde_json::{Value, json};

use crate::support::{Protocol, Request, Server, messages};
use crate::tools::Caller;

/// The caller's `steps` call, with this progress token.
fn steps(caller: &Caller, token: Value) -> Request {
    let mut params = messages::call("steps", json!({"steps": 3}));
    if !token.is_null() {
        params["_meta"]["progressToken"] = token;
    }
    caller.request("tools/call", params)
}

#[test]
fn progress_makes_a_stream() {
    let server = Server::start();
    for mut caller in Caller::all(&server) {
        for token in
            [json!("token"), json!(7), json!(9_007_199_254_740_993_u64), json!("é\u{2028}"), json!("")]
        {
            let response = caller.client.send(&steps(&caller, token.clone()));
            assert!(response.body.starts_with(b":\n\n"), "a comment opens the stream: {response}");
            assert_eq!(response.header("content-length"), None, "{response}");
            let messages = response.messages();
            assert_eq!(messages.len(), 4, "{response}");
            for (at, message) in (1..).zip(&messages[..3]) {
                assert_eq!(
                    *message,
                    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params":
                        {"progressToken": token, "progress": at, "total": 3, "message": "a step"}})
                );
            }
            assert_eq!(
                (&messages[3]["id"], &messages[3]["result"]["content"][0]["text"]),
                (&json!(7), &json!("done"))
            );
            if caller.session.is_none() {
                assert_eq!(messages[3]["result"]["resultType"], "complete");
                assert!(response.events().iter().all(|event| event.id.is_none() && event.retry.is_none()));
            }
        }
    }
}

/// Without a token nothing is sent before the result, and a token alone is no reason for a stream.
#[test]
fn nothing_sent_is_no_stream() {
    let server = Server::start();
    for mut caller in Caller::all(&server) {
        assert_eq!(caller.client.send(&steps(&caller, Value::Null)).tool_text(), "done");
        let mut params = messages::call("sleep", json!({"ms": 1}));
        params["_meta"]["progressToken"] = 1.into();
        let request = caller.request("tools/call", params);
        assert_eq!(caller.client.send(&request).tool_text(), "done");
    }
}

#[test]
fn a_client_that_takes_no_stream_gets_none() {
    let server = Server::start();
    for mut caller in Caller::all(&server) {
        for accept in [
            "application/json",
            "application/*",
            "application/json;q=0.1, text/event-stream;q=0",
            "text/html, Application/JSON",
        ] {
            let response = caller.client.send(&steps(&caller, "t".into()).set("Accept", accept));
            assert_eq!(response.tool_text(), "done", "{accept}");
        }
        for accept in ["*/*", "text/*, application/json", "application/json, text/event-stream;charset=utf-8"]
        {
            let response = caller.client.send(&steps(&caller, "t".into()).set("Accept", accept));
            assert_eq!(response.messages().len(), 4, "{accept}");
        }
        let two_lines = steps(&caller, "t".into())
            .set("Accept", "application/json")
            .header("Accept", "text/event-stream");
        assert_eq!(caller.client.send(&two_lines).messages().len(), 4);
        let none = steps(&caller, "t".into()).without("Accept");
        assert_eq!(caller.client.send(&none).messages().len(), 4);
    }
}

#[test]
fn a_client_that_takes_streams_alone_gets_them() {
    let server = Server::start();
    for mut caller in Caller::all(&server) {
        let alone = |request: Request| request.set("Accept", "text/event-stream");
        let mut one = |request: Request| {
            let response = caller.client.send(&alone(request));
            assert_eq!(response.status, 200, "{response}");
            let mut events = response.events();
            assert_eq!(events.len(), 1, "{response}");
            events.remove(0).json()
        };
        let caller = Caller { client: server.client(caller.protocol), ..caller };
        let odd = "a\u{2028}b\u{85}c\u{2029}";
        let echoed = one(caller.request("tools/call", messages::call("echo", json!({"message": odd}))));
        assert_eq!(echoed["result"]["content"][0]["text"], odd);
        assert_eq!(one(caller.request("tools/list", Value::Null))["id"], 7);
        // An error that is no rejection is an answer like any other.
        assert_eq!(
            one(caller.request("tools/call", messages::call("nope", json!({}))))["error"]["code"],
            -32602
        );
        let mut client = server.client(caller.protocol);
        assert_eq!(client.send(&alone(steps(&caller, "t".into()))).messages().len(), 4);
        // A rejection is always JSON, and an acceptance is empty.
        let refused = client.send(&alone(Request::post("[]")));
        assert_eq!((refused.status, refused.code()), (400, -32600), "{refused}");
        let unknown = client.send(&alone(caller.request("no/such", Value::Null)));
        assert_eq!(unknown.status, if caller.session.is_some() { 200 } else { 404 }, "{unknown}");
        let message = messages::notification("notifications/initialized");
        let accepted = match &caller.session {
            Some(session) => messages::legacy(session, &message),
            None => Request::post(message.to_string()).header("MCP-Protocol-Version", messages::MODERN),
        };
        let accepted = client.send(&alone(accepted));
        assert_eq!((accepted.status, accepted.body.len()), (202, 0), "{accepted}");
        assert_eq!(accepted.header("content-type"), None, "{accepted}");
    }
}

#[test]
fn tokens_that_are_none() {
    let server = Server::start();
    for mut caller in Caller::all(&server) {
        for token in [json!(1.5), json!(true), json!({}), json!([])] {
            let response = caller.client.send(&steps(&caller, token));
            assert_eq!((response.status, response.code()), (200, -32602), "{response}");
        }
    }
    assert_eq!(server.tools.runs(), 0);
}

/// A quiet stream is kept alive, and what comes late still comes.
#[test]
fn quiet_streams_get_comments() {
    let server = crate::limits::server(&[("stream_comment", 10)]);
    let request = messages::modern_call_with_progress(1, "gate", json!({}));
    let mut client = server.http1();
    client.write(&request.bytes());
    assert_eq!(client.read_head().status, 200);
    let mut comments = 0;
    let mut bytes = Vec::new();
    while comments < 5 {
        bytes.extend(client.read_chunk().expect("the stream goes on"));
        comments = bytes.windows(3).filter(|three| three == b":\n\n").count();
    }
    server.tools.gate.open(1);
    while let Some(chunk) = client.read_chunk() {
        bytes.extend(chunk);
    }
    assert_eq!(crate::support::read::events(&bytes).len(), 2);

    let mut client = server.http2();
    let mut stream = client.start(&request);
    client.head(&mut stream);
    let mut bytes = Vec::new();
    while bytes.windows(3).filter(|three| three == b":\n\n").count() < 5 {
        bytes.extend(client.data(&mut stream).unwrap().unwrap());
    }
    server.tools.gate.open(1);
    while let Some(data) = client.data(&mut stream) {
        bytes.extend(data.unwrap());
    }
    assert_eq!(crate::support::read::events(&bytes).len(), 2);
}

/// What a tool sends while its client does not read is bounded: what does not fit is dropped, and the result still comes last.
#[test]
fn slow_readers_lose_progress_and_no_result() {
    let server = crate::limits::server(&[("stream_buffer", 4)]);
    let mut request = messages::modern_call_with_progress(1, "burst", json!({}));
    server
        .handle
        .registry()
        .add(twolane::tools::Typed::new("burst", "Reports faster than anybody reads.", {
            |_: Value, context: twolane::tools::Context| async move {
                for step in 1..=10_000 {
                    context.progress(f64::from(step), None, None);
                }
                "done"
            }
        }))
        .unwrap();
    for protocol in Protocol::BOTH {
        let events = server.client(protocol).send(&request).events();
        assert_eq!(events.len(), 5);
        let steps: Vec<Value> =
            events[..4].iter().map(|event| event.json()["params"]["progress"].take()).collect();
        assert_eq!(json!(steps), json!([1, 2, 3, 4]));
        assert_eq!(events[4].json()["result"]["content"][0]["text"], "done");
        request = request.set("Accept", "*/*");
    }
}
