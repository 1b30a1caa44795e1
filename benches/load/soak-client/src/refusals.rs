//! Requests that must be refused, one for each way to be wrong, and how.

use serde_json::{Value, json};

use crate::asks::{Ask, Want};
use crate::ledger::Id;
use crate::person::Person;
use crate::post::{MODERN, Post};

/// What may be wrong with a request that is otherwise a modern call of `echo`.
type Fault = (fn(Post) -> Post, u16, i64, bool);

/// Status, code, and whether the refusal has the request's id.
const FAULTS: &[Fault] = &[
    (
        |post| post.header("origin", "http://localhost").header("origin", "http://localhost"),
        400,
        -32600,
        false,
    ),
    (|post| post.header("origin", "http://evil.example"), 403, -32600, false),
    (|post| Post { host: "evil.example", ..post }, 403, -32600, false),
    (|post| post.header("content-type", "application/json"), 400, -32600, false),
    (|post| Post { path: "/mcp?q=%ff".to_owned(), ..post }, 400, -32600, false),
    (|post| post.set("content-type", "text/plain"), 415, -32600, false),
    (|post| post.header("content-encoding", "gzip"), 415, -32600, false),
    (|post| post.set("accept", "text/html"), 406, -32600, false),
    (|post| member(post, "id", Value::Null), 400, -32600, false),
    (|post| member(post, "id", json!(1.5)), 400, -32600, false),
    (|post| post.header("mcp-session-id", "a").header("mcp-session-id", "a"), 400, -32600, true),
    (|post| post.header("mcp-protocol-version", MODERN), 400, -32600, true),
    (|post| meta(post, "clientCapabilities", json!(5)), 400, -32602, true),
    (
        |post| meta(post.set("mcp-protocol-version", "2027-01-01"), "protocolVersion", json!("2027-01-01")),
        400,
        -32022,
        true,
    ),
    (|post| post.without("mcp-method"), 400, -32020, true),
    (|post| post.set("mcp-method", "tools/list"), 400, -32020, true),
    (|post| post.header("mcp-name", "echo"), 400, -32020, true),
    (|post| post.set("mcp-name", "=?base64?!?="), 400, -32020, true),
    (|post| post.set("mcp-protocol-version", "2025-11-25"), 400, -32020, true),
    (|post| member(post, "jsonrpc", json!("1.0")), 400, -32600, true),
    (
        |post| member(post.set("mcp-method", "nothing").without("mcp-name"), "method", json!("nothing")),
        404,
        -32601,
        true,
    ),
    (|post| legacy(post), 400, -32600, true),
    (|post| legacy(post).header("mcp-session-id", "nobody's"), 404, -32001, true),
];

fn edit(mut post: Post, change: impl FnOnce(&mut Value)) -> Post {
    // What was just written can be read.
    let mut body = serde_json::from_slice(&post.body).unwrap_or_default();
    change(&mut body);
    post.body = body.to_string().into_bytes();
    post
}

fn member(post: Post, name: &str, value: Value) -> Post {
    edit(post, |body| body[name] = value)
}

fn meta(post: Post, name: &str, value: Value) -> Post {
    edit(post, |body| body["params"]["_meta"][format!("io.modelcontextprotocol/{name}")] = value)
}

/// Without anything that makes it modern.
fn legacy(post: Post) -> Post {
    let post = post.without("mcp-protocol-version").without("mcp-method").without("mcp-name");
    edit(post, |body| body["params"]["_meta"] = json!({}))
}

fn good(id: Id) -> Post {
    Post::modern(id, "tools/call", json!({"name": "echo", "arguments": {"message": "refuse me"}}))
}

/// One that leaves an HTTP/1.1 connection open.
pub(crate) fn open(person: &mut Person) -> Ask {
    if person.random.chance(20) {
        return bare(person);
    }
    let id = person.ask();
    let (change, status, code, with_id) = person.random.pick(FAULTS);
    Ask::new(change(good(id)), id, Want::Refusal { status, code, with_id })
}

/// Without a message: other verbs, other paths.
fn bare(person: &mut Person) -> Ask {
    person.ledger().sent();
    let unknown = |verb| Post::bare(verb).header("mcp-session-id", "nobody's");
    let (post, status) = match person.random.within(0, 6) {
        0 => (Post::bare("GET"), 405),
        1 => (Post::bare("DELETE"), 400),
        2 => (unknown("GET"), 404),
        3 => (unknown("DELETE"), 404),
        4 => (Post::bare("PUT"), 405),
        5 => (Post::bare("GET").header("mcp-protocol-version", MODERN), 405),
        _ => (Post { path: "/elsewhere".to_owned(), ..Post::bare("GET") }, 404),
    };
    Ask { post, id: None, want: Want::Plain(status) }
}

/// One with which an HTTP/1.1 connection ends.
pub(crate) fn closing(person: &mut Person) -> Ask {
    let id = person.ask();
    let mut post = good(id);
    let (status, code) = (400, -32700);
    let body = std::mem::take(&mut post.body);
    post.body = match person.random.within(0, 4) {
        0 => body[..body.len() - 1].to_vec(),
        1 => Vec::new(),
        2 => b"\xef\xbb\xbf{}".to_vec(),
        3 => vec![b'['; 300],
        _ => br#"{"jsonrpc":"2.0","id":1,"id":2}"#.to_vec(),
    };
    Ask::new(post, id, Want::Refusal { status, code, with_id: false })
}

/// What is no HTTP/1.1, or more than is taken: the bytes, and the status with which the connection ends.
pub(crate) fn broken(person: &mut Person) -> (Vec<u8>, u16) {
    let head = |line: &str| format!("POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n{line}\r\n\r\n");
    let (text, status) = match person.random.within(0, 8) {
        0 => ("NOT HTTP AT ALL\r\n\r\n".to_owned(), 400),
        1 => ("POST /mcp HTTP/3.0\r\nhost: 127.0.0.1\r\n\r\n".to_owned(), 505),
        2 => (head("content-length: 5\r\ntransfer-encoding: chunked"), 400),
        3 => (head("content-length: 5\r\ncontent-length: 6"), 400),
        4 => (head("transfer-encoding: gzip, chunked"), 501),
        5 => (head(&format!("x-long: {}", "x".repeat(10_001))), 431),
        6 => (format!("POST /{} HTTP/1.1\r\n\r\n", "x".repeat(10_001)), 414),
        7 => (head("content-type: application/json\r\ncontent-length: 9000000"), 413),
        _ => ("POST /mcp HTTP/1.1\r\n\r\n".to_owned(), 400),
    };
    (text.into_bytes(), status)
}
