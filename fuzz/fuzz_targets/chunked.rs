//! The chunked coding. Oracles: whole, in pieces and byte by byte give one result; it is the naive decoder's, and where that sees no
//! whole body, no limit and no fault is invented; what follows the body is left alone.
#![no_main]

use libfuzzer_sys::fuzz_target;
use twolane::base::limits::Limits;
use twolane::conn::chunked::{Decoder, Progress};
use twolane_fuzz::control::Control;

#[derive(Debug, PartialEq)]
enum Outcome {
    /// The body, and how many bytes of the wire it took.
    Body(Vec<u8>, usize),
    More,
    Outgrown,
    Fault(u16),
}

fuzz_target!(|input: &[u8]| {
    let Some((wire, mut control)) = Control::split(input) else { return };
    let mut limits = Limits::default();
    if control.below(2) == 0 {
        (limits.chunk_line, limits.chunk_extensions, limits.trailers) = (16, 20, 64);
    }
    let ceiling = [u64::MAX, 0, 5, 40, 1000][control.below(5)];
    let whole = decode(wire, [], ceiling, &limits);
    assert_eq!(decode(wire, control.cuts(wire.len()), ceiling, &limits), whole, "pieces");
    if wire.len() <= 1024 {
        assert_eq!(decode(wire, 1..wire.len(), ceiling, &limits), whole, "bytes alone");
    }
    if let Outcome::Body(body, taken) = &whole {
        assert!(body.len() as u64 <= ceiling);
        assert_eq!(decode(&wire[..*taken], [], ceiling, &limits), whole, "what follows changes nothing");
        assert_eq!(decode(&wire[..taken - 1], [], ceiling, &limits), Outcome::More, "a byte less");
    }
    assert_eq!(naive(wire, ceiling, &limits), whole, "the naive decoder");
});

/// Feeds the pieces as a connection does: after `More` the decoded body stays and the next piece is appended.
fn decode(wire: &[u8], cuts: impl IntoIterator<Item = usize>, ceiling: u64, limits: &Limits) -> Outcome {
    let mut decoder = Decoder::new(ceiling, limits);
    let (mut buffer, mut from) = (Vec::new(), 0);
    for cut in cuts.into_iter().chain([wire.len()]) {
        buffer.extend_from_slice(&wire[from..cut]);
        from = cut;
        match decoder.decode(&mut buffer) {
            Ok(Progress::More) => buffer.truncate(decoder.len()),
            Ok(Progress::Complete) => {
                let rest = &buffer[decoder.taken()..];
                assert_eq!(rest, &wire[cut - rest.len()..cut], "what follows the body is left as it was");
                return Outcome::Body(buffer[..decoder.len()].to_vec(), cut - rest.len());
            }
            Ok(Progress::Outgrown) => return Outcome::Outgrown,
            Err(fault) => return Outcome::Fault(fault.status),
        }
    }
    Outcome::More
}

/// The coding as RFC 9112 7.1 has it, line by line on all there is.
fn naive(wire: &[u8], ceiling: u64, limits: &Limits) -> Outcome {
    let (mut rest, mut body, mut extensions) = (wire, Vec::new(), 0);
    loop {
        let Some(line) = Line::read(rest) else { return Outcome::Fault(400) };
        let most = limits.chunk_line as usize + usize::from(!line.ended);
        let digits = line.text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        extensions += line.text.len() - digits;
        let fits = line.text.len() <= most && extensions <= limits.chunk_extensions as usize;
        let Some(size) = chunk_size(&line, digits).filter(|_| fits) else { return Outcome::Fault(400) };
        let Some(after) = line.after else { return Outcome::More };
        rest = after;
        if size == 0 {
            break;
        }
        if body.len() as u128 + size > ceiling.into() {
            return Outcome::Outgrown;
        }
        let here = usize::try_from(size).map_or(rest.len(), |size| size.min(rest.len()));
        body.extend_from_slice(&rest[..here]);
        rest = &rest[here..];
        match rest {
            [b'\r', b'\n', after @ ..] => rest = after,
            [] | [b'\r'] => return Outcome::More,
            _ => return Outcome::Fault(400),
        }
    }
    let most = rest.len().min(limits.trailers as usize + 2);
    match trailers(&rest[..most]) {
        Some(Some(left)) => Outcome::Body(body, wire.len() - rest.len() + most - left),
        Some(None) if most < rest.len() => Outcome::Fault(431),
        Some(None) => Outcome::More,
        None => Outcome::Fault(400),
    }
}

