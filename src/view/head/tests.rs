mod arrival;
mod memo;

use super::{Cardinality, HeadBuilder, HeadFault, HeadIndex, HeadParser, HttpVersion, RequestHead};
use crate::base::limits::Limits;
use crate::tables::headers::Known;
use crate::tables::routes::Verb;

type Answer = Result<Option<HeadIndex>, HeadFault>;

fn whole(bytes: &[u8], limits: &Limits) -> Answer {
    HeadParser::new().parse(bytes, limits)
}

/// The first answer that is not "more", with the bytes cut at each of `cuts`.
fn in_pieces(bytes: &[u8], limits: &Limits, cuts: impl IntoIterator<Item = usize>) -> Answer {
    let mut parser = HeadParser::new();
    for cut in cuts.into_iter().chain([bytes.len()]) {
        match parser.parse(&bytes[..cut], limits) {
            Ok(None) => {}
            answer => return answer,
        }
    }
    Ok(None)
}

fn byte_by_byte(bytes: &[u8], limits: &Limits) -> Answer {
    in_pieces(bytes, limits, 0..bytes.len())
}

/// Checks that all ways to arrive give one answer, and gives it.
fn answer(bytes: &[u8], limits: &Limits) -> Answer {
    let answer = whole(bytes, limits);
    assert_eq!(answer, byte_by_byte(bytes, limits), "byte by byte: {}", bytes.escape_ascii());
    if bytes.len() < 400 {
        for cut in 0..bytes.len() {
            assert_eq!(answer, in_pieces(bytes, limits, [cut]), "cut at {cut}: {}", bytes.escape_ascii());
        }
    }
    answer
}

fn read(bytes: &[u8]) -> HeadIndex {
    answer(bytes, &Limits::default())
        .unwrap_or_else(|fault| panic!("{fault:?}: {}", bytes.escape_ascii()))
        .unwrap()
}

fn status(bytes: &[u8]) -> u16 {
    match answer(bytes, &Limits::default()) {
        Ok(None) => 0,
        Ok(Some(_)) => 200,
        Err(fault) => fault.status,
    }
}

#[test]
fn a_usual_head() {
    let bytes = b"POST /mcp?a=b HTTP/1.1\r\nHost: localhost:8080\r\nContent-Type:application/json\r\ncontent-length: 2 \r\n\
        X-Other: 1\r\nMcp-Param-Region: \t eu \r\nACCEPT: a\r\nAccept: b\r\nMcp-Name:\r\n\r\n{}";
    let index = read(bytes);
    assert_eq!(index.len(), bytes.len() - 2);
    let head = RequestHead::new(bytes, &index);
    assert_eq!(head.verb(), Verb::Post);
    assert_eq!(head.method(), b"POST");
    assert_eq!(head.version(), HttpVersion::Http11);
    assert_eq!(head.path(), b"/mcp");
    assert_eq!(head.query(), Some(&b"a=b"[..]));
    assert_eq!(head.authority(), None);
    assert_eq!(head.header(Known::Host), Cardinality::One(b"localhost:8080"));
    assert_eq!(head.header(Known::ContentLength), Cardinality::One(b"2"));
    assert_eq!(head.header(Known::Name), Cardinality::One(b""));
    assert_eq!(head.header(Known::Accept), Cardinality::Many);
    assert_eq!(head.header(Known::Origin), Cardinality::Missing);
    assert!(head.values(Known::Accept).eq([b"a", b"b"]));
    assert!(head.values(Known::ContentType).eq([b"application/json"]));
    assert_eq!(head.values(Known::Origin).count(), 0);
    assert_eq!(head.field(b"mcp-param-region"), Cardinality::One(b"eu"));
    assert_eq!(head.field(b"accept"), Cardinality::Many);
    assert_eq!(head.field(b"mcp-param"), Cardinality::Missing);
    assert!(index.has_params());
    assert_eq!(head.lines().count(), 8);
}

