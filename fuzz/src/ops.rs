//! Operations on the store of sessions, and what comes of them.

use std::collections::HashSet;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use arbitrary::Arbitrary;
use tokio::sync::oneshot;
use twolane::base::limits::Limits;
use twolane::events::changes::Updated;
use twolane::events::topic::{Topic, Topics};
use twolane::reply::SessionText;
use twolane::session::commons::Permit;
use twolane::session::event_id::EventId;
use twolane::session::flight::{Flight, Registered};
use twolane::session::open::Resumed;
use twolane::session::reader::{Next, Reader};
use twolane::session::requests::{ClientAnswer, RequestFault, Waiting};
use twolane::session::state::{ClientInfo, OpenGuard, Session};
use twolane::session::store::{OpenError, Sessions};
use twolane::session::subscriptions::Refused;
use twolane::session::writer::Writer;
use twolane::{Principal, Revision};

mod model;
mod stream;

use model::{Model, Place};

/// Most operations of a run.
const MOST: usize = 80;
const IDLE: u64 = 1_000;
const RETRY: u64 = 5;
const URIS: [&str; 4] = ["file:///a", "file:///b", "note://c", "gone://d"];
const IDS: [&str; 5] = ["1", "1.0", "\"1\"", "2", "-0"];

/// One run. Numbers choose among what there is: 0 is the newest.
#[derive(Debug, Arbitrary)]
pub struct Script {
    tight: bool,
    ops: Vec<Op>,
}

#[derive(Debug, Arbitrary)]
enum Op {
    Open { revision: bool, owner: u8 },
    Listen(u8),
    Read(u8),
    ReadAll(u8),
    Say(u8, u16),
    Call { session: u8, id: u8 },
    Answer(u8, u16),
    Leave(u8),
    Back { session: u8, event: u8 },
    Stray { session: u8, stream: u8, event: u8 },
    Mark(u8),
    Settle(u8, u8),
    Subscribe(u8, u8),
    Unsubscribe(u8, u8),
    Update(u8),
    Ready(u8),
    Find(u8),
    Touch(u8),
    Wait(u16),
    Sweep,
    End(u8),
    Guard(u8),
    Unguard(u8),
    Cut(u8),
    Abandon(u8),
    Cancel(u8, u8),
    Land(u8),
    Permit(u8),
    Unpermit(u8),
    Ask(u8),
    Reply(u8, u16),
    Unask(u8),
    Drain(u8),
}

struct Held {
    session: usize,
    stream: usize,
    place: usize,
    reader: Reader,
}

struct Call {
    session: usize,
    stream: usize,
    writer: Option<Writer>,
    flight: Arc<Flight>,
    registered: Option<Registered>,
}

struct Asked {
    session: usize,
    waiting: Waiting,
    receiver: oneshot::Receiver<ClientAnswer>,
    /// What has come of it: nothing yet.
    due: Option<Result<ClientAnswer, ()>>,
}

struct Run {
    store: Sessions,
    limits: Limits,
    model: Model,
    sessions: Vec<(SessionText, Arc<Session>)>,
    readers: Vec<Held>,
    calls: Vec<Call>,
    guards: Vec<(usize, OpenGuard)>,
    permits: Vec<(usize, Permit)>,
    asked: Vec<Asked>,
    /// Ids of events that have been read.
    seen: Vec<(usize, EventId)>,
}

fn limits(tight: bool) -> Limits {
    let mut limits = Limits::default();
    (limits.sessions, limits.session_idle, limits.stream_retry) = (3, IDLE, RETRY);
    (limits.get_streams, limits.session_detached, limits.detached) = (2, 2, 3);
    (limits.session_subscriptions, limits.subscription_memory) = (2, 3 * (96 + 9));
    (limits.replay_streams, limits.replay_time) = (1_000, 80_000_000);
    if tight {
        (limits.replay_events, limits.replay_bytes, limits.session_replay) = (3, 1_024, 2_048);
        (limits.replay_memory, limits.replay_streams, limits.replay_time) = (3_000, 1, 300);
    }
    limits
}

