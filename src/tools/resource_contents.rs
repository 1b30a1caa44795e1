//! What a read comes to, and its members on the wire (MCP server/resources, `ReadResourceResult`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::schema::Map;
use crate::tables::versions::{Feature, Revision};

use super::handler_error::HandlerError;
use super::identity::{CacheScope, Identity};
use super::members::Members;
use super::result::write_meta;

/// The contents of a resource, or of a part of one.
///
/// ```
/// use twolane::tools::Contents;
///
/// let readme = Contents::text("# Hello").mime_type("text/markdown");
/// let logo = Contents::blob([0x89, b'P', b'N', b'G']).uri("file:///logo.png").mime_type("image/png");
/// assert_ne!(readme, logo);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    uri: Option<String>,
    mime_type: Option<String>,
    body: Body,
    meta: Option<Box<Map>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Body {
    Text(String),
    /// In base64.
    Blob(String),
}

impl Contents {
    fn of(body: Body) -> Self {
        Self { uri: None, mime_type: None, body, meta: None }
    }

    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Body::Text(text.into()))
    }

    /// Bytes; they are encoded here.
    #[must_use]
    pub fn blob(bytes: impl AsRef<[u8]>) -> Self {
        Self::of(Body::Blob(STANDARD.encode(bytes)))
    }

    /// Says which resource this is, where it is not the one that was asked for: one of several in a folder.
    #[must_use]
    pub fn uri(mut self, uri: impl Into<String>) -> Self {
        self.uri = Some(uri.into());
        self
    }

    /// Sets the media type, where the resource's own does not fit.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Adds a member to `_meta`. Dropped for clients of 2025-03-26.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.meta.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    fn write(&self, out: &mut Vec<u8>, revision: Revision, asked: &Asked) {
        out.push(b'{');
        let mut members = Members::new(out);
        members.text("uri", self.uri.as_deref().unwrap_or(&asked.uri));
        // What has an address of its own has a type of its own.
        let spare = asked.mime_type.as_deref().filter(|_| self.uri.is_none());
        members.text_if("mimeType", self.mime_type.as_deref().or(spare));
        match &self.body {
            Body::Text(text) => members.text("text", text),
            Body::Blob(data) => members.text("blob", data),
        }
        if let Some(meta) = self.meta.as_ref().filter(|_| revision.has(Feature::Meta)) {
            members.value("_meta", meta);
        }
        out.push(b'}');
    }
}

/// What a read comes to, where contents alone do not say it all.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ReadResult {
    /// One or several contents. None means that the resource is there and empty: of one that is not there say
    /// [`HandlerError::not_found`].
    pub contents: Vec<Contents>,
    /// `_meta` of the result.
    pub meta: Option<Box<Map>>,
    /// How long the contents may be taken for fresh, where the resource's own time does not fit.
    pub ttl_ms: Option<u64>,
    /// Whom a cache may give them to, where the resource's own scope does not fit.
    pub cache_scope: Option<CacheScope>,
}

impl ReadResult {
    /// A result with these contents.
    #[must_use]
    pub fn new(contents: impl IntoIterator<Item = Contents>) -> Self {
        Self { contents: contents.into_iter().collect(), ..Self::default() }
    }

    /// Adds a member to `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.meta.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    /// Says how long the contents may be taken for fresh.
    #[must_use]
    pub fn cache_ttl_ms(mut self, ms: u64) -> Self {
        self.ttl_ms = Some(ms);
        self
    }

    /// Says whom a cache may give the contents to.
    #[must_use]
    pub fn cache_scope(mut self, scope: CacheScope) -> Self {
        self.cache_scope = Some(scope);
        self
    }
}

/// What the resource says that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) uri: Box<str>,
    pub(super) mime_type: Option<Box<str>>,
}

/// A read that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    pub(super) result: ReadResult,
    pub(super) asked: Asked,
}

/// Appends the members of a `ReadResourceResult`, without braces and with only what `revision` has.
pub fn write_read(out: &mut Vec<u8>, read: &Read, revision: Revision, identity: &Identity) {
    let Read { result, asked } = read;
    let modern = revision.has(Feature::ModernResults);
    let mut members = Members::new(out);
    let blocks = members.key("contents");
    blocks.push(b'[');
    for (at, contents) in result.contents.iter().enumerate() {
        if at > 0 {
            blocks.push(b',');
        }
        contents.write(blocks, revision, asked);
    }
    blocks.push(b']');
    write_meta(&mut members, result.meta.as_deref(), if modern { identity.server_info() } else { b"" });
    if modern {
        out.push(b',');
        identity.write_freshness(out, result.ttl_ms, result.cache_scope);
        out.extend_from_slice(b",\"resultType\":\"complete\"");
    }
}

/// What the handler of a resource may return: text, bytes, [`Contents`], several of them, a whole [`ReadResult`], or a `Result` of one of
/// these with [`HandlerError`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the contents of a resource",
    note = "return text, bytes, Contents, several Contents, ReadResult, or a Result of one of these with HandlerError; `?` turns every error into a HandlerError"
)]
pub trait IntoContents {
    /// Makes the result.
    ///
    /// # Errors
    /// How the handler failed.
    fn into_contents(self) -> Result<ReadResult, HandlerError>;
}

impl IntoContents for ReadResult {
    fn into_contents(self) -> Result<ReadResult, HandlerError> {
        Ok(self)
    }
}

impl IntoContents for Contents {
    fn into_contents(self) -> Result<ReadResult, HandlerError> {
        Ok(ReadResult::new([self]))
    }
}

impl IntoContents for Vec<Contents> {
    fn into_contents(self) -> Result<ReadResult, HandlerError> {
        Ok(ReadResult { contents: self, ..ReadResult::default() })
    }
}

impl<const N: usize> IntoContents for [Contents; N] {
    fn into_contents(self) -> Result<ReadResult, HandlerError> {
        Ok(ReadResult::new(self))
    }
}

impl IntoContents for String {
    fn into_contents(self) -> Result<ReadResult, HandlerError> {
        Contents::text(self).into_contents()
    }
}

impl IntoContents for &'static str {
    fn into_contents(self) -> Result<ReadResult, HandlerError> {
        Contents::text(self).into_contents()
    }
}

impl IntoContents for Vec<u8> {
    fn into_contents(self) -> Result<ReadResult, HandlerError> {
        Contents::blob(self).into_contents()
    }
}

impl IntoContents for &'static [u8] {
    fn into_contents(self) -> Result<ReadResult, HandlerError> {
        Contents::blob(self).into_contents()
    }
}

impl<T: IntoContents> IntoContents for Result<T, HandlerError> {
    fn into_contents(self) -> Result<ReadResult, HandlerError> {
        self.and_then(IntoContents::into_contents)
    }
}
