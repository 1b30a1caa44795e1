//! Tools of the modern lane that need several rounds, or a capability.

use twolane::tools::{Context, Elicitation, Field, Form, Sampling, ToolError, Typed};
use twolane::{Builder, Capability};

use crate::content::Nothing;

fn named(message: &str) -> Elicitation {
    Elicitation::form(message, Form::new().field("name", Field::string()))
}

fn confirmed(message: &str) -> Elicitation {
    Elicitation::form(message, Form::new().field("ok", Field::boolean()))
}

async fn elicitation(_: Nothing, context: Context) -> Result<String, ToolError> {
    let answer = context.elicit("user_name", named("What is your name?")).await?;
    Ok(match answer.content() {
        Some(content) => format!("Hello, {}!", content["name"].as_str().unwrap_or_default()),
        None => "Hello, whoever you are!".to_owned(),
    })
}

async fn sampling(_: Nothing, context: Context) -> Result<String, ToolError> {
    let sampled =
        context.sample("capital_question", Sampling::new("What is the capital of France?", 100)).await?;
    Ok(format!("The model says: {}", sampled.text()))
}

async fn list_roots(_: Nothing, context: Context) -> Result<String, ToolError> {
    let roots = context.roots("client_roots").await?;
    let uris: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
    Ok(format!("Roots: {}", uris.join(", ")))
}

/// What it keeps comes back with the answer: nobody can change it on the way.
async fn request_state(_: Nothing, context: Context) -> Result<&'static str, ToolError> {
    let before: Option<String> = context.state();
    context.keep_state(&"state-kept")?;
    context.elicit("confirm", confirmed("Shall we go on?")).await?;
    Ok(match before.as_deref() {
        Some("state-kept") => "state-ok",
        Some(_) | None => "There was no state.",
    })
}

async fn multiple_inputs(_: Nothing, context: Context) -> Result<String, ToolError> {
    let (user, greeting, roots) = tokio::join!(
        context.elicit("user_name", named("What is your name?")),
        context.sample("greeting", Sampling::new("Write a greeting.", 50)),
        context.roots("client_roots"),
    );
    let (user, greeting, roots) = (user?, greeting?, roots?);
    let name = user.content().and_then(|content| content["name"].as_str());
    Ok(format!("{} {}, who works in {} roots", greeting.text(), name.unwrap_or("stranger"), roots.len()))
}

async fn multi_round(_: Nothing, context: Context) -> Result<String, ToolError> {
    let first = context.elicit("step1", named("Step 1: what is your name?")).await?;
    let name = first.content().and_then(|content| content["name"].as_str()).unwrap_or("stranger").to_owned();
    let form = Form::new().field("color", Field::string());
    let second =
        context.elicit("step2", Elicitation::form("Step 2: what is your favourite color?", form)).await?;
    let color = second.content().and_then(|content| content["color"].as_str()).unwrap_or("no color");
    Ok(format!("{name} likes {color}."))
}

async fn tampered_state(_: Nothing, context: Context) -> Result<&'static str, ToolError> {
    context.elicit("confirm", confirmed("Confirm with the state as it is.")).await?;
    Ok("The state was as it should be.")
}

/// Asks for whatever the client can answer.
async fn capabilities(_: Nothing, context: Context) -> Result<String, ToolError> {
    let mut told = Vec::new();
    if context.client_supports(Capability::Sampling) {
        told.push(context.sample("greeting", Sampling::new("Write a greeting.", 50)).await?.text());
    }
    if context.client_supports(Capability::ElicitationForm) {
        let answer = context.elicit("user_name", named("What is your name?")).await?;
        told.push(format!("{:?}", answer.content()));
    }
    if context.client_supports(Capability::Roots) {
        told.push(format!("{} roots", context.roots("client_roots").await?.len()));
    }
    Ok(format!("The client told: {}", told.join("; ")))
}

/// Streams before it asks.
async fn streaming_elicitation(_: Nothing, context: Context) -> Result<String, ToolError> {
    context.progress(1.0, Some(2.0), Some("about to ask"));
    elicitation(Nothing {}, context).await
}

pub(crate) fn register(server: Builder) -> Builder {
    let tool = "test_input_required_result";
    server
        .tool(
            Typed::new("test_missing_capability", "Needs a client with a model.", |_: Nothing| async {
                "The client has a model."
            })
            .requires("sampling"),
        )
        .tool(
            Typed::new("test_streaming_elicitation", "Streams, then asks.", streaming_elicitation)
                .requires("elicitation"),
        )
        .tool(Typed::new(format!("{tool}_elicitation"), "Asks for a name.", elicitation))
        .tool(Typed::new(format!("{tool}_sampling"), "Asks the client's model.", sampling))
        .tool(Typed::new(format!("{tool}_list_roots"), "Asks for roots.", list_roots))
        .tool(Typed::new(format!("{tool}_request_state"), "Keeps a state over its rounds.", request_state))
        .tool(Typed::new(format!("{tool}_multiple_inputs"), "Asks three things at once.", multiple_inputs))
        .tool(Typed::new(format!("{tool}_multi_round"), "Asks one thing after the other.", multi_round))
        .tool(Typed::new(format!("{tool}_tampered_state"), "Trusts its own state alone.", tampered_state))
        .tool(Typed::new(format!("{tool}_capabilities"), "Asks what the client can answer.", capabilities))
}
