//! The server's own requests to the client of a session, and who waits for their answers.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tokio::sync::oneshot;

use super::commons::Commons;
use super::state::Session;

/// How many characters a request's id has: 16 bytes in unpadded URL-safe base64.
const ID_LEN: usize = 22;

/// The id of a request of the server's: a string that nobody guesses, so that no client answers what it was not asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId([u8; ID_LEN]);

impl RequestId {
    fn random() -> Option<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let mut text = [0; ID_LEN];
        URL_SAFE_NO_PAD.encode_slice(bytes, &mut text).ok()?;
        Some(Self(text))
    }

    /// The id's characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestId({}…)", self.0[..4].escape_ascii())
    }
}

/// What a client answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientAnswer {
    /// `result`, an object, as JSON: read when whoever asked takes it.
    Result(Vec<u8>),
    /// A result of more bytes than are taken.
    TooLong,
    /// None will be heard: the server stops.
    Unheard,
    /// `error`.
    Error {
        /// `error.code`.
        code: i64,
        /// `error.message`.
        message: String,
    },
}

impl ClientAnswer {
    /// The answer where its result has at most `longest` bytes.
    #[must_use]
    pub fn within(self, longest: usize) -> Self {
        match self {
            Self::Result(json) if json.len() > longest => Self::TooLong,
            Self::Result(mut json) => {
                json.shrink_to_fit();
                Self::Result(json)
            }
            Self::TooLong | Self::Unheard | Self::Error { .. } => self,
        }
    }
}

/// Why no request was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestFault {
    /// As many wait as the limit allows.
    TooMany,
    /// The session has ended.
    Ended,
    /// The server stops.
    Draining,
    /// The operating system gave no randomness for an id.
    NoRandomness,
}

/// The requests of one session that wait for their answers.
#[derive(Debug, Default)]
pub struct Requests(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    waiting: HashMap<RequestId, Asker>,
    ended: bool,
}

/// Who waits, and the longest answer that is kept.
#[derive(Debug)]
struct Asker {
    sender: oneshot::Sender<ClientAnswer>,
    longest: usize,
}

impl Requests {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table().waiting.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Hands a client's answer to whoever waits for it. False where nobody does.
    pub(super) fn answer(&self, id: &str, answer: impl FnOnce() -> ClientAnswer) -> bool {
        let Ok(id) = id.as_bytes().try_into().map(RequestId) else { return false };
        let waiting = self.table().waiting.remove(&id);
        waiting.is_some_and(|asker| asker.sender.send(answer().within(asker.longest)).is_ok())
    }

    /// The session has ended: nobody waits any longer.
    pub(super) fn end(&self) {
        let mut table = self.table();
        table.ended = true;
        let waiting = std::mem::take(&mut table.waiting);
        drop(table);
        drop(waiting);
    }

    /// The server stops, and takes no answers any more.
    pub(super) fn drain(&self) {
        let waiting = std::mem::take(&mut self.table().waiting);
        for (_, asker) in waiting {
            // Whoever asked may have gone meanwhile.
            let _ = asker.sender.send(ClientAnswer::Unheard);
        }
    }

    fn open(
        &self,
        commons: &Commons,
        most: usize,
        longest: usize,
    ) -> Result<(RequestId, oneshot::Receiver<ClientAnswer>), RequestFault> {
        let id = RequestId::random().ok_or(RequestFault::NoRandomness)?;
        let mut table = self.table();
        if table.ended {
            return Err(RequestFault::Ended);
        }
        // With the table's lock: a drain that is not seen yet comes after, and finds the request.
        if commons.is_draining() {
            return Err(RequestFault::Draining);
        }
        if table.waiting.len() >= most {
            return Err(RequestFault::TooMany);
        }
        let (sender, receiver) = oneshot::channel();
        table.waiting.insert(id, Asker { sender, longest });
        Ok((id, receiver))
    }

    fn forget(&self, id: RequestId) {
        let mut table = self.table();
        let waiting = table.waiting.remove(&id);
        if table.waiting.is_empty() {
            table.waiting.shrink_to_fit();
        }
        drop(table);
        drop(waiting);
    }
}

/// A request that waits. Dropped, it waits no longer, and an answer to it is one that nobody waits for.
#[derive(Debug)]
pub struct Waiting {
    session: Arc<Session>,
    id: RequestId,
}

impl Waiting {
    /// Opens a request on a session, where at most `most` may wait. An answer of more than `longest` bytes is not kept.
    ///
    /// # Errors
    /// [`RequestFault`].
    pub fn open(
        session: &Arc<Session>,
        most: usize,
        longest: usize,
    ) -> Result<(Self, oneshot::Receiver<ClientAnswer>), RequestFault> {
        let (id, receiver) = session.requests().open(session.commons(), most, longest)?;
        Ok((Self { session: Arc::clone(session), id }, receiver))
    }

