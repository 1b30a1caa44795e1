//! The streams of a session by number. A map would take two kilobytes for the first of them, and most sessions that have any have one.

use super::log::Log;

/// Streams, oldest first: numbers are given out in order, so that a new one comes last.
#[derive(Debug, Default)]
pub(super) struct Logs(Vec<(u64, Box<Log>)>);

impl Logs {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find(&self, number: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&number, |(number, _)| *number)
    }

    pub(super) fn get(&self, number: u64) -> Option<&Log> {
        self.find(number).ok().map(|at| &*self.0[at].1)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Log> {
        self.find(number).ok().map(|at| &mut *self.0[at].1)
    }

    /// Adds a stream. The calls of one session may begin theirs in another order than they got their numbers.
    pub(super) fn insert(&mut self, number: u64, log: Log) {
        if self.0.is_empty() {
            self.0.reserve_exact(1);
        }
        match self.find(number) {
            Ok(at) => *self.0[at].1 = log,
            Err(at) => self.0.insert(at, (number, Box::new(log))),
        }
    }

    pub(super) fn remove(&mut self, number: u64) {
        if let Ok(at) = self.find(number) {
            self.0.remove(at);
        }
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&mut Log) -> bool) {
        self.0.retain_mut(|(_, log)| keep(log));
        if self.0.capacity() > 4 * self.0.len() + 16 {
            self.0.shrink_to_fit();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Log)> {
        self.0.iter().map(|(number, log)| (*number, &**log))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Log> {
        self.0.iter().map(|(_, log)| &**log)
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Log> {
        self.0.iter_mut().map(|(_, log)| &mut **log)
    }

    pub(super) fn into_values(self) -> impl Iterator<Item = Box<Log>> {
        self.0.into_iter().map(|(_, log)| log)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::commons::Commons;
    use super::super::log::Kind;
    use super::*;
    use crate::base::limits::Limits;

    #[test]
    fn streams_are_found_in_order_whatever_order_they_came_in() {
        let commons = Arc::new(Commons::new(&Limits::default()));
        let mut logs = Logs::default();
        for number in [2, 1, 5, 3] {
            logs.insert(number, Log::new(Kind::Call, &commons, Vec::new()));
        }
        assert_eq!(logs.iter().map(|(number, _)| number).collect::<Vec<_>>(), [1, 2, 3, 5]);
        logs.remove(2);
        logs.remove(4);
        assert!(logs.get(2).is_none() && logs.get_mut(3).is_some() && !logs.is_empty());
        assert_eq!(logs.values().count(), 3);
        logs.retain(|_| false);
        assert!(logs.is_empty());
        assert_eq!(commons.streams(), 0);
    }
}
