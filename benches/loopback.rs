//! HTTP/1.1 over a real socket: one connection, its requests one by one, and sixteen in a write. The server has a thread of its own.

mod support;

use std::net::SocketAddr;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use support::client::Client;
use support::requests;
use support::rig::Rig;
use twolane::conn::Service;
use twolane::conn::stop::Stop;
use twolane::road::{Peer, Road};

/// As many as one batch answers.
const PIPELINED: usize = 16;

fn serve(road: Road) -> SocketAddr {
    let listener = std::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
    let address = listener.local_addr().expect("an address");
    let service = Arc::new(Service::new(road, None, Stop::new()));
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            listener.set_nonblocking(true).expect("a socket option");
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            loop {
                let (stream, _) = listener.accept().await.expect("a client");
                stream.set_nodelay(true).expect("a TCP option");
                tokio::spawn(twolane::conn::serve(Arc::clone(&service), stream, Peer::default(), ()));
            }
        });
    });
    address
}

fn sockets(criterion: &mut Criterion) {
    let mut group = support::measure::group(criterion, "loopback");
    let mut rig = Rig::new(support::road());
    let [_, _, legacy_echo] = requests::on_session(&mut rig);
    let address = serve(rig.road);
    let kinds = [
        requests::ping(),
        requests::list(),
        requests::echo("echo_16", 16),
        requests::echo("echo_64k", 64 * 1024),
        legacy_echo,
    ];
    for request in &kinds {
        for pipelined in [1, PIPELINED] {
            if pipelined * request.body.len() > 64 * 1024 + 1024 {
                continue;
            }
            let mut client = Client::connect(address);
            let bytes = request.bytes().repeat(pipelined);
            client.send(&bytes);
            let (status, body) = client.receive(pipelined);
            request.check(status, body);
            group.throughput(Throughput::Elements(pipelined as u64));
            group.bench_function(format!("{}/{pipelined}", request.name), |bencher| {
                bencher.iter(|| {
                    client.send(&bytes);
                    client.receive(pipelined).0
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, sockets);
criterion_main!(benches);
