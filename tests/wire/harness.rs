//! The harness itself: it starts, serves over both protocols, and leaves nothing behind.

use std::net::TcpStream;

use serde_json::json;

use crate::support::{Client, Framing, Protocol, Request, Server, messages};

#[test]
fn both_clients_get_the_same_answers() {
    let server = Server::start();
    let session = server.session();
    let message = messages::request("a", "tools/call", messages::call("echo", json!({"message": "héllo"})));
    let sql = json!({"region": "r", "query": "q"});
    let requests = [
        messages::legacy(&session, &message),
        messages::legacy(&session, &message).framing(Framing::Chunks(7)),
        messages::modern_call(1, "echo", json!({"message": "héllo"})),
        messages::modern(2, "tools/list", json!(null)),
        messages::modern_call(3, "sql", sql).header("Mcp-Param-Region", "r"),
        Request::new("HEAD", "/mcp"),
        Request::new("OPTIONS", "/mcp"),
        Request::new("GET", "/nowhere"),
    ];
    let [one, two] = Protocol::BOTH.map(|protocol| {
        let mut client = server.client(protocol);
        requests.each_ref().map(|request| client.send(request))
    });
    for ((one, two), request) in one.iter().zip(&two).zip(&requests) {
        assert_eq!((one.status, one.text()), (two.status, two.text()), "{request:?}");
        let fields = |headers: &[(String, String)]| {
            let mut headers = headers.to_vec();
            headers.retain(|(name, _)| name != "date");
            headers.sort();
            headers
        };
        assert_eq!(fields(&one.headers), fields(&two.headers), "{request:?}");
    }
    assert_eq!(one[0].tool_text(), "héllo");
    assert_eq!(server.tools.runs(), 8);
}

#[test]
fn every_tool_does_what_it_says() {
    let server = Server::start();
    let mut client = server.http1();
    let mut text = |tool: &str, arguments| client.send(&messages::modern_call(1, tool, arguments));
    assert_eq!(text("add", json!({"a": 2, "b": 3})).result()["structuredContent"], json!({"sum": 5}));
    assert_eq!(text("count", json!({})).tool_text(), "2");
    assert_eq!(text("big", json!({"bytes": 3})).tool_text(), "xxx");
    assert_eq!(text("sleep", json!({"ms": 1})).tool_text(), "done");
    for tool in ["fail", "panic"] {
        let result = text(tool, json!({})).result();
        assert_eq!(result["isError"], true, "{result}");
    }
    assert_eq!(server.tools.runs(), 6);
}

#[test]
fn steps_come_as_a_stream_over_both() {
    let server = Server::start();
    let request = messages::modern_call_with_progress(1, "steps", json!({"steps": 3}));
    for protocol in Protocol::BOTH {
        let response = server.client(protocol).send(&request);
        let events = response.events();
        assert_eq!(events.len(), 4, "{response}");
        assert_eq!(events[0].json()["params"]["progress"], 1.0);
        assert_eq!(events[3].json()["result"]["content"][0]["text"], "done");
    }
}

#[test]
fn gated_calls_are_watched() {
    let server = Server::start();
    let request = messages::modern_call_with_progress(1, "gate", json!({}));
    let mut http1 = server.http1();
    http1.write(&request.bytes());
    server.tools.gate.await_begun(1);
    assert_eq!(http1.read_head().status, 200);
    assert_eq!(http1.next_event().unwrap().json()["params"]["message"], "waiting");
    server.tools.gate.open(1);
    assert_eq!(http1.next_event().unwrap().json()["result"]["content"][0]["text"], "let go");
    assert_eq!(http1.next_event(), None);

    let mut http2 = server.http2();
    let mut stream = http2.start(&request);
    assert_eq!(http2.head(&mut stream).status, 200);
    http2.reset(stream);
    let fates = server.tools.gate.await_fates(|fates| fates.dropped == 1);
    assert_eq!((fates.begun, fates.ended), (2, 1));

    let blocking = messages::modern_call(2, "block", json!({}));
    server.tools.gate.open(1);
    let Client::Http2(mut client) = server.client(Protocol::Http2) else { unreachable!() };
    assert_eq!(client.send(&blocking).tool_text(), "let go");
}

#[test]
fn a_dropped_server_is_gone() {
    let server = Server::start();
    let address = server.address;
    let mut idle = server.http1();
    let mut busy = server.http1();
    busy.write(&messages::modern_call(1, "gate", json!({})).bytes());
    server.tools.gate.await_begun(1);
    let gate = server.tools.gate.clone();
    drop(server);
    assert_eq!(gate.fates().dropped, 1);
    assert!(TcpStream::connect(address).is_err());
    idle.assert_closed();
    busy.read_to_end();
}
