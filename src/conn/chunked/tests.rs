//! Bodies in pieces and whole, good and bad, beside a naive decoder.

use super::*;
use proptest::prelude::*;

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Body(Vec<u8>, usize),
    Incomplete,
    Outgrown,
    Fault(u16),
}

/// Feeds `wire` in pieces that end at `cuts`, as a connection does: what follows the body stays where it is.
fn decode(wire: &[u8], cuts: &[usize], ceiling: u64) -> Outcome {
    let mut decoder = Decoder::new(ceiling, &Limits::default());
    let mut buffer = Vec::new();
    let mut from = 0;
    for &cut in cuts.iter().chain([&wire.len()]) {
        buffer.extend_from_slice(&wire[from..cut]);
        from = cut;
        match decoder.decode(&mut buffer) {
            Ok(Progress::More) => buffer.truncate(decoder.len()),
            Ok(Progress::Complete) => {
                let rest = buffer.len() - decoder.taken() + wire.len() - cut;
                return Outcome::Body(buffer[..decoder.len()].to_vec(), wire.len() - rest);
            }
            Ok(Progress::Outgrown) => return Outcome::Outgrown,
            Err(fault) => return Outcome::Fault(fault.status),
        }
    }
    Outcome::Incomplete
}

/// Chunk extensions as the grammar has them, piece by piece.
fn is_extension_list(mut rest: &[u8]) -> bool {
    let blank = |text: &[u8]| text.iter().take_while(|byte| b" \t".contains(byte)).count();
    let token = |text: &[u8]| text.iter().take_while(|&&byte| is_tchar(byte)).count();
    while !rest.is_empty() {
        let Some(name) = rest[blank(rest)..].strip_prefix(b";") else { return false };
        let name = &name[blank(name)..];
        let (name, after) = name.split_at(token(name));
        rest = after;
        if name.is_empty() {
            return false;
        }
        let Some(value) = rest[blank(rest)..].strip_prefix(b"=") else { continue };
        let value = &value[blank(value)..];
        let Some(quoted) = value.strip_prefix(b"\"") else {
            rest = &value[token(value)..];
            if rest.len() == value.len() {
                return false;
            }
            continue;
        };
        rest = quoted;
        loop {
            rest = match rest {
                [b'"', after @ ..] => break rest = after,
                [b'\\', byte, after @ ..] | [byte, after @ ..]
                    if *byte == 9 || (*byte >= 32 && *byte != 127) =>
                {
                    after
                }
                _ => return false,
            };
        }
    }
    true
}

/// The coding as the grammar has it, on whole input, without limits: None where it is not complete and well formed.
fn naive(wire: &[u8]) -> Option<(Vec<u8>, usize)> {
    let line =
        |at: usize| wire[at..].windows(2).position(|pair| pair == b"\r\n").map(|len| &wire[at..at + len]);
    let plain = |text: &[u8]| text.iter().all(|&byte| byte == 9 || (byte >= 32 && byte != 127));
    let (mut at, mut body) = (0, Vec::new());
    loop {
        let text = line(at)?;
        at += text.len() + 2;
        let digits = text.split(|byte| b"; \t".contains(byte)).next()?;
        let hex = !digits.is_empty() && digits.len() <= 16 && digits.iter().all(u8::is_ascii_hexdigit);
        let size = usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16)
            .ok()
            .filter(|_| hex && is_extension_list(&text[digits.len()..]))?;
        if size == 0 {
            break;
        }
        body.extend_from_slice(wire.get(at..at.checked_add(size)?)?);
        at += size;
        at += (wire.get(at..at + 2)? == b"\r\n").then_some(2)?;
    }
    loop {
        let text = line(at)?;
        at += text.len() + 2;
        if text.is_empty() {
            return Some((body, at));
        }
        let colon = text.iter().position(|&byte| byte == b':')?;
        (crate::base::ascii::is_token(&text[..colon]) && plain(&text[colon..])).then_some(())?;
    }
}

#[test]
fn bodies() {
    for (wire, body, rest) in [
        (&b"0\r\n\r\n"[..], &b""[..], &b""[..]),
        (b"0\r\n\r\nGET", b"", b"GET"),
        (b"3\r\nabc\r\n0\r\n\r\n", b"abc", b""),
        (b"3\r\nabc\r\n00A\r\n0123456789\r\n000\r\n\r\n", b"abc0123456789", b""),
        (b"3;a=b;c=\"d e\"\r\nabc\r\n0;x\r\n\r\n", b"abc", b""),
        (b"3 ; a\r\nabc\r\n0\r\nX-Check: ok\r\nA:\r\n\r\nnext", b"abc", b"next"),
        (b"0000000000000001\r\nx\r\n0\r\n\r\n", b"x", b""),
    ] {
        let text = String::from_utf8_lossy(wire);
        let expected = Outcome::Body(body.to_vec(), wire.len() - rest.len());
        assert_eq!(decode(wire, &[], u64::MAX), expected, "{text}");
    }
}

