//! Resources: with a URI of their own, and templates for many (MCP server/resources).

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::schema::Map;
use crate::tables::versions::{Feature, Revision};

use super::completion::{Completions, IntoCompletion};
use super::content::{Annotations, Role};
use super::function::{AsyncFunction, Nothing, SyncFunction};
use super::handler_error::RESOURCE;
use super::identity::CacheScope;
use super::members::Members;
use super::produced::{Produced, Work};
use super::resource_contents::{Asked, Contents, IntoContents, Read, ReadResult};
use super::spec::{Icon, write_icons};
use super::template::Variables;
use super::{CompletionInput, Context, start};

/// What lists say of a resource or a template. Revisions get the members that they have.
#[derive(Debug, Clone, Default)]
pub(super) struct ResourceSpec {
    pub(super) name: String,
    title: Option<String>,
    description: Option<String>,
    mime_type: Option<String>,
    size: Option<u64>,
    annotations: Option<Annotations>,
    icons: Vec<Icon>,
    meta: Option<Map>,
    pub(super) timeout: Option<Duration>,
    ttl_ms: Option<u64>,
    cache_scope: Option<CacheScope>,
}

impl ResourceSpec {
    /// Appends the resource as `revision` lists it; `key` and `uri` say how it is found.
    pub(super) fn write(&self, out: &mut Vec<u8>, key: &'static str, uri: &str, revision: Revision) {
        out.push(b'{');
        let mut members = Members::new(out);
        members.text(key, uri);
        members.text("name", &self.name);
        if revision.has(Feature::Titles) {
            members.text_if("title", self.title.as_deref());
        }
        members.text_if("description", self.description.as_deref());
        members.text_if("mimeType", self.mime_type.as_deref());
        if let Some(size) = self.size {
            members.value("size", &size);
        }
        if let Some(annotations) = &self.annotations {
            annotations.write(members.key("annotations"), revision);
        }
        write_icons(&mut members, &self.icons, revision);
        if let Some(meta) = self.meta.as_ref().filter(|_| revision.has(Feature::Meta)) {
            members.value("_meta", meta);
        }
        out.push(b'}');
    }
}

/// One read of a resource, as its handler's surroundings see it.
pub(super) struct Reading {
    pub(super) uri: Box<str>,
    pub(super) spec: Arc<ResourceSpec>,
    pub(super) caching: Caching,
    pub(super) context: Context,
}

/// Whether what is read may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// As the handler, the resource or the server says.
    AsDeclared,
    /// No: it depends on what the client has answered in this call, which no cache knows (2026-07-28, caching, "Cache Key").
    Never,
}

impl Reading {
    /// What the handler came to, with what the resource itself says where it said nothing.
    fn finish(self, outcome: Result<ReadResult, super::HandlerError>) -> Produced {
        match outcome {
            Ok(mut result) => {
                (result.ttl_ms, result.cache_scope) = match self.caching {
                    Caching::AsDeclared => {
                        (result.ttl_ms.or(self.spec.ttl_ms), result.cache_scope.or(self.spec.cache_scope))
                    }
                    Caching::Never => (Some(0), Some(CacheScope::Private)),
                };
                let mime_type = self.spec.mime_type.as_deref().map(Box::from);
                Produced::Read(Box::new(Read { result, asked: Asked { uri: self.uri, mime_type } }))
            }
            Err(error) => start::failed(error, RESOURCE, &self.uri, &self.context),
        }
    }
}

/// How a read becomes work; `A` is what the handler is given.
pub(super) type ReadCall<A> = Box<dyn Fn(A, Reading) -> Work + Send + Sync>;

fn call_async<A: 'static, Shape, H>(handler: H) -> ReadCall<A>
where
    H: AsyncFunction<A, Shape, Output: IntoContents>,
{
    Box::new(move |input, reading| {
        let future = handler.call(input, reading.context.clone());
        Work::Future(Box::pin(async move {
            let outcome = future.await.into_contents();
            reading.finish(outcome)
        }))
    })
}

fn call_blocking<A: Send + 'static, Shape, H>(handler: H) -> ReadCall<A>
where
    H: SyncFunction<A, Shape, Output: IntoContents>,
{
    let handler = Arc::new(handler);
    Box::new(move |input, reading| {
        let handler = Arc::clone(&handler);
        Work::Blocking(Box::new(move || {
            let outcome = handler.call(input, reading.context.clone()).into_contents();
            reading.finish(outcome)
        }))
    })
}

