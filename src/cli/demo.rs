//! The tools the binary serves out of the box: enough to see a client work.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use twolane::Error;
use twolane::tools::{Context, Registry, TaskSupport, ToolError, Typed};

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// What to say back.
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Sleep {
    /// How long to sleep in all, in milliseconds.
    #[schemars(range(max = 600_000))]
    ms: u64,
    /// In how many steps, each reported as progress.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    steps: u32,
}

const fn one() -> u32 {
    1
}

#[derive(Deserialize, JsonSchema)]
struct Fail {}

/// Adds the demo tools.
///
/// # Errors
/// Where a tool cannot be registered, which would be a fault of this file.
pub(crate) fn register(registry: &Registry) -> Result<(), Error> {
    registry.add(Typed::new("echo", "Says the message back.", |echo: Echo| async move { echo.message }))?;
    registry.add(Typed::new("add", "Adds two numbers.", |add: Add| async move { add.a + add.b }))?;
    let sleep = Typed::new("sleep", "Sleeps, and reports progress on the way.", sleep);
    registry.add(sleep.tasks(TaskSupport::Optional))?;
    registry.add(Typed::new("fail", "Always fails, as tools sometimes do.", |_: Fail| async {
        Err::<(), _>(ToolError::new("This tool always fails."))
    }))
}

async fn sleep(sleep: Sleep, context: Context) -> String {
    let steps = sleep.steps.max(1);
    let step = Duration::from_millis(sleep.ms) / steps;
    for done in 1..=steps {
        tokio::time::sleep(step).await;
        context.progress(f64::from(done), Some(f64::from(steps)), None);
    }
    format!("Slept {} ms in {steps} steps.", sleep.ms)
}
