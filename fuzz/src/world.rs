//! A server in memory: small limits, tools of every kind, a clock that stands still.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use twolane::base::clock::{Clock, ManualClock};
use twolane::base::limits::Limits;
use twolane::base::principal::Principal;
use twolane::road::Road;
use twolane::road::allow::{HostRule, OriginRule};
use twolane::road::auth::{AuthFault, Authenticator};
use twolane::road::limit::{Caller, RateLimiter, RetryAfter};
use twolane::road::protocol_fields::supported;
use twolane::road::settings::Settings;
use twolane::tools::{Behind, CacheScope, Context, Identity, Json, RawTool, Registry, ServerInfo, Typed};

use crate::lent;

/// Milliseconds without a message after which a session may be swept away.
pub const SESSION_IDLE_MS: u64 = 1_000;
/// Most sessions.
pub const SESSIONS: u64 = 4;
/// Longest body, and longest from a stranger while authentication is on.
pub const BODY: u64 = 2_000;
pub const STRANGERS_BODY: u64 = 400;
/// Longest query.
pub const QUERY: u64 = 24;
/// Deepest nesting.
pub const DEPTH: u64 = 12;
/// Milliseconds that a task is kept.
pub const TASK_TTL_MS: u64 = 1_000;
/// An origin and a host allowed beside the loopback ones.
pub const ORIGIN: &str = "https://app.example";
pub const HOST: &str = "mcp.example";

/// What differs from one world to the next.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub legacy: bool,
    pub auth: bool,
}

/// A road, and what can be seen of it from behind.
#[derive(Debug)]
pub struct World {
    pub options: Options,
    pub road: Road,
    pub clock: ManualClock,
    calls: Arc<AtomicU64>,
    limited: Arc<AtomicBool>,
}

impl World {
    /// A new world. `registry` is shared: compiling schemas takes longer than everything else.
    pub fn new(options: Options, tools: &Tools, limits: Limits) -> Self {
        let limited = Arc::new(AtomicBool::new(false));
        let mut settings = Settings::default();
        settings.limits = limits;
        settings.legacy = options.legacy;
        settings.origins.push(OriginRule::parse(ORIGIN).expect("a rule"));
        settings.hosts.push(HostRule::parse(HOST).expect("a rule"));
        settings.limiter = Some(Arc::new(Limiter(Arc::clone(&limited))));
        if options.auth {
            settings.authenticator = Some(Arc::new(Tokens));
        }
        let offered: Vec<_> = supported(options.legacy).collect();
        let info = ServerInfo::new("fuzzed", "1.0.0");
        let identity = Identity::new(&info, &offered, 5_000, CacheScope::Public);
        let behind = Behind::new(tools.registry.clone(), identity, &settings.limits);
        let (clock, hand) = Clock::manual();
        let road = Road::new(settings, clock, behind);
        Self { options, road, clock: hand, calls: Arc::clone(&tools.calls), limited }
    }

    /// How often handlers have run.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Whether the rate limiter refuses everybody.
    pub fn set_limited(&self, limited: bool) {
        self.limited.store(limited, Ordering::Relaxed);
    }
}

/// Low, so that small inputs reach them.
pub fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.body, limits.unauthenticated_body, limits.query) = (BODY, STRANGERS_BODY, QUERY);
    (limits.json_depth, limits.sessions, limits.session_idle) = (DEPTH, SESSIONS, SESSION_IDLE_MS);
    (limits.page_size, limits.stream_buffer) = (3, 4);
    // What waits for a client waits for less long than a patient one of ours.
    (limits.tool_timeout, limits.answer_timeout, limits.push_window) = (5_000, 2_000, 1_500);
    (limits.tasks, limits.task_ttl) = (4, TASK_TTL_MS);
    (limits.listeners, limits.listen_resources, limits.resource_uri) = (3, 3, 64);
    (limits.get_streams, limits.replay_events, limits.replay_streams) = (2, 4, 2);
    (limits.replay_bytes, limits.session_replay, limits.replay_time) = (1_024, 2_048, 500);
    (limits.session_detached, limits.detached, limits.server_requests) = (2, 3, 2);
    (limits.session_subscriptions, limits.updated_resources) = (2, 2);
    (limits.question_bytes, limits.answer_bytes) = (1_024, 1_024);
    limits
}