    /// Whether no answer has come.
    #[must_use]
    pub fn is_open(&self) -> bool {
        // Looks, and does nothing else: whoever asks may hold a lock.
        self.session.made_requests().is_some_and(|made| made.table().waiting.contains_key(&self.id))
    }

    /// The id it goes by.
    #[must_use]
    pub const fn id(&self) -> RequestId {
        self.id
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(made) = self.session.made_requests() {
            made.forget(self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::limits::Limits;
    use crate::session::id::SessionId;
    use crate::session::state::ClientInfo;
    use crate::tables::versions::Revision;

    fn session() -> Arc<Session> {
        let id = SessionId::random().unwrap();
        let commons = Arc::new(Commons::new(&Limits::default()));
        Arc::new(Session::new(&commons, id, Revision::V2025_11_25, None, ClientInfo::default(), 0))
    }

    fn result(number: i64) -> ClientAnswer {
        ClientAnswer::Result(number.to_string().into_bytes())
    }

    #[test]
    fn an_answer_reaches_whoever_waits_once() {
        let session = session();
        assert!(!session.answer("nothing was ever asked", || result(0)));
        let (one, mut first) = Waiting::open(&session, 8, 64).unwrap();
        let (two, mut second) = Waiting::open(&session, 8, 64).unwrap();
        assert_ne!(one.id(), two.id());
        assert!(session.answer(two.id().as_str(), || result(2)));
        assert_eq!(second.try_recv(), Ok(result(2)));
        assert!(one.is_open() && !two.is_open());
        assert!(first.try_recv().is_err());
        assert!(!session.answer(two.id().as_str(), || result(3)), "it was answered");
        for strange in ["", "1", &one.id().as_str()[1..], &format!("{}A", one.id().as_str())] {
            assert!(!session.answer(strange, || unreachable!()));
        }
        assert!(session.answer(one.id().as_str(), || result(1)));
        assert_eq!(first.try_recv(), Ok(result(1)));
    }

    #[test]
    fn one_that_is_dropped_waits_no_longer() {
        let session = session();
        let (waiting, mut receiver) = Waiting::open(&session, 8, 64).unwrap();
        let id = waiting.id();
        assert_eq!(session.requests().len(), 1);
        drop(waiting);
        assert!(session.requests().is_empty());
        assert!(receiver.try_recv().is_err());
        assert!(!session.answer(id.as_str(), || unreachable!()));
    }

    #[test]
    fn the_bound_holds_at_below_and_above() {
        let session = session();
        let first = Waiting::open(&session, 2, 64).unwrap();
        let _second = Waiting::open(&session, 2, 64).unwrap();
        assert_eq!(Waiting::open(&session, 2, 64).unwrap_err(), RequestFault::TooMany);
        drop(first);
        assert!(Waiting::open(&session, 2, 64).is_ok());
    }

    #[test]
    fn long_answers_are_not_kept_at_below_and_above() {
        let session = session();
        for (size, kept) in [(63, true), (64, true), (65, false)] {
            let (waiting, mut receiver) = Waiting::open(&session, 1, 64).unwrap();
            let result = ClientAnswer::Result(vec![b'1'; size]);
            assert!(session.answer(waiting.id().as_str(), || result.clone()));
            let expected = if kept { result } else { ClientAnswer::TooLong };
            assert_eq!(receiver.try_recv(), Ok(expected), "{size}");
        }
    }

    #[test]
    fn the_end_of_a_session_ends_all_waiting() {
        let session = session();
        let (_waiting, mut receiver) = Waiting::open(&session, 8, 64).unwrap();
        session.end();
        assert!(receiver.try_recv().is_err());
        assert_eq!(Waiting::open(&session, 8, 64).unwrap_err(), RequestFault::Ended);
        let other = self::session();
        other.end();
        assert_eq!(
            Waiting::open(&other, 8, 64).unwrap_err(),
            RequestFault::Ended,
            "also where nothing was ever asked"
        );
    }

    #[test]
    fn a_drain_ends_all_waiting() {
        let session = session();
        let (_waiting, mut receiver) = Waiting::open(&session, 8, 64).unwrap();
        session.commons().drain();
        session.drain();
        assert_eq!(receiver.try_recv(), Ok(ClientAnswer::Unheard));
        assert_eq!(Waiting::open(&session, 8, 64).unwrap_err(), RequestFault::Draining);
        let other = self::session();
        other.commons().drain();
        other.drain();
        let refused = Waiting::open(&other, 8, 64).unwrap_err();
        assert_eq!(refused, RequestFault::Draining, "also where nothing was ever asked");
    }

    #[test]
    fn ids_are_not_shown() {
        let (waiting, _receiver) = Waiting::open(&session(), 1, 64).unwrap();
        assert!(!format!("{waiting:?}").contains(waiting.id().as_str()));
    }
}
