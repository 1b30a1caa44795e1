//! Ids: which come back, how they are spelled, and that only a request's ever does.

use serde_json::{Value, json};
use twolane::tables::rejection::Rejection;
use twolane::tables::scenarios::{Base, World, scenario};

use crate::draft::Draft;
use crate::place::Place;
use crate::support::{Protocol, Request, Response, Server, messages};

/// Ids as they are sent, and as they come back: the same JSON value, integers digit for digit, strings with minimal escaping.
const GOOD: [(&str, &str); 26] = [
    ("0", "0"),
    ("-1", "-1"),
    ("7", "7"),
    ("1774232524389", "1774232524389"),
    ("9007199254740991", "9007199254740991"),
    ("9007199254740993", "9007199254740993"),
    ("9223372036854775807", "9223372036854775807"),
    ("-9223372036854775808", "-9223372036854775808"),
    ("18446744073709551615", "18446744073709551615"),
    ("1.0", "1.0"),
    ("-0", "-0"),
    ("-0.0", "-0.0"),
    ("1e2", "1e2"),
    ("12E+0", "12E+0"),
    ("100000000000000000000.0", "100000000000000000000.0"),
    (r#""""#, r#""""#),
    (r#""7""#, r#""7""#),
    (r#""null""#, r#""null""#),
    (r#""héllo 😀""#, r#""héllo 😀""#),
    (r#""\u0041\/\u00e9""#, r#""A/é""#),
    (r#""\ud83d\ude00""#, r#""😀""#),
    (r#""a\"b\\c""#, r#""a\"b\\c""#),
    (r#""\n\r\t""#, r#""\n\r\t""#),
    (r#""\u0000\u001f""#, r#""\u0000\u001f""#),
    (r#""\u2028""#, "\"\u{2028}\""),
    (r#""a: \u0022 }""#, r#""a: \" }""#),
];

const BAD: [&str; 10] =
    ["null", "true", "false", "1.5", "-0.5", "1e-1", "{}", "[]", r#"{"id":1}"#, r#"["a"]"#];

/// A legacy body with an id spelled as it is given.
fn body(id: &str, method: &str, params: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// A modern POST of the same.
fn modern(id: &str, method: &str, params: Value) -> Request {
    let mut request = messages::modern(0, method, params);
    let text = String::from_utf8(request.body).unwrap();
    request.body = text.replace(r#""id":0,"#, &format!(r#""id":{id},"#)).into_bytes();
    request
}

#[track_caller]
fn assert_id(response: &Response, status: u16, id: &str, rest: &str) {
    let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"{rest}":"#);
    assert_eq!(response.status, status, "{response}");
    let text = match response.header("content-type") {
        // On a stream the characters that some take for line ends are escaped; the value is the same.
        Some("text/event-stream") => {
            let data = response.events().pop().and_then(|event| event.data).unwrap_or_default();
            data.replace("\\u2028", "\u{2028}")
        }
        _ => response.text().to_owned(),
    };
    assert!(text.starts_with(&start), "{start} is not the start of {text}");
}

/// In answers and in rejections, at once and later, as JSON and on a stream, an id is the value that was sent.
#[test]
fn ids_come_back_as_they_were_sent() {
    let server = Server::start();
    let session = server.session();
    let slow = messages::call("sleep", json!({"ms": 0}));
    let mut steps = messages::call("steps", json!({"steps": 1}));
    steps["_meta"] = json!({"progressToken": 1});
    let legacy =
        |id: &str, method: &str, params: &Value| Request::post(body(id, method, params)).session(&session);
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for (id, back) in GOOD {
            assert_id(&client.send(&Request::post(body(id, "ping", &json!({})))), 200, back, "result");
            assert_id(&client.send(&legacy(id, "tools/list", &json!({}))), 200, back, "result");
            assert_id(&client.send(&legacy(id, "tools/call", &slow)), 200, back, "result");
            assert_id(&client.send(&legacy(id, "tools/call", &steps)), 200, back, "result");
            assert_id(&client.send(&legacy(id, "tools/call", &json!({"name": 1}))), 200, back, "error");
            assert_id(&client.send(&legacy(id, "no/method", &json!({}))), 200, back, "error");
            assert_id(&client.send(&Request::post(body(id, "tools/list", &json!({})))), 400, back, "error");
            assert_id(&client.send(&modern(id, "tools/list", json!({}))), 200, back, "result");
            assert_id(&client.send(&modern(id, "tools/call", slow.clone())), 200, back, "result");
            assert_id(&client.send(&modern(id, "tools/call", steps.clone())), 200, back, "result");
            assert_id(&client.send(&modern(id, "no/method", json!({}))), 404, back, "error");
            assert_id(&client.send(&modern(id, "ping", json!({})).without("Mcp-Method")), 400, back, "error");
        }
    }
}

/// An id stands wherever its sender puts it, among keys spelled alike.
#[test]
fn ids_stand_anywhere() {
    let server = Server::start();
    let mut client = server.http1();
    for body in [
        r#"{"id":1.0,"jsonrpc":"2.0","method":"ping"}"#,
        r#"{"method":"ping","params":{"id":2.0,"x":[{"id":3.0}]},"jsonrpc":"2.0","id":1.0}"#,
        r#"{"jsonrpc":"2.0","method":"ping","params":{"id":2.5},"id" : 1.0 }"#,
        r#"{ "x":"\"id\":2.0", "jsonrpc":"2.0","id":1.0,"method":"ping"}"#,
        r#"{"i\u0064x":2.0,"jsonrpc":"2.0","id":1.0,"method":"ping"}"#,
    ] {
        assert_id(&client.send(&Request::post(body)), 200, "1.0", "result");
    }
}

#[test]
fn what_is_no_id_is_refused_and_not_repeated() {
    let server = Server::start();
    let session = server.session();
    let call = messages::call("count", json!({}));
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for id in BAD {
            for request in [
                Request::post(body(id, "tools/call", &call)).session(&session),
                modern(id, "tools/call", call.clone()),
                Request::post(body(id, "ping", &json!({}))),
                Request::post(body(id, "initialize", &json!({}))),
            ] {
                let before = server.met();
                let response = client.send(&request);
                assert_id(&response, 400, "null", "error");
                assert_eq!(response.code(), -32600, "{response}");
                assert_eq!(server.met_since(&before), [Rejection::InvalidId], "{response}");
            }
        }
    }
    assert_eq!((server.tools.runs(), server.handle.sessions()), (0, 1));
}

#[test]
fn ids_may_be_8_kib_long() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for unit in ["a", "é", "\\u0061", "\\n"] {
            let bytes = if unit == "é" { 2 } else { 1 };
            let text = |length: usize| format!("\"{}\"", unit.repeat(length / bytes));
            let back = text(8192).replace("\\u0061", "a");
            let ping = |id: &str| Request::post(body(id, "ping", &json!({})));
            assert_id(&client.send(&ping(&text(8192))), 200, &back, "result");
            assert_id(&client.send(&modern(&text(8192), "no/method", json!({}))), 404, &back, "error");
            let long = text(8192 + bytes);
            for request in [ping(&long), modern(&long, "tools/list", json!({}))] {
                let before = server.met();
                assert_id(&client.send(&request), 400, "null", "error");
                assert_eq!(server.met_since(&before), [Rejection::InvalidId]);
            }
        }
    }
}

/// The four kinds; of the last one several, as it is anything else.
fn kinds() -> [(&'static str, Value); 7] {
    let call = messages::call("count", json!({}));
    [
        ("request", messages::request(7, "tools/call", call)),
        ("notification", messages::notification("notifications/cancelled")),
        ("response", json!({"jsonrpc": "2.0", "id": 7, "result": {}})),
        ("response", json!({"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "m"}})),
        ("unknown", json!({"jsonrpc": "2.0", "id": 7})),
        ("unknown", json!({"jsonrpc": "2.0", "id": 7, "method": 5})),
        ("unknown", json!({"jsonrpc": "2.0", "error": {"code": 1, "message": "m"}})),
    ]
}

/// The rows that a kind meets when a request of its shape does.
fn meets(row: Rejection, kind: &str) -> bool {
    match kind {
        "request" => true,
        "unknown" => !matches!(
            row,
            Rejection::MissingSessionId | Rejection::UnknownSession | Rejection::ProtocolVersionMismatch
        ),
        _ => true,
    }
}

#[test]
fn only_a_request_gets_its_id_back() {
    let place = Place::of(World::Usual);
    let rows = Rejection::ALL.iter().copied().filter(|row| {
        let scenario = scenario(*row);
        let shared = matches!(scenario.base, Base::Any | Base::Legacy) && scenario.verbs.contains(&"POST");
        // A null id makes a request of a notification.
        shared && scenario.world == World::Usual && *row != Rejection::InvalidId
    });
    for row in rows {
        let scenario = scenario(row);
        for (kind, message) in kinds() {
            for protocol in Protocol::BOTH {
                let mut draft = Draft::of(Base::Legacy, "POST", &place);
                draft.message(message.clone());
                draft.apply(scenario.edits);
                let before = place.server.met();
                let response = place.server.client(protocol).send(&draft.request());
                let context = format!("{row:?} {kind} {message} {protocol:?}: {response}");
                let met = if meets(row, kind) { row } else { Rejection::InvalidMessage };
                assert_eq!(place.server.met_since(&before), [met], "{context}");
                if row == Rejection::UnknownSession && met == row && kind != "request" {
                    assert_eq!((response.status, response.body.len()), (404, 0), "{context}");
                    assert_eq!(response.header("content-type"), None, "{context}");
                    continue;
                }
                let id = if kind == "request" && scenario.post.contains(r#""id":7"#) {
                    json!(7)
                } else {
                    json!(null)
                };
                assert_eq!(response.json()["id"], id, "{context}");
            }
        }
    }
    assert_eq!(place.server.tools.runs(), 0);
}

/// What has no id cannot be not ready: notifications and responses pass, whatever the session's state.
#[test]
fn only_requests_wait_for_readiness() {
    let place = Place::of(World::Usual);
    for (kind, message) in kinds() {
        let mut draft = Draft::of(Base::Opened, "POST", &place);
        draft.message(message);
        let status = place.server.send(&draft.request()).status;
        let expected = match kind {
            // `tools/call` may come before `notifications/initialized`.
            "request" => 200,
            "unknown" => 400,
            _ => 202,
        };
        assert_eq!(status, expected, "{kind}");
    }
}

/// The same id twice in flight on one session: each POST is answered on its own exchange.
#[test]
fn ids_in_flight_twice() {
    let server = Server::start();
    let session = server.session();
    for protocol in Protocol::BOTH {
        let begun = server.tools.gate.fates().begun;
        let message = messages::request("same", "tools/call", messages::call("gate", json!({})));
        let request = messages::legacy(&session, &message);
        std::thread::scope(|scope| {
            let calls = [0, 1].map(|_| scope.spawn(|| server.client(protocol).send(&request)));
            server.tools.gate.await_begun(begun + 2);
            server.tools.gate.open(2);
            for call in calls {
                assert_id(&call.join().unwrap(), 200, r#""same""#, "result");
            }
        });
    }
}
