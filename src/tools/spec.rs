//! What `tools/list` says of a tool (MCP server/tools, "Tool").

use std::time::Duration;

use serde_json::Value;

use crate::schema::{Map, Provenance};
use crate::tables::versions::{Feature, Revision};

use super::members::{Members, write_value};

/// A tool's description. Revisions get the members that they have.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name it is called by: 1 to 128 characters of `A-Z a-z 0-9 _ - .`, unique in a registry.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it does, for the model. Empty: none, which models cope with badly.
    pub description: String,
    /// The JSON Schema of its arguments; its root must be an object schema.
    pub input_schema: Value,
    /// The JSON Schema of its structured content.
    pub output_schema: Option<Value>,
    /// Hints about its behaviour.
    pub annotations: Option<ToolAnnotations>,
    /// Images for it.
    pub icons: Vec<Icon>,
    /// `_meta` of the tool.
    pub meta: Option<Map>,
    /// How long a call may take, where `Limits::tool_timeout` does not fit.
    pub timeout: Option<Duration>,
    /// Client capabilities (`elicitation`, `sampling.tools`, `elicitation.url`, …) that a modern request must declare to call it.
    pub required_capabilities: Vec<String>,
    /// Whether calls may become tasks.
    pub tasks: TaskSupport,
    pub(super) provenance: Provenance,
}

/// Whether a call of a tool may become a task: an answer that the client polls for (extension `io.modelcontextprotocol/tasks`). Only a
/// modern client that declares the extension with the call ever gets one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskSupport {
    /// Never.
    #[default]
    Never,
    /// Every call becomes one where the client takes tasks, and is answered directly where it does not.
    Optional,
    /// Every call becomes one; a client that takes no tasks cannot call the tool.
    Required,
    /// As `Optional`, but the handler says when, by [`super::Context::start_task`]: until then it may ask the client, or finish without.
    OptionalByHandler,
    /// As `Required`, but the handler says when, by [`super::Context::start_task`].
    RequiredByHandler,
}

impl TaskSupport {
    /// Whether a client that takes no tasks cannot call the tool.
    #[must_use]
    pub const fn is_required(self) -> bool {
        matches!(self, Self::Required | Self::RequiredByHandler)
    }
}

impl ToolSpec {
    /// A description with what every tool has.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Value) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            input_schema,
            output_schema: None,
            annotations: None,
            icons: Vec::new(),
            meta: None,
            timeout: None,
            required_capabilities: Vec::new(),
            tasks: TaskSupport::Never,
            provenance: Provenance::HandWritten,
        }
    }

    /// Appends the tool as `revision` lists it.
    pub(super) fn write(&self, out: &mut Vec<u8>, revision: Revision) {
        out.push(b'{');
        let mut members = Members::new(out);
        members.text("name", &self.name);
        if revision.has(Feature::Titles) {
            members.text_if("title", self.title.as_deref());
        }
        if !self.description.is_empty() {
            members.text("description", &self.description);
        }
        members.value("inputSchema", &self.input_schema);
        if let Some(schema) = self.output_schema.as_ref().filter(|schema| lists(revision, schema)) {
            members.value("outputSchema", schema);
        }
        self.write_annotations(&mut members, revision);
        write_icons(&mut members, &self.icons, revision);
        if let Some(meta) = self.meta.as_ref().filter(|_| revision.has(Feature::Meta)) {
            members.value("_meta", meta);
        }
        out.push(b'}');
    }

    /// Where a revision has no `title` on tools, the annotation of that name takes it.
    fn write_annotations(&self, members: &mut Members<'_>, revision: Revision) {
        let hints = self.annotations.clone().unwrap_or_default();
        let spare = self.title.as_deref().filter(|_| !revision.has(Feature::Titles));
        let title = hints.title.as_deref().or(spare);
        if self.annotations.is_none() && title.is_none() {
            return;
        }
        let out = members.key("annotations");
        out.push(b'{');
        let mut inner = Members::new(out);
        inner.text_if("title", title);
        inner.flag_if("readOnlyHint", hints.read_only_hint);
        inner.flag_if("destructiveHint", hints.destructive_hint);
        inner.flag_if("idempotentHint", hints.idempotent_hint);
        inner.flag_if("openWorldHint", hints.open_world_hint);
        out.push(b'}');
    }
}

/// Whether `revision` may list an output schema: object schemas alone before any structured content was allowed.
fn lists(revision: Revision, schema: &Value) -> bool {
    let object = schema.get("type").is_some_and(|kind| kind == "object");
    revision.has(Feature::StructuredContent) && (object || revision.has(Feature::AnyStructuredContent))
}

/// Hints about a tool's behaviour. Clients must not trust them, so they are no protection.
///
/// ```
/// use twolane::tools::ToolAnnotations;
///
/// let hints = ToolAnnotations { read_only_hint: Some(true), ..ToolAnnotations::default() };
/// assert_eq!(hints, ToolAnnotations::read_only());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolAnnotations {
    /// The name for people; [`ToolSpec::title`] comes first where a revision has it.
    pub title: Option<String>,
    /// It changes nothing.
    pub read_only_hint: Option<bool>,
    /// It may destroy something (clients assume so).
    pub destructive_hint: Option<bool>,
    /// Calling it again with the same arguments changes nothing more.
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond the server's own world (clients assume so).
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// The hints of a tool that only reads.
    #[must_use]
    pub fn read_only() -> Self {
        Self { read_only_hint: Some(true), ..Self::default() }
    }
}

/// An image for a tool or a resource.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: String,
    /// Its media type.
    pub mime_type: Option<String>,
    /// Its sizes: `48x48`, or `any`.
    pub sizes: Vec<String>,
    /// The background it is made for.
    pub theme: Option<Theme>,
}

