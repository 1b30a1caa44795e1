//! The streams of one session, made when it first needs one: what each has carried, who reads it, which calls are in flight. Everything
//! here happens under the session's lock; what must happen after it is noted in [`After`].

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use bytes::Bytes;

use super::commons::{Commons, Permit};
use super::event_id::EventId;
use super::flight::Flight;
use super::log::{Kind, Life, Log, Place};
use super::logs::Logs;
use super::subscriptions::Subscriptions;
use crate::events::topic::{Topic, Topics};
use crate::reply::sse;

/// What is to be done once the session's lock is free: foreign code runs then.
#[derive(Debug, Default)]
pub(super) struct After {
    pub(super) wake: Vec<Waker>,
    pub(super) cancel: Vec<Arc<Flight>>,
    /// Whether a call may not run on without its client.
    pub(super) given_up: bool,
}

impl After {
    pub(super) fn run(self) {
        self.wake.into_iter().for_each(Waker::wake);
        for flight in self.cancel {
            flight.cancel();
        }
        if self.given_up {
            tracing::warn!("a call ends with its connection: as many as may run on without their clients");
        }
    }
}

/// What a session has beside its state.
#[derive(Debug)]
pub(super) struct Streams {
    commons: Arc<Commons>,
    tag: u32,
    /// By number: a session has few, mostly one.
    logs: Logs,
    readers: u64,
    flights: HashMap<u64, Arc<Flight>>,
    flown: u64,
    /// How many of its calls run on without their client. Made for the first one.
    detached: Option<Arc<AtomicU64>>,
    pub(super) subscriptions: Subscriptions,
    pub(super) after: After,
}

/// What came of looking for the stream that a client comes back to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It goes on with this event.
    At(u64),
    /// It is over, and the client has all of it.
    Over,
    /// It is not there, or a part that the client has not seen is gone.
    Lost,
}

impl Streams {
    pub(super) fn new(commons: &Arc<Commons>, tag: u32) -> Self {
        Self {
            commons: Arc::clone(commons),
            tag,
            logs: Logs::default(),
            readers: 0,
            flights: HashMap::new(),
            flown: 0,
            detached: None,
            subscriptions: Subscriptions::new(commons),
            after: After::default(),
        }
    }

    /// Whether there is nothing here, calls that run on without their client included: who forgets them lets more run on than may.
    pub(super) fn is_empty(&self) -> bool {
        let detached = self.detached.as_ref().is_some_and(|count| count.load(Ordering::Acquire) > 0);
        self.logs.is_empty() && self.flights.is_empty() && self.subscriptions.is_empty() && !detached
    }

    /// Notes a call, and gives its key.
    pub(super) fn register(&mut self, flight: &Arc<Flight>) -> u64 {
        self.flown += 1;
        self.flights.insert(self.flown, Arc::clone(flight));
        self.flown
    }

    pub(super) fn unregister(&mut self, key: u64) {
        self.flights.remove(&key);
    }

    /// Cancels every call with this id.
    pub(super) fn cancel(&mut self, id: &[u8]) {
        self.after.cancel.extend(self.flights.values().filter(|flight| flight.has_id(id)).cloned());
    }

    /// Leave for a call without a stream to run on.
    pub(super) fn permit(&mut self) -> Option<Permit> {
        permit(&self.commons, &mut self.detached)
    }

    /// Opens the stream `number` and gives its reader. With `primed`, its first event has no data.
    pub(super) fn open(&mut self, number: u64, kind: Kind, primed: bool, flights: Vec<Arc<Flight>>) -> u64 {
        let mut log = Log::new(kind, &self.commons, flights);
        if primed {
            let id = EventId { tag: self.tag, stream: number, event: 0 };
            let mut event = Vec::with_capacity(32);
            sse::write_priming(&mut event, |out| id.write(out));
            log.push(event.into());
        }
        let (first, kind) = (0, log.kind);
        self.logs.insert(number, log);
        self.limit(kind);
        self.place(number, first)
    }

    /// Looks for the stream that goes on after `event`.
    pub(super) fn find(&self, event: EventId) -> Found {
        let Some(log) = self.logs.get(event.stream).filter(|_| event.tag == self.tag) else {
            return Found::Lost;
        };
        if !log.continues_after(event.event) {
            return Found::Lost;
        }
        let over = log.life != Life::Open && log.kind == Kind::Call && event.event + 1 == log.end();
        if over { Found::Over } else { Found::At(event.event + 1) }
    }

