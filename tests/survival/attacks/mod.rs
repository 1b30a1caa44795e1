//! The attacks: what each does, and what it must have done to count.

mod bombs;
mod caps;
mod connections;
mod floods;
mod http2;
mod logs;
mod oversize;
mod peers;
mod slow;
mod unread;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use super::attacker::Target;
use super::bounds::Cpu;
use super::server::Stderr;
use super::sockets;

/// An attack that goes on until its process ends.
pub type Run = Pin<Box<dyn Future<Output = ()>>>;

/// Where the server's access log goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    /// Nowhere.
    None,
    /// To a file.
    File,
    /// Wherever standard error goes, which nobody reads.
    Unread,
}

impl Log {
    pub fn file(self) -> Option<tempfile::NamedTempFile> {
        (self == Self::File).then(|| tempfile::NamedTempFile::new().expect("a file for the log"))
    }

    pub fn stderr(self) -> Stderr {
        if self == Self::Unread { Stderr::Unread } else { Stderr::Shown }
    }
}

/// What an attack must have done, else it was none.
#[derive(Debug, Clone, Copy)]
pub struct Least {
    /// What it held at a time.
    pub held: u64,
    /// What it sent in a second.
    pub rate: f64,
    /// What it was refused in all.
    pub refused: u64,
}

pub struct Attack {
    pub name: &'static str,
    pub what: &'static str,
    /// What is held.
    pub unit: &'static str,
    /// Flags of the server, where defaults would take long to reach.
    pub flags: &'static [&'static str],
    /// Descriptors the server may open.
    pub files: Option<u32>,
    pub log: Log,
    pub run: fn(Target) -> Run,
    pub least: Least,
    pub cpu: Cpu,
    /// Whether the honest client makes new connections meanwhile: not where the promise is that newcomers wait.
    pub newcomers: bool,
    /// Whether honest calls may be shed.
    pub sheds: bool,
}

impl Attack {
    const fn new(name: &'static str, what: &'static str, run: fn(Target) -> Run) -> Self {
        let least = Least { held: 0, rate: 0.0, refused: 0 };
        Self {
            name,
            what,
            unit: "connections",
            flags: &[],
            files: None,
            log: Log::None,
            run,
            least,
            cpu: Cpu::Workers,
            newcomers: true,
            sheds: false,
        }
    }

    const fn flags(self, flags: &'static [&'static str]) -> Self {
        Self { flags, ..self }
    }

    /// Must hold so many of these at least.
    const fn holds(self, held: u64, unit: &'static str) -> Self {
        Self { least: Least { held, ..self.least }, unit, ..self }
    }

    /// Must send so many a second at least.
    const fn sends(self, rate: f64) -> Self {
        Self { least: Least { rate, ..self.least }, ..self }
    }

    /// Must be refused so often at least.
    const fn takes_refusals(self, refused: u64) -> Self {
        Self { least: Least { refused, ..self.least }, ..self }
    }

    /// Gives the server little to do.
    const fn idles(self) -> Self {
        Self { cpu: Cpu::Little, ..self }
    }

    /// Keeps newcomers out, as promised.
    const fn keeps_newcomers_out(self) -> Self {
        Self { newcomers: false, ..self }
    }
}

/// All of them, in the order of the table.
pub fn all() -> Vec<Attack> {
    let groups = [
        slow::ATTACKS,
        unread::ATTACKS,
        connections::ATTACKS,
        oversize::ATTACKS,
        bombs::ATTACKS,
        caps::ATTACKS,
        logs::ATTACKS,
        floods::ATTACKS,
        http2::ATTACKS,
        peers::ATTACKS,
    ];
    groups.into_iter().flatten().map(|make| make()).collect()
}

/// How many connections are opened at the same time.
static OPENING: Semaphore = Semaphore::const_new(128);

impl Target {
    /// Connects, from one of a few addresses.
    async fn connect(&self, number: usize) -> io::Result<TcpStream> {
        let _turn = OPENING.acquire().await.expect("it is never closed");
        sockets::connect_from(2 + (number % 8) as u8, self.address).await
    }

    /// Waits until so many are held.
    async fn until_held(&self, held: u64) {
        while self.counts.held.load(Ordering::Relaxed) < held {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.counts.ready();
    }

    /// Waits until so many have been sent.
    async fn until_sent(&self, sent: u64) {
        while self.counts.sent.load(Ordering::Relaxed) < sent {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.counts.ready();
    }
}

/// Has `count` attackers do the same over and over; each time that `once` fails it begins anew a little later.
fn crowd<F>(target: &Target, count: usize, once: impl Fn(Target, usize) -> F + Copy + Send + 'static)
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    for number in 0..count {
        let target = target.clone();
        tokio::spawn(async move {
            loop {
                if once(target.clone(), number).await.is_err() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        });
    }
}

/// Goes on until the process ends.
async fn forever() {
    std::future::pending().await
}
