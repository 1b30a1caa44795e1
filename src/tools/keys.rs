//! What is found by its name: entries in the order of their keys, looked for by halving. No hash that somebody could aim at, and less to
//! compute than one for the few names that a server has.

use std::sync::Arc;

/// Entries by their keys.
pub(super) struct Keys<E>(Vec<Keyed<E>>);

struct Keyed<E> {
    mark: Mark,
    key: Box<str>,
    entry: Arc<E>,
}

/// The length of a key and its last eight bytes, fewer where it has fewer: names of one server begin alike more often than they end
/// alike. Keys are ordered by this, and by themselves where it is the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mark(usize, u64);

impl Mark {
    fn of(key: &str) -> Self {
        let bytes = key.as_bytes();
        let last = bytes.last_chunk().copied().unwrap_or_else(|| {
            let mut short = [0; 8];
            short[..bytes.len()].copy_from_slice(bytes);
            short
        });
        Self(bytes.len(), u64::from_ne_bytes(last))
    }
}

impl<E> Clone for Keys<E> {
    fn clone(&self) -> Self {
        let copy = |keyed: &Keyed<E>| Keyed {
            mark: keyed.mark,
            key: keyed.key.clone(),
            entry: Arc::clone(&keyed.entry),
        };
        Self(self.0.iter().map(copy).collect())
    }
}

impl<E> Keys<E> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// The entry with this key.
    pub(super) fn find(&self, key: &str) -> Option<&Arc<E>> {
        self.place(key).ok().map(|at| &self.0[at].entry)
    }

    /// Puts an entry in, in the place of the one that has its key.
    pub(super) fn put(&mut self, key: &str, entry: Arc<E>) {
        match self.place(key) {
            Ok(at) => self.0[at].entry = entry,
            Err(at) => self.0.insert(at, Keyed { mark: Mark::of(key), key: key.into(), entry }),
        }
    }

    /// Takes the entry with this key out.
    pub(super) fn take(&mut self, key: &str) {
        if let Ok(at) = self.place(key) {
            self.0.remove(at);
        }
    }

    fn place(&self, key: &str) -> Result<usize, usize> {
        let mark = Mark::of(key);
        self.0.binary_search_by(|other| other.mark.cmp(&mark).then_with(|| (*other.key).cmp(key)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_is_put_in_is_found_until_it_is_taken_out(
            steps in prop::collection::vec(("[ab\0]{0,2}(common_end)?[ab]{0,10}", any::<bool>()), 0..60),
        ) {
            let (mut keys, mut model) = (Keys::new(), BTreeMap::new());
            for (at, (key, put)) in steps.iter().enumerate() {
                if *put {
                    keys.put(key, Arc::new(at));
                    model.insert(key, at);
                } else {
                    keys.take(key);
                    model.remove(key);
                }
                for (key, _) in &steps {
                    prop_assert_eq!(keys.find(key).map(|entry| **entry), model.get(key).copied());
                }
            }
            prop_assert_eq!(keys.clone().0.len(), model.len());
        }
    }
}
