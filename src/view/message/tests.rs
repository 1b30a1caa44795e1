mod agreement;
mod envelopes;

use super::{Document, JsonFault, JsonScratch, PADDING};
use crate::view::node::Kind;

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
        (b"[\"a", "a string that does not end at byte 1"),
        (b"[\"\\\"\", \"a\\\"]", "a string that does not end at byte 7"),
        (b"[\"a\nb\"]", "an unescaped control character in a string at byte 3"),
        (b"{\"a\":1", "the text ends too early at byte 6"),
        (b"[1,", "the text ends too early at byte 3"),
        (b"[1 2]", "expected `,` or `]` at byte 3"),
        (b"{\"a\" 1}", "expected `:` at byte 5"),
        (b"{a:1}", "expected a key, `,` or `}` at byte 1"),
        (b"{\"a\":1,}", "expected a key in quotes at byte 7"),
        (b"{\"a\":1]", "expected a key, `,` or `}` at byte 6"),
        (b"[tru]", "a word that is not true, false or null at byte 1"),
        (b"[NaN]", "unexpected text at byte 1"),
        (b"[1,]", "unexpected text at byte 3"),
        (b"{}{}", "more text after the end of the value at byte 2"),
        (b"[[],{\"a\":[1]}] ,", "more text after the end of the value at byte 15"),
        (b"[]]", "more text after the end of the value at byte 2"),
        (b"{\"a\":}", "unexpected text at byte 5"),
        (b"[,]", "unexpected text at byte 1"),
        (b"]", "unexpected text at byte 0"),
        (b"{} x", "more text after the end of the value at byte 3"),
        (b"1 1", "more text after the end of the value at byte 2"),
        (b"[\"x\\n\", 1, {\"k\": \"\\q\"}]", "an escape that is not JSON's in the string at byte 17"),
        (b"[1, \"\\ud800\"]", "a malformed \\u escape or a lone surrogate in the string at byte 4"),
        (b"[1, \"\\udc00\"]", "a malformed \\u escape or a lone surrogate in the string at byte 4"),
        (b"[1, \"\\u12g4\"]", "a malformed \\u escape or a lone surrogate in the string at byte 4"),
        (b"[1, \"\\u12\"]", "a malformed \\u escape or a lone surrogate in the string at byte 4"),
        (b"[01]", "a malformed number at byte 1"),
        (b"[1.]", "a malformed number at byte 1"),
        (b"[-]", "a malformed number at byte 1"),
        (b"[1e]", "a malformed number at byte 1"),
        (b"[1.5.5]", "a malformed number at byte 1"),
        (b"[12a]", "a malformed number at byte 1"),
        (b"[99999999999999999999a]", "a malformed number at byte 1"),
        (b"[+1]", "unexpected text at byte 1"),
        (b"[.5]", "unexpected text at byte 1"),
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

#[test]
fn storage_moves_between_threads() {
    fn is_send<T: Send>() {}
    is_send::<JsonScratch>();
}
