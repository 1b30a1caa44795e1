//! Header blocks (RFC 7541): every form that a peer may choose, and those that it may not.

use crate::frames::Frames;

use super::table::{Row, Want, check, row};
use super::*;

const BROKEN: Want = Want::Goaway(COMPRESSION_ERROR);
const ENDED: Want = Want::Goaway(PROTOCOL_ERROR);
const ONE_CODE: &str = "h2 has one code for it; the connection ends all the same";

/// `:method: GET`, `:scheme: http`, and `:path` and `:authority` with names from the static table.
pub const REQUEST: &[u8] = b"\x82\x86\x04\x04/mcp\x01\x09localhost";

/// `user-agent` in the static table, and texts in the Huffman code.
const USER_AGENT: u8 = 58;
const NO_CACHE: &[u8] = b"\x86\xa8\xeb\x10\x64\x9c\xbf";
const CUSTOM_KEY: &[u8] = b"\x88\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f";
const CUSTOM_VALUE: &[u8] = b"\x89\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf";

fn after(client: &mut Frames, parts: &[&[u8]]) {
    let block = [REQUEST, &parts.concat()].concat();
    client.frame(HEADERS, END_STREAM | END_HEADERS, 1, &block);
}

fn before(client: &mut Frames, parts: &[&[u8]]) {
    let block = [&parts.concat(), REQUEST].concat();
    client.frame(HEADERS, END_STREAM | END_HEADERS, 1, &block);
}

const NEW_NAME: &[u8] = b"\x06x-test\x02ok";

pub const ROWS: &[Row] = &[
    row("generic/5/1", "6.1", Want::Answer(1), |client| after(client, &[&[0x80 | 16]])),
    row("generic/5/2", "6.2.1", Want::Answer(1), |client| after(client, &[&[0x40 | USER_AGENT], b"\x02ok"])),
    row("generic/5/3", "6.2.1", Want::Answer(1), |client| after(client, &[&[0x40 | USER_AGENT], NO_CACHE])),
    row("generic/5/4", "6.2.1", Want::Answer(1), |client| after(client, &[&[0x40], NEW_NAME])),
    row("generic/5/5", "6.2.1", Want::Answer(1), |client| {
        after(client, &[&[0x40], CUSTOM_KEY, CUSTOM_VALUE])
    }),
    row("generic/5/6", "6.2.2", Want::Answer(1), |client| {
        after(client, &[&[0x0f, USER_AGENT - 15], b"\x02ok"]);
    }),
    row("generic/5/7", "6.2.2", Want::Answer(1), |client| {
        after(client, &[&[0x0f, USER_AGENT - 15], NO_CACHE]);
    }),
    row("generic/5/8", "6.2.2", Want::Answer(1), |client| after(client, &[&[0], NEW_NAME])),
    row("generic/5/9", "6.2.2", Want::Answer(1), |client| after(client, &[&[0], CUSTOM_KEY, CUSTOM_VALUE])),
    row("generic/5/10", "6.2.3", Want::Answer(1), |client| {
        after(client, &[&[0x1f, USER_AGENT - 15], b"\x02ok"]);
    }),
    row("generic/5/11", "6.2.3", Want::Answer(1), |client| {
        after(client, &[&[0x1f, USER_AGENT - 15], NO_CACHE]);
    }),
    row("generic/5/12", "6.2.3", Want::Answer(1), |client| after(client, &[&[0x10], NEW_NAME])),
    row("generic/5/13", "6.2.3", Want::Answer(1), |client| {
        after(client, &[&[0x10], CUSTOM_KEY, CUSTOM_VALUE])
    }),
    row("generic/5/14", "6.3", Want::Answer(1), |client| before(client, &[&[0x21]])),
    row("generic/5/15", "6.3", Want::Answer(1), |client| before(client, &[&[0x20, 0x3f, 0xe1, 0x1f]])),
    row("hpack/2.3.3/1", "2.3.3", BROKEN, |client| after(client, &[&[0x80 | 70]])).instead(ENDED, ONE_CODE),
    row("hpack/2.3.3/2", "2.3.3", BROKEN, |client| after(client, &[&[0x40 | 62, 0x07], b"\x02ok"]))
        .instead(ENDED, ONE_CODE),
    row("hpack/4.2/1", "4.2", BROKEN, |client| after(client, &[&[0x21]])).instead(ENDED, ONE_CODE),
    row("hpack/5.2/1", "5.2", BROKEN, |client| {
        after(client, &[&[0], CUSTOM_KEY, b"\x8a\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf\xff"]);
    })
    .instead(ENDED, ONE_CODE),
    row("hpack/5.2/2", "5.2", BROKEN, |client| {
        after(client, &[&[0], CUSTOM_KEY, b"\x89\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xa0"]);
    })
    .instead(Want::Answer(1), "h2 takes what stands before the padding; it is the same text either way"),
    row("hpack/5.2/3", "5.2", BROKEN, |client| {
        after(client, &[&[0], CUSTOM_KEY, b"\x84\xff\xff\xff\xff"]);
    })
    .instead(ENDED, ONE_CODE),
    row("hpack/6.1/1", "6.1", BROKEN, |client| after(client, &[&[0x80]])).instead(ENDED, ONE_CODE),
    row("hpack/6.3/1", "6.3", BROKEN, |client| before(client, &[&[0x3f, 0xe2, 0x1f]]))
        .instead(ENDED, ONE_CODE),
];

#[test]
fn rows() {
    check(ROWS);
}
