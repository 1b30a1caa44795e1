//! Heads of any form, in any pieces.

use proptest::prelude::*;

use super::{byte_by_byte, in_pieces, small_limits, whole};
use crate::base::ascii::trim_ows;
use crate::base::limits::Limits;
use crate::tables::headers::Known;
use crate::view::head::{Cardinality, HeadBuilder, RequestHead};

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(Known::ALL).prop_map(|known| known.canonical().to_owned()),
        1 => prop::sample::select(Known::ALL).prop_map(|known| known.lower().to_uppercase()),
        2 => "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}",
        1 => "[Mm]cp-[Pp]aram-[A-Za-z]{0,5}",
    ]
}

fn head_bytes() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        6 => (name(), "[ \t]{0,2}[!-~]{0,10}([ \t]{1,2}[!-~é]{1,5}){0,2}[ \t]{0,2}").prop_map(|(name, value)| format!("{name}:{value}\r\n")),
        1 => prop::sample::select(&["A: b\n", " x\r\n", ":\r\n", "A : b\r\n", "A: \0\r\n", "A\r\n", "Host: x\r\n", "\r\n", "\n", "\r"][..])
            .prop_map(str::to_owned),
        1 => (50_usize..70).prop_map(|length| format!("{}\r\n", "A:".repeat(length / 2) + &"b".repeat(length % 2))),
    ];
    let first = prop_oneof![
        6 => "(GET|POST|OPTIONS|PRI) (/[a-z?]{0,6}|\\*|http://h/) HTTP/1\\.[01]\r\n",
        1 => "[A-Z ]{0,4}(/|\\*|#| )HTTP/[0-9]?\\.?[0-9]?[0-9]?\r?\n",
        1 => (55_usize..70).prop_map(|length| format!("GET /{} HTTP/1.1\r\n", "a".repeat(length - 14))),
    ];
    ("(\r\n){0,5}", first, prop::collection::vec(line, 0..10), "(\r\n)?[ -~]{0,4}").prop_map(
        |(blank, first, lines, rest)| {
            format!("{blank}{first}Host: h\r\n{}\r\n{rest}", lines.concat()).into_bytes()
        },
    )
}

proptest! {
    #[test]
    fn every_split_gives_the_answer_of_the_whole(bytes in head_bytes(), cuts in prop::collection::btree_set(0_usize..400, 0..6)) {
        let limits = small_limits();
        let answer = whole(&bytes, &limits);
        prop_assert_eq!(answer, byte_by_byte(&bytes, &limits));
        prop_assert_eq!(answer, in_pieces(&bytes, &limits, cuts.into_iter().filter(|&cut| cut < bytes.len())));
        // What follows the head does not change it.
        if let Ok(Some(index)) = answer {
            prop_assert_eq!(whole(&bytes[..index.len()], &limits), answer);
            prop_assert_eq!(whole(&bytes[..index.len() - 1], &limits), Ok(None));
        }
    }

    #[test]
    fn noise_gets_one_answer(bytes in prop::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b':'), Just(b' '), any::<u8>()], 0..80)) {
        let limits = small_limits();
        for bytes in [bytes.clone(), [b"GET / HTTP/1.1\r\nHost: x\r\n", &bytes[..]].concat()] {
            prop_assert_eq!(whole(&bytes, &limits), byte_by_byte(&bytes, &limits));
        }
    }

    #[test]
    fn the_index_agrees_with_a_naive_reading(bytes in head_bytes()) {
        let limits = Limits::default();
        let Ok(Some(index)) = whole(&bytes, &limits) else { return Ok(()) };
        let text = &bytes[..index.len()];
        let head = RequestHead::new(&bytes, &index);
        let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
        lines.retain(|line| !line.is_empty());
        let fields: Vec<(Vec<u8>, &[u8])> = lines[1..].iter().map(|line| {
            let colon = line.iter().position(|&byte| byte == b':').unwrap();
            (line[..colon].to_ascii_lowercase(), trim_ows(&line[colon + 1..]))
        }).collect();
        prop_assert!(head.lines().map(|(name, value)| (name.to_ascii_lowercase(), value)).eq(fields.iter().cloned()));
        for &known in Known::ALL {
            let values: Vec<&[u8]> = fields.iter().filter(|(name, _)| name == known.lower().as_bytes()).map(|(_, value)| *value).collect();
            let expected = match values[..] {
                [] => Cardinality::Missing,
                [value] => Cardinality::One(value),
                _ => Cardinality::Many,
            };
            prop_assert_eq!(head.header(known), expected);
            prop_assert_eq!(head.field(known.canonical().as_bytes()), expected);
            prop_assert!(head.values(known).eq(values));
        }
        prop_assert_eq!(index.has_params(), fields.iter().any(|(name, _)| name.starts_with(b"mcp-param-")));
        let first: Vec<&[u8]> = lines[0].split(|&byte| byte == b' ').collect();
        prop_assert_eq!(head.method(), first[0]);
        let target = [head.path(), if head.query().is_some() { b"?" } else { b"" }, head.query().unwrap_or_default()].concat();
        prop_assert!(first[1].ends_with(&target));

        // HTTP/2's builder gives the same answers.
        let mut scratch = Vec::new();
        let mut builder = HeadBuilder::new(&mut scratch).method(head.method()).target(&target, head.authority());
        for (name, value) in head.lines() {
            builder.field(&name.to_ascii_lowercase(), value);
        }
        let built_index = builder.finish();
        let built = RequestHead::new(&scratch, &built_index);
        prop_assert_eq!((built.verb(), built.path(), built.query(), built.authority()), (head.verb(), head.path(), head.query(), head.authority()));
        for &known in Known::ALL {
            prop_assert_eq!(built.header(known), head.header(known));
            prop_assert!(built.values(known).eq(head.values(known)));
        }
        prop_assert_eq!(built_index.has_params(), index.has_params());
    }
}
