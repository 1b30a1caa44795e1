//! `Connection` and `Upgrade` (RFC 9110 7.6.1 and 7.8, RFC 9112 9).

use serde_json::json;

use super::row::*;
use crate::support::messages;

const CLOSE: &str = "9112 9.6: this answer is the last, and no later request is looked at";
const OPTION: &str = "9110 7.6.1: an option that is not known is left alone, and no header is dropped for it";
const UPGRADE: &str = "9110 7.8: an upgrade may be ignored: it is, and the connection goes on as it was";

pub fn rows() -> Vec<Row> {
    let with = |fields: &str| post(format!("{fields}{}", length(PING.len())), PING);
    let closes = |fields: &str| [with(fields), smuggled().into_bytes()].concat();
    let h2c =
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n";
    vec![
        refused("close", CLOSE, 200, closes("Connection: close\r\n")),
        refused("close in capitals", CLOSE, 200, closes("CONNECTION: CLOSE\r\n")),
        refused("close in a list", CLOSE, 200, closes("Connection: x, close , y\r\n")),
        refused(
            "close on the second line",
            CLOSE,
            200,
            closes("Connection: keep-alive\r\nConnection: close\r\n"),
        ),
        refused("close and keep-alive", CLOSE, 200, closes("Connection: close, keep-alive\r\n")),
        refused("close behind an empty member", CLOSE, 200, closes("Connection: ,close\r\n")),
        refused("close on a refused request", CLOSE, 404, {
            let head = "POST /nowhere HTTP/1.1\r\nConnection: close\r\n";
            [with_body(head, PING), smuggled().into_bytes()].concat()
        }),
        refused("close before a chunked body", CLOSE, 200, {
            let wire = format!("{}0\r\n\r\n{}", chunk(PING), smuggled());
            post("Connection: close\r\nTransfer-Encoding: chunked\r\n", wire)
        }),
        served(
            "keep-alive",
            "9112 9.3: it is the rule",
            200,
            with("Connection: keep-alive\r\nKeep-Alive: max=1\r\n"),
        ),
        served("a word that begins with close", OPTION, 200, with("Connection: closed\r\n")),
        served("a quoted close", OPTION, 200, with("Connection: \"close\"\r\n")),
        served(
            "close for a proxy",
            "9110 7.6.1: `Proxy-Connection` has no meaning",
            200,
            with("Proxy-Connection: close\r\n"),
        ),
        served("a length named a hop's own", OPTION, 200, with("Connection: Content-Length\r\n")),
        served("a host named a hop's own", OPTION, 200, with("Connection: Host\r\n")),
        served("a type named a hop's own", OPTION, 200, with("Connection: Content-Type, Origin\r\n")),
        served("a coding named a hop's own", OPTION, 200, {
            let wire = format!("{}0\r\n\r\n", chunk(PING));
            post("Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n", wire)
        }),
        served("an upgrade to HTTP/2", UPGRADE, 200, with(h2c)),
        several("an upgrade to HTTP/2, and its preface", UPGRADE, &[200, 505], Then::Closed, {
            [with(h2c), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()].concat()
        }),
        served("an upgrade of GET to HTTP/2", UPGRADE, 405, {
            format!("GET /mcp HTTP/1.1\r\n{HOST}{h2c}\r\n")
        })
        .verb("GET"),
        served("an upgrade to HTTP/2 with a request in its body", UPGRADE, 405, {
            with_body(&format!("PUT /mcp HTTP/1.1\r\n{h2c}"), smuggled())
        }),
        served("an upgrade to a web socket", UPGRADE, 405, {
            let fields = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
            format!("GET /mcp HTTP/1.1\r\n{HOST}{fields}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        })
        .verb("GET"),
        served("an upgrade to TLS", UPGRADE, 200, with("Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n")),
        served("an upgrade that is not named", UPGRADE, 200, with("Upgrade: h2c\r\n")),
        refused("an upgrade on HTTP/1.0", "9110 7.8: must be ignored", 200, {
            let head = format!("POST /mcp HTTP/1.0\r\n{HOST}{TYPE}Connection: Upgrade\r\nUpgrade: h2c\r\n");
            format!("{head}{}\r\n{PING}{}", length(PING.len()), smuggled())
        }),
        refused(
            "a stream on HTTP/1.0",
            "9112 6.1: no chunks for HTTP/1.0, so that the stream ends with the connection",
            200,
            [stream("HTTP/1.0"), smuggled()].concat(),
        ),
        served("a stream", "9112 7.1: chunked, and the connection goes on", 200, stream("HTTP/1.1")),
        served(
            "a stream of one message",
            "9112 6.3: as long as it says",
            200,
            with("Accept: text/event-stream\r\n"),
        ),
    ]
}

/// A call that reports its progress, and so is answered by a stream whose length nobody knows.
fn stream(version: &str) -> String {
    let call = messages::modern_call_with_progress(1, "steps", json!({"steps": 2}));
    let bytes = call.header("Connection", "keep-alive").bytes();
    String::from_utf8(bytes).expect("text").replacen("HTTP/1.1", version, 1)
}
