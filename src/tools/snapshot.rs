//! The registry at one moment: four lists, and the capabilities that follow from what is in them.

use std::sync::Arc;

use crate::base::trace::looked_up;
use crate::events::topic::{Topic, Topics};
use crate::tables::versions::Revision;

use super::entry::Entry;
use super::list::{List, Listed};
use super::offers::{Offer, Offers};
use super::prompt_entry::PromptEntry;
use super::resource_entry::{ResourceEntry, TemplateEntry};
use super::template::Variables;

/// Everything registered at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    tools: Arc<List<Entry>>,
    resources: Arc<List<ResourceEntry>>,
    templates: Arc<List<TemplateEntry>>,
    prompts: Arc<List<PromptEntry>>,
    offers: Arc<Offers>,
    /// The member `capabilities`, by [`Revision::index`].
    capabilities: Arc<[Box<[u8]>]>,
    generation: u64,
}

/// A kind of entry that the registry keeps.
pub(super) trait Kept: Listed {
    /// What one is called.
    const KIND: &'static str;
    /// What its key is called.
    const KEY: &'static str;
    /// The list that clients are told of when one changes.
    const TOPIC: Topic;

    /// The URI that clients may have subscribed to, if it is that kind of entry.
    fn subscribed(&self) -> Option<&str> {
        None
    }

    fn list(snapshot: &Snapshot) -> &List<Self>
    where
        Self: Sized;

    fn list_mut(snapshot: &mut Snapshot) -> &mut List<Self>
    where
        Self: Sized;
}

macro_rules! kept {
    ($($entry:ty: $kind:literal, $key:literal, $topic:ident, $field:ident $(, subscribed: $subscribed:expr)?;)+) => {$(
        impl Kept for $entry {
            $(fn subscribed(&self) -> Option<&str> {
                Some($subscribed(self))
            })?

            const KIND: &'static str = $kind;
            const KEY: &'static str = $key;
            const TOPIC: Topic = Topic::$topic;

            fn list(snapshot: &Snapshot) -> &List<Self> {
                &snapshot.$field
            }

            fn list_mut(snapshot: &mut Snapshot) -> &mut List<Self> {
                Arc::make_mut(&mut snapshot.$field)
            }
        }
    )+};
}

kept! {
    Entry: "tool", "name", ToolsList, tools;
    ResourceEntry: "resource", "URI", ResourcesList, resources, subscribed: Listed::key;
    TemplateEntry: "resource template", "URI template", ResourcesList, templates;
    PromptEntry: "prompt", "name", PromptsList, prompts;
}

impl Snapshot {
    pub(super) fn empty(page_size: usize) -> Self {
        let mut empty = Self {
            tools: Arc::new(List::empty(page_size)),
            resources: Arc::new(List::empty(page_size)),
            templates: Arc::new(List::empty(page_size)),
            prompts: Arc::new(List::empty(page_size)),
            offers: Arc::default(),
            capabilities: Arc::default(),
            generation: 0,
        };
        empty.render();
        empty
    }

    /// The tool called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        self.tools.find(name)
    }

    /// The tools.
    #[must_use]
    pub fn tools(&self) -> &List<Entry> {
        &self.tools
    }

    /// The resources with a URI of their own.
    #[must_use]
    pub fn resources(&self) -> &List<ResourceEntry> {
        &self.resources
    }

    /// The templates of resources.
    #[must_use]
    pub fn templates(&self) -> &List<TemplateEntry> {
        &self.templates
    }

    /// The prompts.
    #[must_use]
    pub fn prompts(&self) -> &List<PromptEntry> {
        &self.prompts
    }

    /// The first template that makes this URI, and from what.
    #[must_use]
    pub fn match_template(&self, uri: &str) -> Option<(&Arc<TemplateEntry>, Variables)> {
        looked_up("template");
        self.templates.entries().find_map(|entry| Some((entry, entry.template().matches(uri)?)))
    }

    /// What `revision` is told that the server can do: the member `capabilities` of `initialize` and `server/discover`.
    #[must_use]
    pub fn capabilities(&self, revision: Revision) -> &[u8] {
        self.capabilities.get(revision.index()).map_or(&[], |rendered| rendered)
    }

    /// The lists that are offered, and so told of when they change.
    #[must_use]
    pub fn offered(&self) -> Topics {
        [
            (Offer::Tools, Topic::ToolsList),
            (Offer::Resources, Topic::ResourcesList),
            (Offer::Prompts, Topic::PromptsList),
        ]
        .into_iter()
        .filter(|(offer, _)| self.offers.has(self, *offer))
        .fold(Topics::NONE, |topics, (_, topic)| topics.with(topic))
    }

    /// How many changes there have been.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) fn bump(&mut self) {
        self.generation += 1;
    }

    pub(super) fn offers_mut(&mut self) -> &mut Offers {
        Arc::make_mut(&mut self.offers)
    }

    pub(super) fn set_page_size(&mut self, page_size: usize) {
        Entry::list_mut(self).set_page_size(page_size);
        ResourceEntry::list_mut(self).set_page_size(page_size);
        TemplateEntry::list_mut(self).set_page_size(page_size);
        PromptEntry::list_mut(self).set_page_size(page_size);
    }

    /// Renders what has changed.
    pub(super) fn render(&mut self) {
        fn list<E: Kept>(snapshot: &mut Snapshot) {
            if E::list(snapshot).is_changed() {
                E::list_mut(snapshot).render();
            }
        }
        list::<Entry>(self);
        list::<ResourceEntry>(self);
        list::<TemplateEntry>(self);
        list::<PromptEntry>(self);
        self.capabilities =
            Revision::ALL.iter().map(|&revision| self.offers.render(self, revision)).collect();
    }
}
