//! Tasks to be woken, since there is something for them.

use std::task::Waker;

/// Wakers, collected where no lock is held any more. Dropped, it wakes whoever is left: a waker that was taken is not put back.
#[derive(Debug, Default)]
pub struct Wakes(Vec<Waker>);

impl Wakes {
    /// How many are left.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds those of `others`.
    pub fn join(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// Wakes up to so many. False when none is left.
    pub fn wake(&mut self, most: usize) -> bool {
        let rest = self.0.len().saturating_sub(most);
        self.0.drain(rest..).for_each(Waker::wake);
        rest > 0
    }
}

impl Extend<Waker> for Wakes {
    fn extend<I: IntoIterator<Item = Waker>>(&mut self, wakers: I) {
        self.0.extend(wakers);
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        self.wake(usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn everybody_is_woken_once_some_at_a_time() {
        let count = Arc::new(Count::default());
        let woken = || count.0.load(Ordering::Relaxed);
        let mut wakes = Wakes::default();
        assert!(wakes.is_empty() && !wakes.wake(1));
        let mut others = Wakes::default();
        others.extend((0..10).map(|_| Waker::from(Arc::clone(&count))));
        wakes.join(others);
        assert!(wakes.wake(4) && wakes.wake(4));
        assert_eq!((woken(), wakes.len()), (8, 2));
        assert!(!wakes.wake(4));
        wakes.extend([Waker::from(Arc::clone(&count))]);
        assert_eq!(woken(), 10);
        drop(wakes);
        assert_eq!(woken(), 11, "who is left is not forgotten");
    }
}