/// A line, or its beginning.
struct Line<'w> {
    text: &'w [u8],
    /// Its CR is there.
    ended: bool,
    /// What follows its line end.
    after: Option<&'w [u8]>,
}

impl<'w> Line<'w> {
    /// `None`: the line end is malformed.
    fn read(rest: &'w [u8]) -> Option<Self> {
        let end = rest.iter().position(|byte| b"\r\n".contains(byte));
        let (text, line_end) = rest.split_at(end.unwrap_or(rest.len()));
        match line_end {
            [] => Some(Self { text, ended: false, after: None }),
            [b'\r'] => Some(Self { text, ended: true, after: None }),
            [b'\r', b'\n', after @ ..] => Some(Self { text, ended: true, after: Some(after) }),
            _ => None,
        }
    }
}

fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|&byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f))
}

/// The size, as far as it is there; `None` for what cannot become one.
fn chunk_size(line: &Line<'_>, digits: usize) -> Option<u128> {
    let (digits, rest) = line.text.split_at(digits);
    // What has begun can be ended in one of these ways.
    let endings: &[&[u8]] = if line.ended { &[b""] } else { &[b"", b"a", b";a", b"\"", b"a\""] };
    let extended = endings.iter().any(|ending| are_extensions(&[rest, ending].concat()));
    let begun = !digits.is_empty() || (rest.is_empty() && !line.ended);
    let text = std::str::from_utf8(digits).ok()?;
    let fits = digits.len() <= 16 && (rest.is_empty() || extended);
    (fits && begun).then(|| u128::from_str_radix(text, 16).unwrap_or(0))
}

/// Whether this is what RFC 9112 7.1.1 calls `chunk-ext`.
fn are_extensions(mut rest: &[u8]) -> bool {
    while !rest.is_empty() {
        let Some(name) = after_blanks(rest).strip_prefix(b";").map(after_blanks) else { return false };
        rest = &name[token(name)..];
        if rest.len() == name.len() {
            return false;
        }
        let Some(value) = after_blanks(rest).strip_prefix(b"=").map(after_blanks) else { continue };
        let taken = quoted(value).unwrap_or_else(|| token(value));
        rest = &value[taken..];
        if taken == 0 {
            return false;
        }
    }
    true
}

fn after_blanks(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|byte| b" \t".contains(byte)).count()..]
}

fn token(text: &[u8]) -> usize {
    text.iter().take_while(|byte| b"!#$%&'*+-.^_`|~".contains(byte) || byte.is_ascii_alphanumeric()).count()
}

/// The length of the quoted string that `text` begins with.
fn quoted(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    while text.first() == Some(&b'"') {
        at += match text.get(at..)? {
            [b'"', ..] => return Some(at + 1),
            [b'\\', escaped, ..] if is_plain(&[*escaped]) => 2,
            [byte, ..] if *byte != b'\\' && is_plain(&[*byte]) => 1,
            _ => return None,
        };
    }
    None
}

/// How many bytes follow the trailer section: `Some(None)` while it goes on, `None` where it is malformed.
fn trailers(mut rest: &[u8]) -> Option<Option<usize>> {
    loop {
        let line = Line::read(rest)?;
        if !line.text.is_empty() {
            let name = line
                .text
                .iter()
                .take_while(|byte| b"!#$%&'*+-.^_`|~".contains(byte) || byte.is_ascii_alphanumeric())
                .count();
            let (name, value) = line.text.split_at(name);
            let whole = value.first() == Some(&b':') || (value.is_empty() && !line.ended);
            if name.is_empty() || !whole || !is_plain(value) {
                return None;
            }
        }
        match line.after {
            Some(after) if line.text.is_empty() => return Some(Some(after.len())),
            Some(after) => rest = after,
            None => return Some(None),
        }
    }
}
