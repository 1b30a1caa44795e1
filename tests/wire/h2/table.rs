//! The table: what a peer sends, and what must come of it. Its rows have the numbers of the cases of h2spec, which tests a server for the
//! same things; where that tool asks for what RFC 7540 said, the rows ask for what RFC 9113 says.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::frames::{Frames, Outcome};
use crate::support::Server;

use super::{DATA, PINGS, get};

/// What must come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// This stream is answered.
    Answer(u32),
    /// A ping is answered.
    Pong,
    /// The first frame of this kind on this stream has a payload of this length.
    First(u8, u32, usize),
    /// The stream is reset with this code, and the connection goes on.
    Reset(u32, u32),
    /// The connection ends with GOAWAY and this code.
    Goaway(u32),
    /// The connection ends.
    Closed,
}

/// What is sent.
#[derive(Clone, Copy)]
pub enum Act {
    /// By a client that has said hello.
    Greeted(fn(&mut Frames)),
    /// By one that has sent nothing.
    Silent(fn(&mut Frames)),
}

/// One case.
#[derive(Clone, Copy)]
pub struct Row {
    pub id: &'static str,
    /// The section that asks for it: of RFC 7541 where the id says `hpack`, else of RFC 9113.
    pub section: &'static str,
    act: Act,
    want: Want,
    /// What comes instead, and why that is harmless.
    instead: Option<(Want, &'static str)>,
}

pub const fn row(id: &'static str, section: &'static str, want: Want, act: fn(&mut Frames)) -> Row {
    Row { id, section, act: Act::Greeted(act), want, instead: None }
}

impl Row {
    pub const fn silent(self, act: fn(&mut Frames)) -> Self {
        Self { act: Act::Silent(act), ..self }
    }

    pub const fn instead(self, comes: Want, why: &'static str) -> Self {
        Self { instead: Some((comes, why)), ..self }
    }
}

/// What came, as far as it can be told from what was asked for.
#[track_caller]
fn seen(client: &mut Frames, want: Want) -> Want {
    let of = |outcome: Outcome, stream: u32| match outcome {
        Outcome::Answered(_) => Want::Answer(stream),
        Outcome::Reset(code) => Want::Reset(stream, code),
        Outcome::Gone(Some(code)) => Want::Goaway(code),
        Outcome::Gone(None) => Want::Closed,
    };
    match want {
        Want::Answer(stream) | Want::Reset(stream, _) => of(client.outcome(stream), stream),
        Want::Goaway(_) => of(client.outcome(u32::MAX >> 1), u32::MAX >> 1),
        // Whether there was a reason does not matter.
        Want::Closed => match client.outcome(u32::MAX >> 1) {
            Outcome::Gone(_) => Want::Closed,
            other @ (Outcome::Answered(_) | Outcome::Reset(_)) => panic!("{other:?}"),
        },
        Want::Pong => {
            client.frame(PINGS, 0, 0, b"askpong!");
            match client.first(|frame| frame.kind == PINGS && frame.payload == b"askpong!") {
                Ok(frame) if frame.flags == 1 => Want::Pong,
                Ok(frame) => panic!("{frame:?}"),
                Err(code) => of(Outcome::Gone(code), 0),
            }
        }
        Want::First(kind, stream, _) => {
            match client.first(|frame| (frame.kind, frame.stream) == (kind, stream)) {
                Ok(frame) => Want::First(kind, stream, frame.payload.len()),
                Err(code) => of(Outcome::Gone(code), 0),
            }
        }
    }
}

/// What is wrong with a row, if anything.
fn run(server: &Server, row: &Row) -> Result<(), String> {
    let mut client = match row.act {
        Act::Greeted(act) => {
            let mut client = Frames::connect(server.address);
            act(&mut client);
            client
        }
        Act::Silent(act) => {
            let mut client = Frames::silent(server.address);
            act(&mut client);
            client
        }
    };
    let expected = match row.instead {
        Some((comes, why)) if comes != row.want && why.len() > 10 => comes,
        Some(_) => return Err("what comes instead is not told apart, or not why".to_owned()),
        None => row.want,
    };
    let came = seen(&mut client, expected);
    if came != expected {
        return Err(format!("{came:?} came, {expected:?} was expected, and {:?} is asked for", row.want));
    }
    match came {
        // With windows that let no answer pass, or before anything is said.
        Want::First(..) | Want::Goaway(_) | Want::Closed => Ok(()),
        Want::Answer(_) | Want::Pong | Want::Reset(..) => {
            client.headers(1_001, &get(), true);
            match client.outcome(1_001) {
                Outcome::Answered(_) => Ok(()),
                other => Err(format!("the next request: {other:?}")),
            }
        }
    }
}

/// Runs rows against one server, which is well at the end.
pub fn check(rows: &[Row]) {
    let server = Server::start();
    let faults: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let run = catch_unwind(AssertUnwindSafe(|| run(&server, row)));
            let fault = run.unwrap_or_else(|_| Err("it hangs".to_owned())).err()?;
            Some(format!("{} ({}): {fault}", row.id, row.section))
        })
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
    assert_eq!(server.send(&crate::support::Request::post(super::PING)).status, 200);
    assert_eq!(server.tools.gate.fates().ended, 0);
}

