//! Each kind of frame with a fault: section 6.

use crate::frames::{Frames, block};

use super::table::{Row, Want, check, piece, row};
use super::*;

const PROTOCOL: Want = Want::Goaway(PROTOCOL_ERROR);
const SIZE: Want = Want::Goaway(FRAME_SIZE_ERROR);
const FLOW: Want = Want::Goaway(FLOW_CONTROL_ERROR);
const ONE_CODE: &str = "h2 has one code for it; the connection ends all the same";

fn setting(client: &mut Frames, id: u16, value: u32) {
    client.frame(SETTINGS, 0, 0, &[&id.to_be_bytes()[..], &value.to_be_bytes()].concat());
}

fn update(client: &mut Frames, stream: u32, by: u32) {
    client.frame(WINDOW_UPDATE, 0, stream, &by.to_be_bytes());
}

/// Reads until the server has taken the settings sent so far.
fn acknowledged(client: &mut Frames) {
    client.frame(PINGS, 0, 0, b"settled?");
    let _ = client.first(|frame| frame.kind == PINGS);
}

/// A stream that stays open.
fn open(client: &mut Frames) {
    client.headers(1, &post(), false);
}

fn window(client: &mut Frames, size: u32) {
    setting(client, 4, size);
    acknowledged(client);
}

