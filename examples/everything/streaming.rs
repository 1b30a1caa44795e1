//! Tools that send something before they answer, or wait.

use std::time::Duration;

use twolane::tools::{Context, Typed};
use twolane::{Builder, LogLevel};

use crate::content::Nothing;

const STEP: Duration = Duration::from_millis(50);

async fn progress(_: Nothing, context: Context) -> &'static str {
    for done in [0.0, 50.0, 100.0] {
        context.progress(done, Some(100.0), None);
        tokio::time::sleep(STEP).await;
    }
    "Progress was reported."
}

async fn log_steps(_: Nothing, context: Context) -> &'static str {
    for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        context.log(LogLevel::Info, Some("test_tool_with_logging"), text);
        tokio::time::sleep(STEP).await;
    }
    "The steps were logged."
}

async fn log_once(_: Nothing, context: Context) -> &'static str {
    context.log(LogLevel::Info, None, "One message, if anybody wants it");
    "Logged."
}

/// Ends its own stream and works on: the client fetches the result by the id of the last event it got.
async fn reconnect(_: Nothing, context: Context) -> &'static str {
    context.close_stream(STEP);
    tokio::time::sleep(Duration::from_millis(100)).await;
    "The client came back."
}

pub(crate) fn register(server: Builder) -> Builder {
    server
        .tool(Typed::new("test_tool_with_progress", "Reports progress three times.", progress))
        .tool(Typed::new("test_tool_with_logging", "Logs three messages.", log_steps))
        .tool(Typed::new("test_logging_tool", "Logs one message.", log_once))
        .tool(Typed::new("test_reconnection", "Ends its stream before its answer.", reconnect))
}
