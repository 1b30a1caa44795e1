//! HTTP/1 heads. Oracles:
//! - the whole, every byte alone, and pieces give one answer; what follows a head changes nothing, and one byte less is no head;
//! - a head is taken exactly where httparse takes it and none of the listed stricter rules stands against it;
//! - the index agrees with a map filled line by line, and with the index that HTTP/2 would have made of the same fields.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use twolane::base::limits::Limits;
use twolane::tables::headers::Known;
use twolane::view::head::{
    Cardinality, HeadBuilder, HeadFault, HeadIndex, HeadParser, HttpVersion, RequestHead,
};
use twolane_fuzz::control::Control;

type Answer = Result<Option<HeadIndex>, HeadFault>;

/// Empty lines before a request line that are skipped.
const BLANK_LINES: usize = 4;

fuzz_target!(|input: &[u8]| {
    let Some((bytes, mut control)) = Control::split(input) else { return };
    let limits = limits(&mut control);
    let whole = HeadParser::new().parse(bytes, &limits);
    let cuts = control.cuts(bytes.len());
    assert_eq!(in_pieces(bytes, &limits, cuts.into_iter()), whole, "pieces");
    if bytes.len() <= 512 {
        assert_eq!(in_pieces(bytes, &limits, 0..bytes.len()), whole, "bytes alone");
    }
    if let Ok(Some(index)) = whole {
        let alone = HeadParser::new().parse(&bytes[..index.len()], &limits);
        assert_eq!(alone, whole, "what follows a head changes nothing");
        let less = HeadParser::new().parse(&bytes[..index.len() - 1], &limits);
        assert_eq!(less, Ok(None), "a byte less is no head");
    }
    judge(bytes, &limits, whole);
});

fn limits(control: &mut Control) -> Limits {
    let mut limits = Limits::default();
    if control.below(2) == 0 {
        (limits.request_line, limits.header_line, limits.headers, limits.head) = (64, 64, 8, 512);
    }
    limits
}

fn in_pieces(bytes: &[u8], limits: &Limits, cuts: impl Iterator<Item = usize>) -> Answer {
    let mut parser = HeadParser::new();
    for cut in cuts {
        let answer = parser.parse(&bytes[..cut], limits);
        if !matches!(answer, Ok(None)) {
            return answer;
        }
    }
    parser.parse(bytes, limits)
}

/// Holds the answer against httparse and the list of rules that are ours.
fn judge(bytes: &[u8], limits: &Limits, ours: Answer) {
    let mut slots = [httparse::EMPTY_HEADER; 300];
    let mut request = httparse::Request::new(&mut slots);
    let theirs = request.parse(bytes);
    let strict = stricter(bytes, limits);
    match (ours, theirs) {
        (Ok(Some(index)), Ok(httparse::Status::Complete(len))) => {
            assert!(strict.is_empty(), "a stricter rule was not kept: {strict:?}");
            assert_eq!(index.len(), len);
            compare(bytes, &index, &request);
        }
        (Ok(Some(_)), theirs) => panic!("taken, but httparse says {theirs:?}"),
        // httparse may know early that a line is bad, we say so once it has ended. But no head that has ended stays unjudged.
        (Ok(None), theirs) => {
            assert!(
                !matches!(theirs, Ok(httparse::Status::Complete(_))),
                "a whole head, and we ask for more"
            );
            assert!(strict.is_empty(), "a stricter rule was not kept: {strict:?}");
            assert!(
                theirs.is_ok() || !has_ended(bytes),
                "a whole head that httparse refuses, and we ask for more"
            );
        }
        (Err(fault), Err(_)) => assert!([400, 414, 431, 505].contains(&fault.status)),
        (Err(fault), Ok(_)) => {
            assert!(strict.contains(&fault.status), "refused with {fault:?}, reasons to: {strict:?}");
        }
    }
}

fn has_ended(bytes: &[u8]) -> bool {
    let start = bytes.iter().position(|byte| !b"\r\n".contains(byte)).unwrap_or(bytes.len());
    bytes[start..].windows(4).any(|four| four == b"\r\n\r\n")
}

