//! A tool's result and its members on the wire (MCP server/tools, `CallToolResult`).

use smallvec::{SmallVec, smallvec};

use crate::schema::Map;
use crate::tables::versions::{Feature, Revision};

use super::content::Content;
use super::members::{Members, write_value};
use super::produced::ProtocolError;

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// What the model reads.
    pub content: SmallVec<[Content; 1]>,
    /// What programs read. Clients whose revision has no place for it do not get it, so `content` must say the same.
    pub structured: Option<Box<serde_json::Value>>,
    /// Whether the call failed. A failure is a result: the model sees it and may try again.
    pub is_error: bool,
    /// `_meta` of the result.
    pub meta: Option<Box<Map>>,
    /// A JSON-RPC error that takes the place of the result: the rest of it is then dropped.
    pub failure: Option<Box<ProtocolError>>,
}

impl ToolResult {
    /// A result with one block.
    #[must_use]
    pub fn new(content: Content) -> Self {
        Self { content: smallvec![content], ..Self::default() }
    }

    /// A result with one text block.
    #[must_use]
    pub fn text(text: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self::new(Content::text(text))
    }

    /// A failure that says what went wrong, for the model to act on.
    #[must_use]
    pub fn error(text: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// No result: the call ends as a JSON-RPC error.
    #[must_use]
    pub fn protocol_error(error: ProtocolError) -> Self {
        Self { failure: Some(Box::new(error)), ..Self::default() }
    }

    /// A result with structured content and the same JSON as a text block.
    #[must_use]
    pub fn structured(value: serde_json::Value) -> Self {
        let mut result = Self::text(value.to_string());
        result.structured = Some(Box::new(value));
        result
    }

    /// Adds a block.
    #[must_use]
    pub fn with(mut self, content: Content) -> Self {
        self.content.push(content);
        self
    }

    /// Adds a member to `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.meta.get_or_insert_default().insert(key.into(), value.into());
        self
    }
}

/// Appends the members of a `CallToolResult`, without braces and with only what `revision` has. `own_meta` are rendered members that
/// the server itself puts into `_meta` (empty for none); a member of the same name in the result gives way.
pub fn write_result(out: &mut Vec<u8>, result: &ToolResult, revision: Revision, own_meta: &[u8]) {
    let mut members = Members::new(out);
    let blocks = members.key("content");
    blocks.push(b'[');
    for (at, content) in result.content.iter().enumerate() {
        if at > 0 {
            blocks.push(b',');
        }
        content.write(blocks, revision);
    }
    blocks.push(b']');
    if let Some(structured) = result.structured.as_ref().filter(|value| carries(revision, value)) {
        members.value("structuredContent", structured);
    }
    if result.is_error {
        members.flag_if("isError", Some(true));
    }
    write_meta(&mut members, result.meta.as_deref(), own_meta);
}

/// Whether `revision` has a place for this structured content: none, objects alone, or anything.
fn carries(revision: Revision, value: &serde_json::Value) -> bool {
    revision.has(Feature::StructuredContent)
        && (value.is_object() || revision.has(Feature::AnyStructuredContent))
}

/// The protocol's own names in `_meta`; only the server itself fills them.
const RESERVED: &str = "io.modelcontextprotocol/";

pub(super) fn write_meta(members: &mut Members<'_>, meta: Option<&Map>, own_meta: &[u8]) {
    if meta.is_none() && own_meta.is_empty() {
        return;
    }
    let out = members.key("_meta");
    out.push(b'{');
    let mut inner = Members::new(out);
    inner.rendered(own_meta);
    for (key, value) in meta.into_iter().flatten() {
        if !key.starts_with(RESERVED) {
            write_value(inner.foreign_key(key), value);
        }
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(result: &ToolResult, revision: Revision, own_meta: &[u8]) -> String {
        let mut out = Vec::new();
        write_result(&mut out, result, revision, own_meta);
        let text = String::from_utf8(out).unwrap();
        let _: serde_json::Value = serde_json::from_str(&format!("{{{text}}}")).unwrap();
        text
    }

    #[test]
    fn members_by_revision() {
        let result = ToolResult::structured(json!({"b": 1, "a": [true]})).with(Content::text("more"));
        let content =
            r#""content":[{"type":"text","text":"{\"b\":1,\"a\":[true]}"},{"type":"text","text":"more"}]"#;
        assert_eq!(written(&result, Revision::V2025_03_26, b""), content);
        for revision in [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28] {
            assert_eq!(
                written(&result, revision, b""),
                format!("{content},\"structuredContent\":{{\"b\":1,\"a\":[true]}}")
            );
        }
        for value in [json!([1]), json!("x"), json!(null), json!(1.5)] {
            let result = ToolResult::structured(value);
            assert!(!written(&result, Revision::V2025_11_25, b"").contains("structuredContent"));
            assert!(written(&result, Revision::V2026_07_28, b"").contains("structuredContent"));
        }
    }

    #[test]
    fn errors_and_empty_results() {
        assert_eq!(
            written(&ToolResult::error("no"), Revision::V2025_03_26, b""),
            r#""content":[{"type":"text","text":"no"}],"isError":true"#
        );
        assert_eq!(written(&ToolResult::default(), Revision::V2026_07_28, b""), r#""content":[]"#);
    }

    #[test]
    fn meta_of_the_server_comes_first_and_is_not_forged() {
        let own = br#""io.modelcontextprotocol/serverInfo":{}"#;
        let result = ToolResult::text("").meta("a", 1).meta("io.modelcontextprotocol/serverInfo", "forged");
        let content = r#""content":[{"type":"text","text":""}]"#;
        assert_eq!(
            written(&result, Revision::V2026_07_28, own),
            format!("{content},\"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{{}},\"a\":1}}")
        );
        assert_eq!(written(&result, Revision::V2025_03_26, b""), format!("{content},\"_meta\":{{\"a\":1}}"));
        assert_eq!(
            written(&ToolResult::text(""), Revision::V2026_07_28, own),
            format!("{content},\"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{{}}}}")
        );
    }
}
