//! A naive reading of JSON: serde_json decides what is JSON, and everything it forgets is kept: member order, repeated keys, how numbers
//! are spelled.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value. Numbers are as they were spelled.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Reads a whole body.
pub fn read(body: &[u8]) -> Result<Json, serde_json::Error> {
    let mut value: Json = serde_json::from_slice(body)?;
    let mut spellings = numbers(body).into_iter();
    value.spell(&mut spellings);
    assert_eq!(spellings.next(), None, "every number has its spelling");
    Ok(value)
}

/// The spellings of all numbers in a text that is JSON, in order.
fn numbers(body: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = body;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => rest = skip_string(after),
            b'-' | b'0'..=b'9' => {
                let more = after.iter().take_while(|byte| b"0123456789+-.eE".contains(byte)).count();
                let text = [&[byte][..], &after[..more]].concat();
                found.push(String::from_utf8(text).expect("ASCII"));
                rest = &after[more..];
            }
            _ => {}
        }
    }
    found
}

fn skip_string(mut rest: &[u8]) -> &[u8] {
    loop {
        match rest {
            [] => return rest,
            [b'"', after @ ..] => return after,
            [b'\\', _, after @ ..] | [_, after @ ..] => rest = after,
        }
    }
}

/// How deep brackets nest, whatever stands between them.
pub fn depth(body: &[u8]) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    let mut rest = body;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => rest = skip_string(after),
            b'[' | b'{' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// A number's spelling has neither fraction nor exponent.
pub fn is_integer(spelling: &str) -> bool {
    !spelling.contains(['.', 'e', 'E'])
}

/// A number that fits neither i64, u64 nor a finite f64, each by its own spelling.
pub fn is_out_of_range(spelling: &str) -> bool {
    if is_integer(spelling) {
        spelling.parse::<i64>().is_err() && spelling.parse::<u64>().is_err()
    } else {
        spelling.parse::<f64>().is_ok_and(f64::is_infinite)
    }
}

impl Json {
    fn spell(&mut self, spellings: &mut impl Iterator<Item = String>) {
        match self {
            Self::Number(spelling) => *spelling = spellings.next().expect("one for each number"),
            Self::Array(values) => values.iter_mut().for_each(|value| value.spell(spellings)),
            Self::Object(members) => members.iter_mut().for_each(|(_, value)| value.spell(spellings)),
            Self::Null | Self::Bool(_) | Self::Text(_) => {}
        }
    }

