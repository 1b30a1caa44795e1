//! What is JSON and what is not, against serde_json.

use proptest::prelude::*;

use super::parse;
use crate::view::message::{JsonFault, JsonScratch};
use crate::view::node::tests::json_value;

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
            "\u{0}",
            "\u{b}",
            "\u{c}",
            "\u{a0}",
            "\u{feff}",
            "\u{7f}",
            "/*",
            "'",
            "Infinity",
            "0x1",
            "1_0",
            "\"\\u0000\"",
            "\"\\/\"",
            "\"\\x\"",
            "1E-5",
            "-1.5e+3",
            "9999999999999999999",
            "99999999999999999999",
            "{\"a\":1}",
            "[1,2]",
        ][..],
    );
    prop_oneof![
        prop::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat().into_bytes()),
        (json_value(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(document, at, byte)| {
            let mut text = document.to_string().into_bytes();
            let at = at.index(text.len());
            text[at] = byte;
            text
        }),
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
