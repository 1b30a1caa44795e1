//! Which lane a message takes: the first rule that holds, with the legacy lane on and off.

use serde_json::{Value, json};
use twolane::tables::rejection::Rejection;

use crate::place::NO_SESSION;
use crate::support::{Client, Protocol, Request, Server, messages};

/// How a message shows which lane it took.
#[derive(Debug, Clone, Copy)]
enum Shows {
    /// It is refused, and the event names the lane.
    Refused(Rejection, &'static str),
    /// It is answered with a modern result.
    Modern,
    /// It is answered with a legacy result.
    Legacy,
    /// It is answered with a JSON-RPC error that is no rejection, as the legacy lane does for unknown methods.
    LegacyError,
    /// It is accepted. Without a session, only the modern lane does that.
    Accepted,
}
use Shows::{Accepted, Legacy, LegacyError, Modern, Refused};

const SESSION: &str = "Mcp-Session-Id";
const VERSION: &str = "MCP-Protocol-Version";
const NEW: (&str, &str) = (VERSION, "2026-07-28");
const OLD: (&str, &str) = (VERSION, "2025-11-25");
const UNSERVED: (&str, &str) = (VERSION, "2099-01-01");
const METHOD: (&str, &str) = ("Mcp-Method", "tools/list");
/// Stands for the id of a session that is there.
const MINE: (&str, &str) = (SESSION, "mine");
const STALE: (&str, &str) = (SESSION, NO_SESSION);

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn list(meta: Value) -> Value {
    messages::request(1, "tools/list", json!({"_meta": meta}))
}

fn initialize(meta: Value) -> Value {
    let mut message: Value = serde_json::from_slice(&messages::initialize("2025-06-18").body).unwrap();
    if !meta.is_null() {
        message["params"]["_meta"] = meta;
    }
    message
}

struct Case {
    rule: &'static str,
    message: Value,
    headers: &'static [(&'static str, &'static str)],
    shows: Shows,
}

fn case(
    rule: &'static str,
    message: Value,
    headers: &'static [(&'static str, &'static str)],
    shows: Shows,
) -> Case {
    Case { rule, message, headers, shows }
}

fn play(server: &Server, session: &str, cases: &[Case]) {
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for case in cases {
            check(server, &mut client, session, case);
        }
    }
}

fn check(server: &Server, client: &mut Client, session: &str, case: &Case) {
    let request = case.headers.iter().fold(Request::post(case.message.to_string()), |request, header| {
        request.header(header.0, if *header == MINE { session } else { header.1 })
    });
    let before = server.met();
    server.told.take();
    let response = client.send(&request);
    let context = format!("{}: {} {:?}: {response}", case.rule, case.message, case.headers);
    let (met, told) = (server.met_since(&before), server.told.take_rejections());
    match case.shows {
        Refused(row, era) => {
            assert_eq!(met, [row], "{context}");
            assert_eq!(told[0].field("era"), Some(era), "{context}");
            return;
        }
        Modern | Legacy => {
            let kind = response.result().get("resultType").is_some();
            assert_eq!(kind, matches!(case.shows, Modern), "{context}");
        }
        LegacyError => assert_eq!((response.status, response.code()), (200, -32601), "{context}"),
        Accepted => assert_eq!((response.status, response.body.len()), (202, 0), "{context}"),
    }
    assert!(met.is_empty() && told.is_empty(), "{context}");
}

