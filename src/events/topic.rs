//! The lists that clients are told of when they change, and sets of them.

use std::sync::atomic::{AtomicU8, Ordering};

macro_rules! topics {
    ($($(#[doc = $doc:literal])+ $variant:ident = $method:literal, $filter:literal;)+) => {
        /// A list that may change.
        #[allow(clippy::enum_variant_names, reason = "there may be topics that are no lists")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Topic { $($(#[doc = $doc])+ $variant,)+ }

        impl Topic {
            /// Every topic.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The notification that tells of a change.
            #[must_use]
            pub const fn method(self) -> &'static str { match self { $(Self::$variant => $method,)+ } }

            /// The same as a whole message, without params.
            #[must_use]
            pub const fn notification(self) -> &'static str {
                match self { $(Self::$variant => concat!("{\"jsonrpc\":\"2.0\",\"method\":\"", $method, "\"}"),)+ }
            }

            /// The member of a `subscriptions/listen` filter that asks for it.
            #[must_use]
            pub const fn filter(self) -> &'static str { match self { $(Self::$variant => $filter,)+ } }
        }
    };
}

topics! {
    /// `tools/list`.
    ToolsList = "notifications/tools/list_changed", "toolsListChanged";
    /// `prompts/list`.
    PromptsList = "notifications/prompts/list_changed", "promptsListChanged";
    /// `resources/list` and `resources/templates/list`.
    ResourcesList = "notifications/resources/list_changed", "resourcesListChanged";
}

/// A set of topics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Topics(u8);

impl Topics {
    /// None.
    pub const NONE: Self = Self(0);

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `topic` is one of them.
    #[must_use]
    pub const fn has(self, topic: Topic) -> bool {
        self.0 & (1 << topic as u8) != 0
    }

    /// These and `topic`.
    #[must_use]
    pub const fn with(self, topic: Topic) -> Self {
        Self(self.0 | 1 << topic as u8)
    }

    /// These without `topic`.
    #[must_use]
    pub const fn without(self, topic: Topic) -> Self {
        Self(self.0 & !(1 << topic as u8))
    }

    /// Those that are in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that are in both.
    #[must_use]
    pub const fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The first, if there is one.
    #[must_use]
    pub fn first(self) -> Option<Topic> {
        self.iter().next()
    }

    /// One after the other, in declaration order.
    pub fn iter(self) -> impl Iterator<Item = Topic> {
        Topic::ALL.iter().copied().filter(move |&topic| self.has(topic))
    }
}

impl From<Topic> for Topics {
    fn from(topic: Topic) -> Self {
        Self::NONE.with(topic)
    }
}

/// Topics that are owed to somebody. Marking one twice owes it once.
#[derive(Debug, Default)]
pub struct OwedTopics(AtomicU8);

impl OwedTopics {
    /// Owes `topics` too, and says whether any of them was not owed yet.
    pub fn mark(&self, topics: Topics) -> bool {
        topics.0 & !self.0.fetch_or(topics.0, Ordering::AcqRel) != 0
    }

    /// What is owed now.
    #[must_use]
    pub fn get(&self) -> Topics {
        Topics(self.0.load(Ordering::Acquire))
    }

    /// Takes `topic` off, and says whether it was owed.
    pub fn settle(&self, topic: Topic) -> bool {
        let topic = Topics::from(topic).0;
        // Looked at first: what is served often is owed seldom.
        self.0.load(Ordering::Acquire) & topic != 0 && self.0.fetch_and(!topic, Ordering::AcqRel) & topic != 0
    }

    /// Takes everything that is owed.
    #[must_use]
    pub fn take(&self) -> Topics {
        Topics(self.0.swap(0, Ordering::AcqRel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_put_in() {
        let mut all = Topics::NONE;
        assert!(all.is_empty() && all.first().is_none());
        for &topic in Topic::ALL {
            assert!(!all.has(topic));
            all = all.with(topic);
            assert!(all.has(topic));
        }
        assert_eq!(all.iter().collect::<Vec<_>>(), Topic::ALL);
        let rest = all.without(Topic::PromptsList);
        assert_eq!(rest.iter().collect::<Vec<_>>(), [Topic::ToolsList, Topic::ResourcesList]);
        assert_eq!(rest.both(Topic::ToolsList.into()), Topics::from(Topic::ToolsList));
        assert_eq!(rest.union(Topic::PromptsList.into()), all);
    }

    #[test]
    fn owed_once_however_often_marked() {
        let owed = OwedTopics::default();
        assert!(owed.mark(Topic::ToolsList.into()));
        assert!(!owed.mark(Topic::ToolsList.into()) && !owed.mark(Topics::NONE));
        assert!(owed.mark(Topic::ResourcesList.into()));
        assert!(owed.settle(Topic::ToolsList));
        assert!(!owed.settle(Topic::ToolsList));
        assert_eq!(owed.get(), Topic::ResourcesList.into());
        assert_eq!(owed.take(), Topic::ResourcesList.into());
        assert!(owed.take().is_empty());
    }
}
