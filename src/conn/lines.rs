//! Lines of text on their way to a slow sink, which a thread of its own writes. Whoever hands one over waits for nobody: lines gather in
//! memory and are written together, so that a line costs neither a system call nor a wake-up.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that may wait for the sink. What comes then is not taken.
const MOST_WAITING: usize = 4 * 1024 * 1024;
/// Bytes that are written without waiting for more.
const MANY: usize = 64 * 1024;
/// Bytes of storage kept for the next lines: fresh memory would be faulted in again and again.
const KEPT: usize = 1024 * 1024;
/// How long the first line waits for others.
const LINGER: Duration = Duration::from_millis(20);

/// The way to the sink. The thread ends when the last clone is gone, after its last line.
#[derive(Debug, Clone)]
pub(super) struct Lines(Arc<Sender>);

#[derive(Debug)]
struct Sender(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// The writer waits here.
    told: Condvar,
    /// Who wants to see its lines written waits here.
    written: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    /// How many lines have been taken.
    told: u64,
    /// How many of them have been written.
    written: u64,
    /// Nobody is to wait for more lines.
    hurry: bool,
    /// No sender is left, or the sink has failed.
    ended: bool,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    /// Starts the thread that writes to `sink`.
    pub(super) fn to(sink: impl Write + Send + 'static) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let writers = Arc::clone(&shared);
        std::thread::Builder::new().name("access-log".to_owned()).spawn(move || write(&writers, sink))?;
        Ok(Self(Arc::new(Sender(shared))))
    }

    /// Hands a line over. False where too many wait, or the sink has failed.
    pub(super) fn put(&self, line: &[u8]) -> bool {
        let shared = &*self.0.0;
        let mut queue = shared.queue();
        if queue.ended || queue.bytes.len() + line.len() > MOST_WAITING {
            return false;
        }
        let before = queue.bytes.len();
        queue.bytes.extend_from_slice(line);
        queue.told += 1;
        let now = queue.bytes.len();
        drop(queue);
        if before == 0 || (before < MANY && now >= MANY) {
            shared.told.notify_one();
        }
        true
    }

    /// Waits until every line handed over so far has been written, but not for longer than `most`. A time that no clock reaches is none.
    pub(super) fn flush(&self, most: Duration) {
        let shared = &*self.0.0;
        let until = Instant::now().checked_add(most);
        let mut queue = shared.queue();
        let told = queue.told;
        queue.hurry = true;
        shared.told.notify_one();
        while queue.written < told && !queue.ended {
            let left = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return;
            }
            queue = shared.written.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.queue().ended = true;
        self.0.told.notify_one();
    }
}

/// Writes until the senders are gone. A sink that fails ends the lines, not the server.
fn write(shared: &Shared, mut sink: impl Write) {
    let mut bytes = Vec::new();
    loop {
        let told = take(shared, &mut bytes);
        if bytes.is_empty() {
            return;
        }
        let failed = sink.write_all(&bytes).and_then(|()| sink.flush()).is_err();
        bytes.clear();
        bytes.shrink_to(KEPT);
        let mut queue = shared.queue();
        queue.written = told;
        queue.ended |= failed;
        drop(queue);
        shared.written.notify_all();
        if failed {
            return;
        }
    }
}

/// Waits for lines and takes them, and says how many there have been. None are left at the end.
fn take(shared: &Shared, bytes: &mut Vec<u8>) -> u64 {
    let mut queue = shared.queue();
    while queue.bytes.is_empty() && !queue.ended {
        queue = shared.told.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
    let waits = |queue: &mut Queue| !queue.hurry && !queue.ended && queue.bytes.len() < MANY;
    queue = shared.told.wait_timeout_while(queue, LINGER, waits).unwrap_or_else(PoisonError::into_inner).0;
    queue.hurry = false;
    std::mem::swap(&mut queue.bytes, bytes);
    queue.told
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};
    use std::sync::mpsc::{Receiver, channel, sync_channel};

    use super::*;

    /// A sink that says that it is written to, and takes a write only when it is told to.
    struct Gate(std::sync::mpsc::Sender<()>, Receiver<()>);

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let _ = self.0.send(());
            self.1.recv().map_err(|_| Error::from(ErrorKind::BrokenPipe))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_waits_is_bounded() {
        let ((entered, written_to), (open, gate)) = (channel(), sync_channel(100));
        let lines = Lines::to(Gate(entered, gate)).unwrap();
        assert!(lines.put(b"x"));
        written_to.recv().unwrap();
        // What the writer has in its hands does not wait any more.
        let line = vec![b'x'; MANY];
        let taken = (0..1000).take_while(|_| lines.put(&line)).count();
        assert_eq!(taken, MOST_WAITING / MANY);
        assert!(!lines.put(b"x"));
        (0..10).for_each(|_| open.send(()).unwrap());
        lines.flush(Duration::from_secs(60));
        assert!(lines.put(&line));
    }

    #[test]
    fn a_sink_that_fails_takes_no_more() {
        let ((entered, _written_to), (open, gate)) = (channel(), channel());
        drop(open);
        let lines = Lines::to(Gate(entered, gate)).unwrap();
        assert!(lines.put(b"x"));
        lines.flush(Duration::MAX);
        assert!(!lines.put(b"x"));
    }

    #[test]
    fn the_last_lines_are_written() {
        struct Sink(std::sync::mpsc::Sender<usize>);
        impl Write for Sink {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.send(bytes.len()).map_err(|_| Error::from(ErrorKind::BrokenPipe))?;
                Ok(bytes.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let (written, sizes) = channel();
        let lines = Lines::to(Sink(written)).unwrap();
        let other = lines.clone();
        (0..10).for_each(|_| assert!(lines.put(b"ab")));
        drop(lines);
        (0..10).for_each(|_| assert!(other.put(b"cd")));
        drop(other);
        assert_eq!(sizes.iter().sum::<usize>(), 40);
    }
}
