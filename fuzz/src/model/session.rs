//! A legacy session, as far as it can be known from outside.

use twolane::reply::SessionText;

use crate::json::Json;

/// One of them.
#[derive(Debug, Clone)]
pub struct Session {
    pub id: SessionText,
    pub revision: &'static str,
    pub ready: bool,
    pub owner: Option<&'static str>,
    /// When its idle time began.
    pub seen_ms: u64,
    /// Its last open call has ended, and its idle time begins when somebody looks next.
    pub just_closed: bool,
    /// How many of its calls and streams are open.
    pub open: u32,
    /// The lists that its client has not been told the change of, as [`super::TOPICS`] numbers them.
    pub owed: u8,
    /// Those that it has been told the change of, but has not been served since.
    pub told: u8,
    /// Those of them that it may be told again: the stream that told of them may have been dead.
    pub again: u8,
    /// The resources that its client is told of, and those of them that it has not been told the change of. `None` where nobody can
    /// tell whether something is one.
    pub subscribed: Option<Vec<(String, bool)>>,
    /// What its client has declared.
    pub declared: Json,
}

impl Session {
    /// One that has just been opened.
    pub fn new(
        id: SessionText,
        revision: &'static str,
        owner: Option<&'static str>,
        declared: Json,
        now_ms: u64,
    ) -> Self {
        Self {
            id,
            revision,
            ready: false,
            owner,
            seen_ms: now_ms,
            just_closed: false,
            open: 0,
            owed: 0,
            told: 0,
            again: 0,
            subscribed: Some(Vec::new()),
            declared,
        }
    }

    /// One of its calls or streams has ended.
    pub fn close(&mut self) {
        self.open -= 1;
        self.just_closed |= self.open == 0;
    }

    /// Its client has been served a list.
    pub(super) fn serve(&mut self, topic: usize) {
        let others = !(1 << topic);
        (self.owed, self.told, self.again) = (self.owed & others, self.told & others, self.again & others);
    }

    /// Its client is told of a list. False where there is no need.
    pub fn tell(&mut self, topic: usize) -> bool {
        let needed = self.ready && (self.owed | self.again) >> topic & 1 == 1;
        self.serve(topic);
        self.told |= 1 << topic;
        needed
    }

    /// A stream that listens has come or gone.
    pub fn turn_over(&mut self) {
        self.again |= self.told;
    }

    /// A resource has changed.
    pub fn owe(&mut self, uri: &str) {
        let known = self.subscribed.iter_mut().flatten().filter(|(known, _)| known == uri);
        known.for_each(|(_, owed)| *owed = true);
    }

    /// Its client is told of a resource. False where it is not owed that.
    pub fn pay(&mut self, uri: &str) -> bool {
        let Some(subscribed) = &mut self.subscribed else { return true };
        let owed = subscribed.iter_mut().find(|(known, owed)| known == uri && *owed);
        owed.map(|(_, owed)| *owed = false).is_some()
    }

    /// Whether its client is owed nothing.
    pub fn is_even(&self) -> bool {
        self.owed == 0 && self.subscribed.iter().flatten().all(|(_, owed)| !owed)
    }

    /// `resources/subscribe`.
    pub(super) fn subscribe(&mut self, uri: &str, most: u64) {
        let Some(subscribed) = &mut self.subscribed else { return };
        if subscribed.iter().any(|(known, _)| known == uri) || subscribed.len() as u64 >= most {
            return;
        }
        if ["file:///x", "file:///a/b", "gone:///x", "broken:///x", "ask:///x"].contains(&uri) {
            subscribed.push((uri.to_owned(), false));
        } else if uri.starts_with("file:///") {
            // Whether the template makes it is the template's business.
            self.subscribed = None;
        }
    }

    /// `resources/unsubscribe`.
    pub(super) fn unsubscribe(&mut self, uri: &str) {
        self.subscribed.iter_mut().for_each(|subscribed| subscribed.retain(|(known, _)| known != uri));
    }

    pub(super) fn is_idle(&mut self, now_ms: u64, idle_ms: u64) -> bool {
        if self.open > 0 {
            return false;
        }
        if std::mem::take(&mut self.just_closed) {
            self.seen_ms = now_ms;
        }
        now_ms - self.seen_ms >= idle_ms
    }
}
