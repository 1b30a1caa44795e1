//! What a run has found, as one line of JSON.

use std::time::Duration;

use crate::account::{Account, resident_kib};
use crate::args::Load;
use crate::drive::Tally;

#[derive(Debug)]
pub(crate) struct Report(Vec<(&'static str, f64)>);

impl Report {
    pub(crate) fn new(load: &Load, time: Duration, used: &Account, tally: &Tally, unanswered: u64) -> Self {
        let (seconds, answers) = (time.as_secs_f64(), tally.answers as f64);
        let each = |time: Duration| time.as_secs_f64() * 1e6 / answers.max(1.0);
        Self(vec![
            ("seconds", seconds),
            ("answers", answers),
            ("slow_answers", tally.slow_answers as f64),
            ("unanswered", unanswered as f64),
            ("reopened", tally.reopened as f64),
            ("per_second", answers / seconds),
            ("server_us", each(used.server)),
            ("client_us", each(used.client)),
            ("server_seconds", used.server.as_secs_f64()),
            ("client_seconds", used.client.as_secs_f64()),
            ("cores_seconds", used.cores.as_secs_f64()),
            ("p50_us", tally.latency.share(0.5)),
            ("p99_us", tally.latency.share(0.99)),
            ("p999_us", tally.latency.share(0.999)),
            ("longest_us", tally.latency.share(1.0)),
            ("resident_kib", load.pid.map_or(0, resident_kib) as f64),
        ])
    }

    pub(crate) fn json(&self) -> String {
        let members: Vec<String> =
            self.0.iter().map(|(name, value)| format!("\"{name}\":{value:.3}")).collect();
        format!("{{{}}}", members.join(","))
    }
}
