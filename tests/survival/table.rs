//! The table, as text and as Markdown.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::attacks::Attack;
use super::measure::{AtRest, Measured};

pub const HEADER: &str = "attack                      | held   | sent/s  | answered | refused | honest p99 ms: idle, during, after | shed | cores | MiB: before, peak, after | recovery s";

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn recovery(measured: &Measured) -> String {
    measured.recovery.map_or_else(|| "none".to_owned(), |recovery| format!("{:.2}", recovery.as_secs_f64()))
}

/// One line of the text.
pub fn line(attack: &Attack, measured: &Measured) -> String {
    let Measured { told, idle, during, after, .. } = measured;
    format!(
        "{:<27} | {:>6} | {:>7.0} | {:>8} | {:>7} | {:>13.1}, {:>7.1}, {:>6.1}     | {:>4} | {:>5.2} | {:>7.1}, {:>6.1}, {:>6.1}  | {:>5}",
        attack.name,
        told.held,
        measured.rate,
        told.answered,
        told.refused,
        ms(idle.p99),
        ms(during.p99),
        ms(after.p99),
        during.shed,
        measured.cores,
        mib(measured.before),
        mib(measured.peak),
        mib(measured.end),
        recovery(measured),
    )
}

/// The machine and the version.
pub fn facts(binary: &Path, hold: Duration) -> String {
    let version = Command::new(binary).arg("--version").output().map(|out| out.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version).trim().to_owned();
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = read("/proc/meminfo");
    let memory = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap_or_default();
    let kib: u64 = memory.trim().trim_end_matches(" kB").parse().unwrap_or(0);
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or_default();
    let kernel = read("/proc/sys/kernel/osrelease");
    format!(
        "{version}, 2 workers; {cores} cores of {model}, {} GiB, Linux {}; load {load} at the beginning; each attack is held for {} s",
        kib >> 20,
        kernel.trim(),
        hold.as_secs()
    )
}

/// The whole table for README.
pub fn markdown(facts: &str, idle: &AtRest, rows: &[(&Attack, Measured)]) -> String {
    let mut text = format!(
        "{facts}. At rest: {idle}.\n\n\
         | attack | load held | honest p99, ms: idle / during / after | server, cores | resident MiB: before / peak / after | recovery, s |\n\
         | --- | --- | --- | --- | --- | --- |\n"
    );
    for (attack, measured) in rows {
        let Measured { told, idle, during, after, .. } = measured;
        let held = (told.held > 0).then(|| format!("{} {}", told.held, attack.unit));
        let rate = (measured.rate >= 1.0).then(|| format!("{:.0}/s", measured.rate));
        let load: Vec<_> = held.into_iter().chain(rate).collect();
        let shed = if during.shed > 0 {
            format!(" ({} of {} shed)", during.shed, during.calls)
        } else {
            String::new()
        };
        text += &format!(
            "| {}: {} | {} | {:.1} / {:.1} / {:.1}{shed} | {:.2} | {:.0} / {:.0} / {:.0} | {} |\n",
            attack.name,
            attack.what,
            load.join(", "),
            ms(idle.p99),
            ms(during.p99),
            ms(after.p99),
            measured.cores,
            mib(measured.before),
            mib(measured.peak),
            mib(measured.end),
            recovery(measured),
        );
    }
    let set: Vec<_> = rows.iter().filter(|(attack, _)| !attack.flags.is_empty()).collect();
    if !set.is_empty() {
        text += "\nLimits that were set for an attack, so that its promise is tested in seconds: ";
        let each = set.iter().map(|(attack, _)| format!("{} `{}`", attack.name, attack.flags.join(" ")));
        text += &(each.collect::<Vec<_>>().join("; ") + ".\n");
    }
    text
}
