//! Requests with a fault: sections 7 and 8.

use crate::frames::Frames;

use super::table::{Row, Want, check, row};
use super::*;

const RESET: Want = Want::Reset(1, PROTOCOL_ERROR);

const WHILE_DECODING: &str =
    "h2 finds it while it decodes and ends the connection, which section 5.4.1 allows";

/// A request with one more field.
fn with(client: &mut Frames, name: &'static str, value: &'static str) {
    let mut fields = post();
    fields.push((name, value));
    send(client, &fields);
}

/// A request with one more field at the front.
fn led_by(client: &mut Frames, name: &'static str, value: &'static str) {
    let mut fields = post();
    fields.insert(0, (name, value));
    send(client, &fields);
}

fn without(client: &mut Frames, name: &str) {
    let mut fields = post();
    fields.retain(|(other, _)| *other != name);
    send(client, &fields);
}

fn send(client: &mut Frames, fields: &Fields) {
    client.headers(1, fields, false);
    client.data(1, PING.as_bytes(), true);
}

pub const ROWS: &[Row] = &[
    row("http2/7/1", "7", Want::Goaway(NO_ERROR), |client| {
        client.frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 0xff]);
    }),
    row("http2/7/2", "7", Want::Pong, |client| {
        client.headers(1, &post(), false);
        client.frame(RST_STREAM, 0, 1, &[0, 0, 0, 0xff]);
    }),
    row("http2/8.1/1", "8.1", RESET, |client| {
        client.headers(1, &post(), false);
        client.headers(1, &[("x-check", "ok")], false);
    }),
    row("http2/8.1.2/1", "8.2.1", RESET, |client| with(client, "X-TEST", "ok"))
        .instead(Want::Goaway(PROTOCOL_ERROR), WHILE_DECODING),
    row("http2/8.1.2.1/1", "8.3", RESET, |client| led_by(client, ":test", "ok"))
        .instead(Want::Goaway(PROTOCOL_ERROR), WHILE_DECODING),
    row("http2/8.1.2.1/2", "8.3", RESET, |client| led_by(client, ":status", "200")),
    row("http2/8.1.2.1/3", "8.1", RESET, |client| {
        client.headers(1, &call("gate"), false);
        client.headers(1, &[(":method", "POST")], true);
    })
    .instead(Want::Answer(1), "h2 drops them from trailers, and nothing here reads trailers at all"),
    row("http2/8.1.2.1/4", "8.3", RESET, |client| with(client, ":method", "POST")),
    row("http2/8.1.2.2/1", "8.2.2", RESET, |client| with(client, "connection", "keep-alive")),
    row("http2/8.1.2.2/2", "8.2.2", RESET, |client| with(client, "te", "trailers, deflate")),
    row("http2/8.1.2.3/1", "8.3.1", RESET, |client| {
        let mut fields = post();
        fields[2].1 = "";
        send(client, &fields);
    }),
    row("http2/8.1.2.3/2", "8.3.1", RESET, |client| without(client, ":method")),
    row("http2/8.1.2.3/3", "8.3.1", RESET, |client| without(client, ":scheme")),
    row("http2/8.1.2.3/4", "8.3.1", RESET, |client| without(client, ":path")),
    row("http2/8.1.2.3/5", "8.3.1", RESET, |client| led_by(client, ":method", "POST")),
    row("http2/8.1.2.3/6", "8.3.1", RESET, |client| led_by(client, ":scheme", "http")),
    row("http2/8.1.2.3/7", "8.3.1", RESET, |client| led_by(client, ":path", "/mcp")),
    row("http2/8.1.2.6/1", "8.1.1", RESET, |client| {
        let mut fields = post();
        fields.push(("content-length", "1"));
        client.headers(1, &fields, false);
        client.data(1, b"test", true);
    }),
    row("http2/8.1.2.6/2", "8.1.1", RESET, |client| {
        let mut fields = post();
        fields.push(("content-length", "10"));
        client.headers(1, &fields, false);
        client.data(1, b"test", false);
        client.data(1, b"test", true);
    }),
    row("http2/8.2/1", "8.4", Want::Goaway(PROTOCOL_ERROR), |client| {
        client.headers(1, &post(), false);
        client.frame(
            PUSH_PROMISE,
            END_HEADERS,
            1,
            &[&[0, 0, 0, 3][..], &crate::frames::block(&get())].concat(),
        );
    }),
];

#[test]
fn rows() {
    check(ROWS);
}