#[test]
fn targets() {
    let cases: &[(&str, &str, Option<&str>, Option<&str>)] = &[
        ("/", "/", None, None),
        ("/mcp/?", "/mcp/", Some(""), None),
        ("/a?b?c", "/a", Some("b?c"), None),
        ("//x", "//x", None, None),
        ("http://h", "/", None, Some("h")),
        ("HTTPS://h:1/mcp?q", "/mcp", Some("q"), Some("h:1")),
        ("http://[::1]:80?q", "/", Some("q"), Some("[::1]:80")),
    ];
    for (target, path, query, authority) in cases {
        let bytes = format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
        let index = read(bytes.as_bytes());
        let head = RequestHead::new(bytes.as_bytes(), &index);
        assert_eq!(head.path(), path.as_bytes(), "{target}");
        assert_eq!(head.query(), query.map(str::as_bytes), "{target}");
        assert_eq!(head.authority(), authority.map(str::as_bytes), "{target}");
    }
    let star = b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n";
    assert_eq!(RequestHead::new(star, &read(star)).path(), b"*");
    for bad in [
        "*",
        "mcp",
        "h:80",
        "http:/x",
        "http://",
        "http:///x",
        "http://u@h/",
        "http://h:x/",
        "ftp://h/",
        "/a#b",
        "/a\u{1}",
        "/é",
        "/a\tb",
        "?q",
    ] {
        assert_eq!(status(format!("GET {bad} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()), 400, "{bad}");
    }
    for target in ["h:80", "/", "http://h/", "*"] {
        assert_eq!(
            status(format!("CONNECT {target} HTTP/1.1\r\nHost: h:80\r\n\r\n").as_bytes()),
            400,
            "{target}"
        );
    }
}

#[test]
fn versions() {
    for (version, expected) in [
        ("HTTP/1.1", 200),
        ("HTTP/1.0", 200),
        ("HTTP/1.2", 505),
        ("HTTP/1.10", 400),
        ("HTTP/1.01", 400),
        ("HTTP/2.0", 505),
        ("HTTP/0.9", 505),
        ("HTTP/9.9", 505),
        ("HTTP/2", 400),
        ("HTTP/1.", 400),
        ("HTTP/.1", 400),
        ("HTTP/1.1 ", 400),
        ("http/1.1", 400),
        ("HTTP/1.1x", 400),
        ("HTTP/a.b", 400),
        ("FTP/1.1", 400),
        ("", 400),
    ] {
        assert_eq!(status(format!("GET / {version}\r\nHost: x\r\n\r\n").as_bytes()), expected, "{version:?}");
    }
    assert_eq!(status(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
    // Before the terminator.
    assert_eq!(status(b"GET / HTTP/3.0\r\n"), 505);
    assert_eq!(status(b"GET /\r\n"), 400);
    assert_eq!(status(b"GET  / HTTP/1.1\r\n"), 400);
    assert_eq!(status(b"G@T / HTTP/1.1\r\n"), 400);
}

#[test]
fn first_bytes() {
    for bad in
        [&b"\x16\x03\x01"[..], b"\0", b" GET", b"\t", b"\n", b"\rG", b"\xff", b"{", b"\r\n\r\n\r\n\r\n\r"]
    {
        assert_eq!(status(bad), 400, "{}", bad.escape_ascii());
    }
    for more in
        [&b""[..], b"G", b"\r", b"\r\n\r\n\r\n\r\n", b"\r\n\r\n\r\n\r\nP", b"GET / HTTP/1.1\r\nHost: x\r\n\r"]
    {
        assert_eq!(status(more), 0, "{}", more.escape_ascii());
    }
    let late = b"\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n";
    let index = read(late);
    assert_eq!(index.len(), late.len());
    assert_eq!(RequestHead::new(late, &index).header(Known::Host), Cardinality::One(b"x"));
}

#[test]
fn malformed_lines() {
    for bad in [
        "Host: x\n\r\n",
        "A: b\nHost: x\r\n\r\n",
        "Host: x\r\n\n",
        "Host: x\r\nA: b\r\n c\r\n\r\n",
        "Host: x\r\nA : b\r\n\r\n",
        "Host: x\r\n: b\r\n\r\n",
        "Host: x\r\nA\r\n\r\n",
        "Host: x\r\n A: b\r\n\r\n",
        "Host: x\r\nA: b\rc\r\n\r\n",
        "Host: x\r\nA: b\0c\r\n\r\n",
        "Host: x\r\nA: b\x01\r\n\r\n",
        "Host: x\r\nA: b\x7f\r\n\r\n",
        "Host: x\r\nA(: b\r\n\r\n",
        "Host: x\r\nA: b\r\r\n\r\n",
        "Host: x\r\n\rX\r\n\r\n",
        "Host: x\r\nÄ: b\r\n\r\n",
    ] {
        assert_eq!(status(format!("GET / HTTP/1.1\r\n{bad}").as_bytes()), 400, "{bad:?}");
    }
    assert_eq!(status(b"GET / HTTP/1.1\nHost: x\n\n"), 400);
    assert_eq!(status(b"GET / HTTP/1.1\r\nHost: x\r\nA: \xff \t\x80\r\n\r\n"), 200);
}

#[test]
fn the_host_rule() {
    assert_eq!(status(b"GET / HTTP/1.1\r\n\r\n"), 400);
    assert_eq!(status(b"GET http://h/ HTTP/1.1\r\n\r\n"), 400);
    assert_eq!(status(b"GET / HTTP/1.0\r\n\r\n"), 200);
    assert_eq!(status(b"GET / HTTP/1.1\r\nHost:\r\n\r\n"), 200);
    for version in ["1.0", "1.1"] {
        assert_eq!(status(format!("GET / HTTP/{version}\r\nHost: a\r\nhost: a\r\n\r\n").as_bytes()), 400);
        assert_eq!(status(format!("GET / HTTP/{version}\r\nHost: a b\r\n\r\n").as_bytes()), 400);
        assert_eq!(status(format!("GET / HTTP/{version}\r\nHost: a/b\r\n\r\n").as_bytes()), 400);
    }
}

fn small_limits() -> Limits {
    Limits { request_line: 64, header_line: 64, headers: 8, head: 512, ..Limits::default() }
}

#[test]
fn bounds_are_exact() {
    let limits = small_limits();
    let check = |bytes: String| {
        answer(bytes.as_bytes(), &limits).map(|index| index.is_some()).map_err(|fault| fault.status)
    };
    let line = |length: usize| format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(length - 14));
    assert_eq!(check(line(64)), Ok(true));
    assert_eq!(check(line(65)), Err(414));
    assert_eq!(check("A".repeat(64)), Ok(false));
    assert_eq!(check("A".repeat(65)), Err(414));
    let field = |length: usize| format!("GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "a".repeat(length - 3));
    assert_eq!(check(field(64)), Ok(true));
    assert_eq!(check(field(65)), Err(431));
    assert_eq!(check(format!("GET / HTTP/1.1\r\n{}", "A".repeat(64))), Ok(false));
    assert_eq!(check(format!("GET / HTTP/1.1\r\n{}\r", "A".repeat(64))), Ok(false));
    assert_eq!(check(format!("GET / HTTP/1.1\r\n{}", "A".repeat(65))), Err(431));
    let fields = |count: usize| format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(count - 1));
    assert_eq!(check(fields(8)), Ok(true));
    assert_eq!(check(fields(9)), Err(431));
    assert_eq!(check(fields(9).trim_end().to_owned() + "\r\n"), Err(431));
    let head = |length: usize| {
        let start = format!(
            "GET / HTTP/1.1\r\nHost: {}\r\n{}",
            "h".repeat(58),
            format!("A: {}\r\n", "b".repeat(61)).repeat(6)
        );
        let left = length - start.len() - 2;
        start + &format!("A: {}\r\n\r\n", "b".repeat(left - 5))
    };
    assert_eq!(head(512).len(), 512);
    assert_eq!(check(head(512)), Ok(true));
    assert_eq!(check(head(513)), Err(431));
    assert_eq!(check(head(512)[..511].to_owned()), Ok(false));
    assert_eq!(check("\r\n".repeat(4) + &head(512)), Ok(true));
    // The earlier of two faults wins, however the bytes arrive.
    assert_eq!(check(format!("GET / HTTP/9.9\r\n{}", "A".repeat(65))), Err(505));
    assert_eq!(check(format!("GET / HTTP/1.1\r\n{}\nA: b\n\n", "A".repeat(65))), Err(431));
    assert_eq!(check(format!("GET / HTTP/1.1\nA: {}", "A".repeat(65))), Err(400));
}

#[test]
fn a_parser_serves_the_next_request_after_reset() {
    let limits = Limits::default();
    let one = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut parser = HeadParser::new();
    assert!(parser.parse(&one[..9], &limits).unwrap().is_none());
    assert!(parser.parse(one, &limits).unwrap().is_some());
    parser.reset();
    assert_eq!(parser.parse(one, &limits), whole(one, &limits));
}

#[test]
fn builder_keeps_what_the_server_reads() {
    let mut scratch = b"old".to_vec();
    let mut builder = HeadBuilder::new(&mut scratch).method(b"POST").target(b"/mcp?x", Some(b"h:1"));
    for (name, value) in [
        ("content-type", "application/json"),
        ("cookie", "a"),
        ("mcp-param-region", " eu "),
        ("accept", "a"),
        ("accept", "b"),
        ("origin", ""),
        ("origin\r\nx", "v"),
        ("mcp-name", "a\r\nb: c"),
    ] {
        builder.field(name.as_bytes(), value.as_bytes());
    }
    let index = builder.finish();
    let head = RequestHead::new(&scratch, &index);
    assert_eq!((head.verb(), head.version()), (Verb::Post, HttpVersion::Http2));
    assert_eq!(
        (head.path(), head.query(), head.authority()),
        (&b"/mcp"[..], Some(&b"x"[..]), Some(&b"h:1"[..]))
    );
    assert_eq!(head.header(Known::ContentType), Cardinality::One(b"application/json"));
    assert_eq!(head.header(Known::Origin), Cardinality::One(b""));
    assert_eq!(head.header(Known::Name), Cardinality::Missing);
    assert!(head.values(Known::Accept).eq([b"a", b"b"]));
    assert_eq!(head.field(b"Mcp-Param-Region"), Cardinality::One(b"eu"));
    assert_eq!(head.field(b"cookie"), Cardinality::Missing);
    assert_eq!(head.lines().count(), 5);
    assert_eq!(index.len(), scratch.len());

    let mut bare = Vec::new();
    let index = HeadBuilder::new(&mut bare).method(b"get").target(b"", None).finish();
    let head = RequestHead::new(&bare, &index);
    assert_eq!(
        (head.verb(), head.path(), head.query(), head.authority()),
        (Verb::Other, &b"/"[..], None, None)
    );
    assert_eq!(head.lines().count(), 0);
}

#[test]
fn one_byte_at_a_time_is_linear() {
    let limits = Limits { request_line: 16_000_000, head: 16_000_000, ..Limits::default() };
    let bytes = [&b"GET /"[..], &b"a".repeat(1_000_000)].concat();
    let mut parser = HeadParser::new();
    // Quadratic work would be 5 * 10^11 bytes looked at.
    for end in 1..=bytes.len() {
        assert_eq!(parser.parse(&bytes[..end], &limits), Ok(None));
    }
}
