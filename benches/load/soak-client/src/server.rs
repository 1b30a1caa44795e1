//! The server's process: started, asked what is open, looked at from outside, stopped.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::ledger::Outcome;

/// Everything that ends by itself ends soon, so that what is open reaches a level within the first fifth of a run. Nobody is turned away
/// because the machine has other work: the traffic does not ask for that.
const SETTINGS: &[(&str, &str)] = &[
    ("log", "error"),
    ("session-idle", "5000"),
    ("replay-time", "5000"),
    ("task-ttl", "10000"),
    ("half-close-grace", "2000"),
    ("overload-delay", "0"),
];

/// How long a server that is asked to stop may take.
const STOP: Duration = Duration::from_secs(20);

/// What the kernel says of the process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Resident memory, in KiB.
    pub(crate) resident: u64,
    /// Open files.
    pub(crate) files: usize,
    pub(crate) threads: u64,
}

#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pid: u32,
    told: UnboundedReceiver<String>,
    pub(crate) address: SocketAddr,
}

impl Process {
    pub(crate) async fn start(binary: &Path, workers: u64, flags: &[String]) -> Outcome<Self> {
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--workers", &workers.to_string()]);
        for (name, value) in SETTINGS {
            command.arg(format!("--{name}")).arg(value);
        }
        command.args(flags);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", binary.display()))?;
        let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
            return Err("the server says nothing".to_owned());
        };
        let mut out = BufReader::new(out).lines();
        let line = timeout(STOP, out.next_line()).await.map_err(|_| "the server does not start")?;
        let line = line.ok().flatten().unwrap_or_default();
        let address =
            line.strip_prefix("twolane listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.and_then(|text| text.parse().ok());
        let address = address.ok_or_else(|| format!("not where it listens: {line:?}"))?;
        let pid = child.id().ok_or("the server is gone")?;
        let (tell, told) = unbounded_channel();
        tokio::spawn(async move {
            let mut err = BufReader::new(err).lines();
            while let Ok(Some(line)) = err.next_line().await {
                let _ = tell.send(line);
            }
        });
        Ok(Self { child, pid, told, address })
    }

    fn signal(&self, signal: rustix::process::Signal) -> Outcome {
        let pid = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        let pid = pid.ok_or("no process")?;
        rustix::process::kill_process(pid, signal).map_err(|error| format!("the server is gone: {error}"))
    }

    /// What the server says is open, word by word.
    pub(crate) async fn open(&mut self) -> Outcome<Vec<(String, u64)>> {
        self.signal(rustix::process::Signal::USR1)?;
        loop {
            let line =
                timeout(STOP, self.told.recv()).await.map_err(|_| "the server does not say what is open")?;
            let line = line.ok_or("the server is gone")?;
            let Some(open) = line.strip_prefix("twolane: open are ") else {
                eprintln!("the server: {line}");
                continue;
            };
            let part = |part: &str| {
                let (count, word) = part.split_once(' ')?;
                Some((word.to_owned(), count.parse().ok()?))
            };
            return open
                .split(", ")
                .map(part)
                .collect::<Option<_>>()
                .ok_or_else(|| format!("no counts: {line}"));
        }
    }

    /// Waits until nothing is open any more. What is left when that takes too long is told.
    pub(crate) async fn at_rest(&mut self, patience: Duration) -> Outcome {
        let until = Instant::now() + patience;
        loop {
            let mut open = self.open().await?;
            open.retain(|(_, count)| *count > 0);
            if open.is_empty() {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(format!("still open after {patience:?}: {open:?}"));
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    pub(crate) fn look(&self) -> Outcome<Look> {
        let folder = format!("/proc/{}", self.pid);
        let gone = |error| format!("the server is gone: {error}");
        let status = fs::read_to_string(format!("{folder}/status")).map_err(gone)?;
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches(" kB").parse().ok()
        };
        let files = fs::read_dir(format!("{folder}/fd")).map_err(gone)?.count();
        match (number("VmRSS:"), number("Threads:")) {
            (Some(resident), Some(threads)) => Ok(Look { resident, files, threads }),
            _ => Err("the server is gone".to_owned()),
        }
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) async fn stop(mut self) -> Outcome {
        self.signal(rustix::process::Signal::TERM)?;
        match timeout(STOP, self.child.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(status) => Err(format!("the server has ended with {status:?}")),
            Err(_) => Err(format!("the server has not stopped within {STOP:?}")),
        }
    }
}
