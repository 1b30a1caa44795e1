//! Everything a server offers, which may change while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::{ArcSwap, Guard};
use serde_json::Value;
use tokio::sync::watch;

use crate::base::limits::Limits;
use crate::events::changes::Changes;

use super::edit::{Changed, Edit};
use super::offers::Offer;
use super::snapshot::Snapshot;

/// The tools, resources, resource templates and prompts of a server. Clones are the same registry; any thread may change it at any
/// time, calls that run go on with what they were started on, and clients are told which lists have changed. Lists are in the order of
/// registration.
///
/// ```
/// use twolane::tools::{Prompt, Registry, Resource, Typed};
///
/// let registry = Registry::default();
/// let hello = || Typed::new("hello", "Says hello", |(): ()| async { "hello" });
/// registry.add(hello())?;
/// assert!(registry.add(hello()).unwrap_err().to_string().contains("already"));
/// registry.replace(hello().title("Hello"))?;
/// assert!(registry.remove("hello"));
/// registry.edit(|edit| {
///     edit.add_resource(Resource::text("note://today", "today", "Nothing yet."))?;
///     edit.add_prompt(Prompt::new("sum-up", "Sums up the day.", |_| async { "Sum up note://today" }))
/// })?;
/// assert_eq!(registry.generation(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Registry(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    current: ArcSwap<Snapshot>,
    /// Held while a change is made, so that none is lost.
    writer: Mutex<()>,
    changes: watch::Sender<u64>,
    /// What clients are to be told of.
    due: Changes,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new(&Limits::default())
    }
}

impl Registry {
    /// An empty registry whose pages have `Limits::page_size` entries.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let snapshot = Snapshot::empty(page_size(limits));
        Self(Arc::new(Inner {
            current: ArcSwap::from_pointee(snapshot),
            writer: Mutex::new(()),
            changes: watch::Sender::new(0),
            due: Changes::new(limits),
        }))
    }

    /// Makes several changes at once: they appear together, and lists are rendered once. Changes made before a failure stay. Inside
    /// `change`, change the registry through what it is given alone: another change waits for this one.
    pub fn edit<R>(&self, change: impl FnOnce(&mut Edit) -> R) -> R {
        let writer = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // Kept until the lock is given back: what is removed may itself look at the registry when it is dropped.
        let before = self.0.current.load_full();
        let mut edit = Edit::new(Arc::clone(&before));
        let result = change(&mut edit);
        if let Some(Changed { mut next, topics, updated }) = edit.into_changed() {
            next.render();
            next.bump();
            let generation = next.generation();
            self.0.current.store(Arc::new(next));
            self.0.changes.send_replace(generation);
            self.0.due.mark(topics);
            updated.iter().for_each(|uri| self.0.due.resource_updated(uri));
        }
        drop(writer);
        drop(before);
        result
    }

    /// Declares a capability whatever is registered, for a server that fills its registry later: clients look at capabilities once.
    pub fn offer(&self, offer: Offer) {
        self.update(|next| next.offers_mut().force(offer));
    }

    /// Declares an extension with its settings, to revisions that have extensions.
    pub fn offer_extension(&self, name: impl Into<String>, settings: impl Into<Value>) {
        self.update(|next| next.offers_mut().extend(name.into(), settings.into()));
    }

    /// Renders the lists again with other limits.
    pub fn apply_limits(&self, limits: &Limits) {
        self.update(|next| next.set_page_size(page_size(limits)));
        self.0.due.apply_limits(limits);
    }

    /// A change that no list shows.
    fn update(&self, change: impl FnOnce(&mut Snapshot)) {
        let _writer = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Snapshot::clone(&self.0.current.load());
        change(&mut next);
        next.render();
        self.0.current.store(Arc::new(next));
    }

    /// The contents of the resource at `uri` have changed: whoever has subscribed to it is told, once however often it changes in a burst.
    pub fn resource_updated(&self, uri: &str) {
        self.0.due.resource_updated(uri);
    }

    /// What has changed and is not announced yet.
    pub(crate) fn due(&self) -> &Changes {
        &self.0.due
    }

    /// Everything as it is now. Cheap; do not hold it while waiting.
    #[must_use]
    pub fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.0.current.load()
    }

    /// How many changes there have been.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.snapshot().generation()
    }

    /// Follows the generation.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }
}

fn page_size(limits: &Limits) -> usize {
    usize::try_from(limits.page_size).unwrap_or(usize::MAX)
}
