//! Reading request heads: HTTP/1.1 bytes into an index, and what a road asks of it.

mod support;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use support::requests;
use twolane::base::limits::Limits;
use twolane::tables::headers::Known;
use twolane::view::head::{Cardinality, HeadBuilder, HeadParser, RequestHead};

fn heads(criterion: &mut Criterion) {
    let mut group = support::measure::group(criterion, "head");
    let limits = Limits::default();
    let request = requests::echo("echo", 16);
    let bytes = request.bytes();
    let index = HeadParser::new().parse(&bytes, &limits).expect("a head").expect("a whole one");
    let head = RequestHead::new(&bytes, &index);
    assert_eq!(index.len(), request.head.len());
    assert_eq!(head.header(Known::Name), Cardinality::One(b"echo"));

    group.bench_function("modern", |bencher| {
        bencher.iter(|| HeadParser::new().parse(black_box(&bytes), &limits));
    });
    group.bench_function("modern_in_two_reads", |bencher| {
        let half = &bytes[..request.head.len() / 2];
        bencher.iter(|| {
            let mut parser = HeadParser::new();
            assert!(parser.parse(black_box(half), &limits).is_ok_and(|index| index.is_none()));
            parser.parse(black_box(&bytes), &limits)
        });
    });
    group.bench_function("read_six_headers", |bencher| {
        let known = [
            Known::Origin,
            Known::Host,
            Known::ContentType,
            Known::Accept,
            Known::ProtocolVersion,
            Known::Method,
        ];
        bencher.iter(|| known.map(|known| black_box(head).header(known)));
    });
    group.bench_function("http2", |bencher| {
        let lines: Vec<(Vec<u8>, &[u8])> =
            head.lines().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
        let mut scratch = Vec::new();
        bencher.iter(|| {
            let mut builder =
                HeadBuilder::new(&mut scratch).method(b"POST").target(b"/mcp", Some(b"localhost:8080"));
            for (name, value) in black_box(&lines) {
                builder.field(name, value);
            }
            builder.finish()
        });
    });
    group.finish();
}

criterion_group!(benches, heads);
criterion_main!(benches);