#[test]
fn faults() {
    for wire in [
        &b"\r\n"[..],
        b";a\r\n",
        b"+1\r\nx\r\n",
        b"-0\r\n\r\n",
        b"0x1\r\nx",
        b"1_0\r\n",
        b"3 \r\nabc",
        b"3 \t\r\nabc",
        b"3;\r\nabc",
        b"3;a \r\nabc",
        b"3;a=\"\r\nabc",
        b"3 a\r\nabc",
        b" 3\r\nabc",
        b"3\nabc",
        b"3\rabc",
        b"3\r\r\n",
        b"g\r\n",
        b"3\r\nabcd",
        b"3\r\nabc\n",
        b"3\r\nabc\r\r",
        b"3;a\nabc",
        b"3;a\0\r\nabc",
        b"00000000000000001\r\nx\r\n0\r\n\r\n",
        b"0\r\n\n",
        b"0\r\n\rX",
        b"0\r\n Folded: x\r\n\r\n",
        b"0\r\nA: b\r\n c\r\n\r\n",
        b"0\r\nNo-Colon\r\n\r\n",
        b"0\r\nSpace : x\r\n\r\n",
        b"0\r\n: x\r\n\r\n",
        b"0\r\nA: \x01\r\n\r\n",
        b"0\r\nA: b\rc\r\n\r\n",
    ] {
        let text = String::from_utf8_lossy(wire);
        assert_eq!(decode(wire, &[], u64::MAX), Outcome::Fault(400), "{text}");
        assert_eq!(naive(wire), None, "{text}");
    }
}

#[test]
fn limits_are_inclusive() {
    let limits = Limits::default();
    let line = usize::try_from(limits.chunk_line).unwrap();
    let with_line = |len: usize| format!("1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(len - 2));
    assert!(matches!(decode(with_line(line).as_bytes(), &[], 1), Outcome::Body(..)));
    assert_eq!(decode(with_line(line + 1).as_bytes(), &[], 1), Outcome::Fault(400));
    let extensions = usize::try_from(limits.chunk_extensions).unwrap();
    let with_extensions = |len: usize| {
        let chunk = format!("1;{}\r\nx\r\n", "e".repeat(line - 3));
        let (count, rest) = (len / (line - 2), len % (line - 2));
        format!("{}1;{}\r\nx\r\n0\r\n\r\n", chunk.repeat(count), "e".repeat(rest - 1))
    };
    assert!(matches!(decode(with_extensions(extensions).as_bytes(), &[], 99), Outcome::Body(..)));
    assert_eq!(decode(with_extensions(extensions + 1).as_bytes(), &[], 99), Outcome::Fault(400));
    let trailers = usize::try_from(limits.trailers).unwrap();
    let with_trailers = |len: usize| format!("0\r\nA: {}\r\n\r\n", "t".repeat(len - 5));
    assert!(matches!(decode(with_trailers(trailers).as_bytes(), &[], 1), Outcome::Body(..)));
    assert_eq!(decode(with_trailers(trailers + 1).as_bytes(), &[], 1), Outcome::Fault(431));
    assert!(matches!(decode(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", &[], 5), Outcome::Body(..)));
    assert_eq!(decode(b"3\r\nabc\r\n2\r\n", &[], 4), Outcome::Outgrown);
    assert_eq!(decode(b"ffffffffffffffff\r\n", &[], u64::MAX - 1), Outcome::Outgrown);
}

fn wire() -> impl Strategy<Value = Vec<u8>> {
    let data = prop::collection::vec(any::<u8>(), 1..40);
    let ext = prop_oneof![3 => Just(String::new()), 1 => Just(";a=\"b c\"".to_owned())];
    let chunk = (data, ext).prop_map(|(data, ext)| {
        let mut wire = format!("{:x}{ext}\r\n", data.len()).into_bytes();
        wire.extend_from_slice(&data);
        wire.extend_from_slice(b"\r\n");
        wire
    });
    let tail =
        prop_oneof![Just("\r\n"), Just("A: b\r\nC:\r\n\r\n"), Just("\r\nPOST / HTTP/1.1\r\n"), Just("")];
    (prop::collection::vec(chunk, 0..6), tail).prop_map(|(chunks, tail)| {
        let mut wire = chunks.concat();
        wire.extend_from_slice(b"0\r\n");
        wire.extend_from_slice(tail.as_bytes());
        wire
    })
}

proptest! {
    #[test]
    fn agrees_with_the_naive_decoder_at_every_split(
        mut wire in wire(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        change in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        if let Some((at, byte)) = change {
            let at = at.index(wire.len());
            wire[at] = byte;
        }
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(wire.len() + 1)).collect();
        cuts.sort_unstable();
        let whole = decode(&wire, &[], u64::MAX);
        prop_assert_eq!(&decode(&wire, &cuts, u64::MAX), &whole);
        let every: Vec<usize> = (0..wire.len()).collect();
        prop_assert_eq!(&decode(&wire, &every, u64::MAX), &whole);
        match naive(&wire) {
            Some((body, taken)) => prop_assert_eq!(whole, Outcome::Body(body, taken)),
            None => prop_assert!(!matches!(whole, Outcome::Body(..))),
        }
    }
}
