//! Every bound the server keeps, in one list: name, default, range, unit, meaning. The command line, the documentation and the
//! struct are derived from it.

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Milliseconds.
    Milliseconds,
    /// A plain number of things.
    Count,
    /// So many in one second.
    PerSecond,
}

impl Unit {
    /// The word used in help texts.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Milliseconds => "ms",
            Self::Count => "count",
            Self::PerSecond => "per second",
        }
    }
}

/// One limit's description.
#[derive(Debug, Clone, Copy)]
pub struct LimitInfo {
    /// The name in code and configuration, with underscores.
    pub name: &'static str,
    /// The default value.
    pub default: u64,
    /// The smallest value allowed.
    pub min: u64,
    /// The largest value allowed.
    pub max: u64,
    /// What the value counts.
    pub unit: Unit,
    /// What the limit bounds.
    pub help: &'static str,
}

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $name:ident: $unit:ident = $default:literal, $min:literal ..= $max:literal;)+) => {
        /// The bounds of one server. All values are inclusive: a thing of exactly the limit's size passes.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Limits { $($(#[doc = $doc])+ pub $name: u64,)+ }

        impl Default for Limits {
            fn default() -> Self { Self { $($name: $default,)+ } }
        }

        impl Limits {
            /// Every limit, in declaration order.
            pub const ALL: &'static [LimitInfo] = &[$(LimitInfo {
                name: stringify!($name), default: $default, min: $min, max: $max, unit: Unit::$unit, help: concat!($($doc),+),
            },)+];

            /// The value of the limit called `name`.
            #[must_use]
            pub fn get(&self, name: &str) -> Option<u64> {
                match name { $(stringify!($name) => Some(self.$name),)+ _ => None }
            }

            /// Sets a limit by name.
            ///
            /// # Errors
            /// A text that names the limit and its range, when the name is unknown or the value out of range.
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), String> {
                let info = Self::ALL.iter().find(|info| info.name == name)
                    .ok_or_else(|| format!("there is no limit called {name}"))?;
                if value < info.min || value > info.max {
                    return Err(format!("{name} is {value}, allowed is {} to {} {}", info.min, info.max, info.unit.word()));
                }
                match name { $(stringify!($name) => self.$name = value,)+ _ => {} }
                Ok(())
            }
        }
    };
}

