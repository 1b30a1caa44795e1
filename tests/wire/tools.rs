//! Calling tools on both lanes and over both protocols: what goes in, what comes out, and what goes wrong.

use std::time::Duration;

use serde_json::{Value, json};
use twolane::server::Builder;
use twolane::tools::{Content, Context, RawTool, ToolResult, Typed};

use crate::limits::changed;
use crate::support::{Client, Protocol, Request, Response, Server, messages};

/// A connection that calls tools on one lane.
pub struct Caller {
    pub client: Client,
    /// The session, on the legacy lane.
    pub session: Option<String>,
    pub protocol: Protocol,
}

impl Caller {
    /// One for each lane over each protocol.
    pub fn all(server: &Server) -> Vec<Self> {
        let lanes = [None, Some(server.session())];
        let of = |session: &Option<String>| {
            let session = session.clone();
            Protocol::BOTH.map(|protocol| Self {
                client: server.client(protocol),
                session: session.clone(),
                protocol,
            })
        };
        lanes.iter().flat_map(of).collect()
    }

    /// A request with these params.
    pub fn request(&self, method: &str, params: Value) -> Request {
        match &self.session {
            Some(session) => messages::legacy(session, &messages::request(7, method, params)),
            None => messages::modern(7, method, params),
        }
    }

    /// Calls a tool.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Response {
        let request = self.request("tools/call", messages::call(tool, arguments));
        self.client.send(&request)
    }

    /// Calls a tool with arguments written out.
    #[track_caller]
    pub fn call_raw(&mut self, tool: &str, arguments: &str) -> Response {
        let mut request = self.request("tools/call", messages::call(tool, "THESE".into()));
        let body = String::from_utf8(request.body).unwrap();
        request.body = body.replace("\"THESE\"", arguments).into_bytes();
        self.client.send(&request)
    }
}

/// The text of a result that says it is an error.
#[track_caller]
pub fn error_text(response: &Response) -> String {
    assert_eq!(response.result()["isError"], true, "{response}");
    response.tool_text()
}

/// The code and message of a JSON-RPC error that is no rejection.
#[track_caller]
fn own_error(response: &Response) -> (i64, String) {
    assert_eq!((response.status, &response.json()["id"]), (200, &json!(7)), "{response}");
    (response.code(), response.json()["error"]["message"].as_str().unwrap().to_owned())
}

/// A tool that hands back what it was given.
fn document() -> RawTool {
    RawTool::new("document", "Returns its arguments.", json!({"type": "object"}), |arguments: Value| async {
        ToolResult::structured(arguments)
    })
}

fn with_document(builder: Builder) -> Builder {
    builder.tool(document())
}