    /// The first member with this key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.members().iter().find(|(other, _)| other == key).map(|(_, value)| value)
    }

    /// The members of an object; none of anything else.
    pub fn members(&self) -> &[(String, Self)] {
        if let Self::Object(members) = self { members } else { &[] }
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Every number in it, depth first.
    pub fn each_number(&self, visit: &mut impl FnMut(&str)) {
        match self {
            Self::Number(spelling) => visit(spelling),
            Self::Array(values) => values.iter().for_each(|value| value.each_number(visit)),
            Self::Object(members) => members.iter().for_each(|(_, value)| value.each_number(visit)),
            Self::Null | Self::Bool(_) | Self::Text(_) => {}
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    // Spelled later: the deserialiser hands out values only.
    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(format!("{value:?}")))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(Json::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }
}

impl Json {
    /// Appends it as text.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Self::Number(spelling) => out.extend_from_slice(spelling.as_bytes()),
            Self::Text(text) => out.extend(serde_json::to_vec(text).expect("a string is JSON")),
            Self::Array(values) => {
                out.push(b'[');
                for (at, value) in values.iter().enumerate() {
                    out.extend_from_slice(if at > 0 { b"," } else { b"" });
                    value.write(out);
                }
                out.push(b']');
            }
            Self::Object(members) => {
                out.push(b'{');
                for (at, (key, value)) in members.iter().enumerate() {
                    out.extend_from_slice(if at > 0 { b"," } else { b"" });
                    Self::Text(key.clone()).write(out);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }

    /// Puts a value at a path, making objects on the way; `again` leaves what is there and adds a second member.
    pub fn put(&mut self, path: &[&str], value: Self, again: bool) {
        let Some((key, rest)) = path.split_first() else {
            *self = value;
            return;
        };
        let Self::Object(members) = self else { return };
        match members.iter_mut().find(|(other, _)| other == key) {
            Some((_, member)) if !rest.is_empty() || !again => member.put(rest, value, again),
            _ => {
                let mut member = if rest.is_empty() { Self::Null } else { Self::Object(Vec::new()) };
                member.put(rest, value, again);
                members.push(((*key).to_owned(), member));
            }
        }
    }

    /// Removes all members at a path.
    pub fn remove(&mut self, path: &[&str]) {
        let (Self::Object(members), Some((key, rest))) = (self, path.split_first()) else { return };
        if rest.is_empty() {
            members.retain(|(other, _)| other != key);
        } else if let Some((_, member)) = members.iter_mut().find(|(other, _)| other == key) {
            member.remove(rest);
        }
    }
}

const MESSAGE_KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
const PARAMS_KEYS: [&str; 6] = ["_meta", "name", "uri", "arguments", "taskId", "protocolVersion"];
const META_PREFIX: &str = "io.modelcontextprotocol/";

/// A body that the server takes for JSON.
pub fn accepted(body: &[u8], most: usize) -> Option<Json> {
    let json = read(body).ok()?;
    let mut out_of_range = false;
    json.each_number(&mut |spelling| out_of_range |= is_out_of_range(spelling));
    (depth(body) <= most && !out_of_range && repeated(&json).is_empty()).then_some(json)
}

/// The protocol's own keys that come twice in one object of a message, as a diagnosis repeats them.
pub fn repeated(message: &Json) -> Vec<String> {
    let params = message.get("params");
    let meta = params.and_then(|params| params.get("_meta"));
    let mut found = twice(message, |key| MESSAGE_KEYS.contains(&key));
    found.extend(params.iter().flat_map(|params| twice(params, |key| PARAMS_KEYS.contains(&key))));
    found.extend(meta.iter().flat_map(|meta| twice(meta, |key| key.starts_with(META_PREFIX))));
    found.iter().map(|key| key[..key.floor_char_boundary(64)].to_owned()).collect()
}

/// The keys of an object that come again, of those that matter.
pub fn twice(object: &Json, matters: impl Fn(&str) -> bool) -> Vec<String> {
    let keys: Vec<&str> = object.members().iter().map(|(key, _)| key.as_str()).collect();
    let again = |at: usize| keys[..at].contains(&keys[at]);
    (0..keys.len()).filter(|&at| matters(keys[at]) && again(at)).map(|at| keys[at].to_owned()).collect()
}

/// Whether a number has no digits behind its point, exactly, by moving the point.
pub fn is_integral(spelling: &str) -> bool {
    let (mantissa, exponent) = spelling.split_once(['e', 'E']).unwrap_or((spelling, "0"));
    let mantissa = mantissa.trim_start_matches('-');
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.bytes().all(|byte| byte == b'0') {
        return true;
    }
    // How many digits stand behind the point before the exponent moves it; negative where zeros end the number.
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    let behind = fraction.len() as i128 - zeros as i128;
    match exponent.parse::<i128>() {
        Ok(exponent) => behind <= exponent,
        Err(_) => !exponent.starts_with('-'),
    }
}

/// The same for its value as a double: what is very large, or very near to an integer, is one.
pub fn is_integral_value(spelling: &str) -> bool {
    is_integer(spelling) || spelling.parse::<f64>().is_ok_and(|value| value.fract() == 0.0)
}

/// Equal by value: numbers may be spelled differently.
pub fn equal(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => number(one) == number(other),
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|((key, one), (again, other))| key == again && equal(one, other))
        }
        (one, other) => one == other,
    }
}

/// Integers exactly, floats as the nearest double.
fn number(spelling: &str) -> (Option<i128>, u64) {
    match spelling.parse::<i128>() {
        Ok(integer) => (Some(integer), 0),
        Err(_) => (None, spelling.parse::<f64>().expect("a number").to_bits()),
    }
}
