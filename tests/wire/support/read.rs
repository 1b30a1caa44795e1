//! Strict readers: what an HTTP/1.1 response and an event stream must look like. Anything loose is a panic.

use std::io::BufRead;

use serde_json::Value;

use super::message::Response;

/// The head of a response.
#[derive(Debug, Clone)]
pub struct Head {
    pub status: u16,
    pub headers: Vec<(String, String)>,
}

impl Head {
    #[track_caller]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(other, _)| other == name);
        let first = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "more than one {name}: {self:?}");
        first
    }
}

/// One line, which must end in CR LF and contain neither otherwise.
#[track_caller]
fn line(from: &mut impl BufRead) -> String {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line).expect("reading a line");
    let text = line
        .strip_suffix(b"\r\n")
        .unwrap_or_else(|| panic!("no CR LF after {:?}", line.escape_ascii().to_string()));
    assert!(!text.contains(&b'\r') && !text.contains(&0), "{:?}", text.escape_ascii().to_string());
    String::from_utf8(text.to_vec()).expect("heads are ASCII")
}

/// Reads a status line and headers.
#[track_caller]
pub fn head(from: &mut impl BufRead) -> Head {
    let status_line = line(from);
    let (status, reason) =
        status_line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.split_at_checked(3)).expect(&status_line);
    assert!(reason.len() > 1 && reason.starts_with(' '), "{status_line:?}");
    let status = status.parse().expect(&status_line);
    let mut headers = Vec::new();
    loop {
        let line = line(from);
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("no header: {line:?}"));
        let token = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(!name.is_empty() && name.bytes().all(token), "{line:?}");
        assert!(value.bytes().all(|byte| matches!(byte, b'\t' | 0x20..=0x7e)), "{line:?}");
        assert_eq!(value.trim(), value, "{line:?}");
        headers.push((name.to_owned(), value.to_owned()));
    }
    Head { status, headers }
}

/// Reads one chunk; `None` is the last one, with its trailers, of which there are none.
#[track_caller]
pub fn chunk(from: &mut impl BufRead) -> Option<Vec<u8>> {
    let size_line = line(from);
    let size =
        usize::from_str_radix(&size_line, 16).unwrap_or_else(|_| panic!("no chunk size: {size_line:?}"));
    let mut data = vec![0; size];
    from.read_exact(&mut data).expect("a whole chunk");
    assert_eq!(line(from), "", "a chunk ends with CR LF");
    (size > 0).then_some(data)
}

/// Reads the response to a request of `verb`, interim ones before it too.
#[track_caller]
pub fn response(from: &mut impl BufRead, verb: &str) -> Response {
    let mut interim = Vec::new();
    let head = loop {
        let head = head(from);
        if head.status >= 200 {
            break head;
        }
        assert!(head.headers.is_empty(), "{head:?}");
        interim.push(head.status);
    };
    assert!(head.header("date").is_some_and(|date| date.len() == 29 && date.ends_with(" GMT")), "{head:?}");
    let length =
        head.header("content-length").map(|length| length.parse::<usize>().expect("a decimal length"));
    let chunked = head.header("transfer-encoding").map(|coding| assert_eq!(coding, "chunked"));
    let mut body = Vec::new();
    match (verb, head.status, length, chunked) {
        (_, _, Some(_), Some(())) => panic!("two framings: {head:?}"),
        (_, 204, length, chunked) => assert!(length.is_none() && chunked.is_none(), "{head:?}"),
        ("HEAD", ..) => {}
        (_, _, Some(length), None) => {
            body.resize(length, 0);
            from.read_exact(&mut body).expect("a whole body");
        }
        (_, _, None, Some(())) => {
            while let Some(data) = chunk(from) {
                body.extend_from_slice(&data);
            }
        }
        (_, _, None, None) => {
            assert_eq!(head.header("connection"), Some("close"), "{head:?}");
            from.read_to_end(&mut body).expect("a body until the end");
        }
    }
    check_body(&head, &body, verb);
    Response { status: head.status, headers: head.headers, body, interim }
}

/// What holds for every response of this server.
#[track_caller]
pub fn check_body(head: &Head, body: &[u8], verb: &str) {
    match head.header("content-type") {
        None => assert!(body.is_empty(), "a body without a type: {head:?}"),
        Some("application/json") if verb == "HEAD" => {}
        Some("application/json") => {
            serde_json::from_slice::<Value>(body)
                .unwrap_or_else(|error| panic!("{error}: {:?}", body.escape_ascii().to_string()));
        }
        Some("text/event-stream") => {
            assert_eq!(head.header("cache-control"), Some("no-cache"), "{head:?}");
            assert_eq!(head.header("x-accel-buffering"), Some("no"), "{head:?}");
        }
        Some(other) => panic!("a type of its own: {other}"),
    }
}

/// One block of an event stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    pub id: Option<String>,
    pub event: Option<String>,
    pub retry: Option<u64>,
    /// The one `data` line; `None` where there is none.
    pub data: Option<String>,
}

impl Event {
    /// The message it carries.
    #[track_caller]
    pub fn json(&self) -> Value {
        let data = self.data.as_deref().unwrap_or_else(|| panic!("no data: {self:?}"));
        serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"))
    }
}

/// Reads a stream that is complete. Comments are skipped.
#[track_caller]
pub fn events(stream: &[u8]) -> Vec<Event> {
    let text = std::str::from_utf8(stream).expect("a stream is UTF-8");
    assert!(text.is_empty() || text.ends_with("\n\n"), "a stream ends with an empty line: {text:?}");
    assert!(!text.contains(['\r', '\u{2028}', '\u{2029}', '\u{85}']), "LF alone ends lines: {text:?}");
    text.split_terminator("\n\n").filter_map(event).collect()
}

/// Reads one block; `None` where it is all comments.
#[track_caller]
pub fn event(block: &str) -> Option<Event> {
    let mut event = Event::default();
    let mut fields = 0;
    for line in block.lines().filter(|line| !line.starts_with(':')) {
        fields += 1;
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => assert!(event.id.replace(value.to_owned()).is_none(), "two ids: {block:?}"),
            "event" => assert!(event.event.replace(value.to_owned()).is_none(), "two names: {block:?}"),
            "data" => assert!(event.data.replace(value.to_owned()).is_none(), "two data lines: {block:?}"),
            "retry" => event.retry = Some(value.parse().expect("retry is a number")),
            other => panic!("a field that no client knows: {other:?}"),
        }
    }
    (fields > 0).then_some(event)
}