/// The rules that are stricter than httparse's, as far as the bytes break them: the status of each.
fn stricter(bytes: &[u8], limits: &Limits) -> Vec<u16> {
    let mut broken = Vec::new();
    let mut rest = bytes;
    let mut blank = 0;
    while let Some(after) = rest.strip_prefix(b"\r\n") {
        rest = after;
        blank += 1;
    }
    // Blank lines: few, and each with its CR. A stray CR is httparse's to refuse.
    if blank > BLANK_LINES
        || (blank == BLANK_LINES && rest.first() == Some(&b'\r'))
        || rest.first() == Some(&b'\n')
    {
        return vec![400];
    }
    let window = &rest[..rest.len().min(limits.head as usize)];
    let (mut lines, mut eleven) = (0, false);
    let mut host: Vec<&[u8]> = Vec::new();
    let mut left = window;
    while let Some(end) = left.iter().position(|&byte| byte == b'\n') {
        let line = left[..end].strip_suffix(b"\r");
        broken.extend(line.is_none().then_some(400));
        let line = line.unwrap_or(&left[..end]);
        broken.extend(too_long(line.len(), lines, limits));
        left = &left[end + 1..];
        match (lines, line) {
            (_, []) => {
                let missing = eleven && host.is_empty();
                broken.extend(
                    (missing || host.len() > 1 || !host.iter().all(|host| is_host(host))).then_some(400),
                );
                return broken;
            }
            (0, line) => {
                eleven = line.ends_with(b" HTTP/1.1");
                broken.extend(request_line(line));
            }
            (_, line) => {
                broken.extend((lines > limits.headers as usize).then_some(431));
                if let Some(colon) = line.iter().position(|&byte| byte == b':')
                    && line[..colon].eq_ignore_ascii_case(b"host")
                {
                    host.push(line[colon + 1..].trim_ascii());
                }
            }
        }
        lines += 1;
    }
    broken.extend(too_long(left.strip_suffix(b"\r").unwrap_or(left).len(), lines, limits));
    broken.extend((rest.len() > window.len()).then_some(431));
    broken
}

fn too_long(len: usize, lines: usize, limits: &Limits) -> Option<u16> {
    match lines {
        0 => (len > limits.request_line as usize).then_some(414),
        _ => (len > limits.header_line as usize).then_some(431),
    }
}

/// What is ours about request lines: the versions served, and targets of the forms that exist.
fn request_line(line: &[u8]) -> Option<u16> {
    let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let [method, target, version] = words[..] else { return Some(400) };
    let version = std::str::from_utf8(version).unwrap_or("");
    if version != "HTTP/1.0" && version != "HTTP/1.1" {
        let digit = |text: &str| text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_digit());
        let named = version.strip_prefix("HTTP/").and_then(|numbers| numbers.split_once('.'));
        return Some(if named.is_some_and(|(major, minor)| digit(major) && digit(minor)) {
            505
        } else {
            400
        });
    }
    if method == b"CONNECT" {
        return Some(400);
    }
    let Ok(target) = std::str::from_utf8(target) else { return Some(400) };
    let plain = target.chars().all(|c| c.is_ascii_graphic() && c != '#');
    let lower = target.to_ascii_lowercase();
    let authority = lower
        .strip_prefix("http://")
        .or(lower.strip_prefix("https://"))
        .map(|rest| rest.split(['/', '?']).next().unwrap_or(""));
    let formed = target.starts_with('/')
        || (target == "*" && method == b"OPTIONS")
        || authority.is_some_and(|authority| !authority.is_empty() && is_host(authority.as_bytes()));
    (!plain || !formed).then_some(400)
}

