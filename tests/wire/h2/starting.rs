//! What every peer may do: the start of a connection, each kind of frame, each kind of request.

use crate::frames::{Frames, PREFACE, block};

use super::table::{Row, Want, check, row};
use super::*;

fn request(client: &mut Frames) {
    client.headers(1, &get(), true);
}

/// A priority frame, then a request.
fn priority(client: &mut Frames, payload: [u8; 5]) {
    client.frame(PRIORITY, 0, 1, &payload);
    request(client);
}

/// A header block in so many frames.
fn pieces(client: &mut Frames, count: usize) {
    let block = block(&get());
    let pieces: Vec<_> = block.chunks(block.len().div_ceil(count)).collect();
    for (at, piece) in pieces.iter().enumerate() {
        let kind = if at == 0 { HEADERS } else { CONTINUATION };
        let ends = if at == 0 { END_STREAM } else { 0 };
        let last = if at + 1 == pieces.len() { END_HEADERS } else { 0 };
        client.frame(kind, ends | last, 1, piece);
    }
}

fn body(client: &mut Frames, pieces: &[&str]) {
    client.headers(1, &post(), false);
    for (at, piece) in pieces.iter().enumerate() {
        client.data(1, piece.as_bytes(), at + 1 == pieces.len());
    }
}

pub const ROWS: &[Row] = &[
    row("generic/1/1", "3.4", Want::Pong, |_| {}),
    row("generic/2/1", "5.1", Want::Pong, |client| client.frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 255])),
    row("generic/2/2", "5.1", Want::Answer(1), |client| {
        request(client);
        client.frame(WINDOW_UPDATE, 0, 1, &100_u32.to_be_bytes());
    }),
    row("generic/2/3", "5.1", Want::Answer(1), |client| {
        request(client);
        client.frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 255]);
    }),
    row("generic/2/4", "5.1", Want::Pong, |client| {
        request(client);
        client.frame(RST_STREAM, 0, 1, &CANCEL.to_be_bytes());
    }),
    row("generic/2/5", "5.1", Want::Pong, |client| {
        request(client);
        client.outcome(1);
        client.frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 255]);
    }),
    row("generic/3.1/1", "6.1", Want::Answer(1), |client| body(client, &[PING])),
    row("generic/3.1/2", "6.1", Want::Answer(1), |client| body(client, &[&PING[..9], &PING[9..]])),
    row("generic/3.1/3", "6.1", Want::Answer(1), |client| {
        client.headers(1, &post(), false);
        let padded = [&[5][..], PING.as_bytes(), &[0; 5]].concat();
        client.frame(DATA, END_STREAM | PADDED, 1, &padded);
    }),
    row("generic/3.2/1", "6.2", Want::Answer(1), request),
    row("generic/3.2/2", "6.2", Want::Answer(1), |client| {
        let padded = [&[5][..], &block(&get()), &[0; 5]].concat();
        client.frame(HEADERS, END_STREAM | END_HEADERS | PADDED, 1, &padded);
    }),
    row("generic/3.2/3", "6.2", Want::Answer(1), |client| {
        let with_priority = [&[0, 0, 0, 0, 255][..], &block(&get())].concat();
        client.frame(HEADERS, END_STREAM | END_HEADERS | WITH_PRIORITY, 1, &with_priority);
    }),
    row("generic/3.3/1", "6.3", Want::Answer(1), |client| priority(client, [0, 0, 0, 0, 0])),
    row("generic/3.3/2", "6.3", Want::Answer(1), |client| priority(client, [0, 0, 0, 0, 255])),
    row("generic/3.3/3", "6.3", Want::Answer(1), |client| priority(client, [0, 0, 0, 3, 15])),
    row("generic/3.3/4", "6.3", Want::Answer(1), |client| priority(client, [128, 0, 0, 3, 15])),
    row("generic/3.3/5", "6.3", Want::Answer(1), |client| {
        client.frame(PRIORITY, 0, 5, &[0, 0, 0, 0, 255]);
        request(client);
    }),
    row("generic/3.4/1", "6.4", Want::Pong, |client| {
        client.headers(1, &post(), false);
        client.frame(RST_STREAM, 0, 1, &CANCEL.to_be_bytes());
    }),
    row("generic/3.5/1", "6.5", Want::First(SETTINGS, 0, 0), |client| {
        while client.next().expect("settings").kind != SETTINGS {}
        client.see_acks();
    }),
    row("generic/3.7/1", "6.7", Want::Pong, |_| {}),
    row("generic/3.8/1", "6.8", Want::Pong, |client| {
        client.headers(1, &call("gate"), false);
        client.frame(GOAWAY, 0, 0, &[0; 8]);
    }),
    row("generic/3.9/1", "6.9", Want::Pong, |client| client.frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
    row("generic/3.9/2", "6.9", Want::Answer(1), |client| {
        client.headers(1, &post(), false);
        client.frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]);
        client.data(1, PING.as_bytes(), true);
    }),
    row("generic/3.10/1", "6.10", Want::Answer(1), |client| pieces(client, 2)),
    row("generic/3.10/2", "6.10", Want::Answer(1), |client| pieces(client, 4)),
    row("generic/4/1", "8.1", Want::Answer(1), request),
    row("generic/4/2", "8.1", Want::Answer(1), |client| {
        let mut head = get();
        head[0].1 = "HEAD";
        client.headers(1, &head, true);
    }),
    row("generic/4/3", "8.1", Want::Answer(1), |client| body(client, &[PING])),
    row("generic/4/4", "8.1", Want::Answer(1), |client| {
        client.headers(1, &post(), false);
        client.data(1, PING.as_bytes(), false);
        client.headers(1, &[("x-check", "ok")], true);
    }),
    row("http2/3.5/1", "3.4", Want::First(SETTINGS, 0, 18), |_| {}).silent(|client| client.write(PREFACE)),
    row("http2/3.5/2", "3.4", Want::Closed, |_| {})
        .silent(|client| client.write(b"INVALID CONNECTION PREFACE\r\n\r\n")),
];

#[test]
fn rows() {
    check(ROWS);
}
