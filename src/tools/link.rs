//! Links to resources, as content.

use crate::tables::versions::{Feature, Revision};

use super::members::Members;
use super::spec::{Icon, write_icons};

/// A link to a resource that the client may read.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ResourceLink {
    /// The resource's URI.
    pub uri: String,
    /// Its name in programs.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its media type.
    pub mime_type: Option<String>,
    /// Its size in bytes, before any encoding.
    pub size: Option<u64>,
    /// Images for it.
    pub icons: Vec<Icon>,
}

impl ResourceLink {
    /// A link with the two members that every link has.
    #[must_use]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: name.into(), ..Self::default() }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what the resource is.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the size in bytes.
    #[must_use]
    pub fn size(mut self, size: u64) -> Self {
        self.size = Some(size);
        self
    }

    /// Adds an image.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    /// Writes the members of the block.
    pub(super) fn write(&self, members: &mut Members<'_>, revision: Revision) {
        members.text("type", "resource_link");
        members.text("uri", &self.uri);
        members.text("name", &self.name);
        if revision.has(Feature::Titles) {
            members.text_if("title", self.title.as_deref());
        }
        members.text_if("description", self.description.as_deref());
        members.text_if("mimeType", self.mime_type.as_deref());
        if let Some(size) = self.size {
            members.value("size", &size);
        }
        write_icons(members, &self.icons, revision);
    }
}
