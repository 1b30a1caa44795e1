//! How ids that are floats were spelled.
//!
//! An id comes back as the same JSON value, `1.0` as `1.0`, but the tape has only its value, and while the tape lives it owns the text. So
//! numbers after `"id"` that have a fraction or an exponent are copied beforehand, and matched to their nodes afterwards by where they
//! stand. Honest ids are integers or strings, so nearly always nothing is copied.

use memchr::memmem::Finder;
use simd_json::Node;

use crate::view::node::Value;

/// The longest id, in bytes: of its text where it is a string, of its spelling where it is a number. Inclusive.
pub const LONGEST_ID: usize = 8192;

/// Bytes at either end of a body in which `"id"` is looked for: ids stand at the start or the end of a message.
const WINDOW: usize = 2048;

/// A number that was copied.
#[derive(Debug, Clone, Copy)]
struct Spelling {
    /// Where it stands in the body.
    offset: usize,
    /// Its node, counted from the tape's start; none until linked.
    node: Option<usize>,
    /// Where the copy lies.
    start: usize,
    end: usize,
}

/// The spellings that a document kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spellings<'t> {
    text: &'t str,
    found: &'t [Spelling],
    nodes: usize,
}

impl<'t> Spellings<'t> {
    /// The text of a number, if it was kept.
    pub(in crate::view) fn of(self, value: Value<'_, '_>) -> Option<&'t str> {
        let node = self.nodes.checked_sub(value.nodes_to_end());
        let spelling = self.found.iter().find(|spelling| spelling.node.is_some() && spelling.node == node)?;
        self.text.get(spelling.start..spelling.end)
    }
}

/// Finds, keeps and links spellings; its storage is reused.
pub(super) struct Recorder {
    finder: Finder<'static>,
    text: String,
    found: Vec<Spelling>,
    open: Vec<Open>,
}

/// An array or object that a walk is inside of.
struct Open {
    /// The first node after it.
    end: usize,
    /// Whether a child was seen, so that the next one follows a comma or a colon.
    started: bool,
}

impl Recorder {
    pub(super) fn new() -> Self {
        Self { finder: Finder::new(b"\"id\""), text: String::new(), found: Vec::new(), open: Vec::new() }
    }

    /// Copies the candidates out of a body that is not parsed yet.
    pub(super) fn record(&mut self, body: &[u8]) {
        self.text.clear();
        self.found.clear();
        if is_plain(body) {
            return;
        }
        if body.len() <= 2 * WINDOW {
            self.record_in(body, 0, body.len());
        } else {
            self.record_in(body, 0, WINDOW);
            self.record_in(body, body.len() - WINDOW, body.len());
        }
    }

    fn record_in(&mut self, body: &[u8], from: usize, to: usize) {
        let Self { finder, text, found, .. } = self;
        // A number at the window's end may reach past it; one byte more than an id may have tells that it is too long.
        let reach = &body[..body.len().min(to + LONGEST_ID + 1)];
        for at in finder.find_iter(&body[from..to]) {
            let after_key = skip_space(reach, from + at + b"\"id\"".len());
            if reach.get(after_key) != Some(&b':') {
                continue;
            }
            let offset = skip_space(reach, after_key + 1);
            let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
            let token = &reach[offset..];
            let token = &token[..token.iter().take_while(|byte| is_part(byte)).count()];
            if !token.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
                continue;
            }
            let start = text.len();
            text.extend(token.iter().map(|&byte| char::from(byte)));
            found.push(Spelling { offset, node: None, start, end: text.len() });
        }
    }

    /// Finds the candidates' nodes: walks the tape along the structural offsets, which name every node's first byte and every comma,
    /// colon and closing bracket, in order.
    pub(super) fn link(&mut self, nodes: &[Node<'_>], structurals: &[u32]) {
        if self.found.is_empty() {
            return;
        }
        self.open.clear();
        let mut wanted = self.found.iter_mut().peekable();
        let mut structural = 0;
        for (at, node) in nodes.iter().enumerate() {
            while self.open.pop_if(|open| open.end == at).is_some() {
                structural += 1;
            }
            if let Some(parent) = self.open.last_mut() {
                structural += usize::from(parent.started);
                parent.started = true;
            }
            let Some(offset) = structurals.get(structural).map(|&offset| offset as usize) else { return };
            structural += 1;
            while wanted.next_if(|spelling| spelling.offset < offset).is_some() {}
            if let Some(spelling) = wanted.next_if(|spelling| spelling.offset == offset) {
                spelling.node = Some(at);
            }
            if wanted.peek().is_none() {
                return;
            }
            match node {
                Node::Object { count, .. } | Node::Array { count, .. } => {
                    self.open.push(Open { end: at + count + 1, started: false });
                }
                Node::Static(_) | Node::String(_) => {}
            }
        }
    }

    /// What was kept, for a tape of `nodes` nodes.
    pub(super) fn spellings(&self, nodes: usize) -> Spellings<'_> {
        Spellings { text: &self.text, found: &self.found, nodes }
    }
}

/// Whether the body is one message whose id stands where clients put it and is no float: behind `jsonrpc` at the start, or last. A message
/// with a second id is refused for that, so that nothing is missed.
fn is_plain(body: &[u8]) -> bool {
    const FIRST: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":";
    const LAST: &[u8] = b",\"id\":";
    if let Some(rest) = body.strip_prefix(FIRST) {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        return matches!(rest.get(digits), Some(b',' | b'"'));
    }
    let Some(rest) = body.strip_suffix(b"}").filter(|_| body.starts_with(b"{")) else { return false };
    let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    // The bracket closes the root, so that whatever stands right before it is a member of the message; a key that only ends like this one
    // would need a quote in it, and a backslash before that.
    digits > 0 && rest[..rest.len() - digits].ends_with(LAST)
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn only_ids_that_are_no_floats_are_plain() {
        for plain in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"1.0","method":"ping"}"#,
            r#"{"method":"ping","jsonrpc":"2.0","id":12}"#,
            r#"{"params":{"id":1.0},"id":1}"#,
        ] {
            assert!(is_plain(plain.as_bytes()), "{plain}");
        }
        for looked_at in [
            r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1e2,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":-1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id": 1.0}"#,
            r#"{"method":"ping","id":1.0}"#,
            r#"{"method":"ping","id":1E05}"#,
            r#"{"method":"ping","id":1 }"#,
            r#"{"params":{"a":",\"id":1}"#,
            r#"[{"id":1.0},{"id":1}"#,
            r#"[{"id":1.0,"id":1}]"#,
            r#"{"id":1.0,"a":1}"#,
            r#"{"id":}"#,
            "{}",
            "}",
            "",
        ] {
            assert!(!is_plain(looked_at.as_bytes()), "{looked_at}");
        }
    }
}
