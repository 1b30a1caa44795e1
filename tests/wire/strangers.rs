//! Who may not use a thing does not learn whether it is there: not by the answer, and not by the code that runs. The same look-ups are made in
//! the same order, and the answer is the same to the byte.

use serde_json::{Value, json};
use twolane::tools::{
    HandlerError, Prompt, PromptArguments, Resource, ResourceTemplate, TaskSupport, Typed, Variables,
};

use crate::support::askers::Askers;
use crate::support::door::Keys;
use crate::support::party::Party;
use crate::support::{Client, Protocol, Request, Response, Server, Source, messages};

const CAPABILITIES: &str = r#"{"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}"#;

fn server() -> Server {
    Server::with(|builder| {
        Askers::default()
            .register(builder)
            .authenticator(Keys::default())
            .tool(
                Typed::new("job", "A task.", |_: Value| std::future::pending::<String>())
                    .tasks(TaskSupport::Required),
            )
            .resource(Resource::text("file:///known", "known", "text"))
            .resource_template(ResourceTemplate::new(
                "note://{day}",
                "note",
                |variables: Variables| async move {
                    match variables.get("day") {
                        Some("monday") => Ok("text"),
                        _ => Err(HandlerError::not_found()),
                    }
                },
            ))
            .prompt(Prompt::new("known", "A prompt.", |_: PromptArguments| async { "text" }))
    })
}

fn party(protocol: Protocol, token: &'static str) -> Party {
    let capabilities = serde_json::from_str(CAPABILITIES).unwrap();
    Party { protocol, version: messages::MODERN, session: None, capabilities, token: Some(token) }
}

fn as_who(request: Request, credentials: Option<&str>) -> Request {
    match credentials {
        Some(credentials) => request.set("Authorization", credentials),
        None => request.without("Authorization"),
    }
}

/// What can be told from an answer, with what was asked for taken out of it.
fn seen(response: &Response, asked: &str) -> (u16, Vec<(String, String)>, String) {
    let mut headers = response.headers.clone();
    headers.retain(|(name, _)| name != "date" && name != "content-length");
    let text = response.text().replace(asked, "<asked>");
    assert!(headers.iter().all(|(_, value)| !value.contains(asked)), "{response}");
    (response.status, headers, text)
}

/// Both are answered in the same way, and looked for in the same way, which is `expected`.
#[track_caller]
fn assert_alike(server: &Server, client: &mut Client, [known, unknown]: [(&Request, &str); 2]) -> Response {
    let mut ask = |(request, asked): (&Request, &str)| {
        let _ = server.trace.take();
        let response = client.send(request);
        (seen(&response, asked), server.trace.take(), response)
    };
    let (one, two) = (ask(known), ask(unknown));
    assert_eq!((&one.0, &one.1), (&two.0, &two.1), "{known:?}");
    one.2
}

/// Everything that names a session.
fn in_session(session: &str, event: &str) -> Vec<Request> {
    let of = |message: Value| messages::legacy(session, &message);
    let request = |method: &str, params: Value| of(messages::request(3, method, params));
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    vec![
        request("tools/list", Value::Null),
        request("ping", Value::Null),
        request("no/such", Value::Null),
        request("tools/call", messages::call("count", json!({}))),
        request("resources/subscribe", json!({"uri": "file:///known"})),
        request("logging/setLevel", json!({"level": "debug"})),
        of(cancel),
        of(messages::notification("notifications/initialized")),
        of(json!({"jsonrpc": "2.0", "id": "s-1", "result": {"action": "decline"}})),
        of(json!([messages::request(3, "ping", Value::Null)])),
        // A session tells by no version which one it speaks.
        request("tools/list", Value::Null).set("MCP-Protocol-Version", "2025-03-26"),
        request("tools/list", Value::Null).without("MCP-Protocol-Version"),
        Request::get().session(session),
        Request::get().session(session).header("Last-Event-ID", event),
        Request::get().session(session).set("Accept", "application/json"),
        Request::delete().session(session),
    ]
}