/// The background an icon is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// A light one.
    Light,
    /// A dark one.
    Dark,
}

impl Icon {
    /// An icon at `src`, an `https:` or `data:` URI.
    #[must_use]
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), ..Self::default() }
    }

    /// Sets the media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Adds a size: `48x48`, or `any`.
    #[must_use]
    pub fn size(mut self, size: impl Into<String>) -> Self {
        self.sizes.push(size.into());
        self
    }

    /// Sets the background it is made for.
    #[must_use]
    pub fn theme(mut self, theme: Theme) -> Self {
        self.theme = Some(theme);
        self
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        let mut members = Members::new(out);
        members.text("src", &self.src);
        members.text_if("mimeType", self.mime_type.as_deref());
        if !self.sizes.is_empty() {
            write_value(members.key("sizes"), &self.sizes);
        }
        members.text_if(
            "theme",
            self.theme.map(|theme| match theme {
                Theme::Light => "light",
                Theme::Dark => "dark",
            }),
        );
        out.push(b'}');
    }
}

/// Writes `icons`, where there are any and the revision has them.
pub(super) fn write_icons(members: &mut Members<'_>, icons: &[Icon], revision: Revision) {
    if icons.is_empty() || !revision.has(Feature::Icons) {
        return;
    }
    let out = members.key("icons");
    out.push(b'[');
    for (at, icon) in icons.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        icon.write(out);
    }
    out.push(b']');
}

/// The setters that every kind of tool shares.
macro_rules! spec_setters {
    () => {
        /// Sets the name for people.
        #[must_use]
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.spec.title = Some(title.into());
            self
        }

        /// Sets hints about the tool's behaviour.
        #[must_use]
        pub fn annotations(mut self, annotations: $crate::tools::ToolAnnotations) -> Self {
            self.spec.annotations = Some(annotations);
            self
        }

        /// Adds an image.
        #[must_use]
        pub fn icon(mut self, icon: $crate::tools::Icon) -> Self {
            self.spec.icons.push(icon);
            self
        }

        /// Bounds the time of a call, in place of `Limits::tool_timeout`.
        #[must_use]
        pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
            self.spec.timeout = Some(timeout);
            self
        }

        /// Declares the structured content by a type, where the handler's own return type does not.
        #[must_use]
        pub fn output<T: schemars::JsonSchema>(mut self) -> Self {
            self.spec.output_schema =
                $crate::tools::derive::output_schema::<T>().map(serde_json::Value::Object);
            self
        }

        /// Declares the structured content by a schema.
        #[must_use]
        pub fn output_schema(mut self, schema: serde_json::Value) -> Self {
            self.spec.output_schema = Some(schema);
            self
        }

        /// Adds a member to the tool's `_meta`.
        #[must_use]
        pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
            self.spec.meta.get_or_insert_default().insert(key.into(), value.into());
            self
        }

        /// Lets calls become tasks.
        #[must_use]
        pub fn tasks(mut self, support: $crate::tools::TaskSupport) -> Self {
            self.spec.tasks = support;
            self
        }

        /// Names a client capability, or after a dot a part of one, that a modern request must declare to call the tool.
        #[must_use]
        pub fn requires(mut self, capability: impl Into<String>) -> Self {
            self.spec.required_capabilities.push(capability.into());
            self
        }
    };
}
pub(super) use spec_setters;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn full() -> ToolSpec {
        let mut spec = ToolSpec::new("t", "d", json!({"type": "object"}));
        spec.title = Some("T".to_owned());
        spec.output_schema = Some(json!({"type": "object", "properties": {}}));
        spec.annotations =
            Some(ToolAnnotations { destructive_hint: Some(false), ..ToolAnnotations::read_only() });
        spec.icons = vec![Icon::new("data:,").mime_type("image/png").size("48x48").theme(Theme::Dark)];
        spec.meta = Some(Map::from_iter([("a".to_owned(), json!(1))]));
        spec
    }

    fn written(spec: &ToolSpec, revision: Revision) -> String {
        let mut out = Vec::new();
        spec.write(&mut out, revision);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_revision_lists_what_it_has() {
        let spec = full();
        let hints = r#""readOnlyHint":true,"destructiveHint":false"#;
        assert_eq!(
            written(&spec, Revision::V2025_03_26),
            format!(
                r#"{{"name":"t","description":"d","inputSchema":{{"type":"object"}},"annotations":{{"title":"T",{hints}}}}}"#
            )
        );
        assert_eq!(
            written(&spec, Revision::V2025_06_18),
            format!(
                r#"{{"name":"t","title":"T","description":"d","inputSchema":{{"type":"object"}},"outputSchema":{{"type":"object","properties":{{}}}},"annotations":{{{hints}}},"_meta":{{"a":1}}}}"#
            )
        );
        let icons = r#""icons":[{"src":"data:,","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}]"#;
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            assert!(written(&spec, revision).contains(icons));
        }
    }

    #[test]
    fn absent_members_are_left_out() {
        let spec = ToolSpec::new("t", "", json!({"type": "object", "allOf": [true], "$schema": "x"}));
        for &revision in Revision::ALL {
            assert_eq!(
                written(&spec, revision),
                r#"{"name":"t","inputSchema":{"type":"object","allOf":[true],"$schema":"x"}}"#
            );
        }
    }

    #[test]
    fn output_schemas_of_other_types_are_modern() {
        let mut spec = full();
        spec.output_schema = Some(json!({"type": "array"}));
        assert!(!written(&spec, Revision::V2025_11_25).contains("outputSchema"));
        assert!(written(&spec, Revision::V2026_07_28).contains(r#""outputSchema":{"type":"array"}"#));
    }
}
