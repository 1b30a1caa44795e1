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
        (limits.chunk_line, limits.trailers) = (16, 64);
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
    let (mut rest, mut body) = (wire, Vec::new());
    loop {
        let Some(line) = Line::read(rest) else { return Outcome::Fault(400) };
        let most = limits.chunk_line as usize + usize::from(!line.ended);
        let Some(size) = chunk_size(&line).filter(|_| line.text.len() <= most) else {
            return Outcome::Fault(400);
        };
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
fn chunk_size(line: &Line<'_>) -> Option<u128> {
    let digits = line.text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (digits, extension) = line.text.split_at(digits);
    let fits = digits.len() <= 16 && (extension.is_empty() || extension[0] == b';') && is_plain(extension);
    let begun = !digits.is_empty() || (extension.is_empty() && !line.ended);
    let text = std::str::from_utf8(digits).ok()?;
    (fits && begun).then(|| u128::from_str_radix(text, 16).unwrap_or(0))
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
