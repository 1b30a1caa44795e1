//! The road in memory: structured requests, made of valid messages and what is done to them, with time passing in between. Oracles:
//! - a naive reading of the wire contract says which row refuses a request, if one does, and that is the row that is marked, counted
//!   once and answered with, in the right dialect, with the right id;
//! - whatever is refused touches nothing: not the sessions, not their idle time, not the tools;
//! - whatever passes is answered once: with its id, with what its lane has, on a stream only where one is taken.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use tokio::runtime::Runtime;
use twolane::reply::{Content, Extra, Mark};
use twolane::tables::rejection::{IdRule, Rejection, RowHeader};
use twolane_fuzz::json::{self, Json};
use twolane_fuzz::model::{self, Answered, Element, Model, Session, Verdict};
use twolane_fuzz::response;
use twolane_fuzz::rig::{Outcome, Ran, Request, Rig};
use twolane_fuzz::script::{Script, Sent, Step};
use twolane_fuzz::tables;
use twolane_fuzz::world::{Options, Tools, World};

/// Sessions that are open when a run begins: revision, and whether ready.
const SESSIONS: [(&str, bool); 3] = [("2025-03-26", true), ("2025-11-25", true), ("2025-06-18", false)];
const MOST_STEPS: usize = 10;

thread_local! {
    static TOOLS: Tools = Tools::default();
    /// Calls that wait need a timer, which gets no time to fire; calls that stream are tasks of a runtime. A run leaves none of its tasks.
    static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) };
}

fuzz_target!(|script: Script| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let handle = runtime.handle().clone();
    RUNTIME.set(Some(runtime));
    {
        let _inside = handle.enter();
        Run::new(&script).steps(&script.steps);
    }
    RUNTIME.take();
});

/// Gives every task a turn.
fn turn() {
    RUNTIME.with_borrow(|runtime| {
        runtime.as_ref().expect("a run goes on").block_on(tokio::task::yield_now());
    });
}

struct Run {
    world: World,
    model: Model,
    rig: Rig,
}

impl Run {
    fn new(script: &Script) -> Self {
        let options = Options { legacy: script.legacy != 255, auth: script.auth > 191 };
        let world = TOOLS.with(|tools| World::new(options, tools, model::limits()));
        let mut rig = Rig::new(&world, turn);
        let open = |(revision, ready)| {
            let id = rig.open_session(revision, ready)?;
            Some(Session {
                id,
                revision,
                ready,
                owner: options.auth.then_some("alice"),
                seen_ms: 0,
                just_closed: false,
            })
        };
        let sessions = SESSIONS.into_iter().filter_map(open).collect();
        let model =
            Model { options, limits: model::limits(), now_ms: 0, draining: false, limited: false, sessions };
        Self { world, model, rig }
    }

