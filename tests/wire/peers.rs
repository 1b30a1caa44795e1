//! Limits for each peer: connections and requests. Clients are told apart by the loopback address they come from.

use std::io::Read;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use twolane::tables::rejection::Rejection::{self, *};
use twolane::tables::routes::Verb;

use crate::limits::changed;
use crate::support::door::{Keys, Meter};
use crate::support::{Client, Http1, Protocol, Request, Response, Server};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const OLD: &str = "2025-03-26";

fn ping() -> Request {
    Request::post(PING)
}

/// A server that holds the loopback to its limits.
fn server(changes: &[(&str, u64)]) -> Server {
    Server::with(|builder| builder.limits(changed(changes)).limit_loopback(true))
}

/// A server with so many requests a second, so many at once, and tokens.
fn guarded(rate: u64, burst: u64, keys: &Keys) -> Server {
    Server::with(|builder| {
        builder
            .limits(changed(&[("peer_rate", rate), ("peer_burst", burst)]))
            .limit_loopback(true)
            .authenticator(keys.clone())
    })
}

/// A connection that is served.
#[track_caller]
fn served(server: &Server, peer: u8, protocol: Protocol) -> Client {
    let mut client = server.client_of(peer, protocol);
    assert_eq!(client.send(&ping()).status, 200);
    client
}

/// The server closes a new connection of this peer and says nothing.
#[track_caller]
fn assert_turned_away(server: &Server, peer: u8) {
    let client = Http1::connect_from(IpAddr::from([127, 0, 0, peer]), server.address);
    assert_shut(&client);
}

#[track_caller]
fn assert_shut(client: &Http1) {
    let mut rest = Vec::new();
    let read = client.socket().read_to_end(&mut rest);
    let open = matches!(&read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock);
    assert!(!open && rest.is_empty(), "{read:?} {:?}", rest.escape_ascii().to_string());
}

/// Connects until there is a place again.
#[track_caller]
fn comes_back(server: &Server, peer: u8) -> Http1 {
    let patience = Instant::now() + Duration::from_secs(20);
    loop {
        let mut client = Http1::connect_from(IpAddr::from([127, 0, 0, peer]), server.address);
        client.write_until_refused(&ping().bytes());
        if client.socket().peek(&mut [0]).is_ok_and(|bytes| bytes > 0) {
            assert_eq!(client.read("POST").status, 200);
            return client;
        }
        assert!(Instant::now() < patience, "no place comes back");
    }
}

#[test]
fn a_peer_has_so_many_connections() {
    let server = server(&[("peer_connections", 2)]);
    // Places come back a moment after their connections have gone: each protocol has peers of its own.
    for (protocol, peer, other) in [(Protocol::Http1, 2, 3), (Protocol::Http2, 4, 5)] {
        let mut one = served(&server, peer, protocol);
        let mut two = served(&server, peer, Protocol::Http1);
        let before = server.handle.connections_turned_away();
        for _ in 0..3 {
            assert_turned_away(&server, peer);
        }
        assert_eq!(server.handle.connections_turned_away(), before + 3);
        // Others have their own, and those that it has go on.
        let _others = [served(&server, other, protocol), served(&server, other, protocol)];
        assert_turned_away(&server, other);
        for client in [&mut one, &mut two] {
            assert_eq!(client.send(&ping()).status, 200);
        }
        drop(one);
        let one = comes_back(&server, peer);
        assert_turned_away(&server, peer);
        drop((one, two));
        let _all = [comes_back(&server, peer), comes_back(&server, peer)];
        assert_turned_away(&server, peer);
    }
}

/// A connection is a peer's from its first moment to its last, whether it has sent anything or not.
#[test]
fn silent_connections_count() {
    let server = server(&[("peer_connections", 2), ("head_timeout", 50)]);
    let silent = || Http1::connect_from(IpAddr::from([127, 0, 0, 2]), server.address);
    let mut two = [silent(), silent()];
    assert_turned_away(&server, 2);
    // Each has waited for a head in vain.
    for client in &mut two {
        assert_eq!(client.read_to_end(), b"");
    }
    comes_back(&server, 2);
}