    /// Lets a client come back to a stream, and gives its reader.
    pub(super) fn resume(&mut self, number: u64, next: u64) -> u64 {
        if let Some(log) = self.logs.get_mut(number) {
            if log.kind == Kind::Listen {
                log.life = Life::Open;
            }
            if log.place.is_none() {
                let kind = log.kind;
                self.limit(kind);
            }
        }
        self.place(number, next)
    }

    /// Puts a new reader in the place of whoever read the stream before.
    fn place(&mut self, number: u64, next: u64) -> u64 {
        self.readers += 1;
        let Some(log) = self.logs.get_mut(number) else { return self.readers };
        let old = log.place.replace(Place { reader: self.readers, next, cut: None, waker: None });
        self.after.wake.extend(old.and_then(|place| place.waker));
        self.after.wake.extend(log.writer.take());
        log.permit = None;
        if log.kind == Kind::Listen && self.commons.is_draining() {
            self.cut(number, self.commons.bounds.retry_ms);
        }
        self.readers
    }

    /// Makes room for one more stream that listens.
    fn limit(&mut self, kind: Kind) {
        let listening = || self.listening().map(|(_, number)| number);
        if kind == Kind::Listen
            && listening().count() >= self.commons.bounds.get_streams
            && let Some((_, oldest)) = self.listening().min()
        {
            self.cut(oldest, self.commons.bounds.retry_ms);
        }
    }

    pub(super) fn get(&mut self, number: u64) -> Option<&mut Log> {
        self.logs.get_mut(number)
    }

    /// Records an event.
    pub(super) fn append(&mut self, number: u64, json: &[u8]) {
        let tag = self.tag;
        let Some(log) = self.logs.get_mut(number).filter(|log| log.life == Life::Open) else { return };
        let event = frame(tag, number, log.end(), json);
        log.push(event);
        self.after.wake.extend(log.reader_waker());
        self.trim(number);
    }

    /// Records a call's answer, and what is to take its place if it is longer than what is kept.
    pub(super) fn answer(&mut self, number: u64, json: &[u8], instead: impl FnOnce(usize) -> Vec<u8>) {
        let (tag, bounds) = (self.tag, &self.commons.bounds);
        let Some(log) = self.logs.get_mut(number).filter(|log| log.life == Life::Open) else { return };
        let event = frame(tag, number, log.end(), json);
        let kept = usize::try_from(bounds.all_bytes).unwrap_or(usize::MAX);
        let kept = kept.min(bounds.bytes).min(bounds.session_bytes);
        if event.len() > kept {
            // Half of it, since a line separator grows to twice its size, and without what stands around it.
            let shorter = instead((kept - 64) / 2);
            log.instead = Some(frame(tag, number, log.end(), &shorter));
        }
        log.push(event);
        self.after.wake.extend(log.reader_waker());
        self.trim(number);
    }

    /// Ends a stream; `answered` when its last event is its call's answer.
    pub(super) fn finish(&mut self, number: u64, answered: bool) {
        let Some(log) = self.logs.get_mut(number) else { return };
        log.finish(answered);
        self.after.wake.extend(log.reader_waker());
        self.forget_left();
    }

    /// Forgets what is over the bounds: of the stream, then of the session and of the server, finished streams first.
    pub(super) fn trim(&mut self, number: u64) {
        let commons = Arc::clone(&self.commons);
        let bounds = &commons.bounds;
        if let Some(log) = self.logs.get_mut(number) {
            log.trim(bounds);
        }
        let over = |logs: &Logs| {
            commons.replay_bytes() > bounds.all_bytes
                || logs.values().map(Log::bytes).sum::<usize>() > bounds.session_bytes
        };
        while over(&self.logs) {
            if let Some(oldest) = self.oldest_left() {
                self.logs.remove(oldest);
            } else if !self.logs.values_mut().any(Log::forget_first) {
                break;
            }
        }
    }

    fn oldest_left(&self) -> Option<u64> {
        self.logs.iter().find(|(_, log)| log.is_left()).map(|(number, _)| number)
    }

    /// A reader has gone. Its stream's call runs on, if it may; a stream that listened gives what it has told.
    pub(super) fn leave(&mut self, number: u64, reader: u64) -> Topics {
        let Some(log) = self.logs.get_mut(number) else { return Topics::NONE };
        let Some(place) = log.place.take_if(|place| place.reader == reader) else { return Topics::NONE };
        let told = log.told;
        self.after.wake.extend(place.waker.into_iter().chain(log.writer.take()));
        match (log.kind, log.life) {
            (Kind::Call, Life::Open) => {
                // A call that has ended its own connection has one already.
                log.permit = log.permit.take().or_else(|| permit(&self.commons, &mut self.detached));
                if log.permit.is_none() {
                    self.after.given_up = true;
                    self.after.cancel.append(&mut log.flights);
                }
            }
            (Kind::Listen, Life::Open) => log.finish(false),
            (Kind::Call | Kind::Listen, Life::Finished { .. }) => {}
        }
        self.trim(number);
        self.forget_left();
        self.wake_newest();
        told
    }

