use proptest::prelude::*;

use super::{Document, Envelope, JsonFault, JsonScratch, PADDING};
use crate::view::node::{Kind, Value};

/// Parses a copy of `text` with padding that would be read as more JSON if it were read.
pub(crate) fn parse<R>(
    scratch: &mut JsonScratch,
    text: &[u8],
    then: impl FnOnce(Result<Document<'_, '_>, JsonFault>) -> R,
) -> R {
    let mut buf = text.to_vec();
    let padding: Vec<u8> = b"1\",}]\\".iter().copied().cycle().take(PADDING).collect();
    buf.extend_from_slice(&padding);
    let result = scratch.parse(&mut buf, text.len(), then);
    assert_eq!(buf[text.len()..], padding, "padding is left as it was");
    result
}

fn fault(text: impl AsRef<[u8]>) -> Option<JsonFault> {
    parse(&mut JsonScratch::new(128), text.as_ref(), |document| document.err())
}

fn text(text: impl AsRef<[u8]>) -> String {
    let fault = fault(text.as_ref()).unwrap_or_else(|| panic!("accepted: {}", text.as_ref().escape_ascii()));
    let mut line = String::new();
    fault.write_text(&mut line).unwrap();
    assert!(!line.contains('\n') && !line.is_empty());
    line
}

fn nested(open: &str, close: &str, depth: usize) -> String {
    open.repeat(depth) + "1" + &close.repeat(depth)
}

#[test]
fn faults_say_what_and_where() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "the body is empty"),
        (b" \r\n\t", "the body is empty"),
        (b"\xef\xbb\xbf{}", "the body starts with a byte-order mark, JSON has none"),
        (b"\xfe\xff\0{", "the body is not UTF-8 at byte 0"),
        (b"{\"a\":\"b\xff\"}", "the body is not UTF-8 at byte 7"),
        (b"[\"\xc3\"]", "the body is not UTF-8 at byte 2"),
        (b"[\"\xed\xa0\x80\"]", "the body is not UTF-8 at byte 2"),
        (b"[\"a", "the body is not JSON: a string that does not end at byte 1"),
        (b"[\"\\\"\", \"a\\\"]", "the body is not JSON: a string that does not end at byte 7"),
        (b"[\"a\nb\"]", "the body is not JSON: an unescaped control character in a string at byte 3"),
        (b"{\"a\":1", "the body is not JSON: the text ends too early at byte 6"),
        (b"[1,", "the body is not JSON: the text ends too early at byte 3"),
        (b"[1 2]", "the body is not JSON: expected `,` or `]` at byte 3"),
        (b"{\"a\" 1}", "the body is not JSON: expected `:` at byte 5"),
        (b"{a:1}", "the body is not JSON: expected a key, `,` or `}` at byte 1"),
        (b"{\"a\":1,}", "the body is not JSON: expected a key in quotes at byte 7"),
        (b"{\"a\":1]", "the body is not JSON: expected a key, `,` or `}` at byte 6"),
        (b"[tru]", "the body is not JSON: a word that is not true, false or null at byte 1"),
        (b"[NaN]", "the body is not JSON: unexpected text at byte 1"),
        (b"[1,]", "the body is not JSON: unexpected text at byte 3"),
        (b"{}{}", "the body is not JSON: more text after the end of the value at byte 2"),
        (b"[[],{\"a\":[1]}] ,", "the body is not JSON: more text after the end of the value at byte 15"),
        (b"[]]", "the body is not JSON: more text after the end of the value at byte 2"),
        (b"{\"a\":}", "the body is not JSON: unexpected text at byte 5"),
        (b"[,]", "the body is not JSON: unexpected text at byte 1"),
        (b"]", "the body is not JSON: unexpected text at byte 0"),
        (b"{} x", "the body is not JSON: more text after the end of the value at byte 3"),
        (b"1 1", "the body is not JSON: more text after the end of the value at byte 2"),
        (
            b"[\"x\\n\", 1, {\"k\": \"\\q\"}]",
            "the body is not JSON: an escape that is not JSON's in the string at byte 17",
        ),
        (
            b"[1, \"\\ud800\"]",
            "the body is not JSON: a malformed \\u escape or a lone surrogate in the string at byte 4",
        ),
        (
            b"[1, \"\\udc00\"]",
            "the body is not JSON: a malformed \\u escape or a lone surrogate in the string at byte 4",
        ),
        (
            b"[1, \"\\u12g4\"]",
            "the body is not JSON: a malformed \\u escape or a lone surrogate in the string at byte 4",
        ),
        (
            b"[1, \"\\u12\"]",
            "the body is not JSON: a malformed \\u escape or a lone surrogate in the string at byte 4",
        ),
        (b"[01]", "the body is not JSON: a malformed number at byte 1"),
        (b"[1.]", "the body is not JSON: a malformed number at byte 1"),
        (b"[-]", "the body is not JSON: a malformed number at byte 1"),
        (b"[1e]", "the body is not JSON: a malformed number at byte 1"),
        (b"[1.5.5]", "the body is not JSON: a malformed number at byte 1"),
        (b"[12a]", "the body is not JSON: a malformed number at byte 1"),
        (b"[99999999999999999999a]", "the body is not JSON: a malformed number at byte 1"),
        (b"[+1]", "the body is not JSON: unexpected text at byte 1"),
        (b"[.5]", "the body is not JSON: unexpected text at byte 1"),
    ];
    for (body, expected) in cases {
        assert_eq!(text(body), *expected, "{}", body.escape_ascii());
    }
}