/// Plays a script.
pub fn play(script: &Script) {
    let limits = limits(script.tight);
    let mut run = Run {
        store: Sessions::new(&limits),
        model: Model::new(script.tight, &limits),
        limits,
        sessions: Vec::new(),
        readers: Vec::new(),
        calls: Vec::new(),
        guards: Vec::new(),
        permits: Vec::new(),
        asked: Vec::new(),
        seen: Vec::new(),
    };
    for op in script.ops.iter().take(MOST) {
        run.op(op);
        run.check();
    }
    run.end();
}

fn newest<T>(list: &[T], at: u8) -> Option<usize> {
    (list.len().checked_sub(1)?).checked_sub(usize::from(at) % list.len())
}

impl Run {
    fn session(&self, at: u8) -> Option<(usize, Arc<Session>)> {
        let at = newest(&self.sessions, at)?;
        Some((at, Arc::clone(&self.sessions[at].1)))
    }

    fn op(&mut self, op: &Op) {
        match *op {
            Op::Open { revision, owner } => self.open(revision, owner),
            Op::Listen(at) => self.listen(at),
            Op::Read(at) => drop(newest(&self.readers, at).map(|at| self.read(at))),
            Op::ReadAll(at) => {
                let Some(at) = newest(&self.readers, at) else { return };
                while self.read(at) {}
            }
            Op::Say(at, len) => self.say(at, len),
            Op::Call { session, id } => self.call(session, id),
            Op::Answer(at, len) => self.answer(at, len),
            Op::Leave(at) => self.leave(at),
            Op::Back { session, event } => self.back(session, event),
            Op::Stray { session, stream, event } => self.stray(session, stream, event),
            Op::Mark(topics) => self.mark(topics),
            Op::Settle(at, topic) => {
                let Some((at, session)) = self.session(at) else { return };
                let topic = Topic::ALL[usize::from(topic) % Topic::ALL.len()];
                session.settle(topic);
                self.model.sessions[at].pending.retain(|other| *other != topic);
            }
            Op::Subscribe(at, uri) => self.subscribe(at, uri),
            Op::Unsubscribe(at, uri) => {
                let Some((at, session)) = self.session(at) else { return };
                let uri = URIS[usize::from(uri) % URIS.len()];
                session.unsubscribe(uri);
                self.model.unsubscribe(at, uri);
            }
            Op::Update(which) => self.update(which),
            Op::Ready(at) => {
                let Some((at, session)) = self.session(at) else { return };
                session.make_ready();
                self.model.sessions[at].ready = true;
            }
            Op::Find(at) => self.find(at),
            Op::Touch(at) => {
                let Some((at, session)) = self.session(at) else { return };
                session.touch(self.model.now);
                self.model.sessions[at].seen = Some(self.model.now);
            }
            Op::Wait(ms) => self.model.now += u64::from(ms) % 1_500,
            Op::Sweep => {
                let ended = self.store.sweep(self.model.now);
                assert_eq!(ended, self.model.sweep(), "sessions that have been idle for too long");
            }
            Op::End(at) => {
                let Some((at, session)) = self.session(at) else { return };
                assert_eq!(self.store.end(&session.id), !self.model.sessions[at].ended);
                self.model.end(at);
            }
            Op::Guard(at) => {
                let Some((at, session)) = self.session(at) else { return };
                self.guards.push((at, session.open()));
                self.model.sessions[at].open += 1;
            }
            Op::Unguard(at) => {
                let Some(at) = newest(&self.guards, at) else { return };
                let (session, guard) = self.guards.remove(at);
                drop(guard);
                self.model.closed(session);
            }
            Op::Cut(at) => self.cut(at),
            Op::Abandon(at) => {
                let Some(at) = newest(&self.calls, at) else { return };
                if let Some(writer) = self.calls[at].writer.take() {
                    drop(writer);
                    self.model.finish(self.calls[at].session, self.calls[at].stream, false);
                }
            }
            Op::Cancel(at, id) => self.cancel(at, id),
            Op::Land(at) => {
                let Some(at) = newest(&self.calls, at) else { return };
                drop(self.calls[at].registered.take());
                self.model.flights[at].known = false;
            }
            Op::Permit(at) => {
                let Some((at, session)) = self.session(at) else { return };
                let permit = session.permit();
                assert_eq!(permit.is_some(), !self.model.sessions[at].ended && self.model.may_detach(at));
                let Some(permit) = permit else { return };
                self.permits.push((at, permit));
                self.model.sessions[at].permits += 1;
            }
            Op::Unpermit(at) => {
                let Some(at) = newest(&self.permits, at) else { return };
                let (session, permit) = self.permits.remove(at);
                drop(permit);
                self.model.sessions[session].permits -= 1;
            }
            Op::Ask(at) => self.ask(at),
            Op::Reply(at, len) => self.reply(at, len),
            Op::Unask(at) => {
                let Some(at) = newest(&self.asked, at) else { return };
                drop(self.asked.remove(at));
            }
            Op::Drain(0) => self.drain(),
            Op::Drain(_) => {}
        }
    }

