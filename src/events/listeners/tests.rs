use std::collections::HashSet;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;

use super::*;

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A listener with a task that counts how often it is woken.
struct Reader {
    subscription: Subscription,
    woken: Arc<Woken>,
}

impl Reader {
    fn of(listeners: &Listeners, topics: &[Topic], resources: &[&str]) -> Self {
        let subscription = listeners.open(filter(topics, resources), 0).unwrap();
        Self { subscription, woken: Arc::default() }
    }

    fn next(&mut self) -> Option<String> {
        let waker = Waker::from(Arc::clone(&self.woken));
        match self.subscription.poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(Told::List(topic)) => Some(topic.filter().to_owned()),
            Poll::Ready(Told::Resource(name) | Told::Task(name)) => Some(name.to_owned()),
            Poll::Ready(Told::Ended) => Some("ended".to_owned()),
            Poll::Pending => None,
        }
    }

    fn all(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(next) = self.next() {
            assert!(all.len() < 100, "it never ends: {all:?}");
            all.push(next);
        }
        all
    }

    fn woken(&self) -> usize {
        self.woken.0.load(Ordering::SeqCst)
    }
}

fn filter(topics: &[Topic], resources: &[&str]) -> Filter {
    let topics = topics.iter().fold(Topics::NONE, |all, &topic| all.with(topic));
    Filter { topics, resources: Watched::new(resources.iter().copied()), tasks: Watched::default() }
}

fn due(topics: &[Topic], updated: &[&str]) -> Due {
    let uris: HashSet<Box<str>> = updated.iter().map(|&uri| uri.into()).collect();
    Due { topics: filter(topics, &[]).topics, updated: Updated::These(uris) }
}

fn listeners() -> Listeners {
    Listeners::new(&Limits::default())
}

#[test]
fn each_is_told_what_it_asked_for_and_nothing_else() {
    let listeners = listeners();
    let mut tools = Reader::of(&listeners, &[Topic::ToolsList], &[]);
    let mut prompts = Reader::of(&listeners, &[Topic::PromptsList], &["a:1"]);
    let mut resources = Reader::of(&listeners, &[], &["a:2", "a:1", "a:3"]);
    for reader in [&mut tools, &mut prompts, &mut resources] {
        assert!(reader.all().is_empty());
    }
    listeners.tell(&due(&[Topic::ToolsList, Topic::ResourcesList], &["a:1", "a:3", "a:4"]));
    assert_eq!(tools.all(), ["toolsListChanged"]);
    assert_eq!(prompts.all(), ["a:1"]);
    assert_eq!(resources.all(), ["a:1", "a:3"]);
    listeners.tell(&Due { topics: Topics::NONE, updated: Updated::Any });
    assert_eq!((tools.all().len(), prompts.all().len(), resources.all().len()), (0, 1, 3));
    assert_eq!((tools.woken(), prompts.woken(), resources.woken()), (1, 2, 2), "no one is woken for nothing");
}

/// Whichever of the two is searched in the other, the same is found.
#[test]
fn many_updates_and_few_find_the_same() {
    let listeners = listeners();
    let mut reader = Reader::of(&listeners, &[], &["a:1", "a:2", "a:3"]);
    listeners.tell(&due(&[], &["a:3", "a:4"]));
    assert_eq!(reader.all(), ["a:3"]);
    listeners.tell(&due(&[], &["a:3", "a:4", "a:5", "a:6", "a:7"]));
    assert_eq!(reader.all(), ["a:3"]);
}

#[test]
fn one_that_does_not_read_is_owed_each_thing_once() {
    let listeners = listeners();
    let mut reader = Reader::of(&listeners, &[Topic::ToolsList, Topic::PromptsList], &["a:1", "a:2"]);
    assert_eq!(reader.next(), None);
    for _ in 0..1000 {
        listeners.tell(&due(&[Topic::PromptsList, Topic::ToolsList], &["a:2", "a:1"]));
    }
    assert_eq!(reader.woken(), 1);
    assert_eq!(reader.all(), ["toolsListChanged", "promptsListChanged", "a:1", "a:2"]);
}

#[test]
fn what_changes_before_the_first_look_is_not_lost() {
    let listeners = listeners();
    let mut reader = Reader::of(&listeners, &[Topic::ToolsList], &[]);
    listeners.tell(&due(&[Topic::ToolsList], &[]));
    assert_eq!(reader.all(), ["toolsListChanged"]);
}

