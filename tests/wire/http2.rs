//! HTTP/2 as it should be: streams beside each other, windows, ends from either side.

use h2::Reason;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::runtime::Builder;

use crate::frames::{Frames, Outcome, PREFACE};
use crate::limits::server;
use crate::support::http2::{Http2, Stream, exchange};
use crate::support::{Framing, Protocol, Request, Server, messages};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn ping() -> Request {
    Request::post(PING)
}

/// Opens a stream and lets the client send it, so that its call can be waited for.
#[track_caller]
fn start(client: &mut Http2, request: &Request) -> Stream {
    let stream = client.start(request);
    client.turn();
    stream
}

#[test]
fn a_fast_answer_overtakes_a_slow_one() {
    let server = Server::start();
    let mut client = server.http2();
    let mut slow: Vec<_> =
        (0..5).map(|id| start(&mut client, &messages::modern_call(id, "gate", json!({})))).collect();
    server.tools.gate.await_begun(5);
    for id in 0..20 {
        let response = client.send(&messages::modern_call(id, "echo", json!({"message": "fast"})));
        assert_eq!((response.tool_text().as_str(), &response.json()["id"]), ("fast", &json!(id)));
    }
    assert_eq!(server.tools.gate.fates().ended, 0);
    server.tools.gate.open(5);
    for (id, stream) in slow.iter_mut().enumerate() {
        assert_eq!(client.head(stream).status, 200);
        let mut body = Vec::new();
        while let Some(data) = client.data(stream) {
            body.extend(data.unwrap());
        }
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["id"], id);
    }
}

/// Answers to what comes in one go leave together: short ones, long ones, and one behind which the others need not wait.
#[test]
fn many_answers_at_once() {
    let server = Server::start();
    let mut client = server.http2();
    let mut lengths = [10, 300, 1_100, 3_000].repeat(8);
    lengths.insert(15, 20_000);
    for _ in 0..3 {
        let gated = client.start(&messages::modern_call(99, "gate", json!({})));
        let mut streams: Vec<_> = lengths
            .iter()
            .zip(0..)
            .map(|(&length, id)| {
                client.start(&messages::modern_call(id, "echo", json!({"message": "x".repeat(length)})))
            })
            .collect();
        for (stream, (&length, id)) in streams.iter_mut().zip(lengths.iter().zip(0..)) {
            assert_eq!(client.head(stream).status, 200);
            let mut body = Vec::new();
            while let Some(data) = client.data(stream) {
                body.extend(data.unwrap());
            }
            let answer: Value = serde_json::from_slice(&body).unwrap();
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert_eq!((text.len(), &answer["id"]), (length, &json!(id)));
        }
        drop(gated);
    }
}

/// However small the client's windows are, an answer arrives whole; and one that nobody reads holds up no other.
#[test]
fn small_windows() {
    let server = Server::start();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let io = TcpStream::connect(server.address).await.unwrap();
        let mut builder = h2::client::Builder::new();
        let (send, connection) =
            builder.initial_window_size(1_000).handshake::<_, bytes::Bytes>(io).await.unwrap();
        tokio::spawn(connection);
        let big = messages::modern_call(1, "big", json!({"bytes": 1_048_576}));
        let unread = exchange(send.clone(), &ping()).await.unwrap();
        assert_eq!(unread.status, 200);
        let mut held = send.clone().ready().await.unwrap();
        let head = http::Request::post("http://localhost/mcp")
            .header("content-type", "application/json")
            .header("mcp-protocol-version", messages::MODERN)
            .header("mcp-method", "tools/call")
            .header("mcp-name", "big")
            .body(())
            .unwrap();
        let (held_response, mut held_stream) = held.send_request(head, false).unwrap();
        held_stream.send_data(big.body.clone().into(), true).unwrap();
        let held_response = held_response.await.unwrap();
        for _ in 0..2 {
            let response = exchange(send.clone(), &big).await.unwrap();
            assert_eq!(response.tool_text().len(), 1_048_576);
        }
        let steps = messages::modern_call_with_progress(1, "steps", json!({"steps": 200}));
        assert_eq!(exchange(send.clone(), &steps).await.unwrap().events().len(), 201);
        let mut body = held_response.into_body();
        let mut length = 0;
        while let Some(data) = body.data().await {
            let data = data.unwrap();
            let _ = body.flow_control().release_capacity(data.len());
            length += data.len();
        }
        assert!(length > 1_048_576, "the one that was held came too");
    });
}

