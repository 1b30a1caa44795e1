//! Streams, whatever order things happen in.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;

use super::commons::Commons;
use super::flight::Flight;
use super::id::SessionId;
use super::open::Resumed;
use super::reader::{Next, Reader};
use super::state::{ClientInfo, Session};
use crate::base::limits::Limits;
use crate::tables::versions::Revision;

/// What happens to a stream.
#[derive(Debug, Clone, Copy)]
enum Move {
    /// Its call sends something.
    Append,
    /// Its reader takes something.
    Read,
    /// Its reader's connection is gone.
    Leave,
    /// The client comes back, whether its last connection is gone or not.
    Back,
    /// The call ends the connection.
    Cut,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        4 => Just(Move::Append),
        6 => Just(Move::Read),
        1 => Just(Move::Leave),
        2 => Just(Move::Back),
        1 => Just(Move::Cut),
    ];
    proptest::collection::vec(one, 0..200)
}

fn session(limits: &Limits) -> (Arc<Session>, Arc<Commons>) {
    let commons = Arc::new(Commons::new(limits));
    let id = SessionId::random().unwrap();
    let session = Session::new(&commons, id, Revision::V2025_11_25, None, ClientInfo::default(), 0);
    (Arc::new(session), commons)
}

fn next(reader: &Reader) -> Poll<Next> {
    reader.poll(&Context::from_waker(Waker::noop()))
}

/// The id and the data of one framed event.
fn parts(event: &[u8]) -> (String, String) {
    let text = std::str::from_utf8(event).unwrap().strip_suffix("\n\n").unwrap();
    let (id, data) = text.split_once('\n').unwrap();
    (id.strip_prefix("id: ").unwrap().to_owned(), data.strip_prefix("data:").unwrap().trim_start().to_owned())
}

proptest! {
    /// A client that comes back with the id it has seen last gets every message once, in order, however its connections come and go.
    #[test]
    fn everything_is_handed_over_once(moves in moves()) {
        let limits = Limits { replay_events: 1_000, session_detached: 1, ..Limits::default() };
        let (session, commons) = session(&limits);
        let (writer, reader) = session.begin_stream(Vec::new()).unwrap();
        let mut readers = vec![reader];
        let (mut sent, mut seen, mut last) = (0, Vec::new(), None);
        let mut take = |reader: &Reader, last: &mut Option<String>| match next(reader) {
            Poll::Ready(Next::Event(event) | Next::Answer(event)) => {
                let (id, data) = parts(&event);
                *last = Some(id);
                seen.extend(Some(data).filter(|data| !data.is_empty()));
                true
            }
            Poll::Ready(Next::Cut(_) | Next::End) | Poll::Pending => false,
        };
        for step in moves {
            match step {
                Move::Append => {
                    writer.append(sent.to_string().as_bytes());
                    sent += 1;
                }
                // All of them: only the last may get anything.
                Move::Read => {
                    for reader in &readers {
                        take(reader, &mut last);
                    }
                }
                Move::Leave => readers.clear(),
                Move::Back => {
                    let Some(last) = &last else { continue };
                    match session.resume(last.as_bytes()) {
                        Resumed::Reader(reader) => readers.push(reader),
                        Resumed::Over | Resumed::Lost => prop_assert!(false, "it is all there"),
                    }
                }
                Move::Cut => writer.cut(5, None),
            }
            prop_assert!(commons.detached() <= 1);
        }
        writer.answer(b"\"answer\"", |_| unreachable!("it is short"));
        if let Some(reader) = readers.last() {
            while take(reader, &mut last) {}
        }
        // A connection that was cut or left before anything was read cannot be come back to.
        if let Some(id) = last.clone() {
            match session.resume(id.as_bytes()) {
                Resumed::Reader(reader) => while take(&reader, &mut last) {},
                Resumed::Over => {}
                Resumed::Lost => prop_assert!(false, "it is all there"),
            }
            let expected: Vec<String> = (0..sent).map(|sent| sent.to_string()).chain(["\"answer\"".to_owned()]).collect();
            prop_assert_eq!(seen, expected);
        }
        drop(readers);
        session.end();
        prop_assert_eq!((commons.streams(), commons.detached(), commons.replay_bytes()), (0, 0, 0));
    }

    /// Whatever is kept stays within its bounds, but for what a reader has not taken yet.
    #[test]
    fn what_is_kept_stays_within_bounds(lens in proptest::collection::vec((0_usize..4, 0_usize..400), 0..200)) {
        let limits = Limits {
            replay_events: 5,
            replay_bytes: 1_024,
            session_replay: 2_048,
            replay_streams: 2,
            ..Limits::default()
        };
        let (session, commons) = session(&limits);
        let mut writers = Vec::new();
        for (stream, len) in lens {
            while writers.len() <= stream {
                let (writer, reader) = session.begin_stream(Vec::new()).unwrap();
                drop(reader);
                writers.push(writer);
            }
            writers[stream].append(&vec![b'1'; len]);
            prop_assert!(commons.replay_bytes() <= 2_048);
            if len == 0 {
                drop(writers.pop());
            }
            prop_assert!(commons.streams() <= writers.len() as u64 + 2);
        }
        drop(writers);
        prop_assert!(commons.streams() <= 2);
        session.sweep(0);
        session.sweep(limits.replay_time);
        prop_assert_eq!((commons.streams(), commons.detached(), commons.replay_bytes()), (0, 0, 0));
    }
}

