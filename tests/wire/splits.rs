//! The same answer however the bytes of a request arrive: whole, one by one, cut in two anywhere, twice in a row, behind another request.

use serde_json::json;
use twolane::tables::rejection::Rejection;
use twolane::tables::scenarios::{World, scenario};

use crate::place::{Place, Places, good};
use crate::rejections::request_of;
use crate::support::pieces::{Delivery, Wireless};
use crate::support::{Framing, Request, Response, messages, read};

/// So many bytes are sent one by one.
const SINGLE: usize = 4096;
/// Longer requests are cut at so many offsets.
const CUTS: usize = 400;

/// A request, what it is, and whether the connection ends with its answer.
struct Case {
    name: String,
    request: Request,
    closes: bool,
}

fn refused(places: &mut Places) -> Vec<(World, Vec<Case>)> {
    let mut worlds: Vec<(World, Vec<Case>)> = Vec::new();
    for &row in Rejection::ALL {
        let scenario = scenario(row);
        let place = places.get(scenario.world);
        // One verb of each dialect is enough here.
        for verb in [scenario.verbs.first(), scenario.verbs.get(1)].into_iter().flatten() {
            let request = request_of(&scenario, verb, place);
            let case = Case { name: format!("{row:?} {verb}"), request, closes: scenario.closes };
            match worlds.iter_mut().find(|(world, _)| *world == scenario.world) {
                Some((_, cases)) => cases.push(case),
                None => worlds.push((scenario.world, vec![case])),
            }
        }
    }
    worlds
}

fn served(place: &Place) -> Vec<Case> {
    let call = |tool, arguments| messages::request(1, "tools/call", messages::call(tool, arguments));
    let echo = call("echo", json!({"message": "héllo \u{2028}"}));
    let legacy = |message| messages::legacy(&place.session, message);
    let mut steps = call("steps", json!({"steps": 3}));
    steps["params"]["_meta"] = json!({"progressToken": "p"});
    let preflight = Request::new("OPTIONS", "/mcp")
        .header("Origin", "http://localhost")
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "mcp-param-region, x-other");
    [
        ("ping", legacy(&messages::request(1, "ping", json!({})))),
        ("call", legacy(&echo)),
        ("call in one chunk", legacy(&echo).framing(Framing::Chunks(4096))),
        ("call in chunks", legacy(&echo).framing(Framing::Chunks(7))),
        ("call as a stream", legacy(&echo).set("Accept", "text/event-stream")),
        ("stream", legacy(&steps)),
        ("wait", legacy(&call("sleep", json!({"ms": 0})))),
        ("notification", legacy(&messages::notification("notifications/cancelled"))),
        ("response", legacy(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}))),
        ("initialize", messages::initialize("2025-06-18")),
        ("modern call", messages::modern_call(1, "echo", json!({"message": "m"}))),
        ("modern list", messages::modern(1, "tools/list", json!(null))),
        ("discover", messages::modern(1, "server/discover", json!(null))),
        ("preflight", preflight),
        ("elsewhere", Request::post("{}").without("Accept")),
    ]
    .map(|(name, request)| {
        let mut request = request.header("Authorization", "Bearer alice");
        if name == "elsewhere" {
            request.target = "/else?where".to_owned();
        }
        Case { name: name.to_owned(), request, closes: false }
    })
    .into()
}

/// The responses in an HTTP/1.1 answer, without what differs from one to the next.
fn responses(mut answer: &[u8], verbs: &[&str]) -> Vec<Response> {
    let mut responses = Vec::new();
    for verb in verbs {
        if answer.is_empty() {
            break;
        }
        responses.push(normal(read::response(&mut answer, verb)));
    }
    assert!(answer.is_empty(), "more answers than requests: {:?}", answer.escape_ascii().to_string());
    responses
}

fn normal(mut response: Response) -> Response {
    for (name, value) in &mut response.headers {
        match name.as_str() {
            "date" => value.clear(),
            "mcp-session-id" => {
                assert_eq!(value.len(), 43);
                value.clear();
            }
            _ => {}
        }
    }
    if response.header("content-type") == Some("text/event-stream") {
        // Every stream has a number of its own.
        let text = response.text().to_owned();
        let of_stream = |line: &&str| !line.starts_with("id: ");
        response.body = text.split_inclusive('\n').filter(of_stream).collect::<String>().into_bytes();
    }
    response
}