#[test]
fn uploads_go_through_the_servers_windows() {
    let small = server(&[("h2_stream_window", 65_535), ("h2_connection_window", 65_535)]);
    for server in [Server::start(), small] {
        let mut client = server.http2();
        let text = "é".repeat(1_500_000);
        let request = messages::modern_call(1, "echo", json!({"message": text}));
        for framing in [Framing::Length, Framing::Chunks(1_000_000)] {
            assert_eq!(client.send(&request.clone().framing(framing)).tool_text(), text);
        }
    }
}

/// The server tells its bounds, and keeps them.
#[test]
fn settings() {
    let server = server(&[("h2_streams", 2)]);
    let mut client = Frames::connect(server.address);
    let settings = client.next().unwrap();
    assert_eq!((settings.kind, settings.flags, settings.stream), (4, 0, 0));
    let told: Vec<(u16, u32)> = settings
        .payload
        .chunks(6)
        .map(|setting| {
            let value = u32::from_be_bytes(setting[2..].try_into().unwrap());
            (u16::from_be_bytes([setting[0], setting[1]]), value)
        })
        .collect();
    for expected in [(3, 2), (4, 262_144), (6, 65_536)] {
        assert!(told.contains(&expected), "{expected:?} is not in {told:?}");
    }
    let call = messages::modern_call(1, "gate", json!({}));
    let fields = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/mcp"),
        (":authority", "localhost"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", messages::MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "gate"),
    ];
    for stream in [1, 3, 5] {
        client.headers(stream, &fields, false);
        client.data(stream, &call.body, true);
    }
    let refused = Outcome::Reset(Reason::REFUSED_STREAM.into());
    assert_eq!(client.outcome(5), refused);
    server.tools.gate.await_begun(2);
    server.tools.gate.open(2);
    assert!(matches!(client.outcome(1), Outcome::Answered(_)));
}

#[test]
fn heads_alone() {
    let server = Server::start();
    let mut client = server.http2();
    for (target, status) in [("/mcp", 405), ("/nowhere", 404)] {
        let head = client.send(&Request::new("HEAD", target));
        let full = client.send(&Request::new("PUT", target));
        assert_eq!((head.status, full.status), (status, status));
        assert_eq!(head.header("content-length"), full.header("content-length"));
        assert!(head.body.is_empty() && !full.body.is_empty());
    }
    let accepted = client.send(&messages::legacy(&server.session(), &messages::notification("x")));
    assert_eq!((accepted.status, accepted.header("content-length")), (202, Some("0")), "{accepted}");
}

#[test]
fn resets() {
    let server = Server::start();
    let mut client = server.http2();
    let session = server.session();
    let mut begun = 0;
    for call in [
        messages::modern_call(1, "gate", json!({})),
        messages::modern_call_with_progress(1, "gate", json!({})),
    ] {
        begun += 1;
        let stream = start(&mut client, &call);
        server.tools.gate.await_begun(begun);
        client.reset(stream);
        server.tools.gate.await_fates(|fates| fates.dropped == begun);
    }
    let stream = start(&mut client, &messages::modern_call(1, "block", json!({})));
    server.tools.gate.await_begun(3);
    client.reset(stream);
    server.tools.gate.await_fates(|fates| fates.cancelled == 1);
    let mut params = messages::call("gate", json!({}));
    let plain = messages::request(1, "tools/call", params.clone());
    params["_meta"]["progressToken"] = 1.into();
    for message in [plain, messages::request(1, "tools/call", params)] {
        let stream = start(&mut client, &messages::legacy(&session, &message));
        server.tools.gate.await_begun(begun + 2);
        begun += 1;
        client.reset(stream);
    }
    assert_eq!(client.send(&ping()).status, 200, "the resets were seen before this");
    server.tools.gate.open(2);
    let fates = server.tools.gate.await_fates(|fates| fates.ended == 2);
    assert_eq!(fates.dropped, 2, "a legacy call runs on");
}

/// A connection that is gone is the end of all its streams.
#[test]
fn a_lost_connection() {
    let server = Server::start();
    let session = server.session();
    let mut client = server.http2();
    let legacy = messages::request(1, "tools/call", messages::call("gate", json!({})));
    let streams: Vec<_> = [messages::modern_call(1, "gate", json!({})), messages::legacy(&session, &legacy)]
        .iter()
        .map(|request| start(&mut client, request))
        .collect();
    server.tools.gate.await_begun(2);
    drop(client);
    drop(streams);
    server.tools.gate.await_fates(|fates| fates.dropped == 1);
    server.tools.gate.open(1);
    server.tools.gate.await_fates(|fates| fates.ended == 1);
}