#[test]
fn the_first_rule_that_holds_decides() {
    use Rejection::*;
    let server = Server::start();
    let session = server.session();
    let response = || json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let note =
        |meta: Value| json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"_meta": meta}});
    let unknown = || json!({"jsonrpc": "2.0", "id": 1, "params": {"_meta": meta()}});
    let null = || json!({"io.modelcontextprotocol/protocolVersion": null});
    play(
        &server,
        &session,
        &[
            // 0: responses are legacy.
            case("0", response(), &[], Refused(MissingSessionId, "legacy")),
            case("0", response(), &[NEW], Refused(MissingSessionId, "legacy")),
            case("0", response(), &[UNSERVED], Refused(MissingSessionId, "legacy")),
            case("0", response(), &[NEW, MINE], Refused(ProtocolVersionMismatch, "legacy")),
            case("0", response(), &[OLD, MINE], Accepted),
            // 1: the key in a request's or notification's `_meta`.
            case("1", list(meta()), &[NEW, METHOD], Modern),
            case("1", list(meta()), &[NEW, METHOD, STALE], Modern),
            case("1", list(meta()), &[], Refused(HeaderMissing, "modern")),
            case("1", list(meta()), &[OLD, MINE], Refused(HeaderMismatch, "modern")),
            case("1", list(meta()), &[UNSERVED, MINE], Refused(HeaderMismatch, "modern")),
            case("1", list(null()), &[OLD, MINE], Refused(InvalidProtocolField, "modern")),
            case(
                "1",
                initialize(meta()),
                &[NEW, ("Mcp-Method", "initialize")],
                Refused(UnknownMethod, "modern"),
            ),
            case("1", note(meta()), &[], Accepted),
            case("1", note(null()), &[STALE], Accepted),
            case(
                "not 1: neither request nor notification",
                unknown(),
                &[],
                Refused(InvalidMessage, "legacy"),
            ),
            case(
                "not 1: another key",
                list(json!({"protocolVersion": "2026-07-28"})),
                &[],
                Refused(MissingSessionId, "legacy"),
            ),
            case(
                "not 1: no object",
                list(json!("io.modelcontextprotocol/protocolVersion")),
                &[],
                Refused(MissingSessionId, "legacy"),
            ),
            // 2: the version header.
            case("2", list(json!({})), &[NEW], Refused(InvalidProtocolField, "modern")),
            case("2", list(json!({})), &[NEW, MINE], Refused(InvalidProtocolField, "modern")),
            case("2", list(json!({})), &[UNSERVED], Refused(InvalidProtocolField, "modern")),
            case("2", list(json!({})), &[(VERSION, "")], Refused(InvalidProtocolField, "modern")),
            case("2", list(json!({})), &[(VERSION, "2024-11-05")], Refused(InvalidProtocolField, "modern")),
            case("2", initialize(Value::Null), &[NEW], Refused(InvalidProtocolField, "modern")),
            case("2", initialize(Value::Null), &[UNSERVED], Refused(InvalidProtocolField, "modern")),
            case("2", note(json!({})), &[NEW], Accepted),
            case("2", note(json!({})), &[UNSERVED], Accepted),
            case("2", json!([]), &[NEW], Refused(InvalidMessage, "modern")),
            case("2", unknown(), &[UNSERVED], Refused(InvalidMessage, "modern")),
            // 3: otherwise.
            case("3", list(json!({})), &[], Refused(MissingSessionId, "legacy")),
            case("3", list(json!({})), &[OLD], Refused(MissingSessionId, "legacy")),
            case("3", list(json!({})), &[MINE], Legacy),
            case("3", list(json!({})), &[OLD, MINE], Legacy),
            case("3", list(json!({})), &[UNSERVED, MINE], Refused(ProtocolVersionMismatch, "legacy")),
            case("3", list(json!({})), &[UNSERVED, STALE], Refused(UnknownSession, "legacy")),
            case("3", list(json!({})), &[(VERSION, ""), (SESSION, "")], Refused(UnknownSession, "legacy")),
            case("3", messages::request(1, "server/discover", Value::Null), &[OLD, MINE], LegacyError),
            case("3", messages::request(1, "ping", Value::Null), &[], Legacy),
            case("3", messages::request(1, "ping", Value::Null), &[OLD], Legacy),
            case("3", initialize(Value::Null), &[], Legacy),
            case("3", initialize(Value::Null), &[(VERSION, "2025-03-26")], Legacy),
            case("3", initialize(Value::Null), &[OLD, STALE], Legacy),
            case("3", note(json!({})), &[], Refused(MissingSessionId, "legacy")),
            case("3", note(json!({})), &[MINE], Accepted),
            case("3", json!([]), &[], Refused(InvalidMessage, "legacy")),
        ],
    );
}

/// With the lane off everything but responses is modern; only the lane that is off is gone.
#[test]
fn without_the_legacy_lane() {
    use Rejection::*;
    let server = Server::with(|builder| builder.legacy(false));
    let response = || json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let note = || messages::notification("notifications/initialized");
    play(
        &server,
        NO_SESSION,
        &[
            case("off", list(meta()), &[NEW, METHOD], Modern),
            case("off", list(meta()), &[NEW, METHOD, MINE], Modern),
            case("off", list(json!({})), &[], Refused(InvalidProtocolField, "modern")),
            case("off", list(json!({})), &[OLD, MINE], Refused(InvalidProtocolField, "modern")),
            case(
                "off",
                messages::request(1, "ping", Value::Null),
                &[],
                Refused(InvalidProtocolField, "modern"),
            ),
            case("off", initialize(Value::Null), &[], Refused(UnsupportedProtocolVersion, "modern")),
            case("off", initialize(Value::Null), &[OLD, MINE], Refused(UnsupportedProtocolVersion, "modern")),
            case(
                "off",
                initialize(meta()),
                &[NEW, ("Mcp-Method", "initialize")],
                Refused(UnknownMethod, "modern"),
            ),
            case("off", note(), &[], Accepted),
            case("off", note(), &[OLD, MINE], Accepted),
            case("off", response(), &[], Refused(InvalidMessage, "legacy")),
            case("off", response(), &[OLD, MINE], Refused(InvalidMessage, "legacy")),
            case("off", json!([]), &[], Refused(InvalidMessage, "modern")),
        ],
    );
    let answer = server.send(&Request::post(initialize(Value::Null).to_string()));
    let error = answer.json()["error"].take();
    assert_eq!(error["data"], json!({"supported": ["2026-07-28"], "requested": "2025-06-18"}), "{answer}");
    let discovered = server.send(&messages::modern(1, "server/discover", Value::Null)).result();
    assert_eq!(discovered["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(server.handle.sessions(), 0);
}

/// `Allow` tells what the lane has.
#[test]
fn allow_follows_the_lane() {
    let (on, off) = (Server::start(), Server::with(|builder| builder.legacy(false)));
    for verb in ["OPTIONS", "HEAD", "PUT", "GET"] {
        for (server, headers, allow) in [
            (&on, &[][..], "GET, POST, DELETE"),
            (&on, &[OLD], "GET, POST, DELETE"),
            (&on, &[UNSERVED], "GET, POST, DELETE"),
            (&on, &[NEW], "POST"),
            (&off, &[], "POST"),
            (&off, &[OLD], "POST"),
        ] {
            let request = headers
                .iter()
                .fold(Request::new(verb, "/mcp"), |request, (name, value)| request.header(name, value));
            let response = server.send(&request);
            assert_eq!((response.status, response.header("allow")), (405, Some(allow)), "{verb} {headers:?}");
        }
    }
}