/// When all places are taken a listener holds one newcomer. It is not one that has to go anyway, and nobody waits behind such a one.
#[test]
fn the_newcomers_place_is_for_those_who_may_stay() {
    let server = server(&[("connections", 3), ("peer_connections", 2)]);
    let full = [served(&server, 2, Protocol::Http1), served(&server, 2, Protocol::Http2)];
    let _other = served(&server, 3, Protocol::Http1);
    for _ in 0..50 {
        assert_turned_away(&server, 2);
    }
    let mut newcomer = Http1::connect_from(IpAddr::from([127, 0, 0, 3]), server.address);
    newcomer.write(&ping().bytes());
    // These come behind one that waits, and are seen when it has its place.
    let late: Vec<_> =
        (0..5).map(|_| Http1::connect_from(IpAddr::from([127, 0, 0, 3]), server.address)).collect();
    let [one, _two] = full;
    drop(one);
    assert_eq!(newcomer.read("POST").status, 200);
    late.iter().for_each(assert_shut);
    assert_eq!(server.handle.connections_turned_away(), 55);
}

/// However many are turned away: a line a second, and every one is in one of the lines.
#[test]
fn turning_away_is_told_once_a_second() {
    // Idle sessions are looked for at short intervals, and what nobody has come after is told then.
    let server = server(&[("peer_connections", 1), ("session_idle", 100)]);
    let _only = served(&server, 2, Protocol::Http1);
    let told = |server: &Server| -> Vec<u64> {
        let told = server.told.take();
        let warnings = told.iter().filter(|told| told.level == tracing::Level::WARN);
        warnings.map(|told| told.field("count").expect("how many").parse().unwrap()).collect()
    };
    for _ in 0..100 {
        assert_turned_away(&server, 2);
    }
    assert_eq!(told(&server), [1]);
    server.clock.advance_ms(999);
    assert_turned_away(&server, 2);
    assert_eq!(told(&server), [0_u64; 0]);
    server.clock.advance_ms(1);
    let mut late = Vec::new();
    let patience = Instant::now() + Duration::from_secs(20);
    while late.is_empty() && Instant::now() < patience {
        late = told(&server);
    }
    assert_eq!(late, [100]);
}

#[test]
fn the_loopback_is_exempt_by_default() {
    let limits = changed(&[("peer_connections", 1), ("peer_rate", 1), ("peer_burst", 1)]);
    let server = Server::with(|builder| builder.limits(limits));
    let mut clients: Vec<_> = (0..5).map(|_| served(&server, 2, Protocol::Http1)).collect();
    for client in &mut clients {
        assert_eq!(client.send(&ping()).status, 200);
    }
    assert_eq!(server.handle.connections_turned_away(), 0);
}

#[test]
fn zero_is_no_bound() {
    let server = server(&[("peer_connections", 0), ("peer_rate", 0), ("peer_burst", 1)]);
    let mut clients: Vec<_> = (0..20).map(|_| served(&server, 2, Protocol::Http1)).collect();
    for client in &mut clients {
        assert_eq!(client.send(&ping()).status, 200);
    }
}

/// Where this machine has IPv6.
#[test]
fn peers_with_ipv6() {
    let local = IpAddr::V6(Ipv6Addr::LOCALHOST);
    if TcpListener::bind(SocketAddr::new(local, 0)).is_err() {
        return;
    }
    let server = Server::with(|builder| {
        builder
            .listen([SocketAddr::new(local, 0)])
            .limits(changed(&[("peer_connections", 1), ("peer_rate", 1), ("peer_burst", 2)]))
            .limit_loopback(true)
    });
    let mut only = server.http1();
    for status in [200, 200, 429] {
        assert_eq!(only.send(&ping().set("Host", "[::1]")).status, status);
    }
    assert_shut(&server.http1());
}

