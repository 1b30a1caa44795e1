//! Servers on loopback sockets: threads, the gate, and the end.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::*;
use crate::base::limits::Limits;
use crate::conn::stop::Phase;
use crate::tools::Typed;

const PING: &str = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n\
                    {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
const PONG: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";

fn builder() -> Builder {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}
    Server::builder().listen([SocketAddr::from(([127, 0, 0, 1], 0))]).tool(Typed::new(
        "block",
        "Blocks its worker",
        |_: Nothing| async {
            // Not what a handler should do, which is the point.
            std::thread::sleep(Duration::from_secs(20));
            "late"
        },
    ))
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    stream
}

fn ping(stream: &mut TcpStream) {
    stream.write_all(PING.as_bytes()).unwrap();
    let mut text = Vec::new();
    while !text.ends_with(PONG) {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
    }
}

/// Runs a server on threads of its own; the receiver hears when it has ended.
fn start(builder: Builder) -> (SocketAddr, Handle, mpsc::Receiver<()>) {
    let server = builder.build().unwrap();
    let (address, handle) = (server.addresses()[0], server.handle());
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || {
        server.run_workers(std::future::pending()).unwrap();
        sender.send(()).unwrap();
    });
    (address, handle, ended)
}

/// The pulse comes while requests come, at the worker that serves them, and not for nobody.
#[test]
fn a_pulse_comes_while_requests_come() {
    for workers in [Workers::PerCore(2), Workers::Stealing(2)] {
        let server = builder().workers(workers).build().unwrap();
        let (address, handle, road) = (server.addresses()[0], server.handle(), server.road().clone());
        let pulses = || road.loads().iter().map(|load| load.pulses()).collect::<Vec<_>>();
        let thread = std::thread::spawn(move || server.run_workers(std::future::pending()).unwrap());
        let mut stream = connect(address);
        let before = pulses();
        let (mut beaten, patience) = (Vec::new(), Instant::now() + Duration::from_secs(20));
        while beaten.len() != 1 {
            assert!(Instant::now() < patience, "{workers:?}: no pulse, or that of everybody: {beaten:?}");
            (0..20).for_each(|_| ping(&mut stream));
            let now = pulses();
            // The first one of each says that there is one.
            beaten = (0..now.len()).filter(|at| now[*at] > before[*at] + 2).collect();
        }
        let rests = || {
            let before = pulses();
            std::thread::sleep(Duration::from_millis(60));
            pulses() == before
        };
        assert!((0..100).any(|_| rests()), "{workers:?}: the pulse never rests");
        handle.shut_down();
        drop(stream);
        thread.join().unwrap();
    }
}

/// A handler that blocks its worker is told once, and told again when it blocks again; what waits is not. The time is long enough that a
/// worker without a core is not taken for a blocked one.
#[test]
fn a_blocked_worker_is_told() {
    std::thread::scope(|scope| {
        for workers in [Workers::PerCore(1), Workers::Stealing(1)] {
            scope.spawn(move || block_twice(workers));
        }
    });
}

fn block_twice(workers: Workers) {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}
    let (open, gate) = mpsc::channel::<()>();
    let gate = Arc::new(std::sync::Mutex::new(gate));
    let limits = Limits { blocked_worker: 500, ..Limits::default() };
    let hold = move |_: Nothing| {
        let _ = gate.lock().unwrap().recv();
        "let go"
    };
    let tool = Typed::immediate("hold", "Blocks its worker", hold);
    let (address, handle, _ended) = start(builder().workers(workers).limits(limits).tool(tool));
    let mut stream = connect(address);
    ping(&mut stream);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: hold\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    for round in 1..=2 {
        let before = handle.blocked_workers();
        stream.write_all(request.as_bytes()).unwrap();
        let patience = Instant::now() + Duration::from_secs(20);
        while handle.blocked_workers() == before {
            assert!(Instant::now() < patience, "{workers:?} {round}: it is not noticed");
            std::thread::sleep(Duration::from_millis(5));
        }
        let told = handle.blocked_workers();
        std::thread::sleep(Duration::from_millis(700));
        assert_eq!(handle.blocked_workers(), told, "{workers:?} {round}: it is told once");
        open.send(()).unwrap();
        read_until(&mut stream, b"let go");
        read_until(&mut stream, b"}}");
        ping(&mut stream);
        // For the watchdog to see that it goes on.
        std::thread::sleep(Duration::from_millis(300));
    }
    handle.shut_down();
}

fn read_until(stream: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    while !text.ends_with(end) {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
    }
    text
}

#[test]
fn every_kind_of_worker_serves_and_ends() {
    // An address that no other test listens on: the port may be somebody else's as soon as it is free.
    let own = [127, 0, 0, if cfg!(target_os = "linux") { 77 } else { 1 }];
    for workers in [Workers::PerCore(1), Workers::PerCore(3), Workers::Stealing(2)] {
        let (address, handle, ended) = start(builder().listen([SocketAddr::from((own, 0))]).workers(workers));
        let mut streams: Vec<TcpStream> = (0..12).map(|_| connect(address)).collect();
        for stream in &mut streams {
            ping(stream);
            ping(stream);
        }
        let begun = Instant::now();
        handle.shut_down();
        ended.recv_timeout(Duration::from_secs(5)).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(2), "{workers:?}: idle connections close at once");
        for stream in &mut streams {
            assert_eq!(stream.read(&mut [0; 16]).unwrap_or(0), 0);
        }
        assert!(TcpStream::connect(address).is_err(), "{workers:?}: nobody listens any more");
    }
}

