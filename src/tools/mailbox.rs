//! What a call sends before its answer, on its way to the connection, and what hangs on the call being open.

use std::collections::VecDeque;
use std::sync::{Arc, MutexGuard};
use std::task::Waker;

use tokio::sync::oneshot;

use super::ask::Asks;
use super::call::TaskLink;
use crate::session::requests::RequestId;
use crate::session::state::Session;

/// What waits for the connection.
#[derive(Debug)]
pub(super) struct Mailbox {
    pub(super) queue: VecDeque<Item>,
    pub(super) capacity: usize,
    pub(super) dropped: u64,
    pub(super) progress: f64,
    /// False once the call is over: nothing may follow its result.
    pub(super) open: bool,
    /// True once nobody hears what is sent: requests are not even tried.
    pub(super) muted: bool,
    pub(super) waker: Option<Waker>,
    /// Let go when the call is over: the storage waits for the connection's next call, which may be another session's.
    pub(super) session: Option<Arc<Session>>,
    /// Made when the handler asks or remembers something, or when the request brings answers.
    pub(super) asks: Option<Box<Asks>>,
    /// What the call has to do with tasks.
    pub(super) task: TaskLink,
}

/// One message.
#[derive(Debug)]
pub(super) enum Item {
    Notification(Vec<u8>),
    /// A request to the client, and who wants to know that a stream has taken it.
    Request {
        id: RequestId,
        json: Vec<u8>,
        taken: oneshot::Sender<()>,
    },
    /// The stream's connection is to end here, and the client to stay away for so many milliseconds.
    Close(u64),
}

impl Default for Mailbox {
    fn default() -> Self {
        Self {
            queue: VecDeque::new(),
            capacity: 0,
            dropped: 0,
            progress: f64::NEG_INFINITY,
            open: true,
            muted: false,
            waker: None,
            session: None,
            asks: None,
            task: TaskLink::None,
        }
    }
}

impl Mailbox {
    /// Makes it ready for the next call, keeping the storage.
    pub(super) fn begin(&mut self, capacity: u64, session: Option<&Arc<Session>>) {
        self.queue.clear();
        self.capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
        self.dropped = 0;
        self.progress = f64::NEG_INFINITY;
        self.open = true;
        self.muted = false;
        self.waker = None;
        self.session = session.cloned();
        self.asks = None;
        self.task = TaskLink::None;
    }

    /// Puts a notification in, unless the call is over or a slow reader leaves no room: then it counts as dropped.
    pub(super) fn put(&mut self, notification: impl FnOnce() -> Vec<u8>) -> bool {
        if !self.open {
            return false;
        }
        if self.queue.len() >= self.capacity {
            self.dropped += 1;
            return false;
        }
        self.queue.push_back(Item::Notification(notification()));
        true
    }
}

impl Mailbox {
    /// Asks for the stream's connection to end. Asking twice at one place asks once.
    pub(super) fn put_close(&mut self, retry_ms: u64) -> bool {
        let asked = matches!(self.queue.back(), Some(Item::Close(_)));
        let put = self.open && !asked;
        if put {
            self.queue.push_back(Item::Close(retry_ms));
        }
        put
    }

    /// Takes out the requests that no stream has taken. Not to be dropped under the lock.
    pub(super) fn take_requests(&mut self) -> VecDeque<Item> {
        let is_request = |item: &Item| matches!(item, Item::Request { .. });
        let (requests, others): (VecDeque<Item>, VecDeque<Item>) =
            std::mem::take(&mut self.queue).into_iter().partition(is_request);
        self.queue = others;
        requests
    }

    /// Takes the wish for the stream's connection to end, where it comes next.
    pub(super) fn take_close(&mut self) -> Option<u64> {
        let Some(&Item::Close(retry_ms)) = self.queue.front() else { return None };
        self.queue.pop_front();
        Some(retry_ms)
    }
}

/// Takes the oldest notification or request, if that comes next, and tells who waits for its being taken once the lock is given back.
pub(super) fn hand_out(mut mailbox: MutexGuard<'_, Mailbox>) -> Option<Vec<u8>> {
    match mailbox.queue.pop_front_if(|next| !matches!(next, Item::Close(_)))? {
        Item::Close(_) => None,
        Item::Notification(json) => Some(json),
        Item::Request { id, json, taken } => {
            mailbox.note_taken(id);
            drop(mailbox);
            // Whoever asked may have gone meanwhile.
            let _ = taken.send(());
            Some(json)
        }
    }
}

/// Wakes the connection, once the lock is given back.
pub(super) fn wake(mut mailbox: MutexGuard<'_, Mailbox>) {
    let waker = mailbox.waker.take();
    drop(mailbox);
    if let Some(waker) = waker {
        waker.wake();
    }
}
