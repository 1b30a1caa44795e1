//! What a fault says, and that every method is known here. What is a fault at all is held to the official schemas by `tests/schemas`.

use proptest::prelude::*;

use super::*;
use crate::schema::testing::with_value;
use crate::tables::versions::Era;
use crate::view::message::{JsonScratch, PADDING};

fn fault(method: &str, revision: Revision, params: &str) -> String {
    with_value(params, |params| match check_request(method, revision, Some(params)) {
        Some(Err(fault)) => fault.to_string(),
        Some(Ok(())) => String::new(),
        None => panic!("{method} is unknown"),
    })
}

#[test]
fn every_method_is_known() {
    for &method in Method::ALL {
        for &revision in Revision::ALL.iter().filter(|revision| method.eras().has(revision.era())) {
            let modern = revision.era() == Era::Modern;
            let result = check(method, revision, None, &Params::default());
            assert!(check_request(method.wire(), revision, None).is_some(), "{method:?}");
            assert!(result.is_err() || !modern, "{method:?} takes no _meta");
        }
    }
    assert!(check_request("tools/cal", Revision::NEWEST_MODERN, None).is_none());
}

#[test]
fn faults_name_the_place_and_what_must_be_there() {
    let old = Revision::V2025_03_26;
    let new = Revision::V2025_11_25;
    let long_key = "k".repeat(10_000);
    for (method, revision, params, text) in [
        ("ping", old, r#"{"_meta":5}"#, "params._meta must be an object"),
        (
            "ping",
            old,
            r#"{"_meta":{"progressToken":1.5}}"#,
            "params._meta.progressToken must be a string of at most 8192 bytes or an integer",
        ),
        ("tools/list", new, r#"{"cursor":1}"#, "params.cursor must be a string"),
        ("tools/call", new, "{}", "params.name is missing: it must be a string"),
        ("tools/call", new, "null", "params.name is missing: it must be a string"),
        ("tools/call", new, r#"{"name":null}"#, "params.name must be a string"),
        ("tools/call", new, r#"{"name":"n","arguments":[]}"#, "params.arguments must be an object"),
        (
            "prompts/get",
            new,
            r#"{"name":"n","arguments":{"a b":1}}"#,
            r#"params.arguments["a b"] must be a string"#,
        ),
        (
            "prompts/get",
            new,
            r#"{"name":"n","arguments":{"\n":1}}"#,
            r#"params.arguments["\n"] must be a string"#,
        ),
        (
            "prompts/get",
            new,
            &format!(r#"{{"name":"n","arguments":{{"{long_key}":1}}}}"#),
            &format!("params.arguments[\"{}\"] must be a string", &long_key[..64]),
        ),
        (
            "logging/setLevel",
            new,
            r#"{"level":"Info"}"#,
            "params.level must be one of debug, info, notice, warning, error, critical, alert, emergency",
        ),
        (
            "completion/complete",
            new,
            r#"{"ref":{"type":"x"}}"#,
            "params.ref.type must be one of ref/prompt, ref/resource",
        ),
        (
            "initialize",
            new,
            r#"{"protocolVersion":"","capabilities":{},"clientInfo":{"name":"n","version":"1","icons":[{"src":"s"},{}]}}"#,
            "params.clientInfo.icons[1].src is missing: it must be a string",
        ),
        (
            "tools/call",
            Revision::V2026_07_28,
            r#"{"name":"t","inputResponses":{"a":{"action":"maybe"}}}"#,
            "params.inputResponses.a must be the result of sampling/createMessage, roots/list or elicitation/create",
        ),
    ] {
        assert_eq!(fault(method, revision, params), text, "{method} {params}");
    }
}

#[test]
fn initialize_is_judged_by_the_revision_it_comes_to() {
    let judge = |version: &str| {
        let info = r#"{"name":"n","version":"1","title":5,"icons":5}"#;
        let params = format!(r#"{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{info}}}"#);
        with_value(&params, |params| {
            walk(Method::Initialize, Revision::NEWEST_LEGACY, Some(params)).map_err(|fault| fault.to_string())
        })
    };
    let title = Err("params.clientInfo.title must be a string".to_owned());
    assert_eq!(judge("2025-03-26"), Ok(()), "it has neither title nor icons");
    for version in ["2025-06-18", "2025-11-25", "2024-11-05", "2026-07-28", ""] {
        assert_eq!(judge(version), title, "{version}");
    }
}

#[test]
fn a_token_has_a_longest() {
    for (length, fits) in [(shape::LONGEST_TOKEN, true), (shape::LONGEST_TOKEN + 1, false)] {
        let params = format!(r#"{{"_meta":{{"progressToken":"{}"}}}}"#, "t".repeat(length));
        assert_eq!(fault("ping", Revision::NEWEST_LEGACY, &params).is_empty(), fits, "{length}");
    }
}

/// As the view has it: a key that comes twice counts as it comes first.
#[test]
fn the_first_of_a_repeated_member_counts() {
    let new = Revision::V2025_11_25;
    assert_eq!(fault("tools/list", new, r#"{"cursor":"c","cursor":5}"#), "");
    assert_ne!(fault("tools/list", new, r#"{"cursor":5,"cursor":"c"}"#), "");
}

#[test]
fn notifications_that_do_not_fit() {
    let fits = |method: &str, revision, params: &str| {
        with_value(params, |params| notification_fits(method, revision, Some(params)))
    };
    let cancelled = "notifications/cancelled";
    for &revision in Revision::ALL {
        assert!(fits(cancelled, revision, r#"{"requestId":1,"reason":null}"#));
        assert!(!fits(cancelled, revision, r#"{"requestId":1.5}"#));
        assert!(!fits(cancelled, revision, r#"{"requestId":1,"reason":5}"#));
        assert!(fits("notifications/initialized", revision, "null"));
        assert!(!fits("notifications/initialized", revision, r#"{"_meta":5}"#));
        assert!(fits("notifications/other", revision, r#"{"_meta":5}"#));
    }
}

fn text() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&[r#""a""#, "1", "1.0", "1.5", "null", "{}", "[]", "true", r#"{"a":1}"#][..])
}

fn object(
    keys: &'static [&'static str],
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = String> {
    prop::collection::vec((prop::sample::select(keys), value), 0..5).prop_map(|members| {
        let members: Vec<_> = members.iter().map(|(key, value)| format!("{key:?}:{value}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

/// Params like those that are usual, and everything near them.
fn params() -> impl Strategy<Value = String> {
    let leaf = || text().prop_map(str::to_owned);
    let info =
        object(&["name", "version", "title"], prop_oneof![5 => Just(r#""a""#.to_owned()), 1 => leaf()]);
    let capabilities =
        object(&["sampling", "elicitation", "roots", "tasks"], prop_oneof![Just("{}".to_owned()), leaf()]);
    let meta = (
        prop_oneof![4 => Just(r#""2026-07-28""#.to_owned()), 1 => leaf()],
        prop_oneof![4 => capabilities, 1 => leaf()],
        prop_oneof![4 => info, 1 => leaf()],
        object(
            &["progressToken", "io.modelcontextprotocol/logLevel", "io.modelcontextprotocol/x", "a"],
            leaf(),
        ),
        0..4_u8,
    );
    let meta = meta.prop_map(|(version, capabilities, info, others, lacks)| {
        let mut meta = others[..others.len() - 1].to_owned();
        for (at, (key, value)) in
            [("protocolVersion", version), ("clientCapabilities", capabilities), ("clientInfo", info)]
                .iter()
                .enumerate()
        {
            if usize::from(lacks) != at {
                let comma = if meta.len() > 1 { "," } else { "" };
                meta.push_str(&format!("{comma}\"io.modelcontextprotocol/{key}\":{value}"));
            }
        }
        meta + "}"
    });
    let others = object(
        &["name", "uri", "cursor", "arguments", "requestState", "inputResponses", "task", "a"],
        leaf(),
    );
    (others, prop::option::of(prop_oneof![8 => meta, 1 => leaf()])).prop_map(|(others, meta)| match meta {
        Some(meta) if others.len() > 2 => format!("{},\"_meta\":{meta}}}", &others[..others.len() - 1]),
        Some(meta) => format!("{{\"_meta\":{meta}}}"),
        None => others,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// What is told from the slots alone is what the table would have told.
    #[test]
    fn the_usual_fits_the_table(params in params(), method in prop::sample::select(Method::ALL), newest in any::<bool>()) {
        let mut text = format!("{{\"params\":{params}}}").into_bytes();
        let len = text.len();
        text.resize(len + PADDING, 0);
        JsonScratch::new(16).parse(&mut text, len, |document| {
            // A repeated key of the protocol's own is refused before.
            let Ok(document) = document else { return Ok(()) };
            let envelope = document.envelope();
            for &revision in Revision::ALL.iter().filter(|revision| newest == (revision.era() == Era::Modern)) {
                if usual::fit(method, revision, &envelope.args) {
                    let walked = walk(method, revision, envelope.params);
                    prop_assert!(walked.is_ok(), "{method:?} {revision:?} {params}: {walked:?}");
                }
            }
            Ok(())
        })?;
    }
}

#[test]
fn nearly_every_request_is_usual() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{}},"progressToken":1}"#;
    for (method, revision, params) in [
        (Method::ToolsCall, Revision::V2026_07_28, format!(r#"{{"name":"a","arguments":{{"b":1}},{meta}}}"#)),
        (Method::ToolsList, Revision::V2026_07_28, format!("{{{meta}}}")),
        (Method::ToolsCall, Revision::V2025_11_25, r#"{"name":"a","arguments":{"b":1}}"#.to_owned()),
        (
            Method::ToolsCall,
            Revision::V2025_11_25,
            r#"{"name":"a","_meta":{"progressToken":"t"}}"#.to_owned(),
        ),
        (Method::Ping, Revision::V2025_03_26, "{}".to_owned()),
    ] {
        let mut text = format!("{{\"params\":{params}}}").into_bytes();
        let len = text.len();
        text.resize(len + PADDING, 0);
        let usual = JsonScratch::new(16).parse(&mut text, len, |document| {
            usual::fit(method, revision, &document.unwrap().envelope().args)
        });
        assert!(usual, "{method:?} {params}");
    }
}