/// Reads until `text` has come `times` times.
fn hear(stream: &mut TcpStream, heard: &mut Vec<u8>, text: &str, times: usize) {
    let count = |heard: &[u8]| heard.windows(text.len()).filter(|window| *window == text.as_bytes()).count();
    while count(heard) < times {
        let mut piece = [0; 512];
        let read = stream.read(&mut piece).unwrap();
        assert_ne!(read, 0, "{}", String::from_utf8_lossy(heard));
        heard.extend_from_slice(&piece[..read]);
    }
    assert_eq!(count(heard), times);
}

/// One task announces for all workers, whichever thread changes something.
#[test]
fn changes_reach_the_listeners_of_every_worker() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Method: subscriptions/listen\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    for workers in [Workers::PerCore(3), Workers::Stealing(2)] {
        let (address, handle, ended) = start(builder().workers(workers));
        let mut streams: Vec<(TcpStream, Vec<u8>)> =
            (0..12).map(|_| (connect(address), Vec::new())).collect();
        for (stream, heard) in &mut streams {
            stream.write_all(request.as_bytes()).unwrap();
            hear(stream, heard, "acknowledged", 1);
        }
        for times in 1..=2 {
            let another = Typed::immediate("another", "Changes the list.", |(): ()| "text");
            handle.registry().replace(another).unwrap();
            for (stream, heard) in &mut streams {
                hear(stream, heard, "list_changed", times);
            }
        }
        handle.shut_down();
        for (stream, heard) in &mut streams {
            hear(stream, heard, "resultType", 1);
        }
        ended.recv_timeout(Duration::from_secs(5)).unwrap();
        assert_eq!(handle.listeners(), 0);
    }
}

#[test]
fn a_handler_that_never_yields_does_not_hold_up_the_end() {
    let mut limits = Limits::default();
    limits.set("shutdown_grace", 50).unwrap();
    let (address, handle, ended) = start(builder().workers(Workers::PerCore(1)).limits(limits));
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"block","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let mut stream = connect(address);
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Method: tools/call\r\nMcp-Name: block\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    std::thread::sleep(Duration::from_millis(100));
    handle.shut_down();
    ended.recv_timeout(Duration::from_secs(5)).unwrap();
}

#[test]
fn newcomers_wait_for_a_place() {
    let mut limits = Limits::default();
    limits.set("connections", 2).unwrap();
    let (address, handle, ended) = start(builder().workers(Workers::PerCore(2)).limits(limits));
    let mut first = connect(address);
    ping(&mut first);
    let mut second = connect(address);
    ping(&mut second);
    let mut third = connect(address);
    third.write_all(PING.as_bytes()).unwrap();
    third.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert!(third.read(&mut [0; 16]).is_err(), "no answer while there is no place");
    drop(first);
    third.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    assert!(third.read(&mut [0; 16]).unwrap() > 0);
    handle.shut_down();
    ended.recv_timeout(Duration::from_secs(5)).unwrap();
}

/// Whether a connection is served; else it has been closed.
fn is_served(address: SocketAddr) -> Option<TcpStream> {
    let mut stream = connect(address);
    let sent = stream.write_all(PING.as_bytes());
    let read = stream.peek(&mut [0]);
    let waits = matches!(&read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock);
    assert!(!waits, "neither answered nor closed");
    (sent.is_ok() && read.is_ok_and(|read| read > 0)).then_some(stream)
}

/// Whichever worker they come to.
#[test]
fn a_peers_connections_are_counted_over_all_workers() {
    let mut limits = Limits::default();
    limits.set("peer_connections", 5).unwrap();
    for workers in [Workers::PerCore(3), Workers::Stealing(2)] {
        let builder = builder().workers(workers).limits(limits.clone()).limit_loopback(true);
        let (address, handle, ended) = start(builder);
        let mut streams: Vec<TcpStream> = (0..5).map(|_| is_served(address).unwrap()).collect();
        for _ in 0..20 {
            assert!(is_served(address).is_none(), "{workers:?}");
        }
        assert_eq!(handle.connections_turned_away(), 20);
        streams.pop();
        let patience = Instant::now() + Duration::from_secs(5);
        let _one = loop {
            match is_served(address) {
                Some(stream) => break stream,
                None => assert!(Instant::now() < patience, "{workers:?}: no place comes back"),
            }
        };
        assert!(is_served(address).is_none(), "{workers:?}");
        handle.shut_down();
        ended.recv_timeout(Duration::from_secs(5)).unwrap();
    }
}

#[test]
fn an_address_in_use_is_an_error() {
    let (address, handle, ended) = start(builder().workers(Workers::PerCore(2)));
    for workers in [Workers::PerCore(2), Workers::Stealing(1)] {
        let again = builder().listen([address]).workers(workers).build();
        assert!(matches!(again, Err(Error::Bind { .. })), "{again:?}");
    }
    handle.shut_down();
    ended.recv_timeout(Duration::from_secs(5)).unwrap();
}

#[tokio::test]
async fn a_run_that_is_dropped_stops_its_tasks() {
    let server = builder().build().unwrap();
    let (address, stop) = (server.addresses()[0], server.stop());
    let run = tokio::spawn(server.run(std::future::pending()));
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, PING.as_bytes()).await.unwrap();
    let mut byte = [0];
    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut byte).await.unwrap();
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    assert_eq!(stop.phase(), Phase::Stopped);
    let mut rest = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut rest);
    tokio::time::timeout(Duration::from_secs(5), read).await.unwrap().unwrap();
}
