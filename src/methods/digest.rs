//! Which request it is: a digest of its method, its name or URI, and its arguments. The order of members does not count, since clients may
//! write the same arguments anew; nor does how an integral number is spelled.

use sha2::{Digest, Sha256};

use super::Request;
use crate::tools::seal::RequestDigest;
use crate::view::node::{Number, Value};

/// The digest of a request.
pub(super) fn digest(request: &Request<'_, '_, '_>) -> RequestDigest {
    let mut hash = Sha256::new();
    put(&mut hash, b'm', request.method.wire().as_bytes());
    let params = &request.params;
    for member in [params.name, params.uri, params.arguments] {
        // Absent, null and empty arguments are the same call.
        match member
            .filter(|value| !value.is_null() && value.as_object().is_none_or(|object| !object.is_empty()))
        {
            Some(value) => put_value(&mut hash, value),
            None => hash.update(b"-"),
        }
    }
    hash.finalize().into()
}

/// A tag and the length before the bytes: no two documents read the same.
fn put(hash: &mut Sha256, tag: u8, bytes: &[u8]) {
    hash.update([tag]);
    hash.update((bytes.len() as u64).to_be_bytes());
    hash.update(bytes);
}

fn put_value(hash: &mut Sha256, value: Value<'_, '_>) {
    if let Some(object) = value.as_object() {
        let mut members: Vec<_> = object.iter().collect();
        // Stable: of a key that comes twice, the first counts, as everywhere.
        members.sort_by_key(|(key, _)| *key);
        members.dedup_by_key(|(key, _)| *key);
        put(hash, b'{', &(members.len() as u64).to_be_bytes());
        for (key, value) in members {
            put(hash, b'k', key.as_bytes());
            put_value(hash, value);
        }
    } else if let Some(array) = value.as_array() {
        put(hash, b'[', &(array.len() as u64).to_be_bytes());
        array.iter().for_each(|value| put_value(hash, value));
    } else if let Some(text) = value.as_str() {
        put(hash, b's', text.as_bytes());
    } else if let Some(number) = value.as_number() {
        put_number(hash, number);
    } else {
        hash.update(match value.as_bool() {
            Some(true) => b"t",
            Some(false) => b"f",
            None => b"n",
        });
    }
}

fn put_number(hash: &mut Sha256, number: Number) {
    /// Above, not every integer is a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number {
        Number::I64(value) => put(hash, b'i', &i128::from(value).to_be_bytes()),
        Number::U64(value) => put(hash, b'i', &i128::from(value).to_be_bytes()),
        #[expect(clippy::cast_possible_truncation, reason = "integral and within 2^53")]
        Number::F64(value) if value.fract() == 0.0 && value.abs() <= EXACT => {
            put(hash, b'i', &i128::from(value as i64).to_be_bytes());
        }
        Number::F64(value) => put(hash, b'd', &value.to_bits().to_be_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::message::{JsonScratch, PADDING};

    fn of(json: &str) -> RequestDigest {
        let mut text = json.as_bytes().to_vec();
        let len = text.len();
        text.resize(len + PADDING, 0);
        JsonScratch::new(64).parse(&mut text, len, |document| {
            let mut hash = Sha256::new();
            put_value(&mut hash, document.expect("it is JSON").root());
            hash.finalize().into()
        })
    }

    #[test]
    fn the_same_arguments_however_they_are_written() {
        for (one, other) in [
            (r#"{"a":1,"b":[true,null]}"#, r#"{ "b": [true, null], "a": 1 }"#),
            (r#"{"a":1}"#, r#"{"a":1.0}"#),
            (r#"{"a":-0}"#, r#"{"a":0}"#),
            (r#"{"a":"A"}"#, r#"{"a":"\u0041"}"#),
            (r#"{"a":{"c":1,"b":2}}"#, r#"{"a":{"b":2,"c":1}}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":1}"#),
        ] {
            assert_eq!(of(one), of(other), "{one} {other}");
        }
    }

    #[test]
    fn other_arguments() {
        let all = [
            "{}",
            "[]",
            "null",
            "0",
            "\"\"",
            "false",
            "true",
            "[null]",
            "[[]]",
            "[{}]",
            r#"{"a":1}"#,
            r#"{"a":2}"#,
            r#"{"a":"1"}"#,
            r#"{"a":1.5}"#,
            r#"{"b":1}"#,
            r#"{"a":[1]}"#,
            r#"{"a":[1,2]}"#,
            r#"{"a":[2,1]}"#,
            r#"{"a":[[1],2]}"#,
            r#"{"a":1,"b":1}"#,
            r#"["ab","c"]"#,
            r#"["a","bc"]"#,
            r#"["abc"]"#,
            "18446744073709551615",
            "18446744073709551614",
            "-1",
            "9007199254740993",
            "9007199254740992",
            "1e300",
        ];
        for (at, one) in all.iter().enumerate() {
            for other in &all[at + 1..] {
                assert_ne!(of(one), of(other), "{one} {other}");
            }
        }
    }
}