limits! {
    /// Longest request line, its line end not counted; longer is 414.
    request_line: Bytes = 10_000, 64 ..= 16_777_216;
    /// Longest header line, its line end not counted; longer is 431.
    header_line: Bytes = 10_000, 64 ..= 1_048_576;
    /// Most header lines in one request; more is 431.
    headers: Count = 100, 8 ..= 256;
    /// Longest request head, from the request line to the empty line; longer is 431.
    head: Bytes = 65_536, 512 ..= 16_777_216;
    /// Longest query string; longer is refused by the parse step with 414.
    query: Bytes = 1_000_000, 0 ..= 16_777_216;
    /// Longest request body after transfer decoding; longer is refused with 413.
    body: Bytes = 8_000_000, 64 ..= 1_073_741_824;
    /// Deepest nesting of arrays and objects in a JSON body.
    json_depth: Count = 128, 4 ..= 512;
    /// Longest chunk-size line with its extensions.
    chunk_line: Bytes = 256, 16 ..= 65_536;
    /// All chunk extensions of one body together; more is 400.
    chunk_extensions: Bytes = 16_384, 0 ..= 16_777_216;
    /// Longest trailer section of a chunked body.
    trailers: Bytes = 8_192, 64 ..= 65_536;
    /// Most unread body bytes that are read and dropped to keep a connection after an early answer.
    drain: Bytes = 65_536, 0 ..= 16_777_216;
    /// Most open connections; beyond it each listener holds one newcomer and the others wait in the listen queue.
    connections: Count = 10_000, 1 ..= 1_000_000;
    /// Most open connections of one peer (an IPv4 address, or an IPv6 /64); more are closed at once. 0 is no bound. Peers on the loopback are exempt unless `--limit-loopback` is set.
    peer_connections: Count = 1_000, 0 ..= 1_000_000;
    /// How many requests of one peer are admitted for long; more are answered 429, and 503 from twice the burst on, but a peer that goes beyond is still served at its rate. 0 is no bound. Every request counts, whatever it is answered.
    peer_rate: PerSecond = 0, 0 ..= 1_000_000;
    /// How many requests of one peer are admitted at once, after a pause.
    peer_burst: Count = 100, 1 ..= 1_000_000;
    /// Most peers whose rates are remembered, at 34 bytes each; beyond it newcomers share the allowance of one peer until others have paused.
    peer_table: Count = 65_536, 16 ..= 16_777_216;
    /// How much later than it could be served a ready connection may get its turn. Where that lasts, who comes beyond it is answered 503 at once, those first who have had most; 0 turns nobody away.
    overload_delay: Milliseconds = 100, 0 ..= 60_000;
    /// Most calls in flight over the whole process, event streams of sessions and listeners not counted; beyond it requests are answered 503.
    calls: Count = 100_000, 1 ..= 100_000_000;
    /// How long a worker may be held up by one piece of work before it is told in the log; 0 watches none.
    blocked_worker: Milliseconds = 1_000, 0 ..= 3_600_000;
    /// Most pipelined requests answered before the answers are written.
    pipeline: Count = 16, 1 ..= 1_024;
    /// Answer bytes after which a batch of pipelined answers is written.
    batch_bytes: Bytes = 65_536, 1_024 ..= 16_777_216;
    /// Most concurrent streams on one HTTP/2 connection.
    h2_streams: Count = 256, 1 ..= 65_536;
    /// Flow-control window of one HTTP/2 stream.
    h2_stream_window: Bytes = 262_144, 65_535 ..= 2_147_483_647;
    /// Flow-control window of one HTTP/2 connection.
    h2_connection_window: Bytes = 1_048_576, 65_535 ..= 2_147_483_647;
    /// Most frames in one second on one HTTP/2 connection that neither bring anything nor follow from what was sent: pings, settings, empty data; more end it.
    h2_idle_frames: Count = 1_000, 10 ..= 1_000_000;
    /// Most streams of one HTTP/2 connection that are reset in one second, by its client or for the client's faults; more end it.
    h2_resets: Count = 500, 1 ..= 1_000_000;
    /// Answer bytes on one HTTP/2 connection that wait for the client's windows, those of at most 64 KiB each not counted; a stream that would hold more is reset.
    h2_unsent: Bytes = 67_108_864, 65_536 ..= 1_099_511_627_776;
    /// Bytes that an HTTP/2 client has to take in each write timeout while it is slow, or else all that waits.
    h2_progress: Bytes = 16_384, 1 ..= 16_777_216;
    /// Most values in one JSON body, keys counted too, and empty arrays and objects twice; more is refused as what is no JSON. Each is held as 24 bytes and more.
    json_values: Count = 1_000_000, 1_000 ..= 1_000_000_000;
    /// All request bodies in memory beyond 64 KiB each, 8 KiB on HTTP/2, over the whole process; none left answers 503. A sixteenth of it, 16 MiB at most, is what a worker keeps of buffers for the next bodies, and as much for answers.
    body_memory: Bytes = 268_435_456, 1_048_576 ..= 1_099_511_627_776;
    /// All answers that wait for their readers beyond 64 KiB a connection, 8 KiB a stream on HTTP/2, over the whole process; without room for another one its connection or stream ends.
    answer_memory: Bytes = 268_435_456, 65_536 ..= 1_099_511_627_776;
    /// Longest body that is read from a caller without `Authorization` while authentication is on.
    unauthenticated_body: Bytes = 65_536, 0 ..= 1_073_741_824;
    /// Time for a complete request head, from its first byte.
    head_timeout: Milliseconds = 10_000, 10 ..= 3_600_000;
    /// Time for a complete request body, from the end of its head.
    body_timeout: Milliseconds = 30_000, 10 ..= 3_600_000;
    /// Time an idle keep-alive connection stays open.
    idle_timeout: Milliseconds = 75_000, 10 ..= 86_400_000;
    /// Time a write may stall without progress.
    write_timeout: Milliseconds = 30_000, 10 ..= 3_600_000;
    /// Time a pending call goes on after the client's side of a connection has ended.
    half_close_grace: Milliseconds = 1_000, 0 ..= 600_000;
    /// Time that open requests get to finish when the server stops.
    shutdown_grace: Milliseconds = 10_000, 0 ..= 3_600_000;
    /// Time the handler of a tool, resource, prompt or completion may run unless it declares its own; a task has until its time to live is over.
    tool_timeout: Milliseconds = 60_000, 1 ..= 86_400_000;
    /// Longest `requestState` that is issued or taken, in characters; a call that has more to remember fails.
    request_state: Bytes = 262_144, 1_024 ..= 16_777_216;
    /// Time a `requestState` is taken after it was issued.
    request_state_ttl: Milliseconds = 1_800_000, 1_000 ..= 604_800_000;
    /// Most requests of the server's that wait for answers in one legacy session.
    server_requests: Count = 16, 1 ..= 1_024;
    /// Time for a stream to take a request of the server's.
    push_window: Milliseconds = 5_000, 1 ..= 3_600_000;
    /// Time for a legacy client to answer a request of the server's; a tool's own time stands still meanwhile.
    answer_timeout: Milliseconds = 300_000, 1 ..= 86_400_000;
    /// Longest question to a client, as the JSON of its params; a handler that asks a longer one is told so.
    question_bytes: Bytes = 1_048_576, 1_024 ..= 1_073_741_824;
    /// Longest answer to a question of the server's, and all answers together that one request brings; a longer one is none.
    answer_bytes: Bytes = 1_048_576, 1_024 ..= 1_073_741_824;
    /// Longest silence on an open event stream before a comment is sent.
    stream_comment: Milliseconds = 15_000, 10 ..= 3_600_000;
    /// Most notifications waiting for a slow reader on one event stream; later ones are dropped.
    stream_buffer: Count = 256, 1 ..= 65_536;
    /// Most GET event streams of one legacy session; beyond it the oldest ends.
    get_streams: Count = 4, 1 ..= 1_024;
    /// Most resources that one legacy session subscribes to.
    session_subscriptions: Count = 256, 0 ..= 65_536;
    /// What the subscriptions of all legacy sessions together keep: their URIs, and 96 bytes for each.
    subscription_memory: Bytes = 67_108_864, 1_024 ..= 1_099_511_627_776;
    /// Time a client is told to wait before it comes back to a stream that the server has ended early.
    stream_retry: Milliseconds = 1_000, 0 ..= 3_600_000;
    /// Most events of one legacy stream that are kept for a client that comes back.
    replay_events: Count = 256, 1 ..= 65_536;
    /// Event bytes of one legacy stream that are kept for a client that comes back; longer answers are kept for readers alone.
    replay_bytes: Bytes = 262_144, 1_024 ..= 1_073_741_824;
    /// Event bytes of all streams of one legacy session that are kept.
    session_replay: Bytes = 1_048_576, 1_024 ..= 1_073_741_824;
    /// Event bytes that are kept over all legacy sessions; beyond it who sends more forgets its own. What readers have not taken comes on top.
    replay_memory: Bytes = 268_435_456, 1_024 ..= 1_099_511_627_776;
    /// Most finished streams of one legacy session whose events are kept.
    replay_streams: Count = 16, 0 ..= 4_096;
    /// Time the events of a finished legacy stream are kept.
    replay_time: Milliseconds = 60_000, 0 ..= 86_400_000;
    /// Most legacy calls of one session that run on without their client; beyond it a call ends with its connection.
    session_detached: Count = 16, 0 ..= 65_536;
    /// Most legacy calls that run on without their clients, over all sessions.
    detached: Count = 10_000, 0 ..= 100_000_000;
    /// Most legacy sessions; beyond it `initialize` answers 503.
    sessions: Count = 100_000, 1 ..= 100_000_000;
    /// Time a legacy session lives without a message.
    session_idle: Milliseconds = 1_800_000, 100 ..= 604_800_000;
    /// How long a change waits for others before clients are told of all of them at once.
    list_changed_delay: Milliseconds = 20, 0 ..= 60_000;
    /// Most updated resources that wait to be announced one by one; beyond it subscribers are told of all they have subscribed to.
    updated_resources: Count = 4_096, 1 ..= 1_000_000;
    /// Longest URI of a resource that can be subscribed to, or read where it is made by a template.
    resource_uri: Bytes = 2_048, 64 ..= 65_536;
    /// Most open `subscriptions/listen` streams; beyond it another one is answered with an error.
    listeners: Count = 100_000, 1 ..= 100_000_000;
    /// Most resources that one `subscriptions/listen` asks for.
    listen_resources: Count = 256, 1 ..= 65_536;
    /// All that open `subscriptions/listen` streams keep of their requests, URIs and ids; beyond it another one is answered with an error.
    listen_memory: Bytes = 67_108_864, 65_536 ..= 1_099_511_627_776;
    /// Most tools, resources, resource templates or prompts on one page of a list.
    page_size: Count = 100, 1 ..= 10_000;
    /// Most tasks kept, running or over, of all callers together; beyond it a call that may do without one runs inline, and one that may not is refused. Nobody has a share of their own: where callers are strangers, limit their rates.
    tasks: Count = 10_000, 0 ..= 100_000_000;
    /// Time a task is kept, from its creation.
    task_ttl: Milliseconds = 3_600_000, 1_000 ..= 2_592_000_000;
    /// How often clients are asked to poll a task.
    task_poll_interval: Milliseconds = 1_000, 1 ..= 3_600_000;
    /// What all tasks hold in memory: their requests and open questions while they run, their results afterwards. Without room for its request no task is made, and a result that finds none fails its task.
    task_memory: Bytes = 268_435_456, 65_536 ..= 1_099_511_627_776;
}

