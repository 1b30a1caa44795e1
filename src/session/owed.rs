//! What a client is to be told outside of any call. The debt is kept by the session, since there may be no stream to tell it on; the newest
//! stream that listens pays it when it is read, and serving the list itself settles it too.

use super::state::{Lifecycle, Session};
use super::streams::Streams;
use crate::events::topic::{Topic, Topics};

impl Session {
    /// The client is to be told that these lists have changed. However often, it is told once.
    pub(super) fn mark(&self, topics: Topics) {
        self.owed.mark(topics);
        self.with_made_streams(Streams::wake_newest);
    }

    /// The client has been served the list itself.
    pub fn settle(&self, topic: Topic) {
        self.owed.settle(topic);
    }

    /// Pays what is owed on `stream`, if it is for that one to do.
    pub(super) fn settle_owed(&self, streams: &mut Streams, stream: u64) {
        if self.owed.get().is_empty()
            || self.lifecycle() != Lifecycle::Ready
            || streams.newest() != Some(stream)
        {
            return;
        }
        for topic in self.owed.take().iter() {
            streams
                .append(stream, format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, topic.method()).as_bytes());
        }
    }
}
