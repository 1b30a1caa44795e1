//! The registry at one moment: what is found by name, and `tools/list` rendered for every revision.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::tables::versions::Revision;

use super::cursor::{self, BadCursor};
use super::entry::Entry;

/// A tool and its place in the order of registration, which no other tool ever gets.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) sequence: u64,
    pub(super) entry: Arc<Entry>,
}

/// All tools at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    by_name: HashMap<Box<str>, Arc<Entry>>,
    slots: Vec<Slot>,
    /// By [`Revision::index`], then by page. Pages that a change does not touch are shared with the snapshot before.
    pages: Vec<Vec<Arc<[u8]>>>,
    page_size: usize,
    generation: u64,
    /// One more than the highest sequence number ever given.
    next: u64,
}

impl Snapshot {
    pub(super) fn empty(page_size: usize) -> Self {
        let mut empty = Self { page_size: page_size.max(1), ..Self::default() };
        empty.render(0);
        empty
    }

    /// The tool called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        self.by_name.get(name)
    }

    /// The tools in the order of registration.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Arc<Entry>> {
        self.slots.iter().map(|slot| &slot.entry)
    }

    /// How many changes there have been.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The members of a `tools/list` result, without braces: `"tools":[…]`, and `"nextCursor":"…"` where more follow. A cursor stays
    /// good while tools come and go: the list goes on after the place it names.
    ///
    /// # Errors
    /// [`BadCursor`] for a cursor that this list never handed out: invalid params.
    pub fn page(&self, revision: Revision, cursor: Option<&str>) -> Result<Cow<'_, [u8]>, BadCursor> {
        let start = match cursor {
            None => 0,
            Some(text) => {
                let last = cursor::decode(text)?;
                if last >= self.next {
                    return Err(BadCursor);
                }
                self.slots.partition_point(|slot| slot.sequence <= last)
            }
        };
        if start.is_multiple_of(self.page_size)
            && let Some(page) = self.pages[revision.index()].get(start / self.page_size)
        {
            return Ok(Cow::Borrowed(page));
        }
        Ok(Cow::Owned(self.render_page(revision, start)))
    }

    /// The place of the tool called `name`.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.slots.iter().position(|slot| slot.entry.name() == name)
    }

    /// Adds a tool at the end.
    pub(super) fn push(&mut self, entry: Arc<Entry>) {
        self.by_name.insert(entry.name().into(), Arc::clone(&entry));
        self.slots.push(Slot { sequence: self.next, entry });
        self.next += 1;
    }

    /// Puts a tool in the place of the one of the same name.
    pub(super) fn put(&mut self, at: usize, entry: Arc<Entry>) {
        self.by_name.insert(entry.name().into(), Arc::clone(&entry));
        self.slots[at].entry = entry;
    }

    /// Takes a tool out.
    pub(super) fn take(&mut self, at: usize) -> Arc<Entry> {
        let slot = self.slots.remove(at);
        self.by_name.remove(slot.entry.name());
        slot.entry
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn bump(&mut self) {
        self.generation += 1;
    }

    pub(super) fn set_page_size(&mut self, page_size: usize) {
        self.page_size = page_size.max(1);
    }

    /// Renders the pages again from the one that holds the tool at `changed`. The page before it too: whether it has a next one may
    /// have changed.
    pub(super) fn render(&mut self, changed: usize) {
        let keep = (changed / self.page_size).saturating_sub(1);
        let count = self.slots.len().div_ceil(self.page_size).max(1);
        let mut pages = std::mem::take(&mut self.pages);
        pages.resize_with(Revision::ALL.len(), Vec::new);
        for (pages, &revision) in pages.iter_mut().zip(Revision::ALL) {
            pages.truncate(keep);
            for page in pages.len()..count {
                pages.push(self.render_page(revision, page * self.page_size).into());
            }
        }
        self.pages = pages;
    }

    fn render_page(&self, revision: Revision, start: usize) -> Vec<u8> {
        let rest = self.slots.get(start..).unwrap_or_default();
        let (page, more) = rest.split_at(rest.len().min(self.page_size));
        let size: usize = page.iter().map(|slot| slot.entry.listed(revision).len() + 1).sum();
        let mut out = Vec::with_capacity(size + 48);
        out.extend_from_slice(b"\"tools\":[");
        for (at, slot) in page.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(slot.entry.listed(revision));
        }
        out.push(b']');
        if let (Some(last), false) = (page.last(), more.is_empty()) {
            out.extend_from_slice(b",\"nextCursor\":\"");
            out.extend_from_slice(&cursor::encode(last.sequence));
            out.push(b'"');
        }
        out
    }
}
