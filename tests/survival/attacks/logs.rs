//! Logs that are flooded, or that nobody reads.

use super::super::attacker::Target;
use super::floods::{pings, refusals};
use super::{Attack, Log, Run};

pub const ATTACKS: &[fn() -> Attack] = &[
    || {
        let attack =
            Attack::new("log to a file", "pings, each a line of the access log", pings as fn(Target) -> Run);
        Attack { log: Log::File, ..attack }.sends(2_000.0)
    },
    || {
        let attack = Attack::new("log nobody reads", "the same, to a pipe that is full", pings);
        Attack { log: Log::Unread, ..attack }.flags(&["--access-log", "-"]).sends(2_000.0)
    },
    || {
        let attack = Attack::new(
            "stderr nobody reads",
            "refusals, each told on a standard error that is full",
            refusals,
        );
        Attack { log: Log::Unread, ..attack }
            .flags(&["--log", "info,twolane::wire::reject=debug"])
            .sends(1_000.0)
    },
];
