//! What a run comes to, in Markdown.

use std::fmt::Write;

use crate::args::Args;
use crate::ledger::Books;
use crate::memory::{FLAT, JUDGED, LEAP, Memory, STEEP};
use crate::server::Look;

/// Everything that is told at the end.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) books: Books,
    /// Requests of every kind, those without an id too.
    pub(crate) sent: u64,
    pub(crate) memory: Option<Memory>,
    /// Before the first client came, and when nothing was open any more.
    pub(crate) idle: (Look, Option<Look>),
    pub(crate) seconds: f64,
    pub(crate) rich: bool,
}

impl Report {
    pub(crate) fn is_good(&self) -> bool {
        self.books.wrong == 0 && self.books.open() == 0
    }

    pub(crate) fn markdown(&self, args: &Args) -> String {
        let mut out = String::new();
        let books = &self.books;
        let verdict = if self.is_good() { "**good**" } else { "**BROKEN**" };
        let _ = writeln!(
            out,
            "Soak of {:.1} minutes, seed {}, {} clients, {} workers: {verdict}.\n",
            self.seconds / 60.0,
            args.seed,
            args.people,
            args.workers,
        );
        if !self.rich {
            out += "**The server is the plain program: nothing was asked, watched or reloaded.**\n\n";
        }
        let _ = writeln!(
            out,
            "| requests | {} sent, {:.0} a second |\n| --- | --- |\n| ids asked | {} |\n| answered, each once | {}, of which {} refusals that were asked for |\n\
             | given up by their clients | {} |\n| lost | {} |\n| faults | {} |",
            self.sent,
            self.sent as f64 / self.seconds,
            books.asked,
            books.answered,
            books.refused,
            books.given_up,
            books.open(),
            books.wrong,
        );
        self.memory_rows(&mut out);
        out += "\n| what was done | times |\n| --- | --- |\n";
        for (what, times) in &books.done {
            let _ = writeln!(out, "| {what} | {times} |");
        }
        if !books.faults.is_empty() {
            out += "\nFaults, the first of them:\n\n";
            for fault in &books.faults {
                let _ = writeln!(out, "- {fault}");
            }
        }
        out
    }

    fn memory_rows(&self, out: &mut String) {
        let Some(memory) = &self.memory else {
            *out += "| memory | too few samples for a slope |\n";
            return;
        };
        let bound = match self.seconds / 60.0 >= JUDGED {
            true => format!("bound {FLAT} KiB, or {STEEP} KiB within chance"),
            false => format!("too short for a bound but {LEAP} KiB in all"),
        };
        let _ = writeln!(
            out,
            "| slope of resident memory | {:+.1} KiB a minute over {:.1} minutes after the warm-up, ± {:.1} by chance; {bound} |\n\
             | resident | {} KiB before, {:.0} KiB on the average, {} KiB at most, {} afterwards |\n\
             | open files | {} before, {} to {}, {} afterwards |\n| threads | {} before, {} to {}, {} afterwards |",
            memory.slope,
            memory.minutes,
            memory.chance,
            self.idle.0.resident,
            memory.mean,
            memory.peak,
            self.after(|look| format!("{} KiB", look.resident)),
            self.idle.0.files,
            memory.files.0,
            memory.files.1,
            self.after(|look| look.files.to_string()),
            self.idle.0.threads,
            memory.threads.0,
            memory.threads.1,
            self.after(|look| look.threads.to_string()),
        );
    }

    fn after(&self, of: impl Fn(&Look) -> String) -> String {
        self.idle.1.as_ref().map_or_else(|| "unknown".to_owned(), of)
    }
}
