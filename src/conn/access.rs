//! The access log: one JSON line for each answer, written by a thread of its own. Nothing is computed where no log is kept.

use std::cell::RefCell;
use std::fmt;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::lines::Lines;
use crate::base::clock::{TimestampCache, wall_ms};
use crate::reply::json::{write_int, write_lossy, write_str};
use crate::reply::{Exchange, Mark};
use crate::tables::routes::Verb;
use crate::tables::versions::Era;
use crate::view::head::{HttpVersion, RequestHead};

/// A path is cut here: what is longer is no path of ours.
const MOST_PATH: usize = 256;

/// Sees every answer, on the connection's own task: it must be quick and never block.
pub trait Observer: Send + Sync + 'static {
    /// A request was answered. For an event stream this is when the stream ends.
    fn answered(&self, answered: &Answered<'_>);
}

impl<F: Fn(&Answered<'_>) + Send + Sync + 'static> Observer for F {
    fn answered(&self, answered: &Answered<'_>) {
        self(answered);
    }
}

/// What is known of a request once it is answered.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Answered<'a> {
    /// The peer's address, where the transport has one.
    pub peer: Option<SocketAddr>,
    /// The verb; `None` where the head could not be read.
    pub verb: Option<Verb>,
    /// The path, without its query: tokens may stand there. Cut at 256 bytes.
    pub path: &'a [u8],
    /// `1.0`, `1.1` or `2`.
    pub http: &'static str,
    /// The protocol revision, as sent; empty where none was.
    pub protocol: &'a str,
    /// The lane, where one was chosen.
    pub era: Option<Era>,
    /// The JSON-RPC method, as sent, cut at 128 bytes; empty where there was none.
    pub method: &'a str,
    /// The name of the tool that was called, as sent, cut at 128 bytes; empty where there was none.
    pub name: &'a str,
    /// The HTTP status; 499 where the client was gone before there was an answer.
    pub status: u16,
    /// Body bytes sent.
    pub bytes: u64,
    /// From the end of the request's head to the end of the answer.
    pub elapsed: Duration,
    /// Why the request was refused, where it was.
    pub mark: Option<Mark>,
}

/// Where answers are told: a log of JSON lines, an observer, or both. Lines that the writer is too slow for are dropped and counted: a
/// log never holds up an answer. A writer that fails is tried again, and goes on where it has stopped.
#[derive(Clone)]
pub struct AccessLog {
    lines: Option<Lines>,
    observer: Option<Arc<dyn Observer>>,
}

impl AccessLog {
    /// A log that writes to `sink` on a thread of its own. The thread ends when the last clone is gone, after its last line.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn to_writer(sink: impl Write + Send + 'static) -> std::io::Result<Self> {
        Ok(Self { lines: Some(Lines::to("access-log", sink)?), observer: None })
    }

    /// No lines, only an observer: for programs that count or mark answers themselves.
    #[must_use]
    pub fn to_observer(observer: impl Observer) -> Self {
        Self { lines: None, observer: Some(Arc::new(observer)) }
    }

    /// Tells an observer too.
    #[must_use]
    pub fn observed_by(mut self, observer: impl Observer) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Waits until every line told so far has been written, but not for longer than `most`.
    pub fn flush(&self, most: Duration) {
        if let Some(lines) = &self.lines {
            lines.flush(most);
        }
    }

    /// How many lines were dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.lines.as_ref().map_or(0, Lines::dropped)
    }

    fn tell(&self, answered: &Answered<'_>) {
        if let Some(observer) = &self.observer {
            observer.answered(answered);
        }
        if let Some(lines) = &self.lines {
            LINE.with_borrow_mut(|(line, timestamp)| {
                line.clear();
                render(line, timestamp.at(wall_ms()), answered);
                lines.put(line);
            });
        }
    }
}

impl fmt::Debug for AccessLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessLog").field("dropped", &self.dropped()).finish_non_exhaustive()
    }
}

thread_local! {
    /// Lines are made here, so that nobody is kept from handing over another meanwhile.
    static LINE: RefCell<(Vec<u8>, TimestampCache)> = RefCell::default();
}

