//! HTTP/1.1 answers, read strictly: what does not parse here is a fault of the server.

use serde_json::Value;

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    pub status: u16,
    /// Names in lower case; without `date`, and with session ids masked: both differ from run to run.
    pub fields: Vec<(String, String)>,
    /// Without its framing.
    pub body: Vec<u8>,
    /// It answers HEAD: it has the length of a body, but none.
    pub head_only: bool,
}

impl Response {
    /// The one value of a field; `None` where it is not there.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut values =
            self.fields.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str());
        let value = values.next();
        assert_eq!(values.next(), None, "{name} comes twice");
        value
    }
}

/// Reads everything that a connection was answered. Interim answers are left out: whether `100 Continue` is sent depends on what has
/// arrived by then. `heads`: there may be answers to HEAD among them. Panics at what is not valid.
pub fn read_all(mut bytes: &[u8], heads: bool) -> Vec<Response> {
    let mut responses = Vec::new();
    while !bytes.is_empty() {
        let (mut response, rest) = read(bytes, heads);
        let last = response.field("connection") == Some("close");
        assert!(!last || rest.is_empty(), "something follows the last answer: {}", rest.escape_ascii());
        bytes = rest;
        if response.status >= 200 {
            check(&response);
            if response.field("content-type") == Some("text/event-stream") {
                response.body = normal(&response.body);
            }
            responses.push(response);
        } else {
            assert_eq!((response.status, response.fields.len()), (100, 0));
        }
    }
    responses
}

fn read(bytes: &[u8], heads: bool) -> (Response, &[u8]) {
    let mut slots = [httparse::EMPTY_HEADER; 32];
    let mut head = httparse::Response::new(&mut slots);
    let parsed = head.parse(bytes);
    let Ok(httparse::Status::Complete(len)) = parsed else {
        panic!("no answer: {parsed:?} in {}", bytes.escape_ascii())
    };
    assert!(bytes[..len].ends_with(b"\r\n\r\n") && head.version == Some(1));
    let mut fields = Vec::new();
    let mut dated = false;
    for field in head.headers.iter() {
        let name = field.name.to_owned();
        assert_eq!(name, name.to_ascii_lowercase());
        let mut value = std::str::from_utf8(field.value).expect("our own values").to_owned();
        if name == "date" {
            assert!(value.len() == 29 && value.ends_with(" GMT"), "{value}");
            assert!(!std::mem::replace(&mut dated, true), "two dates");
            continue;
        }
        if name == "mcp-session-id" {
            assert!(value.len() == 43 && value.bytes().all(|byte| byte.is_ascii_graphic()), "{value}");
            value = "(masked)".to_owned();
        }
        fields.push((name, value));
    }
    let mut response =
        Response { status: head.code.expect("complete"), fields, body: Vec::new(), head_only: false };
    assert_eq!(dated, response.status >= 200, "every final answer is dated");
    let rest = &bytes[len..];
    if response.field("transfer-encoding").is_some() {
        assert_eq!(response.field("content-length"), None);
        return unchunk(response, rest);
    }
    let length = response.field("content-length").map(|length| length.parse::<usize>().expect("digits"));
    match length {
        None if response.status == 100 || response.status == 204 => (response, rest),
        None => {
            assert_eq!(
                response.field("connection"),
                Some("close"),
                "the end of the connection is the end of the body"
            );
            response.body = rest.to_vec();
            (response, &[])
        }
        // No body of ours begins like an answer.
        Some(1..) if heads && (rest.is_empty() || rest.starts_with(b"HTTP/1.1 ")) => {
            response.head_only = true;
            (response, rest)
        }
        Some(length) => {
            assert!(rest.len() >= length, "the body is cut: {}", bytes.escape_ascii());
            response.body = rest[..length].to_vec();
            (response, &rest[length..])
        }
    }
}

fn unchunk(mut response: Response, mut rest: &[u8]) -> (Response, &[u8]) {
    loop {
        if rest.is_empty() {
            // Its client has gone, and a stream that nobody hears is given up where it is.
            assert_eq!(response.field("content-type"), Some("text/event-stream"), "the body is cut");
            return (response, rest);
        }
        let end = rest.windows(2).position(|pair| pair == b"\r\n").expect("a size line");
        let digits = std::str::from_utf8(&rest[..end]).expect("digits");
        let size = usize::from_str_radix(digits, 16).expect("a size");
        rest = &rest[end + 2..];
        response.body.extend_from_slice(&rest[..size]);
        assert_eq!(&rest[size..size + 2], b"\r\n");
        rest = &rest[size + 2..];
        if size == 0 {
            return (response, rest);
        }
    }
}

/// What holds for every answer, whatever was asked.
fn check(response: &Response) {
    let Response { status, body, .. } = response;
    const KNOWN: [u16; 20] =
        [200, 202, 204, 400, 401, 403, 404, 405, 406, 408, 413, 414, 415, 417, 429, 431, 501, 503, 505, 200];
    assert!(KNOWN.contains(status), "{status}");
    match response.field("content-type") {
        Some("application/json") => {
            if !response.head_only {
                serde_json::from_slice::<Value>(body)
                    .unwrap_or_else(|error| panic!("{error}: {}", body.escape_ascii()));
            }
        }
        Some("text/event-stream") => {
            assert_eq!(*status, 200);
            assert_eq!(response.field("cache-control"), Some("no-cache"));
            assert_eq!(response.field("x-accel-buffering"), Some("no"));
            events(body);
        }
        None => assert!(body.is_empty(), "a body without a type"),
        Some(other) => panic!("{other}"),
    }
    assert_eq!(response.field("allow").is_some(), *status == 405);
    assert_eq!(response.field("retry-after").is_some(), [429, 503].contains(status));
    if response.field("access-control-allow-origin").is_some() {
        assert!(response.field("vary").is_some());
    }
}

/// The messages of an event stream. Comments, and what has no data, are left out.
pub fn events(stream: &[u8]) -> Vec<Value> {
    let data = blocks(stream).into_iter().map(|(_, data)| data).filter(|data| !data.is_empty());
    data.map(|data| serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}"))).collect()
}

/// The ids and data of an event stream's events. Comments are left out.
pub fn blocks(stream: &[u8]) -> Vec<(Option<String>, String)> {
    let text = std::str::from_utf8(stream).expect("a stream is UTF-8");
    assert!(!text.contains(['\r', '\u{2028}', '\u{2029}', '\u{85}']), "{text:?}");
    let Some(text) = text.strip_suffix("\n\n") else {
        assert!(text.is_empty(), "{text:?}");
        return Vec::new();
    };
    let mut blocks = Vec::new();
    for event in text.split("\n\n").filter(|event| *event != ":") {
        let (id, rest) = match event.strip_prefix("id: ").and_then(|event| event.split_once('\n')) {
            Some((id, rest)) => (Some(id.to_owned()), rest),
            None => (None, event),
        };
        let data = rest.strip_prefix("data:").unwrap_or_else(|| panic!("{event:?}"));
        assert!(!data.contains('\n') && (id.is_some() || !data.is_empty()), "{event:?}");
        blocks.push((id, data.trim_start().to_owned()));
    }
    blocks
}

/// An event stream without what differs from run to run: comments, and what tells sessions apart in the ids of its events.
fn normal(stream: &[u8]) -> Vec<u8> {
    let shown = |(id, data): (Option<String>, String)| {
        let id = id.map(|id| id.split_once('-').expect("an event id").1.to_owned());
        format!("id: {id:?}\ndata: {data}\n\n")
    };
    blocks(stream).into_iter().map(shown).collect::<String>().into_bytes()
}
