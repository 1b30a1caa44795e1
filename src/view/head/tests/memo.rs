//! Heads that were read before, or nearly.

use proptest::prelude::*;

use super::{small_limits, whole};
use crate::base::limits::Limits;
use crate::tables::headers::Known;
use crate::view::head::memo::{MOST, Memo};
use crate::view::head::{Cardinality, HeadParser, RequestHead};

fn head(length: &str, session: &str, token: &str, other: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\nMcp-Session-Id: {session}\r\n\
         Authorization: {token}\r\nX-Other: {other}\r\n\r\n"
    )
}

/// Whatever has been read before, a head comes to what it comes to alone.
fn check(heads: &[Vec<u8>], limits: &Limits) {
    let mut parser = HeadParser::new();
    for bytes in heads {
        parser.reset();
        assert_eq!(parser.parse(bytes, limits), whole(bytes, limits), "{}", bytes.escape_ascii());
        // Once more, now that it is known, and with the next request behind it.
        parser.reset();
        let followed = [bytes, &b"POST"[..]].concat();
        assert_eq!(parser.parse(&followed, limits), whole(&followed, limits), "{}", bytes.escape_ascii());
    }
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[0-9]{2}",
        2 => "[ -~]{2}",
        1 => prop::sample::select(&["\t1", "1\t", " 1", "1 ", "\r\n", "1\r", "\n1", "1\0", "\u{e9}", "\u{7f}1", "12\r\nHost: b"][..]).prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn what_was_read_before_changes_no_answer(
        heads in prop::collection::vec((value(), value(), value(), value(), prop::option::of(0_usize..200)), 1..30),
    ) {
        let heads: Vec<_> = heads
            .iter()
            .map(|(length, session, token, other, twice)| {
                let mut head = head(length, session, token, other);
                // A line that is there already, or its second half.
                if let Some(at) = twice.filter(|&at| head.is_char_boundary(at.min(head.len()))) {
                    let line = head[at.min(head.len())..].lines().next().unwrap_or_default().to_owned();
                    head.insert_str("POST /mcp HTTP/1.1\r\n".len(), &format!("{line}\r\n"));
                }
                head.into_bytes()
            })
            .collect();
        check(&heads, &Limits::default());
        check(&heads, &small_limits());
    }
}

#[test]
fn values_that_may_differ_are_read_anew() {
    let mut parser = HeadParser::new();
    for (length, session, token) in
        [("10", "aa", "Bearer a"), ("29", "bb", "Bearer b"), ("00", "\"!", "Basic  c")]
    {
        let text = head(length, session, token, "x");
        parser.reset();
        let index = parser.parse(text.as_bytes(), &Limits::default()).unwrap().unwrap();
        let head = RequestHead::new(text.as_bytes(), &index);
        for (known, value) in
            [(Known::ContentLength, length), (Known::SessionId, session), (Known::Authorization, token)]
        {
            assert_eq!(head.header(known), Cardinality::One(value.as_bytes()));
        }
    }
}

#[test]
fn heads_are_remembered_until_newer_ones_have_come() {
    let limits = Limits::default();
    let heads: Vec<_> = (0..20).map(|number| head("10", "aa", "Bearer b", &format!("{number:02}"))).collect();
    let mut memo = Memo::default();
    for (at, text) in heads.iter().enumerate() {
        assert_eq!(memo.find(text.as_bytes(), &limits), None);
        let index = whole(text.as_bytes(), &limits).unwrap().unwrap();
        memo.keep(text.as_bytes(), &index, &limits);
        for (number, text) in heads.iter().enumerate() {
            let other =
                text.replace("Length: 10", "Length: 99").replace("aa", "zz").replace("Bearer b", "Basic cc");
            let known = number <= at && at - number < MOST;
            for text in [text, &other] {
                assert_eq!(
                    memo.find(text.as_bytes(), &limits),
                    known.then_some(index),
                    "{number} after {at}"
                );
                assert_eq!(memo.find(&text.as_bytes()[..text.len() - 1], &limits), None);
            }
            assert_eq!(memo.find(text.replace("localhost", "localhosT").as_bytes(), &limits), None);
        }
    }
}

#[test]
fn more_heads_than_are_remembered() {
    let heads: Vec<_> =
        (0..40).map(|number| head("10", "aa", "b", &format!("{number}")).into_bytes()).collect();
    check(&heads, &Limits::default());
    check(&[&heads[..], &heads[..]].concat(), &Limits::default());
    let long: Vec<_> =
        (900..1100).map(|length| head("10", "aa", "b", &"x".repeat(length)).into_bytes()).collect();
    check(&long, &Limits::default());
}

#[test]
fn other_limits_ask_again() {
    let text = head("10", "aa", "b", &"x".repeat(100));
    let mut parser = HeadParser::new();
    assert!(parser.parse(text.as_bytes(), &Limits::default()).is_ok());
    parser.reset();
    assert_eq!(parser.parse(text.as_bytes(), &small_limits()), whole(text.as_bytes(), &small_limits()));
    assert!(whole(text.as_bytes(), &small_limits()).is_err());
}
