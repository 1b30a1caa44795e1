//! Registered resources and templates with everything worked out for them, and the start of a read.

use std::sync::Arc;
use std::time::Duration;

use crate::tables::versions::Revision;

use super::completion::Completions;
use super::context::Context;
use super::function::Nothing;
use super::handler_error::RESOURCE;
use super::list::Listed;
use super::resource::{Caching, ReadCall, Reading, Resource, ResourceSpec, ResourceTemplate};
use super::running::Running;
use super::start::start;
use super::template::{UriTemplate, Variables};

/// A registered resource.
pub struct ResourceEntry {
    uri: Box<str>,
    spec: Arc<ResourceSpec>,
    call: ReadCall<Nothing>,
    listed: Vec<Box<[u8]>>,
}

impl ResourceEntry {
    /// Checks a resource.
    ///
    /// # Errors
    /// Why it cannot be registered and how to mend it.
    pub(super) fn compile(resource: Resource) -> Result<Self, String> {
        let Resource { uri, spec, call } = resource;
        check_uri(&uri).map_err(|fault| format!("resource {uri:?} cannot be registered: {fault}"))?;
        check_name(&spec).map_err(|fault| format!("resource {uri:?} cannot be registered: {fault}"))?;
        let listed = render(&spec, "uri", &uri);
        Ok(Self { uri: uri.into(), spec: Arc::new(spec), call, listed })
    }

    /// Starts a read. `timeout` holds for resources that declare none.
    pub fn start(&self, caching: Caching, context: Context, timeout: Duration) -> Running {
        let timeout = self.spec.timeout.unwrap_or(timeout);
        start(RESOURCE, &self.uri, context, timeout, |context| {
            let reading = Reading { uri: self.uri.clone(), spec: Arc::clone(&self.spec), caching, context };
            (self.call)(Nothing, reading)
        })
    }
}

impl Listed for ResourceEntry {
    const MEMBER: &'static str = "resources";
    const TAG: u8 = b'r';

    fn key(&self) -> &str {
        &self.uri
    }

    fn listed(&self, revision: Revision) -> &[u8] {
        &self.listed[revision.index()]
    }
}

/// A registered resource template.
pub struct TemplateEntry {
    template: UriTemplate,
    spec: Arc<ResourceSpec>,
    call: ReadCall<Variables>,
    completions: Completions,
    listed: Vec<Box<[u8]>>,
}

impl TemplateEntry {
    /// Checks a template.
    ///
    /// # Errors
    /// Why it cannot be registered and how to mend it.
    pub(super) fn compile(template: ResourceTemplate) -> Result<Self, String> {
        let ResourceTemplate { uri_template, spec, call, completions } = template;
        let fault = |text: String| format!("resource template {uri_template:?} cannot be registered: {text}");
        let template = UriTemplate::parse(&uri_template).map_err(|error| fault(error.to_string()))?;
        if template.names().is_empty() {
            return Err(fault("it has no variable; register a resource".to_owned()));
        }
        check_name(&spec).map_err(fault)?;
        completions.check(|name| template.names().iter().any(|other| **other == *name)).map_err(fault)?;
        let listed = render(&spec, "uriTemplate", &uri_template);
        Ok(Self { template, spec: Arc::new(spec), call, completions, listed })
    }

    /// The template.
    #[must_use]
    pub fn template(&self) -> &UriTemplate {
        &self.template
    }

    /// How its variables are completed.
    #[must_use]
    pub fn completions(&self) -> &Completions {
        &self.completions
    }

    /// Starts a read of `uri`, which these variables make. `timeout` holds for templates that declare none.
    pub fn start(
        &self,
        uri: &str,
        variables: Variables,
        caching: Caching,
        context: Context,
        timeout: Duration,
    ) -> Running {
        let timeout = self.spec.timeout.unwrap_or(timeout);
        start(RESOURCE, uri, context, timeout, |context| {
            let reading = Reading { uri: uri.into(), spec: Arc::clone(&self.spec), caching, context };
            (self.call)(variables, reading)
        })
    }
}

impl Listed for TemplateEntry {
    const MEMBER: &'static str = "resourceTemplates";
    const TAG: u8 = b'u';

    fn key(&self) -> &str {
        self.template.as_str()
    }

    fn listed(&self, revision: Revision) -> &[u8] {
        &self.listed[revision.index()]
    }
}

fn render(spec: &ResourceSpec, key: &'static str, uri: &str) -> Vec<Box<[u8]>> {
    let render = |&revision| {
        let mut out = Vec::new();
        spec.write(&mut out, key, uri, revision);
        out.into_boxed_slice()
    };
    Revision::ALL.iter().map(render).collect()
}

fn check_name(spec: &ResourceSpec) -> Result<(), String> {
    if spec.name.is_empty() { Err("it has no name; give it one".to_owned()) } else { Ok(()) }
}

/// A scheme, a colon, and nothing that a URI cannot have (RFC 3986, sections 2 and 3.1).
fn check_uri(uri: &str) -> Result<(), String> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let letter = scheme.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    if !letter || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
        return Err(
            "a URI begins with a scheme; write file:///path, or make up a scheme of your own".to_owned()
        );
    }
    let refused = |c: char| !c.is_ascii_graphic() || r#""<>\^`{|}"#.contains(c);
    match uri.chars().find(|&c| refused(c)) {
        Some(c) => Err(format!("a URI cannot have {c:?}; percent-encode it")),
        None => Ok(()),
    }
}

impl std::fmt::Debug for ResourceEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResourceEntry").field("uri", &self.uri).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for TemplateEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TemplateEntry").field("template", &self.template.as_str()).finish_non_exhaustive()
    }
}