#[test]
fn numbers_keep_to_their_range() {
    let out = |at: usize| {
        format!("the number at byte {at} is an integer outside i64..u64 or a float that overflows")
    };
    for number in [
        "18446744073709551616",
        "-9223372036854775809",
        "1e400",
        "-1e400",
        "1.8e308",
        "123456789012345678901234567890",
    ] {
        assert_eq!(text(number), out(0), "{number}");
        assert_eq!(text(format!("[\"\\n\", {number} ]")), out(7), "{number}");
    }
    let digits = "1".repeat(100_000);
    assert_eq!(text(format!("{{\"a\":{digits}}}")), out(5));
    assert_eq!(text(format!("[{digits}.5]")), out(1), "overflows as a float");
    for number in [
        "18446744073709551615",
        "-9223372036854775808",
        "1.7976931348623157e308",
        "1e-400",
        "0e99999999999",
        "-0",
        "-0.0",
    ] {
        assert_eq!(fault(number), None, "{number}");
    }
    assert_eq!(fault(format!("0.{digits}")), None);
}

#[test]
fn the_depth_ceiling_is_exact() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let levels = open.matches(['[', '{']).count();
        assert_eq!(fault(nested(open, close, 128 / levels)), None);
        let deeper = fault(nested(open, close, 128 / levels + 1));
        assert!(matches!(deeper, Some(JsonFault::TooDeep { ceiling: 128, .. })), "{deeper:?}");
    }
    assert_eq!(text("[".repeat(1_000_000)), "the body nests deeper than 128 arrays and objects at byte 128");
    for depth in [4, 1024] {
        let at = |nesting: usize| {
            parse(&mut JsonScratch::new(depth), nested("[", "]", nesting).as_bytes(), |document| {
                document.is_ok()
            })
        };
        assert_eq!((at(depth), at(depth + 1)), (true, false));
    }
}

#[test]
fn the_deepest_setting_fits_a_thread() {
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(|| {
        parse(&mut JsonScratch::new(1024), nested("{\"a\":", "}", 1024).as_bytes(), |document| {
            let root = document.unwrap().root();
            let mut out = Vec::new();
            root.write_json(&mut out);
            assert_eq!(serde_json::to_vec(&root.to_serde()).unwrap(), out);
        });
    });
    thread.unwrap().join().unwrap();
}

#[test]
fn scalars_and_arrays_are_documents_without_an_envelope() {
    for (body, kind) in [
        ("1", Kind::Integer),
        ("\"a\"", Kind::String),
        ("null", Kind::Null),
        (" true ", Kind::Bool),
        ("[{}]", Kind::Array),
    ] {
        parse(&mut JsonScratch::new(128), body.as_bytes(), |document| {
            let document = document.unwrap();
            assert_eq!(document.root().kind(), kind);
            assert!(!document.envelope().object && document.envelope().method.is_none());
        });
    }
}

