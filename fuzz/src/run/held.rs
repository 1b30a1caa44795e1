//! Exchanges that are kept open: calls that go on, streams of sessions, listeners.

use twolane::reply::{Mark, SessionText};

use super::{Run, check_mark, end_told, later, quiesce, session_of, shown};
use crate::json::Json;
use crate::model::{Answered, Listens, Session, TOPICS, Verdict};
use crate::oracle::stream;
use crate::oracle::{Of, Told};
use crate::response;
use crate::rig::{End, Open, Request};
use crate::script::Memory;

/// How often a call that is seen through is heard before it is given up.
const PATIENCE: usize = 40;

/// One of them.
pub(super) struct Held {
    request: Request,
    open: Open,
    verdict: Verdict,
    of: Of,
    session: Option<SessionText>,
    /// How many of its messages have been looked at.
    heard: usize,
    /// What a listener is told of, and what it is owed.
    listens: Option<(Listens, Owed)>,
    /// Whether the server counts it among its listeners.
    counted: bool,
    /// Something was asked of its client.
    asked: bool,
    /// It may end without an answer: it was cancelled, perhaps, or its client has come back for it on another connection.
    may_end: bool,
}

#[derive(Debug, Default)]
struct Owed {
    topics: u8,
    resources: Vec<String>,
}

impl Held {
    /// Something has changed.
    pub(super) fn owe(&mut self, topics: u8, uri: Option<&str>) {
        let Some((listens, owed)) = &mut self.listens else { return };
        owed.topics |= topics & listens.topics;
        let watched = uri.filter(|uri| listens.resources.iter().any(|known| known == uri));
        if let Some(uri) = watched.filter(|uri| !owed.resources.iter().any(|known| known == uri)) {
            owed.resources.push(uri.to_owned());
        }
    }

    /// Something has been said on this session that may end it.
    pub(super) fn shake(&mut self, session: &SessionText) {
        self.may_end |= self.session.as_ref() == Some(session);
    }

    /// Whether it is a GET that has not come back to another stream.
    fn is_fresh_stream(&self) -> bool {
        matches!(&self.verdict, Verdict::Stream { last: None, .. })
    }
}

impl Run {
    /// An exchange that goes on. It has passed.
    pub(super) fn opened(&mut self, request: Request, open: Open, verdict: Verdict) -> Held {
        let goes_on = matches!(verdict, Verdict::Answered(_) | Verdict::Batch(_) | Verdict::Stream { .. });
        assert!(goes_on, "{verdict:?} goes on\n{}", shown(&request));
        let (of, session) = (self.of(&verdict), session_of(&verdict));
        if let Some(session) = self.model.sessions.iter_mut().find(|known| Some(known.id) == session) {
            session.open += 1;
            if matches!(verdict, Verdict::Stream { .. }) {
                session.turn_over();
            }
        }
        let listens = match &verdict {
            Verdict::Answered(Answered { listens, .. }) => {
                listens.clone().map(|asked| (asked, Owed::default()))
            }
            _ => None,
        };
        let (heard, counted, asked, may_end) = (0, false, false, false);
        Held { request, open, verdict, of, session, heard, listens, counted, asked, may_end }
    }

    /// The newest: kept open where that is asked for or in its nature, else heard to its end, or given up.
    pub(super) async fn see_through(&mut self, hold: bool) {
        let at = self.held.len() - 1;
        if self.hear(at).await {
            return;
        }
        let held = &self.held[at];
        if !hold && held.listens.is_none() && !matches!(held.verdict, Verdict::Stream { .. }) {
            for _ in 0..PATIENCE {
                // One that asks waits for its client.
                if self.held[at].asked {
                    break;
                }
                quiesce().await;
                if self.hear(at).await {
                    return;
                }
            }
            if !self.held[at].asked {
                return self.leave(at).await;
            }
        }
        if self.held.len() > super::MOST_HELD {
            self.leave(0).await;
        }
    }

