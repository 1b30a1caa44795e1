//! Tools that ask their client, in a call and in a task.

use schemars::JsonSchema;
use serde::Deserialize;
use twolane::Builder;
use twolane::tools::{Context, Elicitation, Field, Form, TaskSupport, ToolError, Typed};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Asks for a name, twice where it is told so the first time.
async fn ask(_: Nothing, context: Context) -> Result<String, ToolError> {
    let form = || Form::new().field("name", Field::string().min_length(1));
    let first = context.elicit("first", Elicitation::form("Who?", form())).await?;
    let Some(content) = first.content() else { return Ok(format!("Nobody: {}", first.action())) };
    let name = content["name"].as_str().unwrap_or("?").to_owned();
    if name.ends_with('+') {
        let second = context.elicit("second", Elicitation::form("And who?", form())).await?;
        let other = second.content().and_then(|content| content["name"].as_str()).unwrap_or("nobody");
        return Ok(format!("Hello, {name} and {other}!"));
    }
    Ok(format!("Hello, {name}!"))
}

/// Adds them.
pub(crate) fn register(server: Builder) -> Builder {
    server
        .tool(Typed::new("ask", "Asks for a name.", ask))
        .tool(Typed::new("ask_later", "Asks for a name in a task.", ask).tasks(TaskSupport::Required))
}
