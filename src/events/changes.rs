//! What has changed and has not been announced yet. Whoever changes something marks it here; one task of the server waits, lets a burst
//! pass and takes everything at once.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::topic::{OwedTopics, Topics};
use crate::base::limits::Limits;

/// Changes that wait to be announced. Clones are the same. However much is marked, what is kept is bounded: topics are bits, resources
/// are kept up to a limit and beyond it become "any".
#[derive(Debug, Clone)]
pub struct Changes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    topics: OwedTopics,
    updated: Mutex<Updated>,
    /// The most resources that are kept one by one.
    most: AtomicUsize,
    /// The longest URI that anybody can have subscribed to.
    longest: AtomicUsize,
    wake: Notify,
}

/// Everything that has changed since the last time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The lists.
    pub topics: Topics,
    /// The resources.
    pub updated: Updated,
}

impl Due {
    /// Whether nothing has changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.topics.is_empty() && self.updated.is_empty()
    }
}

/// Resources whose contents have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Updated {
    /// Those with these URIs.
    These(HashSet<Box<str>>),
    /// More than are kept one by one. Subscribers are told of everything they have subscribed to: one notification too many makes a
    /// client read again, one too few leaves it with what is stale.
    Any,
}

impl Default for Updated {
    fn default() -> Self {
        Self::These(HashSet::new())
    }
}

impl Updated {
    /// Whether no resource has changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::These(uris) => uris.is_empty(),
            Self::Any => false,
        }
    }

    /// Whether a subscriber of `uri` is to be told.
    #[must_use]
    pub fn has(&self, uri: &str) -> bool {
        match self {
            Self::These(uris) => uris.contains(uri),
            Self::Any => true,
        }
    }

    /// Adds `uri`, where at most `most` are kept one by one. False where that changes nothing.
    fn add(&mut self, uri: &str, most: usize) -> bool {
        match self {
            Self::Any => return false,
            Self::These(uris) if uris.contains(uri) => return false,
            Self::These(uris) if uris.len() < most => {
                uris.insert(uri.into());
            }
            Self::These(_) => *self = Self::Any,
        }
        true
    }
}

impl Changes {
    /// Nothing has changed yet.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let changes = Self(Arc::new(Inner {
            topics: OwedTopics::default(),
            updated: Mutex::default(),
            most: AtomicUsize::new(0),
            longest: AtomicUsize::new(0),
            wake: Notify::new(),
        }));
        changes.apply_limits(limits);
        changes
    }

    /// Keeps to other limits from now on.
    pub fn apply_limits(&self, limits: &Limits) {
        let size = |limit| usize::try_from(limit).unwrap_or(usize::MAX);
        self.0.most.store(size(limits.updated_resources), Ordering::Release);
        self.0.longest.store(size(limits.resource_uri), Ordering::Release);
    }

    /// These lists have changed.
    pub fn mark(&self, topics: Topics) {
        if !topics.is_empty() {
            self.0.topics.mark(topics);
            self.0.wake.notify_one();
        }
    }

    /// The contents of the resource at `uri` have changed.
    pub fn resource_updated(&self, uri: &str) {
        if uri.len() > self.0.longest.load(Ordering::Acquire) {
            return;
        }
        let most = self.0.most.load(Ordering::Acquire);
        if self.updated().add(uri, most) {
            self.0.wake.notify_one();
        }
    }

    /// Waits until something is due. For one task: of several, one is woken.
    pub async fn changed(&self) {
        while self.0.topics.get().is_empty() && self.updated().is_empty() {
            self.0.wake.notified().await;
        }
    }

    /// Takes everything that is due.
    #[must_use]
    pub fn take(&self) -> Due {
        let updated = std::mem::take(&mut *self.updated());
        Due { topics: self.0.topics.take(), updated }
    }

    fn updated(&self) -> MutexGuard<'_, Updated> {
        self.0.updated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::events::topic::Topic;

    fn changes(most: u64, longest: u64) -> Changes {
        Changes::new(&Limits { updated_resources: most, resource_uri: longest, ..Limits::default() })
    }

    fn uris(due: &Due) -> usize {
        match &due.updated {
            Updated::These(uris) => uris.len(),
            Updated::Any => panic!("any"),
        }
    }

    #[test]
    fn a_burst_is_due_once() {
        let changes = changes(10, 100);
        for _ in 0..100 {
            changes.mark(Topic::ToolsList.into());
            changes.resource_updated("a:1");
        }
        changes.mark(Topics::NONE);
        let due = changes.clone().take();
        assert_eq!((due.topics, uris(&due)), (Topic::ToolsList.into(), 1));
        assert!(due.updated.has("a:1") && !due.updated.has("a:2"));
        assert!(changes.take().is_empty());
    }

    #[test]
    fn resources_are_kept_up_to_the_limit_and_none_is_lost_beyond() {
        let changes = changes(3, 100);
        for uri in ["a:1", "a:2", "a:3", "a:3"] {
            changes.resource_updated(uri);
        }
        assert_eq!(uris(&changes.take()), 3);
        for at in 0..1000 {
            changes.resource_updated(&format!("a:{at}"));
        }
        let due = changes.take();
        assert_eq!(due.updated, Updated::Any);
        assert!(due.updated.has("a:999") && !due.is_empty());
        changes.resource_updated("a:1");
        assert_eq!(uris(&changes.take()), 1, "taking starts over");
    }

    #[test]
    fn a_uri_that_nobody_can_have_subscribed_to_is_not_kept() {
        let changes = changes(10, 64);
        changes.resource_updated(&"x".repeat(65));
        assert!(changes.take().is_empty());
        changes.resource_updated(&"x".repeat(64));
        changes.resource_updated(&"y".repeat(63));
        assert_eq!(uris(&changes.take()), 2);
    }

    #[tokio::test]
    async fn whatever_is_marked_wakes_and_what_is_taken_does_not() {
        let changes = changes(10, 100);
        // Marked before anybody waits.
        changes.mark(Topic::PromptsList.into());
        changes.changed().await;
        assert_eq!(changes.take().topics, Topic::PromptsList.into());
        let quiet = tokio::time::timeout(Duration::from_millis(20), changes.changed()).await;
        assert!(quiet.is_err(), "nothing is due");
        // Marked while somebody waits.
        let waiting = tokio::spawn({
            let changes = changes.clone();
            async move {
                changes.changed().await;
                changes.take()
            }
        });
        tokio::task::yield_now().await;
        changes.resource_updated("a:1");
        assert!(waiting.await.unwrap().updated.has("a:1"));
    }
}
