//! What a body may say: every way to trip the rows that read it, with the whole message of each.

use serde_json::{Value, json};
use twolane::tables::rejection::Rejection::{self, *};

use crate::support::{Client, Protocol, Request, Response, Server, messages};

#[track_caller]
fn assert_refused(
    server: &Server,
    client: &mut Client,
    request: &Request,
    row: Rejection,
    message: &str,
) -> Response {
    let before = server.met();
    let response = client.send(request);
    let body = String::from_utf8_lossy(&request.body);
    assert_eq!(server.met_since(&before), [row], "{body}: {response}");
    assert_eq!(response.json()["error"]["message"], message, "{body}");
    response
}

#[test]
fn bodies_that_are_not_json() {
    let server = Server::start();
    let deep = format!("{}{}", "[".repeat(129), "]".repeat(129));
    let cases: &[(&[u8], &str)] = &[
        (b"", "the body is empty"),
        (b" \r\n\t ", "the body is empty"),
        (b"\xef\xbb\xbf{}", "the body starts with a byte-order mark, JSON has none"),
        (b"\xfe\xff\x00{", "the body is not UTF-8 at byte 0"),
        (b"{\"a\":\"\xff\"}", "the body is not UTF-8 at byte 6"),
        (br#"{"a":"\ud800"}"#, r"a malformed \u escape or a lone surrogate in the string at byte 5"),
        (b"{\"jsonrpc\":\"2.0\"", "the text ends too early at byte 16"),
        (b"{}x", "more text after the end of the value at byte 2"),
        (b"nul", "a word that is not true, false or null at byte 0"),
        (
            br#"{"a":18446744073709551616}"#,
            "the number at byte 5 is an integer outside i64..u64 or a float that overflows",
        ),
        (
            br#"{"a":-9223372036854775809}"#,
            "the number at byte 5 is an integer outside i64..u64 or a float that overflows",
        ),
        (br#"{"a":1e999}"#, "the number at byte 5 is an integer outside i64..u64 or a float that overflows"),
        (deep.as_bytes(), "the body nests deeper than 128 arrays and objects at byte 128"),
        (br#"{"id":1,"id":2,"method":"ping"}"#, "the key `id` is duplicated"),
    ];
    for protocol in Protocol::BOTH {
        for (body, fault) in cases {
            let mut client = server.client(protocol);
            let message = format!("The body is not JSON: {fault}");
            let response =
                assert_refused(&server, &mut client, &Request::post(*body), MalformedJson, &message);
            assert_eq!((response.status, response.code()), (400, -32700), "{response}");
            assert_eq!(response.json()["id"], Value::Null);
        }
    }
}

/// A key of the protocol's own stands once in the object that it belongs to; other keys are their owner's business.
#[test]
fn duplicated_keys() {
    let server = Server::start();
    let meta = |key: &str| {
        format!(
            r#"{{"params":{{"_meta":{{"io.modelcontextprotocol/{key}":1,"io.modelcontextprotocol/{key}":1}}}}}}"#
        )
    };
    let mut own: Vec<(String, String)> = ["jsonrpc", "id", "method", "params", "result", "error"]
        .map(|key| (key.to_owned(), format!(r#"{{"{key}":1,"{key}":1}}"#)))
        .into();
    own.extend(
        ["_meta", "name", "uri", "arguments", "taskId", "protocolVersion"]
            .map(|key| (key.to_owned(), format!(r#"{{"params":{{"{key}":1,"{key}":1}}}}"#))),
    );
    own.extend(
        ["protocolVersion", "clientInfo", "clientCapabilities", "logLevel"]
            .map(|key| (format!("io.modelcontextprotocol/{key}"), meta(key))),
    );
    own.push(("id".to_owned(), r#"{"id":1,"\u0069d":2}"#.to_owned()));
    for (key, body) in own {
        let mut client = server.client(Protocol::Http1);
        let message = format!("The body is not JSON: the key `{key}` is duplicated");
        assert_refused(&server, &mut client, &Request::post(body), MalformedJson, &message);
    }
    let others = r#"{"jsonrpc":"2.0","id":1,"method":"ping","x":1,"x":2,"params":{"id":1,"id":2,"a":{"method":1,"method":2}}}"#;
    assert_eq!(server.send(&Request::post(others)).status, 200);
}

#[test]
fn envelopes_that_are_none() {
    let server = Server::start();
    let session = server.session();
    let object = "a message must be one JSON object; arrays of them are batches, served only in sessions of 2025-03-26";
    let method = "must be a string";
    let nothing = "is missing, and there is no result or error with an id";
    for (body, id, errors) in [
        (r#""hi""#, "null", &[("", object)][..]),
        ("42", "null", &[("", object)]),
        ("null", "null", &[("", object)]),
        ("true", "null", &[("", object)]),
        ("[]", "null", &[("", object)]),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "null", &[("", object)]),
        (r#"{"hello":"world"}"#, "null", &[("/jsonrpc", "must be the string 2.0"), ("/method", nothing)]),
        (r#"{"jsonrpc":"2.0"}"#, "null", &[("/method", nothing)]),
        (r#"{"jsonrpc":"2.0","id":1}"#, "null", &[("/method", nothing)]),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "null", &[("/method", method)]),
        (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, "null", &[("/method", method)]),
        (r#"{"jsonrpc":"2.0","id":1,"method":5,"result":{}}"#, "null", &[("/method", method)]),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "1", &[("/jsonrpc", "must be the string 2.0")]),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, "1", &[("/jsonrpc", "must be the string 2.0")]),
        (r#"{"id":"a","method":"ping"}"#, "\"a\"", &[("/jsonrpc", "must be the string 2.0")]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, "1", &[("/params", "must be an object")]),
        (
            r#"{"id":1,"method":"ping","params":"x"}"#,
            "1",
            &[("/jsonrpc", "must be the string 2.0"), ("/params", "must be an object")],
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":7}"#,
            "null",
            &[("/params", "must be an object")],
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":5}"#, "null", &[("/result", "must be an object")]),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}"#,
            "null",
            &[("/error", "must not stand beside result")],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"m"}}"#,
            "null",
            &[("/error", "must have an integer code and a string message")],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#,
            "null",
            &[("/error", "must have an integer code and a string message")],
        ),
        (
            r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#,
            "null",
            &[("/id", "is missing beside error")],
        ),
    ] {
        let (path, text) = errors[0];
        let first = if path.is_empty() { text.to_owned() } else { format!("{path} {text}") };
        for protocol in Protocol::BOTH {
            let request = Request::post(body).session(&session);
            let mut client = server.client(protocol);
            let message = format!("Invalid message: {first}");
            let response = assert_refused(&server, &mut client, &request, InvalidMessage, &message);
            assert_eq!((response.status, response.code()), (400, -32600), "{response}");
            assert_eq!(response.json()["id"].to_string(), id, "{body}: {response}");
            let listed: Vec<_> =
                errors.iter().map(|(path, message)| json!({"path": path, "message": message})).collect();
            assert_eq!(response.json()["error"]["data"], json!({"errors": listed}), "{body}");
        }
    }
    // Null params are as good as none.
    let null = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#;
    assert_eq!(server.send(&Request::post(null).session(&session)).result(), json!({}));
}

/// The `_meta` of a modern request.
#[test]
fn protocol_fields() {
    let server = Server::start();
    const KEY: &str = "io.modelcontextprotocol/";
    let version = "params._meta needs the string io.modelcontextprotocol/protocolVersion";
    let capabilities = "params._meta needs the object io.modelcontextprotocol/clientCapabilities";
    let info = "io.modelcontextprotocol/clientInfo in params._meta must be an object with the strings name and version";
    let level = "io.modelcontextprotocol/logLevel in params._meta must be one of the eight levels, debug to emergency";
    for (field, value, message) in [
        ("protocolVersion", json!(null), version),
        ("protocolVersion", json!(20_260_728), version),
        ("clientCapabilities", json!(null), capabilities),
        ("clientCapabilities", json!([]), capabilities),
        ("clientCapabilities", json!("x"), capabilities),
        ("clientInfo", json!(null), info),
        ("clientInfo", json!("x"), info),
        ("clientInfo", json!({}), info),
        ("clientInfo", json!({"name": "n"}), info),
        ("clientInfo", json!({"name": "n", "version": 1}), info),
        ("logLevel", json!("verbose"), level),
        ("logLevel", json!("Info"), level),
        ("logLevel", json!(3), level),
        ("logLevel", json!(null), level),
        ("logLevel", json!("info"), ""),
        ("clientInfo", json!({"name": "", "version": "", "x": 1}), ""),
    ] {
        for protocol in Protocol::BOTH {
            let mut request = messages::modern("m", "tools/list", json!({}));
            let mut body: Value = serde_json::from_slice(&request.body).unwrap();
            body["params"]["_meta"][format!("{KEY}{field}")] = value.clone();
            request.body = body.to_string().into_bytes();
            let mut client = server.client(protocol);
            if message.is_empty() {
                assert_eq!(client.send(&request).status, 200, "{field} {value}");
                continue;
            }
            let response = assert_refused(&server, &mut client, &request, InvalidProtocolField, message);
            assert_eq!((response.status, response.code()), (400, -32602), "{response}");
            let answer = response.json();
            assert_eq!((&answer["id"], answer["error"].get("data")), (&json!("m"), None), "{response}");
        }
    }
    let header =
        |body: Value| Request::post(body.to_string()).header("MCP-Protocol-Version", messages::MODERN);
    let mut client = server.client(Protocol::Http1);
    for (params, message) in [
        (Value::Null, "params._meta is missing"),
        (json!({}), "params._meta is missing"),
        (json!({"_meta": 5}), "params._meta must be an object"),
        (json!({"_meta": {}}), version),
    ] {
        let request = header(messages::request(1, "tools/list", params));
        assert_refused(&server, &mut client, &request, InvalidProtocolField, message);
    }
    // Without `clientInfo` it is as good.
    let bare =
        json!({"_meta": {messages::VERSION_KEY: messages::MODERN, format!("{KEY}clientCapabilities"): {}}});
    let request = header(messages::request(1, "tools/list", bare)).header("Mcp-Method", "tools/list");
    assert_eq!(client.send(&request).status, 200);
}

/// Methods that nobody knows, and those of the other lane.
#[test]
fn unknown_methods() {
    let server = Server::start();
    let session = server.session();
    let older = "belongs to the versions with a handshake, 2025-11-25 and older";
    for (method, more) in [
        ("nope", ""),
        ("Tools/List", ""),
        ("notifications/initialized", ""),
        ("rpc.discover", ""),
        ("initialize", older),
        ("ping", older),
    ] {
        for protocol in Protocol::BOTH {
            let mut client = server.client(protocol);
            let message = format!("Method not found: {method} {more}");
            let request = messages::modern(3, method, json!({}));
            let response = assert_refused(&server, &mut client, &request, UnknownMethod, message.trim());
            assert_eq!((response.status, response.code()), (404, -32601), "{response}");
        }
    }
    for method in ["nope", "Tools/List", "notifications/initialized", "server/discover", "Ping"] {
        let request = messages::legacy(&session, &messages::request(3, method, json!({})));
        let before = server.met();
        let response = server.send(&request);
        assert_eq!((response.status, response.code()), (200, -32601), "{response}");
        assert!(server.met_since(&before).is_empty(), "on the legacy lane it is no rejection");
        let message = format!("Method not found: {method}");
        assert_eq!(response.json()["error"]["message"], message, "{response}");
    }
}

#[test]
fn client_capabilities() {
    let server = Server::start();
    let arguments = json!({"region": "r", "query": "q"});
    let message = "The request's clientCapabilities lack elicitation";
    for (declared, lacks) in [
        (json!({}), true),
        (json!({"elicitation": null}), true),
        (json!({"sampling": {}}), true),
        (json!({"elicitation": {}}), false),
        (json!({"elicitation": {"form": {}}, "roots": {}}), false),
    ] {
        for protocol in Protocol::BOTH {
            let mut request =
                messages::modern_call(1, "confirm", arguments.clone()).header("Mcp-Param-Region", "r");
            let mut body: Value = serde_json::from_slice(&request.body).unwrap();
            body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = declared.clone();
            request.body = body.to_string().into_bytes();
            let mut client = server.client(protocol);
            if lacks {
                let runs = server.tools.runs();
                let response =
                    assert_refused(&server, &mut client, &request, MissingClientCapability, message);
                assert_eq!((response.status, response.code()), (400, -32021), "{response}");
                let data = json!({"requiredCapabilities": {"elicitation": {}}});
                assert_eq!(response.json()["error"]["data"], data, "{response}");
                assert_eq!(server.tools.runs(), runs);
            } else {
                assert_eq!(client.send(&request).tool_text(), "confirmed");
            }
        }
    }
}