#[test]
fn sessions() {
    let server = server();
    let unknown = "A".repeat(43);
    for protocol in Protocol::BOTH {
        let alice = party(protocol, "alice");
        let mut alice =
            Party::open(&server, protocol, messages::LEGACY, &alice.capabilities.clone(), alice.token);
        let known = alice.session.clone().unwrap();
        // She waits for an answer to a question of the server's.
        let mut waiting = alice.stream(&server, &alice.call("ask_name", json!({})));
        let question = waiting.next().unwrap();
        let id = question["id"].clone();
        let mut client = server.client(protocol);
        for credentials in
            [None, Some("Bearer nobody"), Some("Bearer a b"), Some("Basic YTpi"), Some("Bearer bob")]
        {
            for (mine, other) in in_session(&known, "x").into_iter().zip(in_session(&unknown, "x")) {
                let pair = [mine, other].map(|request| as_who(request, credentials));
                let refused = assert_alike(&server, &mut client, [(&pair[0], &known), (&pair[1], &unknown)]);
                let status = match credentials {
                    Some("Bearer bob") => 404,
                    Some("Bearer a b") => 400,
                    Some(_) | None => 401,
                };
                assert_eq!(refused.status, status, "{refused}");
            }
        }
        // In a session of his own he answers nothing of hers, whatever the id.
        let bob = Party::open(&server, protocol, messages::LEGACY, &alice.capabilities, Some("bob"));
        let answer = |id: &Value| {
            let content = json!({"action": "accept", "content": {"name": "Bob"}});
            json!({"jsonrpc": "2.0", "id": id, "result": content})
        };
        let pair = [bob.post(&answer(&id)), bob.post(&answer(&json!("s-999")))];
        let taken = assert_alike(&server, &mut client, [(&pair[0], "-"), (&pair[1], "-")]);
        assert_eq!(taken.status, 202);
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
        assert_eq!(client.send(&bob.post(&cancel)).status, 202);
        let hers =
            json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept", "content": {"name": "Alice"}}});
        assert_eq!(client.send(&alice.post(&hers)).status, 202);
        let answered = waiting.next().unwrap();
        assert_eq!(answered["result"]["content"][0]["text"], "Hello, Alice!", "{answered}");
        alice.session = None;
    }
}

#[test]
fn tasks() {
    let server = server();
    let unknown = "A".repeat(32);
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let alice = party(protocol, "alice");
        let created = client.send(&alice.call("job", json!({}))).result();
        let known = created["taskId"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned();
        for token in ["Bearer nobody", "Bearer bob"] {
            for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
                let pair = [&known, &unknown].map(|id| {
                    let params = json!({"taskId": id, "inputResponses": {}});
                    let request = alice.request(1, method, params).set("Mcp-Name", id);
                    as_who(request, Some(token))
                });
                let refused = assert_alike(&server, &mut client, [(&pair[0], &known), (&pair[1], &unknown)]);
                let expected = if token == "Bearer bob" { (200, -32602) } else { (401, -32600) };
                assert_eq!((refused.status, refused.code()), expected, "{refused}");
            }
        }
        // Whoever listens for it is told that nothing of it is honoured.
        let bob = party(protocol, "bob");
        let heard = [&known, &unknown].map(|id| {
            let _ = server.trace.take();
            let params = json!({"notifications": {"taskIds": [id]}});
            let mut stream = Source::open(&server, protocol, &bob.request(1, "subscriptions/listen", params));
            let first = stream.next().map(|event| event.json());
            (first, server.trace.take())
        });
        assert_eq!(heard[0], heard[1]);
        let request = alice.request(1, "tasks/get", json!({"taskId": known})).set("Mcp-Name", &known);
        assert_eq!(client.send(&request).status, 200);
    }
}

#[test]
fn states() {
    let server = server();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let alice = party(protocol, "alice");
        let asked = client.send(&alice.call("ask_name", json!({}))).result();
        let state = asked["requestState"].as_str().unwrap().to_owned();
        let garbage = "A".repeat(state.len());
        for token in ["Bearer nobody", "Bearer bob"] {
            let pair = [&state, &garbage].map(|state| {
                let request = alice.call_with("ask_name", json!({}), |params| {
                    params["requestState"] = json!(state);
                });
                as_who(request, Some(token))
            });
            let refused = assert_alike(&server, &mut client, [(&pair[0], &state), (&pair[1], &garbage)]);
            assert_eq!(refused.status, if token == "Bearer bob" { 200 } else { 401 }, "{refused}");
        }
    }
}

/// What is offered is offered to whoever is let in; nobody else learns its names.
#[test]
fn what_is_offered() {
    let server = server();
    let offers = [
        ("tools/call", "name", ["count", "nosuch"]),
        ("prompts/get", "name", ["known", "nosuch"]),
        ("resources/read", "uri", ["file:///known", "file:///nosuch"]),
        ("resources/read", "uri", ["note://monday", "note://sunday"]),
    ];
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for credentials in [None, Some("Bearer nobody"), Some("Bearer a b"), Some("Basic YTpi")] {
            for (method, key, names) in &offers {
                let mut params = [json!({}), json!({})];
                for (params, name) in params.iter_mut().zip(names) {
                    params[*key] = json!(name);
                }
                for pair in [
                    params.clone().map(|params| messages::modern(1, method, params)),
                    params
                        .clone()
                        .map(|params| Request::post(messages::request(1, method, params).to_string())),
                ] {
                    let pair = pair.map(|request| as_who(request, credentials));
                    let both = [(&pair[0], names[0]), (&pair[1], names[1])];
                    let refused = assert_alike(&server, &mut client, both);
                    assert!([400, 401].contains(&refused.status), "{refused}");
                }
            }
            // Nothing was looked for but the token, and that only where there is one.
            let _ = server.trace.take();
            client.send(&as_who(messages::modern_call(1, "count", json!({})), credentials));
            let expected: &[&str] = if credentials == Some("Bearer nobody") { &["token"] } else { &[] };
            assert_eq!(server.trace.take(), expected, "{credentials:?}");
        }
    }
    assert_eq!(server.tools.runs(), 0);
}
