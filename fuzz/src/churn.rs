//! A registry that changes, and what its clients see of it.

use arbitrary::Arbitrary;
use serde_json::{Value, json};
use twolane::Error;
use twolane::tools::{Edit, Offer, Prompt, RawTool, Registry, Resource};

use crate::response;
use crate::rig::{End, Open, Ran, Rig};
use crate::world::{self, Options, Tools, World, go_on_later};

mod asked;

use asked::{legacy, modern, read, said};

/// Most operations of a run.
const MOST: usize = 60;
/// Entries on a page, and listeners.
const PAGE: usize = 3;
const LISTENERS: usize = 3;
/// What a listener asks for, by kind.
const TOPICS: [&str; 3] = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"];

/// One run.
#[derive(Debug, Arbitrary)]
pub struct Script {
    ops: Vec<Op>,
}

#[derive(Debug, Arbitrary)]
enum Op {
    Change(Change),
    Edit(Vec<Change>),
    Use { kind: Kind, name: u8, yields: u8 },
    Hear(u8),
    List { kind: Kind, walk: u8, session: bool },
    Announce,
    Listen(u8),
    Listened(u8),
    Leave(u8),
}

#[derive(Debug, Arbitrary)]
struct Change {
    kind: Kind,
    name: u8,
    act: Act,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Act {
    Add,
    Replace,
    Remove,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
enum Kind {
    Tool,
    Prompt,
    Resource,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Tool, Self::Prompt, Self::Resource];

    /// The member that lists it, and the methods that list and use it.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Tool => ("tools", "tools/list", "tools/call"),
            Self::Prompt => ("prompts", "prompts/list", "prompts/get"),
            Self::Resource => ("resources", "resources/list", "resources/read"),
        }
    }

    fn key(self, name: u8) -> String {
        let name = name % 9;
        if self == Self::Resource { format!("file:///{name}") } else { format!("name-{name}") }
    }
}

/// What both a registry and an edit of one can do.
macro_rules! apply {
    ($to:expr, $change:expr, $version:expr) => {{
        let Change { kind, name, act } = $change;
        let (key, version) = (kind.key(*name), $version);
        match (kind, act) {
            (Kind::Tool, Act::Add) => done($to.add(tool(&key, version))),
            (Kind::Tool, Act::Replace) => done($to.replace(tool(&key, version))),
            (Kind::Tool, Act::Remove) => $to.remove(&key),
            (Kind::Prompt, Act::Add) => done($to.add_prompt(prompt(&key, version))),
            (Kind::Prompt, Act::Replace) => done($to.replace_prompt(prompt(&key, version))),
            (Kind::Prompt, Act::Remove) => $to.remove_prompt(&key),
            (Kind::Resource, Act::Add) => done($to.add_resource(resource(&key, version))),
            (Kind::Resource, Act::Replace) => done($to.replace_resource(resource(&key, version))),
            (Kind::Resource, Act::Remove) => $to.remove_resource(&key),
        }
    }};
}

fn done(result: Result<(), Error>) -> bool {
    result.inspect_err(|error| assert!(error.to_string().contains("taken"), "{error}")).is_ok()
}

fn label(key: &str, version: u32) -> String {
    format!("{key} v{version}")
}

fn tool(key: &str, version: u32) -> RawTool {
    let label = label(key, version);
    let schema = json!({"type": "object", "properties": {"yields": {"type": "integer"}}});
    RawTool::new(key, label.clone(), schema, move |arguments: Value| {
        let label = label.clone();
        async move {
            for _ in 0..arguments["yields"].as_u64().unwrap_or(0) {
                go_on_later().await;
            }
            label
        }
    })
}

fn prompt(key: &str, version: u32) -> Prompt {
    let label = label(key, version);
    Prompt::new(key, label.clone(), move |_| {
        let label = label.clone();
        async move {
            go_on_later().await;
            label
        }
    })
}

fn resource(key: &str, version: u32) -> Resource {
    let label = label(key, version);
    Resource::new(key, "a resource", {
        let label = label.clone();
        move || {
            let label = label.clone();
            async move {
                go_on_later().await;
                label
            }
        }
    })
    .description(label)
}

/// An entry: its place, its key, its version.
#[derive(Debug, Clone)]
struct Entry {
    place: u64,
    key: String,
    version: u32,
}

#[derive(Debug, Default)]
struct List {
    entries: Vec<Entry>,
    places: u64,
}

