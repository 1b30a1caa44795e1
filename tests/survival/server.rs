//! The server's process: started with low limits where an attack wants them, measured, killed.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

/// What becomes of what the server writes to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stderr {
    /// Shown.
    Shown,
    /// A pipe that nobody reads.
    Unread,
}

/// A server that does not outlive its harness.
#[derive(Debug)]
pub struct Server {
    child: Child,
    _unread: Option<ChildStderr>,
    pub address: SocketAddr,
}

/// What `/proc` says of the server.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Resident memory, in bytes.
    pub resident: u64,
    /// The most it has been.
    pub peak: u64,
    /// Processor time so far.
    pub cpu: Duration,
    /// Open descriptors.
    pub files: usize,
}

impl Server {
    /// Starts a server with `flags`, and room for so many descriptors where a number is given.
    pub fn start(binary: &Path, flags: &[&str], files: Option<u32>, stderr: Stderr) -> Self {
        // It dies with this process, however that ends.
        let limit = files.map_or_else(String::new, |files| format!("ulimit -n {files}; "));
        let mut child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "sh", "-c", &format!("{limit}exec \"$@\""), "sh"])
            .arg(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--workers", "2"])
            .args(flags)
            .env_remove("TWOLANE_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(if stderr == Stderr::Unread { Stdio::piped() } else { Stdio::inherit() })
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("its first line");
        let address = line
            .strip_prefix("twolane listening on http://")
            .and_then(|rest| rest.strip_suffix("/mcp\n"))
            .unwrap_or_else(|| panic!("not where it listens: {line:?}"));
        let address = address.parse().expect("an address");
        let unread = child.stderr.take();
        Self { child, _unread: unread, address }
    }

    /// Whether it still runs.
    pub fn lives(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// What it takes now. Zeros when it is gone, which `lives` tells.
    pub fn usage(&self) -> Usage {
        let folder = format!("/proc/{}", self.child.id());
        let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).unwrap_or_default();
        let status = read("status");
        let bytes = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
        };
        let files = std::fs::read_dir(format!("{folder}/fd")).map_or(0, Iterator::count);
        Usage { resident: bytes("VmRSS:"), peak: bytes("VmHWM:"), cpu: cpu(&read("stat")), files }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// User and system time, which Linux counts in hundredths of a second for programs.
fn cpu(stat: &str) -> Duration {
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks: u64 =
        fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}
