//! One list of the registry at one moment: what is found by its key, and the pages of its method rendered for every revision.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::base::trace::looked_up;
use crate::tables::versions::Revision;

use super::cursor::{self, BadCursor};
use super::keys::Keys;

/// Something that a list method lists.
pub trait Listed: Send + Sync + 'static {
    /// The member of the result that holds the list.
    const MEMBER: &'static str;
    /// Tells the cursors of this list from those of others.
    const TAG: u8;

    /// What it is found by.
    fn key(&self) -> &str;

    /// It as `revision` lists it.
    fn listed(&self, revision: Revision) -> &[u8];
}

/// An entry and its place in the order of registration, which no other entry of the list ever gets.
struct Slot<E> {
    sequence: u64,
    entry: Arc<E>,
}

impl<E> Clone for Slot<E> {
    fn clone(&self) -> Self {
        Self { sequence: self.sequence, entry: Arc::clone(&self.entry) }
    }
}

/// The entries of one kind at one moment.
pub struct List<E> {
    keys: Keys<E>,
    slots: Vec<Slot<E>>,
    /// By [`Revision::index`], then by page. Pages that a change does not touch are shared with the list before.
    pages: Vec<Vec<Arc<[u8]>>>,
    page_size: usize,
    /// One more than the highest sequence number ever given.
    next: u64,
    /// The first place that is different from what the pages say.
    changed: Option<usize>,
}

impl<E> Clone for List<E> {
    fn clone(&self) -> Self {
        Self {
            keys: self.keys.clone(),
            slots: self.slots.clone(),
            pages: self.pages.clone(),
            page_size: self.page_size,
            next: self.next,
            changed: self.changed,
        }
    }
}

impl<E: Listed> fmt::Debug for List<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.entries().map(|entry| entry.key()).collect();
        f.debug_struct("List").field("entries", &keys).finish_non_exhaustive()
    }
}

impl<E: Listed> List<E> {
    pub(super) fn empty(page_size: usize) -> Self {
        let mut empty = Self {
            keys: Keys::new(),
            slots: Vec::new(),
            pages: Vec::new(),
            page_size: page_size.max(1),
            next: 0,
            changed: Some(0),
        };
        empty.render();
        empty
    }

    /// The entry with this key.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<&Arc<E>> {
        looked_up(E::MEMBER);
        self.keys.find(key)
    }

    /// The entries in the order of registration.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Arc<E>> {
        self.slots.iter().map(|slot| &slot.entry)
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The members of the method's result, without braces: `"tools":[…]`, and `"nextCursor":"…"` where more follow. A cursor stays
    /// good while entries come and go: the list goes on after the place it names.
    ///
    /// # Errors
    /// [`BadCursor`] for a cursor that this list never handed out: invalid params.
    pub fn page(&self, revision: Revision, cursor: Option<&str>) -> Result<Cow<'_, [u8]>, BadCursor> {
        let start = match cursor {
            None => 0,
            Some(text) => {
                let last = cursor::decode(E::TAG, text)?;
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

    fn position(&self, key: &str) -> Option<usize> {
        self.keys.find(key)?;
        self.slots.iter().position(|slot| slot.entry.key() == key)
    }

    /// Puts an entry in the place of the one that has its key, else at the end.
    pub(super) fn put(&mut self, entry: Arc<E>) {
        let at = self.position(entry.key()).unwrap_or(self.slots.len());
        self.touch(at);
        self.keys.put(entry.key(), Arc::clone(&entry));
        match self.slots.get_mut(at) {
            Some(slot) => slot.entry = entry,
            None => {
                self.slots.push(Slot { sequence: self.next, entry });
                self.next += 1;
            }
        }
    }

    /// Takes an entry out. False when there is none with this key.
    pub(super) fn take(&mut self, key: &str) -> bool {
        let Some(at) = self.position(key) else { return false };
        self.touch(at);
        self.keys.take(key);
        self.slots.remove(at);
        true
    }

    pub(super) fn set_page_size(&mut self, page_size: usize) {
        self.page_size = page_size.max(1);
        self.touch(0);
    }

    fn touch(&mut self, at: usize) {
        self.changed = Some(self.changed.map_or(at, |changed| changed.min(at)));
    }

    /// Whether the pages are to be rendered again.
    pub(super) const fn is_changed(&self) -> bool {
        self.changed.is_some()
    }

    /// Renders the pages again from the first that has changed. The page before it too: whether it has a next one may have changed.
    pub(super) fn render(&mut self) {
        let Some(changed) = self.changed.take() else { return };
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
        let mut out = Vec::with_capacity(size + 64);
        out.push(b'"');
        out.extend_from_slice(E::MEMBER.as_bytes());
        out.extend_from_slice(b"\":[");
        for (at, slot) in page.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(slot.entry.listed(revision));
        }
        out.push(b']');
        if let (Some(last), false) = (page.last(), more.is_empty()) {
            out.extend_from_slice(b",\"nextCursor\":\"");
            out.extend_from_slice(&cursor::encode(E::TAG, last.sequence));
            out.push(b'"');
        }
        out
    }
}
