//! What header fields and the query may say: every way to trip the rows that read them, and what just passes.

use serde_json::json;
use twolane::tables::rejection::Rejection::{self, *};

use crate::place::{self, Place};
use crate::support::{Protocol, Request, Response, Server, messages};
use twolane::tables::scenarios::World;

/// Sends each value of one header over both protocols; `None` means that it passes.
fn values(server: &Server, base: &Request, header: &str, cases: &[(&str, Option<Rejection>)]) {
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for (value, row) in cases {
            let before = server.met();
            let response = client.send(&base.clone().set(header, value));
            let met = server.met_since(&before);
            assert_eq!(
                met,
                row.iter().copied().collect::<Vec<_>>(),
                "{header}: {value:?} {protocol:?}: {response}"
            );
            if let Some(row) = row
                && row.row().text.contains("{}")
                && !value.is_empty()
                && value.len() < 200
                && matches!(
                    row,
                    OriginNotAllowed | HostNotAllowed | UnsupportedMediaType | UnsupportedContentEncoding
                )
            {
                let quoted = serde_json::to_string(value).unwrap();
                assert!(response.text().contains(quoted.trim_matches('"')), "{response} quotes {value:?}");
            }
        }
    }
}

fn ping() -> Request {
    Request::post(messages::request(1, "ping", json!({})).to_string())
}

#[test]
fn origins() {
    let server = Server::with(|builder| builder.allow_origin("https://app.example"));
    values(
        &server,
        &ping(),
        "Origin",
        &[
            ("http://localhost", None),
            ("https://localhost:8443", None),
            ("http://127.0.0.1:1", None),
            ("http://[::1]:65535", None),
            ("HTTP://LocalHost", None),
            ("https://app.example", None),
            ("https://app.example:443", None),
            ("null", Some(OriginNotAllowed)),
            ("", Some(OriginNotAllowed)),
            ("localhost", Some(OriginNotAllowed)),
            ("http://", Some(OriginNotAllowed)),
            ("http://app.example", Some(OriginNotAllowed)),
            ("https://app.example:444", Some(OriginNotAllowed)),
            ("https://app.example.evil.example", Some(OriginNotAllowed)),
            ("https://evil-app.example", Some(OriginNotAllowed)),
            ("http://localhost.evil.example", Some(OriginNotAllowed)),
            ("http://localhost/", Some(OriginNotAllowed)),
            ("http://a@localhost", Some(OriginNotAllowed)),
            ("http://localhost:65536", Some(OriginNotAllowed)),
            ("http://localhost http://localhost", Some(OriginNotAllowed)),
            ("http://localhost, http://localhost", Some(OriginNotAllowed)),
            ("http://127.0.0.2", Some(OriginNotAllowed)),
            ("file://", Some(OriginNotAllowed)),
        ],
    );
}

#[test]
fn hosts() {
    let server = Server::with(|builder| builder.allow_host("mcp.example"));
    values(
        &server,
        &ping(),
        "Host",
        &[
            ("localhost", None),
            ("LOCALHOST:80", None),
            ("127.0.0.1", None),
            ("127.0.0.1:65535", None),
            ("[::1]", None),
            ("[::1]:8080", None),
            ("mcp.example", None),
            ("MCP.Example:8443", None),
            ("evil.example", Some(HostNotAllowed)),
            ("localhost.evil.example", Some(HostNotAllowed)),
            ("127.0.0.2", Some(HostNotAllowed)),
            ("127.0.0.1.evil.example:80", Some(HostNotAllowed)),
            ("x.mcp.example", Some(HostNotAllowed)),
            ("[::2]", Some(HostNotAllowed)),
        ],
    );
}

/// The authority of an absolute-form target wins over `Host`.
#[test]
fn an_absolute_target_names_the_host() {
    let server = Server::start();
    let mut client = server.http1();
    for (target, host, row) in [
        ("http://localhost/mcp", "127.0.0.1", None),
        ("http://localhost:1/mcp?q", "evil.example", None),
        ("http://evil.example/mcp", "127.0.0.1", Some(HostNotAllowed)),
        ("https://evil.example:443/mcp/", "localhost", Some(HostNotAllowed)),
    ] {
        let before = server.met();
        let response = client.send(&Request { target: target.to_owned(), ..ping() }.set("Host", host));
        assert_eq!(server.met_since(&before), row.into_iter().collect::<Vec<_>>(), "{target}: {response}");
    }
}