/// What the peer is told who has to wait for so long.
#[track_caller]
fn assert_limited(response: &Response, verb: &str, wait_ms: u64) {
    let text = format!("Too many requests; retry after {wait_ms} ms");
    let body = match verb {
        "POST" => format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32600,"message":"{text}","data":{{"retryAfterMs":{wait_ms}}}}}}}"#
        ),
        _ => format!(r#"{{"error":"{text}"}}"#),
    };
    assert_eq!((response.status, response.text()), (429, body.as_str()), "{response}");
    let seconds = wait_ms.div_ceil(1_000).to_string();
    assert_eq!(response.header("retry-after"), Some(seconds.as_str()), "{response}");
}

#[test]
fn a_peer_has_so_many_requests() {
    let server = server(&[("peer_rate", 10), ("peer_burst", 3)]);
    let mut peer = 1;
    // Whatever a request is answered behind `limit`, it counts.
    for (request, status) in [(ping(), 200), (Request::get(), 405), (Request::delete(), 400)] {
        for protocol in Protocol::BOTH {
            peer += 1;
            let mut client = server.client_of(peer, protocol);
            for _ in 0..3 {
                assert_eq!(client.send(&request).status, status);
            }
            let before = server.met();
            assert_limited(&client.send(&request), &request.verb, 100);
            assert_eq!(server.met_since(&before), [RateLimited]);
            // Another connection of the same peer, and another peer. Being refused has put nothing off.
            assert_limited(&server.client_of(peer, protocol).send(&request), &request.verb, 100);
            served(&server, peer + 100, protocol);
            // The connection is open, and who has waited is served.
            server.clock.advance_ms(100);
            assert_eq!(client.send(&request).status, status, "{request:?}");
            assert_limited(&client.send(&request), &request.verb, 100);
        }
    }
}

/// A shed request: from whom, it is no matter what it asks for.
#[track_caller]
fn assert_shed(response: &Response, verb: &str, seconds: &str) {
    let text =
        "The server is overloaded: this peer is far beyond its rate (peer_rate, peer_burst); retry later";
    let body = match verb {
        "POST" => format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32600,"message":"{text}"}}}}"#),
        "HEAD" => String::new(),
        _ => format!(r#"{{"error":"{text}"}}"#),
    };
    assert_eq!((response.status, response.text()), (503, body.as_str()), "{response}");
    assert_eq!(response.header("retry-after"), Some(seconds), "{response}");
}

fn with_token(token: &str) -> Request {
    ping().header("Authorization", format!("Bearer {token}"))
}

/// Who guesses tokens gets no more tries than requests.
#[test]
fn guesses_cost_as_much_as_requests() {
    let keys = Keys::default();
    let server = guarded(2, 3, &keys);
    for (protocol, peer) in Protocol::BOTH.into_iter().zip([2, 3]) {
        let asked = keys.asked();
        let guess = || server.client_of(peer, protocol).send(&with_token("guess"));
        // What is refused by `auth` costs, so a good token comes too late.
        (0..3).for_each(|_| assert_eq!(guess().status, 401));
        assert_limited(&server.client_of(peer, protocol).send(&with_token("alice")), "POST", 500);
        // Up to twice the burst: then nothing is looked at any more.
        (0..2).for_each(|_| assert_eq!(guess().status, 401));
        let before = server.met();
        (0..20).for_each(|_| assert_shed(&guess(), "POST", "1"));
        assert_eq!(server.met_since(&before), vec![Overloaded; 20]);
        assert_eq!(keys.asked() - asked, 6);
        // From now on as many as the rate has it.
        for _ in 0..5 {
            server.clock.advance_ms(1_000);
            let statuses: Vec<_> = (0..4).map(|_| guess().status).collect();
            assert_eq!(statuses, [401, 401, 503, 503]);
        }
        // Others are served meanwhile, and so is this one once it has waited.
        let other = server.client_of(peer + 100, protocol).send(&with_token("alice"));
        assert_eq!(other.status, 200, "{other}");
        assert_shed(&guess(), "POST", "1");
        server.clock.advance_ms(1_000);
        assert_eq!(server.client_of(peer, protocol).send(&with_token("alice")).status, 200);
    }
}