/// What is noted when a request's head has been read.
#[derive(Debug)]
pub(super) struct Note {
    started: Instant,
    verb: Option<Verb>,
    path: SmallVec<[u8; 32]>,
    version: HttpVersion,
}

impl Note {
    /// Notes a request. The query is left out: tokens may stand in it.
    pub(super) fn of(head: RequestHead<'_>) -> Box<Self> {
        let path = head.path();
        Box::new(Self {
            started: Instant::now(),
            verb: Some(head.verb()),
            path: SmallVec::from_slice(&path[..path.len().min(MOST_PATH)]),
            version: head.version(),
        })
    }

    /// Notes that a head could not be read.
    pub(super) fn unread(version: HttpVersion) -> Box<Self> {
        Box::new(Self { started: Instant::now(), verb: None, path: SmallVec::new(), version })
    }

    /// Tells the log of the answer.
    pub(super) fn finish(
        &self,
        log: &AccessLog,
        peer: Option<SocketAddr>,
        status: u16,
        bytes: u64,
        ex: &Exchange,
    ) {
        log.tell(&Answered {
            peer,
            verb: self.verb,
            path: &self.path,
            http: match self.version {
                HttpVersion::Http10 => "1.0",
                HttpVersion::Http11 => "1.1",
                HttpVersion::Http2 => "2",
            },
            protocol: &ex.log.protocol,
            era: ex.era,
            method: &ex.log.method,
            name: &ex.log.name,
            status,
            bytes,
            elapsed: self.started.elapsed(),
            mark: ex.mark,
        });
    }
}

/// Appends one answer as a line of JSON.
fn render(line: &mut Vec<u8>, timestamp: &[u8], answered: &Answered<'_>) {
    let filled = |text: &'static str, value: &str, line: &mut Vec<u8>| {
        self::text(line, text, (!value.is_empty()).then_some(value));
    };
    line.extend_from_slice(b"{\"time\":\"");
    line.extend_from_slice(timestamp);
    line.extend_from_slice(b"\",\"peer\":");
    match answered.peer {
        Some(peer) => write_peer(line, peer),
        None => line.extend_from_slice(b"null"),
    }
    text(line, "verb", answered.verb.map(Verb::name));
    key(line, "path");
    if answered.verb.is_some() {
        write_lossy(line, answered.path, MOST_PATH);
    } else {
        line.extend_from_slice(b"null");
    }
    filled("protocol", answered.protocol, line);
    text(line, "era", answered.era.map(Era::name));
    filled("method", answered.method, line);
    filled("name", answered.name, line);
    number(line, "status", u64::from(answered.status));
    number(line, "bytes", answered.bytes);
    number(line, "microseconds", u64::try_from(answered.elapsed.as_micros()).unwrap_or(u64::MAX));
    text(line, "rejecter", answered.mark.map(Mark::rejecter));
    text(line, "reason", answered.mark.map(Mark::reason));
    text(line, "http", Some(answered.http));
    line.extend_from_slice(b"}\n");
}

/// Appends an address and its port as a JSON string: neither has anything to escape.
fn write_peer(line: &mut Vec<u8>, peer: SocketAddr) {
    line.push(b'"');
    match peer {
        SocketAddr::V4(peer) => {
            for (at, octet) in peer.ip().octets().into_iter().enumerate() {
                if at > 0 {
                    line.push(b'.');
                }
                write_int(line, octet);
            }
            line.push(b':');
            write_int(line, peer.port());
        }
        // Writing to a Vec cannot fail.
        SocketAddr::V6(peer) => drop(write!(line, "{peer}")),
    }
    line.push(b'"');
}

fn key(line: &mut Vec<u8>, key: &str) {
    line.extend_from_slice(b",\"");
    line.extend_from_slice(key.as_bytes());
    line.extend_from_slice(b"\":");
}

fn text(line: &mut Vec<u8>, name: &str, value: Option<&str>) {
    key(line, name);
    match value {
        Some(value) => write_str(line, value),
        None => line.extend_from_slice(b"null"),
    }
}

