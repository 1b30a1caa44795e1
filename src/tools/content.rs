//! Content blocks: what a tool hands to the model (MCP server/tools, "Tool Result").

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::schema::Map;
use crate::tables::versions::{Feature, Revision};

use super::link::ResourceLink;
use super::members::{Members, write_number, write_value};

/// One block of a tool's result.
///
/// ```
/// use twolane::tools::{Content, Role};
///
/// let text = Content::text("42 degrees").audience([Role::User]).priority(0.8);
/// let image = Content::image([0x89, b'P', b'N', b'G'], "image/png");
/// assert_eq!(text.as_text(), Some("42 degrees"));
/// assert_eq!(image.as_text(), None);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    block: Block,
    annotations: Option<Box<Annotations>>,
    meta: Option<Box<Map>>,
}

/// What a block holds.
#[derive(Debug, Clone, PartialEq)]
enum Block {
    Text(Cow<'static, str>),
    Image(Box<Media>),
    Audio(Box<Media>),
    Resource(Box<Resource>),
    Link(Box<ResourceLink>),
}

/// Bytes in base64 with their media type.
#[derive(Debug, Clone, PartialEq)]
struct Media {
    data: String,
    mime_type: Cow<'static, str>,
}

/// A resource carried along.
#[derive(Debug, Clone, PartialEq)]
struct Resource {
    uri: String,
    mime_type: Option<String>,
    body: ResourceBody,
}

#[derive(Debug, Clone, PartialEq)]
enum ResourceBody {
    Text(String),
    Blob(String),
}

/// Whom a block is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

impl Role {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// Hints for the client about a block or a resource.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Annotations {
    pub(super) audience: Vec<Role>,
    pub(super) priority: Option<f64>,
    pub(super) last_modified: Option<String>,
}

impl From<&'static str> for Content {
    fn from(text: &'static str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl Content {
    fn of(block: Block) -> Self {
        Self { block, annotations: None, meta: None }
    }

    /// Text.
    #[must_use]
    pub fn text(text: impl Into<Cow<'static, str>>) -> Self {
        Self::of(Block::Text(text.into()))
    }

    /// An image; the bytes are encoded here.
    #[must_use]
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<Cow<'static, str>>) -> Self {
        Self::of(Block::Image(Media::of(bytes.as_ref(), mime_type.into())))
    }

    /// A sound; the bytes are encoded here.
    #[must_use]
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<Cow<'static, str>>) -> Self {
        Self::of(Block::Audio(Media::of(bytes.as_ref(), mime_type.into())))
    }

    /// A resource with text, carried along.
    #[must_use]
    pub fn resource_text(
        uri: impl Into<String>,
        mime_type: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self::of(Block::Resource(Box::new(Resource {
            uri: uri.into(),
            mime_type: Some(mime_type.into()),
            body: ResourceBody::Text(text.into()),
        })))
    }

    /// A resource with bytes, carried along; the bytes are encoded here.
    #[must_use]
    pub fn resource_blob(
        uri: impl Into<String>,
        mime_type: impl Into<String>,
        bytes: impl AsRef<[u8]>,
    ) -> Self {
        Self::of(Block::Resource(Box::new(Resource {
            uri: uri.into(),
            mime_type: Some(mime_type.into()),
            body: ResourceBody::Blob(STANDARD.encode(bytes)),
        })))
    }

    /// A link to a resource. Clients of 2025-03-26, which has no links, get the URI as text.
    #[must_use]
    pub fn resource_link(link: ResourceLink) -> Self {
        Self::of(Block::Link(Box::new(link)))
    }

    /// Names whom the block is meant for.
    #[must_use]
    pub fn audience(mut self, audience: impl IntoIterator<Item = Role>) -> Self {
        self.annotations.get_or_insert_default().audience = audience.into_iter().collect();
        self
    }

    /// Says how important the block is, from 0 (optional) to 1 (required). Other values are brought into that range.
    #[must_use]
    pub fn priority(mut self, priority: f64) -> Self {
        self.annotations.get_or_insert_default().priority = Some(priority.clamp(0.0, 1.0));
        self
    }

    /// Says when the thing shown was last changed, in ISO 8601. Dropped for clients of 2025-03-26.
    #[must_use]
    pub fn last_modified(mut self, instant: impl Into<String>) -> Self {
        self.annotations.get_or_insert_default().last_modified = Some(instant.into());
        self
    }

    /// Adds a member to the block's `_meta`. Dropped for clients of 2025-03-26.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.meta.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    /// The text of a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.block {
            Block::Text(text) => Some(text),
            Block::Image(_) | Block::Audio(_) | Block::Resource(_) | Block::Link(_) => None,
        }
    }

    /// Appends the block as a JSON object, with what `revision` has.
    pub(super) fn write(&self, out: &mut Vec<u8>, revision: Revision) {
        out.push(b'{');
        let mut members = Members::new(out);
        match &self.block {
            Block::Text(text) => write_text(&mut members, text),
            Block::Image(media) => media.write(&mut members, "image"),
            Block::Audio(media) => media.write(&mut members, "audio"),
            Block::Resource(resource) => resource.write(&mut members),
            Block::Link(link) if revision.has(Feature::ResourceLinks) => link.write(&mut members, revision),
            Block::Link(link) => write_text(&mut members, &link.uri),
        }
        if let Some(annotations) = &self.annotations {
            annotations.write(members.key("annotations"), revision);
        }
        if let Some(meta) = self.meta.as_ref().filter(|_| revision.has(Feature::Meta)) {
            members.value("_meta", meta);
        }
        out.push(b'}');
    }
}