impl Limits {
    /// Checks every limit against its range.
    ///
    /// # Errors
    /// A text that names the first limit out of range.
    pub fn check(&self) -> Result<(), String> {
        let mut checked = self.clone();
        for info in Self::ALL {
            if let Some(value) = self.get(info.name) {
                checked.set(info.name, value)?;
            }
        }
        Ok(())
    }

    /// Every limit as a Markdown table, for README.
    #[must_use]
    pub fn markdown() -> String {
        let mut out =
            String::from("| limit | default | range | unit | meaning |\n| --- | --- | --- | --- | --- |\n");
        for info in Self::ALL {
            let flag = info.name.replace('_', "-");
            let (default, min, max, unit) = (info.default, info.min, info.max, info.unit.word());
            out.push_str(&format!(
                "| `--{flag}` | {default} | {min} to {max} | {unit} | {} |\n",
                info.help.trim()
            ));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_lie_in_range_and_names_are_unique() {
        let limits = Limits::default();
        for (at, info) in Limits::ALL.iter().enumerate() {
            assert!(info.min <= info.default && info.default <= info.max, "{}", info.name);
            assert_eq!(limits.get(info.name), Some(info.default));
            assert!(Limits::ALL[at + 1..].iter().all(|other| other.name != info.name), "{}", info.name);
        }
    }

    #[test]
    fn set_keeps_range() {
        for info in Limits::ALL {
            let mut limits = Limits::default();
            assert_eq!(limits.set(info.name, info.min), Ok(()));
            assert_eq!(limits.set(info.name, info.max), Ok(()));
            assert_eq!(limits.get(info.name), Some(info.max));
            let over = limits.set(info.name, info.max + 1).unwrap_err();
            assert!(over.contains(info.name), "{over}");
            if info.min > 0 {
                assert!(limits.set(info.name, info.min - 1).is_err());
            }
        }
        assert!(Limits::default().set("nope", 1).is_err());
    }

    #[test]
    fn check_finds_what_was_set_past_the_range() {
        assert_eq!(Limits::default().check(), Ok(()));
        let limits = Limits { h2_stream_window: 1, ..Limits::default() };
        assert!(limits.check().unwrap_err().contains("h2_stream_window"));
    }
}
