//! The command line: `serve` (the default), `check`, `rejections`, `limits`, `completions`.

mod cli;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::ArgMatches;
use clap_complete::Shell;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let matches = cli::args::command().get_matches();
    match matches.subcommand() {
        None => serve(&matches),
        Some(("serve", matches)) => serve(matches),
        Some(("check", matches)) => check(matches),
        Some(("rejections", matches)) => {
            let markdown = matches.get_one::<String>("format").is_some_and(|format| format == "markdown");
            print(&if markdown { cli::print::rejections_markdown() } else { cli::print::rejections_text() })
        }
        Some(("limits", _)) => print(&cli::print::limits_markdown()),
        Some(("completions", matches)) => {
            if let Some(&shell) = matches.get_one::<Shell>("shell") {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut cli::args::command(), "twolane", &mut script);
                return print(&String::from_utf8_lossy(&script));
            }
            ExitCode::SUCCESS
        }
        Some((other, _)) => report(&[format!("there is no subcommand {other}")]),
    }
}

/// Prints to a reader that may leave before the end.
fn print(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => report(&[error.to_string()]),
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}

fn serve(matches: &ArgMatches) -> ExitCode {
    match cli::check::plan(matches) {
        Ok(plan) => {
            let filter = matches.get_one::<String>("log").map_or("", String::as_str);
            cli::serve::run(plan, filter)
        }
        Err(faults) => report(&faults),
    }
}

fn check(matches: &ArgMatches) -> ExitCode {
    match cli::check::plan(matches) {
        Ok(plan) => {
            let (listeners, workers) = (plan.listen.len(), plan.workers);
            print(&format!("twolane: the flags are in order; {listeners} listener(s), {workers} worker(s)\n"))
        }
        Err(faults) => report(&faults),
    }
}

fn report(faults: &[String]) -> ExitCode {
    for fault in faults {
        // Where standard error cannot be written, the exit code still says it.
        let _ = writeln!(io::stderr(), "twolane: {fault}");
    }
    ExitCode::FAILURE
}
