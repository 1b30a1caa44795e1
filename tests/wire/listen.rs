//! `subscriptions/listen`: what is honoured, what is told and how it ends.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use twolane::tools::Typed;

use crate::limits::server;
use crate::support::http2::Stream;
use crate::support::read::{self, Head};
use crate::support::{Http1, Http2, Protocol, Request, Server, messages};

/// A client that listens.
#[derive(Debug)]
pub enum Ear {
    Http1(Http1),
    Http2(Box<(Http2, Stream, Vec<u8>)>),
}

impl Ear {
    /// Opens a stream, and gives the head of its answer.
    #[track_caller]
    pub fn open(server: &Server, protocol: Protocol, request: &Request) -> Self {
        let (ear, head) = match protocol {
            Protocol::Http1 => {
                let mut client = server.http1();
                client.write(&request.bytes());
                let head = client.read_head();
                (Self::Http1(client), head)
            }
            Protocol::Http2 => {
                let mut client = server.http2();
                let mut stream = client.start(request);
                let head = client.head(&mut stream);
                (Self::Http2(Box::new((client, stream, Vec::new()))), head)
            }
        };
        assert_stream(&head);
        ear
    }

    /// The next message; `None` at the end of the stream.
    #[track_caller]
    pub fn next(&mut self) -> Option<Value> {
        let event = match self {
            Self::Http1(client) => client.next_event()?,
            Self::Http2(ear) => {
                let (client, stream, bytes) = &mut **ear;
                loop {
                    if let Some(end) = bytes.windows(2).position(|two| two == b"\n\n") {
                        let block: Vec<u8> = bytes.drain(..end + 2).collect();
                        match read::events(&block).pop() {
                            Some(event) => break event,
                            None => continue,
                        }
                    }
                    bytes.extend(client.data(stream)?.expect("the stream is not reset"));
                }
            }
        };
        assert!(event.id.is_none() && event.retry.is_none() && event.event.is_none(), "{event:?}");
        Some(event.json())
    }

    /// The next message, which must be a notification of this subscription: its method and the rest of its params.
    #[track_caller]
    pub fn told(&mut self, id: &Value) -> (String, Value) {
        let mut message = self.next().expect("the stream goes on");
        assert_eq!(message["jsonrpc"], "2.0");
        assert!(message.get("id").is_none(), "{message}");
        let mut params = message["params"].take();
        let meta = params.as_object_mut().unwrap().remove("_meta").unwrap();
        assert_eq!(meta, json!({"io.modelcontextprotocol/subscriptionId": id}), "{message}");
        (message["method"].as_str().unwrap().to_owned(), params)
    }

    /// The acknowledgement's filter.
    #[track_caller]
    pub fn acknowledged(&mut self, id: &Value) -> Value {
        let (method, mut params) = self.told(id);
        assert_eq!(method, "notifications/subscriptions/acknowledged");
        assert_eq!(params.as_object().unwrap().len(), 1, "{params}");
        params["notifications"].take()
    }

    /// The stream ends here, with its result.
    #[track_caller]
    pub fn ends(&mut self, id: &Value) {
        let message = self.next().expect("a result");
        assert_eq!(
            message,
            json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "_meta": {
                "io.modelcontextprotocol/subscriptionId": id,
                "io.modelcontextprotocol/serverInfo": {"name": "wire", "version": "1.2.3"},
            }}})
        );
        assert_eq!(self.next(), None);
    }
}

#[track_caller]
fn assert_stream(head: &Head) {
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")), "{head:?}");
    assert_eq!(head.header("content-length"), None, "{head:?}");
    read::check_body(head, b"", "POST");
}

/// A request to listen for what `filter` says.
pub fn listen(id: impl Into<Value>, filter: Value) -> Request {
    messages::modern(id, "subscriptions/listen", json!({"notifications": filter}))
}

fn tools_changed() -> Value {
    json!({"toolsListChanged": true})
}

/// Changes the list of tools.
pub fn change_tools(server: &Server) {
    let tool = Typed::new("changing", "Changes.", |_: Value| async { "changed" });
    server.handle.registry().replace(tool).unwrap();
}

