//! Pages that call: which origins and hosts are let in beyond the defaults, and what browsers are told.

use std::net::SocketAddr;

use serde_json::{Value, json};
use twolane::server::Builder;

use crate::support::{Protocol, Request, Response, Server, messages};

/// What is configured, and what is sent with whether it is allowed.
type Rules = (&'static [&'static str], &'static [(&'static str, bool)]);

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn ping() -> Request {
    Request::post(PING)
}

fn anywhere(builder: Builder) -> Builder {
    builder.listen([SocketAddr::from(([0, 0, 0, 0], 0))])
}

/// Sends a call with each value of a header; it runs exactly where the value is allowed.
#[track_caller]
fn assert_allowed(server: &Server, header: &str, cases: &[(&str, bool)]) {
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for (value, allowed) in cases {
            let runs = server.tools.runs();
            let call = messages::modern_call(1, "count", json!({})).set(header, value);
            let response = client.send(&call);
            assert_eq!(response.status, if *allowed { 200 } else { 403 }, "{header}: {value}: {response}");
            assert_eq!(server.tools.runs(), runs + u64::from(*allowed), "{value}");
            let told = response.header("access-control-allow-origin");
            assert_eq!(told, (header == "Origin" && *allowed).then_some(*value), "{response}");
        }
    }
}

#[test]
fn origins_that_are_configured() {
    let rules: [Rules; 7] = [
        (
            &["https://*.example.test"],
            &[
                ("https://a.example.test", true),
                ("https://a.b.example.test", true),
                ("https://A.Example.TEST:443", true),
                ("https://example.test", false),
                ("https://evilexample.test", false),
                ("https://a.example.test:8443", false),
                ("http://a.example.test", false),
                ("https://a.example.test.evil.example", false),
                // The defaults stay.
                ("http://localhost:6274", true),
            ],
        ),
        (
            &["http://tool.test:*"],
            &[("http://tool.test", true), ("http://tool.test:9", true), ("https://tool.test", false)],
        ),
        (
            &["chrome-extension://*", "vscode-webview://*"],
            &[
                ("chrome-extension://abcdefghijklmnopabcdefghijklmnop", true),
                ("vscode-webview://0123abc", true),
                ("moz-extension://0123abc", false),
                ("https://abcdefghijklmnopabcdefghijklmnop", false),
            ],
        ),
        (
            &["chrome-extension://abc"],
            &[("chrome-extension://abc", true), ("chrome-extension://abcd", false)],
        ),
        (
            &["https://one.test", "https://two.test:8443"],
            &[("https://one.test", true), ("https://two.test:8443", true), ("https://two.test", false)],
        ),
        (
            &["*"],
            &[
                ("https://anything.example:1", true),
                ("chrome-extension://x", true),
                ("null", false),
                ("", false),
            ],
        ),
        (
            &["https://[2001:db8::1]:8443"],
            &[("https://[2001:db8::1]:8443", true), ("https://[2001:db8::2]:8443", false)],
        ),
    ];
    for (rules, cases) in rules {
        let server =
            Server::with(|builder| rules.iter().fold(builder, |builder, rule| builder.allow_origin(rule)));
        assert_allowed(&server, "Origin", cases);
    }
}

#[test]
fn hosts_that_are_configured() {
    let rules: [Rules; 4] = [
        (
            &["mcp.example.test"],
            &[
                ("mcp.example.test", true),
                ("mcp.example.test:443", true),
                ("MCP.Example.Test", true),
                ("mcp.example.test.", true),
                ("a.mcp.example.test", false),
                ("mcp.example.test.evil.example", false),
                ("localhost:9999", true),
            ],
        ),
        (
            &["mcp.example.test:8443"],
            &[("mcp.example.test:8443", true), ("mcp.example.test", false), ("mcp.example.test:8444", false)],
        ),
        (
            &["*.example.test", "[2001:db8::1]"],
            &[
                ("a.example.test:1", true),
                ("example.test", false),
                ("[2001:db8::1]:80", true),
                ("[2001:db8::2]:80", false),
            ],
        ),
        (&["*"], &[("anything.example:1", true), ("10.0.0.1", true)]),
    ];
    for (rules, cases) in rules {
        let server =
            Server::with(|builder| rules.iter().fold(builder, |builder, rule| builder.allow_host(rule)));
        assert_allowed(&server, "Host", cases);
    }
}

/// Where everybody can connect, names are free until some are configured, and no page is let in that is not.
#[test]
fn listening_everywhere() {
    let open = Server::with(anywhere);
    assert_allowed(&open, "Host", &[("anything.example", true), ("10.0.0.1:80", true), ("localhost", true)]);
    assert_allowed(
        &open,
        "Origin",
        &[("http://localhost", false), ("http://127.0.0.1:1", false), ("https://a.test", false)],
    );
    let named = Server::with(|builder| {
        anywhere(builder).allow_host("127.0.0.1").allow_host("mcp.test").allow_origin("https://a.test")
    });
    assert_allowed(
        &named,
        "Host",
        &[("mcp.test:1", true), ("127.0.0.1", true), ("localhost", false), ("other.test", false)],
    );
    assert_allowed(&named, "Origin", &[("https://a.test", true), ("http://localhost", false)]);
}

