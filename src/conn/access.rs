//! The access log: one JSON line for each answer, written by a thread of its own. Nothing is computed where no log is kept.

use std::fmt;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Instant;

use crate::base::clock::{render_timestamp, wall_ms};
use crate::reply::Exchange;
use crate::reply::json::{write_int, write_lossy, write_str};
use crate::tables::routes::Verb;
use crate::view::head::{HttpVersion, RequestHead};

/// Lines that may wait for the writer.
const QUEUE: usize = 8192;
/// A path is cut here: what is longer is no path of ours.
const MOST_PATH: usize = 256;

/// Where access log lines go. Lines that the writer is too slow for are dropped and counted: a log never holds up an answer.
#[derive(Clone)]
pub struct AccessLog {
    lines: SyncSender<Vec<u8>>,
    dropped: Arc<AtomicU64>,
}

impl AccessLog {
    /// A log that writes to `sink` on a thread of its own. The thread ends when the last clone is gone, after its last line.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn to_writer(sink: impl Write + Send + 'static) -> std::io::Result<Self> {
        let (lines, queue) = sync_channel(QUEUE);
        std::thread::Builder::new().name("access-log".to_owned()).spawn(move || write_lines(&queue, sink))?;
        Ok(Self { lines, dropped: Arc::default() })
    }

    /// How many lines were dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn put(&self, line: Vec<u8>) {
        match self.lines.try_send(line) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl fmt::Debug for AccessLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessLog").field("dropped", &self.dropped()).finish_non_exhaustive()
    }
}

/// Writes until the senders are gone; flushes whenever the queue runs dry. A sink that fails ends the log, not the server.
fn write_lines(queue: &Receiver<Vec<u8>>, sink: impl Write) {
    let mut sink = BufWriter::new(sink);
    while let Ok(line) = queue.recv() {
        let mut next = Some(line);
        while let Some(line) = next {
            if sink.write_all(&line).is_err() {
                return;
            }
            next = queue.try_recv().ok();
        }
        if sink.flush().is_err() {
            return;
        }
    }
}

/// What is noted when a request's head has been read.
#[derive(Debug)]
pub(super) struct Note {
    started: Instant,
    verb: Option<Verb>,
    path: Vec<u8>,
    version: HttpVersion,
}

impl Note {
    /// Notes a request. The query is left out: tokens may stand in it.
    pub(super) fn of(head: RequestHead<'_>) -> Box<Self> {
        let path = head.path();
        Box::new(Self {
            started: Instant::now(),
            verb: Some(head.verb()),
            path: path[..path.len().min(MOST_PATH)].to_vec(),
            version: head.version(),
        })
    }

    /// Notes that a head could not be read.
    pub(super) fn unread(version: HttpVersion) -> Box<Self> {
        Box::new(Self { started: Instant::now(), verb: None, path: Vec::new(), version })
    }

    /// Hands the finished line to the log.
    pub(super) fn finish(
        &self,
        log: &AccessLog,
        peer: Option<SocketAddr>,
        status: u16,
        bytes: u64,
        ex: &Exchange,
    ) {
        let mut line = Vec::with_capacity(320);
        line.extend_from_slice(b"{\"time\":\"");
        line.extend_from_slice(&render_timestamp(wall_ms()));
        line.extend_from_slice(b"\",\"peer\":");
        match peer {
            Some(peer) => write_str(&mut line, &peer.to_string()),
            None => line.extend_from_slice(b"null"),
        }
        text(&mut line, "verb", self.verb.map(Verb::name));
        line.extend_from_slice(b",\"path\":");
        if self.verb.is_some() {
            write_lossy(&mut line, &self.path, MOST_PATH);
        } else {
            line.extend_from_slice(b"null");
        }
        let filled = |text: &'_ String| (!text.is_empty()).then(|| text.clone());
        text(&mut line, "protocol", filled(&ex.log.protocol).as_deref());
        text(&mut line, "era", ex.era.map(|era| era.name()));
        text(&mut line, "method", filled(&ex.log.method).as_deref());
        text(&mut line, "name", filled(&ex.log.name).as_deref());
        number(&mut line, "status", u64::from(status));
        number(&mut line, "bytes", bytes);
        number(
            &mut line,
            "microseconds",
            u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX),
        );
        text(&mut line, "rejecter", ex.mark.map(|mark| mark.rejecter()));
        text(&mut line, "reason", ex.mark.map(|mark| mark.reason()));
        text(
            &mut line,
            "http",
            Some(match self.version {
                HttpVersion::Http10 => "1.0",
                HttpVersion::Http11 => "1.1",
                HttpVersion::Http2 => "2",
            }),
        );
        line.extend_from_slice(b"}\n");
        log.put(line);
    }
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
    use crate::reply::Mark;
    use crate::tables::rejection::Rejection;
    use crate::tables::versions::Era;
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
            path: b"/m\xff".to_vec(),
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
    fn a_slow_sink_drops_lines_and_counts_them() {
        let (lines, _queue) = sync_channel(1);
        let log = AccessLog { lines, dropped: Arc::default() };
        log.put(vec![1]);
        log.put(vec![2]);
        log.put(vec![3]);
        assert_eq!(log.dropped(), 2);
    }
}
