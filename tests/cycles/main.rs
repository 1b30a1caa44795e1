//! Cycles of opening and dropping, against a server in a process of its own: what is open returns to zero, and memory to what it was.
//!
//! Heavy, so ignored: `tests/cycles/run` runs it. `TWOLANE_BINARY` names the server, `TWOLANE_CYCLE` how many things one cycle opens.

#![cfg(target_os = "linux")]
#![allow(unreachable_pub, reason = "nothing is exported from a test binary")]

mod client;
mod process;

use std::net::SocketAddr;
use std::time::Duration;

use process::{Process, Resident};

/// How often everything is done.
const CYCLES: usize = 3;

/// How long a session or a task lives, in milliseconds: long enough for all of them to be there at once.
const LIFE_MS: u64 = 15_000;

/// How long whatever has ended may take to be gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// A kind of thing that is opened and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sessions,
    Tasks,
    Listeners,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Sessions, Self::Tasks, Self::Listeners];

    /// The word in what the server says is open.
    const fn word(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Tasks => "tasks",
            Self::Listeners => "listeners",
        }
    }

    /// Opens so many and sees that they are there. Listeners are dropped then; sessions and tasks expire in their time.
    async fn open(self, process: &mut Process, count: usize) {
        let address = process.address;
        let mut held = None;
        match self {
            Self::Sessions => client::sessions(address, count).await,
            Self::Tasks => client::tasks(address, count).await,
            Self::Listeners => held = Some(client::listeners(address, count).await),
        }
        assert_eq!(process.open(self), count as u64, "{self:?} are open at once");
        println!("{count} {} are open, {}", self.word(), process.resident());
        drop(held);
    }
}

fn count() -> usize {
    std::env::var("TWOLANE_CYCLE").map_or(10_000, |count| count.parse().expect("TWOLANE_CYCLE is a number"))
}

#[test]
#[ignore = "heavy: see tests/cycles/run"]
fn everything_ends_and_memory_comes_back() {
    let binary = std::env::var("TWOLANE_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_twolane").to_owned());
    let mut process = Process::start(&binary, LIFE_MS, count());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut resident = Vec::new();
    runtime.block_on(async {
        for cycle in 1..=CYCLES {
            for kind in Kind::ALL {
                kind.open(&mut process, count()).await;
            }
            for kind in Kind::ALL {
                process.await_none(kind, PATIENCE).await;
            }
            let most = resident.first().map_or(Resident(u64::MAX), Resident::and_a_little);
            let now = process.settled(most, PATIENCE).await;
            println!("cycle {cycle}: none left, {now}");
            resident.push(now);
        }
    });
    for kind in Kind::ALL {
        assert_eq!(process.open(kind), 0, "{kind:?}");
    }
    for word in ["streams", "detached calls"] {
        assert_eq!(process.count(word), 0, "{word}");
    }
    let (last, most) = (resident[CYCLES - 1], resident[0].and_a_little());
    assert!(last <= most, "{last} after {CYCLES} cycles, allowed are {most}: 5 % and 4 MiB above the first");
}

/// What a request is sent to.
fn url(address: SocketAddr) -> String {
    format!("http://{address}/mcp")
}
