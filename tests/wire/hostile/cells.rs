//! Sends rows in every way and judges what comes back.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::limits;
use crate::support::pieces::{Delivery, Wireless};
use crate::support::{Response, Server, read};

use super::row::{Row, Then, World, good};

/// So many bytes are sent one by one.
const SINGLE: usize = 4096;
/// Longer rows are cut at so many offsets only.
const CUTS: usize = 1_000;

/// The least that there can be, nearly.
pub const NARROW: &[(&str, u64)] = &[
    ("request_line", 64),
    ("header_line", 64),
    ("headers", 12),
    ("head", 512),
    ("body", 64),
    ("chunk_line", 16),
    ("chunk_extensions", 40),
    ("trailers", 64),
    ("drain", 100),
    ("pipeline", 2),
    ("batch_bytes", 1_024),
];

/// A server, over sockets and in memory.
struct Stage {
    server: Server,
    wireless: Wireless,
    before: Row,
    after: Row,
}

impl Stage {
    fn new(server: Server) -> Self {
        let wireless = Wireless::to(&server.road);
        Self { server, wireless, before: good("before"), after: good("after") }
    }
}

/// Tells which cell it was, where one fails.
struct Telling<'r>(&'r Row, &'r dyn Debug);

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("row {:?} ({}), {:?}", self.0.name, self.0.rule, self.1);
        }
    }
}

/// Sends every row in every way.
pub fn check(rows: &[Row]) {
    for world in [World::Usual, World::Narrow] {
        let mut rows = rows.iter().filter(|row| row.world == world).peekable();
        if rows.peek().is_none() {
            continue;
        }
        let stage = Stage::new(match world {
            World::Usual => Server::start(),
            World::Narrow => limits::server(NARROW),
        });
        let failed: Vec<&str> = rows.filter(|row| !passes(&stage, row)).map(|row| row.name).collect();
        assert!(failed.is_empty(), "{} rows, as told above: {failed:#?}", failed.len());
    }
}

/// Every row is sent, also behind one that fails: one fault often shows in several rows.
fn passes(stage: &Stage, row: &Row) -> bool {
    let send = || {
        over_sockets(stage, row);
        in_memory(stage, row);
    };
    catch_unwind(AssertUnwindSafe(send)).is_ok()
}

/// How many exchanges a row takes.
pub fn count(row: &Row) -> usize {
    3 + 2 * 3 + offsets(row).count()
}

fn offsets(row: &Row) -> impl Iterator<Item = usize> + use<> {
    let len = row.bytes.len();
    (1..=len).step_by(len / CUTS + 1)
}

/// The row, twice the row, and the row behind another request; a good request behind each.
fn lines_of<'r>(stage: &'r Stage, row: &'r Row) -> [Vec<&'r Row>; 3] {
    [vec![row, &stage.after], vec![row, row, &stage.after], vec![&stage.before, row, &stage.after]]
}

fn bytes_of(line: &[&Row]) -> Vec<u8> {
    line.iter().flat_map(|row| row.bytes.iter().copied()).collect()
}

fn over_sockets(stage: &Stage, row: &Row) {
    for line in lines_of(stage, row) {
        let way = ("over a socket, requests", line.len());
        let _telling = Telling(row, &way);
        let mut client = stage.server.http1();
        client.write_until_refused(&bytes_of(&line));
        // Where the connection has to end, the server ends it.
        if row.then == Then::Open {
            client.finish();
        }
        judge(&line, &client.read_to_end());
    }
}

fn in_memory(stage: &Stage, row: &Row) {
    for line in lines_of(stage, row) {
        let bytes = bytes_of(&line);
        let whole = {
            let way = (Delivery::Whole, line.len());
            let _telling = Telling(row, &way);
            let wire = stage.wireless.http1(&bytes, Delivery::Whole);
            (judge(&line, &wire), wire)
        };
        let cuts = offsets(row).map(Delivery::Cut).filter(|_| line.len() == 2);
        for delivery in cuts.chain([Delivery::Single(SINGLE)]) {
            let way = (delivery, line.len());
            let _telling = Telling(row, &way);
            let wire = stage.wireless.http1(&bytes, delivery);
            // Parsed only where the bytes differ: a date, an interim answer.
            if wire != whole.1 {
                assert_eq!(judge(&line, &wire), whole.0);
            }
        }
    }
}

/// The answers, without what may differ, after all that can be said of each of them.
fn judge(line: &[&Row], wire: &[u8]) -> Vec<Response> {
    let text = wire.escape_ascii().to_string();
    assert!(!text.contains("smuggled"), "the smuggled request was answered: {text}");
    let (mut rest, mut answers) = (wire, Vec::new());
    for row in line {
        for (at, &status) in row.answers.iter().enumerate() {
            assert!(!rest.is_empty(), "an answer with {status} is missing: {text}");
            let mut answer = read::response(&mut rest, row.verb);
            assert_eq!(answer.status, status, "{text}");
            let last = at + 1 == row.answers.len();
            let closes = answer.header("connection") == Some("close");
            assert_eq!(closes, last && row.then == Then::Closed, "{text}");
            if let Some(id) = row.id {
                let expected = format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#);
                assert_eq!(answer.text(), expected, "{text}");
            }
            answer.headers.retain(|(name, _)| name != "date");
            answer.interim.clear();
            answers.push(answer);
        }
        if row.then != Then::Open {
            break;
        }
    }
    assert!(rest.is_empty(), "more answers than requests: {text}");
    answers
}