impl List {
    fn find(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Whether it does anything.
    fn apply(&mut self, key: &str, act: Act, version: u32) -> bool {
        let known = self.entries.iter_mut().find(|entry| entry.key == key);
        match (act, known) {
            (Act::Add, Some(_)) | (Act::Remove, None) => return false,
            (Act::Replace, Some(entry)) => entry.version = version,
            (Act::Add | Act::Replace, None) => {
                self.entries.push(Entry { place: self.places, key: key.to_owned(), version });
                self.places += 1;
            }
            (Act::Remove, Some(_)) => self.entries.retain(|entry| entry.key != key),
        }
        true
    }
}

/// A call that goes on.
struct Held {
    kind: Kind,
    expected: String,
    open: Open,
}

/// A listener: what it asked for, what it is owed, how much of its stream has been read.
struct Listener {
    asked: [bool; 3],
    owed: [bool; 3],
    read: usize,
    open: Open,
}

struct Run {
    world: World,
    rig: Rig,
    registry: Registry,
    session: Option<[u8; 43]>,
    lists: [List; 3],
    version: u32,
    generation: u64,
    /// Lists that have changed since it was announced.
    due: [bool; 3],
    /// Where walks go on: the list, the cursor, the place behind which they do.
    walks: Vec<(Kind, String, u64)>,
    held: Vec<Held>,
    listeners: Vec<Listener>,
}

/// Plays a script.
pub fn play(script: &Script) {
    let registry = Registry::default();
    // Whatever there is when a client comes.
    [Offer::Tools, Offer::Prompts, Offer::Resources].into_iter().for_each(|offer| registry.offer(offer));
    let tools = Tools::of(registry.clone());
    let world = World::new(Options { legacy: true, auth: false }, &tools, world::limits());
    let mut rig = Rig::new(&world);
    let session = rig.open_session("2025-11-25", "{}", true);
    let mut run = Run {
        generation: registry.generation(),
        world,
        rig,
        registry,
        session,
        lists: Default::default(),
        version: 0,
        due: [false; 3],
        walks: Vec::new(),
        held: Vec::new(),
        listeners: Vec::new(),
    };
    for op in script.ops.iter().take(MOST) {
        run.op(op);
        assert_eq!(run.registry.generation(), run.generation);
    }
    while !run.held.is_empty() {
        run.hear(0);
    }
    run.listeners.drain(..).for_each(|listener| listener.open.abandon());
    assert_eq!(run.world.road.listeners(), 0);
}

fn newest<T>(list: &[T], at: u8) -> Option<usize> {
    (list.len().checked_sub(1)?).checked_sub(usize::from(at) % list.len())
}

impl Run {
    fn op(&mut self, op: &Op) {
        match op {
            Op::Change(change) => {
                self.version += 1;
                let registry = self.registry.clone();
                let did = apply!(registry, change, self.version);
                assert_eq!(did, self.model(change), "{change:?}");
                self.generation += u64::from(did);
            }
            Op::Edit(changes) => {
                let registry = self.registry.clone();
                let did = registry.edit(|edit| self.edit(edit, changes));
                self.generation += u64::from(did);
            }
            Op::Use { kind, name, yields } => self.put_to_use(*kind, *name, *yields % 6),
            Op::Hear(at) => {
                if let Some(at) = newest(&self.held, *at) {
                    self.hear(at);
                }
            }
            Op::List { kind, walk, session } => self.list(*kind, *walk, *session),
            Op::Announce => {
                drop(self.world.road.announce());
                for listener in &mut self.listeners {
                    for at in 0..3 {
                        listener.owed[at] |= listener.asked[at] && self.due[at];
                    }
                }
                self.due = [false; 3];
            }
            Op::Listen(bits) => self.listen(*bits),
            Op::Listened(at) => {
                if let Some(at) = newest(&self.listeners, *at) {
                    self.listened(at);
                }
            }
            Op::Leave(at) => {
                if let Some(at) = newest(&self.listeners, *at) {
                    self.listeners.remove(at).open.abandon();
                }
            }
        }
    }

    fn model(&mut self, change: &Change) -> bool {
        let key = change.kind.key(change.name);
        let did = self.lists[change.kind as usize].apply(&key, change.act, self.version);
        self.due[change.kind as usize] |= did;
        did
    }

    /// Several changes at once. Whether any of them does anything.
    fn edit(&mut self, edit: &mut Edit, changes: &[Change]) -> bool {
        let mut any = false;
        for change in changes.iter().take(5) {
            self.version += 1;
            let did = apply!(edit, change, self.version);
            assert_eq!(did, self.model(change), "{change:?}");
            any |= did;
        }
        any
    }

