//! Reading bodies: JSON into a tape, the envelope out of it, arguments into a type. serde_json's value for comparison.

mod support;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use serde::Deserialize;
use support::requests;
use twolane::view::de::from_value;
use twolane::view::message::{Envelope, JsonScratch, PADDING};

#[derive(Deserialize)]
struct Echo {
    message: String,
}

/// A call of 158 bytes.
fn call() -> Vec<u8> {
    let head =
        br#"{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"name":"echo","arguments":{"message":""#;
    let tail = br#""}}}"#;
    [&head[..], &vec![b'x'; 158 - head.len() - tail.len()], tail].concat()
}

fn bodies(criterion: &mut Criterion) {
    let mut group = support::measure::group(criterion, "message");
    let call = call();
    assert_eq!(call.len(), 158);
    let modern = requests::echo("echo", 16).body;
    let large = requests::echo("echo", 64 * 1024).body;
    for (name, body) in [("call_158", &call), ("modern", &modern), ("echo_64k", &large)] {
        let mut scratch = JsonScratch::new(128);
        let mut buf = [&body[..], &[0; PADDING]].concat();
        // Parsing overwrites the text; every read brings it anew.
        let mut parse = || {
            buf[..body.len()].copy_from_slice(body);
            scratch.parse(&mut buf, body.len(), |document| {
                let envelope = document.expect("JSON").envelope();
                envelope.args.name.and_then(|name| name.as_str()).is_some_and(|name| name == "echo")
            })
        };
        assert!(parse());
        group.bench_function(format!("{name}/tape_and_envelope"), |bencher| {
            bencher.iter(|| black_box(parse()))
        });
        group.bench_function(format!("{name}/serde_json_value"), |bencher| {
            bencher.iter(|| serde_json::from_slice::<serde_json::Value>(black_box(body)).expect("JSON"));
        });
    }
    let mut buf = [&modern[..], &[0; PADDING]].concat();
    JsonScratch::new(128).parse(&mut buf, modern.len(), |document| {
        let document = document.expect("JSON");
        group.bench_function("modern/envelope", |bencher| {
            bencher.iter(|| Envelope::read(black_box(document.root())).expect("an envelope"));
        });
        let arguments = document.envelope().args.arguments.expect("arguments");
        assert_eq!(from_value::<Echo>(arguments).expect("they fit").message.len(), 16);
        group.bench_function("modern/arguments", |bencher| {
            bencher.iter(|| from_value::<Echo>(black_box(arguments)).expect("they fit").message);
        });
    });
    group.finish();
}

criterion_group!(benches, bodies);
criterion_main!(benches);
