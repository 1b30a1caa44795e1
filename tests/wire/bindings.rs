//! Mirrored headers of modern requests: every header with every fault, every pair of faulty headers, and what passes.

use serde_json::{Value, json};
use twolane::tables::rejection::Rejection;

use crate::support::{Http1, Protocol, Request, Response, Server, messages};

/// The headers in the order in which they are checked, with the value that a good request has. The mirrored arguments stand in the order
/// of the tool's schema; no specification asks for that, but some order there must be.
const HEADERS: [(&str, &str); 6] = [
    ("MCP-Protocol-Version", "2026-07-28"),
    ("Mcp-Method", "tools/call"),
    ("Mcp-Name", "sql"),
    ("Mcp-Param-Region", "us-west1"),
    ("Mcp-Param-Limit", "10"),
    ("Mcp-Param-Dry", "true"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Missing,
    Duplicated,
    Malformed,
    Mismatch,
}

impl Fault {
    const ALL: [Self; 4] = [Self::Missing, Self::Duplicated, Self::Malformed, Self::Mismatch];

    const fn row(self) -> Rejection {
        match self {
            Self::Missing => Rejection::HeaderMissing,
            Self::Duplicated => Rejection::HeaderDuplicated,
            Self::Malformed => Rejection::HeaderMalformed,
            Self::Mismatch => Rejection::HeaderMismatch,
        }
    }

    /// The values that the header is sent with, and `received`.
    fn values(self, header: &str) -> (Vec<Vec<u8>>, Option<&'static str>) {
        let one = |value: &'static str| (vec![value.as_bytes().to_vec()], Some(value));
        match (self, header) {
            (Self::Missing, _) => (vec![], None),
            (Self::Duplicated, _) => (vec![b"a".to_vec(), b"b".to_vec()], Some("a, b")),
            // Not UTF-8, so it is not repeated.
            (Self::Malformed, "MCP-Protocol-Version") => (vec![b"2026-07-28\xe9".to_vec()], None),
            (Self::Malformed, "Mcp-Method") => (vec![b"\xfftools/call".to_vec()], None),
            (Self::Malformed, "Mcp-Name") => one("=?base64?c3Fs===?="),
            (Self::Malformed, "Mcp-Param-Region") => one("=?base64?dXMtd2VzdDE?="),
            (Self::Malformed, "Mcp-Param-Limit") => one("1e1"),
            (Self::Malformed, _) => one("True"),
            (Self::Mismatch, "MCP-Protocol-Version") => one("2025-11-25"),
            (Self::Mismatch, "Mcp-Method") => one("Tools/Call"),
            (Self::Mismatch, "Mcp-Name") => one("=?base64?U1FM?="),
            (Self::Mismatch, "Mcp-Param-Region") => one("=?base64?ZXU=?="),
            (Self::Mismatch, "Mcp-Param-Limit") => one("-10"),
            (Self::Mismatch, _) => one("false"),
        }
    }
}

fn good() -> Request {
    let arguments = json!({"region": "us-west1", "limit": 10, "dry": true, "query": "q"});
    HEADERS[3..].iter().fold(messages::modern_call(7, "sql", arguments), |request, (name, value)| {
        request.header(name, value)
    })
}

fn spoil(request: Request, header: &str, fault: Fault) -> Request {
    let (values, _) = fault.values(header);
    values.iter().fold(request.without(header), |request, value| request.header(header, value))
}

#[track_caller]
fn assert_refused(
    server: &Server,
    response: &Response,
    before: &[(Rejection, u64)],
    row: Rejection,
) -> Value {
    assert_eq!(server.met_since(before), [row], "{response}");
    assert_eq!(response.status, 400, "{response}");
    let error = response.json()["error"].take();
    assert_eq!(error["code"], -32020, "{response}");
    error
}

#[test]
fn every_header_with_every_fault() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        assert_eq!(client.send(&good()).status, 200);
        for (header, value) in HEADERS {
            for fault in Fault::ALL {
                if (header, fault) == ("MCP-Protocol-Version", Fault::Duplicated) {
                    // `singleton` has refused that before.
                    continue;
                }
                let (before, runs) = (server.met(), server.tools.runs());
                let response = client.send(&spoil(good(), header, fault));
                let error = assert_refused(&server, &response, &before, fault.row());
                let mut data = json!({"header": header, "expected": value});
                if let (_, Some(received)) = fault.values(header) {
                    data["received"] = received.into();
                }
                assert_eq!(error["data"], data, "{fault:?} {header}");
                assert!(error["message"].as_str().unwrap().contains(header), "{error}");
                assert_eq!(response.json()["id"], 7);
                assert_eq!(server.tools.runs(), runs);
            }
        }
    }
}

