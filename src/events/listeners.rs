//! The open `subscriptions/listen` streams: what each has asked for and what it is owed. A listener that does not read costs no more than
//! one that does: a change is a bit, however often it happens.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::changes::{Due, Updated};
use super::topic::{Topic, Topics};
use super::wakes::Wakes;
use super::watched::{OwedNames, Watched};
use crate::base::limits::Limits;

const SHARDS: usize = 16;

/// What a listener has asked for, as far as it is honoured.
#[derive(Debug, Default)]
pub struct Filter {
    /// The lists.
    pub topics: Topics,
    /// The resources, by URI.
    pub resources: Watched,
    /// The tasks, by id.
    pub tasks: Watched,
}

impl Filter {
    /// Whether nothing is asked for.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.topics.is_empty() && self.resources.is_empty() && self.tasks.is_empty()
    }
}

/// Why no listener was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// There are as many as the limit allows.
    Listeners,
    /// What they keep takes as much memory as the limit allows.
    Memory,
}

/// Something to tell a listener.
#[derive(Debug, PartialEq, Eq)]
pub enum Told<'l> {
    /// A list has changed.
    List(Topic),
    /// The resource with this URI has changed.
    Resource(&'l str),
    /// The task with this id has changed.
    Task(&'l str),
    /// The server ends the subscription.
    Ended,
}

/// All listeners of one server. Clones are the same.
#[derive(Debug, Clone)]
pub struct Listeners(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    shards: [Mutex<Shard>; SHARDS],
    /// Which listeners watch a task: a task changes often, and hardly anybody watches it.
    task_watchers: Mutex<HashMap<Box<str>, Vec<u64>>>,
    next: AtomicU64,
    count: AtomicU64,
    memory: AtomicU64,
    most: u64,
    most_memory: u64,
    most_resources: u64,
    longest_uri: u64,
    ended: AtomicBool,
}

type Shard = HashMap<u64, Arc<Listener>>;

#[derive(Debug)]
struct Listener {
    filter: Filter,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    topics: Topics,
    resources: OwedNames,
    tasks: OwedNames,
    ended: bool,
    waker: Option<Waker>,
}

impl Listeners {
    /// None yet.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self(Arc::new(Inner {
            shards: Default::default(),
            task_watchers: Mutex::default(),
            next: AtomicU64::new(0),
            count: AtomicU64::new(0),
            memory: AtomicU64::new(0),
            most: limits.listeners,
            most_memory: limits.listen_memory,
            most_resources: limits.listen_resources,
            longest_uri: limits.resource_uri,
            ended: AtomicBool::new(false),
        }))
    }

    /// How many are open.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.count.load(Ordering::Acquire)
    }

    /// Whether none is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The most resources that one may ask for.
    #[must_use]
    pub fn most_resources(&self) -> u64 {
        self.0.most_resources
    }

    /// The longest URI that one may ask for.
    #[must_use]
    pub fn longest_uri(&self) -> u64 {
        self.0.longest_uri
    }

    /// What they keep of their requests, in bytes.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.0.memory.load(Ordering::Acquire)
    }

    /// Opens a listener. It is owed what changes from now on. `kept` is how many bytes its owner keeps for it.
    ///
    /// # Errors
    /// [`Full`].
    pub fn open(&self, filter: Filter, kept: usize) -> Result<Subscription, Full> {
        let inner = &self.0;
        let memory = (filter.resources.memory() + 2 * filter.tasks.memory() + kept) as u64;
        // Places are taken before the listener exists, so that no burst goes over the limits.
        if !take(&inner.count, 1, inner.most) {
            return Err(Full::Listeners);
        }
        if !take(&inner.memory, memory, inner.most_memory) {
            inner.count.fetch_sub(1, Ordering::AcqRel);
            return Err(Full::Memory);
        }
        let resources = filter.resources.owed();
        let mut tasks = filter.tasks.owed();
        // A task may have changed since its id was handed out: where it stands now is told first.
        (0..filter.tasks.len()).for_each(|at| tasks.mark(at));
        let state = State { topics: Topics::NONE, resources, tasks, ended: false, waker: None };
        let listener = Arc::new(Listener { filter, state: Mutex::new(state) });
        let number = inner.next.fetch_add(1, Ordering::Relaxed);
        inner.watch_tasks(number, &listener.filter.tasks);
        let mut shard = inner.shard(number);
        // Under the shard's lock: whoever ends all of them either sees this one or is seen by it.
        if inner.ended.load(Ordering::Acquire) {
            listener.state().ended = true;
        }
        shard.insert(number, Arc::clone(&listener));
        drop(shard);
        Ok(Subscription { all: self.clone(), number, memory, listener })
    }

    /// Owes everybody what it has asked for of `due`, and gives those that are owed something new, to be woken.
    pub fn tell(&self, due: &Due) -> Wakes {
        self.each(|listener, state| listener.owe(due, state))
    }

    /// A task has changed.
    pub fn task_changed(&self, id: &str) {
        let numbers = lock(&self.0.task_watchers).get(id).cloned().unwrap_or_default();
        for number in numbers {
            let Some(listener) = self.0.shard(number).get(&number).map(Arc::clone) else { continue };
            let mut state = listener.state();
            let waker = listener.filter.tasks.find(id).and_then(|at| {
                state.tasks.mark(at);
                state.waker.take()
            });
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Ends all of them, those that are opened later too: each is told so after what it is owed.
    pub fn end_all(&self) {
        self.0.ended.store(true, Ordering::Release);
        drop(self.each(|_, state| !std::mem::replace(&mut state.ended, true)));
    }

    /// Changes every listener's state, and gives those of which `change` says that there is news. No lock is held when they are woken.
    fn each(&self, change: impl Fn(&Listener, &mut State) -> bool) -> Wakes {
        let mut wakes = Wakes::default();
        for shard in &self.0.shards {
            for listener in lock(shard).values() {
                let mut state = listener.state();
                if change(listener, &mut state) {
                    wakes.extend(state.waker.take());
                }
            }
        }
        wakes
    }
}

impl Inner {
    fn watch_tasks(&self, number: u64, tasks: &Watched) {
        if tasks.is_empty() {
            return;
        }
        let mut watchers = lock(&self.task_watchers);
        for id in tasks.iter() {
            watchers.entry(id.into()).or_default().push(number);
        }
    }

    fn leave_tasks(&self, number: u64, tasks: &Watched) {
        if tasks.is_empty() {
            return;
        }
        let mut watchers = lock(&self.task_watchers);
        for id in tasks.iter() {
            let Some(numbers) = watchers.get_mut(id) else { continue };
            numbers.retain(|other| *other != number);
            if numbers.is_empty() {
                watchers.remove(id);
            }
        }
        if watchers.capacity() > 4 * watchers.len() + 64 {
            watchers.shrink_to_fit();
        }
    }

    fn shard(&self, number: u64) -> MutexGuard<'_, Shard> {
        lock(&self.shards[usize::try_from(number % SHARDS as u64).unwrap_or(0)])
    }
}