    fn steps(mut self, steps: &[Step]) {
        for step in steps.iter().take(MOST_STEPS) {
            match step {
                Step::Send(sent) | Step::SendAgain(sent) => {
                    if !self.send(sent) {
                        return;
                    }
                }
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
            assert_eq!(
                self.world.road.sessions(),
                self.model.sessions.len() as u64,
                "sessions after {step:?}"
            );
        }
        // What is left tells when it was last used.
        while !self.model.sessions.is_empty() {
            self.wait(250);
            self.sweep();
        }
    }

    fn wait(&mut self, ms: u64) {
        self.world.clock.advance_ms(ms);
        self.model.now_ms += ms;
    }

    fn sweep(&mut self) {
        assert_eq!(self.world.road.sweep(), self.model.sweep(), "sessions that have been idle for too long");
    }

    /// False when the model lost track.
    fn send(&mut self, sent: &Sent) -> bool {
        let ids: Vec<_> = self.model.sessions.iter().map(|session| session.id).collect();
        let request = sent.request(&ids);
        let (rows, calls) = (self.rows(), self.world.calls());
        let outcome = match self.rig.run(&request) {
            Ran::NoHead => return true,
            Ran::Answered(outcome) => Some(outcome),
            Ran::GivenUp => None,
        };
        let Some(verdict) = self.model.judge(&request) else { return false };
        let told =
            || format!("{}\n{}\n{verdict:?}\n{outcome:?}", shown(&request), request.body.escape_ascii());
        self.check_counts(&rows, calls, &verdict, &told);
        match &outcome {
            Some(outcome) => {
                check_mark(outcome, &verdict, &told);
                self.check_answer(&request, outcome, &verdict, &told);
            }
            None => assert!(matches!(verdict, Verdict::Answered(_) | Verdict::Batch(_)), "{}", told()),
        }
        self.note_closed(&verdict, outcome.as_ref().is_none_or(|outcome| outcome.pending))
    }

    /// A call that went on has kept its session open until now. False where nobody can tell whether one has.
    fn note_closed(&mut self, verdict: &Verdict, pending: bool) -> bool {
        match verdict {
            Verdict::Answered(Answered { session: Some(id), .. }) if pending => {
                let session = self.model.sessions.iter_mut().find(|session| session.id == *id);
                session.expect("it was found").just_closed = true;
                true
            }
            Verdict::Batch(elements) => !elements.iter().flatten().any(
                |element| matches!(element, Element::Answered(answered) if answered.method == "tools/call"),
            ),
            _ => true,
        }
    }

    fn rows(&self) -> Vec<u64> {
        Rejection::ALL.iter().map(|&row| self.world.road.rejections().get(row)).collect()
    }

    /// Every refusal is counted once, under its own row; no tool runs for one.
    fn check_counts(&self, before: &[u64], calls: u64, verdict: &Verdict, told: &dyn Fn() -> String) {
        let (refused, most_calls) = match verdict {
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
        for ((&row, before), after) in Rejection::ALL.iter().zip(before).zip(self.rows()) {
            let times = refused.iter().filter(|&&other| other == row).count() as u64;
            assert_eq!(after - before, times, "{row:?} is counted once for each refusal\n{}", told());
        }
        assert!(self.world.calls() - calls <= most_calls, "a handler ran\n{}", told());
    }

    fn check_answer(
        &mut self,
        request: &Request,
        outcome: &Outcome,
        verdict: &Verdict,
        told: &dyn Fn() -> String,
    ) {
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
        match verdict {
            Verdict::Refused(row, id) => check_refusal(request, outcome, *row, id.as_ref(), told),
            Verdict::Accepted => empty(202),
            Verdict::Ended => empty(200),
            Verdict::NotFound => {
                assert_eq!(reply.status, 404, "{}", told());
                plain_error(body, told);
            }
            Verdict::Stream { primed } => {
                assert_eq!((reply.status, reply.content), (200, Content::EventStream), "{}", told());
                let blocks = response::blocks(body);
                assert_eq!(blocks.len(), usize::from(*primed), "{}", told());
                assert!(blocks.iter().all(|(id, data)| id.is_some() && data.is_empty()), "{}", told());
            }
            Verdict::Preflight => assert!(reply.status == 204 && reply.extra.preflight, "{}", told()),
            Verdict::Answered(answered) => {
                assert!(reply.status == 200 && !reply.close, "{}", told());
                let message = message(request, outcome, told);
                check_answered(&message, answered, told);
                if answered.opens.is_none() {
                    assert!(no_extra(&reply.extra), "{}", told());
                }
                self.note_opened(outcome, answered, request, told);
            }
            Verdict::Batch(elements) if elements.iter().all(Option::is_none) => empty(202),
            Verdict::Batch(elements) => {
                assert_eq!(reply.status, 200, "{}", told());
                let Json::Array(answers) = message(request, outcome, told) else { panic!("{}", told()) };
                check_elements(&answers, elements, told);
            }
        }
        let cors = match request.values("origin")[..] {
            [origin] if tables::verdict(&tables::ORIGINS, origin) => origin,
            _ => b"",
        };
        assert_eq!(outcome.cors, cors, "CORS headers are for allowed origins\n{}", told());
    }

    fn note_opened(
        &mut self,
        outcome: &Outcome,
        answered: &Answered,
        request: &Request,
        told: &dyn Fn() -> String,
    ) {
        assert_eq!(outcome.reply.extra.session.is_some(), answered.opens.is_some(), "{}", told());
        let (Some(id), Some(revision)) = (outcome.reply.extra.session, answered.opens) else { return };
        assert!(self.model.sessions.iter().all(|session| session.id != id));
        let bob = request.values("authorization").first() == Some(&&b"bearer bob"[..]);
        let owner = self.model.options.auth.then_some(if bob { "bob" } else { "alice" });
        self.model.sessions.push(Session {
            id,
            revision,
            ready: false,
            owner,
            seen_ms: self.model.now_ms,
            just_closed: false,
        });
    }
}

fn shown(request: &Request) -> String {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let fields: Vec<String> =
        request.fields.iter().map(|(name, value)| format!("{}: {}", text(name), text(value))).collect();
    let authority = request.authority.as_deref().map(text);
    format!("{} {} {authority:?}\n{}", text(&request.method), text(&request.target), fields.join("\n"))
}

fn refused_elements(elements: &[Option<Element>]) -> Vec<Rejection> {
    elements
        .iter()
        .flatten()
        .filter_map(|element| if let Element::Refused(row, _) = element { Some(*row) } else { None })
        .collect()
}

fn check_mark(outcome: &Outcome, verdict: &Verdict, told: &dyn Fn() -> String) {
    let expected = match verdict {
        Verdict::Refused(row, _) => Some(*row),
        Verdict::Batch(elements) => refused_elements(elements).last().copied(),
        Verdict::NotFound
        | Verdict::Accepted
        | Verdict::Answered(_)
        | Verdict::Ended
        | Verdict::Stream { .. }
        | Verdict::Preflight => None,
    };
    assert_eq!(outcome.mark, expected.map(Mark), "the mark\n{}", told());
}

/// One message, or one array of them: the body, or the data of its only event where the client takes nothing but a stream.
fn message(request: &Request, outcome: &Outcome, told: &dyn Fn() -> String) -> Json {
    let streams_only = model::accepts(request) == Some((false, true));
    for event in &outcome.events {
        let event = json::read(event).expect("an event is JSON");
        let params = event.get("params");
        assert_eq!(event.get("method").and_then(Json::as_str), Some("notifications/progress"), "{}", told());
        assert!(params.is_some_and(|params| params.get("progressToken").is_some()), "{}", told());
    }
    match outcome.reply.content {
        Content::Json if !streams_only && outcome.events.is_empty() => {
            json::read(&outcome.body).unwrap_or_else(|error| panic!("{error}\n{}", told()))
        }
        Content::EventStream if streams_only || !outcome.events.is_empty() => {
            let blocks = response::blocks(&outcome.body);
            let [(_, data)] = &blocks[..] else { panic!("one event\n{}", told()) };
            json::read(data.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{}", told()))
        }
        Content::Empty | Content::Json | Content::EventStream => panic!("content\n{}", told()),
    }
}

fn check_answered(message: &Json, answered: &Answered, told: &dyn Fn() -> String) {
    assert_eq!(message.get("jsonrpc").and_then(Json::as_str), Some("2.0"), "{}", told());
    assert_eq!(message.get("id"), Some(&answered.id), "the id comes back as it was sent\n{}", told());
    assert_eq!(message.members().len(), 3, "{}", told());
    match (message.get("result"), message.get("error")) {
        (Some(result), None) => {
            assert!(answered.modern || model::is_legacy_method(&answered.method), "{}", told());
            let complete = result.get("resultType").and_then(Json::as_str) == Some("complete");
            let identified = result
                .get("_meta")
                .is_some_and(|meta| meta.get("io.modelcontextprotocol/serverInfo").is_some());
            assert_eq!((complete, identified), (answered.modern, answered.modern), "{}", told());
            assert!(answered.method != "ping" || result.members().is_empty(), "{}", told());
            assert_eq!(
                answered.method == "initialize",
                result.get("protocolVersion").is_some(),
                "{}",
                told()
            );
            let opened = result.get("protocolVersion").and_then(Json::as_str);
            assert_eq!(answered.opens, opened, "{}", told());
        }
        (None, Some(error)) => {
            let unknown = !answered.modern && !model::is_legacy_method(&answered.method);
            let codes: &[&str] = match (unknown, &answered.method[..], answered.modern) {
                (true, ..) => &["-32601"],
                // Not found, in the revisions with a handshake.
                (false, "resources/read" | "resources/subscribe", false) => &["-32602", "-32002"],
                (false, ..) => &["-32602"],
            };
            let Some(Json::Number(code)) = error.get("code") else { panic!("no code\n{}", told()) };
            assert!(codes.contains(&&code[..]), "{code}\n{}", told());
            assert!(answered.opens.is_none(), "{}", told());
        }
        _ => panic!("a result or an error\n{}", told()),
    }
}

fn check_elements(answers: &[Json], elements: &[Option<Element>], told: &dyn Fn() -> String) {
    let expected: Vec<&Element> = elements.iter().flatten().collect();
    assert_eq!(answers.len(), expected.len(), "{}", told());
    for (answer, element) in answers.iter().zip(expected) {
        match element {
            Element::Answered(answered) => check_answered(answer, answered, told),
            Element::Refused(row, id) => check_envelope(answer, *row, id.as_ref(), told),
        }
    }
}

fn check_refusal(
    request: &Request,
    outcome: &Outcome,
    rejection: Rejection,
    id: Option<&Json>,
    told: &dyn Fn() -> String,
) {
    let (row, reply) = (rejection.row(), &outcome.reply);
    assert_eq!((reply.status, reply.close), (row.status, row.closes), "{}", told());
    let Extra { allow, challenge, retry_after, session, preflight } = &reply.extra;
    let headers =
        (allow.is_some(), challenge.is_some(), retry_after.is_some(), session.is_some(), *preflight);
    let wanted = match row.header {
        RowHeader::None => (false, false, false, false, false),
        RowHeader::Allow => (true, false, false, false, false),
        RowHeader::WwwAuthenticate => (false, true, false, false, false),
        RowHeader::RetryAfter => (false, false, true, false, false),
    };
    assert_eq!(headers, wanted, "{}", told());
    assert!(outcome.events.is_empty(), "{}", told());
    if request.method != b"POST" {
        assert_eq!(reply.content, Content::Json, "{}", told());
        plain_error(&outcome.body, told);
    } else if matches!(row.id, IdRule::RuleOrEmpty) && id.is_none() {
        assert_eq!((reply.content, &outcome.body[..]), (Content::Empty, &b""[..]), "{}", told());
    } else {
        assert_eq!(reply.content, Content::Json, "{}", told());
        let envelope = json::read(&outcome.body).unwrap_or_else(|error| panic!("{error}\n{}", told()));
        check_envelope(&envelope, rejection, id, told);
    }
}

fn check_envelope(envelope: &Json, rejection: Rejection, id: Option<&Json>, told: &dyn Fn() -> String) {
    let row = rejection.row();
    let keys = |object: &Json| object.members().iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(envelope), ["jsonrpc", "id", "error"], "{}", told());
    assert_eq!(envelope.get("jsonrpc").and_then(Json::as_str), Some("2.0"), "{}", told());
    let null = matches!(row.id, IdRule::Null) || id.is_none();
    assert_eq!(
        envelope.get("id"),
        Some(if null { &Json::Null } else { id.unwrap_or(&Json::Null) }),
        "{}",
        told()
    );
    let error = envelope.get("error").expect("an error");
    let mut members = vec!["code", "message"];
    let has_data = matches!(
        rejection,
        Rejection::RateLimited
            | Rejection::UnsupportedProtocolVersion
            | Rejection::HeaderMissing
            | Rejection::HeaderDuplicated
            | Rejection::HeaderMalformed
            | Rejection::HeaderMismatch
            | Rejection::MissingClientCapability
    );
    let may_have_data = has_data || rejection == Rejection::InvalidMessage;
    if has_data || (may_have_data && error.get("data").is_some()) {
        members.push("data");
    }
    assert_eq!(keys(error), members, "{}", told());
    assert_eq!(error.get("code"), Some(&Json::Number(row.code.to_string())), "{}", told());
    one_line(error.get("message"), told);
}

fn plain_error(body: &[u8], told: &dyn Fn() -> String) {
    let error = json::read(body).unwrap_or_else(|error| panic!("{error}\n{}", told()));
    assert_eq!(error.members().len(), 1, "{}", told());
    one_line(error.get("error"), told);
}

fn one_line(message: Option<&Json>, told: &dyn Fn() -> String) {
    let text = message.and_then(Json::as_str).unwrap_or_default();
    assert!(!text.is_empty() && !text.contains(['\n', '\r']), "{}", told());
}
