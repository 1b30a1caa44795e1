//! What processes have used, by the system's own accounts.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The CPU time so far of a server, of this client, and of everything on all cores.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Account {
    pub(crate) server: Duration,
    pub(crate) client: Duration,
    pub(crate) cores: Duration,
}

impl Account {
    pub(crate) fn now(server: Option<u32>) -> Self {
        let client = clock_gettime(ClockId::ProcessCPUTime);
        Self {
            server: server.map_or(Duration::ZERO, process),
            client: Duration::new(client.tv_sec as u64, client.tv_nsec as u32),
            cores: cores(),
        }
    }

    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            server: self.server.saturating_sub(earlier.server),
            client: self.client.saturating_sub(earlier.client),
            cores: self.cores.saturating_sub(earlier.cores),
        }
    }
}

/// All threads of a process: nanoseconds, as the scheduler counts them.
fn process(pid: u32) -> Duration {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Duration::ZERO };
    let nanoseconds = |thread: fs::DirEntry| -> Option<u64> {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    Duration::from_nanos(threads.flatten().filter_map(nanoseconds).sum())
}

/// All that was not idle, on all cores.
fn cores() -> Duration {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let all = text.lines().next().unwrap_or_default();
    // user nice system idle iowait irq softirq steal; what guests use is in user.
    let ticks = all.split_whitespace().skip(1).take(8).map(|word| word.parse().unwrap_or(0));
    let busy: u64 = ticks.enumerate().filter(|(at, _)| !matches!(at, 3 | 4)).map(|(_, ticks)| ticks).sum();
    Duration::from_secs_f64(busy as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Resident memory of a process.
pub(crate) fn resident_kib(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
