//! The command line.

use std::error::Error;
use std::str::FromStr;
use std::time::Duration;

use twolane_load::flag;

use crate::work::Work;

pub(crate) type Fallible<T> = Result<T, Box<dyn Error>>;

pub(crate) const USAGE: &str = "\
load MODE --port PORT [FLAGS]: drives a server on 127.0.0.1 and checks every answer; prints JSON
modes
  closed      --connections N each send their next requests when the last ones are answered
  open        requests leave at --rate N a second; latency counts from the time at which each should have left
  hold        opens --count N of --what connections|sessions|connected-sessions|streams|listeners, says so,
              waits for the end of standard input, and looks whether all are still open
  probe-h2    one modern echo over HTTP/2: says how long its answer is, for a client that cannot check answers
  print       the body of a request of --work, and its headers
flags
  --work modern-echo|legacy-echo|legacy-ping|discover|bad-origin|bad-type|bad-json    --bytes N of the message (16)
  --lengths N: so many different lengths in turn, from --bytes on (1)
  --connections N (32)    --pipeline N requests that a connection sends at once (1)    --seconds N (3)    --warm N (1)
  --pid N of the server: whose CPU time is told    --canned: the server answers the same to everything
  --slow N more connections that call the tool `burn` again and again, each for --burn MS (20)";

/// What `closed` and `open` need to know.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub(crate) port: u16,
    pub(crate) work: Work,
    pub(crate) bytes: usize,
    /// How many different lengths messages have, from `bytes` on.
    pub(crate) lengths: usize,
    pub(crate) connections: usize,
    pub(crate) pace: Pace,
    pub(crate) time: Duration,
    pub(crate) warm: Duration,
    pub(crate) pid: Option<u32>,
    pub(crate) canned: bool,
    pub(crate) slow: usize,
    pub(crate) burn_ms: u64,
}

/// When requests leave.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pace {
    /// When those before them are answered, so many at once.
    Closed { pipeline: usize },
    /// So many a second, whatever the server does.
    Open { rate: f64 },
}

impl Load {
    pub(crate) fn closed() -> Fallible<Self> {
        Self::read(Pace::Closed { pipeline: at_least_one("--pipeline", 1)? })
    }

    pub(crate) fn open() -> Fallible<Self> {
        let rate = flag("--rate", 0.0)?;
        if rate <= 0.0 {
            return Err("--rate: how many requests a second?".into());
        }
        Self::read(Pace::Open { rate })
    }

    fn read(pace: Pace) -> Fallible<Self> {
        Ok(Self {
            port: port()?,
            work: work()?,
            bytes: bytes()?,
            lengths: at_least_one("--lengths", 1)?,
            connections: at_least_one("--connections", 32)?,
            pace,
            time: Duration::try_from_secs_f64(flag("--seconds", 3.0)?)?,
            warm: Duration::try_from_secs_f64(flag("--warm", 1.0)?)?,
            pid: Some(flag("--pid", 0)?).filter(|&pid| pid != 0),
            canned: std::env::args().any(|argument| argument == "--canned"),
            slow: flag("--slow", 0)?,
            burn_ms: flag("--burn", 20)?,
        })
    }
}

pub(crate) fn port() -> Fallible<u16> {
    match flag("--port", 0)? {
        0 => Err("--port: where does the server listen?".into()),
        port => Ok(port),
    }
}

pub(crate) fn work() -> Fallible<Work> {
    let name: String = flag("--work", "modern-echo".to_owned())?;
    Ok(Work::from_str(&name)?)
}

pub(crate) fn bytes() -> Fallible<usize> {
    Ok(flag("--bytes", 16)?)
}

pub(crate) fn at_least_one(name: &str, default: usize) -> Fallible<usize> {
    Ok(flag(name, default)?.max(1))
}
