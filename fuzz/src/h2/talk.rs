//! A connection from its first byte to its last.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;
use tokio::time::Instant;
use twolane::base::limits::Limits;
use twolane::conn::stop::Stop;
use twolane::conn::{Service, serve};
use twolane::road::Peer;

use super::asked::{self, SESSIONS, Sessions};
use super::client::Client;
use super::script::Script;
use super::watch::Watch;
use crate::response::{self, Response};
use crate::rig::Rig;
use crate::world::{self, Options, SESSION_IDLE_MS, Tools, World};

/// What the client does with what comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// It reads, and makes room.
    Generous,
    /// It reads.
    Reads,
    /// It does not.
    Deaf,
}

/// What both halves of the client know.
#[derive(Debug)]
pub struct Shared {
    pub watch: RefCell<Watch>,
    pub mood: Cell<Mood>,
    pub changed: Notify,
}

/// Longer than anything takes that a client does right.
const PATIENCE: Duration = Duration::from_secs(60);

fn limits(choice: u8) -> Limits {
    let mut limits = world::limits();
    (limits.tool_timeout, limits.half_close_grace) = (5_000, 1_000);
    limits.h2_streams = [256, 2, 8, 1][usize::from(choice & 3)];
    if choice & 4 != 0 {
        (limits.drain, limits.batch_bytes) = (100, 1_024);
    }
    limits
}

fn sessions(world: &World) -> Sessions {
    let open = |(revision, declared): (&'static str, &str)| {
        Some((revision, Rig::new(world).open_session(revision, declared, true)?))
    };
    SESSIONS.into_iter().filter_map(open).collect()
}

/// Plays a script to its end.
pub async fn talk(script: &Script, tools: &Tools) {
    let options = Options { legacy: script.legacy < 255, auth: script.auth > 191 };
    let world = World::new(options, tools, limits(script.limits));
    let sessions = sessions(&world);
    let service = Arc::new(Service::new(world.road.clone(), None, Stop::new()));
    let width = [1 << 20, 7, 300, 20_000][usize::from(script.width & 3)];
    let (ours, theirs) = tokio::io::duplex(width);
    let (reader, writer) = tokio::io::split(ours);
    let serving = tokio::spawn(serve(Arc::clone(&service), theirs, Peer::default(), ()));
    let shared =
        Shared { watch: RefCell::default(), mood: Cell::new(Mood::Generous), changed: Notify::new() };
    let mut client = Client::new(&shared, writer, &service, sessions, Expected { options, tools });
    let write = async {
        client.play(script).await;
        shared.mood.set(Mood::Generous);
        shared.changed.notify_one();
        let _ = client.writer.shutdown().await;
        Instant::now()
    };
    let (ended, ()) = tokio::join!(write, read(&shared, reader));
    serving.await.expect("the loop does not panic");
    let took = ended.elapsed();
    assert!(took <= Duration::from_millis(1_500), "it ends {took:?} after its client");
    client.end();
    drop(client);
    // Calls that run on without their client end.
    tokio::time::sleep(PATIENCE).await;
    assert_eq!(Arc::strong_count(&service), 1, "somebody still holds the service");
    for _ in 0..4 {
        world.clock.advance_ms(SESSION_IDLE_MS + 100);
        world.road.sweep();
    }
    let road = &world.road;
    assert_eq!((road.sessions(), road.tasks(), road.listeners()), (0, 0, 0), "sessions, tasks, listeners");
    let kept = (road.streams(), road.detached_calls(), road.replay_bytes());
    assert_eq!(kept, (0, 0, 0), "streams, calls without clients, bytes kept");
}

async fn read(shared: &Shared, mut reader: impl AsyncRead + Unpin) {
    let mut chunk = [0; 4_096];
    loop {
        while shared.mood.get() == Mood::Deaf {
            shared.changed.notified().await;
        }
        match reader.read(&mut chunk).await {
            Ok(len @ 1..) => shared.watch.borrow_mut().read(&chunk[..len]),
            Ok(0) | Err(_) => return,
        }
    }
}

thread_local! {
    static ANSWERS: RefCell<HashMap<(bool, bool, u8), Rc<Response>>> = RefCell::default();
}

/// What is to be answered: the same as over HTTP/1.1, by a server of its own.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'t> {
    pub options: Options,
    tools: &'t Tools,
}

impl Expected<'_> {
    pub async fn answer(self, which: u8) -> Rc<Response> {
        let Options { legacy, auth } = self.options;
        let key = (legacy, auth, which % asked::COUNT);
        if let Some(known) = ANSWERS.with_borrow(|answers| answers.get(&key).cloned()) {
            return known;
        }
        let world = World::new(self.options, self.tools, limits(0));
        let asked = asked::asked(which, &sessions(&world), auth);
        let service = Arc::new(Service::new(world.road.clone(), None, Stop::new()));
        let (mut ours, theirs) = tokio::io::duplex(1 << 20);
        tokio::spawn(serve(service, theirs, Peer::default(), ()));
        ours.write_all(&asked.http1()).await.expect("it is there");
        let mut bytes = Vec::new();
        ours.read_to_end(&mut bytes).await.expect("a pipe does not fail");
        let answers = response::read_all(&bytes, asked.method == "HEAD");
        let [answer] = &answers[..] else { panic!("{} answers", answers.len()) };
        let answer = Rc::new(comparable(answer.clone()));
        ANSWERS.with_borrow_mut(|answers| answers.insert(key, Rc::clone(&answer)));
        answer
    }
}

/// Without what belongs to a connection, and the ids of events, which tell the streams of a session apart.
pub fn comparable(mut response: Response) -> Response {
    response.fields.retain(|(name, _)| name != "connection" && name != "transfer-encoding");
    response.fields.sort();
    if response.field("content-type") == Some("text/event-stream") {
        let text = String::from_utf8(response.body).expect("it has been read");
        let line = |line: &str| match line.split_once("\") ") {
            Some((_, rest)) if line.starts_with("Some(\"") => format!("Some {rest}\n"),
            _ => format!("{line}\n"),
        };
        response.body = text.lines().map(line).collect::<String>().into_bytes();
    }
    response
}
