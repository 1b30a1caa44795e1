//! What each thread polls right now, for whoever watches it from another one.

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Longer names are cut.
const WORDS: usize = 8;

/// What one thread polls.
#[derive(Debug, Default)]
pub struct Polled {
    /// Odd while a handler is polled, and another one each time.
    step: AtomicU64,
    name: [AtomicU64; WORDS],
}

thread_local! {
    static HERE: OnceCell<Arc<Polled>> = const { OnceCell::new() };
}

/// What this thread polls.
#[must_use]
pub fn here() -> Arc<Polled> {
    HERE.with(|here| Arc::clone(here.get_or_init(Arc::default)))
}

/// Runs a handler of this name, and says so meanwhile. Inside another one that one is what is polled.
pub(super) fn polling<T>(name: &str, run: impl FnOnce() -> T) -> T {
    HERE.with(|here| {
        let _over = here.get().and_then(|here| here.begin(name));
        run()
    })
}

/// A handler is polled until this is dropped.
struct Over<'p>(&'p Polled);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.turn();
    }
}

impl Polled {
    fn begin(&self, name: &str) -> Option<Over<'_>> {
        if self.step().is_some() {
            return None;
        }
        for (word, bytes) in self.name.iter().zip(name.as_bytes().chunks(8).chain([&[][..]])) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_le_bytes(padded), Ordering::Relaxed);
        }
        self.turn();
        Some(Over(self))
    }

    /// Nobody else writes here: a load and a store do.
    fn turn(&self) {
        self.step.store(self.step.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// A number that is another one for every handler polled; `None` while none is.
    #[must_use]
    pub fn step(&self) -> Option<u64> {
        Some(self.step.load(Ordering::Acquire)).filter(|step| step % 2 == 1)
    }

    /// The name of what is polled, or was last.
    #[must_use]
    pub fn name(&self) -> String {
        let bytes: Vec<u8> = (self.name.iter())
            .flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes())
            .take_while(|byte| *byte != 0)
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_polled_has_a_name_and_a_number() {
        polling("before anybody asked", || ());
        let here = here();
        assert_eq!(here.step(), None);
        let long = "a".repeat(64);
        let mut steps = Vec::new();
        for name in ["echo", "a name of many words", "x", "", "12345678", &long] {
            polling(name, || {
                assert_eq!(here.name(), name);
                steps.push(here.step().unwrap());
            });
            assert_eq!(here.step(), None);
        }
        polling("outer", || {
            let step = here.step();
            polling("inner", || assert_eq!((here.step(), here.name()), (step, "outer".to_owned())));
            assert_eq!((here.step(), here.name()), (step, "outer".to_owned()));
        });
        let ended = std::panic::catch_unwind(|| polling("ends", || std::panic::resume_unwind(Box::new(()))));
        assert!(ended.is_err() && here.step().is_none());
        steps.dedup();
        assert_eq!(steps.len(), 6);
        polling(&(long.clone() + "b"), || assert_eq!(here.name(), long));
    }
}
