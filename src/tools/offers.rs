//! What the server says that it can do (`ServerCapabilities` in the schema): what is registered, and what is said to come.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::tables::versions::{Feature, Revision};
use crate::tasks;

use super::members::Members;
use super::snapshot::Snapshot;
use super::spec::TaskSupport;

/// Something that a server can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Offer {
    /// Tools.
    Tools,
    /// Resources and their templates.
    Resources,
    /// Prompts.
    Prompts,
    /// Completion of arguments.
    Completions,
}

/// What is offered whatever is registered.
#[derive(Debug, Clone, Default)]
pub(super) struct Offers {
    forced: Vec<Offer>,
    extensions: BTreeMap<String, Value>,
}

impl Offers {
    pub(super) fn force(&mut self, offer: Offer) {
        if !self.forced.contains(&offer) {
            self.forced.push(offer);
        }
    }

    pub(super) fn extend(&mut self, name: String, settings: Value) {
        self.extensions.insert(name, settings);
    }

    pub(super) fn has(&self, snapshot: &Snapshot, offer: Offer) -> bool {
        let registered = match offer {
            Offer::Tools => !snapshot.tools().is_empty(),
            Offer::Resources => !snapshot.resources().is_empty() || !snapshot.templates().is_empty(),
            Offer::Prompts => !snapshot.prompts().is_empty(),
            Offer::Completions => {
                snapshot.prompts().entries().any(|entry| entry.completions().any())
                    || snapshot.templates().entries().any(|entry| entry.completions().any())
            }
        };
        registered || self.forced.contains(&offer)
    }

    /// The member `capabilities`.
    pub(super) fn render(&self, snapshot: &Snapshot, revision: Revision) -> Box<[u8]> {
        let mut out = b"\"capabilities\":{".to_vec();
        let mut members = Members::new(&mut out);
        for (offer, settings) in [
            (Offer::Tools, "\"tools\":{\"listChanged\":true}"),
            (Offer::Resources, "\"resources\":{\"subscribe\":true,\"listChanged\":true}"),
            (Offer::Prompts, "\"prompts\":{\"listChanged\":true}"),
            (Offer::Completions, "\"completions\":{}"),
        ] {
            if self.has(snapshot, offer) {
                members.rendered(settings.as_bytes());
            }
        }
        members.rendered(b"\"logging\":{}");
        if revision.has(Feature::Extensions) {
            let mut extensions = self.extensions.clone();
            if snapshot.tools().entries().any(|entry| entry.tasks() != TaskSupport::Never) {
                extensions.entry(tasks::EXTENSION.to_owned()).or_insert_with(|| json!({}));
            }
            if !extensions.is_empty() {
                members.value("extensions", &extensions);
            }
        }
        out.push(b'}');
        out.into_boxed_slice()
    }
}
