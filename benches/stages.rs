//! Every stage of the road by itself, on a modern call of 16 bytes; `session` on a legacy one.

mod support;

use std::hint::black_box;
use std::task::{Context, Waker};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use support::requests::{self, Request};
use support::rig::Rig;
use twolane::base::clock::Clock;
use twolane::reply::Exchange;
use twolane::road::Peer;
use twolane::road::classify::{self, Message};
use twolane::road::dispatch::{self, Dispatched};
use twolane::road::pace::Toll;
use twolane::road::settings::Settings;
use twolane::road::singleton::Singletons;
use twolane::road::{auth, era, header_binding, limit, origin, parse, protocol_fields, session, validate};
use twolane::tables::methods::Method;
use twolane::tables::routes::Verb;
use twolane::tables::versions::{Era, Revision};
use twolane::tools::{Behind, CallSlot};
use twolane::view::head::{HeadIndex, HeadParser, RequestHead};
use twolane::view::message::{Document, JsonScratch, PADDING};

type Group<'c> = BenchmarkGroup<'c, WallTime>;

fn index(request: &Request, settings: &Settings) -> HeadIndex {
    HeadParser::new().parse(&request.head, &settings.limits).expect("a head").expect("a whole one")
}

fn wire_checks<'h>(settings: &Settings, head: &RequestHead<'h>) -> Singletons<'h> {
    let passed = origin::check(settings, head, &Peer::default(), &mut Exchange::new(false)).expect("passes");
    let authed = auth::check(settings, head, passed).expect("passes");
    let admitted = limit::check(settings, Verb::Post, None, Toll::NONE, authed).expect("passes");
    singleton_check(head, admitted)
}

fn singleton_check<'h>(head: &RequestHead<'h>, admitted: limit::Admitted) -> Singletons<'h> {
    twolane::road::singleton::check(head, admitted).expect("passes")
}

fn by_head(group: &mut Group<'_>, settings: &Settings, head: RequestHead<'_>, length: u64) {
    let mut exchange = Exchange::new(false);
    let mut admitted = |head: &RequestHead<'_>| {
        exchange.begin();
        let passed = origin::check(settings, head, &Peer::default(), &mut exchange).expect("passes");
        let authed = auth::check(settings, head, passed).expect("passes");
        limit::check(settings, Verb::Post, None, Toll::NONE, authed).expect("passes")
    };
    // Proofs are consumed, so a check is measured together with those that its proof needs.
    group.bench_function("origin_auth_limit", |bencher| bencher.iter(|| admitted(black_box(&head))));
    group.bench_function("origin_auth_limit_singleton", |bencher| {
        bencher.iter(|| singleton_check(black_box(&head), admitted(&head)));
    });
    group.bench_function("parse_head", |bencher| {
        bencher.iter(|| parse::head(settings, black_box(&head), Some(length)).expect("passes"));
    });
}

fn by_body(
    group: &mut Group<'_>,
    settings: &Settings,
    behind: &Behind,
    head: RequestHead<'_>,
    document: Document<'_, '_>,
) {
    let singletons = wire_checks(settings, &head);
    let classify = || classify::step(black_box(document.envelope()), document.spellings()).expect("passes");
    let message = classify();
    let Message::Request { id, method, envelope } = message else { panic!("a request") };
    group.bench_function("classify", |bencher| bencher.iter(classify));
    assert_eq!(era::choose(settings, &message, &singletons), Era::Modern);
    group.bench_function("era", |bencher| {
        bencher.iter(|| era::choose(settings, black_box(&message), &singletons))
    });
    let fields =
        || protocol_fields::check(settings, method, black_box(&envelope.args), &singletons).expect("passes");
    group.bench_function("protocol_fields", |bencher| bencher.iter(fields));
    let fields = fields();
    group.bench_function("header_binding", |bencher| {
        bencher.iter(|| {
            let tools = behind.registry().snapshot();
            header_binding::check(black_box(&head), method, &envelope.args, &fields, &tools).expect("passes")
        });
    });
    group.bench_function("validate", |bencher| {
        bencher.iter(|| validate::check(black_box(&message)).expect("passes"));
    });
    let validated = validate::check(&message).expect("passes");
    let (mut slot, mut exchange, clock) = (CallSlot::default(), Exchange::new(false), Clock::system());
    group.bench_function("dispatch", |bencher| {
        bencher.iter(|| {
            exchange.begin();
            let dispatched = Dispatched {
                id,
                method,
                envelope,
                revision: Revision::NEWEST_MODERN,
                session: None,
                principal: None,
                may_stream: true,
                clock: &clock,
                size: 0,
            };
            let mut cx = Context::from_waker(Waker::noop());
            dispatch::request(behind, &validated, dispatched, &mut slot, &mut exchange, &mut cx)
                .expect("passes")
        });
    });
}

fn stages(criterion: &mut Criterion) {
    let mut group = support::measure::group(criterion, "stages");
    let (settings, behind) = support::parts();
    let request = requests::echo("echo", 16);
    let head = index(&request, &settings);
    let head = RequestHead::new(&request.head, &head);
    by_head(&mut group, &settings, head, request.body.len() as u64);
    let mut buf = [&request.body[..], &[0; PADDING]].concat();
    JsonScratch::new(128).parse(&mut buf, request.body.len(), |document| {
        by_body(&mut group, &settings, &behind, head, document.expect("JSON"));
    });

    let opened =
        behind.sessions().open(Revision::V2025_11_25, None, Default::default(), 0).expect("a session");
    let [_, _, call] = requests::on(std::str::from_utf8(opened.id.text()).expect("ASCII"));
    let head = index(&call, &settings);
    let head = RequestHead::new(&call.head, &head);
    let singletons = wire_checks(&settings, &head);
    let needs = session::Needs::Request(Some(Method::ToolsCall));
    group.bench_function("session", |bencher| {
        bencher.iter(|| {
            session::resolve(&settings, behind.sessions(), black_box(&singletons), needs, 0).expect("passes")
        });
    });
    group.finish();
    // The stages above make up this road.
    Rig::new(support::road()).check(&request);
}

criterion_group!(benches, stages);
criterion_main!(benches);
