//! Changes of the registry, one by one or several at once.

use std::sync::Arc;

use crate::base::error::Error;
use crate::events::topic::Topics;

use super::Tool;
use super::entry::Entry;
use super::prompt::Prompt;
use super::prompt_entry::PromptEntry;
use super::registry::Registry;
use super::resource::{Resource, ResourceTemplate};
use super::resource_entry::{ResourceEntry, TemplateEntry};
use super::snapshot::{Kept, Snapshot};

/// Changes that appear together, see [`Registry::edit`].
#[derive(Debug)]
pub struct Edit {
    current: Arc<Snapshot>,
    /// Made by the first change.
    next: Option<Snapshot>,
    topics: Topics,
    /// Resources that another one has taken the place of.
    updated: Vec<Box<str>>,
}

/// What has come of an edit.
pub(super) struct Changed {
    pub(super) next: Snapshot,
    pub(super) topics: Topics,
    pub(super) updated: Vec<Box<str>>,
}

impl Edit {
    pub(super) fn new(current: Arc<Snapshot>) -> Self {
        Self { current, next: None, topics: Topics::NONE, updated: Vec::new() }
    }

    /// What has come of it, if anything.
    pub(super) fn into_changed(self) -> Option<Changed> {
        Some(Changed { next: self.next?, topics: self.topics, updated: self.updated })
    }

    fn view(&self) -> &Snapshot {
        self.next.as_ref().unwrap_or(&self.current)
    }

    fn touch<E: Kept>(&mut self) -> &mut Snapshot {
        self.topics = self.topics.with(E::TOPIC);
        self.next.get_or_insert_with(|| Snapshot::clone(&self.current))
    }

    fn insert<E: Kept>(&mut self, entry: Arc<E>) -> Result<(), Error> {
        if E::list(self.view()).find(entry.key()).is_some() {
            let (kind, name) = (E::KIND, E::KEY);
            return Err(Error::Registration(format!(
                "{kind} {:?} cannot be registered: the {name} is taken already; rename it, or replace the other one",
                entry.key()
            )));
        }
        self.put(entry);
        Ok(())
    }

    fn put<E: Kept>(&mut self, entry: Arc<E>) {
        if let Some(uri) = entry.subscribed()
            && E::list(self.view()).find(uri).is_some()
        {
            self.updated.push(uri.into());
        }
        E::list_mut(self.touch::<E>()).put(entry);
    }

    fn take<E: Kept>(&mut self, key: &str) -> bool {
        E::list(self.view()).find(key).is_some() && E::list_mut(self.touch::<E>()).take(key)
    }
}

/// The same three methods for each kind, on the registry and on an edit.
macro_rules! kinds {
    ($($entry:ty, $given:ty, $compile:expr, refused: $fault:literal {
        $add:ident: $add_doc:literal,
        $replace:ident: $replace_doc:literal,
        $remove:ident: $remove_doc:literal,
    })+) => {
        impl Registry {$(
            #[doc = $add_doc]
            ///
            /// # Errors
            #[doc = $fault]
            pub fn $add(&self, given: $given) -> Result<(), Error> {
                // Compiled without the lock.
                let entry = compiled($compile(given))?;
                self.edit(|edit| edit.insert::<$entry>(entry))
            }

            #[doc = $replace_doc]
            ///
            /// # Errors
            #[doc = concat!("As [`Self::", stringify!($add), "`], but for what is taken.")]
            pub fn $replace(&self, given: $given) -> Result<(), Error> {
                let entry = compiled($compile(given))?;
                self.edit(|edit| edit.put::<$entry>(entry));
                Ok(())
            }

            #[doc = $remove_doc]
            pub fn $remove(&self, key: &str) -> bool {
                self.edit(|edit| edit.take::<$entry>(key))
            }
        )+}

        impl Edit {$(
            #[doc = $add_doc]
            ///
            /// # Errors
            #[doc = $fault]
            pub fn $add(&mut self, given: $given) -> Result<(), Error> {
                let entry = compiled($compile(given))?;
                self.insert::<$entry>(entry)
            }

            #[doc = $replace_doc]
            ///
            /// # Errors
            #[doc = concat!("As [`Self::", stringify!($add), "`], but for what is taken.")]
            pub fn $replace(&mut self, given: $given) -> Result<(), Error> {
                let entry = compiled($compile(given))?;
                self.put::<$entry>(entry);
                Ok(())
            }

            #[doc = $remove_doc]
            pub fn $remove(&mut self, key: &str) -> bool {
                self.take::<$entry>(key)
            }
        )+}
    };
}

kinds! {
    Entry, impl Tool, |tool| Entry::compile(Box::new(tool)),
    refused: "[`Error::Registration`] for a name that is taken or not allowed, a schema that does not compile or that clients cannot load, or a bad `x-mcp-header`. The text says how to mend it." {
        add: "Adds a tool at the end.",
        replace: "Adds a tool, or puts it in the place of the one that has its name.",
        remove: "Removes a tool. False when there is none of that name.",
    }
    ResourceEntry, Resource, ResourceEntry::compile,
    refused: "[`Error::Registration`] for a URI that is taken or is none. The text says how to mend it." {
        add_resource: "Adds a resource at the end.",
        replace_resource: "Adds a resource, or puts it in the place of the one that has its URI: then whoever has subscribed to it is told that it was updated.",
        remove_resource: "Removes a resource. False when there is none with that URI.",
    }
    TemplateEntry, ResourceTemplate, TemplateEntry::compile,
    refused: "[`Error::Registration`] for a template that is taken, that breaks the grammar or that no URI can be told apart by, or a completion of none of its variables. The text says how to mend it." {
        add_resource_template: "Adds a resource template at the end: of several that make a URI, the first one serves it.",
        replace_resource_template: "Adds a resource template, or puts it in the place of the same one.",
        remove_resource_template: "Removes a resource template. False when there is none of that text.",
    }
    PromptEntry, Prompt, PromptEntry::compile,
    refused: "[`Error::Registration`] for a name that is taken or empty, arguments that are no texts or come twice, or a completion of none of them. The text says how to mend it." {
        add_prompt: "Adds a prompt at the end.",
        replace_prompt: "Adds a prompt, or puts it in the place of the one that has its name.",
        remove_prompt: "Removes a prompt. False when there is none of that name.",
    }
}

fn compiled<E>(entry: Result<E, String>) -> Result<Arc<E>, Error> {
    entry.map(Arc::new).map_err(Error::Registration)
}
