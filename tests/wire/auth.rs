//! Credentials: what a stranger is told, to the letter, and what is decided before and after they are looked at.

use serde_json::{Value, json};
use twolane::road::auth::StaticTokens;
use twolane::tools::{Context, Typed};

use crate::support::door::{Keys, Meter};
use crate::support::{Protocol, Request, Server, messages};

fn guarded() -> Server {
    Server::with(|builder| builder.authenticator(Keys::default()).limiter(Meter::default()))
}

fn as_who(request: Request, who: &str) -> Request {
    request.header("Authorization", format!("Bearer {who}"))
}

#[test]
fn challenges() {
    let server = guarded();
    let none = "Bearer realm=\"mcp\"";
    let invalid =
        "Bearer realm=\"mcp\", error=\"invalid_token\", error_description=\"The token is not valid here\"";
    let malformed = "Bearer realm=\"mcp\", error=\"invalid_request\"";
    let scope = "Bearer realm=\"mcp\", error=\"insufficient_scope\", scope=\"tools:call\"";
    for (credentials, status, challenge, retry) in [
        (&[][..], 401, Some(none), None),
        (&["Basic YTpi"], 401, Some(none), None),
        (&["Bearer nobody"], 401, Some(invalid), None),
        (&["bearer ALICE"], 401, Some(invalid), None),
        (&["Bearer"], 400, Some(malformed), None),
        (&["Bearer a b"], 400, Some(malformed), None),
        (&["Bearer alice", "Bearer alice"], 400, Some(malformed), None),
        (&["Bearer alice", "Basic x"], 400, Some(malformed), None),
        (&["Bearer weak"], 403, Some(scope), None),
        (&["Bearer down"], 503, None, Some("3")),
        (&["Bearer busy"], 429, None, Some("2")),
    ] {
        let with = |request: Request| {
            credentials.iter().fold(request, |request, value| request.header("Authorization", value))
        };
        for protocol in Protocol::BOTH {
            let mut client = server.client(protocol);
            for (request, id) in [
                (messages::initialize(messages::LEGACY), json!(0)),
                (messages::modern(7, "server/discover", Value::Null), json!(7)),
                (messages::modern_call("x", "count", json!({})), json!("x")),
                (Request::post(messages::notification("notifications/x").to_string()), json!(null)),
                (Request::post("[1]"), json!(null)),
                (Request::post("{}"), json!(null)),
            ] {
                let refused = client.send(&with(request));
                let code = refused.code();
                assert_eq!((refused.status, code, &refused.json()["id"]), (status, -32600, &id), "{refused}");
                assert_eq!(refused.header("www-authenticate"), challenge, "{refused}");
                assert_eq!(refused.header("retry-after"), retry, "{refused}");
                assert_eq!(refused.header("mcp-session-id"), None, "{refused}");
                let data = refused.json()["error"]["data"].take();
                assert_eq!(data, if status == 429 { json!({"retryAfterMs": 1500}) } else { Value::Null });
            }
            for request in [Request::get(), Request::delete(), Request::get().session("gone")] {
                let refused = client.send(&with(request));
                assert_eq!(refused.status, status, "{refused}");
                assert!(refused.json()["error"].is_string(), "the plain dialect: {refused}");
                assert_eq!(refused.header("www-authenticate"), challenge, "{refused}");
            }
        }
    }
    assert_eq!((server.tools.runs(), server.handle.sessions()), (0, 0));
}

/// Each of two faults is known, and the earlier one answers.
#[test]
fn what_is_decided_before_and_after() {
    let server = guarded();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let list = messages::request(7, "tools/list", Value::Null);
        for (stranger, known, request) in [
            // Before: nobody has to be known for these.
            (403, 403, messages::legacy("gone", &list).header("Origin", "http://evil.example")),
            (415, 415, messages::legacy("gone", &list).set("Content-Type", "text/plain")),
            (400, 400, Request::post(messages::request(Value::Null, "ping", Value::Null).to_string())),
            // After.
            (401, 404, messages::legacy("gone", &list)),
            (401, 404, Request::get().session("gone")),
            (401, 400, messages::legacy("gone", &list).header("Mcp-Session-Id", "gone")),
            (401, 400, Request::post(list.to_string())),
            (401, 400, messages::modern(7, "tools/list", Value::Null).set("Mcp-Method", "x")),
            (401, 404, messages::modern(7, "no/such", Value::Null)),
            (401, 200, messages::modern(7, "server/discover", Value::Null)),
        ] {
            assert_eq!(client.send(&request).status, stranger, "{request:?}");
            assert_eq!(client.send(&as_who(request.clone(), "alice")).status, known, "{request:?}");
        }
        // What cannot be read at all is so for everybody.
        assert_eq!(server.client(protocol).send(&Request::post("nonsense")).status, 400);
    }
}

#[test]
fn a_token_in_the_query_is_none() {
    let server = guarded();
    for target in ["/mcp?access_token=alice", "/mcp?token=alice&authorization=Bearer%20alice"] {
        for protocol in Protocol::BOTH {
            let request = messages::modern(1, "server/discover", Value::Null);
            let request = Request { target: target.to_owned(), ..request };
            let refused = server.client(protocol).send(&request);
            assert_eq!(refused.status, 401, "{refused}");
            assert!(!refused.text().contains("alice"), "{refused}");
        }
    }
    let told = format!("{:?}", server.told.take());
    assert!(told.contains("unauthenticated") && !told.contains("alice"), "{told}");
}

/// A handler knows who is asking, and what is known to some is not kept for all.
#[test]
fn principals_reach_the_tools() {
    let tokens = StaticTokens::parse("# who may\nalice s3cret\ntok.en~2\n").unwrap();
    let server = Server::with(|builder| {
        builder.authenticator(tokens).tool(Typed::immediate(
            "who",
            "Says who asks.",
            |_: Value, context: Context| {
                let asks = context.principal().map_or("nobody", |principal| principal.subject.as_str());
                format!("{asks} with {}", context.client_name().unwrap_or("nothing"))
            },
        ))
    });
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for (token, name) in [("s3cret", "alice with wire"), ("tok.en~2", "token-3 with wire")] {
            let call = as_who(messages::modern_call(1, "who", json!({})), token);
            assert_eq!(client.send(&call).tool_text(), name);
            let opened = client.send(&as_who(messages::initialize(messages::LEGACY), token));
            let session = opened.header("mcp-session-id").unwrap().to_owned();
            let call = messages::request(1, "tools/call", messages::call("who", json!({})));
            assert_eq!(client.send(&as_who(messages::legacy(&session, &call), token)).tool_text(), name);
        }
        for token in ["s3cre", "s3crett", "S3CRET", "alice", "#"] {
            let status =
                client.send(&as_who(messages::modern(1, "server/discover", Value::Null), token)).status;
            assert_eq!(status, if token == "#" { 400 } else { 401 }, "{token}");
        }
        let discovered = client.send(&as_who(messages::modern(1, "server/discover", Value::Null), "s3cret"));
        assert_eq!(discovered.result()["cacheScope"], "private");
    }
    assert!(!format!("{:?}", server.told.take()).contains("s3cret"));
}