fn number(line: &mut Vec<u8>, name: &str, value: u64) {
    key(line, name);
    write_int(line, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::rejection::Rejection;
    use std::sync::mpsc::{Sender, channel};

    struct Pipe(Sender<Vec<u8>>);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(|_| std::io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_is_one_json_object_with_every_key() {
        let (sender, lines) = channel();
        let log = AccessLog::to_writer(Pipe(sender)).unwrap();
        let mut ex = Exchange::new(true);
        ex.era = Some(Era::Modern);
        ex.mark = Some(Mark(Rejection::HeaderMismatch));
        ex.log.set_method("tools/\"call\"");
        let entry = Note {
            started: Instant::now(),
            verb: Some(Verb::Post),
            path: SmallVec::from_slice(b"/m\xff"),
            version: HttpVersion::Http11,
        };
        entry.finish(&log, Some(SocketAddr::from(([127, 0, 0, 1], 9))), 400, 17, &ex);
        let line = lines.recv().unwrap();
        assert_eq!(line.last(), Some(&b'\n'));
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        for (key, expected) in [
            ("peer", "\"127.0.0.1:9\""),
            ("verb", "\"POST\""),
            ("path", "\"/m\u{fffd}\""),
            ("protocol", "null"),
            ("era", "\"modern\""),
            ("method", "\"tools/\\\"call\\\"\""),
            ("name", "null"),
            ("status", "400"),
            ("bytes", "17"),
            ("rejecter", "\"header_binding\""),
            ("reason", "\"header_mismatch\""),
            ("http", "\"1.1\""),
        ] {
            assert_eq!(value[key].to_string(), expected, "{key}");
        }
        assert!(value["microseconds"].is_u64() && value["time"].is_string());
        assert_eq!(value.as_object().unwrap().len(), 14);
    }

    #[test]
    fn peers_are_written_as_addresses_are() {
        for peer in ["127.0.0.1:9", "255.0.10.1:65535", "[::1]:80", "[2001:db8::5]:1"] {
            let mut line = Vec::new();
            write_peer(&mut line, peer.parse().unwrap());
            assert_eq!(String::from_utf8(line).unwrap(), format!("\"{peer}\""));
        }
    }

    #[test]
    fn lines_that_are_not_taken_are_counted() {
        struct Broken;
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let log = AccessLog::to_writer(Broken).unwrap();
        let entry = Note::unread(HttpVersion::Http11);
        entry.finish(&log, None, 400, 0, &Exchange::new(true));
        log.flush(Duration::from_secs(60));
        // A failure costs nothing while there is room; what is more than that is counted.
        assert_eq!(log.dropped(), 0);
        (0..40_000).for_each(|_| entry.finish(&log, None, 400, 0, &Exchange::new(true)));
        assert!((1..40_000).contains(&log.dropped()), "{}", log.dropped());
    }

    #[test]
    fn flushing_waits_for_what_was_told() {
        let (lines, written) = channel();
        let log = AccessLog::to_writer(Pipe(lines)).unwrap();
        for _ in 0..100 {
            Note::unread(HttpVersion::Http11).finish(&log, None, 400, 0, &Exchange::new(true));
        }
        log.flush(Duration::from_secs(60));
        let text: Vec<u8> = written.try_iter().flatten().collect();
        assert_eq!(text.iter().filter(|&&byte| byte == b'\n').count(), 100);
    }

    #[test]
    fn an_observer_sees_answers_with_and_without_lines() {
        let (sender, seen) = std::sync::mpsc::channel();
        let observer = move |answered: &Answered<'_>| {
            let _ = sender.send((answered.status, answered.mark, answered.path.to_vec()));
        };
        let (lines, written) = channel();
        let both = AccessLog::to_writer(Pipe(lines)).unwrap().observed_by(observer.clone());
        let entry = Note::unread(HttpVersion::Http11);
        let mut ex = Exchange::new(true);
        ex.mark = Some(Mark(Rejection::Draining));
        for log in [AccessLog::to_observer(observer), both] {
            entry.finish(&log, None, 503, 0, &ex);
            assert_eq!(seen.recv().unwrap(), (503, Some(Mark(Rejection::Draining)), Vec::new()));
        }
        assert!(written.recv().is_ok());
        assert!(seen.try_recv().is_err() && written.try_recv().is_err());
    }
}
