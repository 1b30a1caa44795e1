//! The tools of a server, which may change while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::{ArcSwap, Guard};
use tokio::sync::watch;

use crate::base::error::Error;
use crate::base::limits::Limits;
use crate::events::changes::Changes;
use crate::events::topic::Topic;

use super::Tool;
use super::entry::Entry;
use super::snapshot::Snapshot;

/// The tools of a server. Clones are the same registry; any thread may change it at any time, and calls that run go on with the tool
/// they were started on.
///
/// ```
/// use twolane::tools::{Registry, Typed};
///
/// let registry = Registry::default();
/// let hello = || Typed::new("hello", "Says hello", |(): ()| async { "hello" });
/// registry.add(hello())?;
/// assert!(registry.add(hello()).unwrap_err().to_string().contains("already"));
/// registry.replace(hello().title("Hello"))?;
/// assert!(registry.remove("hello"));
/// assert_eq!(registry.generation(), 3);
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
    /// An empty registry whose pages have `Limits::page_size` tools.
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

    /// Adds a tool at the end.
    ///
    /// # Errors
    /// [`Error::Registration`] for a name that is taken or not allowed, a schema that does not compile or that clients cannot load, or
    /// a bad `x-mcp-header`. The text says how to mend it.
    pub fn add(&self, tool: impl Tool) -> Result<(), Error> {
        let entry = compile(tool)?;
        self.edit(|edit| edit.add_entry(entry))
    }

    /// Adds a tool, or puts it in the place of the one that has its name.
    ///
    /// # Errors
    /// As [`Self::add`], but for the name that is taken.
    pub fn replace(&self, tool: impl Tool) -> Result<(), Error> {
        let entry = compile(tool)?;
        self.edit(|edit| edit.replace_entry(entry));
        Ok(())
    }

    /// Removes a tool. False when there is none of that name.
    pub fn remove(&self, name: &str) -> bool {
        self.edit(|edit| edit.remove(name))
    }

    /// Makes several changes at once: they appear together, and lists are rendered once. Changes made before a failure stay. Inside
    /// `change`, change the registry through what it is given alone: another change waits for this one.
    pub fn edit<R>(&self, change: impl FnOnce(&mut Edit) -> R) -> R {
        let _writer = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut edit = Edit { next: None, current: self.0.current.load_full(), changed: usize::MAX };
        let result = change(&mut edit);
        if let Some(mut next) = edit.next {
            next.render(edit.changed);
            next.bump();
            self.publish(next);
        }
        result
    }

    /// Renders the lists again with other limits.
    pub fn apply_limits(&self, limits: &Limits) {
        let _writer = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Snapshot::clone(&self.0.current.load());
        next.set_page_size(page_size(limits));
        next.render(0);
        self.0.current.store(Arc::new(next));
        self.0.due.apply_limits(limits);
    }

    fn publish(&self, next: Snapshot) {
        let generation = next.generation();
        self.0.current.store(Arc::new(next));
        self.0.changes.send_replace(generation);
        self.0.due.mark(Topic::ToolsList.into());
    }

    /// The contents of the resource at `uri` have changed: whoever has subscribed to it is told, once however often it changes in a burst.
    pub fn resource_updated(&self, uri: &str) {
        self.0.due.resource_updated(uri);
    }

    /// What has changed and is not announced yet.
    pub(crate) fn due(&self) -> &Changes {
        &self.0.due
    }

    /// The tools as they are now. Cheap; do not hold it while waiting.
    #[must_use]
    pub fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.0.current.load()
    }

    /// How many changes there have been.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.snapshot().generation()
    }

    /// Follows the generation: what tells clients that the list has changed waits on this.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }
}

/// Everything about a tool that needs no lock.
fn compile(tool: impl Tool) -> Result<Arc<Entry>, Error> {
    Entry::compile(Box::new(tool)).map(Arc::new).map_err(Error::Registration)
}

fn page_size(limits: &Limits) -> usize {
    usize::try_from(limits.page_size).unwrap_or(usize::MAX)
}

/// Changes that appear together, see [`Registry::edit`].
#[derive(Debug)]
pub struct Edit {
    current: Arc<Snapshot>,
    /// Made by the first change.
    next: Option<Snapshot>,
    /// The first place that is different.
    changed: usize,
}

impl Edit {
    /// Adds a tool at the end.
    ///
    /// # Errors
    /// As [`Registry::add`].
    pub fn add(&mut self, tool: impl Tool) -> Result<(), Error> {
        self.add_entry(compile(tool)?)
    }

    /// Adds a tool, or puts it in the place of the one that has its name.
    ///
    /// # Errors
    /// As [`Registry::replace`].
    pub fn replace(&mut self, tool: impl Tool) -> Result<(), Error> {
        self.replace_entry(compile(tool)?);
        Ok(())
    }

    fn add_entry(&mut self, entry: Arc<Entry>) -> Result<(), Error> {
        if self.view().find(entry.name()).is_some() {
            return Err(Error::Registration(format!(
                "tool {:?} cannot be registered: the name is taken already; rename it, or replace the other one",
                entry.name()
            )));
        }
        let at = self.view().len();
        self.touch(at).push(entry);
        Ok(())
    }

    fn replace_entry(&mut self, entry: Arc<Entry>) {
        match self.view().position(entry.name()) {
            Some(at) => self.touch(at).put(at, entry),
            None => {
                let at = self.view().len();
                self.touch(at).push(entry);
            }
        }
    }

    /// Removes a tool. False when there is none of that name.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(at) = self.view().position(name) else { return false };
        self.touch(at).take(at);
        true
    }

    fn view(&self) -> &Snapshot {
        self.next.as_ref().unwrap_or(&self.current)
    }

    fn touch(&mut self, at: usize) -> &mut Snapshot {
        self.changed = self.changed.min(at);
        self.next.get_or_insert_with(|| Snapshot::clone(&self.current))
    }
}