pub const ROWS: &[Row] = &[
    row("http2/6.1/1", "6.1", PROTOCOL, |client| client.data(0, b"test", true)),
    row("http2/6.1/2", "6.1", Want::Reset(1, STREAM_CLOSED), |client| {
        client.headers(1, &get(), true);
        client.outcome(1);
        client.data(1, b"test", true);
    }),
    row("http2/6.1/3", "6.1", PROTOCOL, |client| {
        open(client);
        client.frame(DATA, END_STREAM | PADDED, 1, b"\x06Test");
    }),
    row("http2/6.2/1", "6.2", PROTOCOL, |client| {
        client.frame(HEADERS, END_STREAM, 1, &block(&get()));
        client.frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 255]);
    }),
    row("http2/6.2/2", "6.2", PROTOCOL, |client| {
        client.frame(HEADERS, END_STREAM, 1, &block(&get()));
        client.headers(3, &get(), true);
    }),
    row("http2/6.2/3", "6.2", PROTOCOL, |client| client.headers(0, &get(), true)),
    row("http2/6.2/4", "6.2", PROTOCOL, |client| {
        let block = block(&get());
        let padded = [&[u8::try_from(block.len() + 1).unwrap()][..], &block].concat();
        client.frame(HEADERS, END_STREAM | END_HEADERS | PADDED, 1, &padded);
    }),
    row("http2/6.3/1", "6.3", PROTOCOL, |client| client.frame(PRIORITY, 0, 0, &[0, 0, 0, 0, 255])),
    row("http2/6.3/2", "6.3", Want::Reset(1, FRAME_SIZE_ERROR), |client| {
        open(client);
        client.frame(PRIORITY, 0, 1, &[128, 0, 0, 1]);
    })
    .instead(PROTOCOL, "h2 ends the whole connection of a peer that does this, which section 5.4.1 allows"),
    row("http2/6.4/1", "6.4", PROTOCOL, |client| client.frame(RST_STREAM, 0, 0, &CANCEL.to_be_bytes())),
    row("http2/6.4/2", "6.4", PROTOCOL, |client| client.frame(RST_STREAM, 0, 1, &CANCEL.to_be_bytes())),
    row("http2/6.4/3", "6.4", SIZE, |client| {
        open(client);
        client.frame(RST_STREAM, 0, 1, &[0; 3]);
    })
    .instead(PROTOCOL, ONE_CODE),
    row("http2/6.5/1", "6.5", SIZE, |client| client.frame(SETTINGS, 1, 0, &[0; 6]))
        .instead(PROTOCOL, ONE_CODE),
    row("http2/6.5/2", "6.5", PROTOCOL, |client| client.frame(SETTINGS, 0, 1, &[0, 3, 0, 0, 0, 100])),
    row("http2/6.5/3", "6.5", SIZE, |client| client.frame(SETTINGS, 0, 0, &[0, 3, 0]))
        .instead(PROTOCOL, ONE_CODE),
    row("http2/6.5.2/1", "6.5.2", PROTOCOL, |client| setting(client, 2, 2)),
    row("http2/6.5.2/2", "6.5.2", FLOW, |client| setting(client, 4, 1 << 31)).instead(PROTOCOL, ONE_CODE),
    row("http2/6.5.2/3", "6.5.2", PROTOCOL, |client| setting(client, 5, 16_383)),
    row("http2/6.5.2/4", "6.5.2", PROTOCOL, |client| setting(client, 5, 1 << 24)),
    row("http2/6.5.2/5", "6.5.2", Want::Pong, |client| setting(client, 0xff, 1)),
    row("http2/6.5.3/1", "6.5.3", piece(1, 1), |client| {
        client.frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 100, 0, 4, 0, 0, 0, 1]);
        acknowledged(client);
        client.headers(1, &get(), true);
    }),
    row("http2/6.5.3/2", "6.5.3", Want::First(SETTINGS, 0, 0), |client| {
        acknowledged(client);
        client.see_acks();
        setting(client, 3, 100);
    }),
    row("http2/6.7/1", "6.7", Want::Pong, |_| {}),
    row("http2/6.7/2", "6.7", Want::Pong, |client| client.frame(PINGS, 1, 0, b"unasked!")),
    row("http2/6.7/3", "6.7", PROTOCOL, |client| client.frame(PINGS, 0, 1, &[0; 8])),
    row("http2/6.7/4", "6.7", SIZE, |client| client.frame(PINGS, 0, 0, &[0; 6])).instead(PROTOCOL, ONE_CODE),
    row("http2/6.8/1", "6.8", PROTOCOL, |client| client.frame(GOAWAY, 0, 1, &[0; 8])),
    row("http2/6.9/1", "6.9", PROTOCOL, |client| update(client, 0, 0)),
    row("http2/6.9/2", "6.9", Want::Reset(1, PROTOCOL_ERROR), |client| {
        open(client);
        update(client, 1, 0);
    })
    .instead(PROTOCOL, "h2 ends the whole connection of a peer that does this, which section 5.4.1 allows"),
    row("http2/6.9/3", "6.9", SIZE, |client| client.frame(WINDOW_UPDATE, 0, 0, &[0, 0, 1]))
        .instead(PROTOCOL, ONE_CODE),
    row("http2/6.9.1/1", "6.9.1", piece(1, 1), |client| {
        window(client, 1);
        client.headers(1, &get(), true);
    }),
    row("http2/6.9.1/2", "6.9.1", FLOW, |client| {
        update(client, 0, (1 << 31) - 1);
        update(client, 0, (1 << 31) - 1);
    }),
    row("http2/6.9.1/3", "6.9.1", Want::Reset(1, FLOW_CONTROL_ERROR), |client| {
        open(client);
        update(client, 1, (1 << 31) - 1);
        update(client, 1, (1 << 31) - 1);
    }),
    row("http2/6.9.2/1", "6.9.2", piece(1, 1), |client| {
        window(client, 0);
        client.headers(1, &get(), true);
        acknowledged(client);
        setting(client, 4, 1);
    }),
    row("http2/6.9.2/2", "6.9.2", piece(1, 1), |client| {
        window(client, 3);
        client.headers(1, &get(), true);
        let three = client.first(|frame| frame.kind == DATA).unwrap();
        assert_eq!(three.payload.len(), 3);
        window(client, 2);
        update(client, 1, 2);
    }),
    row("http2/6.9.2/3", "6.9.2", FLOW, |client| setting(client, 4, u32::MAX)).instead(PROTOCOL, ONE_CODE),
    row("http2/6.10/1", "6.10", Want::Answer(1), |client| {
        let block = block(&get());
        client.frame(HEADERS, END_STREAM, 1, &block[..10]);
        client.frame(CONTINUATION, 0, 1, &block[10..20]);
        client.frame(CONTINUATION, END_HEADERS, 1, &block[20..]);
    }),
    row("http2/6.10/2", "6.10", PROTOCOL, |client| {
        let block = block(&get());
        client.frame(HEADERS, END_STREAM, 1, &block[..10]);
        client.frame(CONTINUATION, 0, 1, &block[10..20]);
        client.data(1, b"test", true);
    }),
    row("http2/6.10/3", "6.10", PROTOCOL, |client| {
        let block = block(&get());
        client.frame(HEADERS, END_STREAM, 1, &block[..10]);
        client.frame(CONTINUATION, END_HEADERS, 0, &block[10..]);
    }),
    row("http2/6.10/4", "6.10", PROTOCOL, |client| {
        client.headers(1, &post(), false);
        client.frame(CONTINUATION, END_HEADERS, 1, &block(&get()));
    }),
    row("http2/6.10/5", "6.10", PROTOCOL, |client| {
        let block = block(&get());
        client.frame(HEADERS, END_STREAM, 1, &block[..10]);
        client.frame(CONTINUATION, END_HEADERS, 1, &block[10..]);
        client.frame(CONTINUATION, END_HEADERS, 1, &block[10..]);
    }),
    row("http2/6.10/6", "6.10", PROTOCOL, |client| {
        client.headers(1, &post(), false);
        client.data(1, b"test", true);
        client.frame(CONTINUATION, END_HEADERS, 1, &block(&get()));
    }),
];

#[test]
fn rows() {
    check(ROWS);
}
