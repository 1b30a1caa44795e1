//! The server's process.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::server::{KEYS, LISTEN};

/// Where standard error leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stderr {
    /// To a file that is read at the end.
    Kept,
    /// To a full disk.
    Full,
    /// Nowhere.
    Closed,
    /// Into a pipe that nobody reads.
    Unread,
}

/// A server that does not outlive its test.
#[derive(Debug)]
pub struct Process {
    child: Child,
    told: Option<File>,
    pub address: SocketAddr,
}

impl Process {
    /// Starts the binary with these arguments on a port of its own.
    pub fn start(arguments: &[&str], stderr: Stderr) -> Self {
        let binary =
            std::env::var("TWOLANE_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_twolane").to_owned());
        let mut command = Command::new("sh");
        let script = if stderr == Stderr::Closed { "exec \"$0\" \"$@\" 2>&-" } else { "exec \"$0\" \"$@\"" };
        command.args(["-c", script, &binary, "serve", "--listen", "127.0.0.1:0"]).args(arguments);
        Self::spawn(command.env_remove("TWOLANE_LOG"), stderr)
    }

    /// Starts a server of the tests' own.
    pub fn start_here(listen: SocketAddr, keys: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--ignored", "--exact", "server::serve_here", "--nocapture", "--test-threads", "1"])
            .env(LISTEN, listen.to_string())
            .env(KEYS, keys);
        Self::spawn(&mut command, Stderr::Kept)
    }

    fn spawn(command: &mut Command, stderr: Stderr) -> Self {
        let mut told = None;
        let to = match stderr {
            Stderr::Kept => {
                let file = tempfile::tempfile().unwrap();
                told = Some(file.try_clone().unwrap());
                Stdio::from(file)
            }
            Stderr::Full => OpenOptions::new().write(true).open("/dev/full").unwrap().into(),
            Stderr::Closed => Stdio::null(),
            Stderr::Unread => Stdio::piped(),
        };
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(to)
            .spawn()
            .expect("the server starts");
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert_ne!(out.read_line(&mut line).unwrap(), 0, "it does not say where it listens");
            if let Some(url) = line.strip_prefix("twolane listening on http://") {
                break url.strip_suffix("/mcp\n").expect("the endpoint").parse().expect("an address");
            }
        };
        Self { child, told, address }
    }

    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Sets a limit of the process, as `prlimit` has it; the soft one alone, so that it can be raised again.
    pub fn limit(&self, limit: &str) {
        let pid = self.child.id().to_string();
        let set = Command::new("prlimit").args(["--pid", &pid, &format!("{limit}:")]).status().unwrap();
        assert!(set.success(), "{limit}");
    }

    /// How many descriptors are open.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Ends it as nothing can be done about.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end: the exit code, and what it has told.
    #[track_caller]
    pub fn ended(mut self, patience: Duration) -> (Option<i32>, String) {
        let until = Instant::now() + patience;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "it does not end");
            std::thread::sleep(Duration::from_millis(2));
        };
        let mut text = String::new();
        if let Some(file) = &mut self.told {
            use std::io::Seek;
            file.rewind().unwrap();
            file.read_to_string(&mut text).unwrap();
        }
        (status.code(), text)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