/// The preface may come in any pieces, and other connections are served meanwhile.
#[test]
fn the_preface_in_pieces() {
    let server = Server::start();
    let mut other = server.http1();
    let mut settings = PREFACE.to_vec();
    settings.extend([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    for split in 1..settings.len() {
        let mut client = Frames::silent(server.address);
        client.write(&settings[..split]);
        assert_eq!(other.send(&ping()).status, 200);
        client.write(&settings[split..]);
        let fields =
            [(":method", "GET"), (":scheme", "http"), (":path", "/mcp"), (":authority", "localhost")];
        client.headers(1, &fields, true);
        let Outcome::Answered(body) = client.outcome(1) else { panic!("no answer after a split at {split}") };
        assert!(serde_json::from_slice::<Value>(&body).unwrap()["error"].is_string());
    }
    let mut client = Frames::silent(server.address);
    for byte in &settings {
        client.write(&[*byte]);
    }
    client.frame(6, 0, 0, b"12345678");
    let pong = std::iter::from_fn(|| client.next()).find(|frame| frame.kind == 6).unwrap();
    assert_eq!((pong.flags, pong.payload.as_slice()), (1, &b"12345678"[..]));
}

#[test]
fn deadlines() {
    let server = server(&[("body_timeout", 30), ("idle_timeout", 40), ("head_timeout", 30)]);
    let mut client = server.http2();
    let late = client.start_with(&ping().body("").framing(Framing::AsIs), false);
    let mut late = late;
    assert_eq!(client.head(&mut late).status, 408);
    assert_eq!(client.send(&ping()).status, 200);
    drop(late);
    assert!(client.closed().is_ok(), "an idle connection ends without an error");
    // One that has shown its protocol and goes no further.
    let mut silent = Frames::silent(server.address);
    silent.write(PREFACE);
    assert!(matches!(silent.outcome(1), Outcome::Gone(None | Some(0))));
}

#[test]
fn a_server_that_drains() {
    let server = Server::start();
    let mut busy = server.http2();
    let idle = server.http2();
    let mut plain = start(&mut busy, &messages::modern_call(1, "gate", json!({})));
    let mut streamed = start(&mut busy, &messages::modern_call_with_progress(1, "gate", json!({})));
    assert_eq!(busy.head(&mut streamed).status, 200);
    server.tools.gate.await_begun(2);
    server.handle.shut_down();
    assert!(idle.closed().is_ok(), "an idle connection ends without an error");
    server.tools.gate.open(2);
    assert_eq!(busy.head(&mut plain).status, 200);
    for stream in [&mut plain, &mut streamed] {
        let mut body = Vec::new();
        while let Some(data) = busy.data(stream) {
            body.extend(data.unwrap());
        }
        assert!(String::from_utf8(body).unwrap().contains("let go"));
    }
    drop((plain, streamed));
    assert!(busy.closed().is_ok());
    assert_eq!(server.tools.runs(), 2);
}

/// What was sent before the server's farewell arrived is answered or handed back untouched.
#[test]
fn goaway_on_drain() {
    let server = Server::start();
    let mut client = Frames::connect(server.address);
    let fields = [(":method", "GET"), (":scheme", "http"), (":path", "/mcp"), (":authority", "localhost")];
    client.headers(1, &fields, true);
    assert!(matches!(client.outcome(1), Outcome::Answered(_)));
    server.handle.shut_down();
    let goaway = std::iter::from_fn(|| client.next()).find(|frame| frame.kind == 7).unwrap();
    assert_eq!(goaway.payload[4..8], [0; 4], "NO_ERROR");
    while let Some(frame) = client.next() {
        if frame.kind == 6 {
            client.frame(6, 1, 0, &frame.payload);
        }
    }
}

/// An answer that comes before the body has been taken arrives whole, whatever becomes of the body.
#[test]
fn early_refusals_arrive_whole() {
    let server = Server::start();
    let body = "x".repeat(300_000);
    let post = || Request::post(body.clone());
    for _ in 0..10 {
        for (status, request) in [
            (403, post().header("Origin", "http://evil.example")),
            (415, post().set("Content-Type", "text/plain")),
            (406, post().set("Accept", "text/html")),
            (404, Request::new("POST", "/nowhere").body(body.clone())),
            (405, Request::new("PUT", "/mcp").body(body.clone())),
        ] {
            for framing in [Framing::Length, Framing::Chunks(10_000)] {
                let mut client = server.http2();
                let response = client.send(&request.clone().framing(framing));
                assert_eq!(response.status, status, "{response}");
                assert!(!response.body.is_empty(), "{response}");
                assert_eq!(client.send(&ping()).status, 200);
            }
        }
    }
}

/// Both protocols on one port, turn by turn.
#[test]
fn one_port_for_both() {
    let server = Server::start();
    let mut clients: Vec<_> = (0..20).map(|at| server.client(Protocol::BOTH[at % 2])).collect();
    for _ in 0..5 {
        for client in &mut clients {
            assert_eq!(client.send(&ping()).status, 200);
        }
    }
}
