//! One connection in memory, for counting instructions: `instructions KIND REQUESTS` serves so many requests of one kind, from the bytes
//! that a socket would give to the bytes that it would take, and prints nothing. `instructions --list` prints the kinds.
//!
//! `benches/gate/run` runs it under callgrind. Answers are checked before counting begins, and their number at the end.

#![allow(unreachable_pub, reason = "nothing is exported from a bench")]

mod support;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::{env, io};

use support::requests::{self, Request};
use support::rig::Rig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use twolane::base::clock::Clock;
use twolane::conn::Service;
use twolane::conn::stop::Stop;
use twolane::road::{Peer, Road};
use twolane::tools::{Context as CallContext, Typed};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A peer that sends the same bytes over and over, each time once its last ones were answered, and then ends.
struct Repeated {
    bytes: Vec<u8>,
    /// How much of `bytes` has been sent this time.
    sent: usize,
    left: u64,
    taken: Arc<AtomicU64>,
}

impl AsyncRead for Repeated {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 {
            return Poll::Ready(Ok(()));
        }
        let rest = &self.bytes[self.sent..];
        let piece = &rest[..rest.len().min(buf.remaining())];
        buf.put_slice(piece);
        self.sent += piece.len();
        if self.sent == self.bytes.len() {
            self.sent = 0;
            self.left -= 1;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Repeated {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.taken.fetch_add(buf.len() as u64, Ordering::Relaxed);
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let len = bufs.iter().map(|buf| buf.len()).sum::<usize>();
        self.taken.fetch_add(len as u64, Ordering::Relaxed);
        Poll::Ready(Ok(len))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Requests in one pipelined write: as many as one batch answers.
const PIPELINED: usize = 16;

fn kinds(rig: &mut Rig) -> Vec<(String, Vec<u8>, Request)> {
    let [_, _, legacy_echo] = requests::on_session(rig);
    let single = requests::stateless().into_iter().chain([legacy_echo]);
    let mut kinds: Vec<_> =
        single.map(|request| (request.name.to_owned(), request.bytes(), request)).collect();
    let echo = requests::echo("echo_16", 16);
    // None of them is among the heads that are remembered when it comes again.
    let strangers: Vec<_> = (0..PIPELINED).flat_map(|number| stranger(&echo, number)).collect();
    kinds.push(("echo_16_pipelined".to_owned(), echo.bytes().repeat(PIPELINED), echo.clone()));
    kinds.push(("echo_16_new_heads".to_owned(), strangers, echo));
    let checked = requests::checked();
    kinds.push((checked.name.to_owned(), checked.bytes(), checked));
    kinds
}

/// The request as another client would send it.
fn stranger(request: &Request, number: usize) -> Vec<u8> {
    let head = String::from_utf8_lossy(&request.head).replace("client/1.0", &format!("client/{number}.0"));
    [head.as_bytes(), &request.body].concat()
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Checked {
    /// What to say.
    message: String,
    /// How often: more than the type itself says.
    #[schemars(range(min = 1, max = 10))]
    times: u8,
}

/// The road of the benches, with a tool whose schema has keywords that the type of its arguments does not express.
fn road() -> Road {
    let (settings, behind) = support::parts();
    let checked =
        Typed::new("checked", "Repeats the message.", |checked: Checked, _: CallContext| async move {
            checked.message.repeat(usize::from(checked.times))
        });
    behind.registry().add(checked).expect("a tool");
    Road::new(settings, Clock::system(), behind)
}

fn main() {
    let mut arguments = env::args().skip(1).filter(|argument| argument != "--bench");
    let kind = arguments.next().unwrap_or_else(|| "--list".to_owned());
    let mut rig = Rig::new(road());
    let kinds = kinds(&mut rig);
    if kind == "--list" {
        kinds.iter().for_each(|(name, _, _)| println!("{name}"));
        return;
    }
    let (_, bytes, request) =
        kinds.into_iter().find(|(name, _, _)| *name == kind).expect("a kind from --list");
    let times: u64 = arguments.next().and_then(|times| times.parse().ok()).expect("a number of requests");
    rig.check(&request);
    let service = Arc::new(Service::new(rig.road, None, Stop::new()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let serve = |times: u64| {
        let taken = Arc::new(AtomicU64::new(0));
        let peer = Repeated { bytes: bytes.clone(), sent: 0, left: times, taken: Arc::clone(&taken) };
        runtime.block_on(twolane::conn::serve(Arc::clone(&service), peer, Peer::default(), ()));
        taken.load(Ordering::Relaxed)
    };
    let one = serve(1);
    assert_ne!(one, 0, "every request is answered");
    assert_eq!(serve(times), times * one, "all answers are as long as the first");
}
