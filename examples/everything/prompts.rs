//! Prompts of every kind.

use schemars::JsonSchema;
use serde::Deserialize;
use twolane::Builder;
use twolane::tools::{
    Content, Context, Elicitation, Field, Form, HandlerError, Prompt, PromptArguments, PromptMessage,
};

use crate::content::PNG;

#[derive(Deserialize, JsonSchema)]
struct Two {
    /// The first argument.
    arg1: String,
    /// The second argument.
    arg2: String,
}

#[derive(Deserialize, JsonSchema)]
struct Embedded {
    /// The URI of the resource to embed.
    #[serde(rename = "resourceUri")]
    uri: String,
}

async fn simple(_: PromptArguments) -> &'static str {
    "This is a simple prompt for testing."
}

async fn two(two: Two) -> String {
    format!("Prompt with arguments: arg1='{}', arg2='{}'", two.arg1, two.arg2)
}

async fn embedded(embedded: Embedded) -> [PromptMessage; 2] {
    let resource =
        Content::resource_text(embedded.uri, "text/plain", "Embedded resource content for testing.");
    [PromptMessage::user(resource), PromptMessage::user("Please process the embedded resource above.")]
}

async fn image(_: PromptArguments) -> [PromptMessage; 2] {
    let image = Content::image(PNG, "image/png");
    [PromptMessage::user(image), PromptMessage::user("Please analyze the image above.")]
}

async fn asking(_: PromptArguments, context: Context) -> Result<String, HandlerError> {
    let form = Form::new().field("context", Field::string());
    let answer = context.elicit("user_context", Elicitation::form("What is it about?", form)).await?;
    let about = answer.content().and_then(|content| content["context"].as_str()).unwrap_or("nothing");
    Ok(format!("A prompt about {about}."))
}

pub(crate) fn register(server: Builder) -> Builder {
    server
        .prompt(Prompt::new("test_simple_prompt", "A prompt without arguments.", simple))
        .prompt(
            Prompt::typed("test_prompt_with_arguments", "A prompt with two arguments.", two)
                .complete("arg1", ["test1", "test2", "other"])
                .complete("arg2", ["value1", "value2"]),
        )
        .prompt(Prompt::typed("test_prompt_with_embedded_resource", "A prompt with a resource.", embedded))
        .prompt(Prompt::new("test_prompt_with_image", "A prompt with an image.", image))
        .prompt(Prompt::new("test_input_required_result_prompt", "A prompt that asks first.", asking))
}