    /// Takes what has come. True where it has ended, and is held no more.
    pub(super) async fn hear(&mut self, at: usize) -> bool {
        let rows = self.rows();
        if let Some(end) = self.held[at].open.hear() {
            let held = self.held.remove(at);
            let mark = if let End::Answered(outcome) = &end { outcome.mark } else { None };
            // A batch has been counted by now; of anything else, what it is refused for in the end counts now.
            let refused = mark.filter(|_| !matches!(held.verdict, Verdict::Batch(_)));
            self.check_rows(&rows, &refused.map(|Mark(row)| row).into_iter().collect::<Vec<_>>(), &|| {
                end_told(&held.request, &held.verdict, &end)
            });
            self.finish(held, end).await;
            return true;
        }
        let mut held = self.held.remove(at);
        let bytes = held.open.events().to_vec();
        let request = held.request.clone();
        let told = || format!("{}\n{}", shown(&request), bytes.escape_ascii());
        let messages = stream::messages(&bytes, &held.of, &told);
        self.take(&mut held, &bytes, &messages, &told);
        if let Some((_, owed)) = &held.listens {
            let none = held.heard > 0 && owed.topics == 0 && owed.resources.is_empty();
            assert!(none, "it is owed {owed:?}\n{}", told());
            if !held.counted {
                held.counted = true;
                self.model.listeners += 1;
            }
        }
        if held.is_fresh_stream() {
            let newer = self.held[at..].iter();
            let newer = newer.filter(|other| matches!(other.verdict, Verdict::Stream { .. }));
            let is_newest = newer.filter(|other| other.session == held.session).count() == 0;
            let session = self.session(&held);
            assert!(
                !is_newest || session.as_ref().is_none_or(|session| !session.ready || session.is_even()),
                "{session:?}\n{}",
                told()
            );
        }
        self.held.insert(at, held);
        false
    }

    fn session(&mut self, held: &Held) -> Option<&mut Session> {
        self.model.sessions.iter_mut().find(|session| Some(session.id) == held.session)
    }

    /// Looks at the messages that have come since the last time. None of them is an answer.
    fn take(&mut self, held: &mut Held, bytes: &[u8], messages: &[Json], told: Told<'_>) {
        stream::ids(bytes).into_iter().for_each(|id| Memory::keep(&mut self.memory.events, id));
        let from = std::mem::replace(&mut held.heard, messages.len());
        for (at, message) in messages.iter().enumerate().skip(from) {
            let method = stream::check_message(message, &held.of, told);
            self.memory.note_asked(message);
            held.asked |= message.get("id").is_some();
            let topic = TOPICS.iter().position(|(_, told)| *told == method);
            if held.listens.is_some() {
                held.listened(at, message, topic, told);
            } else if matches!(held.verdict, Verdict::Stream { .. }) {
                let fresh = held.is_fresh_stream();
                assert!(
                    !fresh || topic.is_some() || method == "notifications/resources/updated",
                    "{}",
                    told()
                );
                let Some(session) = self.session(held) else { continue };
                let Some(topic) = topic else {
                    let uri = message.get("params").and_then(|params| params.get("uri"));
                    let was_owed = uri.and_then(Json::as_str).is_some_and(|uri| session.pay(uri));
                    assert!(was_owed || !fresh, "told without need\n{}", told());
                    continue;
                };
                // One that comes back may be told again what it has missed.
                let needed = session.tell(topic);
                assert!(needed || !fresh, "told without need\n{}", told());
            } else {
                // A question may be taken back.
                let own = ["notifications/progress", "notifications/message", "notifications/cancelled"];
                let own = own.contains(&method);
                assert!(own || message.get("id").is_some(), "{method}\n{}", told());
            }
        }
    }

