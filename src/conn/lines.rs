//! Lines of text on their way to a slow sink, which a thread of its own writes. Whoever hands one over waits for nobody: lines gather in
//! memory and are written together, so that a line costs neither a system call nor a wake-up. A sink that fails is tried again, from the
//! byte on that it has not taken: a disk that was full for a while costs lines only where more came than are kept.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that may wait for the sink. What comes then is dropped.
const MOST_WAITING: usize = 4 * 1024 * 1024;
/// Bytes that are written without waiting for more.
const MANY: usize = 64 * 1024;
/// Bytes of storage kept for the next lines: fresh memory would be faulted in again and again.
const KEPT: usize = 1024 * 1024;
/// How long the first line waits for others.
const LINGER: Duration = Duration::from_millis(20);
/// How long after a failure the sink is tried again.
const RETRY: Duration = Duration::from_millis(500);

/// The way to a sink of lines: an access log, or what the program logs. Handing a line over never blocks. Clones lead to the same sink;
/// its thread ends when the last of them is gone, after its last line.
#[derive(Debug, Clone)]
pub struct Lines(Arc<Sender>);

#[derive(Debug)]
struct Sender(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    dropped: AtomicU64,
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
    /// How often the sink has failed.
    failures: u64,
    /// Nobody is to wait for more lines, or for a better time.
    hurry: bool,
    /// No sender is left.
    ended: bool,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    /// Starts the thread that writes to `sink`, and goes by this name.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn to(name: &'static str, sink: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let writers = Arc::clone(&shared);
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || Writer { name, sink, failed: None }.write(&writers))?;
        Ok(Self(Arc::new(Sender(shared))))
    }

    /// Hands a line over. Where too many wait it is dropped and counted.
    pub fn put(&self, line: &[u8]) {
        let shared = &*self.0.0;
        let mut queue = shared.queue();
        if queue.bytes.len() + line.len() > MOST_WAITING {
            drop(queue);
            shared.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let before = queue.bytes.len();
        queue.bytes.extend_from_slice(line);
        queue.told += 1;
        let now = queue.bytes.len();
        drop(queue);
        if before == 0 || (before < MANY && now >= MANY) {
            shared.told.notify_one();
        }
    }

    /// How many lines were dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.0.0.dropped.load(Ordering::Relaxed)
    }

    /// Waits until every line handed over so far has been written, but not for longer than `most`, and not for a sink that fails. A time
    /// that no clock reaches is none.
    pub fn flush(&self, most: Duration) {
        let shared = &*self.0.0;
        let until = Instant::now().checked_add(most);
        let mut queue = shared.queue();
        let (told, failures) = (queue.told, queue.failures);
        queue.hurry = true;
        shared.told.notify_one();
        while queue.written < told && queue.failures == failures {
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

/// The thread that writes.
struct Writer<W> {
    name: &'static str,
    sink: W,
    /// How many lines had been dropped when the sink began to fail.
    failed: Option<u64>,
}

impl<W: Write> Writer<W> {
    /// Writes until the senders are gone. A sink that fails then gets one more chance.
    fn write(&mut self, shared: &Shared) {
        let mut bytes = Vec::new();
        loop {
            let told = take(shared, &mut bytes);
            if bytes.is_empty() {
                return;
            }
            let mut at = 0;
            while let Err(error) = self.write_from(&bytes, &mut at) {
                self.tell_failure(&error, shared);
                if !await_retry(shared) {
                    return;
                }
            }
            self.tell_recovery(shared);
            bytes.clear();
            bytes.shrink_to(KEPT);
            shared.queue().written = told;
            shared.written.notify_all();
        }
    }

    /// Writes what stands behind `at`, and moves it on: no byte is written twice and no line is torn by a failure that passes.
    fn write_from(&mut self, bytes: &[u8], at: &mut usize) -> io::Result<()> {
        while *at < bytes.len() {
            match self.sink.write(&bytes[*at..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => *at += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.sink.flush()
    }

    /// Once for each time that the sink fails and recovers.
    fn tell_failure(&mut self, error: &io::Error, shared: &Shared) {
        if self.failed.is_none() {
            self.failed = Some(shared.dropped.load(Ordering::Relaxed));
            tracing::warn!(sink = self.name, %error, "lines cannot be written; they wait, and are dropped where too many do");
        }
    }

    fn tell_recovery(&mut self, shared: &Shared) {
        if let Some(before) = self.failed.take() {
            let dropped = shared.dropped.load(Ordering::Relaxed).saturating_sub(before);
            tracing::warn!(sink = self.name, dropped, "lines can be written again");
        }
    }
}

/// Notes a failure and waits for a better time. False where nobody is left to wait for one.
fn await_retry(shared: &Shared) -> bool {
    let mut queue = shared.queue();
    queue.failures += 1;
    shared.written.notify_all();
    if queue.ended {
        return false;
    }
    let waits = |queue: &mut Queue| !queue.hurry && !queue.ended;
    queue = shared.told.wait_timeout_while(queue, RETRY, waits).unwrap_or_else(PoisonError::into_inner).0;
    queue.hurry = false;
    true
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
    use std::io::Error;
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
        let lines = Lines::to("test", Gate(entered, gate)).unwrap();
        let put = |line: &[u8]| {
            let before = lines.dropped();
            lines.put(line);
            lines.dropped() == before
        };
        assert!(put(b"x"));
        written_to.recv().unwrap();
        // What the writer has in its hands does not wait any more.
        let line = vec![b'x'; MANY];
        let taken = (0..1000).take_while(|_| put(&line)).count();
        assert_eq!(taken, MOST_WAITING / MANY);
        assert!(!put(b"x"));
        assert_eq!(lines.dropped(), 2);
        (0..10).for_each(|_| open.send(()).unwrap());
        lines.flush(Duration::from_secs(60));
        assert!(put(&line));
    }

    /// A disk with room for so many bytes, which a test may make larger.
    #[derive(Clone)]
    struct Disk(Arc<Mutex<(usize, Vec<u8>)>>);

    impl Disk {
        fn with_room(room: usize) -> Self {
            Self(Arc::new(Mutex::new((room, Vec::new()))))
        }

        fn make_room(&self, more: usize) {
            self.0.lock().unwrap().0 += more;
        }

        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().1.clone()).unwrap()
        }
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut disk = self.0.lock().unwrap();
            let room = disk.0.min(bytes.len());
            if room == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            disk.0 -= room;
            disk.1.extend_from_slice(&bytes[..room]);
            Ok(room)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Once there is room again everything that was kept is written, each byte once, and goes on from there.
    #[test]
    fn a_sink_that_recovers_gets_what_was_kept() {
        let disk = Disk::with_room(8);
        let lines = Lines::to("test", disk.clone()).unwrap();
        let all: Vec<String> = (0..1000).map(|number| format!("line {number}\n")).collect();
        all[..500].iter().for_each(|line| lines.put(line.as_bytes()));
        // It comes back although nothing gets written: the sink fails.
        lines.flush(Duration::MAX);
        assert_eq!(disk.text(), "line 0\nl");
        disk.make_room(3);
        lines.flush(Duration::MAX);
        assert_eq!(disk.text(), "line 0\nline");
        all[500..].iter().for_each(|line| lines.put(line.as_bytes()));
        disk.make_room(1_000_000);
        while disk.text().len() < all.concat().len() {
            lines.flush(Duration::MAX);
        }
        assert_eq!((disk.text(), lines.dropped()), (all.concat(), 0));
    }

    /// It recovers by itself, too: nobody has to ask.
    #[test]
    fn a_sink_that_fails_is_tried_again_and_what_is_too_much_is_counted() {
        let disk = Disk::with_room(0);
        let lines = Lines::to("test", disk.clone()).unwrap();
        lines.put(b"first\n");
        lines.flush(Duration::MAX);
        let line = vec![b'x'; MANY];
        (0..100).for_each(|_| lines.put(&line));
        assert_eq!(lines.dropped(), 100 - (MOST_WAITING / MANY) as u64);
        disk.make_room(MOST_WAITING * 2);
        let until = Instant::now() + Duration::from_secs(20);
        while disk.text().len() < MOST_WAITING {
            assert!(Instant::now() < until, "it was never tried again");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn the_thread_of_a_sink_that_fails_for_good_ends_with_its_senders() {
        struct Told(Disk, std::sync::mpsc::Sender<()>);
        impl Write for Told {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        impl Drop for Told {
            fn drop(&mut self) {
                let _ = self.1.send(());
            }
        }
        let (sender, gone) = channel();
        let lines = Lines::to("test", Told(Disk::with_room(0), sender)).unwrap();
        lines.put(b"x\n");
        drop(lines);
        gone.recv_timeout(Duration::from_secs(20)).unwrap();
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
        let lines = Lines::to("test", Sink(written)).unwrap();
        let other = lines.clone();
        (0..10).for_each(|_| lines.put(b"ab"));
        drop(lines);
        (0..10).for_each(|_| other.put(b"cd"));
        drop(other);
        assert_eq!(sizes.iter().sum::<usize>(), 40);
    }
}
