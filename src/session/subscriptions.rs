//! The resources that a session subscribes to, and which of them its client is owed a notification about. However often one changes, it is
//! owed once.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::commons::Commons;
use super::state::Session;
use super::streams::{After, Streams};
use crate::events::changes::Updated;

/// Why a session may not subscribe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It subscribes to as many resources as it may.
    TooMany,
    /// All sessions together subscribe to as much as they may.
    NoMemory,
}

/// The subscriptions of one session.
#[derive(Debug)]
pub(super) struct Subscriptions {
    commons: Arc<Commons>,
    /// Whether each is owed.
    uris: HashMap<Arc<str>, bool>,
    /// Those that are owed, oldest first.
    owed: VecDeque<Arc<str>>,
}

/// What one costs beside the bytes of its URI, twice over: as an entry, and as one that is owed.
const ENTRY: usize = 96;

impl Subscriptions {
    pub(super) fn new(commons: &Arc<Commons>) -> Self {
        Self { commons: Arc::clone(commons), uris: HashMap::new(), owed: VecDeque::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.uris.is_empty()
    }

    fn add(&mut self, uri: &str) -> Result<(), Refused> {
        if self.uris.contains_key(uri) {
            return Ok(());
        }
        if self.uris.len() >= self.commons.bounds.subscriptions {
            return Err(Refused::TooMany);
        }
        if !self.commons.take_subscription(uri.len() + ENTRY) {
            return Err(Refused::NoMemory);
        }
        self.uris.insert(uri.into(), false);
        Ok(())
    }

    fn remove(&mut self, uri: &str) {
        let Some(owed) = self.uris.remove(uri) else { return };
        self.commons.give_subscription(uri.len() + ENTRY);
        if owed {
            self.owed.retain(|other| **other != *uri);
        }
        if self.uris.is_empty() {
            (self.uris, self.owed) = Default::default();
        }
    }

    fn mark(&mut self, updated: &Updated) {
        match updated {
            // Whichever are fewer are looked up among the others.
            Updated::These(uris) if uris.len() < self.uris.len() => {
                for uri in uris {
                    let Some((uri, owed)) = self.uris.get_key_value(&**uri) else { continue };
                    if !*owed {
                        let uri = Arc::clone(uri);
                        self.uris.insert(Arc::clone(&uri), true);
                        self.owed.push_back(uri);
                    }
                }
            }
            Updated::These(_) | Updated::Any => {
                for (uri, owed) in &mut self.uris {
                    if !*owed && updated.has(uri) {
                        *owed = true;
                        self.owed.push_back(Arc::clone(uri));
                    }
                }
            }
        }
    }

    /// Takes the one that has been owed for longest.
    pub(super) fn next(&mut self) -> Option<Arc<str>> {
        let uri = self.owed.pop_front()?;
        if let Some(owed) = self.uris.get_mut(&uri) {
            *owed = false;
        }
        Some(uri)
    }

    fn owes(&self) -> bool {
        !self.owed.is_empty()
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        for uri in self.uris.keys() {
            self.commons.give_subscription(uri.len() + ENTRY);
        }
    }
}

impl Session {
    /// The client wants to be told when this resource changes.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn subscribe(&self, uri: &str) -> Result<(), Refused> {
        // A session that has ended is told nothing anyway.
        self.with_streams(|streams| streams.subscriptions.add(uri)).unwrap_or(Ok(()))
    }

    /// The client does not want to be told any longer.
    pub fn unsubscribe(&self, uri: &str) {
        self.with_made_streams(|streams| streams.subscriptions.remove(uri));
    }

    /// The client is owed word of these resources, as far as it subscribes to them.
    pub(super) fn resources_updated(&self, updated: &Updated) -> Option<After> {
        let looked = self.look_at_streams(|streams: &mut Streams| {
            streams.subscriptions.mark(updated);
            if streams.subscriptions.owes() {
                streams.wake_newest();
            }
        });
        looked.map(|((), after)| after)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::base::limits::Limits;

    fn subscriptions(most: u64, memory: u64) -> Subscriptions {
        let limits = Limits { session_subscriptions: most, subscription_memory: memory, ..Limits::default() };
        Subscriptions::new(&Arc::new(Commons::new(&limits)))
    }

    fn these(uris: &[&str]) -> Updated {
        Updated::These(uris.iter().map(|&uri| uri.into()).collect::<HashSet<_>>())
    }

    fn taken(subscriptions: &mut Subscriptions) -> Vec<Arc<str>> {
        std::iter::from_fn(|| subscriptions.next()).collect()
    }

    #[test]
    fn owed_once_and_only_what_is_subscribed_to() {
        let mut all = subscriptions(10, 1_024);
        for uri in ["a:1", "a:2", "a:2", "a:3"] {
            assert_eq!(all.add(uri), Ok(()));
        }
        all.mark(&these(&["a:2"]));
        all.mark(&these(&["a:1", "a:2", "b:9", "b:8"]));
        assert!(all.owes());
        assert_eq!(taken(&mut all), ["a:2".into(), "a:1".into()]);
        all.mark(&Updated::Any);
        all.remove("a:3");
        all.remove("never");
        assert_eq!(taken(&mut all).len(), 2);
        assert!(!all.owes() && !all.is_empty());
    }

    #[test]
    fn bounded_for_a_session_and_for_all_and_given_back() {
        let mut all = subscriptions(2, 1_024);
        assert_eq!((all.add("a:1"), all.add("a:2"), all.add("a:1")), (Ok(()), Ok(()), Ok(())));
        assert_eq!(all.add("a:3"), Err(Refused::TooMany));
        all.remove("a:1");
        assert_eq!(all.add("a:3"), Ok(()));

        let mut one = subscriptions(10, 1_024);
        let mut other = Subscriptions::new(&one.commons);
        let commons = Arc::clone(&one.commons);
        assert_eq!(one.add(&"x".repeat(800)), Ok(()));
        assert_eq!(other.add(&"x".repeat(33)), Err(Refused::NoMemory));
        assert_eq!(other.add(&"x".repeat(32)), Ok(()), "each costs an entry of 96 bytes, too");
        assert_eq!(commons.subscribed(), 1_024);
        one.remove(&"x".repeat(800));
        drop(other);
        assert_eq!((one.is_empty(), commons.subscribed()), (true, 0));
    }
}