/// How many cases each section of h2spec has.
const CASES: [(&str, usize); 49] = [
    ("generic/1", 1),
    ("generic/2", 5),
    ("generic/3.1", 3),
    ("generic/3.2", 3),
    ("generic/3.3", 5),
    ("generic/3.4", 1),
    ("generic/3.5", 1),
    ("generic/3.7", 1),
    ("generic/3.8", 1),
    ("generic/3.9", 2),
    ("generic/3.10", 2),
    ("generic/4", 4),
    ("generic/5", 15),
    ("hpack/2.3.3", 2),
    ("hpack/4.2", 1),
    ("hpack/5.2", 3),
    ("hpack/6.1", 1),
    ("hpack/6.3", 1),
    ("http2/3.5", 2),
    ("http2/4.1", 3),
    ("http2/4.2", 3),
    ("http2/4.3", 3),
    ("http2/5.1", 13),
    ("http2/5.1.1", 2),
    ("http2/5.1.2", 1),
    ("http2/5.3.1", 2),
    ("http2/5.4.1", 2),
    ("http2/5.5", 2),
    ("http2/6.1", 3),
    ("http2/6.2", 4),
    ("http2/6.3", 2),
    ("http2/6.4", 3),
    ("http2/6.5", 3),
    ("http2/6.5.2", 5),
    ("http2/6.5.3", 2),
    ("http2/6.7", 4),
    ("http2/6.8", 1),
    ("http2/6.9", 3),
    ("http2/6.9.1", 3),
    ("http2/6.9.2", 3),
    ("http2/6.10", 6),
    ("http2/7", 2),
    ("http2/8.1", 1),
    ("http2/8.1.2", 1),
    ("http2/8.1.2.1", 4),
    ("http2/8.1.2.2", 2),
    ("http2/8.1.2.3", 7),
    ("http2/8.1.2.6", 2),
    ("http2/8.2", 1),
];

/// Every case has one row, and every row is run by the test beside it.
#[test]
fn the_table_is_complete() {
    let mut counted: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let tables = [
        super::starting::ROWS,
        super::streams::ROWS,
        super::framing::ROWS,
        super::messages::ROWS,
        super::coding::ROWS,
    ];
    for row in tables.into_iter().flatten() {
        let (section, number) = row.id.rsplit_once('/').unwrap();
        counted.entry(section).or_default().push(number.parse().unwrap());
        assert!(row.section.starts_with(|c: char| c.is_ascii_digit()), "{}", row.id);
    }
    for numbers in counted.values_mut() {
        numbers.sort_unstable();
    }
    let wanted: BTreeMap<&str, Vec<usize>> =
        CASES.iter().map(|(section, cases)| (*section, (1..=*cases).collect())).collect();
    assert_eq!(counted, wanted);
    assert_eq!(CASES.iter().map(|(_, cases)| cases).sum::<usize>(), 147);
}

/// The first piece of a body.
pub const fn piece(stream: u32, length: usize) -> Want {
    Want::First(DATA, stream, length)
}
