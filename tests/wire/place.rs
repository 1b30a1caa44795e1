//! The worlds that scenarios play in: servers that know who is who, with sessions to use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use twolane::tables::scenarios::{BODY, World};
use twolane::{AccessLog, Answered, Limits, Mark};

use crate::support::door::{Keys, Meter};
use crate::support::{Request, Server, messages};

/// What stands where a session's id would, in a world that has none.
pub const NO_SESSION: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

/// A server in one of the worlds.
pub struct Place {
    pub server: Server,
    pub keys: Keys,
    pub meter: Meter,
    pub marks: Marks,
    /// A session of alice's that is ready.
    pub session: String,
    /// One that is not.
    pub opened: String,
}

/// The mark of every answer, as the embedding program sees it.
#[derive(Debug, Clone, Default)]
pub struct Marks(Arc<Mutex<Vec<Option<Mark>>>>);

impl Marks {
    /// Takes out the marks since the last time, one for each answer.
    pub fn take(&self) -> Vec<Option<Mark>> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn observer(&self) -> AccessLog {
        let marks = self.clone();
        AccessLog::to_observer(move |answered: &Answered<'_>| marks.0.lock().unwrap().push(answered.mark))
    }
}

impl Place {
    pub fn of(world: World) -> Self {
        let (keys, meter, marks) = (Keys::default(), Meter::default(), Marks::default());
        let server = Server::with(|builder| {
            builder
                .authenticator(keys.clone())
                .limiter(meter.clone())
                .access_log(marks.observer())
                .limits(limits(world))
                .legacy(world != World::LaneOff)
        });
        let (session, opened) = match world {
            World::LaneOff => (NO_SESSION.to_owned(), NO_SESSION.to_owned()),
            World::Full => (session(&server, true), NO_SESSION.to_owned()),
            World::Usual | World::Crowded | World::Draining => {
                (session(&server, true), session(&server, false))
            }
        };
        if world == World::Draining {
            server.road.start_draining();
        }
        Self { server, keys, meter, marks, session, opened }
    }
}

fn limits(world: World) -> Limits {
    let mut limits = Limits::default();
    limits.query = 100;
    match world {
        World::Usual | World::Draining | World::LaneOff => limits.body = BODY as u64,
        World::Crowded => limits.body_memory = 1 << 20,
        World::Full => {
            limits.body = BODY as u64;
            limits.sessions = 1;
        }
    }
    limits
}

fn session(server: &Server, ready: bool) -> String {
    open_session(server, messages::LEGACY, ready)
}

/// Opens a session of alice's.
#[track_caller]
pub fn open_session(server: &Server, version: &str, ready: bool) -> String {
    let response = server.send(&messages::initialize(version).header("Authorization", "Bearer alice"));
    let id = response.header("mcp-session-id").unwrap_or_else(|| panic!("no session: {response}")).to_owned();
    if ready {
        let message = messages::notification("notifications/initialized").to_string();
        let request =
            Request::post(message).header("Authorization", "Bearer alice").header("Mcp-Session-Id", &id);
        assert_eq!(server.send(&request).status, 202);
    }
    id
}

/// A request that every world answers with 200, unless it drains.
pub fn good() -> Request {
    messages::modern(1, "tools/list", serde_json::Value::Null).header("Authorization", "Bearer alice")
}

/// All worlds, each built when it is first asked for.
#[derive(Default)]
pub struct Places(HashMap<World, Place>);

impl Places {
    pub fn get(&mut self, world: World) -> &Place {
        self.0.entry(world).or_insert_with(|| Place::of(world))
    }
}
