//! The client: plays a script, and knows what it may expect of the server for it.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, DuplexStream, WriteHalf};
use tokio::time::{Instant, sleep, timeout};
use twolane::conn::Service;
use twolane::conn::stop::Phase;

use super::asked::{Asked, Sessions, asked};
use super::hpack::Encoder;
use super::script::{Act, Ask, Script, Spoil, Step};
use super::talk::{Expected, Mood, Shared, comparable};
use super::watch::{self, END_STREAM, GOAWAY, Heard, RST_STREAM, Watch, frame};
use super::write;
use crate::response::{self, Response};

mod act;

/// How long the client may take nothing before the server may give up on it, most of all before its settings have gone out, and how long a
/// body may take.
const LEAN: Duration = Duration::from_secs(9);
/// Most steps of a run.
const STEPS: usize = 120;

/// What the answer of a stream must be.
#[derive(Debug)]
enum Expect {
    Answer(Rc<Response>),
    /// An error, or a reset.
    Refusal,
    Anything,
}

/// A stream that has been opened.
#[derive(Debug)]
struct Call {
    expect: Expect,
    /// The server must answer it, as things stand.
    owed: bool,
    /// What is left of its body.
    body: Vec<u8>,
    /// It has been sent whole.
    sent: bool,
    /// That took long.
    late: bool,
    begun: Instant,
    /// What may be sent of its body.
    window: i64,
    ask: Ask,
    judged: bool,
}

#[derive(Debug)]
pub struct Client<'c> {
    shared: &'c Shared,
    pub writer: WriteHalf<DuplexStream>,
    service: &'c Arc<Service>,
    sessions: Sessions,
    expected: Expected<'c>,
    encoder: Encoder,
    next: u32,
    calls: BTreeMap<u32, Call>,
    /// What may be sent on all streams.
    window: i64,
    /// It has done something wrong, after which the server may end the connection.
    foul: bool,
    /// The server may answer what comes now, or not.
    late: bool,
    /// For how long it has taken nothing, or made no room.
    lean: Duration,
    resets: usize,
    /// The server takes nothing any more.
    closed: bool,
}

impl<'c> Client<'c> {
    pub fn new(
        shared: &'c Shared,
        writer: WriteHalf<DuplexStream>,
        service: &'c Arc<Service>,
        sessions: Sessions,
        expected: Expected<'c>,
    ) -> Self {
        Self {
            shared,
            writer,
            service,
            sessions,
            expected,
            encoder: Encoder::default(),
            next: 1,
            calls: BTreeMap::new(),
            window: watch::WINDOW,
            foul: false,
            late: false,
            lean: Duration::ZERO,
            resets: 0,
            closed: false,
        }
    }

