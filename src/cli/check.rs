//! From flags to a configuration, with every fault reported at once.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgMatches;
use twolane::tools::SealingKey;
use twolane::{Error, HostRule, OriginRule, Settings, StaticTokens};

use super::args;

/// What serve needs to know.
pub(crate) struct Plan {
    pub(crate) listen: Vec<SocketAddr>,
    pub(crate) settings: Settings,
    pub(crate) workers: usize,
    pub(crate) stealing: bool,
    pub(crate) access_log: Option<String>,
    pub(crate) cache_ttl_ms: u64,
    pub(crate) instructions: Option<String>,
    /// None: a random one.
    pub(crate) sealing_keys: Vec<SealingKey>,
}

/// Reads the flags.
///
/// # Errors
/// Every fault there is, one text each.
pub(crate) fn plan(matches: &ArgMatches) -> Result<Plan, Vec<String>> {
    let mut faults = Vec::new();
    let listen = listen(matches, &mut faults);
    let mut settings = Settings::default();
    if let Some(path) = matches.get_one::<String>("path")
        && let Err(error) = settings.set_path(path)
    {
        faults.push(error.to_string());
    }
    settings.origins = rules(matches, "allow-origin", OriginRule::parse, &mut faults);
    settings.hosts = rules(matches, "allow-host", HostRule::parse, &mut faults);
    settings.legacy = matches.get_one::<String>("legacy").is_none_or(|word| word == "on");
    settings.limit_loopback = matches.get_flag("limit-loopback");
    settings.limits = args::limits(matches, &mut faults);
    if let Some(filter) = matches.get_one::<String>("log")
        && let Err(error) = tracing_subscriber::EnvFilter::try_new(filter)
    {
        faults.push(format!("--log {filter}: {error}"));
    }
    if let Some(file) = matches.get_one::<PathBuf>("bearer-token-file") {
        match read("bearer-token-file", file, StaticTokens::parse) {
            Ok(tokens) => settings.authenticator = Some(Arc::new(tokens)),
            Err(fault) => faults.push(fault),
        }
    }
    let sealing_keys = match matches.get_one::<PathBuf>("sealing-key-file") {
        Some(file) => read("sealing-key-file", file, SealingKey::parse).unwrap_or_else(|fault| {
            faults.push(fault);
            Vec::new()
        }),
        None => Vec::new(),
    };
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Plan {
        listen,
        settings,
        workers: matches.get_one::<usize>("workers").copied().unwrap_or_else(cores),
        stealing: matches.get_one::<String>("scheduler").is_some_and(|kind| kind == "stealing"),
        access_log: matches.get_one::<String>("access-log").cloned(),
        cache_ttl_ms: matches.get_one::<u64>("cache-ttl").copied().unwrap_or(60_000),
        instructions: matches.get_one::<String>("instructions").cloned(),
        sealing_keys,
    })
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn listen(matches: &ArgMatches, faults: &mut Vec<String>) -> Vec<SocketAddr> {
    let mut listen: Vec<SocketAddr> = Vec::new();
    for text in args::many(matches, "listen") {
        match text.parse() {
            Ok(address) if listen.contains(&address) && address.port() != 0 => {
                faults.push(format!("--listen {text} is given twice"));
            }
            Ok(address) => listen.push(address),
            Err(_) => faults
                .push(format!("--listen {text} is no address; write one like 127.0.0.1:8080 or [::1]:8080")),
        }
    }
    if listen.is_empty() && faults.is_empty() {
        listen.push(SocketAddr::from(([127, 0, 0, 1], 8080)));
    }
    listen
}

fn rules<R>(
    matches: &ArgMatches,
    flag: &str,
    parse: fn(&str) -> Result<R, String>,
    faults: &mut Vec<String>,
) -> Vec<R> {
    let mut rules = Vec::new();
    for text in args::many(matches, flag) {
        match parse(text) {
            Ok(rule) => rules.push(rule),
            Err(fault) => faults.push(format!("--{flag}: {fault}")),
        }
    }
    rules
}

/// Reads a file that holds secrets: no fault repeats its text.
fn read<T>(flag: &str, file: &Path, parse: fn(&str) -> Result<T, Error>) -> Result<T, String> {
    let fault = |error: &dyn std::fmt::Display| format!("--{flag} {}: {error}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| fault(&error))?;
    parse(&text).map_err(|error| fault(&error))
}