#[test]
fn the_first_header_that_fails_answers() {
    let server = Server::start();
    let mut client = server.http1();
    for (at, (first, _)) in HEADERS.iter().enumerate() {
        for (second, _) in &HEADERS[at + 1..] {
            for one in Fault::ALL.into_iter().filter(|&one| (at, one) != (0, Fault::Duplicated)) {
                for other in Fault::ALL {
                    let before = server.met();
                    let request = spoil(spoil(good(), second, other), first, one);
                    let response = client.send(&request);
                    let error = assert_refused(&server, &response, &before, one.row());
                    assert_eq!(
                        error["data"]["header"], *first,
                        "{one:?} {first}, {other:?} {second}: {response}"
                    );
                }
            }
        }
    }
}

/// A version that nobody serves, and another in the header: the disagreement comes first.
#[test]
fn a_disagreement_comes_before_an_unserved_version() {
    let server = Server::start();
    let mut client = server.http1();
    for (body, header, row) in [
        ("2027-01-01", Some("2026-07-28"), Rejection::HeaderMismatch),
        ("2027-01-01", Some("2027-01-02"), Rejection::HeaderMismatch),
        ("2027-01-01", Some("2027-01-01"), Rejection::UnsupportedProtocolVersion),
        ("2027-01-01", None, Rejection::UnsupportedProtocolVersion),
        ("2025-11-25", Some("2025-11-25"), Rejection::UnsupportedProtocolVersion),
        ("2025-11-25", Some("2026-07-28"), Rejection::HeaderMismatch),
        ("", Some("2026-07-28"), Rejection::HeaderMismatch),
        ("", None, Rejection::UnsupportedProtocolVersion),
    ] {
        let mut request = good().without("MCP-Protocol-Version");
        request.body = String::from_utf8(request.body).unwrap().replace("2026-07-28", body).into_bytes();
        let request = match header {
            Some(header) => request.header("MCP-Protocol-Version", header),
            None => request,
        };
        let before = server.met();
        let response = client.send(&request);
        assert_eq!(server.met_since(&before), [row], "{body} {header:?}: {response}");
        if row == Rejection::UnsupportedProtocolVersion {
            let error = response.json()["error"].take();
            let supported = json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]);
            assert_eq!(error["data"], json!({"supported": supported, "requested": body}), "{response}");
            let told = error["message"].as_str().unwrap().contains("opened by initialize");
            assert_eq!(told, body == "2025-11-25", "{response}");
        }
    }
}

/// Sends a call of `sql` with these arguments and these mirrored arguments alone.
fn call(client: &mut Http1, arguments: Value, mirrored: &[(&str, &str)]) -> Response {
    let call = messages::modern_call(7, "sql", arguments);
    client.send(&mirrored.iter().fold(call, |request, (name, value)| request.header(name, value)))
}

#[test]
fn what_matches() {
    let server = Server::start();
    let mut client = server.http1();
    let full = || json!({"region": "us-west1", "limit": 10, "query": "q"});
    let region = ("Mcp-Param-Region", "us-west1");
    let runs = server.tools.runs();
    for mirrored in [
        &[region, ("Mcp-Param-Limit", "10")][..],
        &[("mcp-param-region", "us-west1"), ("MCP-PARAM-LIMIT", "10")],
        &[("Mcp-Param-Region", "=?base64?dXMtd2VzdDE=?="), ("Mcp-Param-Limit", "=?base64?MTA=?=")],
        &[("Mcp-Param-Region", " \t us-west1 \t"), ("Mcp-Param-Limit", "10.0")],
        &[region, ("Mcp-Param-Limit", "10.000")],
        &[region, ("Mcp-Param-Limit", "10"), ("Mcp-Param-Query", "something else")],
    ] {
        let response = call(&mut client, full(), mirrored);
        assert_eq!(response.status, 200, "{mirrored:?}: {response}");
        assert!(response.result().get("isError").is_none_or(|error| error == false), "{response}");
    }
    assert_eq!(server.tools.runs(), runs + 6);
    // Arguments that are absent or null need no header, and a wrong type is for the tool's schema to answer.
    for (arguments, mirrored, fails) in [
        (json!({"region": "é", "query": "q"}), &[("Mcp-Param-Region", "=?base64?w6k=?=")][..], false),
        (
            json!({"region": "a", "query": "q", "dry": false}),
            &[("Mcp-Param-Region", "a"), ("Mcp-Param-Dry", "false")],
            false,
        ),
        (
            json!({"region": "a", "query": "q", "limit": 10.0}),
            &[("Mcp-Param-Region", "a"), ("Mcp-Param-Limit", "10")],
            false,
        ),
        (json!({"region": null, "query": "q"}), &[], true),
        (json!({"region": 5, "query": "q"}), &[], true),
        (json!({"region": 5, "query": "q"}), &[("Mcp-Param-Region", "5")], true),
        (
            json!({"region": "a", "query": "q", "limit": "10"}),
            &[region_of("a"), ("Mcp-Param-Limit", "10")],
            true,
        ),
        (json!({}), &[], true),
    ] {
        let response = call(&mut client, arguments.clone(), mirrored);
        let error = response.result().get("isError").is_some_and(|error| error == true);
        assert_eq!(error, fails, "{arguments} {mirrored:?}: {response}");
    }
}

