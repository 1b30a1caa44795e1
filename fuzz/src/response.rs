//! Answers, read strictly: what does not parse here is a fault of the server.

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
        let (response, rest) = read(bytes, heads);
        let last = response.field("connection") == Some("close");
        assert!(!last || rest.is_empty(), "something follows the last answer: {}", rest.escape_ascii());
        bytes = rest;
        if response.status >= 200 {
            responses.push(settled(response));
        } else {
            assert_eq!((response.status, response.fields.len()), (100, 0));
        }
    }
    responses
}

/// A valid answer, without what differs from run to run. Panics at one that is not valid.
pub fn settled(mut response: Response) -> Response {
    check(&response);
    mask(&mut response);
    response
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
    let streams = response.field("content-type") == Some("text/event-stream");
    loop {
        // A stream ends with its connection where its client goes first.
        if streams && rest.is_empty() {
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

/// What is random, or tells the time, is the same in all answers from here on.
fn mask(response: &mut Response) {
    match response.field("content-type") {
        Some("application/json") if !response.head_only => response.body = masked(&response.body),
        Some("text/event-stream") => {
            let mut body = Vec::new();
            for Event { id, data, retry } in events(&response.body) {
                // The first part of an id tells sessions apart.
                let id = id.as_deref().map(|id| id.split_once('-').map_or(id, |(_, rest)| rest).to_owned());
                let data = data.map(|data| String::from_utf8(masked(data.as_bytes())).expect("JSON"));
                body.extend_from_slice(format!("{id:?} {data:?} {retry:?}\n").as_bytes());
            }
            response.body = body;
        }
        _ => {}
    }
}

fn masked(json: &[u8]) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(json).expect("it has been checked");
    if value.get("method").is_some() && value.get("id").is_some() {
        value["id"] = Value::Null;
    }
    mask_members(&mut value);
    serde_json::to_vec(&value).expect("JSON")
}

fn mask_members(value: &mut Value) {
    const RANDOM: [&str; 5] = ["requestId", "taskId", "requestState", "createdAt", "lastUpdatedAt"];
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                if RANDOM.contains(&&key[..]) && value.is_string() {
                    *value = Value::Null;
                } else {
                    mask_members(value);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(mask_members),
        _ => {}
    }
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    pub id: Option<String>,
    /// `None`: no message, but an id to come back with or a time to stay away.
    pub data: Option<String>,
    pub retry: Option<u64>,
}

/// The events of a stream, read strictly. Comments are left out.
pub fn events(stream: &[u8]) -> Vec<Event> {
    let text = std::str::from_utf8(stream).expect("a stream is UTF-8");
    assert!(!text.contains(['\r', '\u{2028}', '\u{2029}', '\u{85}']), "{text:?}");
    let Some(text) = text.strip_suffix("\n\n") else {
        assert!(text.is_empty(), "{text:?}");
        return Vec::new();
    };
    text.split("\n\n").filter(|event| *event != ":").map(event).collect()
}

/// `id` and `data`, `id` and an empty `data`, `data` alone, or `retry` alone.
fn event(text: &str) -> Event {
    let mut event = Event::default();
    if let Some(ms) = text.strip_prefix("retry: ") {
        event.retry = Some(ms.parse().unwrap_or_else(|_| panic!("{text:?}")));
        return event;
    }
    let mut rest = text;
    if let Some((id, data)) = rest.strip_prefix("id: ").and_then(|rest| rest.split_once('\n')) {
        assert!(!id.is_empty(), "{text:?}");
        (event.id, rest) = (Some(id.to_owned()), data);
    }
    if rest == "data:" {
        assert!(event.id.is_some(), "{text:?}");
        return event;
    }
    let data = rest.strip_prefix("data: ").unwrap_or_else(|| panic!("{text:?}"));
    assert!(!data.contains('\n'), "{text:?}");
    serde_json::from_str::<Value>(data).unwrap_or_else(|error| panic!("{error}: {data}"));
    event.data = Some(data.to_owned());
    event
}
