//! What a client is to be told outside of any call. The debt is kept by the session, since there may be no stream to tell it on; the newest
//! stream that listens pays it when it is read, and serving the list itself settles it too.

use super::state::{Lifecycle, Session};
use super::streams::{After, Streams};
use crate::events::topic::{Topic, Topics};
use crate::reply::json;

impl Session {
    /// What the client was offered when it opened the session. Said once, when it is told.
    pub fn offer(&self, topics: Topics) {
        let _ = self.offered.set(topics);
    }

    /// What the client is to be told of, as far as it was offered that: only what was negotiated is used (2025-11-25, basic/lifecycle).
    fn payable(&self) -> Topics {
        self.owed.get().both(self.offered.get().copied().unwrap_or(Topics::NONE))
    }

    /// The client is to be told that these lists have changed. However often, it is told once.
    pub(super) fn mark(&self, topics: Topics) -> Option<After> {
        if !self.owed.mark(topics) {
            return None;
        }
        self.look_at_streams(Streams::wake_newest).map(|((), after)| after)
    }

    /// The client has been served the list itself.
    pub fn settle(&self, topic: Topic) {
        self.told.settle(topic);
        self.owed.settle(topic);
    }

    /// These were told into connections that have gone, and may have been dead already: what the client has not been served since is owed
    /// again.
    fn owe_again(&self, topics: Topics) {
        for topic in topics.iter().filter(|&topic| self.told.settle(topic)) {
            self.owed.mark(topic.into());
        }
    }

    /// A stream is about to listen that is not the continuation of another one.
    pub(super) fn owe_unheard(&self, streams: &Streams) {
        let topics = Topic::ALL.iter().copied().filter(|&topic| !streams.told().has(topic));
        self.owe_again(topics.fold(Topics::NONE, Topics::with));
    }

    /// A stream that listened and has told of these is left, for which the newest one is woken. The client may have come back already, before
    /// that was noticed.
    pub(super) fn left(&self, streams: &Streams, topics: Topics) {
        if streams.newest().is_some() {
            self.owe_again(topics);
        }
    }

    /// Pays one debt on `stream`, if it is for that one to do and there is any. What is not paid yet is no message yet, so that a reader that
    /// is slow is told once of what has changed often.
    pub(super) fn pay(&self, streams: &mut Streams, stream: u64) {
        if self.lifecycle() != Lifecycle::Ready || streams.newest() != Some(stream) {
            return;
        }
        if let Some(topic) = self.payable().first() {
            self.told.mark(topic.into());
            self.owed.settle(topic);
            streams.note_told(stream, topic);
            streams.append(stream, topic.notification().as_bytes());
        } else if let Some(uri) = streams.subscriptions.next() {
            let mut message =
                br#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"#.to_vec();
            json::write_str(&mut message, &uri);
            message.extend_from_slice(b"}}");
            streams.append(stream, &message);
        }
    }
}
