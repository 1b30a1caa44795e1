//! A road with one tool, and requests that it answers: shared by the benches and by `tests/alloc.rs`.
#![allow(dead_code, unreachable_pub, reason = "shared by several programs, and none uses all of it")]

pub mod client;
pub mod measure;
pub mod requests;
pub mod rig;

use schemars::JsonSchema;
use serde::Deserialize;
use twolane::base::clock::Clock;
use twolane::road::Road;
use twolane::road::protocol_fields::supported;
use twolane::road::settings::Settings;
use twolane::tools::{Behind, CacheScope, Context, Identity, Registry, ServerInfo, Typed};

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// What to say.
    message: String,
}

/// Settings as they are by default, and the tool `echo`.
pub fn parts() -> (Settings, Behind) {
    let settings = Settings::default();
    let registry = Registry::new(&settings.limits);
    let echo = Typed::new("echo", "Returns the message.", |echo: Echo, _: Context| async { echo.message });
    registry.add(echo).expect("a tool");
    let offered: Vec<_> = supported(settings.legacy).collect();
    let identity = Identity::new(&ServerInfo::new("bench", "1.0.0"), &offered, 60_000, CacheScope::Public);
    let behind = Behind::new(registry, identity, &settings.limits);
    (settings, behind)
}

/// A road made of them.
pub fn road() -> Road {
    let (settings, behind) = parts();
    Road::new(settings, Clock::system(), behind)
}