#[test]
fn the_end_comes_after_what_is_owed_and_to_late_comers_too() {
    let listeners = listeners();
    let mut reader = Reader::of(&listeners, &[Topic::ToolsList], &[]);
    assert_eq!(reader.next(), None);
    listeners.tell(&due(&[Topic::ToolsList], &[]));
    listeners.end_all();
    listeners.end_all();
    assert_eq!(reader.next().as_deref(), Some("toolsListChanged"));
    assert_eq!(reader.next().as_deref(), Some("ended"));
    assert_eq!(Reader::of(&listeners, &[Topic::ToolsList], &[]).next().as_deref(), Some("ended"));
}

#[test]
fn the_cap_holds_at_below_and_above_and_places_come_back() {
    let listeners = Listeners::new(&Limits { listeners: 2, ..Limits::default() });
    let open = || listeners.open(filter(&[Topic::ToolsList], &[]), 0);
    let first = open().unwrap();
    let second = open().unwrap();
    assert_eq!(open().unwrap_err(), Full::Listeners);
    assert_eq!(listeners.len(), 2);
    drop(first);
    let third = open().unwrap();
    assert_eq!(open().unwrap_err(), Full::Listeners);
    drop((second, third));
    assert_eq!((listeners.len(), listeners.memory()), (0, 0));
}

#[test]
fn memory_is_bounded_over_all_of_them() {
    let one = filter(&[], &["a:1"]).resources.memory() as u64 + 7;
    let listeners = Listeners::new(&Limits { listen_memory: 2 * one, ..Limits::default() });
    let first = listeners.open(filter(&[], &["a:1"]), 7).unwrap();
    let second = listeners.open(filter(&[], &["a:2"]), 7).unwrap();
    assert_eq!(listeners.open(filter(&[Topic::ToolsList], &[]), 1).unwrap_err(), Full::Memory);
    assert_eq!((listeners.len(), listeners.memory()), (2, 2 * one));
    assert!(listeners.open(filter(&[Topic::ToolsList], &[]), 0).is_ok());
    drop(first);
    assert_eq!(listeners.open(filter(&[], &["a:1"]), 8).unwrap_err(), Full::Memory);
    drop(second);
    assert_eq!((listeners.len(), listeners.memory()), (0, 0));
}

#[test]
fn threads_that_open_tell_and_drop_leave_nothing() {
    let listeners = Listeners::new(&Limits { listeners: 100, ..Limits::default() });
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let mut reader = Reader::of(&listeners, &[Topic::ToolsList], &["a:1"]);
                    listeners.tell(&due(&[Topic::ToolsList], &["a:1"]));
                    assert_eq!(reader.next().as_deref(), Some("toolsListChanged"));
                }
            });
        }
    });
    assert_eq!((listeners.len(), listeners.memory()), (0, 0));
    assert!(listeners.0.shards.iter().all(|shard| lock(shard).is_empty()));
}

#[test]
fn tasks_are_told_to_those_who_watch_them() {
    let listeners = Listeners::new(&Limits::default());
    let watching = |ids: &[&str]| {
        let filter = Filter { tasks: Watched::new(ids.iter().copied()), ..Filter::default() };
        assert!(!filter.is_empty());
        Reader { subscription: listeners.open(filter, 0).unwrap(), woken: Arc::default() }
    };
    let (mut both, mut one) = (watching(&["a", "b"]), watching(&["b"]));
    assert_eq!(
        (both.all(), one.all()),
        (vec!["a".to_owned(), "b".to_owned()], vec!["b".to_owned()]),
        "where they stand"
    );
    for _ in 0..5 {
        listeners.task_changed("a");
    }
    listeners.task_changed("c");
    assert_eq!((both.woken(), one.woken()), (1, 0));
    assert_eq!((both.all(), one.all()), (vec!["a".to_owned()], Vec::new()));
    listeners.task_changed("b");
    assert_eq!((both.all().len(), one.all().len()), (1, 1));
    drop(both);
    listeners.task_changed("b");
    assert_eq!(one.all(), ["b"]);
    drop(one);
    listeners.task_changed("b");
    assert_eq!((listeners.len(), listeners.memory()), (0, 0));
    assert!(lock(&listeners.0.task_watchers).is_empty());
}

/// What the table keeps of each listener, beside the names that it watches.
#[test]
fn listeners_at_rest_are_small() {
    assert!(size_of::<Listener>() <= 160 - 2 * size_of::<usize>(), "{}", size_of::<Listener>());
}
