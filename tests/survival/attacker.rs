//! An attack is a process of its own at a low priority. It ends with its harness, and after a minute in any case.
//!
//! It says what it does on its standard output, one line a tenth of a second: held, sent, answered, refused, ready.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::attacks;

/// How much nicer attackers are, and their sessions where sessions are scheduled as such.
const NICER: i32 = 10;
/// This session's niceness: "/autogroup-7 nice 0".
const GROUP: &str = "/proc/self/autogroup";
const MOST_LIFE: Duration = Duration::from_secs(60);
const TOLD_EVERY: Duration = Duration::from_millis(50);

/// What an attack counts.
#[derive(Debug, Default)]
pub struct Counts {
    /// Connections, streams or whatever is held now.
    pub held: AtomicU64,
    /// Requests, or pieces of them, that were sent.
    pub sent: AtomicU64,
    /// Answers that were taken.
    pub answered: AtomicU64,
    /// What the server refused: by an answer or by ending a connection.
    pub refused: AtomicU64,
    /// The load is there.
    pub ready: AtomicBool,
    fault: Mutex<Option<String>>,
}

impl Counts {
    pub fn ready(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }

    /// What must not be: the attack fails.
    pub fn fault(&self, text: impl Into<String>) {
        self.fault.lock().expect("no panic").get_or_insert_with(|| text.into());
    }
}

/// Adds one.
pub fn more(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

/// What an attack is given.
#[derive(Debug, Clone)]
pub struct Target {
    pub address: SocketAddr,
    pub counts: Arc<Counts>,
}

/// Counts something as held while it lives.
pub struct Held(Arc<Counts>);

impl Target {
    pub fn hold(&self) -> Held {
        more(&self.counts.held);
        Held(Arc::clone(&self.counts))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.held.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The attacker's side: `attack NAME ADDRESS NICENESS`.
pub fn run(args: &[String]) -> ExitCode {
    let [name, address, group] = args else { return ExitCode::from(2) };
    let all = attacks::all();
    let Some(attack) = all.iter().find(|attack| attack.name == name) else { return ExitCode::from(2) };
    let target = Target { address: address.parse().expect("an address"), counts: Arc::default() };
    let counts = Arc::clone(&target.counts);
    let _: std::io::Result<()> = std::fs::write(GROUP, group);
    std::thread::spawn(|| {
        // Ends with the other side of the pipe.
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    std::thread::spawn(move || tell(&counts));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { (attack.run)(target).await });
    ExitCode::SUCCESS
}

fn tell(counts: &Counts) {
    let until = Instant::now() + MOST_LIFE;
    let mut out = std::io::stdout();
    while Instant::now() < until {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (held, sent, answered) = (get(&counts.held), get(&counts.sent), get(&counts.answered));
        let (refused, ready) = (get(&counts.refused), counts.ready.load(Ordering::Relaxed));
        let mut line = format!("{held} {sent} {answered} {refused} {}\n", u8::from(ready));
        if let Some(fault) = &*counts.fault.lock().expect("no panic") {
            line += &format!("fault {fault}\n");
        }
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            break;
        }
        std::thread::sleep(TOLD_EVERY);
    }
    std::process::exit(0);
}

/// What an attacker has told.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// The most that was held at a time.
    pub held: u64,
    pub sent: u64,
    pub answered: u64,
    pub refused: u64,
    pub ready: bool,
    pub fault: Option<String>,
    pub ended: bool,
}

/// The harness's side.
pub struct Attacker {
    child: Child,
    _stdin: Option<ChildStdin>,
    told: Arc<Mutex<Told>>,
}

impl Attacker {
    pub fn start(name: &str, address: SocketAddr) -> Self {
        let own = std::env::current_exe().expect("this program");
        let group = std::fs::read_to_string(GROUP).unwrap_or_default();
        let group: i32 = group.trim().rsplit(' ').next().and_then(|nice| nice.parse().ok()).unwrap_or(0);
        let group = (group + NICER).min(19);
        // In a session of its own, which Linux may schedule as one: niceness counts within it only.
        let mut child = Command::new("setsid")
            .args(["nice", "-n", &NICER.to_string()])
            .arg(own)
            .args(["attack", name, &address.to_string(), &group.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("an attacker starts");
        let told: Arc<Mutex<Told>> = Arc::default();
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let stdin = child.stdin.take();
        let hears = Arc::clone(&told);
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                hear(&mut hears.lock().expect("no panic"), &line);
            }
            hears.lock().expect("no panic").ended = true;
        });
        Self { child, _stdin: stdin, told }
    }

    pub fn told(&self) -> Told {
        self.told.lock().expect("no panic").clone()
    }

    /// Waits until the load is there. False when it is not in time.
    pub fn ready(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            let told = self.told();
            if told.ready || told.ended || Instant::now() > until {
                return told.ready;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn hear(told: &mut Told, line: &str) {
    if let Some(fault) = line.strip_prefix("fault ") {
        told.fault = Some(fault.to_owned());
        return;
    }
    let numbers: Vec<u64> = line.split(' ').filter_map(|number| number.parse().ok()).collect();
    if let [held, sent, answered, refused, ready] = numbers[..] {
        let most = told.held.max(held);
        *told = Told { held: most, sent, answered, refused, ready: ready == 1, ..told.clone() };
    }
}

impl Drop for Attacker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
