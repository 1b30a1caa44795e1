//! Mirrored arguments whose place or value is out of the ordinary, and client capabilities that a tool asks for. What every header and every
//! fault in it leads to is told in `bindings`.

use serde_json::{Value, json};
use twolane::server::Builder;
use twolane::tools::RawTool;

use crate::support::{Protocol, Request, Response, Server, messages};

fn deep(builder: Builder) -> Builder {
    let schema = json!({
        "type": "object",
        "properties": {
            "outer": {"type": "object", "properties": {
                "inner": {"type": "object", "properties": {
                    "tenant": {"type": "string", "x-mcp-header": "Tenant"},
                }},
                "a/b~c": {"type": "boolean", "x-mcp-header": "Slashed"},
            }},
            "number": {"type": "integer", "x-mcp-header": "Number"},
        },
    });
    builder.tool(RawTool::new("deep", "Mirrors from below.", schema, |arguments: Value| async move {
        arguments.to_string()
    }))
}

fn call(arguments: &str, mirrored: &[(&str, &[u8])]) -> Request {
    let mut request = messages::modern_call(7, "deep", "THESE".into());
    request.body = String::from_utf8(request.body).unwrap().replace("\"THESE\"", arguments).into_bytes();
    mirrored.iter().fold(request, |request, (name, value)| request.header(name, value))
}

#[track_caller]
fn assert_refused(response: &Response, data: Value, context: &str) {
    assert_eq!((response.status, response.code()), (400, -32020), "{context}: {response}");
    assert_eq!(response.json()["id"], 7, "{context}");
    assert_eq!(response.json()["error"]["data"], data, "{context}");
}

#[test]
fn arguments_below_others() {
    let server = Server::with(deep);
    let (tenant, slashed) = ("Mcp-Param-Tenant", "Mcp-Param-Slashed");
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let nested = r#"{"outer":{"inner":{"tenant":"t"},"a/b~c":true}}"#;
        assert_eq!(client.send(&call(nested, &[(tenant, b"t"), (slashed, b"true")])).status, 200);
        let missing = client.send(&call(nested, &[(slashed, b"true")]));
        assert_refused(&missing, json!({"header": tenant, "expected": "t"}), "missing");
        let missing = client.send(&call(nested, &[(tenant, b"t")]));
        assert_refused(&missing, json!({"header": slashed, "expected": "true"}), "missing");
        // A value of the same name elsewhere is not the argument; nor is one below something that is no object.
        for arguments in [
            r#"{"tenant":"t"}"#,
            r#"{"outer":{"tenant":"t"}}"#,
            r#"{"outer":{"inner":null}}"#,
            r#"{"outer":null}"#,
            "{}",
            "null",
        ] {
            assert_eq!(client.send(&call(arguments, &[])).status, 200, "{arguments}");
            let sent = client.send(&call(arguments, &[(tenant, b"t")]));
            assert_refused(&sent, json!({"header": tenant, "received": "t"}), arguments);
        }
    }
}