fn offsets(len: usize) -> impl Iterator<Item = usize> {
    (1..len).step_by(len / CUTS + 1)
}

fn over_http1(wireless: &Wireless, case: &Case) {
    let Case { name, request, closes } = case;
    let bytes = request.bytes();
    let send = |bytes: &[u8], verbs: &[&str], delivery| responses(&wireless.http1(bytes, delivery), verbs);
    let verb = request.verb.as_str();
    let whole = send(&bytes, &[verb], Delivery::Whole);
    assert_eq!(whole.len(), 1, "{name}");
    for delivery in offsets(bytes.len()).map(Delivery::Cut).chain([Delivery::Single(SINGLE)]) {
        let split = send(&bytes, &[verb], delivery);
        assert_eq!(split, whole, "{name}: {delivery:?}");
    }
    let next = good();
    let good = send(&next.bytes(), &["POST"], Delivery::Whole);
    assert_eq!(whole[0].header("connection"), closes.then_some("close"), "{name}");
    for delivery in [Delivery::Whole, Delivery::Single(SINGLE)] {
        let twice = send(&bytes.repeat(2), &[verb, verb], delivery);
        assert_eq!(twice, until_closed([&whole[0], &whole[0]]), "{name} twice: {delivery:?}");
        let three = [next.bytes(), bytes.clone(), next.bytes()].concat();
        let second = send(&three, &["POST", verb, "POST"], delivery);
        assert_eq!(second, until_closed([&good[0], &whole[0], &good[0]]), "{name} second: {delivery:?}");
    }
}

/// What is answered on one connection: nothing after an answer that closes it.
fn until_closed<'r>(answers: impl IntoIterator<Item = &'r Response>) -> Vec<Response> {
    let mut given = Vec::new();
    for answer in answers {
        given.push(answer.clone());
        if answer.header("connection") == Some("close") {
            break;
        }
    }
    given
}

fn over_http2(wireless: &Wireless, case: &Case, cuts: impl Iterator<Item = usize>) {
    let Case { name, request, .. } = case;
    let send = |requests: &[&Request], delivery| -> Vec<Response> {
        wireless.http2(requests, delivery).into_iter().map(normal).collect()
    };
    let whole = send(&[request], Delivery::Whole);
    for delivery in cuts.map(Delivery::Cut).chain([Delivery::Single(SINGLE)]) {
        assert_eq!(send(&[request], delivery), whole, "{name}: {delivery:?}");
    }
    let next = good();
    let expected = send(&[&next], Delivery::Whole);
    let row = send(&[&next, request, request, &next], Delivery::Single(SINGLE));
    assert_eq!(row, [&expected[..], &whole, &whole, &expected].concat(), "{name} in a row");
}

#[test]
fn refusals_over_http1() {
    let mut places = Places::default();
    for (world, cases) in refused(&mut places) {
        let wireless = Wireless::to(&places.get(world).server.road);
        for case in &cases {
            over_http1(&wireless, case);
        }
    }
}

#[test]
fn answers_over_http1() {
    let place = Place::of(World::Usual);
    let wireless = Wireless::to(&place.server.road);
    for case in &served(&place) {
        over_http1(&wireless, case);
    }
}

/// The preface and the settings come first, so that all of the request's frames are reached.
const HTTP2_BYTES: usize = 700;

#[test]
fn refusals_over_http2() {
    let mut places = Places::default();
    for (world, cases) in refused(&mut places) {
        let wireless = Wireless::to(&places.get(world).server.road);
        for (at, case) in cases.iter().enumerate() {
            over_http2(&wireless, case, (1 + at % 7..HTTP2_BYTES).step_by(7));
        }
    }
}

#[test]
fn answers_over_http2() {
    let place = Place::of(World::Usual);
    let wireless = Wireless::to(&place.server.road);
    for case in &served(&place) {
        over_http2(&wireless, case, 1..HTTP2_BYTES);
    }
}

/// Over a real socket too, as far as one can tell there what a read gives.
#[test]
fn single_bytes_over_a_socket() {
    let mut places = Places::default();
    for (world, cases) in refused(&mut places) {
        for Case { name, request, .. } in cases.iter().filter(|case| case.request.body.len() < SINGLE) {
            let server = &places.get(world).server;
            let whole = normal(server.send(request));
            let mut client = server.http1();
            client.write_single(&request.bytes());
            assert_eq!(normal(client.read(&request.verb)), whole, "{name}");
        }
    }
}
