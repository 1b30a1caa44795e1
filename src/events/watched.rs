//! Named things that a listener watches, and which of them it is owed a notification about.

/// A fixed set of names, each with a bit that says whether its change is owed. However often one changes, it is owed once.
#[derive(Debug, Default)]
pub struct Watched {
    /// Sorted, each once.
    names: Box<[Box<str>]>,
}

/// The bits of a [`Watched`]: they change, its names do not.
#[derive(Debug, Default)]
pub struct OwedNames {
    words: Box<[u64]>,
    /// How many are owed.
    count: usize,
    /// Where the next search begins: after the last one told, so that no busy name keeps the others waiting.
    from: usize,
}

impl Watched {
    /// A set of these names.
    #[must_use]
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut names: Vec<Box<str>> = names.into_iter().map(Into::into).collect();
        names.sort_unstable();
        names.dedup();
        Self { names: names.into_boxed_slice() }
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// The name at a place.
    #[must_use]
    pub fn name(&self, at: usize) -> Option<&str> {
        self.names.get(at).map(|name| &**name)
    }

    /// The place of a name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|other| (**other).cmp(name)).ok()
    }

    /// What is kept of the set in memory, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.names.iter().map(|name| name.len() + size_of::<Box<str>>()).sum()
    }

    /// Its bits, of which none is set.
    #[must_use]
    pub fn owed(&self) -> OwedNames {
        OwedNames { words: vec![0; self.len().div_ceil(64)].into_boxed_slice(), count: 0, from: 0 }
    }
}

impl OwedNames {
    /// Owes the name at a place.
    pub fn mark(&mut self, at: usize) {
        if let Some(word) = self.words.get_mut(at / 64) {
            self.count += usize::from(*word & (1 << (at % 64)) == 0);
            *word |= 1 << (at % 64);
        }
    }

    /// Whether none is owed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes one that is owed, the next after the one before.
    pub fn take(&mut self) -> Option<usize> {
        if self.count == 0 {
            return None;
        }
        let (first, words) = (self.from / 64 % self.words.len(), self.words.len());
        // The first word once for the names from there on, and once more at the end for those before.
        let ahead = self.words[first] & (u64::MAX << (self.from % 64));
        let rest = (first + 1..words).chain(0..=first).map(|word| (word, self.words[word]));
        let (word, bits) = std::iter::once((first, ahead)).chain(rest).find(|(_, bits)| *bits != 0)?;
        let at = 64 * word + usize::try_from(bits.trailing_zeros()).unwrap_or(0);
        self.words[at / 64] &= !(1 << (at % 64));
        self.count -= 1;
        self.from = at + 1;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_stand() {
        let watched = Watched::new(["b", "a", "c", "b", ""]);
        assert_eq!(watched.iter().collect::<Vec<_>>(), ["", "a", "b", "c"]);
        for (at, name) in watched.iter().enumerate() {
            assert_eq!((watched.find(name), watched.name(at)), (Some(at), Some(name)));
        }
        assert_eq!((watched.find("d"), watched.name(4)), (None, None));
        assert_eq!(watched.memory(), 3 + 4 * size_of::<Box<str>>());
        assert!(Watched::default().is_empty());
    }

    #[test]
    fn each_is_owed_once_and_none_waits_behind_a_busy_one() {
        let names: Vec<String> = (0..130).map(|at| format!("{at:03}")).collect();
        let watched = Watched::new(names.iter().map(String::as_str));
        let mut owed = watched.owed();
        assert_eq!(owed.take(), None);
        for at in [0, 63, 64, 129, 129, 0, 192, 5000] {
            owed.mark(at);
        }
        let mut taken = Vec::new();
        while let Some(at) = owed.take() {
            taken.push(at);
            if taken.len() < 4 {
                owed.mark(0);
            }
        }
        assert_eq!(taken, [0, 63, 64, 129, 0]);
        assert!(owed.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_marked_is_taken_in_turn(marks in proptest::collection::vec(0..200_usize, 1..50), from in 0..200_usize) {
            let names: Vec<String> = (0..200).map(|at| format!("{at:03}")).collect();
            let mut owed = Watched::new(names.iter().map(String::as_str)).owed();
            owed.mark(from);
            proptest::prop_assert_eq!(owed.take(), Some(from));
            for &at in &marks {
                owed.mark(at);
            }
            let mut expected = marks;
            expected.sort_unstable_by_key(|at| (at + 199 - from) % 200);
            expected.dedup();
            let taken: Vec<usize> = std::iter::from_fn(|| owed.take()).collect();
            proptest::prop_assert_eq!(taken, expected);
        }
    }
}