/// Waits until so many listeners are open.
#[track_caller]
pub fn await_listeners(server: &Server, wanted: u64) {
    let patience = Instant::now() + Duration::from_secs(20);
    while server.handle.listeners() != wanted {
        assert!(Instant::now() < patience, "{} are open, not {wanted}", server.handle.listeners());
        std::thread::sleep(Duration::from_millis(1));
    }
}

const TOOLS: &str = "notifications/tools/list_changed";

#[test]
fn every_message_is_tagged_with_the_id_as_it_was_sent() {
    for protocol in Protocol::BOTH {
        let server = Server::start();
        let ids = [
            json!("sub-1"),
            json!("é\u{2028}\"\\"),
            json!(""),
            json!(0),
            json!(-7),
            json!(4_294_967_296_u64),
            json!(1_785_000_000_000_u64),
            json!(u64::MAX),
        ];
        let mut ears: Vec<(Value, Ear)> = ids
            .into_iter()
            .map(|id| (id.clone(), Ear::open(&server, protocol, &listen(id, tools_changed()))))
            .collect();
        for (id, ear) in &mut ears {
            assert_eq!(ear.acknowledged(id), tools_changed());
        }
        assert_eq!(server.handle.listeners(), 8);
        change_tools(&server);
        for (id, ear) in &mut ears {
            assert_eq!(ear.told(id), (TOOLS.to_owned(), json!({})));
        }
        server.handle.shut_down();
        for (id, ear) in &mut ears {
            ear.ends(id);
        }
        await_listeners(&server, 0);
    }
}

/// The id's spelling is kept too, and these are the bytes.
#[test]
fn the_bytes_on_the_wire() {
    let server = Server::start();
    let mut request = listen(1, tools_changed());
    request.body = String::from_utf8(request.body).unwrap().replace("\"id\":1", "\"id\":1.0e0").into_bytes();
    let mut client = server.http1();
    client.write(&request.bytes());
    assert_stream(&client.read_head());
    let event = client.next_event().unwrap();
    assert_eq!(
        event.data.as_deref(),
        Some(
            r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1.0e0},"notifications":{"toolsListChanged":true}}}"#
        )
    );
    change_tools(&server);
    assert_eq!(
        client.next_event().unwrap().data.as_deref(),
        Some(
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1.0e0}}}"#
        )
    );
    server.handle.shut_down();
    assert_eq!(
        client.next_event().unwrap().data.as_deref(),
        Some(
            r#"{"jsonrpc":"2.0","id":1.0e0,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1.0e0,"io.modelcontextprotocol/serverInfo":{"name":"wire","version":"1.2.3"}}}}"#
        )
    );
    assert_eq!(client.next_event(), None);
    client.assert_closed();
}

#[test]
fn what_is_not_offered_or_not_asked_for_is_not_honoured() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        for filter in [
            json!({}),
            json!({"toolsListChanged": false}),
            json!({"toolsListChanged": null, "promptsListChanged": null, "resourcesListChanged": null,
                "resourceSubscriptions": null, "taskIds": null}),
            json!({"promptsListChanged": true, "resourcesListChanged": true}),
            json!({"resourceSubscriptions": []}),
            json!({"resourceSubscriptions": ["file:///a"]}),
            json!({"taskIds": []}),
            json!({"somethingElse": true}),
        ] {
            let mut ear = Ear::open(&server, protocol, &listen("s", filter.clone()));
            assert_eq!(ear.acknowledged(&json!("s")), json!({}), "{filter}");
            ear.ends(&json!("s"));
        }
        let filter = json!({"promptsListChanged": true, "toolsListChanged": true, "else": [1]});
        let mut ear = Ear::open(&server, protocol, &listen(5, filter));
        assert_eq!(ear.acknowledged(&json!(5)), tools_changed());
    }
    await_listeners(&server, 0);
}