struct Limiter(Arc<AtomicBool>);

impl RateLimiter for Limiter {
    fn admit(&self, _: Caller<'_>) -> Result<(), RetryAfter> {
        if self.0.load(Ordering::Relaxed) { Err(RetryAfter { ms: 1_500 }) } else { Ok(()) }
    }
}

/// Tokens are names: `alice` and `bob` are known, `narrow` lacks a scope, `away` cannot be checked now.
struct Tokens;

impl Authenticator for Tokens {
    fn authenticate(&self, token: &[u8]) -> Result<Arc<Principal>, AuthFault> {
        match token {
            b"alice" => Ok(Arc::new(Principal::new("alice"))),
            b"bob" => Ok(Arc::new(Principal::new("bob"))),
            b"narrow" => Err(AuthFault::InsufficientScope("mcp:tools".to_owned())),
            b"away" => Err(AuthFault::Unavailable { retry_after_s: 7 }),
            _ => Err(AuthFault::InvalidToken),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Pair {
    a: f64,
    b: f64,
}

#[derive(Serialize, JsonSchema)]
struct Quotient {
    value: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    /// How often the call goes on later.
    #[schemars(range(max = 8))]
    yields: u8,
    /// How often it reports progress.
    #[schemars(range(max = 8))]
    reports: u8,
}

#[derive(Deserialize, JsonSchema)]
struct Wait {
    ms: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// The tools, compiled once.
#[derive(Debug)]
pub struct Tools {
    registry: Registry,
    calls: Arc<AtomicU64>,
}

impl Tools {
    /// A registry of somebody else's.
    pub fn of(registry: Registry) -> Self {
        Self { registry, calls: Arc::default() }
    }
}

impl Default for Tools {
    fn default() -> Self {
        let calls = Arc::new(AtomicU64::new(0));
        let counted = || {
            let calls = Arc::clone(&calls);
            let count: lent::Count = Arc::new(move || {
                calls.fetch_add(1, Ordering::Relaxed);
            });
            count
        };
        let registry = Registry::default();
        let add = |added: Result<(), twolane::Error>| added.expect("a tool");
        let run = counted();
        add(registry.add(Typed::new("echo", "Returns the message.", move |echo: Echo| {
            run();
            async { echo.message }
        })));
        let run = counted();
        add(registry.add(Typed::immediate("divide", "Divides.", move |pair: Pair| {
            run();
            Json(Quotient { value: pair.a / pair.b })
        })));
        let run = counted();
        add(registry.add(Typed::new("steps", "Takes its time.", move |steps: Steps, context: Context| {
            run();
            step(steps, context)
        })));
        let run = counted();
        add(registry.add(Typed::new("wait", "Waits.", move |wait: Wait| {
            run();
            async move {
                // Well within every grace, or longer than any.
                let ms = if wait.ms <= 300 { wait.ms } else { 10_000 };
                tokio::time::sleep(Duration::from_millis(ms)).await;
                "waited"
            }
        })));
        let run = counted();
        let needs = Typed::immediate("needs", "Needs a capability.", move |_: Nothing| run());
        add(registry.add(needs.requires("sampling")));
        let run = counted();
        add(registry.add(RawTool::new(
            "lookup",
            "Has mirrored arguments.",
            lookup_schema(),
            move |value: Value| {
                run();
                async move { value.to_string() }
            },
        )));
        lent::register(&registry, &counted);
        Self { registry, calls }
    }
}

async fn step(steps: Steps, context: Context) -> &'static str {
    let mut reported = 0;
    for turn in 0..=steps.yields {
        while reported < u32::from(steps.reports) * u32::from(turn + 1) / (u32::from(steps.yields) + 1) {
            reported += 1;
            context.progress(reported.into(), Some(steps.reports.into()), Some("a\u{2028}step"));
        }
        if turn < steps.yields {
            go_on_later().await;
        }
    }
    "stepped"
}

/// Lets everybody else go on first.
pub(crate) async fn go_on_later() {
    let mut later = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut later, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// `Mcp-Param-Region`, `Mcp-Param-Limit` (nested) and `Mcp-Param-Dry`.
fn lookup_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "options": {"type": "object", "properties": {"limit": {"type": "integer", "x-mcp-header": "Limit"}}},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"}
        }
    })
}
