//! Streams, whatever order things happen in.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;

use super::commons::Commons;
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
                Move::Cut => writer.cut(5),
            }
            prop_assert!(commons.detached() <= 1);
        }
        writer.answer(b"\"answer\"", || None);
        if let Some(last) = &last {
            readers = match session.resume(last.as_bytes()) {
                Resumed::Reader(reader) => vec![reader],
                Resumed::Over | Resumed::Lost => panic!("the answer is still to come"),
            };
        }
        if let Some(reader) = readers.last() {
            while take(reader, &mut last) {}
            let expected: Vec<String> = (0..sent).map(|sent| sent.to_string()).chain(["\"answer\"".to_owned()]).collect();
            // A connection that was cut or left before anything was read cannot be come back to.
            if last.is_some() {
                prop_assert_eq!(seen, expected);
            }
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