    pub async fn play(&mut self, script: &Script) {
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0).await;
        self.settings(script.window.map(u32::from), script.table.map(u32::from), None, 0).await;
        for Step { act, cut } in script.steps.iter().take(STEPS) {
            if self.closed {
                break;
            }
            self.act(act, *cut).await;
        }
        self.settle().await;
    }

    /// Writes frames, behind what the server is owed.
    async fn send(&mut self, bytes: &[u8], cut: u8) {
        let mut all = std::mem::take(&mut self.shared.watch.borrow_mut().due);
        all.extend_from_slice(bytes);
        let at = if cut < 128 { all.len() } else { usize::from(cut - 128) * all.len() / 128 };
        let (first, second) = all.split_at(at);
        for piece in [first, second] {
            if self.closed || piece.is_empty() {
                continue;
            }
            let begun = Instant::now();
            let written = timeout(Duration::from_secs(40), self.writer.write_all(piece)).await;
            if self.mood() != Mood::Generous {
                self.lean += begun.elapsed();
            }
            match written {
                Ok(Ok(())) => {}
                Ok(Err(_)) => self.closed = true,
                Err(_) => {
                    assert!(self.foul || self.mood() == Mood::Deaf, "the server does not read");
                    (self.closed, self.foul) = (true, true);
                }
            }
            if cut >= 128 {
                // Returns when nothing else can go on: the server has seen this piece.
                sleep(Duration::from_millis(1)).await;
            }
        }
    }

    fn mood(&self) -> Mood {
        self.shared.mood.get()
    }

    fn set_mood(&self, mood: Mood) {
        self.shared.mood.set(mood);
        self.shared.changed.notify_one();
    }

    /// Notes that what comes now may cross something of the server's, or be too much for it.
    fn owes(&self) -> bool {
        let watch = self.shared.watch.borrow();
        let busy = |(stream, call): (&u32, &Call)| {
            let heard = &watch.streams[stream];
            !(heard.ended && call.sent || heard.reset.is_some() || heard.left)
        };
        let open = self.calls.iter().filter(|&(stream, call)| busy((stream, call))).count();
        !self.foul && !self.late && watch.parting.is_none() && open < watch.max_streams && self.lean < LEAN
    }

    /// Looks at what has come.
    async fn look(&mut self, generous: bool) {
        let mut out = Vec::new();
        {
            let mut watch = self.shared.watch.borrow_mut();
            for (stream, more) in std::mem::take(&mut watch.given) {
                match self.calls.get_mut(&stream) {
                    Some(call) => call.window += more,
                    None if stream == 0 => self.window += more,
                    None => {}
                }
            }
            let mut thirsty: Vec<u32> =
                std::mem::take(&mut watch.taken).iter().map(|taken| taken.0).collect();
            thirsty.push(0);
            thirsty.sort_unstable();
            thirsty.dedup();
            for stream in thirsty.into_iter().filter(|_| generous) {
                let over =
                    watch.streams.get(&stream).is_some_and(|heard| heard.ended || heard.reset.is_some());
                if !over && watch.room(stream) < 30_000 {
                    out.extend(make_room(&mut watch, stream, 60_000));
                }
            }
        }
        self.send(&out, 0).await;
    }

    /// Time passes, and what comes is taken or not.
    async fn wait(&mut self, time: Duration) {
        let generous = self.mood() == Mood::Generous;
        if !generous {
            self.lean += time;
        }
        sleep(time).await;
        self.look(generous).await;
    }

    /// All that is owed comes.
    async fn settle(&mut self) {
        let fair = self.lean < LEAN;
        self.set_mood(Mood::Generous);
        for turn in 0..60 {
            let mut out = Vec::new();
            if turn == 0 {
                let mut watch = self.shared.watch.borrow_mut();
                let open = watch.streams.iter().filter(|(_, heard)| !heard.ended && !heard.left);
                let open: Vec<u32> = open.map(|(&stream, _)| stream).chain([0]).collect();
                for stream in open {
                    out.extend(make_room(&mut watch, stream, 1 << 20));
                }
            }
            self.send(&out, 0).await;
            sleep(Duration::from_millis(if turn < 4 { 1 } else { 400 })).await;
            self.look(true).await;
            let watch = self.shared.watch.borrow();
            let waiting = |(stream, call): (&u32, &Call)| call.owed && !watch.streams[stream].over();
            if watch.due.is_empty() && !self.calls.iter().any(waiting) && turn > 3 {
                break;
            }
        }
        self.judge(fair);
        self.lean = Duration::ZERO;
    }

    /// Judges whatever has been answered, and what should have been.
    fn judge(&mut self, fair: bool) {
        let watch = self.shared.watch.borrow();
        let ending = watch.parting.is_some() || self.late || self.closed;
        for (stream, call) in &mut self.calls {
            let heard = &watch.streams[stream];
            if call.judged || heard.left {
                continue;
            }
            let owed = std::mem::take(&mut call.owed) && fair && !self.foul;
            if !heard.over() {
                assert!(!owed, "stream {stream} is not answered: {call:?} {heard:?} {:?}", watch.parting);
                call.owed = owed;
                continue;
            }
            call.judged = true;
            // What came late or not whole may have been answered without it.
            if !watch.wild && call.sent && !call.late {
                compare(*stream, call, heard, owed);
            }
        }
        if fair && !self.foul && !ending {
            watch.settled();
            assert!(watch.parting.is_none());
        }
    }

    /// The connection has ended.
    pub fn end(&mut self) {
        let watch = self.shared.watch.borrow();
        assert!(self.foul || watch.parting.is_none_or(|(_, error)| error == 0), "{:?}", watch.parting);
        if !self.foul {
            assert_eq!(self.service.http2_faults(), 0, "nothing was wrong");
        }
        drop(watch);
        self.judge(false);
    }
}

fn compare(stream: u32, call: &Call, heard: &Heard, owed: bool) {
    if !heard.ended {
        let reset = heard.reset.expect("it is over");
        assert!(!owed || matches!(call.expect, Expect::Refusal), "{stream} is reset with {reset}: {call:?}");
        return;
    }
    let response = heard.response.clone().expect("it has ended");
    let response = comparable(response::settled(response));
    match &call.expect {
        Expect::Answer(expected) => assert_eq!(response, **expected, "stream {stream}"),
        Expect::Refusal => assert!(response.status >= 400, "{stream}: {call:?}\n{response:?}"),
        Expect::Anything => {}
    }
}

/// A frame that makes room, if there is as much to make.
fn make_room(watch: &mut Watch, stream: u32, bytes: u32) -> Vec<u8> {
    if watch.overflows(stream, bytes.into()) {
        return Vec::new();
    }
    watch.gives(stream, bytes.into());
    frame(watch::WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())
}