    /// One that has ended.
    async fn finish(&mut self, mut held: Held, end: End) {
        let request = held.request.clone();
        let verdict = match &end {
            End::Answered(outcome) => held.verdict.clone().late(outcome.mark.map(|Mark(row)| row)),
            End::Cut(_) => held.verdict.clone(),
        };
        let told = || end_told(&request, &verdict, &end);
        let is_call = !matches!(verdict, Verdict::Stream { .. });
        match &end {
            End::Answered(outcome) => {
                check_mark(outcome, &verdict, &told);
                let of = held.of.clone();
                let before = self.check_answer(&request, outcome, &verdict, &of, true, &told);
                let bytes =
                    if outcome.streamed { [&outcome.events[..], &outcome.body].concat() } else { Vec::new() };
                self.take(&mut held, &bytes, &before, &told);
                let owed = held.listens.as_ref().map(|(_, owed)| owed);
                let none = owed.is_none_or(|owed| owed.topics == 0 && owed.resources.is_empty());
                assert!(none, "it is owed {owed:?}\n{}", told());
            }
            End::Cut(bytes) => {
                let messages = stream::messages(bytes, &held.of, &told);
                self.take(&mut held, bytes, &messages, &told);
                let Of::Session { revision, .. } = &held.of else { panic!("{}", told()) };
                let comes_back = response::events(bytes).last().is_some_and(|event| event.retry.is_some());
                let has_ended = self.session(&held).is_none();
                let may_end =
                    held.may_end || has_ended || (comes_back && (!is_call || *revision == "2025-11-25"));
                assert!(may_end || (!is_call && !held.is_fresh_stream()), "no answer\n{}", told());
            }
        }
        self.gone(&held);
        if is_call && matches!(end, End::Cut(_)) {
            // Its call runs on without it.
            later().await;
            quiesce().await;
        }
    }

    /// The client goes.
    pub(super) async fn leave(&mut self, at: usize) {
        let held = self.held.remove(at);
        self.gone(&held);
        let runs_on = held.session.is_some() && !held.is_fresh_stream();
        held.open.abandon();
        if runs_on {
            later().await;
        }
        quiesce().await;
    }

    fn gone(&mut self, held: &Held) {
        self.model.listeners -= u64::from(held.counted);
        if let Some(session) = self.session(held) {
            session.close();
            if matches!(held.verdict, Verdict::Stream { .. }) {
                session.turn_over();
            }
        }
    }
}

impl Held {
    /// A message to a listener.
    fn listened(&mut self, at: usize, message: &Json, topic: Option<usize>, told: Told<'_>) {
        let Some((listens, owed)) = &mut self.listens else { return };
        let params = message.get("params");
        let of = |key: &str| params.and_then(|params| params.get(key));
        let Verdict::Answered(Answered { id, .. }) = &self.verdict else { panic!("{}", told()) };
        let tag = of("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/subscriptionId"));
        assert_eq!(tag, Some(id), "{}", told());
        let method = message.get("method").and_then(Json::as_str).unwrap_or_default();
        assert_eq!(at == 0, method == "notifications/subscriptions/acknowledged", "{}", told());
        if at == 0 {
            let honoured = of("notifications").unwrap_or_else(|| panic!("{}", told()));
            let texts = |key: &str| match honoured.get(key) {
                Some(Json::Array(values)) => {
                    values.iter().filter_map(Json::as_str).map(str::to_owned).collect()
                }
                _ => Vec::new(),
            };
            let topics = (0..TOPICS.len())
                .filter(|&topic| honoured.get(TOPICS[topic].0) == Some(&Json::Bool(true)))
                .map(|topic| 1 << topic)
                .sum::<u8>();
            assert_eq!((topics, texts("resourceSubscriptions")), (listens.topics, listens.resources.clone()));
            let tasks = texts("taskIds");
            assert!(tasks.iter().all(|id| listens.tasks.contains(id)), "{}", told());
            listens.tasks = tasks;
            return;
        }
        match (topic, method) {
            (Some(topic), _) => {
                assert_eq!(owed.topics >> topic & 1, 1, "told without need\n{}", told());
                owed.topics &= !(1 << topic);
            }
            (None, "notifications/resources/updated") => {
                let uri = of("uri").and_then(Json::as_str).unwrap_or_default();
                let known = owed.resources.iter().position(|known| known == uri);
                owed.resources.remove(known.unwrap_or_else(|| panic!("told without need\n{}", told())));
            }
            (None, "notifications/tasks") => {
                let id = of("taskId").and_then(Json::as_str).unwrap_or_default();
                assert!(listens.tasks.iter().any(|known| known == id), "{}", told());
            }
            (None, other) => panic!("{other}\n{}", told()),
        }
    }
}
