//! Every row of the rejection table: the request that trips it, sent over both protocols to a real server, gives exactly the answer that
//! is written out, sets the mark, is counted once, is told once, and touches nothing.

use twolane::Mark;
use twolane::tables::rejection::Rejection;
use twolane::tables::routes::Verb;
use twolane::tables::scenarios::{Scenario, scenario};

use crate::draft::Draft;
use crate::place::{Place, Places, good};
use crate::support::{Client, Protocol, Request, Response};

/// The headers that rows add.
const ROW_HEADERS: [&str; 3] = ["allow", "www-authenticate", "retry-after"];

/// The request of a scenario.
pub fn request_of(scenario: &Scenario, verb: &str, place: &Place) -> Request {
    let mut draft = Draft::of(scenario.base, verb, place);
    draft.apply(scenario.edits);
    draft.request()
}

/// The body that a scenario's answer must have.
pub fn golden<'s>(scenario: &'s Scenario, verb: &str) -> &'s str {
    match verb {
        "POST" => scenario.post,
        "HEAD" => "",
        _ => scenario.plain,
    }
}

#[test]
fn every_row_answers_as_it_is_written() {
    let mut places = Places::default();
    for &row in Rejection::ALL {
        let scenario = scenario(row);
        let place = places.get(scenario.world);
        for verb in scenario.verbs {
            for protocol in Protocol::BOTH {
                let context = format!("{row:?} {verb} {protocol:?}");
                let request = request_of(&scenario, verb, place);
                let mut client = place.server.client(protocol);
                let response = watched(place, row, &scenario, &mut client, &request, &context);
                assert_answer(&scenario, verb, &response, &context);
                assert_connection(place, &scenario, client, &response, &context);
            }
        }
    }
}

/// Sends the request and checks what it leaves behind on the server.
fn watched(
    place: &Place,
    row: Rejection,
    scenario: &Scenario,
    client: &mut Client,
    request: &Request,
    context: &str,
) -> Response {
    let server = &place.server;
    let (before, runs, sessions) = (server.met(), server.tools.runs(), server.handle.sessions());
    server.told.take();
    place.marks.take();
    let response = client.send(request);
    assert_eq!(place.marks.take(), [Some(Mark(row))], "{context}: {response}");
    assert_eq!(server.met_since(&before), [row], "{context}: {response}");
    assert_eq!((server.tools.runs(), server.handle.sessions()), (runs, sessions), "{context}");
    let told = server.told.take_rejections();
    assert_eq!(told.len(), 1, "{context}: {told:?}");
    let mut versions = request.headers.iter().filter(|(name, _)| name == "MCP-Protocol-Version");
    let version = match (versions.next(), versions.next()) {
        (Some((_, version)), None) => Some(String::from_utf8(version.clone()).unwrap()),
        (Some(_) | None, _) => None,
    };
    let mut fields = vec![
        ("rejecter", row.row().rejecter.name().to_owned()),
        ("reason", row.row().reason.to_owned()),
        ("verb", Verb::from_token(request.verb.as_bytes()).name().to_owned()),
    ];
    fields.extend(version.map(|version| ("protocol", version)));
    fields.extend(scenario.era.map(|era| ("era", era.to_owned())));
    fields.push(("status", scenario.status.to_string()));
    assert_eq!(told[0].fields, fields, "{context}");
    response
}

fn assert_answer(scenario: &Scenario, verb: &str, response: &Response, context: &str) {
    assert_eq!(response.status, scenario.status, "{context}: {response}");
    assert_eq!(response.text(), golden(scenario, verb), "{context}");
    assert_eq!(response.header("content-type"), Some("application/json"), "{context}");
    let added: Vec<_> = response
        .headers
        .iter()
        .filter(|(name, _)| ROW_HEADERS.contains(&name.as_str()))
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(added, scenario.headers, "{context}");
    assert_eq!(response.header("mcp-session-id"), None, "{context}");
}

/// On HTTP/1.1 the connection closes where the row says so, and otherwise serves the next request; on HTTP/2 it always does.
fn assert_connection(
    place: &Place,
    scenario: &Scenario,
    mut client: Client,
    response: &Response,
    context: &str,
) {
    match (&mut client, scenario.closes) {
        (Client::Http1(client), true) => {
            assert_eq!(response.header("connection"), Some("close"), "{context}");
            client.finish();
            client.assert_closed();
        }
        (Client::Http2(_), true) => {}
        (Client::Http1(_) | Client::Http2(_), false) => {
            assert_eq!(response.header("connection"), None, "{context}");
            let next = client.send(&good());
            assert_eq!(next.status, 200, "{context}: the next request: {next}");
            assert_eq!(place.marks.take(), [None], "{context}: the mark does not stay");
        }
    }
}

/// Rows that some of their verbs trip elsewhere.
const PARTIAL: [(Rejection, &[Verb]); 1] = [
    // The budget is asked for bodies, and only a POST's is read; at the door every verb is shed: see overload.rs.
    (Rejection::Overloaded, &[Verb::Get, Verb::Delete, Verb::Options, Verb::Head, Verb::Other]),
];

#[test]
fn scenarios_send_every_verb_of_their_row() {
    for &row in Rejection::ALL {
        let sent: Vec<_> = scenario(row).verbs.iter().map(|verb| Verb::from_token(verb.as_bytes())).collect();
        let spared = PARTIAL.iter().find(|(partial, _)| *partial == row).map_or(&[][..], |(_, verbs)| verbs);
        for verb in Verb::ALL {
            let expected = row.row().verbs.has(verb) && !spared.contains(&verb);
            assert_eq!(sent.contains(&verb), expected, "{row:?} {verb:?}");
        }
    }
}

#[test]
fn messages_are_one_line_that_a_person_can_read() {
    for &row in Rejection::ALL {
        let scenario = scenario(row);
        for body in [scenario.post, scenario.plain].into_iter().filter(|body| !body.is_empty()) {
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            let message = body["error"]["message"].as_str().or(body["error"].as_str()).unwrap();
            assert!(!message.chars().any(char::is_control), "{row:?}: {message:?}");
            assert!((10..300).contains(&message.len()) && message.trim() == message, "{row:?}: {message:?}");
            assert!(!message.contains("{}"), "{row:?}: {message:?}");
        }
        if scenario.verbs.iter().any(|verb| *verb != "POST") && !scenario.post.is_empty() {
            let (post, plain): (serde_json::Value, serde_json::Value) =
                (serde_json::from_str(scenario.post).unwrap(), serde_json::from_str(scenario.plain).unwrap());
            assert_eq!(post["error"]["message"], plain["error"], "{row:?}: both dialects say the same");
        }
    }
}

/// Only the last two arms of `parse`, and what sheds load, end an HTTP/1.1 connection.
#[test]
fn four_rows_close() {
    let closing: Vec<_> = Rejection::ALL.iter().filter(|row| scenario(**row).closes).collect();
    assert_eq!(
        closing,
        [&Rejection::Overloaded, &Rejection::Draining, &Rejection::BodyTooLarge, &Rejection::MalformedJson]
    );
}