    fn put_to_use(&mut self, kind: Kind, name: u8, yields: u8) {
        let key = kind.key(name);
        let member = if kind == Kind::Resource { "uri" } else { "name" };
        let params = match kind {
            Kind::Tool => json!({"name": key, "arguments": {"yields": yields}}),
            Kind::Prompt | Kind::Resource => json!({member: key}),
        };
        let expected = self.lists[kind as usize].find(&key).map(|entry| label(&key, entry.version));
        let ran = self.rig.run(&modern(kind.words().2, params, Some(&key)));
        match (ran, expected) {
            (Ran::Answered(outcome), None) => {
                let answer = read(&outcome);
                assert_eq!(answer["error"]["code"], -32602, "{answer}");
            }
            (Ran::Answered(outcome), Some(expected)) => assert_eq!(said(kind, &read(&outcome)), expected),
            (Ran::Open(open), Some(expected)) => self.held.push(Held { kind, expected, open }),
            (ran, expected) => panic!("{ran:?} {expected:?}"),
        }
    }

    /// A call that goes on comes to its end.
    fn hear(&mut self, at: usize) {
        let Held { kind, expected, mut open } = self.held.remove(at);
        for _ in 0..10 {
            match open.hear() {
                None => {}
                Some(End::Answered(outcome)) => return assert_eq!(said(kind, &read(&outcome)), expected),
                Some(End::Cut(events)) => panic!("{}", events.escape_ascii()),
            }
        }
        panic!("it does not end: {expected}");
    }

    fn list(&mut self, kind: Kind, walk: u8, session: bool) {
        // One that goes on, or a new one.
        let on = newest(&self.walks, walk).filter(|_| walk < 128);
        let (kind, params, from) = match on {
            Some(at) => {
                let (kind, cursor, place) = self.walks.remove(at);
                (kind, json!({"cursor": cursor}), Some(place))
            }
            None => (kind, json!({}), None),
        };
        let (member, method, _) = kind.words();
        let request = match self.session.filter(|_| session) {
            Some(session) => legacy(method, params, &session),
            None => modern(method, params, None),
        };
        let Ran::Answered(outcome) = self.rig.run(&request) else { panic!("a list that takes its time") };
        let answer = read(&outcome);
        let got: Vec<String> = answer["result"][member]
            .as_array()
            .unwrap_or_else(|| panic!("{answer}"))
            .iter()
            .map(|entry| entry["description"].as_str().expect("a description").to_owned())
            .collect();
        let entries = &self.lists[kind as usize].entries;
        let rest: Vec<&Entry> =
            entries.iter().filter(|entry| from.is_none_or(|from| entry.place > from)).collect();
        let expected: Vec<String> =
            rest.iter().take(PAGE).map(|entry| label(&entry.key, entry.version)).collect();
        assert_eq!(got, expected, "{method}");
        match answer["result"]["nextCursor"].as_str() {
            Some(cursor) => {
                assert!(rest.len() > PAGE, "it goes on: {answer}");
                self.walks.push((kind, cursor.to_owned(), rest[PAGE - 1].place));
            }
            None => assert!(rest.len() <= PAGE, "it ends: {answer}"),
        }
    }

    fn listen(&mut self, bits: u8) {
        let asked = [0, 1, 2].map(|at| bits >> at & 1 == 1);
        let notifications = json!({TOPICS[0]: asked[0], TOPICS[1]: asked[1], TOPICS[2]: asked[2]});
        let params = json!({"notifications": notifications});
        match self.rig.run(&modern("subscriptions/listen", params, None)) {
            // It is told that it will hear nothing.
            Ran::Open(open) if asked == [false; 3] => open.abandon(),
            Ran::Open(open) if self.listeners.len() < LISTENERS => {
                self.listeners.push(Listener { asked, owed: [false; 3], read: 0, open });
            }
            Ran::Answered(outcome) => {
                let answer = read(&outcome);
                assert!(answer["error"].is_object() && self.listeners.len() == LISTENERS, "{answer}");
            }
            ran => panic!("{ran:?}"),
        }
    }

    /// A listener has been told what it is owed, and nothing else.
    fn listened(&mut self, at: usize) {
        let listener = &mut self.listeners[at];
        assert!(listener.open.hear().is_none(), "it never ends by itself");
        let events = response::events(listener.open.events());
        let mut told = [false; 3];
        for event in &events[listener.read..] {
            let message: Value =
                serde_json::from_str(event.data.as_deref().expect("a message")).expect("JSON");
            let method = message["method"].as_str().expect("a notification");
            if method == "notifications/subscriptions/acknowledged" {
                assert_eq!(listener.read, 0);
                let ours = &message["params"]["notifications"];
                for (at, name) in TOPICS.iter().enumerate() {
                    assert_eq!(ours[*name] == true, listener.asked[at], "{message}");
                }
                continue;
            }
            let kind = Kind::ALL
                .iter()
                .position(|kind| method == format!("notifications/{}/list_changed", kind.words().0));
            let kind = kind.unwrap_or_else(|| panic!("{message}"));
            assert!(!std::mem::replace(&mut told[kind], true), "{method} comes twice");
        }
        listener.read = events.len();
        assert_eq!(told, std::mem::take(&mut listener.owed));
    }
}