    /// The stream tells of a change.
    pub(super) fn note_told(&mut self, number: u64, topic: Topic) {
        if let Some(log) = self.logs.get_mut(number) {
            log.told = log.told.with(topic);
        }
    }

    /// What has been told on streams that are being read.
    pub(super) fn told(&self) -> Topics {
        let read = self.logs.values().filter(|log| log.place.is_some());
        read.fold(Topics::NONE, |topics, log| topics.union(log.told))
    }

    /// Forgets the oldest finished streams beyond as many as are kept.
    fn forget_left(&mut self) {
        let left = self.logs.values().filter(|log| log.is_left()).count();
        for _ in self.commons.bounds.finished..left {
            if let Some(oldest) = self.oldest_left() {
                self.logs.remove(oldest);
            }
        }
    }

    /// Forgets finished streams whose time is over.
    pub(super) fn sweep(&mut self, now_ms: u64) {
        let keep = self.commons.bounds.finished_ms;
        self.logs.retain(|log| match (&log.place, &mut log.life) {
            (None, Life::Finished { at_ms, .. }) => {
                now_ms.saturating_sub(*at_ms.get_or_insert(now_ms)) < keep
            }
            (Some(_), _) | (None, Life::Open) => true,
        });
    }

    /// The readers that listen, and their streams.
    fn listening(&self) -> impl Iterator<Item = (u64, u64)> {
        self.logs.iter().filter(|(_, log)| log.kind == Kind::Listen).filter_map(|(number, log)| {
            let place = log.place.as_ref().filter(|place| place.cut.is_none())?;
            Some((place.reader, number))
        })
    }

    /// The stream that gets what the server has to say outside of any call: one alone, the newest.
    pub(super) fn newest(&self) -> Option<u64> {
        self.listening().max().map(|(_, number)| number)
    }

    /// Lets the newest stream look whether there is something for it.
    pub(super) fn wake_newest(&mut self) {
        if let Some(newest) = self.newest()
            && let Some(log) = self.logs.get_mut(newest)
        {
            self.after.wake.extend(log.reader_waker());
        }
    }

    /// Ends a stream's connection early, behind what has been sent.
    pub(super) fn cut(&mut self, number: u64, retry_ms: u64) {
        let Some(log) = self.logs.get_mut(number) else { return };
        let end = log.end();
        if let Some(place) = &mut log.place {
            place.cut.get_or_insert((end, retry_ms));
            self.after.wake.extend(place.waker.take());
        }
    }

    /// Ends the connection of a call's reader early, if the call may run on. Its leave to do so is kept: the client, which is told to come
    /// back, must not come back to nothing.
    pub(super) fn cut_call(&mut self, number: u64, retry_ms: u64, held: Option<Permit>) {
        let Some(log) = self.logs.get_mut(number).filter(|log| log.place.is_some()) else { return };
        let permit = log.permit.take().or(held).or_else(|| permit(&self.commons, &mut self.detached));
        log.permit = permit;
        if log.permit.is_some() {
            self.cut(number, retry_ms);
        }
    }

    /// Ends the connections of all that listen.
    pub(super) fn drain(&mut self) {
        let listening: Vec<u64> = self.listening().map(|(_, number)| number).collect();
        for number in listening {
            self.cut(number, self.commons.bounds.retry_ms);
        }
    }

    /// The session has ended: everybody who waits for any of this is told so.
    pub(super) fn end(mut self) -> After {
        for mut log in std::mem::take(&mut self.logs).into_values() {
            self.after.wake.extend(log.reader_waker().into_iter().chain(log.writer.take()));
        }
        self.after.cancel.extend(self.flights.into_values());
        self.after
    }
}

fn permit(commons: &Arc<Commons>, detached: &mut Option<Arc<AtomicU64>>) -> Option<Permit> {
    Permit::take(commons, detached.get_or_insert_default())
}

/// An event as it goes out.
fn frame(tag: u32, stream: u64, event: u64, json: &[u8]) -> Bytes {
    let id = EventId { tag, stream, event };
    let mut framed = Vec::new();
    sse::write_event_with_id(&mut framed, |out| id.write(out), json);
    framed.into()
}
