//! HTTP/2 peers that go too far, and peers that must not be blamed: floods end their connection, an early answer does not.

use crate::frames::{Frame, Frames, Outcome};
use crate::support::{Request, Server};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const ENHANCE_YOUR_CALM: u32 = 11;

const GET: [(&str, &str); 4] =
    [(":method", "GET"), (":scheme", "http"), (":path", "/mcp"), (":authority", "localhost")];

fn post(content_type: &'static str) -> [(&'static str, &'static str); 5] {
    [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/mcp"),
        (":authority", "localhost"),
        ("content-type", content_type),
    ]
}

/// The answer comes whole; a stream that is reset afterwards is not reset for a fault of the client's.
#[test]
fn an_early_answer_blames_nobody() {
    let server = Server::start();
    for (pieces, ends) in [(1, true), (3, true), (3, false), (12, true), (12, false)] {
        for _ in 0..10 {
            let mut client = Frames::connect(server.address);
            // The server's windows are larger than the usual ones only once its settings are acknowledged.
            while client.next().expect("settings and a window").kind != 8 {}
            client.frame(4, 1, 0, &[]);
            client.headers(1, &post("text/plain"), false);
            for piece in 1..=pieces {
                client.data(1, &[b'x'; 16_384], ends && piece == pieces);
            }
            let context = format!("{pieces} pieces, ends: {ends}");
            let answered = client.outcome(1);
            assert!(
                matches!(&answered, Outcome::Answered(body) if !body.is_empty()),
                "{context}: {answered:?}"
            );
            client.headers(3, &post("application/json"), false);
            client.data(3, PING.as_bytes(), true);
            loop {
                let frame = client.next().unwrap_or_else(|| panic!("{context}: the connection has ended"));
                if frame.kind == 3 && frame.stream == 1 {
                    assert_eq!(frame.payload, [0; 4], "{context}: NO_ERROR");
                }
                if frame.kind == 0 && frame.stream == 3 {
                    assert!(frame.payload.ends_with(b"\"result\":{}}"), "{context}");
                    break;
                }
            }
        }
    }
}

/// The connection ends for this reason, and others do not notice.
#[track_caller]
fn assert_calmed(server: &Server, context: &str, flood: impl Iterator<Item = Frame>) {
    let mut other = server.http2();
    let mut client = Frames::connect(server.address);
    let bytes: Vec<u8> = flood.flat_map(|frame| frame.bytes()).collect();
    client.write(&bytes);
    let ended = client.outcome(u32::MAX >> 1);
    // The reason is lost where the server has closed before the flood was written whole.
    assert!(matches!(ended, Outcome::Gone(None | Some(ENHANCE_YOUR_CALM))), "{context}: {ended:?}");
    assert_eq!(other.send(&Request::post(PING)).status, 200, "{context}");
}

#[test]
fn floods() {
    let server = Server::start();
    let head = crate::frames::block(&GET);
    let cancel = 8_u32.to_be_bytes();
    let resets = (0..20_000).flat_map(|at| {
        let stream = 2 * at + 1;
        [Frame::new(1, 5, stream, &head), Frame::new(3, 0, stream, &cancel)]
    });
    assert_calmed(&server, "rapid reset", resets);
    assert_calmed(&server, "pings", (0..200_000).map(|_| Frame::new(6, 0, 0, &[0; 8])));
    assert_calmed(&server, "settings", (0..200_000).map(|_| Frame::new(4, 0, 0, &[])));
    let empty = (0..200_000).map(|_| Frame::new(0, 0, 1, &[]));
    let opened = std::iter::once(Frame::new(1, 4, 1, &crate::frames::block(&post("application/json"))));
    assert_calmed(&server, "empty data", opened.chain(empty));
}
