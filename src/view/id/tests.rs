use proptest::prelude::*;

use super::{Id, IdFault, LONGEST_ID, is_integral};
use crate::view::message::tests::parse;
use crate::view::message::{Envelope, JsonScratch};

/// What the id of `body` comes back as.
fn echoed(body: &str) -> Result<String, IdFault> {
    parse(&mut JsonScratch::new(128), body.as_bytes(), |document| {
        let document = document.unwrap();
        Id::read(document.envelope().id.unwrap(), document.spellings()).map(|id| {
            let mut out = Vec::new();
            id.write(&mut out);
            String::from_utf8(out).unwrap()
        })
    })
}

fn id(text: &str) -> Result<String, IdFault> {
    echoed(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{text},\"method\":\"ping\"}}"))
}

#[test]
fn ids_come_back_as_the_same_value() {
    for text in [
        "0",
        "1",
        "-1",
        "9007199254740993",
        "18446744073709551615",
        "-9223372036854775808",
        "\"\"",
        "\"a\"",
        "\"é😀\"",
        "\"\\\"\\\\\\n\"",
        "1.0",
        "1e2",
        "-0",
        "-0.0",
        "0.0",
        "0e0",
        "1E+2",
        "10e-1",
        "1.50e1",
        "123456789012345678901234567890.0",
        "1e300",
        "-2.0",
    ] {
        assert_eq!(id(text).as_deref(), Ok(text), "{text}");
    }
    assert_eq!(id("\"\\u0041\\/\"").as_deref(), Ok("\"A/\""));
}

#[test]
fn what_is_no_id() {
    for (text, fault) in [
        ("null", IdFault::Null),
        ("true", IdFault::Bool),
        ("false", IdFault::Bool),
        ("1.5", IdFault::Fraction),
        ("1e-1", IdFault::Fraction),
        ("1e-400", IdFault::Fraction),
        ("9007199254740993.5", IdFault::Fraction),
        ("[]", IdFault::Container),
        ("{}", IdFault::Container),
    ] {
        assert_eq!(id(text), Err(fault), "{text}");
        assert!(!fault.text().is_empty());
    }
}

#[test]
fn long_ids() {
    for fill in ["a", "\\u0061"] {
        let text = |length: usize| format!("\"{}\"", fill.repeat(length));
        assert!(id(&text(LONGEST_ID)).is_ok());
        assert_eq!(id(&text(LONGEST_ID + 1)), Err(IdFault::TooLong));
    }
    let number = |length: usize| format!("1.{}", "0".repeat(length - 2));
    assert_eq!(id(&number(LONGEST_ID)), Ok(number(LONGEST_ID)));
    assert_eq!(id(&number(LONGEST_ID + 1)), Err(IdFault::TooLong));
    assert_eq!(id(&number(100_000)), Err(IdFault::TooLong));
}

#[test]
fn a_spelling_is_never_taken_from_elsewhere() {
    // Other places with an "id", before and after, at every depth.
    let noise = r#"{"id":3.0,"a":["x",{"id":4.0,"b":[[],{},"\"id\":5.0"]}],"c":{"id" : 6e0}}"#;
    for (body, expected) in [
        (format!(r#"{{"params":{noise},"id" : 1.0 ,"x":{noise}}}"#), Ok("1.0")),
        (format!(r#"{{"id":1.00,"params":{noise}}}"#), Ok("1.00")),
        (format!(r#"{{"params":{noise},"id":7}}"#), Ok("7")),
        (format!(r#"{{"params":{noise},"\u0069d":1.0}}"#), Err(IdFault::Unspelled)),
        (format!(r#"{{"a":"\"id\":2.0,","id":1.0,"params":{noise}}}"#), Ok("1.0")),
    ] {
        assert_eq!(echoed(&body).as_deref(), expected.as_ref().copied(), "{body}");
    }
}

#[test]
fn spellings_in_large_bodies() {
    let large = format!("\"{}\"", "x".repeat(10_000));
    let members = format!("[{}0]", "{\"a\":[1,\"\\n\"]},".repeat(1000));
    for filler in [&large, &members] {
        assert_eq!(echoed(&format!("{{\"id\":1.0,\"p\":{filler}}}")).as_deref(), Ok("1.0"));
        assert_eq!(echoed(&format!("{{\"p\":{filler},\"id\":1.0}}")).as_deref(), Ok("1.0"));
        assert_eq!(echoed(&format!("{{\"p\":{filler},\"id\":1.0,\"q\":{filler}}}")), Err(IdFault::Unspelled));
        assert_eq!(echoed(&format!("{{\"p\":{filler},\"id\":1.5,\"q\":{filler}}}")), Err(IdFault::Fraction));
        assert_eq!(echoed(&format!("{{\"p\":{filler},\"id\":15,\"q\":{filler}}}")).as_deref(), Ok("15"));
    }
    // The key at the very end of the first window, its number behind it.
    for pad in 2020..2060 {
        let body = format!("{{\"p\":\"{}\",\"id\":1.0,\"q\":{large}}}", "y".repeat(pad));
        assert!(matches!(echoed(&body).as_deref(), Ok("1.0") | Err(IdFault::Unspelled)), "{pad}");
    }
}

#[test]
fn spellings_in_batches() {
    let body = br#"[{"id":1.0},{"id":2,"x":[{"id":9.0}]},[{"id":8.0}],{"id":-3e0},{"id":"a"}]"#;
    parse(&mut JsonScratch::new(128), body, |document| {
        let document = document.unwrap();
        let ids: Vec<_> = document
            .root()
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|message| Envelope::read(message).unwrap().id)
            .map(|id| Id::read(id, document.spellings()).unwrap())
            .collect();
        assert_eq!(ids, [Id::Literal("1.0"), Id::Unsigned(2), Id::Literal("-3e0"), Id::Text("a")]);
    });
}

proptest! {
    #[test]
    fn any_string_or_integer(text: String, signed: i64, unsigned: u64) {
        for value in [serde_json::Value::from(text), signed.into(), unsigned.into()] {
            let text = value.to_string();
            prop_assert_eq!(id(&text), Ok(text));
        }
    }

    #[test]
    fn integral_spellings(whole in 0_u32..2000, zeros in 0_usize..4, exponent in -4_i32..4, fraction in 0_u32..200) {
        let fraction = format!("{fraction:03}{}", "0".repeat(zeros));
        let text = format!("{whole}.{fraction}e{exponent}");
        // The value in units of 10^-12, exactly.
        let digits: i128 = format!("{whole}{fraction}").parse().unwrap();
        let scaled = digits * 10_i128.pow(u32::try_from(12 + exponent - i32::try_from(fraction.len()).unwrap()).unwrap());
        prop_assert_eq!(is_integral(&text), scaled % 1_000_000_000_000 == 0, "{}", text);
        prop_assert_eq!(id(&text), if scaled % 1_000_000_000_000 == 0 { Ok(text) } else { Err(IdFault::Fraction) });
    }

    #[test]
    fn a_float_id_among_anything(before in crate::view::node::tests::json_value(), after in crate::view::node::tests::json_value()) {
        let body = format!("{{\"a\":{before},\"id\":1.0,\"b\":{after}}}");
        let expected = if body.len() <= 4096 { Ok("1.0".to_owned()) } else { echoed(&body) };
        prop_assert_eq!(echoed(&body), expected);
    }
}
