use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde::de::IgnoredAny;
use serde_json::json;

use super::{DeError, DeErrorKind, from_value};
use crate::view::message::JsonScratch;
use crate::view::message::tests::parse;
use crate::view::node::Value;
use crate::view::node::tests::json_value;

fn read<T: DeserializeOwned>(text: &str) -> Result<T, DeError> {
    parse(&mut JsonScratch::new(1024), text.as_bytes(), |document| from_value(document.unwrap().root()))
}

fn fault<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    read::<T>(text).unwrap_err().to_string()
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Point {
    x: i32,
    #[serde(default)]
    y: Option<u8>,
}

#[derive(Debug, Deserialize, PartialEq)]
enum Shape {
    Empty,
    Circle(f64),
    Line(i8, i8),
    Polygon { points: Vec<Point> },
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Tagged {
    A { a: u64 },
    B(Point),
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum Either {
    Number(i64),
    Text(String),
    List(Vec<bool>),
}

#[derive(Debug, Deserialize, PartialEq)]
struct Wide {
    point: Point,
    shapes: Vec<Shape>,
    names: BTreeMap<String, u32>,
    numbered: Option<HashMap<i16, String>>,
    pair: (bool, char),
    unit: (),
    any: serde_json::Value,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Wrapper(Vec<u16>);

#[derive(Debug, Deserialize, PartialEq)]
struct Pair(u8, String);

#[derive(Debug, Deserialize, PartialEq)]
struct Unit;

#[test]
fn scalars() {
    assert_eq!(read("true"), Ok(true));
    assert_eq!(read("-128"), Ok(i8::MIN));
    assert_eq!(read("18446744073709551615"), Ok(u64::MAX));
    assert_eq!(read("-9223372036854775808"), Ok(i64::MIN));
    assert_eq!(read("18446744073709551615"), Ok(u128::from(u64::MAX)));
    assert_eq!(read("-5"), Ok(-5_i128));
    assert_eq!(read("3"), Ok(3.0_f64));
    assert_eq!(read("0.5"), Ok(0.5_f32));
    assert_eq!(read("\"é\""), Ok('é'));
    assert_eq!(read("\"a\\nb\""), Ok("a\nb".to_owned()));
    assert_eq!(read("null"), Ok(()));
    assert_eq!(read("null"), Ok(None::<i32>));
    assert_eq!(read("7"), Ok(Some(7)));
    assert_eq!(read("null"), Ok(Unit));
    assert_eq!(read("[1,2]"), Ok(Wrapper(vec![1, 2])));
    assert_eq!(read("[1,\"a\"]"), Ok(Pair(1, "a".to_owned())));
    assert!(read::<IgnoredAny>("{\"a\":[{}]}").is_ok());
}

#[test]
fn integral_floats_are_integers() {
    assert_eq!(read("1.0"), Ok(1_u8));
    assert_eq!(read("-3e2"), Ok(-300_i16));
    assert_eq!(read("-0.0"), Ok(0_u64));
    assert_eq!(read("-0"), Ok(0_u64));
    assert_eq!(read("9007199254740993.0"), Ok(9_007_199_254_740_992_i64), "rounded before it gets here");
    assert_eq!(read("1.8446744073709550e19"), Ok(18_446_744_073_709_549_568_u64));
    assert_eq!(read("-9.223372036854775808e18"), Ok(i64::MIN));
    assert_eq!(
        fault::<u64>("1.8446744073709551616e19"),
        "invalid type: number `1.8446744073709552e+19`, expected u64"
    );
    assert!(read::<i64>("9.223372036854775808e18").is_err());
    assert!(read::<i64>("-9.3e18").is_err());
    assert_eq!(fault::<i32>("1.5"), "invalid type: number `1.5`, expected i32");
    assert_eq!(fault::<u8>("256.0"), "invalid value: integer `256`, expected u8");
    assert_eq!(read("1.0"), Ok(serde_json::json!(1.0)), "as sent where nothing is asked for");
}

#[test]
fn strings_are_borrowed() {
    #[derive(Deserialize)]
    struct Borrowed<'b> {
        text: &'b str,
        #[serde(borrow)]
        cow: Cow<'b, str>,
        bytes: &'b [u8],
    }
    let mut buf = br#"{"text":"a\n","cow":"b","bytes":"cd"}"#.to_vec();
    let len = buf.len();
    buf.resize(len + 64, 0);
    let range = buf.as_ptr_range();
    JsonScratch::new(8).parse(&mut buf, len, |document| {
        let Borrowed { text, cow, bytes } = from_value(document.unwrap().root()).unwrap();
        assert_eq!((text, &*cow, bytes), ("a\n", "b", &b"cd"[..]));
        assert!(matches!(cow, Cow::Borrowed(_)));
        assert!(range.contains(&text.as_ptr()) && range.contains(&bytes.as_ptr()));
    });
    assert_eq!(
        from_value::<Vec<u8>>(Value::EMPTY_OBJECT).unwrap_err().message,
        "invalid type: object, expected a sequence"
    );
    assert_eq!(from_value(Value::NULL), Ok(None::<u8>));
    assert_eq!(from_value(Value::EMPTY_OBJECT), Ok(HashMap::<String, u8>::new()));
}

#[test]
fn enums() {
    assert_eq!(read("\"Empty\""), Ok(Shape::Empty));
    assert_eq!(read("{\"Empty\":null}"), Ok(Shape::Empty));
    assert_eq!(read("{\"Circle\":2}"), Ok(Shape::Circle(2.0)));
    assert_eq!(read("{\"Line\":[1,2]}"), Ok(Shape::Line(1, 2)));
    assert_eq!(read("{\"Polygon\":{\"points\":[]}}"), Ok(Shape::Polygon { points: vec![] }));
    assert_eq!(read("{\"kind\":\"a\",\"a\":5}"), Ok(Tagged::A { a: 5 }));
    assert_eq!(read("{\"x\":5,\"kind\":\"b\"}"), Ok(Tagged::B(Point { x: 5, y: None })));
    assert_eq!(read("5"), Ok(Either::Number(5)));
    assert_eq!(read("\"a\""), Ok(Either::Text("a".to_owned())));
    assert_eq!(read("[true]"), Ok(Either::List(vec![true])));
    for (text, expected) in [
        ("\"Square\"", "unknown variant `Square`, expected one of `Empty`, `Circle`, `Line`, `Polygon`"),
        ("\"Circle\"", "invalid type: string, expected newtype variant"),
        ("\"Line\"", "invalid type: string, expected tuple variant"),
        ("\"Polygon\"", "invalid type: string, expected struct variant"),
        ("{\"Empty\":1}", "/Empty: invalid type: integer `1`, expected unit variant"),
        ("{\"Circle\":\"a\"}", "/Circle: invalid type: string \"a\", expected f64"),
        ("{\"Line\":[1]}", "/Line: invalid length: 1, expected tuple variant Shape::Line with 2 elements"),
        ("{\"Line\":[1,2,3]}", "/Line: invalid length: 3, expected fewer elements"),
        ("{\"Line\":[1,true]}", "/Line/1: invalid type: boolean `true`, expected i8"),
        ("{\"Polygon\":[]}", "/Polygon: invalid type: array, expected struct variant"),
        ("{\"Polygon\":{\"points\":[{\"x\":1},{}]}}", "/Polygon/points/1: missing field `x`"),
        ("{}", "invalid value: object, expected an object with a single key"),
        ("{\"Empty\":null,\"Circle\":1}", "invalid value: object, expected an object with a single key"),
        ("5", "invalid type: integer `5`, expected a string or an object with a single key"),
    ] {
        assert_eq!(fault::<Shape>(text), expected, "{text}");
    }
}

#[test]
fn faults_name_their_place() {
    for (text, expected) in [
        ("{\"x\":\"5\"}", "/x: invalid type: string \"5\", expected i32"),
        ("{\"x\":null}", "/x: invalid type: null, expected i32"),
        ("{\"x\":[]}", "/x: invalid type: array, expected i32"),
        ("{\"x\":{}}", "/x: invalid type: object, expected i32"),
        ("{\"x\":true}", "/x: invalid type: boolean `true`, expected i32"),
        ("{\"x\":1,\"y\":300}", "/y: invalid value: integer `300`, expected u8"),
        ("{\"x\":1,\"y\":-1}", "/y: invalid value: integer `-1`, expected u8"),
        ("{}", "missing field `x`"),
        ("{\"x\":1,\"z\":1}", "unknown field `z`, expected `x` or `y`"),
        ("{\"x\":1,\"x\":1}", "duplicate field `x`"),
        ("[1,2,3]", "invalid length: 3, expected fewer elements"),
        ("[]", "invalid length: 0, expected struct Point with 2 elements"),
        ("\"a\"", "invalid type: string \"a\", expected struct Point"),
    ] {
        assert_eq!(fault::<Point>(text), expected, "{text}");
    }
    assert_eq!(
        fault::<HashMap<String, Vec<(u8, bool)>>>("{\"a/b~c\":[[1,true],[1,2]]}"),
        "/a~1b~0c/1/1: invalid type: integer `2`, expected a boolean"
    );
    assert_eq!(
        fault::<BTreeMap<i8, ()>>("{\"300\":null}"),
        "/300: invalid value: integer `300`, expected i8"
    );
    assert_eq!(fault::<char>("\"ab\""), "invalid value: string \"ab\", expected a character");
}

#[test]
fn kinds_of_faults() {
    let kind = |text: &str| read::<Point>(text).unwrap_err().kind;
    assert_eq!(kind("{}"), DeErrorKind::Missing("x".to_owned()));
    assert_eq!(kind("{\"z\":0}"), DeErrorKind::Unknown("z".to_owned()));
    assert_eq!(kind("{\"x\":1,\"x\":1}"), DeErrorKind::Duplicated("x".to_owned()));
    assert_eq!(
        kind("{\"x\":null}"),
        DeErrorKind::Mismatch { expected: "i32".to_owned(), got: "null".to_owned() }
    );
    assert_eq!(read::<Either>("null").unwrap_err().kind, DeErrorKind::Other);
}

#[test]
fn keys_that_come_twice() {
    assert_eq!(fault::<HashMap<String, u8>>("{\"a\":1,\"b\":2,\"a\":3}"), "duplicate field `a`");
    assert_eq!(fault::<serde_json::Value>("[{\"a\":{\"b\":1,\"b\":1}}]"), "/0/a: duplicate field `b`");
    let many = |last: usize| {
        let members: Vec<String> = (0..100_000).chain([last]).map(|n| format!("\"{n}\":0")).collect();
        format!("{{{}}}", members.join(","))
    };
    assert_eq!(read::<HashMap<u32, u8>>(&many(100_000)).unwrap().len(), 100_001);
    for last in [0, 15, 16, 99_999] {
        assert_eq!(fault::<HashMap<u32, u8>>(&many(last)), format!("duplicate field `{last}`"));
    }
    // A struct does not care about members that it does not read.
    #[derive(Debug, Deserialize)]
    struct Loose {}
    assert!(read::<Loose>("{\"a\":1,\"a\":2}").is_ok());
}

#[test]
fn map_keys_spell_what_the_type_wants() {
    #[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
    #[serde(rename_all = "lowercase")]
    enum Level {
        Low,
        High,
    }
    #[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
    struct Name(String);
    assert_eq!(read("{\"-1\":0}"), Ok(BTreeMap::from([(-1_i64, 0)])));
    assert_eq!(read("{\"18446744073709551615\":0}"), Ok(BTreeMap::from([(u64::MAX, 0)])));
    assert_eq!(read("{\"true\":0}"), Ok(BTreeMap::from([(true, 0)])));
    assert_eq!(read("{\"low\":0,\"high\":1}"), Ok(BTreeMap::from([(Level::Low, 0), (Level::High, 1)])));
    assert_eq!(read("{\"a\":0}"), Ok(BTreeMap::from([(Name("a".to_owned()), 0)])));
    assert_eq!(read("{\"a\":0}"), Ok(BTreeMap::from([(Some("a".to_owned()), 0)])));
    for key in ["+1", "01", "1.0", "", "-", " 1", "a"] {
        assert!(read::<BTreeMap<i64, u8>>(&format!("{{\"{key}\":0}}")).is_err(), "{key:?}");
    }
}

#[test]
fn long_texts_are_cut() {
    let long = "é".repeat(10_000);
    for error in [
        read::<i32>(&format!("\"{long}\"")).unwrap_err(),
        read::<Point>(&format!("{{\"{long}\":1}}")).unwrap_err(),
        read::<Shape>(&format!("\"{long}\"")).unwrap_err(),
        read::<HashMap<String, u8>>(&format!("{{\"{long}\":\"{long}\"}}")).unwrap_err(),
    ] {
        assert!(error.to_string().len() < 600 && error.to_string().contains('…'), "{error}");
    }
    assert!(!fault::<i32>("\"a\\nb\"").contains('\n'), "one line");
}

#[test]
fn the_deepest_document_fits_a_thread() {
    #[derive(Deserialize)]
    struct Tree {
        #[serde(rename = "a")]
        children: Option<Box<Tree>>,
    }
    // Half the deepest setting on a worker's stack, in the build with the largest frames: optimised ones are a third of these.
    let text = "{\"a\":".repeat(512) + "null" + &"}".repeat(512);
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let mut tree = read::<Tree>(&text).unwrap();
        let mut depth = 1;
        while let Some(child) = tree.children.take() {
            tree = *child;
            depth += 1;
        }
        assert_eq!(depth, 512);
        assert!(read::<serde_json::Value>(&text).is_ok());
    });
    thread.unwrap().join().unwrap();
}