fn write_text(members: &mut Members<'_>, text: &str) {
    members.rendered(b"\"type\":\"text\"");
    members.text("text", text);
}

impl Media {
    fn of(bytes: &[u8], mime_type: Cow<'static, str>) -> Box<Self> {
        Box::new(Self { data: STANDARD.encode(bytes), mime_type })
    }

    fn write(&self, members: &mut Members<'_>, kind: &str) {
        members.text("type", kind);
        members.text("data", &self.data);
        members.text("mimeType", &self.mime_type);
    }
}

impl Resource {
    fn write(&self, members: &mut Members<'_>) {
        members.text("type", "resource");
        let out = members.key("resource");
        out.push(b'{');
        let mut inner = Members::new(out);
        inner.text("uri", &self.uri);
        inner.text_if("mimeType", self.mime_type.as_deref());
        match &self.body {
            ResourceBody::Text(text) => inner.text("text", text),
            ResourceBody::Blob(data) => inner.text("blob", data),
        }
        out.push(b'}');
    }
}

impl Annotations {
    pub(super) fn write(&self, out: &mut Vec<u8>, revision: Revision) {
        out.push(b'{');
        let mut members = Members::new(out);
        if !self.audience.is_empty() {
            let names: Vec<_> = self.audience.iter().map(|role| role.name()).collect();
            write_value(members.key("audience"), &names);
        }
        if let Some(priority) = self.priority {
            write_number(members.key("priority"), priority);
        }
        if revision.has(Feature::LastModified) {
            members.text_if("lastModified", self.last_modified.as_deref());
        }
        out.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Icon;

    fn written(content: &Content, revision: Revision) -> String {
        let mut out = Vec::new();
        content.write(&mut out, revision);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn blocks_in_the_newest_revision() {
        for (content, json) in [
            (Content::text("a\"b"), r#"{"type":"text","text":"a\"b"}"#),
            (
                Content::image(b"\x00\xff", "image/png"),
                r#"{"type":"image","data":"AP8=","mimeType":"image/png"}"#,
            ),
            (
                Content::audio([1, 2, 3], "audio/wav"),
                r#"{"type":"audio","data":"AQID","mimeType":"audio/wav"}"#,
            ),
            (
                Content::resource_text("file:///a", "text/plain", "x"),
                r#"{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"x"}}"#,
            ),
            (
                Content::resource_blob("file:///a", "a/b", [0]),
                r#"{"type":"resource","resource":{"uri":"file:///a","mimeType":"a/b","blob":"AA=="}}"#,
            ),
            (
                Content::resource_link(
                    ResourceLink::new("file:///a", "a")
                        .title("A")
                        .description("d")
                        .mime_type("t/p")
                        .size(3)
                        .icon(Icon::new("data:,")),
                ),
                r#"{"type":"resource_link","uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"t/p","size":3,"icons":[{"src":"data:,"}]}"#,
            ),
            (
                Content::text("x")
                    .audience([Role::User, Role::Assistant])
                    .priority(2.0)
                    .last_modified("2025-01-01T00:00:00Z")
                    .meta("a/b", 1),
                r#"{"type":"text","text":"x","annotations":{"audience":["user","assistant"],"priority":1,"lastModified":"2025-01-01T00:00:00Z"},"_meta":{"a/b":1}}"#,
            ),
        ] {
            assert_eq!(written(&content, Revision::V2026_07_28), json);
        }
    }

    #[test]
    fn older_revisions_lose_what_they_lack() {
        let link =
            Content::resource_link(ResourceLink::new("file:///a", "a").title("A").icon(Icon::new("data:,")))
                .priority(0.5)
                .last_modified("x")
                .meta("a", 1);
        assert_eq!(
            written(&link, Revision::V2025_03_26),
            r#"{"type":"text","text":"file:///a","annotations":{"priority":0.5}}"#
        );
        assert_eq!(
            written(&link, Revision::V2025_06_18),
            r#"{"type":"resource_link","uri":"file:///a","name":"a","title":"A","annotations":{"priority":0.5,"lastModified":"x"},"_meta":{"a":1}}"#
        );
        assert!(written(&link, Revision::V2025_11_25).contains("icons"));
    }
}