#[test]
fn unicode_comes_back_as_it_was() {
    let server = Server::start();
    let long = "é世😀\u{2028}".repeat(20_000);
    let texts = [
        "a\u{2028}b\u{2029}c\u{85}d ✅ 😀 世界 \0 \r\n\t\u{8}\u{c} \" \\ / \u{7f} \u{feff} \u{fffd} \u{10ffff} end",
        "",
        "\u{1}\u{1f}",
        "e\u{301} \u{202e}abc",
        &long,
    ];
    for mut caller in Caller::all(&server) {
        for text in texts {
            assert_eq!(caller.call("echo", json!({"message": text})).tool_text(), text);
        }
        for (escaped, text) in [
            (r#"{"message":"\u0041\u00e9\u4e16\ud83d\ude00\u0000\/"}"#, "Aé世😀\0/"),
            (r#"{"\u006dessage":"x"}"#, "x"),
            ("{\n\t\"message\" :\r\n \"x\" }", "x"),
        ] {
            assert_eq!(caller.call_raw("echo", escaped).tool_text(), text, "{escaped}");
        }
    }
}

#[test]
fn text_that_is_none() {
    let server = Server::start();
    let request = |arguments: &[u8]| {
        let body = messages::request(1, "tools/call", messages::call("echo", "THESE".into())).to_string();
        let (before, after) = body.split_once("\"THESE\"").unwrap();
        Request::post([before.as_bytes(), arguments, after.as_bytes()].concat())
    };
    for arguments in [
        &br#"{"message":"\ud800"}"#[..],
        br#"{"message":"\udc00\ud800"}"#,
        br#"{"message":"\ud83dx"}"#,
        br#"{"message":"\u12"}"#,
        br#"{"message":"\x41"}"#,
        b"{\"message\":\"a\nb\"}",
        b"{\"message\":\"a\0b\"}",
        b"{\"message\":\"\xff\"}",
        b"{\"message\":\"\xc0\xaf\"}",
        b"{\"message\":\"\xed\xa0\x80\"}",
        b"{\"message\":\"\xf4\x90\x80\x80\"}",
        b"{'message':'x'}",
        b"{\"message\":\"x\",}",
        b"{\"message\":\"x\"",
        b"{\"n\":1e400}",
        b"{\"n\":-1e400}",
        b"{\"n\":18446744073709551616}",
        b"{\"n\":-9223372036854775809}",
        b"{\"n\":01}",
        b"{\"n\":+1}",
        b"{\"n\":.5}",
        b"{\"n\":NaN}",
        b"{\"n\":Infinity}",
    ] {
        for protocol in Protocol::BOTH {
            let response = server.client(protocol).send(&request(arguments));
            let text = arguments.escape_ascii();
            assert_eq!((response.status, response.code()), (400, -32700), "{text}: {response}");
            assert_eq!(response.json()["id"], json!(null), "{text}");
        }
    }
    assert_eq!(server.tools.runs(), 0);
}

/// Numbers come back digit for digit, in the structured content and in the text.
#[test]
fn numbers_come_back_as_they_were() {
    let server = Server::with(with_document);
    for mut caller in Caller::all(&server) {
        for number in [
            "1915883588174806058",
            "9007199254740993",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615",
            "0",
            "-1",
            "0.1",
            "-0.0",
            "1.5",
            "5e-324",
            "1.7976931348623157e308",
        ] {
            let response = caller.call_raw("document", &format!("{{\"n\":{number}}}"));
            let text = response.tool_text();
            let normal = number.replace("e308", "e+308");
            let matches = |text: &str| {
                [number, normal.as_str()].iter().any(|number| text.contains(&format!("{{\"n\":{number}}}")))
            };
            assert!(matches(&text), "{number}: {text}");
            let (_, structured) = response.text().split_once("\"structuredContent\":").unwrap();
            assert!(matches(structured), "{number}: {response}");
        }
    }
}

#[test]
fn arguments_that_do_not_fit_are_explained() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape matters")]
    struct Strict {
        name: String,
        inner: Vec<u8>,
    }
    let server = Server::with(|builder| {
        builder.tool(Typed::immediate("strict", "Takes no others.", |_: Strict| "taken"))
    });
    for mut caller in Caller::all(&server) {
        for (tool, arguments, words) in [
            ("echo", json!({"message": 42}), &["/message", "string", "42"][..]),
            ("echo", json!({}), &["/message", "string", "required", "nothing"]),
            ("echo", json!({"message": null}), &["/message", "string", "null"]),
            ("add", json!({"a": "x", "b": 1.5}), &["/a", "/b", "integer", "x", "1.5"]),
            ("add", json!({"a": 1}), &["/b", "integer", "required"]),
            ("add", json!({"a": 1, "b": 9_223_372_036_854_775_808_u64}), &["/b", "9223372036854775808"]),
            ("strict", json!({"name": "a", "inner": [], "more": 1}), &["/more", "no property"]),
            ("strict", json!({"name": "a", "inner": [1, 256]}), &["/inner/1", "256"]),
            ("strict", json!({"name": "a", "inner": [1, "x", 2]}), &["/inner/1", "integer", "x"]),
            ("sql", json!({"query": 1}), &["/region", "/query", "string"]),
        ] {
            let text = error_text(&caller.call(tool, arguments.clone()));
            assert!(text.contains(tool) && text.contains("expected") && text.contains("got"), "{text}");
            for word in words {
                assert!(text.contains(word), "{arguments}: {word} is not in {text}");
            }
        }
    }
    assert_eq!(server.tools.runs(), 0);
    // What a type does not name is ignored where it does not say otherwise, and a whole float is an integer.
    for mut caller in Caller::all(&server) {
        assert_eq!(caller.call("echo", json!({"message": "x", "more": {}})).tool_text(), "x");
        let sum = caller.call_raw("add", "{\"a\":1.0,\"b\":2e1}").result();
        assert_eq!(sum["structuredContent"], json!({"sum": 21}));
    }
}

#[test]
fn missing_and_null_arguments_are_an_empty_object() {
    let server = Server::with(with_document);
    for mut caller in Caller::all(&server) {
        for params in [
            json!({"name": "document"}),
            json!({"name": "document", "arguments": null}),
            json!({"name": "document", "arguments": {}}),
        ] {
            let request = caller.request("tools/call", params);
            assert_eq!(caller.client.send(&request).result()["structuredContent"], json!({}));
        }
        for arguments in [json!([]), json!("x"), json!(1), json!(true), json!([{}])] {
            let (code, message) = own_error(&caller.call("document", arguments));
            assert_eq!((code, message.contains("arguments")), (-32602, true), "{message}");
        }
    }
}

#[test]
fn tools_that_are_not_there() {
    let server = Server::start();
    for mut caller in Caller::all(&server) {
        for name in ["nope", "Echo", "echo ", "", "tools/call", "é", &"x".repeat(10_000)] {
            let mut request = caller.request("tools/call", messages::call(name, json!({})));
            if !name.is_ascii() {
                request = request.set("Mcp-Name", "=?base64?w6k=?=");
            } else if name.len() > 9_000 {
                // Longer than a header line may be, so only the older lane can ask.
                let Some(session) = &caller.session else { continue };
                request = request.session(session);
            } else if name.ends_with(' ') {
                request = request.set("Mcp-Name", "=?base64?ZWNobyA=?=");
            }
            let (code, message) = own_error(&caller.client.send(&request));
            assert_eq!((code, message.starts_with("Unknown tool")), (-32602, true), "{message}");
            assert!(message.len() < 300, "{message}");
        }
        for name in [json!(null), json!(1), json!({}), json!([]), json!(true)] {
            let request = caller.request("tools/call", json!({"name": name, "arguments": {}}));
            let (code, message) = own_error(&caller.client.send(&request));
            assert_eq!((code, message.contains("params.name")), (-32602, true), "{message}");
        }
        let request = caller.request("tools/call", json!({"arguments": {}}));
        assert_eq!(own_error(&caller.client.send(&request)).0, -32602);
    }
    assert_eq!(server.tools.runs(), 0);
}

/// Whatever a handler does, its client gets a result and the server lives.
#[test]
fn handlers_that_fail() {
    let limits = changed(&[("tool_timeout", 40)]);
    let server = Server::with(|builder| {
        builder
            .limits(limits)
            .tool(Typed::blocking("panic_blocking", "Panics.", |_: Value| -> String {
                std::panic::resume_unwind(Box::new("secret"))
            }))
            .tool(Typed::immediate("panic_at_once", "Panics.", |_: Value| -> String {
                std::panic::resume_unwind(Box::new(String::from("secret")))
            }))
            .tool(Typed::new("never", "Never ends.", |_: Value| std::future::pending::<String>()))
            .tool(
                Typed::new("never_own", "Never ends.", |_: Value| std::future::pending::<String>())
                    .timeout(Duration::from_millis(10)),
            )
            .tool(
                Typed::new(
                    "patient",
                    "Takes longer than others may.",
                    |_: Value, context: Context| async move {
                        tokio::time::sleep(Duration::from_millis(80)).await;
                        format!("cancelled: {}", context.is_cancelled())
                    },
                )
                .timeout(Duration::from_secs(60)),
            )
    });
    for mut caller in Caller::all(&server) {
        assert_eq!(error_text(&caller.call("fail", json!({}))), "it failed as it should");
        for tool in ["panic", "panic_blocking", "panic_at_once"] {
            let text = error_text(&caller.call(tool, json!({})));
            assert!(text.contains(tool) && !text.contains("secret"), "{text}");
        }
        for (tool, ms) in [("never", "40"), ("never_own", "10")] {
            let text = error_text(&caller.call(tool, json!({})));
            assert!(text.contains(tool) && text.contains(ms), "{text}");
        }
        // A blocking one is told, and its answer does not wait for it.
        let text = error_text(&caller.call("block", json!({})));
        assert!(text.contains("block"), "{text}");
        assert_eq!(caller.call("patient", json!({})).tool_text(), "cancelled: false");
        assert_eq!(caller.call("echo", json!({"message": "alive"})).tool_text(), "alive");
    }
    server.tools.gate.await_fates(|fates| fates.cancelled == 4);
}

#[test]
fn results_that_break_their_promise() {
    let schema = || json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let tool = |name: &str, result: fn() -> ToolResult| {
        RawTool::new(name, "Promises a number.", json!({"type": "object"}), move |_: Value| async move {
            result()
        })
        .output_schema(schema())
    };
    let server = Server::with(|builder| {
        builder
            .tool(tool("keeps", || ToolResult::structured(json!({"n": 1}))))
            .tool(tool("wrong", || ToolResult::structured(json!({"n": "one"}))))
            .tool(tool("lacks", || ToolResult::text("1")))
            .tool(tool("fails", || ToolResult::error("no number today")))
    });
    for mut caller in Caller::all(&server) {
        assert_eq!(caller.call("keeps", json!({})).result()["structuredContent"], json!({"n": 1}));
        for tool in ["wrong", "lacks"] {
            let response = caller.call(tool, json!({}));
            assert!(error_text(&response).contains("output schema"), "{response}");
            assert!(response.result().get("structuredContent").is_none(), "{response}");
        }
        assert_eq!(error_text(&caller.call("fails", json!({}))), "no number today");
    }
}

#[test]
fn content_of_every_kind() {
    let server = Server::with(|builder| {
        builder.tool(Typed::immediate("all", "Returns one of each.", |_: Value| {
            vec![
                Content::text("text").priority(0.5),
                Content::image([0, 255], "image/png"),
                Content::audio([1], "audio/wav"),
                Content::resource_text("file:///a", "text/plain", "a\u{2028}"),
                Content::resource_blob("file:///b", "a/b", [0]).meta("k", 1),
            ]
        }))
    });
    for mut caller in Caller::all(&server) {
        let result = caller.call("all", json!({})).result();
        let resource = |rest: Value| {
            let mut resource = rest;
            resource["type"] = "resource".into();
            resource
        };
        assert_eq!(
            result["content"],
            json!([
                {"type": "text", "text": "text", "annotations": {"priority": 0.5}},
                {"type": "image", "data": "AP8=", "mimeType": "image/png"},
                {"type": "audio", "data": "AQ==", "mimeType": "audio/wav"},
                resource(json!({"resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "a\u{2028}"}})),
                resource(json!({"resource": {"uri": "file:///b", "mimeType": "a/b", "blob": "AA=="}, "_meta": {"k": 1}})),
            ])
        );
        let modern = caller.session.is_none();
        assert_eq!(result.get("resultType").is_some(), modern, "{result}");
        assert_eq!(result.get("_meta").is_some(), modern, "{result}");
    }
}