    fn open(&mut self, revision: bool, owner: u8) {
        let revision = if revision { Revision::V2025_03_26 } else { Revision::V2025_11_25 };
        let owner = [None, Some("alice"), Some("bob")][usize::from(owner % 3)];
        let principal = owner.map(|name| Arc::new(Principal::new(name)));
        let opened = self.store.open(revision, principal, ClientInfo::default(), self.model.now);
        if self.model.living() as u64 >= self.limits.sessions {
            return assert_eq!(opened.err(), Some(OpenError::Full));
        }
        let session = opened.expect("there is room");
        session.offer(Topic::ALL.iter().copied().fold(Topics::NONE, Topics::with));
        let id = *session.id.text();
        assert!(self.sessions.iter().all(|(other, _)| *other != id));
        let other = Arc::new(Principal::new("carol"));
        assert_eq!(session.belongs_to(Some(&other)), owner.is_none());
        assert!(owner.is_none() || !session.belongs_to(None));
        self.sessions.push((id, session));
        self.model.opened(revision == Revision::V2025_11_25);
    }

    fn find(&mut self, at: u8) {
        let stray = self.store.find(&[b'A'; 43], self.model.now);
        assert!(stray.is_none() && self.store.find(b"short", self.model.now).is_none());
        let Some((at, session)) = self.session(at) else { return };
        let found = self.store.find(&self.sessions[at].0, self.model.now);
        assert_eq!(found.is_some(), self.model.find(at), "session {at}");
        assert!(found.is_none_or(|found| Arc::ptr_eq(&found, &session)));
    }

