//! Where tasks are kept: a table in memory, with a cap on their number and on the bytes of what they came to, and a time to live.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::id::TaskId;
use super::task::{Hooks, Task};
use crate::base::clock::Clock;
use crate::base::limits::Limits;
use crate::base::principal::Principal;
use crate::base::trace::looked_up;

/// Why a task was not created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateError {
    /// As many tasks are kept as the limit allows.
    Full,
    /// Those that are kept hold as much memory as they may.
    NoMemory,
    /// The operating system gave no randomness for an id.
    NoRandomness,
}

/// All tasks of one server. Clones are the same table.
#[derive(Clone)]
pub struct Tasks(Arc<Inner>);

struct Inner {
    table: Mutex<HashMap<TaskId, Arc<Task>>>,
    cap: u64,
    ttl_ms: u64,
    poll_interval_ms: u64,
    hooks: Arc<Hooks>,
}

impl Tasks {
    /// An empty table. `changed` is told of every change of a task, from any thread; it must be quick.
    #[must_use]
    pub fn new(limits: &Limits, changed: impl Fn(&TaskId) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            table: Mutex::default(),
            cap: limits.tasks,
            ttl_ms: limits.task_ttl,
            poll_interval_ms: limits.task_poll_interval,
            hooks: Arc::new(Hooks {
                changed: Box::new(changed),
                held: AtomicU64::new(0),
                most_held: limits.task_memory,
            }),
        }))
    }

    /// How many tasks are kept.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.table().len() as u64
    }

    /// Whether none is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that tasks are charged for: requests and questions of those that run, results of those that are over.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.0.hooks.held.load(Ordering::Acquire)
    }

    /// How long a task is kept, from its creation, in milliseconds.
    #[must_use]
    pub fn ttl_ms(&self) -> u64 {
        self.0.ttl_ms
    }

    /// Creates a task for a request of so many bytes: its handler may hold as much until it is over. It can be found from now on.
    ///
    /// # Errors
    /// [`CreateError`] when a limit is reached or no id can be made.
    pub fn create(
        &self,
        principal: Option<Arc<Principal>>,
        clock: &Clock,
        request_bytes: u64,
    ) -> Result<Arc<Task>, CreateError> {
        let id = TaskId::random().ok_or(CreateError::NoRandomness)?;
        let times = (self.0.ttl_ms, self.0.poll_interval_ms);
        let mut table = self.table();
        if table.len() as u64 >= self.0.cap {
            return Err(CreateError::Full);
        }
        let hooks = Arc::clone(&self.0.hooks);
        let task =
            Task::new(id, principal, clock, times, hooks, request_bytes).ok_or(CreateError::NoMemory)?;
        let task = Arc::new(task);
        table.insert(id, Arc::clone(&task));
        Ok(task)
    }

    /// Finds the task that a client names, if `principal` may use it: another principal's use of an id answers as an unknown one.
    #[must_use]
    pub fn find(&self, id: &str, principal: Option<&Arc<Principal>>, now_ms: u64) -> Option<Arc<Task>> {
        looked_up("task");
        let id = TaskId::from_wire(id)?;
        let found = self.table().get(&id).cloned()?;
        if found.is_expired(now_ms) {
            self.remove(&found);
            return None;
        }
        found.belongs_to(principal).then_some(found)
    }

    /// The task of this id, whoever it belongs to, if it is kept.
    #[must_use]
    pub fn peek(&self, id: &str) -> Option<Arc<Task>> {
        self.table().get(&TaskId::from_wire(id)?).cloned()
    }

    /// Forgets a task that nobody has seen.
    pub fn forget(&self, task: &Arc<Task>) {
        self.remove(task);
    }

    /// Forgets every task whose time is over, and says how many. What still runs is cancelled.
    pub fn sweep(&self, now_ms: u64) -> u64 {
        let expired: Vec<_> =
            self.table().values().filter(|task| task.is_expired(now_ms)).map(Arc::clone).collect();
        for task in &expired {
            self.remove(task);
        }
        expired.len() as u64
    }

    fn remove(&self, task: &Arc<Task>) {
        let mut table = self.table();
        let removed = table.remove(task.id());
        if table.capacity() > 4 * table.len() + 64 {
            table.shrink_to_fit();
        }
        drop(table);
        if let Some(task) = removed {
            task.release();
        }
    }

    /// A panic while the table is held leaves a whole one behind: every change is one call into the map.
    fn table(&self) -> MutexGuard<'_, HashMap<TaskId, Arc<Task>>> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::task::{Outcome, Status};

    fn tasks(cap: u64, memory: u64) -> Tasks {
        let limits = Limits { tasks: cap, task_memory: memory, task_ttl: 1000, ..Limits::default() };
        Tasks::new(&limits, |_| {})
    }

    #[test]
    fn the_cap_holds_at_below_and_above() {
        let tasks = tasks(2, 100);
        let (clock, hand) = Clock::manual();
        let first = tasks.create(None, &clock, 0).unwrap();
        hand.advance_ms(500);
        tasks.create(None, &clock, 0).unwrap();
        assert_eq!(tasks.create(None, &clock, 0).unwrap_err(), CreateError::Full);
        assert_eq!(tasks.sweep(999), 0);
        assert_eq!(tasks.sweep(1000), 1);
        assert_eq!(first.status(), Status::Cancelled, "what still runs is cancelled");
        assert!(tasks.create(None, &clock, 0).is_ok());
    }

    #[test]
    fn found_by_its_principal_until_its_time_is_over() {
        let tasks = tasks(10, 100);
        let [alice, bob] = ["alice", "bob"].map(|name| Arc::new(Principal::new(name)));
        let task = tasks.create(Some(Arc::clone(&alice)), &Clock::manual().0, 0).unwrap();
        let id = task.id().as_str();
        assert!(tasks.find(id, Some(&alice), 999).is_some());
        assert!(tasks.find(id, Some(&bob), 999).is_none());
        assert!(tasks.find(id, None, 999).is_none());
        assert!(tasks.find("", Some(&alice), 0).is_none());
        assert!(tasks.find(id, Some(&alice), 1000).is_none());
        assert!(tasks.find(id, Some(&alice), 0).is_none(), "it is never revived");
        assert!(tasks.is_empty());
    }

    #[test]
    fn results_are_counted_and_given_back() {
        let tasks = tasks(10, 100);
        let outcome = |size: usize| Outcome::Completed(vec![b' '; size]);
        let first = tasks.create(None, &Clock::manual().0, 0).unwrap();
        first.finish(outcome(100));
        assert_eq!((tasks.held(), first.status()), (100, Status::Completed));
        first.finish(outcome(10));
        assert_eq!(tasks.held(), 100, "it was over already");
        let second = tasks.create(None, &Clock::manual().0, 0).unwrap();
        second.finish(outcome(1));
        assert_eq!(second.status(), Status::Failed, "there is no room");
        assert_eq!(tasks.create(None, &Clock::manual().0, 1).unwrap_err(), CreateError::NoMemory);
        let cancelled = tasks.create(None, &Clock::manual().0, 0).unwrap();
        cancelled.cancel();
        cancelled.finish(outcome(1));
        assert_eq!(cancelled.status(), Status::Cancelled);
        tasks.sweep(5000);
        second.finish(outcome(1));
        assert_eq!((tasks.held(), tasks.len()), (0, 0));
    }
}