#[test]
fn a_burst_is_told_once() {
    let server = server(&[("list_changed_delay", 300)]);
    for protocol in Protocol::BOTH {
        let mut ear = Ear::open(&server, protocol, &listen(1, tools_changed()));
        ear.acknowledged(&json!(1));
        for _ in 0..2 {
            for _ in 0..50 {
                change_tools(&server);
            }
            assert_eq!(ear.told(&json!(1)).0, TOOLS);
        }
        if protocol == Protocol::Http2 {
            server.handle.shut_down();
            ear.ends(&json!(1));
        }
    }
}

/// What changes once a listener is open reaches it, also where nobody reads yet; and what is not announced yet when the server stops.
#[test]
fn nothing_is_lost_on_the_way() {
    for protocol in Protocol::BOTH {
        let server = Server::start();
        let request = listen(1, tools_changed());
        let (mut http1, mut http2) = (server.http1(), server.http2());
        let mut ear = match protocol {
            Protocol::Http1 => {
                http1.write(&request.bytes());
                await_listeners(&server, 1);
                change_tools(&server);
                assert_stream(&http1.read_head());
                Ear::Http1(http1)
            }
            Protocol::Http2 => {
                let mut stream = http2.start(&request);
                http2.turn();
                await_listeners(&server, 1);
                change_tools(&server);
                assert_stream(&http2.head(&mut stream));
                Ear::Http2(Box::new((http2, stream, Vec::new())))
            }
        };
        ear.acknowledged(&json!(1));
        assert_eq!(ear.told(&json!(1)).0, TOOLS);
        change_tools(&server);
        server.handle.shut_down();
        assert_eq!(ear.told(&json!(1)).0, TOOLS);
        ear.ends(&json!(1));
    }
}

#[test]
fn a_filter_that_is_none() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let absent = messages::modern(7, "subscriptions/listen", json!({}));
        let cases = [json!(null), json!(true), json!([]), json!("toolsListChanged")]
            .into_iter()
            .chain([
                json!({"toolsListChanged": 1}),
                json!({"promptsListChanged": "true"}),
                json!({"resourcesListChanged": {}}),
                json!({"resourceSubscriptions": "file:///a"}),
                json!({"resourceSubscriptions": {"file:///a": true}}),
                json!({"resourceSubscriptions": ["file:///a", 1]}),
                json!({"resourceSubscriptions": [null]}),
                json!({"taskIds": true}),
                json!({"taskIds": [7]}),
            ])
            .map(|filter| listen(7, filter))
            .chain([absent]);
        for request in cases {
            let response = client.send(&request);
            let body = String::from_utf8_lossy(&request.body).into_owned();
            assert_eq!((response.status, response.code()), (200, -32602), "{body}: {response}");
            let message = response.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(message.starts_with("params.notifications"), "{body}: {message}");
        }
    }
    assert_eq!(server.handle.listeners(), 0);
}

#[test]
fn tasks_need_their_extension() {
    let server = Server::start();
    let key = "io.modelcontextprotocol/tasks";
    for protocol in Protocol::BOTH {
        let filter = json!({"taskIds": ["t-1"], "toolsListChanged": true});
        let response = server.client(protocol).send(&listen(7, filter.clone()));
        assert_eq!((response.status, response.code()), (400, -32021), "{response}");
        assert_eq!(
            response.json()["error"]["data"],
            json!({"requiredCapabilities": {"extensions": {key: {}}}}),
            "{response}"
        );
        let mut request = listen(7, filter);
        let mut body: Value = serde_json::from_slice(&request.body).unwrap();
        body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({"extensions": {key: {}}});
        request.body = body.to_string().into_bytes();
        let mut ear = Ear::open(&server, protocol, &request);
        assert_eq!(ear.acknowledged(&json!(7)), tools_changed());
    }
}

#[test]
fn who_takes_no_stream_is_refused_and_any_stream_will_do() {
    let server = Server::start();
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        for accept in ["application/json", "application/*, text/event-stream;q=0"] {
            let response = client.send(&listen(7, tools_changed()).set("Accept", accept));
            assert_eq!((response.status, response.code()), (406, -32600), "{response}");
        }
        for accept in ["text/event-stream", "*/*", "text/*"] {
            let request = listen(7, tools_changed()).set("Accept", accept);
            let mut ear = Ear::open(&server, protocol, &request);
            assert_eq!(ear.acknowledged(&json!(7)), tools_changed(), "{accept}");
        }
        let request = listen(7, tools_changed()).without("Accept");
        let mut ear = Ear::open(&server, protocol, &request);
        assert_eq!(ear.acknowledged(&json!(7)), tools_changed());
    }
}

