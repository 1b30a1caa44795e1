//! Flags and subcommands. Every limit is a flag, derived from the one list of limits.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use clap_complete::Shell;
use twolane::{Limits, Unit};

/// The whole command line.
pub(crate) fn command() -> Command {
    let serving = |command: Command| command.args(serve_args()).args(limit_args());
    serving(Command::new("twolane"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("An MCP server over HTTP: two protocol eras on one endpoint")
        .after_help("Without a subcommand, twolane serves.")
        .args_conflicts_with_subcommands(true)
        .subcommand(serving(Command::new("serve").about("Serve the demo tools (the default)")))
        .subcommand(serving(
            Command::new("check").about("Check the flags of serve without serving, and report every fault"),
        ))
        .subcommand(
            Command::new("rejections").about("Print the rejection table").arg(
                Arg::new("format")
                    .long("format")
                    .value_name("FORMAT")
                    .value_parser(["markdown", "text"])
                    .default_value("text")
                    .help("How to print it"),
            ),
        )
        .subcommand(
            Command::new("limits").about("Print every limit with its default and range, as a Markdown table"),
        )
        .subcommand(
            Command::new("completions")
                .about("Print a completion script")
                .arg(Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell))),
        )
}

fn serve_args() -> [Arg; 14] {
    [
        Arg::new("listen")
            .long("listen")
            .value_name("ADDR")
            .action(ArgAction::Append)
            .help("Address to listen on, such as 127.0.0.1:8080 or [::1]:0; may be repeated [default: 127.0.0.1:8080]"),
        Arg::new("path").long("path").value_name("PATH").default_value("/mcp").help("Path of the endpoint"),
        Arg::new("workers")
            .long("workers")
            .value_name("N")
            .value_parser(RangedU64ValueParser::<usize>::new().range(1..=1024))
            .help("Worker threads [default: one per core]"),
        Arg::new("scheduler")
            .long("scheduler")
            .value_name("KIND")
            .value_parser(["per-core", "stealing"])
            .default_value("per-core")
            .help("One runtime per worker, each with its own listener, or one runtime that moves work between workers"),
        Arg::new("allow-origin")
            .long("allow-origin")
            .value_name("ORIGIN")
            .action(ArgAction::Append)
            .help("Origin that may call from a browser: https://app.example.com, https://*.example.com, chrome-extension://*, *"),
        Arg::new("allow-host")
            .long("allow-host")
            .value_name("HOST")
            .action(ArgAction::Append)
            .help("Host name the server answers to: mcp.example.com, mcp.example.com:8443, *.example.com"),
        Arg::new("bearer-token-file")
            .long("bearer-token-file")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::FilePath)
            .help("Require one of the bearer tokens in this file: one a line, TOKEN or NAME TOKEN"),
        Arg::new("sealing-key-file")
            .long("sealing-key-file")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::FilePath)
            .help("Seal requestState with the first key in this file, and take what any of them has sealed: one a line, 64 hexadecimal digits or base64 [default: a random key]"),
        Arg::new("limit-loopback")
            .long("limit-loopback")
            .action(ArgAction::SetTrue)
            .help("Hold peers on the loopback to the limits for each peer too"),
        Arg::new("legacy")
            .long("legacy")
            .value_name("on|off")
            .value_parser(["on", "off"])
            .default_value("on")
            .help("Serve the revisions with sessions, 2025-03-26 to 2025-11-25"),
        Arg::new("access-log")
            .long("access-log")
            .value_name("FILE")
            .num_args(0..=1)
            .default_missing_value("-")
            .value_hint(ValueHint::FilePath)
            .help("Write one JSON line a request to this file; - or no name: standard error"),
        Arg::new("log")
            .long("log")
            .value_name("FILTER")
            .env("TWOLANE_LOG")
            .default_value("info,twolane::wire::reject=warn,h2=error")
            .help("What to log to standard error, such as info or twolane::wire::reject=info"),
        Arg::new("cache-ttl")
            .long("cache-ttl")
            .value_name("MS")
            .value_parser(value_parser!(u64))
            .default_value("60000")
            .help("How long clients may take lists and discovery as fresh (ms)"),
        Arg::new("instructions")
            .long("instructions")
            .value_name("TEXT")
            .help("What to tell the model about this server"),
    ]
}

fn limit_args() -> impl Iterator<Item = Arg> {
    Limits::ALL.iter().map(|info| {
        let name: &'static str = Box::leak(info.name.replace('_', "-").into_boxed_str());
        let default: &'static str = Box::leak(info.default.to_string().into_boxed_str());
        let unit = match info.unit {
            Unit::Bytes => "BYTES",
            Unit::Milliseconds => "MS",
            Unit::Count | Unit::PerSecond => "N",
        };
        Arg::new(name)
            .long(name)
            .value_name(unit)
            .default_value(default)
            .hide_short_help(true)
            .help_heading("Limits")
            .help(info.help.trim())
    })
}

/// The limits as given; those that cannot be are told.
pub(crate) fn limits(matches: &ArgMatches, faults: &mut Vec<String>) -> Limits {
    let mut limits = Limits::default();
    for info in Limits::ALL {
        let flag = info.name.replace('_', "-");
        let Some(text) = matches.get_one::<String>(&flag) else { continue };
        let set = match text.parse() {
            Ok(value) => limits.set(info.name, value).map_err(|fault| format!("--{flag}: {fault}")),
            Err(_) => Err(format!("--{flag} {text} is no number; write a plain one in {}", info.unit.word())),
        };
        faults.extend(set.err());
    }
    limits
}

/// All values of a flag that may be repeated.
pub(crate) fn many<'m>(matches: &'m ArgMatches, name: &str) -> impl Iterator<Item = &'m str> {
    matches.get_many::<String>(name).into_iter().flatten().map(String::as_str)
}
