//! The tools of the tests' servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use twolane::server::Builder;
use twolane::tools::{Context, Json, RawTool, ToolError, Typed};

use super::gate::Gate;

/// What the tools tell about themselves. Clones tell the same.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    runs: Arc<AtomicU64>,
    /// Holds the tools `gate` and `block`.
    pub gate: Gate,
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(serde::Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Sleep {
    ms: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Size {
    bytes: usize,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Tools {
    /// How often any tool has run: arguments that are refused run none.
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::SeqCst)
    }

    fn run(&self) -> impl Fn() -> u64 + Send + Sync + Clone + 'static {
        let runs = Arc::clone(&self.runs);
        move || runs.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Registers all of them.
    pub fn register(&self, builder: Builder) -> Builder {
        self.waiting(self.quick(builder))
    }

    fn quick(&self, builder: Builder) -> Builder {
        let (echo, add, count, fail, panic, sql, confirm, big) =
            (self.run(), self.run(), self.run(), self.run(), self.run(), self.run(), self.run(), self.run());
        builder
            .tool(Typed::immediate("echo", "Returns the message.", move |args: Echo| {
                echo();
                args.message
            }))
            .tool(Typed::new("add", "Adds two numbers.", move |args: Add| {
                add();
                async move { Json(Sum { sum: args.a + args.b }) }
            }))
            .tool(Typed::immediate(
                "count",
                "Counts its calls and those of all others.",
                move |_: Nothing| count().to_string(),
            ))
            .tool(Typed::immediate("fail", "Fails.", move |_: Nothing| -> Result<(), ToolError> {
                fail();
                Err(ToolError::new("it failed as it should"))
            }))
            // Without the panic hook, which would write into the tests' output.
            .tool(Typed::new("panic", "Panics.", move |_: Nothing| {
                panic();
                async move { std::panic::resume_unwind(Box::new("a panic in a tool")) as () }
            }))
            .tool(RawTool::new("sql", "Has mirrored arguments.", sql_schema(), move |arguments: Value| {
                sql();
                async move { arguments.to_string() }
            }))
            .tool(
                RawTool::new(
                    "confirm",
                    "Needs a client that can be asked.",
                    sql_schema(),
                    move |_: Value| {
                        confirm();
                        async move { "confirmed" }
                    },
                )
                .requires("elicitation"),
            )
            .tool(Typed::immediate("big", "Returns as many bytes as asked for.", move |args: Size| {
                big();
                "x".repeat(args.bytes)
            }))
    }

    fn waiting(&self, builder: Builder) -> Builder {
        let (sleep, steps, gate, block) = (self.run(), self.run(), self.run(), self.run());
        let (pass, pass_blocking) = (self.gate.clone(), self.gate.clone());
        builder
            .tool(Typed::new("sleep", "Waits for so long.", move |args: Sleep| {
                sleep();
                async move {
                    tokio::time::sleep(Duration::from_millis(args.ms)).await;
                    "done"
                }
            }))
            .tool(Typed::new("steps", "Reports each of its steps.", move |args: Steps, context: Context| {
                steps();
                async move {
                    for step in 1..=args.steps {
                        context.progress(f64::from(step), Some(f64::from(args.steps)), Some("a step"));
                        tokio::task::yield_now().await;
                    }
                    "done"
                }
            }))
            .tool(Typed::new("gate", "Reports that it waits, and waits until it is let go.", {
                move |_: Nothing, context: Context| {
                    gate();
                    context.progress(1.0, None, Some("waiting"));
                    let pass = pass.clone();
                    async move {
                        pass.pass().await;
                        "let go"
                    }
                }
            }))
            .tool(Typed::blocking("block", "Blocks its thread until it is let go.", {
                move |_: Nothing, context: Context| {
                    block();
                    let free = pass_blocking.pass_blocking(|| context.is_cancelled());
                    if free { "let go" } else { "cancelled" }
                }
            }))
    }
}

fn sql_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "limit": {"type": "integer", "x-mcp-header": "Limit"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "query": {"type": "string"},
        },
        "required": ["region", "query"],
    })
}
