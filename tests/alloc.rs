//! What a warm request allocates in the framework: nothing, but for a call, whose handler needs a future.
//!
//! A count above its budget fails with the places where it was allocated.

#![allow(unreachable_pub, reason = "nothing is exported from a test binary")]

#[path = "../benches/support/mod.rs"]
mod support;
#[path = "alloc/counting.rs"]
mod counting;
#[path = "alloc/watch.rs"]
mod watch;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use support::client::Client;
use support::requests::{self, Request};
use support::rig::Rig;
use twolane::base::clock::Clock;
use twolane::road::Road;
use watch::Watch;

/// Requests before counting begins: every buffer has its size then.
const WARM_UP: usize = 20;
/// Requests that are counted, each by itself.
const COUNTED: usize = 50;
/// Requests in one pipelined write: as many as one batch answers.
const PIPELINED: usize = 16;

/// What a call of `echo` allocates: the box of the handler's future, which is the framework's, and the text of its argument, which is
/// the tool's own and becomes the result as it is.
const CALL: usize = 2;

/// Kinds of request, and how many allocations each may take.
fn budgets(rig: &mut Rig) -> Vec<(Request, usize)> {
    let [ping, list, echo] = requests::on_session(rig);
    let session = rig.open_session();
    vec![
        (requests::ping(), 0),
        (ping, 0),
        (requests::bad_origin(), 0),
        (requests::wrong_content_type(), 0),
        (requests::list(), 0),
        (list, 0),
        (requests::discover(), 0),
        (requests::initialized(&session), 0),
        (requests::echo("echo_16", 16), CALL),
        (echo, CALL),
    ]
}

/// Before any socket: the road alone.
#[test]
fn the_road_keeps_to_its_budget() {
    keeps_to_its_budget(Rig::new(support::road()));
}

/// Limits for each peer take a place in a table that is there already.
#[test]
fn rates_of_peers_allocate_nothing() {
    let (mut settings, behind) = support::parts();
    (settings.limits.peer_rate, settings.limits.peer_burst) = (1_000_000, 1_000_000);
    let mut rig = Rig::new(Road::new(settings, Clock::system(), behind));
    rig.peer.address = Some(SocketAddr::from(([192, 0, 2, 1], 1)));
    keeps_to_its_budget(rig);
}

fn keeps_to_its_budget(mut rig: Rig) {
    for (request, budget) in budgets(&mut rig) {
        let mut loaded = rig.check(&request);
        let mut run = || assert_eq!(rig.run(&mut loaded).0.status, request.status);
        (0..WARM_UP).for_each(|_| run());
        for _ in 0..COUNTED {
            let before = counting::count();
            run();
            let counted = counting::count() - before;
            if counted > budget {
                let ((), places) = counting::traced(run);
                panic!("{}: {counted} allocations, the budget is {budget}:\n{places}", request.name);
            }
        }
    }
}

/// A server on this thread and a client on another, over a real socket.
#[test]
fn a_warm_connection_keeps_to_its_budget() {
    let mut rig = Rig::new(support::road());
    let kinds = budgets(&mut rig);
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
    let address = listener.local_addr().expect("an address");
    let watch = Arc::new(Watch::default());
    let connections = 2 * kinds.len();
    let client = std::thread::spawn({
        let watch = Arc::clone(&watch);
        move || {
            let mut over = Vec::new();
            for (request, budget) in &kinds {
                for pipelined in [1, PIPELINED] {
                    let client = Client::connect(address);
                    over.extend(count(client, request, pipelined, budget * pipelined, &watch));
                }
            }
            over
        }
    });
    watch::serve(rig.road, listener, connections, &watch);
    let over = client.join().expect("the client gets its answers");
    assert!(over.is_empty(), "{}", over.join("\n"));
}

/// Counts requests one by one, or in writes of several; says what was over the budget.
fn count(
    mut client: Client,
    request: &Request,
    at_once: usize,
    budget: usize,
    watch: &Watch,
) -> Option<String> {
    let bytes = request.bytes().repeat(at_once);
    let mut run = || {
        client.send(&bytes);
        let (status, body) = client.receive(at_once);
        request.check(status, body);
        watch.at_rest()
    };
    for _ in 0..WARM_UP {
        run();
    }
    for _ in 0..COUNTED {
        let before = watch.at_rest();
        let counted = run() - before;
        if counted > budget {
            let places = watch.traced(run);
            let name = request.name;
            return Some(format!(
                "{at_once} x {name}: {counted} allocations, the budget is {budget}:\n{places}"
            ));
        }
    }
    None
}
