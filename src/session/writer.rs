//! Who writes a call's stream: whoever drives the call.

use std::sync::Arc;
use std::task::{Context, Poll};

use super::commons::Permit;
use super::state::Session;

/// The writer of one stream. Dropped, it ends the stream.
#[derive(Debug)]
pub struct Writer {
    session: Arc<Session>,
    stream: u64,
}

impl Writer {
    pub(super) fn new(session: &Arc<Session>, stream: u64) -> Self {
        Self { session: Arc::clone(session), stream }
    }

    /// Ready when the stream takes another event. One whose reader takes nothing is held up; one without a reader never is.
    pub fn poll_room(&self, cx: &Context<'_>) -> Poll<()> {
        let room = self.session.with_made_streams(|streams| {
            let Some(log) = streams.get(self.stream) else { return Poll::Ready(()) };
            if log.has_room(&self.session.commons().bounds) {
                return Poll::Ready(());
            }
            let old = log.writer.replace(cx.waker().clone());
            // Not dropped under the lock. That it is woken once more does no harm, unless it is this very task.
            streams.after.wake.extend(old.filter(|old| !old.will_wake(cx.waker())));
            Poll::Pending
        });
        room.unwrap_or(Poll::Ready(()))
    }

    /// Sends a message.
    pub fn append(&self, json: &[u8]) {
        self.session.with_made_streams(|streams| streams.append(self.stream, json));
    }

    /// Ends the reader's connection early, and lets the client come back after `retry_ms`. Does nothing where the call may not run on:
    /// it needs a permit, `held` or taken here.
    pub fn cut(&self, retry_ms: u64, held: Option<Permit>) {
        self.session.with_made_streams(|streams| streams.cut_call(self.stream, retry_ms, held));
    }

    /// Ends the stream with its call's answer. One that is too long to be kept gives way, once its reader has taken it or has left, to
    /// `instead`, which has at most as many bytes as it is told.
    pub fn answer(self, json: &[u8], instead: impl FnOnce(usize) -> Vec<u8>) {
        self.session.with_made_streams(|streams| {
            streams.answer(self.stream, json, instead);
            streams.finish(self.stream, true);
        });
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.session.with_made_streams(|streams| {
            if streams.get(self.stream).is_some_and(|log| log.life == super::log::Life::Open) {
                streams.finish(self.stream, false);
            }
        });
    }
}
