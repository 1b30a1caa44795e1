//! Every verb with every wire check: either the check refuses, or the cell is exempt for a written reason, and then the route is served and
//! the check has not run.

use twolane::tables::chain::{Stage, WIRE_CHECKS};
use twolane::tables::rejection::{Rejecter, Rejection};
use twolane::tables::scenarios::{Base, World, scenario};

use crate::draft::Draft;
use crate::place::Place;
use crate::rejections::golden;
use crate::support::{Client, Protocol, Request, Source};

const VERBS: [&str; 10] =
    ["POST", "GET", "DELETE", "OPTIONS", "HEAD", "PUT", "PATCH", "TRACE", "post", "BREW"];

/// Why a check does not run on a verb.
fn exempt(check: Stage, verb: &str) -> Option<&'static str> {
    match (check, verb) {
        (Stage::Origin, _) | (_, "POST" | "GET" | "DELETE") => None,
        (_, "OPTIONS") => Some("browsers send a preflight without the caller's credentials and headers"),
        _ => Some("a verb that is not served has nothing behind it to protect"),
    }
}

fn checks(place: &Place) -> (u64, u64) {
    (place.keys.asked(), place.meter.asked())
}

#[test]
fn every_verb_meets_every_wire_check_or_says_why_not() {
    let place = Place::of(World::Usual);
    let mut cells = 0;
    for protocol in Protocol::BOTH {
        for verb in VERBS {
            for check in WIRE_CHECKS {
                let rows = Rejection::ALL.iter().filter(|row| row.row().rejecter == Rejecter::Stage(check));
                for &row in rows {
                    let mut draft = Draft::of(Base::Any, verb, &place);
                    draft.apply(scenario(row).edits);
                    cell(&place, protocol, verb, check, row, &draft.request());
                    cells += 1;
                }
            }
        }
    }
    assert_eq!(cells, 2 * 10 * (3 + 4 + 1 + 2));
}

fn cell(place: &Place, protocol: Protocol, verb: &str, check: Stage, row: Rejection, request: &Request) {
    let context = format!("{row:?} on {verb}, {protocol:?}");
    let mut client = place.server.client(protocol);
    let (before, asked) = (place.server.met(), checks(place));
    let response = client.send(request);
    let Some(reason) = exempt(check, verb) else {
        assert_eq!(place.server.met_since(&before), [row], "{context}: {response}");
        assert_eq!(response.text(), golden(&scenario(row), verb), "{context}");
        return;
    };
    let refused = scenario(Rejection::MethodNotAllowed);
    assert_eq!(
        place.server.met_since(&before),
        [Rejection::MethodNotAllowed],
        "{context}: {reason}: {response}"
    );
    assert_eq!((response.status, response.text()), (405, golden(&refused, verb)), "{context}: {reason}");
    assert_eq!(response.header("allow"), Some("GET, POST, DELETE"), "{context}");
    assert_eq!(checks(place), asked, "{context}: {reason}");
    if verb == "OPTIONS" {
        preflight(place, &mut client, request, &format!("{context}: {reason}"));
    }
}

/// The same request as a preflight is answered.
fn preflight(place: &Place, client: &mut Client, request: &Request, context: &str) {
    let (before, asked) = (place.server.met(), checks(place));
    let request = request
        .clone()
        .set("Origin", "http://localhost:5173")
        .header("Access-Control-Request-Method", "POST");
    let response = client.send(&request);
    assert_eq!((response.status, response.body.len()), (204, 0), "{context}: {response}");
    assert_eq!(response.header("access-control-allow-origin"), Some("http://localhost:5173"), "{context}");
    assert_eq!(response.header("access-control-allow-methods"), Some("GET, POST, DELETE"), "{context}");
    assert_eq!(response.header("vary"), Some("Origin"), "{context}");
    assert_eq!(response.header("content-type"), None, "{context}");
    assert!(place.server.met_since(&before).is_empty(), "{context}");
    assert_eq!(checks(place), asked, "{context}");
}

/// What passes is judged once by each check, and what is exempt never.
#[test]
fn each_check_runs_once() {
    let place = Place::of(World::Usual);
    for protocol in Protocol::BOTH {
        let mut client = place.server.client(protocol);
        for (base, verb, times) in [
            (Base::Legacy, "POST", 1),
            (Base::Modern, "POST", 1),
            (Base::Initialize, "POST", 1),
            (Base::Opened, "GET", 1),
            (Base::Legacy, "OPTIONS", 0),
            (Base::Legacy, "HEAD", 0),
            (Base::Legacy, "PUT", 0),
        ] {
            let before = checks(&place);
            let request = Draft::of(base, verb, &place).request();
            if verb == "GET" {
                Source::open(&place.server, protocol, &request);
            } else {
                client.send(&request);
            }
            let after = checks(&place);
            assert_eq!(
                (after.0 - before.0, after.1 - before.1),
                (times, times),
                "{base:?} {verb} {protocol:?}"
            );
        }
    }
}