#[test]
fn queries() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for (query, row) in [
            ("", None),
            ("a=b&c", None),
            ("a=%C3%A9&b=%e4%b8%96", None),
            ("a=%25ff", None),
            ("a=%ff", Some(QueryNotUtf8)),
            ("a=%c3", Some(QueryNotUtf8)),
            ("a=%c3%28", Some(QueryNotUtf8)),
            ("a=%ed%a0%80", Some(QueryNotUtf8)),
            ("a=%", Some(QueryNotUtf8)),
            ("a=%2", Some(QueryNotUtf8)),
            ("a=%zz", Some(QueryNotUtf8)),
        ] {
            let before = server.met();
            let response = client.send(&Request { target: format!("/mcp?{query}"), ..ping() });
            assert_eq!(server.met_since(&before), row.into_iter().collect::<Vec<_>>(), "{query}: {response}");
        }
    }
}

#[test]
fn media_types_and_encodings() {
    let server = Server::start();
    values(
        &server,
        &ping(),
        "Content-Type",
        &[
            ("application/json", None),
            ("Application/JSON", None),
            ("application/json;charset=UTF-8", None),
            ("application/json; charset=\"utf-8\"", None),
            ("application/json;", None),
            ("application/vnd.mcp+json; charset=us-ascii", None),
            ("", Some(UnsupportedMediaType)),
            ("text/json", Some(UnsupportedMediaType)),
            ("application/jsonp", Some(UnsupportedMediaType)),
            ("application/json; charset=utf-16", Some(UnsupportedMediaType)),
            ("application/json, application/json", Some(UnsupportedMediaType)),
            ("application/x-www-form-urlencoded", Some(UnsupportedMediaType)),
        ],
    );
    let without = server.send(&ping().without("Content-Type"));
    assert_eq!(without.status, 415, "{without}");
    assert!(without.text().contains("(none)"), "{without}");
    values(
        &server,
        &ping(),
        "Content-Encoding",
        &[
            ("identity", None),
            ("IDENTITY", None),
            ("gzip", Some(UnsupportedContentEncoding)),
            ("identity, br", Some(UnsupportedContentEncoding)),
        ],
    );
    let twice = ping().header("Content-Encoding", "identity").header("Content-Encoding", "zstd");
    assert_eq!(server.send(&twice).status, 415);
    values(
        &server,
        &ping(),
        "Accept",
        &[
            ("application/json", None),
            ("text/event-stream", None),
            ("*/*", None),
            ("application/*;q=0.1", None),
            ("text/html, text/event-stream;q=0.001", None),
            ("text/html", Some(NotAcceptable)),
            ("", Some(NotAcceptable)),
            ("application/json;q=0, text/event-stream;q=0.0", Some(NotAcceptable)),
            ("*/*;q=0", Some(NotAcceptable)),
            ("application/jsonx", Some(NotAcceptable)),
        ],
    );
    assert_eq!(server.send(&ping().without("Accept")).status, 200);
    let lines = ping().set("Accept", "text/html").header("Accept", "application/json");
    assert_eq!(server.send(&lines).status, 200, "several lines count");
}

/// Rejections are JSON, whatever is accepted.
#[test]
fn refusals_are_json_whatever_is_accepted() {
    let server = Server::start();
    let bad = Request::post(messages::request(1, "tools/list", json!({})).to_string());
    for accept in ["text/event-stream", "application/json", "*/*"] {
        let response = server.send(&bad.clone().set("Accept", accept));
        assert_eq!((response.status, response.code()), (400, -32600), "{response}");
    }
}

#[test]
fn credentials() {
    let place = Place::of(World::Usual);
    values(
        &place.server,
        &ping(),
        "Authorization",
        &[
            ("Bearer alice", None),
            ("bearer bob", None),
            ("BEARER   alice", None),
            ("Bearer nobody", Some(Unauthenticated)),
            ("Basic YTpi", Some(Unauthenticated)),
            ("Bearerx alice", Some(Unauthenticated)),
            ("", Some(Unauthenticated)),
            ("Bearer", Some(MalformedAuthorization)),
            ("Bearer a b", Some(MalformedAuthorization)),
            ("Bearer a,b", Some(MalformedAuthorization)),
            ("Bearer =", Some(MalformedAuthorization)),
            ("Bearer weak", Some(InsufficientScope)),
            ("Bearer down", Some(ProviderError)),
            ("Bearer busy", Some(RateLimited)),
        ],
    );
    let challenge = |value: &str| -> Response { place.server.send(&ping().header("Authorization", value)) };
    let invalid = challenge("Bearer nobody");
    assert_eq!(
        invalid.header("www-authenticate"),
        Some(
            "Bearer realm=\"mcp\", error=\"invalid_token\", error_description=\"The token is not valid here\""
        )
    );
    // Another scheme is as good as none: a challenge without an error (RFC 6750 3.1).
    assert_eq!(challenge("Basic YTpi").header("www-authenticate"), Some("Bearer realm=\"mcp\""));
}

/// No text of a credential comes back or is told.
#[test]
fn secrets_stay_secret() {
    let place = Place::of(World::Usual);
    for value in ["Bearer s3cr3t-t0ken", "Bearer s3cr3t t0ken", "Basic s3cr3t", "s3cr3t"] {
        let response = place.server.send(&ping().header("Authorization", value));
        assert!(!response.to_string().contains("s3cr3t"), "{response}");
    }
    let told = place.server.told.take();
    assert_eq!(told.len(), 4);
    assert!(!format!("{told:?}").contains("s3cr3t"));
}

