//! A load client for MCP servers over HTTP/1.1: one thread, a fresh id for every request, every answer checked. A wrong answer ends the
//! run, so that no figure comes of wrong ones.

mod account;
mod answer;
mod args;
mod connection;
mod dialogue;
mod drive;
mod hold;
mod latency;
mod probe;
mod report;
mod work;

use std::process::ExitCode;

use args::{Fallible, Load};

fn main() -> ExitCode {
    twolane_load::raise_open_files();
    match run(std::env::args().nth(1).as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("load: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mode: Option<&str>) -> Fallible<()> {
    match mode {
        Some("closed") => drive(&Load::closed()?),
        Some("open") => drive(&Load::open()?),
        Some("hold") => hold::run(),
        Some("probe-h2") => probe::run(),
        Some("print") => print(),
        _ => Err(args::USAGE.into()),
    }
}

fn drive(load: &Load) -> Fallible<()> {
    // Sleeps end when they should, not some fifty microseconds later.
    rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))?;
    println!("{}", drive::run(load)?.json());
    Ok(())
}

/// Header fields, an empty line, and the body: for other clients to send.
fn print() -> Fallible<()> {
    let work = args::work()?;
    let common = "Content-Type: application/json\nAccept: application/json, text/event-stream\n";
    println!("{common}{}\n{}", work.fields().replace('\r', ""), work.body(args::bytes()?));
    Ok(())
}