/// At the door it is no matter what a request would be answered.
#[test]
fn whoever_is_far_beyond_is_shed_before_all_else() {
    let server = guarded(1, 1, &Keys::default());
    let requests = |verb: Verb| {
        let request = Request::new(verb.name(), "/mcp").body(if verb == Verb::Post { PING } else { "" });
        let mut elsewhere = request.clone();
        elsewhere.target = "/elsewhere".to_owned();
        let foreign = request.clone().header("Origin", "https://foreign.example");
        [request.clone(), elsewhere, foreign, request.header("Authorization", "Bearer alice")]
    };
    for (protocol, peer) in Protocol::BOTH.into_iter().zip([2, 3]) {
        // What is refused elsewhere has cost as much: another path, another verb.
        let mut client = server.client_of(peer, protocol);
        for (request, status) in
            [(Request::new("GET", "/elsewhere"), 404), (Request::new("PUT", "/mcp"), 405)]
        {
            let response = client.send(&request);
            assert_eq!(response.status, status, "{response}");
        }
        for verb in [Verb::Post, Verb::Get, Verb::Delete, Verb::Options, Verb::Head] {
            for request in requests(verb) {
                let response = server.client_of(peer, protocol).send(&request);
                assert_shed(&response, &request.verb, "1");
            }
        }
        // A page that may ask can read why it is not served.
        let page = ping().header("Origin", "http://localhost:3000");
        let response = server.client_of(peer, protocol).send(&page);
        assert_shed(&response, "POST", "1");
        assert_eq!(response.header("access-control-allow-origin"), Some("http://localhost:3000"));
    }
}

/// Who goes a little beyond its rate, or far, is served at its rate.
#[test]
fn a_peer_that_goes_beyond_is_served_at_its_rate() {
    let server = server(&[("peer_rate", 10), ("peer_burst", 5)]);
    for (gap_ms, peer) in [(90, 2), (50, 3), (10, 4)] {
        let mut client = server.client_of(peer, Protocol::Http2);
        let mut asked = 0;
        let served = (0..20_000 / gap_ms)
            .filter(|_| {
                server.clock.advance_ms(gap_ms);
                asked += 1;
                client.send(&ping()).status == 200
            })
            .count();
        assert!((195..=205).contains(&served), "{served} of {asked} in 20 s");
    }
}

/// A connection whose request was shed is closed over HTTP/1.1, and goes on over HTTP/2.
#[test]
fn what_shedding_does_to_a_connection() {
    let server = server(&[("peer_rate", 1), ("peer_burst", 1)]);
    let statuses = |client: &mut Client| [(); 2].map(|()| client.send(&ping()).status);
    let mut first = server.client_of(2, Protocol::Http1);
    assert_eq!(statuses(&mut first), [200, 429]);
    let response = first.send(&ping());
    assert_shed(&response, "POST", "1");
    assert_eq!(response.header("connection"), Some("close"));
    let Client::Http1(mut first) = first else { panic!("HTTP/1.1 was asked for") };
    first.assert_closed();
    let mut second = server.client_of(3, Protocol::Http2);
    assert_eq!(statuses(&mut second), [200, 429]);
    assert_eq!(statuses(&mut second), [503; 2]);
    server.clock.advance_ms(1_000);
    assert_eq!(second.send(&ping()).status, 200);
}

fn pings(messages: usize) -> Value {
    (1..=messages).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).collect()
}