#[test]
fn the_body_is_overwritten() {
    let mut buf = br#"["\u0041\n"]"#.to_vec();
    let len = buf.len();
    buf.resize(len + PADDING, 0);
    let before = buf.clone();
    JsonScratch::new(8).parse(&mut buf, len, |document| assert!(document.is_ok()));
    assert_ne!(buf, before);
}

#[test]
fn missing_padding_is_refused() {
    let mut buf = b"{}".to_vec();
    buf.resize(2 + PADDING - 1, 0);
    assert!(JsonScratch::new(8).parse(&mut buf, 2, |document| document.is_err()));
    assert!(JsonScratch::new(8).parse(&mut buf, 1000, |document| document.is_err()));
}

#[test]
fn envelopes() {
    let body = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","x":{"method":1},"params":{"name":"n","arguments":{"uri":1},
        "cursor":"a","cursor":"b","_meta":{"io.modelcontextprotocol/protocolVersion":"v","io.modelcontextprotocol/clientInfo":{},
        "io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info","progressToken":1,"progressToken":2}}}"#;
    parse(&mut JsonScratch::new(128), body, |document| {
        let envelope = document.unwrap().envelope();
        assert!(envelope.object);
        assert_eq!(envelope.jsonrpc.and_then(Value::as_str), Some("2.0"));
        assert_eq!(envelope.method.and_then(Value::as_str), Some("tools/call"));
        assert!(envelope.id.is_some() && envelope.params.is_some());
        assert!(envelope.result.is_none() && envelope.error.is_none());
        let args = envelope.args;
        assert_eq!(args.name.and_then(Value::as_str), Some("n"));
        assert!(
            args.arguments.is_some() && args.meta.is_some() && args.uri.is_none() && args.task_id.is_none()
        );
        assert_eq!(args.cursor.and_then(Value::as_str), Some("a"));
        assert_eq!(args.fields.protocol_version.and_then(Value::as_str), Some("v"));
        assert_eq!(args.fields.log_level.and_then(Value::as_str), Some("info"));
        assert!(args.fields.client_info.is_some() && args.fields.client_capabilities.is_some());
        assert_eq!(args.fields.progress_token.map(Value::to_serde), Some(1.into()));
    });
    // Null is there; params and _meta that are no objects have no members.
    parse(
        &mut JsonScratch::new(128),
        br#"{"id":null,"params":[{"name":1}],"result":{},"error":0}"#,
        |document| {
            let envelope = document.unwrap().envelope();
            assert!(
                envelope.id.is_some_and(Value::is_null)
                    && envelope.result.is_some()
                    && envelope.error.is_some()
            );
            assert!(envelope.params.is_some() && envelope.args.name.is_none());
        },
    );
    parse(
        &mut JsonScratch::new(128),
        br#"{"params":{"_meta":1,"uri":2,"taskId":3,"protocolVersion":4}}"#,
        |document| {
            let args = document.unwrap().envelope().args;
            assert!(
                args.meta.is_some()
                    && args.uri.is_some()
                    && args.task_id.is_some()
                    && args.protocol_version.is_some()
            );
        },
    );
}

