//! The whole road in memory, from a request's bytes to its answer's body, by kind of request.

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use support::requests;
use support::rig::Rig;

fn kinds(criterion: &mut Criterion) {
    let mut group = support::measure::group(criterion, "road");
    let mut rig = Rig::new(support::road());
    let on_session = requests::on_session(&mut rig);
    for request in requests::stateless().iter().chain(&on_session) {
        let mut loaded = rig.check(request);
        group.bench_function(request.name, |bencher| bencher.iter(|| rig.run(&mut loaded).0.status));
    }
    group.finish();
}

criterion_group!(benches, kinds);
criterion_main!(benches);