/// The setters that both kinds share.
macro_rules! resource_setters {
    () => {
        /// Sets the name for people.
        #[must_use]
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.spec.title = Some(title.into());
            self
        }

        /// Says what it is.
        #[must_use]
        pub fn description(mut self, description: impl Into<String>) -> Self {
            self.spec.description = Some(description.into());
            self
        }

        /// Sets the media type: of the listing, and of contents that have none of their own.
        #[must_use]
        pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
            self.spec.mime_type = Some(mime_type.into());
            self
        }

        /// Names whom it is meant for.
        #[must_use]
        pub fn audience(mut self, audience: impl IntoIterator<Item = Role>) -> Self {
            self.spec.annotations.get_or_insert_default().audience = audience.into_iter().collect();
            self
        }

        /// Says how important it is, from 0 (optional) to 1 (required). Other values are brought into that range.
        #[must_use]
        pub fn priority(mut self, priority: f64) -> Self {
            self.spec.annotations.get_or_insert_default().priority = Some(priority.clamp(0.0, 1.0));
            self
        }

        /// Says when it was last changed, in ISO 8601. Dropped for clients of 2025-03-26.
        #[must_use]
        pub fn last_modified(mut self, instant: impl Into<String>) -> Self {
            self.spec.annotations.get_or_insert_default().last_modified = Some(instant.into());
            self
        }

        /// Adds an image.
        #[must_use]
        pub fn icon(mut self, icon: Icon) -> Self {
            self.spec.icons.push(icon);
            self
        }

        /// Adds a member to the listing's `_meta`.
        #[must_use]
        pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
            self.spec.meta.get_or_insert_default().insert(key.into(), value.into());
            self
        }

        /// Bounds the time of a read, in place of `Limits::tool_timeout`.
        #[must_use]
        pub fn timeout(mut self, timeout: Duration) -> Self {
            self.spec.timeout = Some(timeout);
            self
        }

        /// Says how long modern clients may take what was read for fresh, in place of the server's own time.
        #[must_use]
        pub fn cache_ttl_ms(mut self, ms: u64) -> Self {
            self.spec.ttl_ms = Some(ms);
            self
        }

        /// Says whom a cache may give what was read to, in place of the server's own scope. What depends on who asks is private.
        #[must_use]
        pub fn cache_scope(mut self, scope: CacheScope) -> Self {
            self.spec.cache_scope = Some(scope);
            self
        }
    };
}

/// A resource with a URI of its own. URIs are compared as texts.
///
/// ```
/// use twolane::tools::{Context, Contents, Registry, Resource};
///
/// let registry = Registry::default();
/// registry.add_resource(Resource::text("docs://license", "license", "MIT").mime_type("text/plain"))?;
/// registry.add_resource(Resource::new("clock://now", "now", |context: Context| async move {
///     context.progress(1.0, None, Some("looking at the clock"));
///     format!("{:?}", std::time::SystemTime::now())
/// }))?;
/// registry.add_resource(Resource::blocking("docs://all", "all", || {
///     [Contents::text("MIT").uri("docs://license"), Contents::blob([1, 2, 3]).uri("docs://seal")]
/// }))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Resource {
    pub(super) uri: String,
    pub(super) spec: ResourceSpec,
    pub(super) call: ReadCall<Nothing>,
}

impl Resource {
    fn of(uri: String, name: String, call: ReadCall<Nothing>) -> Self {
        Self { uri, spec: ResourceSpec { name, ..ResourceSpec::default() }, call }
    }

    /// A resource whose handler is async: a function of nothing or of a [`Context`]. It runs on the connection's task, so it must not
    /// block its thread; if it has to, use [`Self::blocking`].
    pub fn new<Shape, H>(uri: impl Into<String>, name: impl Into<String>, handler: H) -> Self
    where
        H: AsyncFunction<Nothing, Shape, Output: IntoContents>,
    {
        Self::of(uri.into(), name.into(), call_async(handler))
    }

