//! The server's process: started, asked, measured.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Kind, client};

/// Resident memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resident(pub u64);

impl Resident {
    /// What it may be after some cycles, if it was this after the first.
    pub const fn and_a_little(&self) -> Self {
        Self(self.0 + self.0 / 20 + 4 * 1024 * 1024)
    }
}

impl fmt::Display for Resident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} MiB resident", self.0 as f64 / f64::from(1 << 20))
    }
}

/// A server that does not outlive its test.
#[derive(Debug)]
pub struct Process {
    child: Child,
    told: BufReader<ChildStderr>,
    pub address: SocketAddr,
}

impl Process {
    /// Starts a server that has room for `count` of everything, whose sessions and tasks live for `life_ms`.
    pub fn start(binary: &str, life_ms: u64, count: usize) -> Self {
        let (life, count) = (life_ms.to_string(), count.to_string());
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--connections", "17000"])
            .args(["--session-idle", &life, "--task-ttl", &life])
            .args(["--sessions", &count, "--listeners", &count, "--tasks", &count])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line
            .strip_prefix("twolane listening on http://")
            .and_then(|rest| rest.strip_suffix("/mcp\n"))
            .unwrap_or_else(|| panic!("not where it listens: {line:?}"));
        let address = address.parse().expect("an address");
        let told = BufReader::new(child.stderr.take().unwrap());
        Self { child, told, address }
    }

    /// How many of a kind are open, as the server says.
    pub(crate) fn open(&mut self, kind: Kind) -> u64 {
        self.count(kind.word())
    }

    /// How many there are of what goes by this word.
    pub fn count(&mut self, word: &str) -> u64 {
        let asked = Command::new("kill").args(["-USR1", &self.child.id().to_string()]).status().unwrap();
        assert!(asked.success());
        loop {
            let mut line = String::new();
            assert_ne!(self.told.read_line(&mut line).unwrap(), 0, "the server is gone");
            let Some(open) = line.trim().strip_prefix("twolane: open are ") else {
                eprint!("{line}");
                continue;
            };
            let open = open.split(", ").find_map(|part| part.strip_suffix(word));
            return open.expect(&line).trim().parse().expect("a number");
        }
    }

    /// Waits until none of a kind is open.
    pub(crate) async fn await_none(&mut self, kind: Kind, patience: Duration) {
        let until = Instant::now() + patience;
        loop {
            let open = self.open(kind);
            if open == 0 {
                return;
            }
            assert!(Instant::now() < until, "{open} {} are left", kind.word());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// The resident memory once it no longer falls; where it is more than `most`, within `patience`. The allocator gives memory back a
    /// while after it was freed, and only while it has work.
    pub async fn settled(&self, most: Resident, patience: Duration) -> Resident {
        let until = Instant::now() + patience;
        let mut least = self.resident();
        let mut quiet = 0;
        while quiet < 10 || (least > most && Instant::now() < until) {
            client::pings(self.address, 256).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
            let now = self.resident();
            quiet = if now < least { 0 } else { quiet + 1 };
            least = least.min(now);
        }
        least
    }

    /// The resident memory now.
    pub fn resident(&self) -> Resident {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
        let kib: u64 = line.trim().strip_suffix(" kB").expect(line).parse().expect(line);
        Resident(kib * 1024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