#[test]
fn sessions_do_not_know_the_method() {
    let server = Server::start();
    let session = server.session();
    let params = json!({"notifications": {"toolsListChanged": true}});
    let request = messages::request(7, "subscriptions/listen", params);
    for protocol in Protocol::BOTH {
        let response = server.client(protocol).send(&messages::legacy(&session, &request));
        assert_eq!((response.status, response.code()), (200, -32601), "{response}");
    }
}

#[test]
fn closing_the_response_frees_the_listener() {
    let server = server(&[("half_close_grace", 20)]);
    let request = listen(1, tools_changed());
    let mut half = server.http1();
    half.write(&request.bytes());
    await_listeners(&server, 1);
    half.finish();
    await_listeners(&server, 0);

    let reset = server.http1();
    {
        let mut reset = reset;
        reset.write(&request.bytes());
        await_listeners(&server, 1);
        socket2::SockRef::from(reset.socket()).set_linger(Some(Duration::ZERO)).unwrap();
    }
    await_listeners(&server, 0);

    let mut client = server.http2();
    let (mut first, second) = (client.start(&request), client.start(&request));
    client.turn();
    await_listeners(&server, 2);
    client.reset(second);
    await_listeners(&server, 1);
    assert_stream(&client.head(&mut first));
    drop((client, first));
    await_listeners(&server, 0);
}