const fn region_of(value: &str) -> (&'static str, &str) {
    ("Mcp-Param-Region", value)
}

#[test]
fn a_header_for_an_argument_that_is_not_there() {
    let server = Server::start();
    let mut client = server.http1();
    let good = [region_of("a")];
    for (arguments, header, value, row) in [
        (json!({"region": "a", "query": "q"}), "Mcp-Param-Limit", "10", Rejection::HeaderMismatch),
        (
            json!({"region": "a", "query": "q", "limit": null}),
            "Mcp-Param-Limit",
            "10",
            Rejection::HeaderMismatch,
        ),
        (json!({"region": "a", "query": "q"}), "Mcp-Param-Limit", "ten", Rejection::HeaderMalformed),
        (json!({"region": "a", "query": "q"}), "Mcp-Param-Dry", "yes", Rejection::HeaderMalformed),
        (
            json!({"region": "a", "query": "q", "dry": null}),
            "Mcp-Param-Dry",
            "true",
            Rejection::HeaderMismatch,
        ),
    ] {
        let before = server.met();
        let response = call(&mut client, arguments, &[good[0], (header, value)]);
        let error = assert_refused(&server, &response, &before, row);
        assert_eq!(error["data"], json!({"header": header, "received": value}), "{response}");
    }
    let before = server.met();
    let response = call(&mut client, json!({"query": "q"}), &good);
    let error = assert_refused(&server, &response, &before, Rejection::HeaderMismatch);
    assert_eq!(error["data"], json!({"header": "Mcp-Param-Region", "received": "a"}), "{response}");
}

/// A modern notification needs neither `_meta` nor headers, but what it sends must match.
#[test]
fn notifications_mirror_what_they_send() {
    let server = Server::start();
    let mut client = server.http1();
    let meta = json!({"_meta": {messages::VERSION_KEY: messages::MODERN}});
    let named = json!({"name": "a", "_meta": {messages::VERSION_KEY: messages::MODERN}});
    let cancelled = "notifications/cancelled";
    let version = ("MCP-Protocol-Version", messages::MODERN);
    for (method, params, headers, refused) in [
        (cancelled, Value::Null, &[version][..], None),
        (cancelled, meta.clone(), &[], None),
        (cancelled, meta.clone(), &[version, ("Mcp-Method", cancelled)], None),
        (
            cancelled,
            meta.clone(),
            &[("Mcp-Method", "tools/call")],
            Some(("Mcp-Method", Rejection::HeaderMismatch)),
        ),
        (
            cancelled,
            Value::Null,
            &[version, ("Mcp-Method", "x")],
            Some(("Mcp-Method", Rejection::HeaderMismatch)),
        ),
        (
            cancelled,
            meta.clone(),
            &[("Mcp-Method", "a"), ("Mcp-Method", "b")],
            Some(("Mcp-Method", Rejection::HeaderDuplicated)),
        ),
        (
            cancelled,
            meta.clone(),
            &[("MCP-Protocol-Version", "2025-11-25")],
            Some(("MCP-Protocol-Version", Rejection::HeaderMismatch)),
        ),
        // Requests only are named after a parameter by the specification, but a name that is sent has to fit there too.
        ("tools/call", named, &[("Mcp-Name", "b")], Some(("Mcp-Name", Rejection::HeaderMismatch))),
    ] {
        let mut message = messages::notification(method);
        if !params.is_null() {
            message["params"] = params;
        }
        let request = headers
            .iter()
            .fold(Request::post(message.to_string()), |request, (name, value)| request.header(name, value));
        let before = server.met();
        let response = client.send(&request);
        match refused {
            None => {
                assert_eq!(
                    (response.status, response.body.len()),
                    (202, 0),
                    "{message} {headers:?}: {response}"
                );
                assert_eq!(response.header("content-length"), Some("0"));
                assert_eq!(response.header("content-type"), None);
            }
            Some((header, row)) => {
                let error = assert_refused(&server, &response, &before, row);
                assert_eq!(error["data"]["header"], header, "{response}");
                assert_eq!(response.json()["id"], Value::Null, "{response}");
            }
        }
    }
    assert_eq!(server.tools.runs(), 0);
}