/// RFC 3986 3.2.2 and 3.2.3, read loosely where the brackets are concerned.
fn is_host(value: &[u8]) -> bool {
    let Ok(value) = std::str::from_utf8(value) else { return false };
    let (host, port) = match value.rsplit_once(']') {
        Some((literal, port)) if literal.starts_with('[') => {
            let inside = literal[1..].replace(':', "");
            let plain = literal.len() > 1 && !inside.contains('%') && is_name(&inside);
            return plain
                && (port.is_empty() || port.starts_with(':'))
                && port.trim_start_matches(':').len() + 1 >= port.len()
                && port.bytes().skip(1).all(|byte| byte.is_ascii_digit());
        }
        Some(_) => return false,
        // No host, but a port.
        None if value.starts_with(':') => return false,
        None => value.split_once(':').unwrap_or((value, "")),
    };
    is_name(host) && port.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_name(name: &str) -> bool {
    let mut parts = name.split('%');
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=".contains(c));
    plain(parts.next().unwrap_or(""))
        && parts.all(|part| {
            part.get(..2).is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
                && part.get(2..).is_some_and(plain)
        })
}

fn compare(bytes: &[u8], index: &HeadIndex, request: &httparse::Request<'_, '_>) {
    let head = RequestHead::new(bytes, index);
    assert_eq!(Some(head.method()), request.method.map(str::as_bytes));
    let version = if request.version == Some(0) { HttpVersion::Http10 } else { HttpVersion::Http11 };
    assert_eq!(head.version(), version);
    compare_target(head, request.path.expect("complete"));
    let fields = request.headers.iter().map(|field| (field.name.as_bytes(), field.value.trim_ascii()));
    assert!(head.lines().eq(fields), "the lines are httparse's");

    let map = map(&bytes[..index.len()]);
    for &known in Known::ALL {
        let values = map.get(known.lower()).map_or(&[][..], Vec::as_slice);
        let expected = match *values {
            [] => Cardinality::Missing,
            [one] => Cardinality::One(one),
            _ => Cardinality::Many,
        };
        assert_eq!(head.header(known), expected, "{known:?}");
        assert_eq!(head.field(known.canonical().as_bytes()), expected, "{known:?}");
        assert!(head.values(known).eq(values.iter().copied()), "{known:?}");
        assert_eq!(index.is_duplicated(known), values.len() > 1);
    }
    for (name, values) in &map {
        assert!(head.field_values(name.as_bytes()).eq(values.iter().copied()), "{name}");
    }
    assert_eq!(index.has_params(), map.keys().any(|name| name.starts_with("mcp-param-")));
    compare_built(head);
}

/// Header names in lower case, each with the values of its lines.
fn map(head: &[u8]) -> BTreeMap<String, Vec<&[u8]>> {
    let mut map: BTreeMap<String, Vec<&[u8]>> = BTreeMap::new();
    let lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty());
    for line in lines.skip(1) {
        let colon = line.iter().position(|&byte| byte == b':').expect("a header line has a colon");
        let name = String::from_utf8_lossy(&line[..colon]).to_ascii_lowercase();
        map.entry(name).or_default().push(line[colon + 1..].trim_ascii());
    }
    map
}

/// The target's pieces make up the target again.
fn compare_target(head: RequestHead<'_>, target: &str) {
    let path_and_query = match head.authority() {
        None => target,
        Some(authority) => {
            let scheme = target.find("//").expect("an absolute form") + 2;
            assert!(target.as_bytes()[scheme..].starts_with(authority));
            &target[scheme + authority.len()..]
        }
    };
    let (path, query) = match path_and_query.split_once('?') {
        Some((path, query)) => (path, Some(query.as_bytes())),
        None => (path_and_query, None),
    };
    assert_eq!(head.path(), if path.is_empty() { b"/" } else { path.as_bytes() });
    assert_eq!(head.query(), query);
}

/// HTTP/2's index of the same fields answers the same.
fn compare_built(head: RequestHead<'_>) {
    let mut target = head.path().to_vec();
    if let Some(query) = head.query() {
        target.push(b'?');
        target.extend_from_slice(query);
    }
    let mut scratch = Vec::new();
    let mut builder = HeadBuilder::new(&mut scratch).method(head.method()).target(&target, head.authority());
    for (name, value) in head.lines() {
        builder.field(&name.to_ascii_lowercase(), value);
    }
    let index = builder.finish();
    let built = RequestHead::new(&scratch, &index);
    assert_eq!(built.version(), HttpVersion::Http2);
    assert_eq!((built.verb(), built.path(), built.query()), (head.verb(), head.path(), head.query()));
    assert_eq!(built.authority(), head.authority());
    for &known in Known::ALL {
        assert_eq!(built.header(known), head.header(known), "{known:?}");
        assert!(built.values(known).eq(head.values(known)), "{known:?}");
    }
    assert_eq!(index.has_params(), head.index().has_params());
}
