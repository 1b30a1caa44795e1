//! Requests as frames.

use super::asked::Asked;
use super::hpack::{Encoder, Field};
use super::script::{Ask, Spoil};
use super::watch::{CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PADDED, frame};

const PRIORITIZED: u8 = 0x20;

/// The fields of a head.
pub fn fields(asked: &Asked, ask: &Ask, spoil: Option<Spoil>) -> Vec<Field> {
    let mut fields = asked.http2();
    let mut add = |name: &str, value: &str| fields.push((name.into(), value.into()));
    if ask.shape & 1 == 0 && !asked.body.is_empty() {
        let length = match spoil {
            Some(Spoil::Long) => asked.body.len() - 1,
            Some(Spoil::Short) => asked.body.len() + 1,
            _ => asked.body.len(),
        };
        add("content-length", &length.to_string());
    }
    if ask.shape & 16 != 0 {
        add("expect", "100-continue");
    }
    if let Some(spoil) = spoil {
        apply(&mut fields, spoil);
    }
    fields
}

fn apply(fields: &mut Vec<Field>, spoil: Spoil) {
    let drop = |fields: &mut Vec<Field>, gone: &str| fields.retain(|(name, _)| name != gone.as_bytes());
    let mut add = |name: &str, value: &[u8]| fields.push((name.into(), value.into()));
    match spoil {
        Spoil::NoMethod => drop(fields, ":method"),
        Spoil::NoPath => drop(fields, ":path"),
        Spoil::NoScheme => drop(fields, ":scheme"),
        Spoil::NoHost => drop(fields, ":authority"),
        Spoil::EmptyPath => fields[3].1.clear(),
        Spoil::Twice(at) => {
            let twice = fields[usize::from(at) % 4].clone();
            fields.insert(usize::from(at) % 4, twice);
        }
        Spoil::Late => {
            let late = fields.remove(1);
            fields.push(late);
        }
        Spoil::Unknown => fields.insert(0, (b":other".to_vec(), b"x".to_vec())),
        Spoil::Status => fields.insert(0, (b":status".to_vec(), b"200".to_vec())),
        Spoil::Upper => add("X-Upper", b"x"),
        Spoil::Space => add("x y", b"x"),
        Spoil::Connection(at) => {
            let names = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];
            add(names[usize::from(at) % names.len()], b"chunked");
        }
        Spoil::Te => add("te", b"gzip"),
        Spoil::LineBreak(at) => {
            add("x-break", [&b"a\rb"[..], b"a\nb", b"a\0b", b"a\r\nb: c"][usize::from(at) % 4])
        }
        Spoil::Long | Spoil::Short => {}
        Spoil::TwoHosts => add("host", b"elsewhere"),
        Spoil::Length => add("content-length", b"x1"),
    }
}

/// A header block.
pub fn block(encoder: &mut Encoder, fields: &[Field], ask: &Ask) -> Vec<u8> {
    let mut block = Vec::new();
    if ask.forms[3] >= 250 {
        encoder.resize(&mut block, usize::from(ask.forms[2]) * 16);
    }
    for (at, field) in fields.iter().enumerate() {
        encoder.field(&mut block, field, ask.forms[at % 4]);
    }
    block
}

/// The frames of a block.
pub fn head(stream: u32, block: &[u8], end: bool, ask: &Ask) -> Vec<u8> {
    // More frames than a few are a flood to `h2`.
    let pieces = pieces(block, ask.split, 5);
    let (&first, more) = pieces.split_first().expect("one at least");
    let mut payload = Vec::new();
    let mut flags = if end { END_STREAM } else { 0 };
    let pad = if ask.shape & 4 != 0 { ask.split } else { 0 };
    if ask.shape & 4 != 0 {
        payload.push(pad);
        flags |= PADDED;
    }
    if ask.shape & 8 != 0 {
        payload.extend_from_slice(&[0, 0, 0, 0, 9]);
        flags |= PRIORITIZED;
    }
    payload.extend_from_slice(first);
    payload.resize(payload.len() + usize::from(pad), 0);
    let last = |last: bool| if last { END_HEADERS } else { 0 };
    let mut out = frame(HEADERS, flags | last(more.is_empty()), stream, &payload);
    for (at, piece) in more.iter().enumerate() {
        out.extend(frame(CONTINUATION, last(at + 1 == more.len()), stream, piece));
    }
    out
}

/// The frames of a body, or of a piece that is not the last. Also gives what they take of the windows.
pub fn body(stream: u32, body: &[u8], end: bool, ask: &Ask) -> (Vec<u8>, i64) {
    let (mut out, mut taken) = (Vec::new(), 0);
    let mut pieces = pieces(body, ask.split, 40);
    if ask.shape & 2 != 0 {
        pieces.push(&[]);
    }
    for (at, piece) in pieces.iter().enumerate() {
        let mut flags = if end && at + 1 == pieces.len() { END_STREAM } else { 0 };
        let mut payload = Vec::new();
        if ask.shape & 4 != 0 {
            flags |= PADDED;
            payload.push(ask.split);
        }
        payload.extend_from_slice(piece);
        if ask.shape & 4 != 0 {
            payload.resize(payload.len() + usize::from(ask.split), 0);
        }
        taken += payload.len() as i64;
        out.extend(frame(DATA, flags, stream, &payload));
    }
    (out, taken)
}

/// In one piece, in two, or in many small ones.
fn pieces(bytes: &[u8], split: u8, many: usize) -> Vec<&[u8]> {
    match split {
        _ if bytes.is_empty() => vec![bytes],
        0 => vec![bytes],
        255 => bytes.chunks(bytes.len().div_ceil(many)).collect(),
        _ => {
            let (one, other) = bytes.split_at(usize::from(split) % bytes.len());
            vec![one, other]
        }
    }
}