/// A check that refuses ends the climb: the ones after it are not asked.
#[test]
fn later_checks_are_not_asked() {
    let place = Place::of(World::Usual);
    for verb in ["POST", "GET", "DELETE"] {
        for (row, asked) in [
            (Rejection::OriginNotAllowed, (0, 0)),
            (Rejection::Unauthenticated, (0, 0)),
            (Rejection::MalformedAuthorization, (0, 0)),
            (Rejection::InsufficientScope, (1, 0)),
            (Rejection::ProviderError, (1, 0)),
            (Rejection::RateLimited, (1, 1)),
            (Rejection::DuplicatedSessionId, (1, 1)),
        ] {
            let mut draft = Draft::of(Base::Any, verb, &place);
            draft.apply(scenario(row).edits);
            let before = checks(&place);
            place.server.send(&draft.request());
            let after = checks(&place);
            assert_eq!((after.0 - before.0, after.1 - before.1), asked, "{row:?} {verb}");
        }
    }
}

/// Errors reach a page from an allowed origin: CORS headers are on every answer, whatever it is.
#[test]
fn answers_to_an_allowed_origin_carry_cors_headers() {
    let place = Place::of(World::Usual);
    for protocol in Protocol::BOTH {
        for &row in Rejection::ALL {
            let scenario = scenario(row);
            if scenario.world != World::Usual
                || matches!(row, Rejection::DuplicatedOrigin | Rejection::OriginNotAllowed)
            {
                continue;
            }
            for verb in scenario.verbs {
                let mut draft = Draft::of(scenario.base, verb, &place);
                draft.apply(scenario.edits);
                let request = draft.request().header("Origin", "http://127.0.0.1:9000");
                let response = place.server.client(protocol).send(&request);
                let context = format!("{row:?} {verb} {protocol:?}: {response}");
                assert_eq!(response.status, scenario.status, "{context}");
                let allowed = response.header("access-control-allow-origin");
                assert_eq!(allowed, Some("http://127.0.0.1:9000"), "{context}");
                assert_eq!(response.header("vary"), Some("Origin"), "{context}");
                let exposed = response.header("access-control-expose-headers").unwrap_or_default();
                assert!(
                    exposed.contains("Mcp-Session-Id") && exposed.contains("WWW-Authenticate"),
                    "{context}"
                );
            }
        }
        // A refused origin gets none.
        let response =
            place.server.client(protocol).send(&Request::get().header("Origin", "http://evil.example"));
        assert_eq!(response.header("access-control-allow-origin"), None, "{response}");
    }
}

/// A preflight is an OPTIONS from an allowed origin that asks for a method; anything else is a verb that is not served.
#[test]
fn what_is_a_preflight() {
    let place = Place::of(World::Usual);
    let asks = ("Access-Control-Request-Method", "POST");
    let origin = ("Origin", "http://localhost");
    let fixed = "Content-Type, Accept, Authorization, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name";
    let with_region = format!("{fixed}, mcp-param-region, MCP-Param-Limit");
    for protocol in Protocol::BOTH {
        let mut client = place.server.client(protocol);
        for (headers, allowed) in [
            (&[origin, asks][..], Some(fixed)),
            (&[origin, asks, ("Access-Control-Request-Headers", "content-type, x-evil")], Some(fixed)),
            (
                &[
                    origin,
                    asks,
                    ("Access-Control-Request-Headers", "mcp-param-region, x, MCP-Param-Limit, mcp-param-"),
                ],
                Some(with_region.as_str()),
            ),
            (
                &[origin, asks, ("Access-Control-Request-Headers", "mcp-param-a b, mcp-param-\u{e9}")],
                Some(fixed),
            ),
            (&[asks], None),
            (&[origin], None),
            (&[origin, asks, asks], None),
        ] {
            let request = headers
                .iter()
                .fold(Request::new("OPTIONS", "/mcp"), |request, (name, value)| request.header(name, value));
            let response = client.send(&request);
            let status = if allowed.is_some() { 204 } else { 405 };
            assert_eq!(response.status, status, "{headers:?} {protocol:?}: {response}");
            assert_eq!(response.header("access-control-allow-headers"), allowed, "{headers:?} {protocol:?}");
        }
    }
}
