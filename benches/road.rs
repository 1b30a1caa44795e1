//! The whole road in memory, from a request's bytes to its answer's body, by kind of request.

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use support::requests;
use support::rig::Rig;

fn kinds(criterion: &mut Criterion) {
    let mut group = support::measure::group(criterion, "road");
    let mut rig = Rig::new(support::road());
    let on_session = requests::on_session(&mut rig);
    let stateless = [
        requests::ping(),
        requests::bad_origin(),
        requests::wrong_content_type(),
        requests::list(),
        requests::discover(),
        requests::echo("echo_16", 16),
        requests::echo("echo_64k", 64 * 1024),
    ];
    for request in stateless.iter().chain(&on_session) {
        let mut loaded = rig.check(request);
        group.bench_function(request.name, |bencher| bencher.iter(|| rig.run(&mut loaded).0.status));
    }
    group.finish();
}

criterion_group!(benches, kinds);
criterion_main!(benches);