    fn mark(&mut self, bits: u8) {
        let mut topics = Topics::NONE;
        for (_, &topic) in Topic::ALL.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1) {
            topics = topics.with(topic);
        }
        drop(self.store.mark(topics));
        for session in self.model.sessions.iter_mut().filter(|session| !session.ended) {
            session.marked(topics.iter());
        }
    }

    fn subscribe(&mut self, at: u8, uri: u8) {
        let Some((at, session)) = self.session(at) else { return };
        let uri = URIS[usize::from(uri) % URIS.len()];
        let expected = self.model.subscribe(at, uri, &self.limits);
        let got = session.subscribe(uri).map_err(|fault| match fault {
            Refused::TooMany => "too many",
            Refused::NoMemory => "no memory",
        });
        assert_eq!(got, expected, "{uri}");
    }

    fn update(&mut self, which: u8) {
        let uris = URIS.iter().enumerate().filter(|(at, _)| which >> at & 1 == 1).map(|(_, uri)| *uri);
        let uris: Vec<&str> = uris.collect();
        let any = which >= 128;
        let updated =
            if any { Updated::Any } else { Updated::These(uris.iter().map(|&uri| uri.into()).collect()) };
        drop(self.store.resources_updated(&updated));
        for session in self.model.sessions.iter_mut().filter(|session| !session.ended) {
            let told: Vec<&str> =
                session.subscribed.iter().copied().filter(|uri| any || uris.contains(uri)).collect();
            session.updated.extend(told);
        }
    }

    fn cancel(&mut self, at: u8, id: u8) {
        let Some((at, session)) = self.session(at) else { return };
        let id = IDS[usize::from(id) % IDS.len()];
        session.cancel(id.as_bytes());
        let same = |other: &str| other == id || ["1", "1.0"].contains(&other) && ["1", "1.0"].contains(&id);
        let ended = self.model.sessions[at].ended;
        for flight in self.model.flights.iter_mut().filter(|flight| flight.session == at && flight.known) {
            flight.cancelled |= same(flight.id) && !ended;
        }
    }

    fn ask(&mut self, at: u8) {
        let Some((at, session)) = self.session(at) else { return };
        let open = self.asked.iter().filter(|asked| asked.session == at && asked.due.is_none()).count();
        let expected = if self.model.sessions[at].ended {
            Some(RequestFault::Ended)
        } else if self.model.draining {
            Some(RequestFault::Draining)
        } else {
            (open >= 2).then_some(RequestFault::TooMany)
        };
        match Waiting::open(&session, 2, 100) {
            Ok((waiting, receiver)) => {
                assert_eq!(expected, None);
                assert!(self.asked.iter().all(|asked| asked.waiting.id() != waiting.id()));
                self.asked.push(Asked { session: at, waiting, receiver, due: None });
            }
            Err(fault) => assert_eq!(Some(fault), expected),
        }
    }

    fn reply(&mut self, at: u8, len: u16) {
        let Some(at) = newest(&self.asked, at) else { return };
        let text = vec![b'7'; usize::from(len) % 200];
        let asked = &mut self.asked[at];
        let session = &self.sessions[asked.session].1;
        let answered = session.answer(asked.waiting.id().as_str(), || ClientAnswer::Result(text.clone()));
        assert_eq!(answered, asked.due.is_none());
        assert!(!session.answer("AAAAAAAAAAAAAAAAAAAAAA", || panic!("nobody waits for it")));
        let kept = if text.len() > 100 { ClientAnswer::TooLong } else { ClientAnswer::Result(text) };
        asked.due.get_or_insert(Ok(kept));
    }

    fn drain(&mut self) {
        self.store.drain();
        self.model.drain();
        let ended: Vec<bool> = self.model.sessions.iter().map(|session| session.ended).collect();
        for asked in self.asked.iter_mut().filter(|asked| !ended[asked.session]) {
            asked.due.get_or_insert(Ok(ClientAnswer::Unheard));
        }
    }

    /// What holds after every operation.
    fn check(&mut self) {
        assert_eq!(self.store.len(), self.model.living() as u64, "sessions");
        let commons = self.store.commons();
        assert_eq!(commons.detached(), self.model.detached(), "calls without clients");
        assert!(commons.detached() <= self.limits.detached);
        assert_eq!(commons.subscribed(), self.model.subscribed());
        let mut cx = Context::from_waker(Waker::noop());
        for (call, flight) in self.calls.iter().zip(&self.model.flights) {
            let cancelled = call.flight.poll_cancelled(&mut cx) == Poll::Ready(());
            assert_eq!(cancelled, flight.cancelled, "{}", flight.id);
        }
        for asked in &mut self.asked {
            if self.model.sessions[asked.session].ended {
                asked.due.get_or_insert(Err(()));
            }
            assert_eq!(asked.waiting.is_open(), asked.due.is_none());
            match (asked.receiver.try_recv(), &mut asked.due) {
                (Ok(answer), Some(due)) => assert_eq!(Ok(answer), std::mem::replace(due, Err(()))),
                (Err(oneshot::error::TryRecvError::Empty), due) => assert_eq!(*due, None),
                (Err(oneshot::error::TryRecvError::Closed), due) => assert_eq!(*due, Some(Err(()))),
                (Ok(answer), None) => panic!("{answer:?}"),
            }
        }
    }

    /// Everybody goes, and nothing is left.
    fn end(mut self) {
        self.readers.clear();
        self.calls.clear();
        self.guards.clear();
        self.permits.clear();
        self.asked.clear();
        // Once to notice that nothing is open any more, once for the time after that.
        self.store.sweep(self.model.now);
        let living = self.store.len();
        assert_eq!(self.store.sweep(self.model.now + IDLE), living);
        let commons = self.store.commons();
        assert_eq!((self.store.len(), commons.streams(), commons.detached()), (0, 0, 0));
        assert_eq!((commons.replay_bytes(), commons.subscribed()), (0, 0));
    }
}

/// The data of an event, and its id.
fn parts(event: &[u8]) -> (EventId, String) {
    let text = std::str::from_utf8(event).expect("UTF-8");
    let rest = text.strip_prefix("id: ").unwrap_or_else(|| panic!("{text:?}"));
    let (id, rest) = rest.split_once("\ndata:").expect("data behind the id");
    let data = rest.strip_suffix("\n\n").expect("an empty line");
    (EventId::parse(id.as_bytes()).expect("an id"), data.strip_prefix(' ').unwrap_or(data).to_owned())
}

/// The URIs that may have been told.
type Uris = HashSet<&'static str>;
