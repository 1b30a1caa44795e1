//! Media types: what a body may be, and what a client takes (RFC 9110 8.3 and 12.5.1).

use crate::base::ascii::{is_token, list_members, split_outside_quotes, trim_ows};

/// What a client takes as the answer to a POST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accept {
    /// JSON and event streams: the method chooses.
    Both,
    /// JSON alone: notifications are dropped.
    Json,
    /// Event streams alone: an answer is a stream of one message.
    EventStream,
}

/// Whether `value` is a JSON media type in an encoding that is UTF-8: `application/json` or `application/…+json`, any case, parameters
/// allowed.
#[must_use]
pub fn is_json(value: &[u8]) -> bool {
    if value == b"application/json" {
        return true;
    }
    let mut parts = split_outside_quotes(value, b';').map(trim_ows);
    let Some((kind, subtype)) = parts.next().and_then(|essence| split_once(essence, b'/')) else {
        return false;
    };
    if !kind.eq_ignore_ascii_case(b"application") || !is_token(subtype) || !is_json_subtype(subtype) {
        return false;
    }
    parts.all(|parameter| parameter.is_empty() || is_harmless_parameter(parameter))
}

fn is_json_subtype(subtype: &[u8]) -> bool {
    const SUFFIX: &[u8] = b"+json";
    subtype.eq_ignore_ascii_case(b"json")
        || (subtype.len() > SUFFIX.len()
            && subtype[subtype.len() - SUFFIX.len()..].eq_ignore_ascii_case(SUFFIX))
}

/// A well-formed parameter, and where it names a charset, one whose text is UTF-8.
fn is_harmless_parameter(parameter: &[u8]) -> bool {
    let Some((name, value)) = split_once(parameter, b'=') else { return false };
    let quoted = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    if !is_token(name) || (quoted.is_none() && !is_token(value)) {
        return false;
    }
    let value = quoted.unwrap_or(value);
    !name.eq_ignore_ascii_case(b"charset")
        || [&b"utf-8"[..], b"us-ascii"].iter().any(|charset| value.eq_ignore_ascii_case(charset))
}

/// What the `Accept` lines admit; `None` where neither type is.
#[must_use]
pub fn accepted<'h>(lines: impl Iterator<Item = &'h [u8]>) -> Option<Accept> {
    let (mut json, mut stream) = (Best::default(), Best::default());
    for line in lines {
        if line == b"application/json, text/event-stream" {
            return Some(Accept::Both);
        }
        for member in list_members(line) {
            let mut parts = split_outside_quotes(member, b';').map(trim_ows);
            let range = parts.next().unwrap_or(b"");
            let admitted = !parts.any(is_zero_weight);
            json.offer(range, b"application", b"json", admitted);
            stream.offer(range, b"text", b"event-stream", admitted);
        }
    }
    match (json.admitted, stream.admitted) {
        (true, true) => Some(Accept::Both),
        (true, false) => Some(Accept::Json),
        (false, true) => Some(Accept::EventStream),
        (false, false) => None,
    }
}

/// The most specific range seen so far that covers a type: it alone decides (RFC 9110 12.5.1).
#[derive(Default)]
struct Best {
    specificity: u8,
    admitted: bool,
}

impl Best {
    fn offer(&mut self, range: &[u8], kind: &[u8], subtype: &[u8], admitted: bool) {
        let Some((range_kind, range_subtype)) = split_once(range, b'/') else { return };
        let specificity =
            match (range_kind.eq_ignore_ascii_case(kind), range_subtype.eq_ignore_ascii_case(subtype)) {
                (true, true) => 3,
                (true, false) if range_subtype == b"*" => 2,
                (false, _) if range_kind == b"*" && range_subtype == b"*" => 1,
                (true | false, true | false) => return,
            };
        if specificity > self.specificity {
            (self.specificity, self.admitted) = (specificity, admitted);
        } else if specificity == self.specificity {
            self.admitted |= admitted;
        }
    }
}

/// Whether a parameter is `q` with the weight zero: `q=0`, `q=0.`, `q=0.000`.
fn is_zero_weight(parameter: &[u8]) -> bool {
    let Some((name, value)) = split_once(parameter, b'=') else { return false };
    trim_ows(name).eq_ignore_ascii_case(b"q") && {
        let value = trim_ows(value);
        value == b"0"
            || value.strip_prefix(b"0.").is_some_and(|digits| digits.iter().all(|&digit| digit == b'0'))
    }
}

fn split_once(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let position = memchr::memchr(at, bytes)?;
    Some((&bytes[..position], &bytes[position + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_types() {
        for good in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json;charset=UTF-8",
            "application/json; charset=\"utf-8\"",
            "application/json;",
            "application/json ; v=1;",
            "application/vnd.api+json",
            "application/json; charset=us-ascii",
            "application/json; profile=\"a;b\"",
        ] {
            assert!(is_json(good.as_bytes()), "{good}");
        }
        for bad in [
            "",
            "json",
            "text/plain",
            "text/json",
            "application/jsonp",
            "application/+json",
            "application/json; charset=utf-16",
            "application/json; charset=latin1",
            "application/json; charset=utf8",
            "application/json; charset",
            "application/json; charset=\"utf-8",
            "application/json, text/plain",
            "application / json",
            "multipart/form-data; boundary=application/json",
        ] {
            assert!(!is_json(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn accept_lines() {
        use Accept::{Both, EventStream, Json};
        for (lines, want) in [
            (&["application/json, text/event-stream"][..], Some(Both)),
            (&["text/event-stream", "application/json"], Some(Both)),
            (&["*/*"], Some(Both)),
            (&["application/json"], Some(Json)),
            (&["application/*"], Some(Json)),
            (&["TEXT/Event-Stream"], Some(EventStream)),
            (&["text/*;q=0.1"], Some(EventStream)),
            (&["*/*, text/event-stream;q=0"], Some(Json)),
            (&["*/*;q=0, application/json"], Some(Json)),
            (&["application/json;q=0, application/*"], None),
            (&["application/json;q=0, text/event-stream;q=0.000"], None),
            (&["application/json;charset=utf-8;q=0.9"], Some(Json)),
            (&["text/html"], None),
            (&["text/html, application/xhtml+xml, */*;q=0.8"], Some(Both)),
            (&[""], None),
            (&["*"], None),
            (&["application/json;q=0.001"], Some(Json)),
        ] {
            assert_eq!(accepted(lines.iter().map(|line| line.as_bytes())), want, "{lines:?}");
        }
    }
}
