//! Event streams as WHATWG HTML has them read (9.2.6), step by step.

/// What ends a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// CR LF, LF, CR.
    Standard,
    /// And what some clients take for line ends too: U+0085, U+2028, U+2029, and vertical tab and form feed with them.
    Every,
}

/// A message that was dispatched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub data: String,
    /// The last event id, then.
    pub id: String,
}

/// A stream that has been read.
#[derive(Debug, Default)]
pub struct Read {
    pub messages: Vec<Message>,
    pub last_id: String,
    pub retry: Option<u64>,
}

/// Reads a stream. An event that no empty line ends is none.
pub fn read(stream: &[u8], lines: Lines) -> Read {
    let text = String::from_utf8_lossy(stream);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut read = Read::default();
    let mut data = String::new();
    let mut id = String::new();
    for line in split(text, lines) {
        if line.is_empty() {
            read.last_id.clone_from(&id);
            if let Some(data) = data.strip_suffix('\n') {
                read.messages.push(Message { data: data.to_owned(), id: id.clone() });
            }
            data.clear();
            continue;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => {
                data.push_str(value);
                data.push('\n');
            }
            "id" if !value.contains('\0') => value.clone_into(&mut id),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => read.retry = value.parse().ok(),
            _ => {}
        }
    }
    read
}

/// The lines that are ended.
fn split(text: &str, lines: Lines) -> Vec<&str> {
    let ends = |c: char| match c {
        '\r' | '\n' => true,
        '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => lines == Lines::Every,
        _ => false,
    };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(ends) {
        found.push(&rest[..at]);
        let end = rest[at..].chars().next().map_or(0, char::len_utf8);
        rest = rest[at..].strip_prefix("\r\n").unwrap_or(&rest[at + end..]);
    }
    found
}