/// A refusal says what was refused and which setting would change that.
#[test]
fn refusals_name_the_setting() {
    let server = Server::start();
    for (header, value, setting) in
        [("Host", "mcp.example.test", "allow-host"), ("Origin", "https://mcp.example.test", "allow-origin")]
    {
        let refused = server.send(&ping().set(header, value));
        assert_eq!((refused.status, refused.code(), &refused.json()["id"]), (403, -32600, &json!(null)));
        let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(value) && message.contains(setting), "{message}");
    }
}

#[track_caller]
fn assert_cors(response: &Response, origin: &str) {
    assert_eq!(response.header("access-control-allow-origin"), Some(origin), "{response}");
    assert_eq!(response.header("vary"), Some("Origin"), "{response}");
    assert_eq!(response.header("access-control-allow-credentials"), None, "{response}");
    assert_eq!(
        response.header("access-control-expose-headers"),
        Some("Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After"),
        "{response}"
    );
}

#[test]
fn good_answers_reach_the_page() {
    let server = Server::start();
    let session = server.session();
    let origin = "http://localhost:6274";
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let deleted = server.session();
        for (status, request) in [
            (200, messages::initialize(messages::LEGACY)),
            (200, messages::modern(1, "server/discover", Value::Null)),
            (202, messages::legacy(&session, &messages::notification("notifications/x"))),
            (200, messages::modern_call_with_progress(1, "steps", json!({"steps": 2}))),
            (
                200,
                messages::modern_call(1, "echo", json!({"message": "x"})).set("Accept", "text/event-stream"),
            ),
            (200, messages::modern_call(1, "nope", json!({}))),
            (200, Request::delete().session(&deleted)),
            (405, Request::new("HEAD", "/mcp")),
        ] {
            let plain = client.send(&request);
            assert!(plain.headers.iter().all(|(name, _)| !name.starts_with("access-control")), "{plain}");
            let again =
                if request.verb == "DELETE" { Request::delete().session(&server.session()) } else { request };
            let response = client.send(&again.header("Origin", origin));
            assert_eq!(response.status, status, "{response}");
            assert_cors(&response, origin);
        }
    }
}

#[test]
fn preflights() {
    const LIST: &str = "Content-Type, Accept, Authorization, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name";
    let server = Server::with(|builder| builder.authenticator(crate::support::door::Keys::default()));
    let asking = |headers: &str| {
        Request::new("OPTIONS", "/mcp")
            .header("Origin", "http://localhost:1")
            .header("Access-Control-Request-Method", "POST")
            .header("Access-Control-Request-Headers", headers)
    };
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for (asked, more) in [
            ("content-type", ""),
            ("", ""),
            ("x-unknown, authorization", ""),
            ("content-type,mcp-param-region,mcp-param-limit", ", mcp-param-region, mcp-param-limit"),
            ("Mcp-Param-Region", ", Mcp-Param-Region"),
            ("mcp-param-", ""),
            ("mcp-param-a b, mcp-param-\"x\", mcp-param-é", ""),
            ("mcp-param-x:y, mcp-param-ok", ", mcp-param-ok"),
        ] {
            let response = client.send(&asking(asked));
            assert_eq!((response.status, response.body.len()), (204, 0), "{asked}: {response}");
            assert_eq!(response.header("content-length"), None, "{response}");
            assert_eq!(response.header("access-control-allow-origin"), Some("http://localhost:1"));
            assert_eq!(response.header("access-control-allow-methods"), Some("GET, POST, DELETE"));
            assert_eq!(
                response.header("access-control-allow-headers"),
                Some(&*format!("{LIST}{more}")),
                "{asked}"
            );
            assert_eq!(response.header("access-control-max-age"), Some("600"));
            assert_eq!(response.header("vary"), Some("Origin"));
            assert_eq!(response.header("access-control-expose-headers"), None);
        }
        for (status, request) in [
            (403, asking("").set("Origin", "https://evil.example")),
            (403, asking("").set("Origin", "null")),
            (403, asking("").set("Host", "evil.example")),
            (400, asking("").header("Origin", "http://localhost:1")),
            (405, asking("").without("Origin")),
            (405, asking("").without("Access-Control-Request-Method")),
            (404, Request { target: "/nowhere".to_owned(), ..asking("") }),
        ] {
            let response = client.send(&request);
            assert_eq!(response.status, status, "{request:?}: {response}");
            assert_eq!(response.header("access-control-allow-methods"), None, "{response}");
        }
    }
}
