//! Cases that h2spec does not have: faults of length and padding, odd settings, odd requests that are allowed.

use crate::frames::{Frames, Outcome, block};
use crate::support::Server;

use super::table::{Row, Want, check, row};
use super::*;

const PROTOCOL: Want = Want::Goaway(PROTOCOL_ERROR);
const SIZE: Want = Want::Goaway(FRAME_SIZE_ERROR);
const RESET: Want = Want::Reset(1, PROTOCOL_ERROR);
const ONE_CODE: &str = "h2 has one code for it; the connection ends all the same";

/// A setting, then a request.
fn set(client: &mut Frames, id: u16, value: u32) {
    client.frame(SETTINGS, 0, 0, &[&id.to_be_bytes()[..], &value.to_be_bytes()].concat());
    client.headers(1, &get(), true);
}

fn open(client: &mut Frames) {
    client.headers(1, &post(), false);
}

fn ping_with(client: &mut Frames, fields: &[(&'static str, &'static str)]) {
    client.headers(1, &[&post()[..], fields].concat(), false);
    client.data(1, PING.as_bytes(), true);
}

fn request(client: &mut Frames, fields: &[(&str, &str)]) {
    client.headers(1, fields, true);
}

const ROWS: &[Row] = &[
    row("data with a padding it has no room for", "6.1", PROTOCOL, |client| {
        open(client);
        client.frame(DATA, PADDED, 1, &[]);
    }),
    row("data that is padding to the last byte", "6.1", Want::Answer(1), |client| {
        open(client);
        client.frame(DATA, PADDED, 1, &[2, 0, 0]);
        client.data(1, PING.as_bytes(), true);
    }),
    row("padding that is not zero", "6.1", Want::Answer(1), |client| {
        open(client);
        client.frame(DATA, PADDED | END_STREAM, 1, &[&[3][..], PING.as_bytes(), &[1, 2, 3]].concat());
    }),
    row("a head with a padding it has no room for", "6.2", PROTOCOL, |client| {
        client.frame(HEADERS, PADDED | END_HEADERS, 1, &[]);
    }),
    row("a head with half a priority", "6.2", SIZE, |client| {
        client.frame(HEADERS, WITH_PRIORITY | END_HEADERS, 1, &[0, 0, 0]);
    })
    .instead(PROTOCOL, ONE_CODE),
    row("a reset of five bytes", "6.4", SIZE, |client| {
        open(client);
        client.frame(RST_STREAM, 0, 1, &[0; 5]);
    })
    .instead(PROTOCOL, ONE_CODE),
    row("a goodbye of seven bytes", "6.8", SIZE, |client| client.frame(GOAWAY, 0, 0, &[0; 7]))
        .instead(PROTOCOL, ONE_CODE),
    row("a window update of five bytes", "6.9", SIZE, |client| client.frame(WINDOW_UPDATE, 0, 0, &[1; 5]))
        .instead(PROTOCOL, ONE_CODE),
    row("a ping of nine bytes", "6.7", SIZE, |client| client.frame(PINGS, 0, 0, &[0; 9]))
        .instead(PROTOCOL, ONE_CODE),
    row("the largest frame that is not allowed", "4.2", SIZE, |client| client.write(&[0xff; 9])),
    row("no table for answers", "6.5.2", Want::Answer(1), |client| set(client, 1, 0)),
    row("a table beyond all bounds", "6.5.2", Want::Answer(1), |client| set(client, 1, u32::MAX)),
    row("push allowed", "6.5.2", Want::Answer(1), |client| set(client, 2, 1)),
    row("no streams from the server", "6.5.2", Want::Answer(1), |client| set(client, 3, 0)),
    row("the largest window", "6.5.2", Want::Answer(1), |client| set(client, 4, (1 << 31) - 1)),
    row("the largest frame", "6.5.2", Want::Answer(1), |client| set(client, 5, (1 << 24) - 1)),
    row("no fields wanted", "6.5.2", Want::Answer(1), |client| set(client, 6, 0)),
    row("windows that overflow by a setting", "6.9.2", Want::Goaway(FLOW_CONTROL_ERROR), |client| {
        open(client);
        client.frame(WINDOW_UPDATE, 0, 1, &((1_u32 << 31) - 1 - 65_535).to_be_bytes());
        client.frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]);
    }),
    row("an acknowledgement of no settings", "6.5.3", Want::Pong, |client| {
        (0..3).for_each(|_| client.frame(SETTINGS, 1, 0, &[]));
    })
    .instead(PROTOCOL, "h2 takes it for a fault, and no client acknowledges what it has not been sent"),
    row("reserved bits", "4.1", Want::Answer(1), |client| {
        client.frame(HEADERS, END_STREAM | END_HEADERS, 1 | 1 << 31, &block(&get()));
    }),
    row("flags that nobody knows", "4.1", Want::Answer(1), |client| {
        client.frame(HEADERS, END_STREAM | END_HEADERS | 0xd2, 1, &block(&get()));
    }),
    row("extensions that others have", "5.5", Want::Pong, |client| {
        for kind in [10, 12, 16] {
            client.frame(kind, 0, 0, &[0; 8]);
        }
    }),
    row("the last stream there is", "5.1.1", PROTOCOL, |client| {
        client.headers((1 << 31) - 1, &get(), true);
        assert!(matches!(client.outcome((1 << 31) - 1), Outcome::Answered(_)));
        client.headers(1, &get(), true);
    }),
    row("trailers are said to be welcome", "8.2.2", Want::Answer(1), |client| {
        ping_with(client, &[("te", "trailers")]);
    }),
    row("one length twice", "8.1.1", Want::Answer(1), |client| {
        ping_with(client, &[("content-length", "40"), ("content-length", "40")]);
    }),
    row("a cookie in crumbs", "8.2.3", Want::Answer(1), |client| {
        ping_with(client, &[("cookie", "a=b"), ("cookie", "c=d")]);
    }),
    row("a question about the server", "8.3.1", Want::Answer(1), |client| {
        let star = [(":method", "OPTIONS"), (":scheme", "http"), (":path", "*"), (":authority", "localhost")];
        request(client, &star);
    }),
    row("a tunnel", "8.5", Want::Answer(1), |client| {
        request(client, &[(":method", "CONNECT"), (":authority", "localhost:80")]);
    }),
    row("a tunnel with a path", "8.5", RESET, |client| {
        let mut fields = get();
        fields[0].1 = "CONNECT";
        request(client, &fields);
    }),
    row("a tunnel for a protocol", "8.3.1", RESET, |client| {
        let mut fields = get();
        fields[0].1 = "CONNECT";
        fields.insert(1, (":protocol", "websocket"));
        request(client, &fields);
    }),
    row("requests behind a goodbye", "6.8", Want::Goaway(NO_ERROR), |client| {
        client.frame(GOAWAY, 0, 0, &[0; 8]);
        client.headers(1, &get(), true);
    }),
];

#[test]
fn rows() {
    check(ROWS);
}

/// More than the window is either more than the server has had time to take, or it is taken.
#[test]
fn data_beyond_the_window() {
    let server = Server::start();
    let mut client = Frames::connect(server.address);
    open(&mut client);
    let mut bytes = Vec::new();
    for at in 0..20 {
        let ends = if at == 19 { END_STREAM } else { 0 };
        bytes.extend(crate::frames::Frame::new(DATA, ends, 1, &[b' '; 16_384]).bytes());
    }
    client.write(&bytes);
    let came = client.outcome(1);
    let flow = Some(FLOW_CONTROL_ERROR);
    assert!(
        matches!(&came, Outcome::Answered(_) | Outcome::Reset(FLOW_CONTROL_ERROR))
            || came == Outcome::Gone(flow),
        "{came:?}"
    );
    assert_eq!(server.send(&crate::support::Request::post(PING)).status, 200);
}