/// Documents of roughly the shape of [`Wide`], most with something wrong.
fn nearly_wide() -> impl Strategy<Value = serde_json::Value> {
    fn or_any(good: impl Strategy<Value = serde_json::Value> + 'static) -> BoxedStrategy<serde_json::Value> {
        prop_oneof![20 => good, 1 => json_value()].boxed()
    }
    let point = || {
        or_any((any::<i32>(), prop::option::of(any::<u8>())).prop_map(|(x, y)| json!({"x": x, "y": y})))
            .boxed()
    };
    let shape = prop_oneof![
        Just(json!("Empty")),
        any::<f64>().prop_map(|radius| json!({"Circle": radius})),
        any::<(i8, i8)>().prop_map(|ends| json!({"Line": ends})),
        prop::collection::vec(point(), 0..3).prop_map(|points| json!({"Polygon": {"points": points}})),
    ];
    let names = prop::collection::btree_map("[a-z]{1,3}", any::<u32>(), 0..4).prop_map(|map| json!(map));
    let numbered = prop::option::of(prop::collection::btree_map(any::<i16>(), "[a-z]{0,3}", 0..3))
        .prop_map(|map| json!(map));
    (
        point(),
        or_any(prop::collection::vec(or_any(shape), 0..4).prop_map(|shapes| json!(shapes))),
        or_any(names),
        or_any(numbered),
        or_any(any::<(bool, char)>().prop_map(|pair| json!(pair))),
        or_any(Just(json!(null))),
        json_value(),
        prop::collection::btree_map("[p-z]{4}", json_value(), 0..3),
    )
        .prop_map(|(point, shapes, names, numbered, pair, unit, any, rest)| {
            let mut wide = json!({"point": point, "shapes": shapes, "names": names, "numbered": numbered, "pair": pair, "unit": unit, "any": any});
            wide.as_object_mut().unwrap().extend(rest);
            wide
        })
}

