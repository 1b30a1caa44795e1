//! A script against a server in memory, and the model beside it.

use std::time::Duration;

use twolane::events::topic::{Topic, Topics};
use twolane::reply::{Content, Extra, Mark, SessionText};
use twolane::tables::rejection::Rejection;

mod held;
mod memory;

use held::Held;

use crate::json::Json;
use crate::model::{self, Answered, Element, Model, Session, Verdict};
use crate::oracle::{self, Of, Told, check_answered, check_elements, check_refusal, plain_error};
use crate::rig::{End, Outcome, Ran, Request, Rig};
use crate::script::{Memory, Script, Sent, Step, story};
use crate::tables;
use crate::world::{Options, TASK_TTL_MS, Tools, World};

/// Sessions that are open when a run begins: revision, whether ready, and what their clients declare.
const SESSIONS: [(&str, bool, &str); 3] = [
    ("2025-03-26", true, r#"{"roots":{}}"#),
    ("2025-11-25", true, r#"{"elicitation":{},"sampling":{},"roots":{}}"#),
    ("2025-06-18", false, "{}"),
];
const MOST_STEPS: usize = 8;
/// The most exchanges that are kept open; beyond it the client of the oldest goes.
const MOST_HELD: usize = 4;

/// One run.
pub struct Run {
    world: World,
    model: Model,
    rig: Rig,
    memory: Memory,
    held: Vec<Held>,
}

impl Run {
    /// A new server, with some sessions.
    pub fn new(script: &Script, tools: &Tools) -> Self {
        let options = Options { legacy: script.legacy != 255, auth: script.auth > 191 };
        let world = World::new(options, tools, model::limits());
        let mut rig = Rig::new(&world);
        let open = |(revision, ready, declared): (&'static str, bool, &str)| {
            let id = rig.open_session(revision, declared, ready)?;
            let declared = crate::json::read(declared.as_bytes()).expect("JSON");
            let session = Session::new(id, revision, options.auth.then_some("alice"), declared, 0);
            Some(Session { ready, ..session })
        };
        let sessions = SESSIONS.into_iter().filter_map(open).collect();
        let limits = model::limits();
        let model =
            Model { options, limits, now_ms: 0, draining: false, limited: false, listeners: 0, sessions };
        Self { world, model, rig, memory: Memory::default(), held: Vec::new() }
    }

    /// Takes every step, and looks at what is left in the end.
    pub async fn steps(mut self, steps: &[Step]) {
        let mut lost = false;
        let told = |step: &Step| match step {
            Step::Story(kind, which) => story(*kind, *which),
            _ => Vec::new(),
        };
        let stories: Vec<Vec<Step>> = steps.iter().take(MOST_STEPS).map(told).collect();
        let each = steps.iter().zip(&stories).flat_map(|(step, story)| [std::slice::from_ref(step), story]);
        for step in each.flatten() {
            lost = !self.step(step).await;
            if lost {
                break;
            }
            quiesce().await;
            let sessions = self.model.sessions.len() as u64;
            assert_eq!(self.world.road.sessions(), sessions, "sessions after {step:?}");
            assert_eq!(self.world.road.listeners(), self.model.listeners, "listeners after {step:?}");
        }
        self.end(lost).await;
    }

    /// False when the model lost track.
    async fn step(&mut self, step: &Step) -> bool {
        match step {
            Step::Send(sent) => return self.send(sent, false).await,
            Step::Hold(sent) => return self.send(sent, true).await,
            Step::Hear(at) if !self.held.is_empty() => {
                let at = self.held.len() - 1 - usize::from(*at) % self.held.len();
                self.hear(at).await;
            }
            Step::Leave(at) if !self.held.is_empty() => {
                let at = self.held.len() - 1 - usize::from(*at) % self.held.len();
                self.leave(at).await;
            }
            Step::Hear(_) | Step::Leave(_) | Step::Story(..) => {}
            Step::Change(topics, uri) => self.change(*topics, *uri),
            Step::Later => later().await,
            Step::Wait(ms) => self.wait(u64::from(*ms) % 1_100),
            Step::Sweep => self.sweep(),
            Step::Limit(limited) => {
                self.model.limited = *limited;
                self.world.set_limited(*limited);
            }
            Step::Drain(0) => {
                self.model.draining = true;
                self.world.road.start_draining();
            }
            Step::Drain(_) => {}
        }
        true
    }

    fn wait(&mut self, ms: u64) {
        self.world.clock.advance_ms(ms);
        self.model.now_ms += ms;
    }

    fn sweep(&mut self) {
        assert_eq!(self.world.road.sweep(), self.model.sweep(), "sessions that have been idle for too long");
    }

    fn change(&mut self, topics: u8, uri: u8) {
        let uri = ["file:///x", "gone:///x", "nope:///x"].get(usize::from(uri));
        let lists = [Topic::ToolsList, Topic::PromptsList, Topic::ResourcesList];
        let marked = (0..lists.len()).filter(|at| topics >> at & 1 == 1).map(|at| lists[at]);
        let changes = self.world.road.changes();
        changes.mark(marked.fold(Topics::NONE, Topics::with));
        uri.iter().for_each(|uri| changes.resource_updated(uri));
        drop(self.world.road.announce());
        self.model.sessions.iter_mut().for_each(|session| session.owed |= topics & 7);
        if let Some(uri) = uri {
            self.model.sessions.iter_mut().for_each(|session| session.owe(uri));
        }
        self.held.iter_mut().for_each(|held| held.owe(topics & 7, uri.copied()));
    }

    /// The clients go, everything gets its time, and nothing is left.
    async fn end(mut self, lost: bool) {
        while !self.held.is_empty() {
            if !lost {
                self.hear(0).await;
            }
            if !self.held.is_empty() {
                self.leave(0).await;
            }
        }
        later().await;
        // What is left tells when it was last used.
        while !lost && !self.model.sessions.is_empty() {
            self.wait(250);
            self.sweep();
        }
        for _ in 0..3 {
            self.world.clock.advance_ms(TASK_TTL_MS);
            self.world.road.sweep();
        }
        quiesce().await;
        let road = &self.world.road;
        assert_eq!(
            (road.sessions(), road.listeners(), road.tasks()),
            (0, 0, 0),
            "sessions, listeners, tasks"
        );
        let kept = (road.streams(), road.detached_calls(), road.replay_bytes());
        assert_eq!(kept, (0, 0, 0), "streams, calls without clients, bytes kept");
    }

    /// False when the model lost track.
    async fn send(&mut self, sent: &Sent, hold: bool) -> bool {
        self.memory.sessions = self.model.sessions.iter().map(|session| session.id).collect();
        let request = sent.request(&self.memory);
        let (rows, calls) = (self.rows(), self.world.calls());
        let ran = self.rig.run(&request);
        if matches!(ran, Ran::NoHead) {
            return true;
        }
        let Some(verdict) = self.model.judge(&request) else { return false };
        let mark = if let Ran::Answered(outcome) = &ran { outcome.mark } else { None };
        let verdict = self.model.settled(verdict, mark.map(|Mark(row)| row));
        let told = || format!("{}\n{verdict:?}\n{ran:?}", shown(&request));
        self.check_counts(&rows, calls, &verdict, &told);
        self.shake(&request, &verdict);
        match ran {
            Ran::NoHead => {}
            Ran::Answered(ref outcome) => {
                check_mark(outcome, &verdict, &told);
                let of = self.of(&verdict);
                self.check_answer(&request, outcome, &verdict, &of, false, &told);
            }
            Ran::Open(open) => {
                let held = self.opened(request, open, verdict.clone());
                self.held.push(held);
                self.see_through(hold).await;
            }
        }
        match &verdict {
            Verdict::Batch(_) => self.resync(&verdict),
            _ => true,
        }
    }

    /// Whoever comes back for a stream takes it from where it was read, and what is cancelled ends.
    fn shake(&mut self, request: &Request, verdict: &Verdict) {
        let shaken = match verdict {
            Verdict::Stream { session, .. } => Some(*session),
            Verdict::Accepted | Verdict::Batch(_) => {
                let sent = request.values("mcp-session-id").first().copied();
                self.model.sessions.iter().map(|session| session.id).find(|id| sent == Some(&id[..]))
            }
            _ => None,
        };
        if let Some(session) = shaken {
            self.held.iter_mut().for_each(|held| held.shake(&session));
        }
    }

    /// Whether a call of a batch has gone on for a while, nobody can tell; a message on its session starts its idle time over. False
    /// where none can be sent.
    fn resync(&mut self, verdict: &Verdict) -> bool {
        let session = session_of(verdict);
        let Some(id) = session else { return true };
        let Some(at) = self.model.sessions.iter().position(|session| session.id == id) else { return true };
        if self.model.draining {
            return false;
        }
        self.world.set_limited(false);
        assert!(self.rig.ping(&id, self.model.sessions[at].owner), "the session is there");
        self.world.set_limited(self.model.limited);
        self.model.touch(at);
        true
    }

    /// What the streams of a request belong to.
    fn of(&self, verdict: &Verdict) -> Of {
        let last = if let Verdict::Stream { last, .. } = verdict { last.as_ref() } else { None };
        let id = session_of(verdict);
        let session = self.model.sessions.iter().find(|session| Some(session.id) == id);
        session.map_or(Of::Modern, |session| Of::Session {
            revision: session.revision,
            declared: session.declared.clone(),
            last: last.map(|last| String::from_utf8_lossy(last).into_owned()),
        })
    }

    fn rows(&self) -> Vec<u64> {
        Rejection::ALL.iter().map(|&row| self.world.road.rejections().get(row)).collect()
    }

    /// Every refusal is counted once, under its own row; no handler runs for one.
    fn check_counts(&self, before: &[u64], calls: u64, verdict: &Verdict, told: Told<'_>) {
        let (refused, most_calls) = match verdict {
            // A handler may find out itself what it wants for.
            Verdict::Refused(row @ Rejection::MissingClientCapability, _) => (vec![*row], 1),
            Verdict::Refused(row, _) => (vec![*row], 0),
            Verdict::Batch(elements) => {
                let answered = |element: &Element| {
                    if let Element::Answered(answered) = element { model::most_calls(answered) } else { 0 }
                };
                (refused_elements(elements), elements.iter().flatten().map(answered).sum())
            }
            Verdict::Answered(answered) => (Vec::new(), model::most_calls(answered)),
            Verdict::NotFound
            | Verdict::Accepted
            | Verdict::Ended
            | Verdict::Stream { .. }
            | Verdict::Preflight => (Vec::new(), 0),
        };
        self.check_rows(before, &refused, told);
        assert!(self.world.calls() - calls <= most_calls, "a handler ran\n{}", told());
    }

    fn check_rows(&self, before: &[u64], refused: &[Rejection], told: Told<'_>) {
        for ((&row, before), after) in Rejection::ALL.iter().zip(before).zip(self.rows()) {
            let times = refused.iter().filter(|&&other| other == row).count() as u64;
            assert_eq!(after - before, times, "{row:?} is counted once for each refusal\n{}", told());
        }
    }

    /// Everything that an answer may have wrong with it. Gives the messages that came before it. `late`: it did not come at once.
    fn check_answer(
        &mut self,
        request: &Request,
        outcome: &Outcome,
        verdict: &Verdict,
        of: &Of,
        late: bool,
        told: Told<'_>,
    ) -> Vec<Json> {
        let Outcome { reply, body, .. } = outcome;
        let no_extra = |extra: &Extra| {
            extra.session.is_none()
                && extra.allow.is_none()
                && extra.challenge.is_none()
                && extra.retry_after.is_none()
        };
        let empty = |status| {
            assert_eq!((reply.status, reply.content), (status, Content::Empty), "{}", told());
            assert!(no_extra(&reply.extra) && !reply.close, "{}", told());
        };
        let mut before = Vec::new();
        match verdict {
            Verdict::Refused(row, id) => check_refusal(request, outcome, *row, id.as_ref(), told),
            Verdict::Accepted => empty(202),
            Verdict::Ended => empty(200),
            Verdict::NotFound => {
                assert_eq!(reply.status, 404, "{}", told());
                plain_error(body, told);
            }
            Verdict::Preflight => assert!(reply.status == 204 && reply.extra.preflight, "{}", told()),
            Verdict::Answered(answered) => {
                let (messages, message) = oracle::answer(request, outcome, of, told);
                check_answered(&message, answered, late, told);
                if answered.listens.is_some() && message.get("error").is_some() {
                    assert_eq!(self.model.listeners, self.model.limits.listeners, "{}", told());
                }
                let wanting = code(&message) == Some("-32021");
                assert!(!wanting || outcome.streamed, "it could have been refused\n{}", told());
                assert!(reply.status == 200 && !reply.close, "{}", told());
                if answered.opens.is_none() {
                    assert!(no_extra(&reply.extra), "{}", told());
                }
                self.memory.note(request, &message);
                self.note_opened(outcome, answered, request, told);
                before = messages;
            }
            // The rest of a call's stream, with its answer.
            Verdict::Stream { .. } => {
                assert!(outcome.streamed && reply.status == 200, "{}", told());
                let (messages, message) = oracle::answer(request, outcome, of, told);
                assert!(message.get("method").is_none(), "{}", told());
                before = messages;
            }
            Verdict::Batch(elements) if elements.iter().all(Option::is_none) => empty(202),
            Verdict::Batch(elements) => {
                assert_eq!(reply.status, 200, "{}", told());
                let (messages, message) = oracle::answer(request, outcome, of, told);
                let Json::Array(answers) = message else { panic!("{}", told()) };
                check_elements(&answers, elements, told);
                before = messages;
            }
        }
        let cors = match request.values("origin")[..] {
            [origin] if tables::verdict(&tables::ORIGINS, origin) => origin,
            _ => b"",
        };
        assert_eq!(outcome.cors, cors, "CORS headers are for allowed origins\n{}", told());
        before
    }

    fn note_opened(&mut self, outcome: &Outcome, answered: &Answered, request: &Request, told: Told<'_>) {
        assert_eq!(outcome.reply.extra.session.is_some(), answered.opens.is_some(), "{}", told());
        let (Some(id), Some(revision)) = (outcome.reply.extra.session, answered.opens) else { return };
        assert!(self.model.sessions.iter().all(|session| session.id != id));
        let bob = request.values("authorization").first() == Some(&&b"bearer bob"[..]);
        let owner = self.model.options.auth.then_some(if bob { "bob" } else { "alice" });
        let message = crate::json::read(&request.body).expect("it was taken");
        let declared = message.get("params").and_then(|params| params.get("capabilities")).cloned();
        let declared = declared.expect("it opened a session");
        self.model.sessions.push(Session::new(id, revision, owner, declared, self.model.now_ms));
    }
}

/// Everybody who can go on goes on.
async fn quiesce() {
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
}

/// Every wait of a handler's ends.
async fn later() {
    tokio::time::sleep(Duration::from_secs(30)).await;
}

/// The session that a request came on, where that matters.
fn session_of(verdict: &Verdict) -> Option<SessionText> {
    match verdict {
        Verdict::Answered(answered) => answered.session,
        Verdict::Stream { session, .. } => Some(*session),
        Verdict::Batch(elements) => elements.iter().flatten().find_map(|element| match element {
            Element::Answered(answered) => answered.session,
            Element::Refused(..) => None,
        }),
        Verdict::NotFound
        | Verdict::Refused(..)
        | Verdict::Accepted
        | Verdict::Ended
        | Verdict::Preflight => None,
    }
}

fn code(message: &Json) -> Option<&str> {
    match message.get("error")?.get("code")? {
        Json::Number(code) => Some(code),
        _ => None,
    }
}

fn shown(request: &Request) -> String {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let fields: Vec<String> =
        request.fields.iter().map(|(name, value)| format!("{}: {}", text(name), text(value))).collect();
    let authority = request.authority.as_deref().map(text);
    let (method, target, body) = (text(&request.method), text(&request.target), text(&request.body));
    format!("{method} {target} {authority:?}\n{}\n{body}", fields.join("\n"))
}

fn refused_elements(elements: &[Option<Element>]) -> Vec<Rejection> {
    elements
        .iter()
        .flatten()
        .filter_map(|element| if let Element::Refused(row, _) = element { Some(*row) } else { None })
        .collect()
}

fn check_mark(outcome: &Outcome, verdict: &Verdict, told: Told<'_>) {
    let expected = match verdict {
        Verdict::Refused(row, _) => Some(*row),
        Verdict::Batch(elements) => refused_elements(elements).last().copied(),
        Verdict::NotFound
        | Verdict::Accepted
        | Verdict::Answered(_)
        | Verdict::Stream { .. }
        | Verdict::Ended
        | Verdict::Preflight => None,
    };
    assert_eq!(outcome.mark, expected.map(Mark), "the mark\n{}", told());
}

/// What comes of an exchange that is heard to its end.
fn end_told(request: &Request, verdict: &Verdict, end: &End) -> String {
    format!("{}\n{verdict:?}\n{end:?}", shown(request))
}
