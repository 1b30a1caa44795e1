//! Frames, streams and their states: sections 4 and 5.

use crate::frames::{Frames, block};

use super::table::{Row, Want, check, row};
use super::*;

const PROTOCOL: Want = Want::Goaway(PROTOCOL_ERROR);
const ONE_CODE: &str = "h2 has one code for it; the connection ends all the same";

/// A stream that the client has ended and the server has not.
fn half_closed(client: &mut Frames) {
    client.headers(1, &call("gate"), false);
    client.data(1, &arguments("gate", serde_json::json!({})), true);
}

/// A stream that the client has reset.
fn reset(client: &mut Frames) {
    client.headers(1, &call("gate"), false);
    client.frame(RST_STREAM, 0, 1, &CANCEL.to_be_bytes());
}

/// A stream that both have ended.
fn closed(client: &mut Frames) {
    client.headers(1, &get(), true);
    client.outcome(1);
}

fn continuation(client: &mut Frames) {
    client.frame(CONTINUATION, END_HEADERS, 1, &block(&get()));
}

/// The first half of a header block.
fn half(client: &mut Frames) {
    client.frame(HEADERS, END_STREAM, 1, &block(&get()[..2]));
}

pub const ROWS: &[Row] = &[
    row("http2/4.1/1", "4.1", Want::Pong, |client| client.frame(22, 0, 0, &[0; 8])),
    row("http2/4.1/2", "4.1", Want::First(PINGS, 0, 8), |client| client.frame(PINGS, 22, 0, &[0; 8])),
    row("http2/4.1/3", "4.1", Want::First(PINGS, 0, 8), |client| client.frame(PINGS, 0, 1 << 31, &[0; 8])),
    row("http2/4.2/1", "4.2", Want::Answer(1), |client| {
        client.headers(1, &post(), false);
        client.data(1, &[b' '; 16_384 - PING.len()], false);
        client.data(1, format!("{PING:16384}").as_bytes(), true);
    }),
    row("http2/4.2/2", "4.2", Want::Goaway(FRAME_SIZE_ERROR), |client| {
        client.headers(1, &post(), false);
        client.frame(DATA, END_STREAM, 1, &[0; 16_385]);
    }),
    row("http2/4.2/3", "4.2", Want::Goaway(FRAME_SIZE_ERROR), |client| {
        client.frame(HEADERS, END_STREAM | END_HEADERS, 1, &[0; 16_385]);
    }),
    row("http2/4.3/1", "4.3", Want::Goaway(COMPRESSION_ERROR), |client| {
        client.frame(HEADERS, END_STREAM | END_HEADERS, 1, &[64]);
    })
    .instead(PROTOCOL, ONE_CODE),
    row("http2/4.3/2", "4.3", PROTOCOL, |client| {
        half(client);
        client.frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 255]);
    }),
    row("http2/4.3/3", "4.3", PROTOCOL, |client| {
        half(client);
        client.headers(3, &get(), true);
    }),
    row("http2/5.1/1", "5.1", PROTOCOL, |client| client.data(1, b"test", true)),
    row("http2/5.1/2", "5.1", PROTOCOL, |client| client.frame(RST_STREAM, 0, 1, &CANCEL.to_be_bytes())),
    row("http2/5.1/3", "5.1", PROTOCOL, |client| client.frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 100])),
    row("http2/5.1/4", "5.1", PROTOCOL, continuation),
    row("http2/5.1/5", "5.1", Want::Reset(1, STREAM_CLOSED), |client| {
        half_closed(client);
        client.data(1, b"test", true);
    })
    .instead(PROTOCOL, "h2 ends the whole connection of a peer that does this, which section 5.4.1 allows"),
    row("http2/5.1/6", "5.1", Want::Reset(1, STREAM_CLOSED), |client| {
        half_closed(client);
        client.headers(1, &get(), true);
    })
    .instead(PROTOCOL, "h2 ends the whole connection of a peer that does this, which section 5.4.1 allows"),
    row("http2/5.1/7", "5.1", PROTOCOL, |client| {
        half_closed(client);
        continuation(client);
    }),
    row("http2/5.1/8", "5.1", Want::Reset(1, STREAM_CLOSED), |client| {
        reset(client);
        client.data(1, b"test", true);
    }),
    row("http2/5.1/9", "5.1", Want::Reset(1, STREAM_CLOSED), |client| {
        reset(client);
        client.headers(1, &get(), true);
    })
    .instead(PROTOCOL, "h2 ends the whole connection of a peer that does this, which section 5.4.1 allows"),
    row("http2/5.1/10", "5.1", PROTOCOL, |client| {
        reset(client);
        continuation(client);
    }),
    row("http2/5.1/11", "5.1", Want::Reset(1, STREAM_CLOSED), |client| {
        closed(client);
        client.data(1, b"test", true);
    }),
    row("http2/5.1/12", "5.1", Want::Goaway(STREAM_CLOSED), |client| {
        closed(client);
        client.headers(1, &get(), true);
    })
    .instead(PROTOCOL, ONE_CODE),
    row("http2/5.1/13", "5.1", PROTOCOL, |client| {
        closed(client);
        continuation(client);
    }),
    row("http2/5.1.1/1", "5.1.1", PROTOCOL, |client| client.headers(2, &get(), true)),
    row("http2/5.1.1/2", "5.1.1", PROTOCOL, |client| {
        client.headers(5, &get(), true);
        client.headers(3, &get(), true);
    }),
    row("http2/5.1.2/1", "5.1.2", Want::Reset(513, REFUSED_STREAM), |client| {
        for at in 0..=256 {
            client.headers(2 * at + 1, &post(), false);
        }
        if let Ok(frame) = client.first(|frame| frame.kind == RST_STREAM) {
            client.unread(frame);
        }
        for at in 0..256 {
            client.frame(RST_STREAM, 0, 2 * at + 1, &CANCEL.to_be_bytes());
        }
    }),
    row("http2/5.3.1/1", "5.3.1", Want::Answer(1), |client| {
        let on_itself = [&[0, 0, 0, 1, 255][..], &block(&get())].concat();
        client.frame(HEADERS, END_STREAM | END_HEADERS | WITH_PRIORITY, 1, &on_itself);
    })
    .instead(
        Want::Reset(1, PROTOCOL_ERROR),
        "RFC 9113 has no dependencies; h2 still refuses as RFC 7540 did",
    ),
    row("http2/5.3.1/2", "5.3.1", Want::Answer(1), |client| {
        client.headers(1, &post(), false);
        client.frame(PRIORITY, 0, 1, &[0, 0, 0, 1, 255]);
        client.data(1, PING.as_bytes(), true);
    })
    .instead(
        Want::Reset(1, PROTOCOL_ERROR),
        "RFC 9113 has no dependencies; h2 still refuses as RFC 7540 did",
    ),
    row("http2/5.4.1/1", "5.4.1", Want::Closed, |client| client.frame(PINGS, 0, 3, &[0; 8])),
    row("http2/5.4.1/2", "5.4.1", PROTOCOL, |client| client.frame(PINGS, 0, 3, &[0; 8])),
    row("http2/5.5/1", "5.5", Want::Pong, |client| client.frame(22, 0, 0, &[0; 8])),
    row("http2/5.5/2", "5.5", PROTOCOL, |client| {
        half(client);
        client.frame(22, 0, 0, &[0; 8]);
    }),
];

#[test]
fn rows() {
    check(ROWS);
}
