//! Random decisions as a list of numbers: what is made from them gets simpler as proptest makes the list shorter and its numbers smaller.

use proptest::prelude::*;

/// A list of decisions, taken one by one. Past the end every decision is the first option.
#[derive(Debug)]
pub struct Choices<'a>(std::slice::Iter<'a, u16>);

impl<'a> Choices<'a> {
    pub fn new(numbers: &'a [u16]) -> Self {
        Self(numbers.iter())
    }

    /// A number below `options`.
    pub fn below(&mut self, options: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % options.max(1)
    }

    /// Yes, in one of `of` cases.
    pub fn rarely(&mut self, of: usize) -> bool {
        self.below(of) == of - 1
    }

    /// One of several.
    pub fn of<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())]
    }
}

/// At most so many numbers, and at least half of them.
pub fn numbers(most: usize) -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), most / 2..=most)
}
