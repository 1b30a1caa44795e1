use proptest::prelude::*;
use serde_json::json;

use super::{Kind, Number, Value};
use crate::view::message::JsonScratch;
use crate::view::message::tests::parse;

fn with<R>(text: &str, then: impl FnOnce(Value<'_, '_>) -> R) -> R {
    parse(&mut JsonScratch::new(128), text.as_bytes(), |document| then(document.unwrap().root()))
}

fn written(text: &str) -> String {
    with(text, |value| {
        let mut out = Vec::new();
        value.write_json(&mut out);
        String::from_utf8(out).unwrap()
    })
}

#[test]
fn kinds_and_accessors() {
    for (text, kind) in [
        ("null", Kind::Null),
        ("true", Kind::Bool),
        ("0", Kind::Integer),
        ("-3", Kind::Integer),
        ("-0", Kind::Integer),
        ("1.0", Kind::Float),
        ("1e2", Kind::Float),
        ("\"\"", Kind::String),
        ("[]", Kind::Array),
        ("{}", Kind::Object),
    ] {
        with(text, |value| {
            assert_eq!(value.kind(), kind, "{text}");
            assert_eq!(value.is_null(), kind == Kind::Null);
            assert_eq!(value.as_bool().is_some(), kind == Kind::Bool);
            assert_eq!(value.as_number().is_some(), matches!(kind, Kind::Integer | Kind::Float));
            assert_eq!(value.as_str().is_some(), kind == Kind::String);
            assert_eq!(value.as_array().is_some(), kind == Kind::Array);
            assert_eq!(value.as_object().is_some(), kind == Kind::Object);
            assert!(value.get("a").is_none());
        });
    }
    for (text, number) in [
        ("18446744073709551615", Number::U64(u64::MAX)),
        ("9223372036854775808", Number::U64(1 << 63)),
        ("-9223372036854775808", Number::I64(i64::MIN)),
        ("-1", Number::I64(-1)),
        ("-0", Number::I64(0)),
        ("0", Number::U64(0)),
        ("0.5", Number::F64(0.5)),
    ] {
        assert_eq!(with(text, |value| value.as_number()), Some(number), "{text}");
    }
}

#[test]
fn numbers_convert() {
    for (number, signed, unsigned, float) in [
        (Number::I64(-1), Some(-1), None, -1.0),
        (Number::I64(0), Some(0), Some(0), 0.0),
        (Number::U64(u64::MAX), None, Some(u64::MAX), 18_446_744_073_709_551_615.0),
        (Number::F64(1.0), None, None, 1.0),
    ] {
        assert_eq!((number.as_i64(), number.as_u64(), number.as_f64()), (signed, unsigned, float));
    }
}

#[test]
fn members_and_elements() {
    with(r#"{"a":[1,[2,{"x":3}],{}],"b":{"c":"d"},"a":null,"\u0062b":true}"#, |value| {
        let object = value.as_object().unwrap();
        assert_eq!(object.len(), 4);
        assert_eq!(object.iter().len(), 4);
        assert!(object.iter().map(|(key, _)| key).eq(["a", "b", "a", "bb"]));
        assert_eq!(value.get("a").unwrap().kind(), Kind::Array, "the first of two");
        assert_eq!(value.get("b").unwrap().get("c").unwrap().as_str(), Some("d"));
        assert_eq!(value.get("bb").unwrap().as_bool(), Some(true));
        let array = value.get("a").unwrap().as_array().unwrap();
        assert_ne!(value.nodes_to_end(), value.get("a").unwrap().nodes_to_end());
        assert_eq!(value.get("a").unwrap().nodes_to_end(), value.get("a").unwrap().nodes_to_end());
        assert_eq!((array.len(), array.iter().len(), array.is_empty()), (3, 3, false));
        assert!(array.iter().map(Value::kind).eq([Kind::Integer, Kind::Array, Kind::Object]));
        assert!(array.iter().nth(2).unwrap().as_object().unwrap().is_empty());
    });
}

#[test]
fn strings_outlive_the_tape_nodes() {
    let mut scratch = JsonScratch::new(8);
    let mut buf = br#"{"a":"b\n"}"#.to_vec();
    let len = buf.len();
    buf.resize(len + 64, 0);
    // A string borrows the body, not the value that it was read through.
    fn text<'b>(value: Value<'_, 'b>) -> &'b str {
        value.get("a").and_then(Value::as_str).unwrap()
    }
    assert_eq!(scratch.parse(&mut buf, len, |document| text(document.unwrap().root()).len()), 2);
}

#[test]
fn written_as_json() {
    for text in [
        "null",
        "[]",
        "{}",
        "[[],{}]",
        "-1",
        "18446744073709551615",
        "1.5",
        "-0.0",
        "1e+300",
        "\"a\\\"b\\\\\\n\\u0001é😀\"",
        r#"{"a":1,"a":2,"":{"b":[true,false,null]}}"#,
    ] {
        assert_eq!(written(text), text);
    }
    assert_eq!(written(" { \"a\" : [ 1.0 , \"\\u0041\\/\" , 100e-2, -0 ] } "), "{\"a\":[1.0,\"A/\",1.0,0]}");
}

#[test]
fn owned_copies_keep_the_first_of_two() {
    assert_eq!(
        with(r#"{"a":1,"b":[-1,1.5,"x",null,true],"a":2}"#, |value| value.to_serde()),
        json!({"a": 1, "b": [-1, 1.5, "x", null, true]})
    );
}

/// Any document that serde_json can hold, integers from i64 and u64, floats finite.
pub(crate) fn json_value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<u64>().prop_map(serde_json::Value::from),
        (-5_i64..5).prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        any::<String>().prop_map(serde_json::Value::from),
        "[a-c]{0,2}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::vec((prop_oneof!["[a-c]{0,2}", any::<String>()], inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn documents_round_trip(document in json_value()) {
        let text = document.to_string();
        prop_assert_eq!(with(&text, |value| value.to_serde()), document);
        prop_assert_eq!(written(&text), text);
    }

    #[test]
    fn whitespace_and_escapes_mean_nothing(document in json_value()) {
        let pretty = serde_json::to_string_pretty(&document).unwrap();
        let escaped: String = pretty.chars().map(|c| if c.is_ascii() {
            c.to_string()
        } else {
            c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }).collect();
        prop_assert_eq!(written(&pretty), document.to_string());
        prop_assert_eq!(written(&escaped), document.to_string());
    }
}