#[test]
fn each_message_of_a_batch_counts() {
    let server = server(&[("peer_rate", 10), ("peer_burst", 10)]);
    let session = server.session_of(OLD);
    let batch = |messages: usize| {
        Request::post(pings(messages).to_string())
            .header("Mcp-Session-Id", &session)
            .header("MCP-Protocol-Version", OLD)
    };
    for (at, protocol) in Protocol::BOTH.into_iter().enumerate() {
        let peer = |number: u8| server.client_of(number + 10 * u8::try_from(at).unwrap(), protocol);
        // As many as may come at once.
        assert_eq!(peer(2).send(&batch(10)).json().as_array().map(Vec::len), Some(10));
        assert_limited(&peer(2).send(&ping()), "POST", 100);
        // One more than that, behind another request: the batch is refused as a whole.
        assert_eq!(peer(3).send(&ping()).status, 200);
        let before = server.met();
        let refused = peer(3).send(&batch(10));
        assert_eq!((refused.status, &refused.json()["id"]), (429, &Value::Null), "{refused}");
        assert_eq!(refused.json()["error"]["data"]["retryAfterMs"], 100, "{refused}");
        assert_eq!(server.met_since(&before), [RateLimited]);
        // It has cost nothing, and fewer fit.
        assert_eq!(peer(3).send(&batch(9)).status, 200);
        // More than may ever come at once are let in when nothing has come before, and have to be worked off.
        assert_eq!(peer(4).send(&batch(12)).status, 200);
        assert_limited(&peer(4).send(&ping()), "POST", 300);
        // An array that is refused later has cost as much, up to the longest that is served.
        assert_eq!(peer(5).send(&batch(101)).status, 400);
        assert_limited(&peer(5).send(&ping()), "POST", 9_100);
        // Who has waited as long as told is served.
        server.clock.advance_ms(10_000);
        assert_eq!(peer(3).send(&batch(10)).status, 200);
        assert_eq!(peer(5).send(&ping()).status, 200);
    }
}

/// The embedding program's own limiter is asked too, once a peer's allowance is there.
#[test]
fn a_limiter_of_ones_own_goes_on_working() {
    let (keys, meter) = (Keys::default(), Meter::default());
    let server = Server::with(|builder| {
        builder
            .limits(changed(&[("peer_rate", 1), ("peer_burst", 2)]))
            .limit_loopback(true)
            .authenticator(keys.clone())
            .limiter(meter.clone())
    });
    for (protocol, peer) in Protocol::BOTH.into_iter().zip([2, 3]) {
        let asked = meter.asked();
        let mut client = server.client_of(peer, protocol);
        assert_limited(&client.send(&with_token("busy")), "POST", 1_500);
        assert_eq!(client.send(&with_token("alice")).status, 200);
        assert_eq!(meter.asked() - asked, 2);
        assert_limited(&client.send(&with_token("alice")), "POST", 1_000);
        assert_eq!(meter.asked() - asked, 2, "who is refused already asks for nothing more");
    }
}

/// More peers than the table has places for: known ones keep theirs, and the others get something.
#[test]
fn a_full_table() {
    let server = server(&[("peer_rate", 1), ("peer_burst", 2), ("peer_table", 16)]);
    let status = |peer: u8| server.client_of(peer, Protocol::Http1).send(&ping()).status;
    (10..26).for_each(|peer| assert_eq!(status(peer), 200));
    assert_eq!([30, 31, 32].map(status), [200, 200, 429]);
    (10..26).for_each(|peer| assert_eq!(status(peer), 200));
    assert_eq!(status(10), 429);
    server.clock.advance_ms(3_000);
    assert_eq!([30, 31, 32].map(status), [200; 3]);
    let met = |row: Rejection| server.handle.rejections(row);
    assert_eq!((met(RateLimited), met(Overloaded)), (2, 0));
}