/// Whether the document has a float that we read as an integer where serde_json does not.
fn has_integral_float(document: &serde_json::Value) -> bool {
    match document {
        serde_json::Value::Number(number) => {
            number.is_f64() && number.as_f64().is_some_and(|float| float.fract() == 0.0)
        }
        serde_json::Value::Array(array) => array.iter().any(has_integral_float),
        serde_json::Value::Object(object) => object.values().any(has_integral_float),
        _ => false,
    }
}

fn agrees<T: DeserializeOwned + PartialEq + std::fmt::Debug>(
    document: &serde_json::Value,
) -> Result<(), TestCaseError> {
    match (read::<T>(&document.to_string()), serde_json::from_value::<T>(document.clone())) {
        (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours, theirs),
        (Ok(_), Err(_)) => prop_assert!(has_integral_float(document), "we take it, they do not: {document}"),
        (Err(error), Ok(_)) => prop_assert!(false, "{error}: {document}"),
        (Err(_), Err(_)) => {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn reads_what_serde_json_reads(document in nearly_wide()) {
        agrees::<Wide>(&document)?;
    }

    #[test]
    fn reads_anything_as_serde_json_does(document in json_value()) {
        agrees::<serde_json::Value>(&document)?;
        agrees::<Option<Vec<Either>>>(&document)?;
        agrees::<HashMap<String, Option<bool>>>(&document)?;
        agrees::<(Option<i64>, String)>(&document)?;
        agrees::<Tagged>(&document)?;
        agrees::<Shape>(&document)?;
        agrees::<Wrapper>(&document)?;
        agrees::<u64>(&document)?;
        agrees::<f64>(&document)?;
    }
}
