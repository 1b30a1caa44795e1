//! The command line: `serve` (the default), `check`, `rejections`, `limits`, `completions`.

mod cli;

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
            print!(
                "{}",
                if markdown { cli::print::rejections_markdown() } else { cli::print::rejections_text() }
            );
            ExitCode::SUCCESS
        }
        Some(("limits", _)) => {
            print!("{}", cli::print::limits_markdown());
            ExitCode::SUCCESS
        }
        Some(("completions", matches)) => {
            if let Some(&shell) = matches.get_one::<Shell>("shell") {
                clap_complete::generate(shell, &mut cli::args::command(), "twolane", &mut std::io::stdout());
            }
            ExitCode::SUCCESS
        }
        Some((other, _)) => {
            eprintln!("twolane: there is no subcommand {other}");
            ExitCode::FAILURE
        }
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
            println!(
                "twolane: the flags are in order; {} listener(s), {} worker(s)",
                plan.listen.len(),
                plan.workers
            );
            ExitCode::SUCCESS
        }
        Err(faults) => report(&faults),
    }
}

fn report(faults: &[String]) -> ExitCode {
    for fault in faults {
        eprintln!("twolane: {fault}");
    }
    ExitCode::FAILURE
}