#[test]
fn duplicates_among_the_protocols_own_keys() {
    for key in ["jsonrpc", "id", "method", "params", "result", "error"] {
        assert_eq!(
            text(format!("{{\"{key}\":1,\"x\":2,\"{key}\":1}}")),
            format!("the key `{key}` is duplicated")
        );
    }
    assert_eq!(text(r#"{"\u0069d":1,"id":1}"#), "the key `id` is duplicated");
    for key in ["_meta", "name", "uri", "arguments", "taskId", "protocolVersion"] {
        assert_eq!(
            text(format!("{{\"params\":{{\"{key}\":1,\"{key}\":1}}}}")),
            format!("the key `{key}` is duplicated")
        );
    }
    for name in ["protocolVersion", "clientInfo", "clientCapabilities", "logLevel", "other", ""] {
        let key = format!("io.modelcontextprotocol/{name}");
        assert_eq!(
            text(format!("{{\"params\":{{\"_meta\":{{\"{key}\":1,\"{key}\":1}}}}}}")),
            format!("the key `{key}` is duplicated")
        );
    }
    for fine in [
        r#"{"x":1,"x":1,"params":{"cursor":1,"cursor":1,"jsonrpc":1,"jsonrpc":1,"_meta":{"a":1,"a":1,"progressToken":1,"progressToken":1}}}"#,
        r#"{"params":{"arguments":{"name":1,"name":2}},"result":{"id":1,"id":1}}"#,
        r#"[{"id":1,"id":2}]"#,
    ] {
        assert_eq!(fault(fine), None, "{fine}");
    }
    // An element of a batch is read by itself.
    parse(&mut JsonScratch::new(8), br#"[{"id":1},{"id":1,"id":2}]"#, |document| {
        let batch = document.unwrap().root().as_array().unwrap();
        let faults = batch.iter().map(|message| Envelope::read(message).is_err());
        assert!(faults.eq([false, true]));
    });
}

#[test]
fn many_reserved_keys_take_linear_time() {
    let keys = |count: usize, last: usize| {
        let keys: Vec<String> =
            (0..count).chain([last]).map(|n| format!("\"io.modelcontextprotocol/{n}\":0")).collect();
        format!("{{\"params\":{{\"_meta\":{{{}}}}}}}", keys.join(","))
    };
    assert_eq!(fault(keys(200_000, 200_000)), None);
    for last in [0, 7, 8, 199_999] {
        assert_eq!(
            text(keys(200_000, last)),
            format!("the key `io.modelcontextprotocol/{last}` is duplicated")
        );
    }
    let long = format!("io.modelcontextprotocol/{}", "é".repeat(100));
    assert_eq!(
        text(format!("{{\"params\":{{\"_meta\":{{\"{long}\":0,\"{long}\":0}}}}}}")).len(),
        "the key `` is duplicated".len() + 64
    );
}

#[test]
fn storage_is_reused_and_given_back() {
    let mut scratch = JsonScratch::new(128);
    let big = format!("[{}1]", "\"a\\n\",".repeat(100_000));
    assert!(parse(&mut scratch, big.as_bytes(), |document| document.is_ok()));
    let held = scratch.tape.0.capacity();
    assert!(held >= 100_000);
    assert!(parse(&mut scratch, b"{\"id\":1.0}", |document| document.is_ok()));
    assert!(!parse(&mut scratch, b"[1,[2", |document| document.is_ok()));
    assert_eq!(scratch.tape.0.capacity(), held);
    scratch.shrink(big.len());
    assert_eq!(scratch.tape.0.capacity(), held);
    scratch.shrink(big.len() - 1);
    assert_eq!(scratch.tape.0.capacity(), 0);
    assert!(
        parse(&mut scratch, &nested("[", "]", 129).into_bytes(), |document| document.is_err()),
        "the ceiling stays"
    );
}

/// Mostly JSON, with mistakes.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let token = prop::sample::select(
        &[
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\"a\"",
            "\"\\n\"",
            "\"\\ud800\"",
            "\"id\"",
            "1",
            "-0",
            "0.5",
            "1e9",
            "1e999",
            "01",
            "-",
            "true",
            "fals",
            "null",
            " ",
            "\n",
            "\\",
            "é",
            "\u{1}",
            "{\"a\":1}",
            "[1,2]",
        ][..],
    );
    prop_oneof![
        prop::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat().into_bytes()),
        (crate::view::node::tests::json_value(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
            |(document, at, byte)| {
                let mut text = document.to_string().into_bytes();
                let at = at.index(text.len());
                text[at] = byte;
                text
            }
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn accepts_what_serde_json_accepts(body in nearly_json()) {
        let ours = parse(&mut JsonScratch::new(128), &body, |document| document.map(|document| document.root().to_serde()));
        match (ours, serde_json::from_slice::<serde_json::Value>(&body)) {
            (Ok(ours), Ok(theirs)) => {
                // Of repeated keys we keep the first, they the last; -0 is an integer for us, a float for them.
                let repeats = body.windows(2).filter(|pair| pair == b"\":").count() > 1;
                let minus_zero = body.windows(2).any(|pair| pair == b"-0");
                prop_assert!(ours == theirs || repeats || minus_zero, "{} {ours} {theirs}", body.escape_ascii());
            }
            (Err(JsonFault::NumberOutOfRange { .. }), _) => {}
            (Err(JsonFault::DuplicatedKey(_)), Ok(_)) => {}
            (Err(_), Err(_)) => {}
            (ours, theirs) => prop_assert!(false, "{}: {ours:?} {theirs:?}", body.escape_ascii()),
        }
    }
}