impl Listener {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Owes what has been asked for. True where there is something: its task is woken once, until it looks again.
    fn owe(&self, due: &Due, state: &mut State) -> bool {
        let topics = due.topics.both(self.filter.topics);
        state.topics = state.topics.union(topics);
        let mut news = !topics.is_empty();
        let resources = &self.filter.resources;
        let mut mark = |at| {
            state.resources.mark(at);
            news = true;
        };
        match &due.updated {
            Updated::Any => (0..resources.len()).for_each(mark),
            Updated::These(uris) if uris.len() < resources.len() => {
                uris.iter().filter_map(|uri| resources.find(uri)).for_each(mark);
            }
            Updated::These(uris) => {
                for (at, _) in resources.iter().enumerate().filter(|(_, uri)| uris.contains(*uri)) {
                    mark(at);
                }
            }
        }
        news
    }
}

/// Takes `amount` of what there is, unless that would be more than `most`.
fn take(taken: &AtomicU64, amount: u64, most: u64) -> bool {
    if taken.fetch_add(amount, Ordering::AcqRel).saturating_add(amount) > most {
        taken.fetch_sub(amount, Ordering::AcqRel);
        return false;
    }
    true
}

/// A panic while a lock is held leaves whole values behind: every change is an assignment or one call into a map.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An open listener, in the hands of whoever writes its stream. Dropping it closes it.
#[derive(Debug)]
pub struct Subscription {
    all: Listeners,
    number: u64,
    memory: u64,
    listener: Arc<Listener>,
}

impl Subscription {
    /// The next thing to tell: what is owed, then that it has ended. The task is woken when there is something.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Told<'_>> {
        let listener = &*self.listener;
        let mut state = listener.state();
        if let Some(topic) = state.topics.first() {
            state.topics = state.topics.without(topic);
            return Poll::Ready(Told::List(topic));
        }
        if let Some(uri) = state.resources.take().and_then(|at| listener.filter.resources.name(at)) {
            return Poll::Ready(Told::Resource(uri));
        }
        if let Some(id) = state.tasks.take().and_then(|at| listener.filter.tasks.name(at)) {
            return Poll::Ready(Told::Task(id));
        }
        if state.ended {
            return Poll::Ready(Told::Ended);
        }
        let stale = match &state.waker {
            Some(waker) if waker.will_wake(cx.waker()) => None,
            Some(_) | None => state.waker.replace(cx.waker().clone()),
        };
        drop(state);
        drop(stale);
        Poll::Pending
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let inner = &self.all.0;
        let mut shard = inner.shard(self.number);
        let gone = shard.remove(&self.number);
        if shard.capacity() > 4 * shard.len() + 64 {
            shard.shrink_to_fit();
        }
        drop(shard);
        drop(gone);
        inner.leave_tasks(self.number, &self.listener.filter.tasks);
        inner.memory.fetch_sub(self.memory, Ordering::AcqRel);
        inner.count.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests;
