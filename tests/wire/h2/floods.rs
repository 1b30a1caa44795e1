//! Attacks: each is a wave of frames on one connection, and what ends it. How many of them pass is the server's to bound.

use serde_json::json;

use crate::frames::{Frame, Frames, Outcome, block};
use crate::support::{Request, Server};

use super::coding::REQUEST;
use super::*;

/// Frames of a wave, more than the server lets pass of any kind.
const MANY: u32 = 1_200;

/// An attack.
pub struct Attack {
    pub name: &'static str,
    wave: fn(&mut Wave),
    /// The code that the connection ends with; one of several where it depends on what the server has read at once.
    codes: &'static [u32],
}

const CALM: &[u32] = &[ENHANCE_YOUR_CALM];
const FAULT: &[u32] = &[PROTOCOL_ERROR];
/// A second frame on a stream that was refused is a fault.
const EITHER: &[u32] = &[ENHANCE_YOUR_CALM, PROTOCOL_ERROR];
/// So are bodies beyond the connection's window, where the server has had no time to open it.
const OR_FLOW: &[u32] = &[ENHANCE_YOUR_CALM, FLOW_CONTROL_ERROR];

/// The bytes of one connection, and the next stream on it.
#[derive(Default)]
pub struct Wave {
    bytes: Vec<u8>,
    streams: u32,
}

impl Wave {
    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.bytes.extend(Frame::new(kind, flags, stream, payload).bytes());
    }

    /// Opens a stream.
    fn open(&mut self, fields: &Fields, ends: bool) -> u32 {
        self.open_with(&block(fields), if ends { END_STREAM } else { 0 })
    }

    fn open_with(&mut self, block: &[u8], flags: u8) -> u32 {
        let stream = 2 * self.streams + 1;
        self.streams += 1;
        self.frame(HEADERS, END_HEADERS | flags, stream, block);
        stream
    }

    fn many(&mut self, mut each: impl FnMut(&mut Self)) {
        for _ in 0..MANY {
            each(self);
        }
    }
}

const fn attack(name: &'static str, codes: &'static [u32], wave: fn(&mut Wave)) -> Attack {
    Attack { name, wave, codes }
}

fn with(name: &'static str, value: &'static str) -> Fields {
    let mut fields = post();
    fields.push((name, value));
    fields
}