#[test]
fn session_ids() {
    let place = Place::of(World::Usual);
    let base = Request::post(messages::request(1, "tools/list", json!({})).to_string())
        .header("Authorization", "Bearer alice")
        .header("MCP-Protocol-Version", "2025-11-25");
    let long = "a".repeat(300);
    let (upper, cut) = (place.session.to_uppercase(), &place.session[1..]);
    let cases: Vec<(&str, Option<Rejection>)> =
        ["", "a", "a b", "0f8fad5b-d9cb-469f-a165-70867728950e", &long, place::NO_SESSION, cut, &upper]
            .into_iter()
            .map(|value| (value, Some(UnknownSession)))
            .chain([(place.session.as_str(), None)])
            .collect();
    values(&place.server, &base, "Mcp-Session-Id", &cases);
    // Another principal's session is unknown.
    values(
        &place.server,
        &base.clone().set("Authorization", "Bearer bob"),
        "Mcp-Session-Id",
        &[(&place.session, Some(UnknownSession))],
    );
    for verb in ["GET", "DELETE"] {
        let request =
            Request { verb: verb.to_owned(), ..Request::get() }.header("Authorization", "Bearer bob");
        assert_eq!(place.server.send(&request.session(&place.session)).status, 404, "{verb}");
    }
}

/// What a session's requests may say of its version.
#[test]
fn versions_in_a_session() {
    let place = Place::of(World::Usual);
    let served = "served are 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26";
    for (negotiated, fits) in [
        ("2025-03-26", &["2025-03-26", "2025-06-18", "2025-11-25"][..]),
        ("2025-06-18", &["2025-06-18"]),
        ("2025-11-25", &["2025-11-25"]),
    ] {
        let session = place::open_session(&place.server, negotiated, true);
        let list = Request::post(messages::request(1, "tools/list", json!({})).to_string())
            .header("Authorization", "Bearer alice")
            .header("Mcp-Session-Id", &session);
        assert_eq!(place.server.send(&list).status, 200, "{negotiated}: no header is fine");
        for version in
            ["2025-03-26", "2025-06-18", "2025-11-25", "2024-11-05", "1900-01-01", "not-a-version", ""]
        {
            let before = place.server.met();
            let response = place.server.send(&list.clone().header("MCP-Protocol-Version", version));
            if fits.contains(&version) {
                assert_eq!(response.status, 200, "{negotiated} {version}: {response}");
                continue;
            }
            let context = format!("{negotiated} {version}: {response}");
            assert_eq!(place.server.met_since(&before), [ProtocolVersionMismatch], "{context}");
            let message = response.json()["error"]["message"].take();
            let message = message.as_str().unwrap();
            assert!(message.contains(served) && message.contains(negotiated), "{context}");
        }
        // A modern version without modern metadata is the modern lane's to answer.
        let before = place.server.met();
        place.server.send(&list.clone().header("MCP-Protocol-Version", "2026-07-28"));
        assert_eq!(place.server.met_since(&before), [InvalidProtocolField]);
        for version in ["2025-03-26", "2025-11-25"] {
            let request =
                Request::delete().header("Authorization", "Bearer alice").header("Mcp-Session-Id", &session);
            let ended = place.server.send(&request.header("MCP-Protocol-Version", version)).status == 200;
            assert_eq!(ended, fits.contains(&version), "{negotiated} {version}");
            if ended {
                break;
            }
        }
    }
}

/// An allowed origin may read every answer, also those that are given before anything is judged.
#[test]
fn another_path_answers_an_allowed_origin() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        for (origin, allowed) in [("http://localhost:1", true), ("https://evil.example", false)] {
            let response =
                server.client(protocol).send(&Request::new("GET", "/other").header("Origin", origin));
            assert_eq!(response.status, 404, "{response}");
            let echoed = response.header("access-control-allow-origin");
            assert_eq!(echoed.is_some_and(|echoed| echoed == origin), allowed, "{response}");
        }
    }
}

/// A progress token is repeated in every notification, so its length is bounded.
#[test]
fn progress_tokens_have_a_longest() {
    let server = Server::start();
    let session = server.session();
    for (length, fits) in [(8192, true), (8193, false)] {
        let mut call =
            messages::request(1, "tools/call", messages::call("echo", serde_json::json!({"message": "m"})));
        call["params"]["_meta"] = serde_json::json!({"progressToken": "t".repeat(length)});
        let response = server.send(&messages::legacy(&session, &call));
        assert_eq!(response.status, 200, "{response}");
        assert_eq!(response.json().get("result").is_some(), fits, "{response}");
    }
}
