//! Bytes through the real HTTP/1 loop, over a pipe in memory. Oracles:
//! - whole and in pieces, through wide pipes and narrow ones, the same answers come; only dates and session ids differ;
//! - every answer is a valid one, and nothing follows the one that says it is the last;
//! - the loop ends soon after the input does: time jumps whenever everything waits, so a wait for nothing shows as time spent.
#![no_main]

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;
use tokio::time::Instant;
use twolane::base::limits::Limits;
use twolane::conn::stop::Stop;
use twolane::conn::{Service, serve};
use twolane::reply::SessionText;
use twolane::road::Peer;
use twolane_fuzz::control::Control;
use twolane_fuzz::response::{self, Response};
use twolane_fuzz::rig::Rig;
use twolane_fuzz::world::{self, Options, Tools, World};

/// Stand for the ids of sessions that are open: of 2025-03-26 and ready, of 2025-11-25 and ready, of 2025-06-18 and not ready; and what
/// their clients declare.
const SESSIONS: [(&str, &str, bool, &str); 3] = [
    ("SESSION-A----------------------------------", "2025-03-26", true, r#"{"roots":{}}"#),
    (
        "SESSION-B----------------------------------",
        "2025-11-25",
        true,
        r#"{"elicitation":{},"sampling":{}}"#,
    ),
    ("SESSION-C----------------------------------", "2025-06-18", false, "{}"),
];

/// Longer than every timeout on the way of a request, shorter than that of an idle connection.
const PATIENCE: Duration = Duration::from_secs(60);

thread_local! {
    static TOOLS: Tools = Tools::default();
    static RUNTIME: RefCell<Runtime> = RefCell::new(
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime"),
    );
}

/// How the bytes get there.
#[derive(Debug, Clone)]
struct Way {
    cuts: Vec<usize>,
    /// What the pipe holds in either direction.
    width: usize,
    /// Whether the client ends its side only when nothing more can come. Else it ends it with the last byte.
    patient: bool,
}

fuzz_target!(|input: &[u8]| {
    let Some((bytes, mut control)) = Control::split(input) else { return };
    // HTTP/2 is h2's, and its frames say nothing here.
    if bytes.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") {
        return;
    }
    let options = Options { legacy: control.below(8) > 0, auth: control.below(4) == 0 };
    let limits = limits(&mut control);
    let patient = control.below(2) == 0;
    let whole = answers(bytes, options, &limits, &Way { cuts: Vec::new(), width: 1 << 20, patient });
    let way =
        Way { cuts: control.cuts(bytes.len()), width: [7, 64, 1000, 1 << 20][control.below(4)], patient };
    let pieces = answers(bytes, options, &limits, &way);
    if patient || !bytes.windows(4).any(|four| four == b"wait") {
        assert_eq!(pieces, whole, "{way:?}");
    } else {
        // A client that ends its side gives up on calls that take long, and how long they took by then depends on the way.
        let common = whole.len().min(pieces.len());
        assert_eq!(pieces[..common], whole[..common], "{way:?}");
    }
});

fn limits(control: &mut Control) -> Limits {
    let mut limits = world::limits();
    if control.below(2) == 0 {
        (limits.drain, limits.pipeline, limits.batch_bytes) = (100, 2, 1_024);
        (limits.request_line, limits.header_line, limits.headers, limits.head) = (100, 200, 12, 600);
    }
    // A call either ends in this time, or its client gives up on it first.
    (limits.tool_timeout, limits.half_close_grace) = (5_000, 1_000);
    limits
}

fn answers(bytes: &[u8], options: Options, limits: &Limits, way: &Way) -> Vec<Response> {
    let world = TOOLS.with(|tools| World::new(options, tools, limits.clone()));
    let bytes = with_sessions(bytes, &world);
    let answered = RUNTIME.with_borrow(|runtime| runtime.block_on(exchange(world, bytes.clone(), way)));
    response::read_all(&answered, bytes.windows(5).any(|five| five == b"HEAD "))
}

fn with_sessions(bytes: &[u8], world: &World) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (stand_in, revision, ready, declared) in SESSIONS {
        if let Some(session) = Rig::new(world).open_session(revision, declared, ready) {
            replace(&mut bytes, stand_in.as_bytes(), &session);
        }
    }
    bytes
}

/// Puts an id where a header line names its stand-in. Not elsewhere: what is repeated in a diagnosis must not differ from run to run.
fn replace(bytes: &mut [u8], stand_in: &[u8], session: &SessionText) {
    const LINE: &[u8] = b"\r\nMcp-Session-Id: ";
    for at in LINE.len()..bytes.len() {
        if bytes[at] == stand_in[0]
            && bytes[at..].starts_with(stand_in)
            && bytes[at - LINE.len()..at].eq_ignore_ascii_case(LINE)
        {
            bytes[at..at + stand_in.len()].copy_from_slice(session);
        }
    }
}

async fn exchange(world: World, bytes: Vec<u8>, way: &Way) -> Vec<u8> {
    let service = Arc::new(Service::new(world.road.clone(), None, Stop::new()));
    let (ours, theirs) = tokio::io::duplex(way.width);
    let (mut reader, mut writer) = tokio::io::split(ours);
    let started = Instant::now();
    let serving = tokio::spawn(serve(service, theirs, Peer::default(), ()));
    let mut answered = Vec::new();
    let write = async {
        let mut from = 0;
        for &cut in way.cuts.iter().chain([&bytes.len()]) {
            // The server may be done already: then the pipe is closed.
            if writer.write_all(&bytes[from..cut]).await.is_err() {
                return;
            }
            from = cut;
            if !way.cuts.is_empty() {
                // Returns when nothing else can go on: the server has seen this piece.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        if way.patient {
            tokio::time::sleep(PATIENCE).await;
        }
        let _ = writer.shutdown().await;
    };
    let (_, read) = tokio::join!(write, reader.read_to_end(&mut answered));
    read.expect("a pipe does not fail");
    serving.await.expect("the loop does not panic");
    let took = started.elapsed();
    // Calls get the grace, pieces a millisecond each.
    let patience = if way.patient { PATIENCE } else { Duration::ZERO };
    let most = patience + Duration::from_millis(1_500 + way.cuts.len() as u64);
    assert!(took <= most, "{took:?}");
    // Calls that run on without their client end before the next run begins.
    tokio::time::sleep(Duration::from_secs(60)).await;
    answered
}
