//! The command line.

use std::path::PathBuf;

/// What is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Args {
    pub(crate) server: PathBuf,
    pub(crate) seconds: f64,
    pub(crate) seed: u64,
    pub(crate) rate: u64,
    pub(crate) people: u8,
    pub(crate) workers: u64,
    pub(crate) markdown: Option<PathBuf>,
    /// What the server is given besides.
    pub(crate) flags: Vec<String>,
}

const USAGE: &str = "usage: soak-client --server BINARY [--minutes N | --seconds N] [--seed N] [--rate REQUESTS-A-SECOND] [--people N] \
    [--workers N] [--markdown FILE] [-- FLAGS-OF-THE-SERVER]";

impl Args {
    /// Reads the command line.
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Self {
            server: PathBuf::new(),
            seconds: 1_800.0,
            seed: 1,
            rate: 600,
            people: 48,
            workers: 2,
            markdown: None,
            flags: Vec::new(),
        };
        while let Some(flag) = words.next() {
            if flag == "--" {
                args.flags = words.collect();
                break;
            }
            let value = words.next().ok_or(USAGE)?;
            let wrong = |_| format!("{flag} {value} cannot be read\n{USAGE}");
            let number = || value.parse().map_err(wrong);
            match flag.as_str() {
                "--server" => args.server = value.into(),
                "--minutes" => args.seconds = value.parse::<f64>().map_err(|_| USAGE)? * 60.0,
                "--seconds" => args.seconds = value.parse().map_err(|_| USAGE)?,
                "--seed" => args.seed = number()?,
                "--rate" => args.rate = number()?,
                "--people" => args.people = value.parse().map_err(wrong)?,
                "--workers" => args.workers = number()?,
                "--markdown" => args.markdown = Some(value.into()),
                _ => return Err(USAGE.to_owned()),
            }
        }
        let sound = args.seconds.is_finite() && args.seconds > 0.0 && args.people > 0 && args.rate > 0;
        if sound && !args.server.as_os_str().is_empty() { Ok(args) } else { Err(USAGE.to_owned()) }
    }
}
