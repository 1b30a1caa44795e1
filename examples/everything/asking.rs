//! Tools that ask the client, with the same words on either lane.

use schemars::JsonSchema;
use serde::Deserialize;
use twolane::Builder;
use twolane::tools::{Context, Elicitation, Elicited, Field, Form, Sampling, ToolError, Typed};

use crate::content::Nothing;

#[derive(Deserialize, JsonSchema)]
struct Prompt {
    /// What the model is asked.
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
struct Message {
    /// What the user is asked.
    message: String,
}

async fn sample(asked: Prompt, context: Context) -> Result<String, ToolError> {
    let sampled = context.sample("completion", Sampling::new(asked.prompt, 100)).await?;
    Ok(format!("LLM response: {}", sampled.text()))
}

async fn elicit(asked: Message, context: Context) -> Result<String, ToolError> {
    let form = Form::new().field("username", Field::string()).field("email", Field::string());
    answered(&context.elicit("user", Elicitation::form(asked.message, form)).await?)
}

async fn defaults(_: Nothing, context: Context) -> Result<String, ToolError> {
    let form = Form::new()
        .field("name", Field::string().default("John Doe"))
        .field("age", Field::integer().default(30))
        .field("score", Field::number().default(95.5))
        .field("status", Field::one_of(["active", "inactive", "pending"]).default("active"))
        .field("verified", Field::boolean().default(true));
    answered(&context.elicit("defaults", Elicitation::form("Do these suit you?", form)).await?)
}

async fn enums(_: Nothing, context: Context) -> Result<String, ToolError> {
    let titled = [("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option")];
    let named = [("opt1", "Option One"), ("opt2", "Option Two"), ("opt3", "Option Three")];
    let form = Form::new()
        .optional("untitledSingle", Field::one_of(["option1", "option2", "option3"]))
        .optional("titledSingle", Field::one_of_titled(titled))
        .optional("legacyEnum", Field::one_of_named(named))
        .optional("untitledMulti", Field::any_of(["option1", "option2", "option3"]))
        .optional("titledMulti", Field::any_of_titled(titled));
    answered(&context.elicit("enums", Elicitation::form("Choose what you like.", form)).await?)
}

fn answered(answer: &Elicited) -> Result<String, ToolError> {
    let action = match answer {
        Elicited::Accepted(_) => "accept",
        Elicited::Declined => "decline",
        Elicited::Cancelled => "cancel",
    };
    let content = serde_json::to_string(&answer.content())?;
    Ok(format!("User response: action={action}, content={content}"))
}

pub(crate) fn register(server: Builder) -> Builder {
    server
        .tool(Typed::new("test_sampling", "Asks the client's model.", sample))
        .tool(Typed::new("test_elicitation", "Asks the client's user.", elicit))
        .tool(Typed::new("test_elicitation_sep1034_defaults", "Asks with defaults.", defaults))
        .tool(Typed::new("test_elicitation_sep1330_enums", "Asks with choices.", enums))
}
