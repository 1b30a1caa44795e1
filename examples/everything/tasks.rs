//! Tools whose calls become tasks.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use twolane::Builder;
use twolane::tools::{
    Context, Elicitation, Elicited, Field, Form, ProtocolError, TaskSupport, ToolError, Typed,
};

use crate::content::Nothing;

#[derive(Deserialize, JsonSchema)]
struct Compute {
    /// For how long, in seconds.
    #[serde(default)]
    seconds: f64,
    /// What it is called.
    #[serde(default)]
    label: String,
}

#[derive(Deserialize, JsonSchema)]
struct File {
    /// What to delete.
    #[serde(default)]
    filename: String,
}

async fn compute(compute: Compute) -> Result<String, ToolError> {
    tokio::time::sleep(Duration::try_from_secs_f64(compute.seconds)?).await;
    Ok(format!("Computed {} for {} s", compute.label, compute.seconds))
}

async fn failing(_: Nothing) -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    Err(ToolError::new("The job failed, as it should"))
}

async fn protocol_error(_: Nothing) -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_millis(500)).await;
    Err(ProtocolError::new(-32603, "The job broke, as it should").into())
}

async fn confirm_delete(file: File, context: Context) -> Result<String, ToolError> {
    let form = Form::new().field("confirm", Field::boolean());
    let question = format!("Delete {}?", if file.filename.is_empty() { "the file" } else { &file.filename });
    let answer = context.elicit("confirm", Elicitation::form(question, form)).await?;
    let confirmed = answer.content().and_then(|content| content["confirm"].as_bool()) == Some(true);
    Ok(if confirmed { "Deleted." } else { "Kept." }.to_owned())
}

async fn multi_input(_: Nothing, context: Context) -> Result<String, ToolError> {
    let name = Form::new().optional("name", Field::string());
    let confirm = Form::new().optional("confirm", Field::boolean());
    let (name, confirm) = tokio::join!(
        context.elicit("name", Elicitation::form("What is your name?", name)),
        context.elicit("confirm", Elicitation::form("Are you sure?", confirm)),
    );
    let answers = [name?, confirm?];
    let accepted = answers.iter().filter(|answer| matches!(answer, Elicited::Accepted(_))).count();
    Ok(format!("{accepted} of 2 answers were given"))
}

/// Asks before it becomes a task.
async fn with_task(_: Nothing, context: Context) -> Result<String, ToolError> {
    let form = Form::new().field("name", Field::string());
    let answer = context.elicit("user_name", Elicitation::form("What is your name?", form)).await?;
    let name = answer.content().and_then(|content| content["name"].as_str()).unwrap_or("stranger").to_owned();
    context.start_task().await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    Ok(format!("Hello, {name}!"))
}

pub(crate) fn register(server: Builder) -> Builder {
    let required = TaskSupport::Required;
    server
        .tool(Typed::new("slow_compute", "Computes for a while.", compute).tasks(TaskSupport::Optional))
        .tool(Typed::new("failing_job", "Fails after a while.", failing).tasks(required))
        .tool(Typed::new("protocol_error_job", "Breaks after a while.", protocol_error).tasks(required))
        .tool(Typed::new("confirm_delete", "Asks before it deletes.", confirm_delete).tasks(required))
        .tool(Typed::new("multi_input", "Asks two things at once.", multi_input).tasks(required))
        .tool(
            Typed::new("test_tool_with_task", "Asks, then works.", with_task)
                .tasks(TaskSupport::RequiredByHandler),
        )
}