    /// A resource whose handler may block its thread: it runs on the blocking pool.
    pub fn blocking<Shape, H>(uri: impl Into<String>, name: impl Into<String>, handler: H) -> Self
    where
        H: SyncFunction<Nothing, Shape, Output: IntoContents>,
    {
        Self::of(uri.into(), name.into(), call_blocking(handler))
    }

    /// A resource that is a text and stays it.
    pub fn text(uri: impl Into<String>, name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let size = text.len() as u64;
        Self::fixed(uri, name, Contents::text(text)).size(size)
    }

    /// A resource that is some bytes and stays them.
    pub fn blob(uri: impl Into<String>, name: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        Self::fixed(uri, name, Contents::blob(bytes)).size(bytes.len() as u64)
    }

    /// A resource whose contents are given once.
    pub fn fixed(uri: impl Into<String>, name: impl Into<String>, contents: Contents) -> Self {
        let call: ReadCall<Nothing> = Box::new(move |Nothing, reading| {
            Work::Ready(reading.finish(Ok(ReadResult::new([contents.clone()]))))
        });
        Self::of(uri.into(), name.into(), call)
    }

    resource_setters!();

    /// Sets the size in bytes, before any encoding.
    #[must_use]
    pub fn size(mut self, size: u64) -> Self {
        self.spec.size = Some(size);
        self
    }
}

/// A template for resources (RFC 6570). A read is served by a resource of that very URI, else by the first template in the order of
/// registration that makes the URI; its handler is given the variables, percent-decoded: one may well hold a slash or two dots, so check
/// it before it becomes part of a path.
///
/// ```
/// use twolane::tools::{HandlerError, Registry, ResourceTemplate, Variables};
///
/// let registry = Registry::default();
/// registry.add_resource_template(
///     ResourceTemplate::new("users://{id}/profile", "profile", |variables: Variables| async move {
///         match variables.get("id") {
///             Some("1") => Ok(r#"{"name": "Ada"}"#),
///             _ => Err(HandlerError::not_found()),
///         }
///     })
///     .mime_type("application/json")
///     .complete("id", ["1", "2"]),
/// )?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ResourceTemplate {
    pub(super) uri_template: String,
    pub(super) spec: ResourceSpec,
    pub(super) call: ReadCall<Variables>,
    pub(super) completions: Completions,
}

impl ResourceTemplate {
    fn of(uri_template: String, name: String, call: ReadCall<Variables>) -> Self {
        let spec = ResourceSpec { name, ..ResourceSpec::default() };
        Self { uri_template, spec, call, completions: Completions::default() }
    }

    /// A template whose handler is async: a function of [`Variables`], or of these and a [`Context`]. It runs on the connection's task,
    /// so it must not block its thread; if it has to, use [`Self::blocking`].
    pub fn new<Shape, H>(uri_template: impl Into<String>, name: impl Into<String>, handler: H) -> Self
    where
        H: AsyncFunction<Variables, Shape, Output: IntoContents>,
    {
        Self::of(uri_template.into(), name.into(), call_async(handler))
    }

    /// A template whose handler may block its thread: it runs on the blocking pool.
    pub fn blocking<Shape, H>(uri_template: impl Into<String>, name: impl Into<String>, handler: H) -> Self
    where
        H: SyncFunction<Variables, Shape, Output: IntoContents>,
    {
        Self::of(uri_template.into(), name.into(), call_blocking(handler))
    }

    resource_setters!();

    /// Completes a variable from these values: those that begin with what was typed, whatever the case of its ASCII letters.
    #[must_use]
    pub fn complete<V: Into<String>>(mut self, variable: &str, values: impl IntoIterator<Item = V>) -> Self {
        self.completions.add_values(variable, values);
        self
    }

    /// Completes a variable by an async function of [`CompletionInput`], or of this and a [`Context`].
    #[must_use]
    pub fn complete_with<Shape, H>(mut self, variable: &str, handler: H) -> Self
    where
        H: AsyncFunction<CompletionInput, Shape, Output: IntoCompletion>,
    {
        self.completions.add_handler(variable, handler);
        self
    }
}

impl std::fmt::Debug for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resource").field("uri", &self.uri).field("spec", &self.spec).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ResourceTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResourceTemplate")
            .field("uri_template", &self.uri_template)
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}