#[test]
fn numbers_are_compared_as_numbers() {
    let server = Server::with(deep);
    let mut client = server.http1();
    let header = "Mcp-Param-Number";
    for (body, sent) in [
        ("42", "42"),
        ("42", "42.0"),
        ("42.0", "42"),
        ("4.2e1", "42.00"),
        ("-7", "-7.0"),
        ("0", "-0"),
        ("-0.0", "0"),
        ("7", "007"),
        ("9007199254740993", "9007199254740993"),
        ("9223372036854775807", "9223372036854775807.0"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("18446744073709551615", "18446744073709551615"),
    ] {
        let response = client.send(&call(&format!("{{\"number\":{body}}}"), &[(header, sent.as_bytes())]));
        assert_eq!(response.status, 200, "{body} {sent}: {response}");
    }
    for (body, sent, malformed) in [
        ("42", "43", false),
        ("42", "-42", false),
        ("9007199254740993", "9007199254740992", false),
        ("18446744073709551615", "-1", false),
        ("42", "42.5", true),
        ("42", "4.2e1", true),
        ("42", "0x2a", true),
        ("42", "+42", true),
        ("42", "42.", true),
        ("42", "4 2", true),
        ("42", "", true),
        ("42", "forty-two", true),
        ("42", "=?base64?NDI?=", true),
    ] {
        let response = client.send(&call(&format!("{{\"number\":{body}}}"), &[(header, sent.as_bytes())]));
        let data = json!({"header": header, "expected": body, "received": sent});
        assert_refused(&response, data, &format!("{body} {sent}"));
        assert_eq!(response.text().contains("malformed"), malformed, "{body} {sent}: {response}");
    }
}

#[test]
fn encoded_text() {
    let server = Server::with(deep);
    let mut client = server.http1();
    let header = "Mcp-Param-Tenant";
    let arguments = |text: &str| json!({"outer": {"inner": {"tenant": text}}}).to_string();
    for (text, sent) in [
        ("Hello", "Hello"),
        ("Hello", "=?base64?SGVsbG8=?="),
        ("", "=?base64??="),
        ("", ""),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("a\r\nb\0", "=?base64?YQ0KYgA=?="),
        // What only looks like the marker stands for itself.
        ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
        ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
    ] {
        let response = client.send(&call(&arguments(text), &[(header, sent.as_bytes())]));
        assert_eq!(response.status, 200, "{text:?} {sent}: {response}");
    }
    for (sent, malformed) in [
        ("hello", false),
        ("\"Hello\"", false),
        ("=?base64?aGVsbG8=?=", false),
        ("=?base64?SGVsbG8?=", true),
        ("=?base64?SGVsbG9=?=", true),
        ("=?base64?SGVs bG8=?=", true),
        ("=?base64?SGVsbG8_?=", true),
        ("=?base64?SGVsbG8==?=", true),
        ("=?base64?/w==?=", true),
        ("caf\u{e9}", true),
    ] {
        let response = client.send(&call(&arguments("Hello"), &[(header, sent.as_bytes())]));
        assert_eq!((response.status, response.code()), (400, -32020), "{sent}: {response}");
        assert_eq!(response.text().contains("malformed"), malformed, "{sent}: {response}");
    }
    let raw = client.send(&call(&arguments("Hello"), &[(header, b"\xe9")]));
    assert_refused(&raw, json!({"header": header, "expected": "Hello"}), "not UTF-8");
}

/// The older lane has no mirrored headers: whatever is sent is not looked at.
#[test]
fn the_legacy_lane_does_not_look() {
    let server = Server::start();
    let session = server.session();
    let arguments = json!({"region": "r", "query": "q", "limit": 1});
    let message = messages::request(7, "tools/call", messages::call("sql", arguments));
    for request in [
        messages::legacy(&session, &message),
        messages::legacy(&session, &message)
            .header("Mcp-Method", "tools/list")
            .header("Mcp-Name", "echo")
            .header("Mcp-Param-Region", "other")
            .header("Mcp-Param-Limit", "x")
            .header("Mcp-Param-Limit", "y"),
    ] {
        for protocol in Protocol::BOTH {
            let response = server.client(protocol).send(&request);
            assert!(response.result().get("isError").is_none(), "{response}");
        }
    }
    let initialize = messages::initialize(messages::LEGACY).header("Mcp-Method", "tools/list");
    assert_eq!(server.send(&initialize).status, 200);
}

#[test]
fn capabilities_that_a_tool_asks_for() {
    let server = Server::with(|builder| {
        let schema = json!({"type": "object"});
        builder.tool(
            RawTool::new("ask", "Asks the client.", schema, |_: Value| async { "answered" })
                .requires("elicitation"),
        )
    });
    let key = "io.modelcontextprotocol/clientCapabilities";
    let with = |capabilities: Value| {
        let mut params = messages::call("ask", json!({}));
        params["_meta"][key] = json!({});
        let mut request = messages::modern(7, "tools/call", params);
        let text = String::from_utf8(request.body).unwrap();
        request.body = text.replace(&format!("\"{key}\":{{}}"), &format!("\"{key}\":{capabilities}")).into();
        request
    };
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for capabilities in
            [json!({}), json!({"elicitation": null}), json!({"sampling": {}, "Elicitation": {}})]
        {
            for accept in ["application/json, text/event-stream", "text/event-stream"] {
                let response = client.send(&with(capabilities.clone()).set("Accept", accept));
                assert_eq!((response.status, response.code()), (400, -32021), "{response}");
                let data = json!({"requiredCapabilities": {"elicitation": {}}});
                assert_eq!((&response.json()["id"], &response.json()["error"]["data"]), (&json!(7), &data));
            }
        }
        for capabilities in [json!({"elicitation": {}}), json!({"elicitation": {"form": {}}})] {
            assert_eq!(client.send(&with(capabilities)).tool_text(), "answered");
        }
        // A session's capabilities were declared when it was opened; nothing is asked again.
        let session = server.session();
        let message = messages::request(7, "tools/call", messages::call("ask", json!({})));
        assert_eq!(client.send(&messages::legacy(&session, &message)).tool_text(), "answered");
    }
}