pub const ATTACKS: &[Attack] = &[
    attack("rapid reset", CALM, |wave| {
        wave.many(|wave| {
            let stream = wave.open(&get(), true);
            wave.frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes());
        });
    }),
    attack("rapid reset of calls", OR_FLOW, |wave| {
        let body = arguments("gate", json!({}));
        wave.many(|wave| {
            let stream = wave.open(&call("gate"), false);
            wave.frame(DATA, END_STREAM, stream, &body);
            wave.frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes());
        });
    }),
    attack("resets of what is over", CALM, |wave| {
        let stream = wave.open(&get(), true);
        wave.many(|wave| wave.frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes()));
    }),
    attack("made you reset: a window too large", OR_FLOW, |wave| {
        let body = arguments("gate", json!({}));
        wave.many(|wave| {
            let stream = wave.open(&call("gate"), false);
            wave.frame(DATA, END_STREAM, stream, &body);
            wave.frame(WINDOW_UPDATE, 0, stream, &0x7fff_ffff_u32.to_be_bytes());
        });
    }),
    attack("made you reset: a window of nothing", FAULT, |wave| {
        let stream = wave.open(&post(), false);
        wave.many(|wave| wave.frame(WINDOW_UPDATE, 0, stream, &[0; 4]));
    }),
    attack("made you reset: more than the length", CALM, |wave| {
        wave.many(|wave| {
            let stream = wave.open(&with("content-length", "1"), false);
            wave.frame(DATA, 0, stream, b"{}");
        });
    }),
    attack("made you reset: no such length", CALM, |wave| {
        wave.many(|wave| {
            wave.open(&with("content-length", "x"), false);
        });
    }),
    attack("made you reset: data after the end", FAULT, |wave| {
        let body = arguments("gate", json!({}));
        wave.many(|wave| {
            let stream = wave.open(&call("gate"), false);
            wave.frame(DATA, END_STREAM, stream, &body);
            wave.frame(DATA, END_STREAM, stream, b"more");
        });
    }),
    attack("made you reset: a head after the end", FAULT, |wave| {
        let body = arguments("gate", json!({}));
        let stream = wave.open(&call("gate"), false);
        wave.frame(DATA, END_STREAM, stream, &body);
        wave.many(|wave| wave.frame(HEADERS, END_HEADERS | END_STREAM, stream, &block(&get())));
    }),
    attack("made you reset: it depends on itself", CALM, |wave| {
        wave.many(|wave| {
            let stream = wave.open(&post(), false);
            wave.frame(PRIORITY, 0, stream, &[&stream.to_be_bytes()[..], &[0]].concat());
        });
    }),
    attack("made you reset: a priority too short", FAULT, |wave| {
        let stream = wave.open(&post(), false);
        wave.many(|wave| wave.frame(PRIORITY, 0, stream, &[0; 4]));
    }),
    attack("made you reset: trailers that do not end", EITHER, |wave| {
        wave.many(|wave| {
            let stream = wave.open(&post(), false);
            wave.frame(HEADERS, END_HEADERS, stream, &block(&[("x-check", "ok")]));
        });
    }),
    attack("made you reset: no method", CALM, |wave| {
        wave.many(|wave| {
            wave.open(&post()[1..].to_vec(), false);
        });
    }),
    attack("made you reset: a connection field", CALM, |wave| {
        wave.many(|wave| {
            wave.open(&with("connection", "close"), false);
        });
    }),
    attack("data on streams that were reset", CALM, |wave| {
        wave.many(|wave| {
            let stream = wave.open(&post(), false);
            wave.frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes());
            wave.frame(DATA, 0, stream, b"x");
        });
    }),
    attack("more streams than allowed", CALM, |wave| {
        wave.many(|wave| {
            wave.open(&post(), false);
        });
    }),
    attack("continuations of a byte", CALM, |wave| {
        wave.frame(HEADERS, END_STREAM, 1, &block(&get()));
        wave.many(|wave| wave.frame(CONTINUATION, 0, 1, &[0x80 | 16]));
    }),
    attack("continuations of nothing", CALM, |wave| {
        wave.frame(HEADERS, END_STREAM, 1, &block(&get()));
        wave.many(|wave| wave.frame(CONTINUATION, 0, 1, &[]));
    }),
    attack("continuations of some length", CALM, |wave| {
        wave.frame(HEADERS, END_STREAM, 1, &block(&get()));
        let field = block(&[("x-pad", &"p".repeat(4_000))]);
        (0..40).for_each(|_| wave.frame(CONTINUATION, 0, 1, &field));
    }),
    attack("a header block that unfolds", CALM, |wave| {
        // One long field is remembered, then said again a byte a time: 16 MB of fields out of 4 KB.
        let long =
            [&[0x40][..], &block(&[("x-bomb", &"b".repeat(3_900))])[1..], &[0x80 | 62; 4_000]].concat();
        wave.many(|wave| {
            let stream = 2 * wave.streams + 1;
            wave.streams += 1;
            if wave.streams < 50 {
                wave.frame(HEADERS, END_STREAM | END_HEADERS, stream, &[REQUEST, &long].concat());
            }
        });
    }),
    attack("header lists too long", CALM, |wave| {
        // Between what is answered with 431 and what ends the connection at once.
        let long = [&[0x40][..], &block(&[("x-bomb", &"b".repeat(3_900))])[1..], &[0x80 | 62; 20]].concat();
        wave.open_with(&[REQUEST, &long].concat(), END_STREAM);
        let again = [REQUEST, &[0x80 | 62; 20]].concat();
        wave.many(|wave| {
            wave.open_with(&again, END_STREAM);
        });
    }),
    attack("settings", CALM, |wave| wave.many(|wave| wave.frame(SETTINGS, 0, 0, &[]))),
    attack("windows that change", CALM, |wave| {
        wave.open(&post(), false);
        let mut at = 0_u8;
        wave.many(|wave| {
            at = at.wrapping_add(1);
            wave.frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, at]);
        });
    }),
    attack("pings", CALM, |wave| wave.many(|wave| wave.frame(PINGS, 0, 0, &[0; 8]))),
    attack("answers to no ping", CALM, |wave| wave.many(|wave| wave.frame(PINGS, 1, 0, &[0; 8]))),
    attack("window updates", CALM, |wave| {
        wave.many(|wave| wave.frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]));
    }),
    attack("window updates of a stream", CALM, |wave| {
        let stream = wave.open(&post(), false);
        wave.many(|wave| wave.frame(WINDOW_UPDATE, 0, stream, &[0, 0, 0, 1]));
    }),
    attack("priorities", CALM, |wave| {
        wave.many(|wave| wave.frame(PRIORITY, 0, 2 * MANY + 1, &[0, 0, 0, 0, 1]));
    }),
    attack("empty data", CALM, |wave| {
        let stream = wave.open(&post(), false);
        wave.many(|wave| wave.frame(DATA, 0, stream, &[]));
    }),
    attack("nothing but padding", CALM, |wave| {
        let stream = wave.open(&post(), false);
        wave.many(|wave| wave.frame(DATA, PADDED, stream, &[9, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    }),
    attack("frames that nobody knows", CALM, |wave| {
        wave.many(|wave| wave.frame(0x77, 0, 0, &[0; 3]));
    }),
];

/// Sends a wave, and reads to the end of the connection.
pub fn strike(server: &Server, attack: &Attack) -> Outcome {
    let mut client = Frames::connect(server.address);
    let mut wave = Wave::default();
    (attack.wave)(&mut wave);
    client.write(&wave.bytes);
    client.outcome(u32::MAX >> 1)
}

impl Attack {
    /// Whether that is the end that it must come to.
    pub fn meets(&self, outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Gone(Some(code)) if self.codes.contains(code))
    }
}

#[test]
fn every_attack_ends_its_connection_with_a_reason() {
    let server = Server::start();
    let faults: Vec<String> = ATTACKS
        .iter()
        .map(|attack| (attack, strike(&server, attack)))
        .filter(|(attack, outcome)| !attack.meets(outcome))
        .map(|(attack, outcome)| format!("{}: {outcome:?}", attack.name))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
    assert_eq!(server.send(&Request::post(PING)).status, 200);
    // What the attacks have called has been given up, but for what had no time to begin.
    let fates = server.tools.gate.await_fates(|fates| fates.dropped == fates.begun);
    assert_eq!(fates.ended, 0);
}

/// A table that changes with every field costs what its bytes cost, and is served.
#[test]
fn table_churn_is_served() {
    let server = Server::start();
    let mut client = Frames::connect(server.address);
    for at in 0..50_u32 {
        let fields: Vec<u8> = (0..80)
            .flat_map(|field| {
                let name = format!("x-{at}-{field}");
                let mut literal = block(&[(&name, "value of some length that goes into the table")]);
                literal[0] = 0x40;
                literal
            })
            .collect();
        client.frame(
            HEADERS,
            END_STREAM | END_HEADERS,
            2 * at + 1,
            &[&[0x20, 0x3f, 0xe1, 0x1f], REQUEST, &fields].concat(),
        );
        assert!(matches!(client.outcome(2 * at + 1), Outcome::Answered(_)), "{at}");
    }
}

/// A body a byte a frame is slow, and no more than that.
#[test]
fn small_data_is_served() {
    let server = Server::start();
    let mut client = Frames::connect(server.address);
    client.headers(1, &post(), false);
    let body = format!("{PING:4000}");
    for piece in body.as_bytes().chunks(500) {
        let frames: Vec<u8> =
            piece.iter().flat_map(|byte| Frame::new(DATA, 0, 1, &[*byte]).bytes()).collect();
        client.write(&frames);
        // The server has taken them.
        client.frame(PINGS, 0, 0, &[0; 8]);
        assert!(client.first(|frame| frame.kind == PINGS).is_ok());
    }
    client.data(1, b"", true);
    let answered = client.outcome(1);
    assert!(
        matches!(&answered, Outcome::Answered(body) if body.ends_with(b"\"result\":{}}")),
        "{answered:?}"
    );
}
