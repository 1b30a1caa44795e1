//! The books: which ids are open, what was done how often, and everything that went wrong.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

/// The outcome of whatever may go wrong: a text says what.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// Most faults that are kept word for word.
const FAULTS: usize = 40;

/// The id of a request. No two requests of one run have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Id(u64);

impl Id {
    /// Half of them are numbers, the others are texts.
    pub(crate) fn json(self) -> Value {
        if self.0.is_multiple_of(2) { json!(self.0) } else { json!(format!("id-{}", self.0)) }
    }

    fn read(sent: &Value) -> Option<Self> {
        let number = sent.as_u64().or_else(|| sent.as_str()?.strip_prefix("id-")?.parse().ok())?;
        (Self(number).json() == *sent).then_some(Self(number))
    }
}

/// What is on the books when all is over.
#[derive(Debug, Default, Clone)]
pub(crate) struct Books {
    /// Requests with an id.
    pub(crate) asked: u64,
    /// Those that were answered: with a result, an error that was asked for, or a refusal that was.
    pub(crate) answered: u64,
    /// Those whose client has gone, or has called them off, before there was an answer.
    pub(crate) given_up: u64,
    /// Refusals among the answers.
    pub(crate) refused: u64,
    /// How often what was done.
    pub(crate) done: BTreeMap<&'static str, u64>,
    /// What went wrong: the first of them, word for word.
    pub(crate) faults: Vec<String>,
    /// How much went wrong.
    pub(crate) wrong: u64,
    open: HashSet<Id>,
}

impl Books {
    /// Ids that have neither been answered nor given up.
    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }
}

/// The books while they are being kept.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    books: Mutex<Books>,
    ids: AtomicU64,
    sent: AtomicU64,
}

impl Ledger {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new id, which is open from now on.
    pub(crate) fn ask(&self) -> Id {
        let id = Id(self.ids.fetch_add(1, Ordering::Relaxed));
        let mut books = self.books();
        books.asked += 1;
        books.open.insert(id);
        id
    }

    /// An answer with this id has come.
    pub(crate) fn answered(&self, sent: &Value) -> Outcome {
        let mut books = self.books();
        let known = Id::read(sent).is_some_and(|id| books.open.remove(&id));
        if !known {
            return Err(format!("an answer to {sent}, which is not open: answered twice, or never asked"));
        }
        books.answered += 1;
        Ok(())
    }

    /// An answer has come that can have no id: a refusal from before the message was understood.
    pub(crate) fn refused(&self, id: Id, with_id: Option<&Value>) -> Outcome {
        match with_id {
            Some(sent) => self.answered(sent)?,
            None => self.answered(&id.json())?,
        }
        self.books().refused += 1;
        Ok(())
    }

    /// Nobody will read the answer, if there ever is one.
    pub(crate) fn give_up(&self, id: Id) {
        let mut books = self.books();
        if books.open.remove(&id) {
            books.given_up += 1;
        }
    }

    /// Counts something that was done.
    pub(crate) fn done(&self, what: &'static str) {
        *self.books().done.entry(what).or_default() += 1;
    }

    /// Notes what went wrong, and says it at once.
    pub(crate) fn fault(&self, what: &str) {
        let mut books = self.books();
        books.wrong += 1;
        if books.faults.len() < FAULTS {
            eprintln!("WRONG: {what}");
            books.faults.push(what.to_owned());
        }
    }

    /// One more request has been sent, with an id or without.
    pub(crate) fn sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// How many requests have been sent.
    pub(crate) fn total(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// The books as they are.
    pub(crate) fn copy(&self) -> Books {
        self.books().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_answered_once() {
        let ledger = Ledger::default();
        let ids: Vec<Id> = (0..6).map(|_| ledger.ask()).collect();
        for id in &ids[..2] {
            assert_eq!(ledger.answered(&id.json()), Ok(()));
            assert!(ledger.answered(&id.json()).is_err(), "answered twice");
        }
        for strange in
            [json!(99), json!("id-99"), json!("1"), json!(1), json!("id-2"), json!(null), json!(2.5)]
        {
            assert!(ledger.answered(&strange).is_err(), "{strange} was never asked, not so at least");
        }
        ledger.give_up(ids[2]);
        assert!(ledger.answered(&ids[2].json()).is_err(), "nobody reads it");
        assert_eq!(ledger.refused(ids[3], None), Ok(()));
        assert!(ledger.refused(ids[3], Some(&ids[3].json())).is_err(), "refused twice");
        let books = ledger.copy();
        assert_eq!(
            (books.asked, books.answered, books.given_up, books.refused, books.open()),
            (6, 3, 1, 1, 2)
        );
    }
}