/// A listener that does not read is owed no more than a bit a change, and loses its place in the end.
#[test]
fn who_does_not_read_is_dropped() {
    let server = server(&[("write_timeout", 50), ("list_changed_delay", 0)]);
    // An id of some length fills what the system keeps for the connection.
    let id = "i".repeat(8_000);
    let request = listen(id, tools_changed());
    for protocol in Protocol::BOTH {
        let (mut http1, mut http2) = (server.http1(), server.http2());
        match protocol {
            Protocol::Http1 => {
                socket2::SockRef::from(http1.socket()).set_recv_buffer_size(4096).unwrap();
                http1.write(&request.bytes());
            }
            Protocol::Http2 => {
                let stream = http2.start(&request);
                http2.turn();
                std::mem::forget(stream);
            }
        }
        await_listeners(&server, 1);
        let patience = Instant::now() + Duration::from_secs(20);
        while server.handle.listeners() > 0 {
            assert!(Instant::now() < patience, "it is never dropped");
            change_tools(&server);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A connection with an open stream is not idle, and no call's time limit applies to it.
#[test]
fn listeners_outlast_idle_connections_and_slow_tools() {
    let server =
        server(&[("idle_timeout", 20), ("head_timeout", 20), ("body_timeout", 20), ("tool_timeout", 20)]);
    for protocol in Protocol::BOTH {
        let mut ear = Ear::open(&server, protocol, &listen(1, tools_changed()));
        ear.acknowledged(&json!(1));
        std::thread::sleep(Duration::from_millis(120));
        assert_eq!(server.handle.listeners(), 1);
        change_tools(&server);
        assert_eq!(ear.told(&json!(1)).0, TOOLS);
        drop(ear);
        await_listeners(&server, 0);
    }
}

#[test]
fn quiet_listeners_get_comments() {
    let server = server(&[("stream_comment", 10)]);
    let request = listen(1, tools_changed());
    let mut client = server.http1();
    client.write(&request.bytes());
    assert_stream(&client.read_head());
    let mut bytes = Vec::new();
    while bytes.windows(3).filter(|three| three == b":\n\n").count() < 5 {
        bytes.extend(client.read_chunk().expect("the stream goes on"));
    }
    let mut client = server.http2();
    let mut stream = client.start(&request);
    assert_stream(&client.head(&mut stream));
    let mut bytes = Vec::new();
    while bytes.windows(3).filter(|three| three == b":\n\n").count() < 5 {
        bytes.extend(client.data(&mut stream).unwrap().unwrap());
    }
}

/// Reads a stream until it has said `text`.
#[track_caller]
fn hear(client: &mut Http2, stream: &mut Stream, text: &str) {
    let mut bytes = Vec::new();
    while !bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
        bytes.extend(client.data(stream).expect("the stream goes on").unwrap());
    }
}

#[test]
fn two_thousand_come_and_go() {
    let server = Server::start();
    let request = listen(1, tools_changed());
    // Not more to a connection: a client like this one takes many small frames that it has not read for a flood.
    let mut connections: Vec<(Http2, Vec<Stream>)> = (0..20)
        .map(|_| {
            let mut client = server.http2();
            let open = |_| {
                let mut stream = client.start(&request);
                assert_stream(&client.head(&mut stream));
                hear(&mut client, &mut stream, "acknowledged");
                stream
            };
            let streams = (0..100).map(open).collect();
            (client, streams)
        })
        .collect();
    assert_eq!(server.handle.listeners(), 2000);
    change_tools(&server);
    for (client, streams) in &mut connections {
        for stream in streams.iter_mut() {
            hear(client, stream, TOOLS);
        }
    }
    // Half of them one by one, the others with their connections.
    for (client, streams) in connections.iter_mut().take(10) {
        for stream in streams.drain(..) {
            client.reset(stream);
        }
    }
    await_listeners(&server, 1000);
    drop(connections);
    await_listeners(&server, 0);
}

#[test]
fn as_many_as_may_be() {
    let server = server(&[("listeners", 2)]);
    let request = listen(7, tools_changed());
    for protocol in Protocol::BOTH {
        let mut client = server.client(protocol);
        let first = Ear::open(&server, protocol, &request);
        let second = Ear::open(&server, protocol, &request);
        let response = client.send(&request);
        assert_eq!((response.status, response.code()), (200, -32603), "{response}");
        assert!(response.text().contains("listeners limit"), "{response}");
        // One that is not honoured takes no place.
        let response = client.send(&listen(7, json!({})));
        assert_eq!(response.events().len(), 2, "{response}");
        drop(first);
        await_listeners(&server, 1);
        drop(Ear::open(&server, protocol, &request));
        drop(second);
        await_listeners(&server, 0);
    }
}

#[test]
fn as_much_as_may_be_kept() {
    let server = server(&[("listen_memory", 65_536), ("listen_resources", 3), ("resource_uri", 64)]);
    let mut client = server.http1();
    // Eight listeners with ids of 8,192 bytes, quotes included, are exactly what fits.
    let long = |at: u32| listen(format!("{at}{}", "x".repeat(8_189)), tools_changed());
    let ears: Vec<Ear> = (0..8).map(|at| Ear::open(&server, Protocol::Http1, &long(at))).collect();
    for request in [long(8), listen(7, tools_changed())] {
        let response = client.send(&request);
        assert_eq!((response.status, response.code()), (200, -32603), "{response}");
        assert!(response.text().contains("listen_memory"), "{response}");
    }
    drop(ears);
    await_listeners(&server, 0);
    drop(Ear::open(&server, Protocol::Http1, &long(8)));

    let subscribe =
        |uris: &[&str]| listen(7, json!({"toolsListChanged": true, "resourceSubscriptions": uris}));
    let (fits, over) = ("u".repeat(64), "u".repeat(65));
    for protocol in Protocol::BOTH {
        for uris in [vec!["a:1", "a:2"], vec!["a:1", "a:2", "a:3", "a:1"], vec![fits.as_str()]] {
            Ear::open(&server, protocol, &subscribe(&uris)).acknowledged(&json!(7));
        }
        for (uris, limit) in
            [(vec!["a:1", "a:2", "a:3", "a:4"], "listen_resources"), (vec![over.as_str()], "resource_uri")]
        {
            let response = server.client(protocol).send(&subscribe(&uris));
            assert_eq!((response.status, response.code()), (200, -32602), "{response}");
            assert!(response.text().contains(limit), "{response}");
        }
    }
}
