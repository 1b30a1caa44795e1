//! What the program says on standard error. A thread of its own writes it: nobody who has something to say waits for whoever reads it, and
//! nothing ends because nobody does.

use std::io::{self, IsTerminal, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use twolane::Lines;

/// Has events that pass the filter written to standard error.
///
/// # Errors
/// A text that says why not.
pub(crate) fn to_stderr(filter: &str) -> Result<Lines, String> {
    let filter = EnvFilter::try_new(filter).map_err(|error| format!("--log {filter}: {error}"))?;
    let lines = Lines::to("stderr", io::stderr()).map_err(|error| format!("starting the log: {error}"))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal())
        // It would tell of failures on standard error, and panic where that cannot be written.
        .log_internal_errors(false)
        .with_writer(ToLines(lines.clone()))
        .init();
    let panics = lines.clone();
    std::panic::set_hook(Box::new(move |panic| panics.put(format!("twolane: {panic}\n").as_bytes())));
    Ok(lines)
}

/// Hands every event over as it is: each comes in one piece.
struct ToLines(Lines);

impl MakeWriter<'_> for ToLines {
    type Writer = Event;

    fn make_writer(&self) -> Event {
        Event(self.0.clone())
    }
}

struct Event(Lines);

impl Write for Event {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.put(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
