//! Tools that let a client see what its acts come to on the server: calls that it has given up, resources that it has subscribed to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use twolane::Builder;
use twolane::tools::{Context, Typed};

use crate::content::Nothing;
use crate::resources::WATCHED;

#[derive(Deserialize, JsonSchema)]
struct Wait {
    /// What to count the call under.
    label: String,
    /// How long to wait.
    ms: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Label {
    /// What the calls are counted under.
    label: String,
}

/// How many calls with each label are running.
type Running = Arc<Mutex<HashMap<String, usize>>>;

/// One running call: counted until it is dropped, however it ends.
struct Counted {
    label: String,
    running: Running,
}

impl Counted {
    fn new(label: String, running: Running) -> Self {
        *running.lock().unwrap_or_else(PoisonError::into_inner).entry(label.clone()).or_default() += 1;
        Self { label, running }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get_mut(&self.label) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.label);
            }
        }
    }
}

/// Adds them all.
pub(crate) fn register(server: Builder) -> Builder {
    let registry = server.registry().clone();
    let running = Running::default();
    server
        .tool(Typed::new("test_wait", "Waits, and says when it starts.", {
            let running = Arc::clone(&running);
            move |wait: Wait, context: Context| {
                let counted = Counted::new(wait.label, Arc::clone(&running));
                async move {
                    let _counted = counted;
                    context.progress(0.0, Some(1.0), None);
                    tokio::time::sleep(Duration::from_millis(wait.ms)).await;
                    "waited"
                }
            }
        }))
        .tool(Typed::new("test_waiting", "Counts the calls that wait.", move |label: Label| {
            let running = running.lock().unwrap_or_else(PoisonError::into_inner);
            let count = running.get(&label.label).copied().unwrap_or_default().to_string();
            async { count }
        }))
        .tool(Typed::new(
            "test_touch_watched_resource",
            "Updates the watched resource.",
            move |_: Nothing| {
                registry.resource_updated(WATCHED);
                async { "The resource has been updated." }
            },
        ))
}
