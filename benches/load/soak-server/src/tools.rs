//! What there is all the time. The first four do what the program's own tools of these names do.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use twolane::Builder;
use twolane::tools::{
    Context, Prompt, PromptArgument, PromptArguments, RawTool, Resource, ResourceTemplate, TaskSupport,
    ToolError, Typed, Variables,
};

use crate::running::Running;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Sleep {
    #[schemars(range(max = 600_000))]
    ms: u64,
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    steps: u32,
}

const fn one() -> u32 {
    1
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
struct Large {
    #[schemars(range(max = 4_000_000))]
    bytes: usize,
}

async fn sleep(sleep: Sleep, context: Context) -> String {
    let steps = sleep.steps.max(1);
    for done in 1..=steps {
        tokio::time::sleep(Duration::from_millis(sleep.ms) / steps).await;
        context.progress(f64::from(done), Some(f64::from(steps)), None);
    }
    format!("Slept {} ms in {steps} steps.", sleep.ms)
}

async fn many(variables: Variables) -> String {
    format!("number {}", variables.get("id").unwrap_or("?"))
}

async fn greet(arguments: PromptArguments) -> String {
    format!("Greet {}.", arguments.get("whom").unwrap_or("everybody"))
}

/// A schema with an argument that a header mirrors.
fn mirrored() -> Value {
    json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}})
}

/// Adds them all.
pub(crate) fn register(server: Builder, running: &Running) -> Builder {
    let running = running.clone();
    let sleeping = move |arguments: Sleep, context: Context| {
        let entered = running.enter();
        async move {
            let _entered = entered;
            sleep(arguments, context).await
        }
    };
    server
        .tool(Typed::new("echo", "Says the message back.", |echo: Echo| async move { echo.message }))
        .tool(Typed::new("add", "Adds two numbers.", |add: Add| async move { add.a + add.b }))
        .tool(Typed::new("sleep", "Sleeps, and reports on the way.", sleeping).tasks(TaskSupport::Optional))
        .tool(Typed::new("fail", "Always fails.", |_: Nothing| async {
            Err::<(), _>(ToolError::new("This tool always fails."))
        }))
        .tool(Typed::new("panic", "Always panics.", |_: Nothing| async {
            // Without the hook: a line for each of thousands says nothing.
            std::panic::resume_unwind(Box::new("as it should"));
            #[allow(unreachable_code, reason = "the type of the result")]
            ""
        }))
        .tool(Typed::new("large", "Answers at length.", |large: Large| async move {
            "0123456789abcdef".repeat(large.bytes / 16)
        }))
        .tool(Typed::blocking("block", "Blocks its thread for a moment.", |_: Nothing| {
            std::thread::sleep(Duration::from_millis(3));
            "unblocked"
        }))
        .tool(RawTool::new(
            "mirrored",
            "Has an argument that a header mirrors.",
            mirrored(),
            |arguments: Value| async move { arguments["region"].as_str().unwrap_or("none").to_owned() },
        ))
        .resource(Resource::text("soak://fixed", "fixed", "fixed"))
        .resource_template(
            ResourceTemplate::new("soak://many/{id}", "many", many).complete("id", ["one", "two"]),
        )
        .prompt(
            Prompt::new("greet", "Asks for a greeting.", greet)
                .argument(PromptArgument::new("whom").required()),
        )
}