/// The reader of a stream, behind its priming event, whose id comes with it.
fn primed(reader: &Reader) -> String {
    let Poll::Ready(Next::Event(event)) = next(reader) else { panic!("a priming event comes first") };
    parts(&event).0
}

/// Who is told to come back may run on until then, whoever leaves meanwhile.
#[test]
fn who_is_told_to_come_back_finds_its_call() {
    let (session, commons) = session(&Limits { session_detached: 1, ..Limits::default() });
    let begin = |id: &[u8]| {
        let call = session.register(id);
        let (writer, reader) = session.begin_stream(vec![Arc::clone(call.flight())]).unwrap();
        (call, writer, reader)
    };
    let is_cancelled =
        |flight: &Flight| flight.poll_cancelled(&mut Context::from_waker(Waker::noop())).is_ready();
    let ((one, writer, reader), (two, other, left)) = (begin(b"1"), begin(b"2"));
    writer.cut(5, None);
    other.cut(5, None);
    let last = primed(&reader);
    primed(&left);
    assert!(matches!(next(&reader), Poll::Ready(Next::Cut(5))));
    assert!(next(&left).is_pending(), "it may not run on, and so is not cut");
    drop(left);
    assert!(is_cancelled(two.flight()));
    drop(reader);
    assert!(!is_cancelled(one.flight()));
    assert_eq!(commons.detached(), 1);
    writer.append(b"1");
    let Resumed::Reader(reader) = session.resume(last.as_bytes()) else { panic!("it runs on") };
    assert_eq!(commons.detached(), 0);
    assert!(matches!(next(&reader), Poll::Ready(Next::Event(_))));
    // Leave that was taken before serves as well.
    writer.cut(5, session.permit());
    assert!(matches!(next(&reader), Poll::Ready(Next::Cut(5))));
    assert_eq!(commons.detached(), 1);
    writer.answer(b"1", |_| unreachable!("it is short"));
    assert_eq!(commons.detached(), 0);
}

/// Answers at, below and above what is kept, for clients that have left before, or between the answer and its being taken.
#[test]
fn long_answers_give_way_to_short_ones() {
    let framing = "id: 00000000-1-1\ndata: \n\n".len();
    for (bytes, kept) in [(1_023, true), (1_024, true), (1_025, false)] {
        for leaves_before in [true, false] {
            let (session, commons) = session(&Limits { replay_bytes: 1_024, ..Limits::default() });
            let (writer, reader) = session.begin_stream(Vec::new()).unwrap();
            let last = primed(&reader);
            let mut reader = Some(reader);
            if leaves_before {
                reader = None;
            }
            let long = "1".repeat(bytes - framing);
            writer.answer(long.as_bytes(), |most| vec![b'2'; most]);
            drop(reader);
            assert!(commons.replay_bytes() <= 1_024);
            let Resumed::Reader(reader) = session.resume(last.as_bytes()) else { panic!("it is there") };
            let Poll::Ready(Next::Answer(event)) = next(&reader) else { panic!("it is the last event") };
            assert_eq!(parts(&event).1 == long, kept, "{bytes} {leaves_before}");
        }
    }
}

/// What a session keeps, and each of its streams, beside their events. These are whole sizes of the allocator's, or less: a little more is a
/// quarter more.
#[test]
fn sessions_and_streams_at_rest_are_small() {
    assert!(size_of::<Session>() <= 224 - 2 * size_of::<usize>(), "{}", size_of::<Session>());
    assert!(size_of::<super::streams::Streams>() <= 256, "{}", size_of::<super::streams::Streams>());
    assert!(size_of::<super::log::Log>() <= 256, "{}", size_of::<super::log::Log>());
}

#[test]
fn calls_that_run_on_are_counted_over_a_sweep() {
    let (session, commons) = session(&Limits { session_detached: 1, ..Limits::default() });
    let running = session.permit().unwrap();
    session.sweep(0);
    assert!(session.permit().is_none() && commons.detached() == 1);
    drop(running);
    session.sweep(0);
    assert!(session.permit().is_some());
}
