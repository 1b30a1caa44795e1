//! What the world lends beside its plain tools: what asks its client, what becomes a task, what is read, picked and completed.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use twolane::LogLevel;
use twolane::tools::{
    AskError, Completion, CompletionInput, Context, Elicitation, Field, Form, HandlerError, Prompt,
    PromptArgument, PromptArguments, Registry, Resource, ResourceTemplate, Sampling, TaskSupport, ToolError,
    Typed, Variables,
};

use crate::world::go_on_later;

/// Notes that a handler runs.
pub type Count = Arc<dyn Fn() + Send + Sync>;

/// Asks for an input of this kind.
#[derive(Deserialize, JsonSchema)]
struct Ask {
    /// 0 asks the user, 1 the model, anything else which folders there are.
    what: u8,
    /// Whether something happens before.
    late: bool,
    /// How often.
    #[schemars(range(max = 3))]
    times: u8,
}

#[derive(Deserialize, JsonSchema)]
struct Job {
    /// How often it goes on later.
    #[schemars(range(max = 8))]
    yields: u8,
    /// Whether it asks its client on the way.
    asks: bool,
    /// Whether it never ends by itself.
    endless: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Registers all of it. `counted` gives a counter for each handler.
pub fn register(registry: &Registry, counted: &dyn Fn() -> Count) {
    let add = |added: Result<(), twolane::Error>| added.expect("it can be registered");
    let run = counted();
    add(registry.add(Typed::new("ask", "Asks its client.", move |what: Ask, context: Context| {
        run();
        ask(what, context)
    })));
    let run = counted();
    add(registry.add(Typed::new("logs", "Logs and goes on.", move |_: Nothing, context: Context| {
        run();
        async move {
            context.log(LogLevel::Debug, None, "one");
            go_on_later().await;
            context.log(LogLevel::Error, Some("fuzzed"), "two");
            "logged"
        }
    })));
    let run = counted();
    add(registry.add(Typed::new(
        "parts",
        "Has its client come back.",
        move |_: Nothing, context: Context| {
            run();
            async move {
                context.progress(1.0, None, None);
                context.close_stream(Duration::from_millis(7));
                go_on_later().await;
                context.progress(2.0, None, None);
                go_on_later().await;
                "whole"
            }
        },
    )));
    for (name, support) in [
        ("job", TaskSupport::Optional),
        ("task", TaskSupport::Required),
        ("later", TaskSupport::OptionalByHandler),
        ("must", TaskSupport::RequiredByHandler),
    ] {
        let run = counted();
        let by_handler = matches!(support, TaskSupport::OptionalByHandler | TaskSupport::RequiredByHandler);
        let tool = Typed::new(name, "Takes long.", move |job: Job, context: Context| {
            run();
            work(job, by_handler, context)
        });
        add(registry.add(tool.tasks(support)));
    }
    read(registry, counted);
    let run = counted();
    let prompt = Prompt::new("echo", "Says hello.", move |arguments: PromptArguments| {
        run();
        async move { format!("hello {}", arguments.get("name").unwrap_or("you")) }
    });
    let argument = PromptArgument::new("name").description("Who is greeted.");
    add(registry.add_prompt(prompt.argument(argument).complete("name", ["anna", "anton", "bert"])));
    let run = counted();
    let prompt = Prompt::new("asker", "Asks for a name.", move |_: PromptArguments, context: Context| {
        run();
        async move { asked(&context, 0).await.map_err(HandlerError::from) }
    });
    add(registry.add_prompt(prompt.argument(PromptArgument::new("topic").required())));
}

fn read(registry: &Registry, counted: &dyn Fn() -> Count) {
    let add = |added: Result<(), twolane::Error>| added.expect("it can be registered");
    add(registry.add_resource(Resource::text("file:///x", "x", "what x holds")));
    let run = counted();
    add(registry.add_resource(Resource::new("gone:///x", "gone", move || {
        run();
        async { Err::<String, _>(HandlerError::not_found()) }
    })));
    let run = counted();
    add(registry.add_resource(Resource::new("broken:///x", "broken", move || {
        run();
        async {
            go_on_later().await;
            Err::<String, _>(HandlerError::internal("it is broken"))
        }
    })));
    let run = counted();
    add(registry.add_resource(Resource::new("ask:///x", "asking", move |context: Context| {
        run();
        async move { asked(&context, 2).await.map_err(HandlerError::from) }
    })));
    let run = counted();
    let template = ResourceTemplate::new("file:///{+path}", "files", move |variables: Variables| {
        run();
        async move { variables.get("path").map(str::to_owned).unwrap_or_default() }
    });
    let run = counted();
    add(registry.add_resource_template(template.complete_with("path", move |_: CompletionInput| {
        run();
        async {
            go_on_later().await;
            Completion::new(["x", "xy"])
        }
    })));
}

async fn ask(ask: Ask, context: Context) -> Result<String, ToolError> {
    if ask.late {
        go_on_later().await;
    }
    let mut all = String::new();
    for at in 0..ask.times.max(1) {
        all.push_str(&question(&context, ask.what, &format!("q{at}")).await?);
    }
    Ok(all)
}

async fn asked(context: &Context, what: u8) -> Result<String, AskError> {
    question(context, what, "q0").await
}

async fn question(context: &Context, what: u8, key: &str) -> Result<String, AskError> {
    match what {
        0 => {
            let form = Form::new().field("name", Field::string());
            let answer = context.elicit(key, Elicitation::form("Who?", form)).await?;
            Ok(answer.action().to_owned())
        }
        1 => Ok(context.sample(key, Sampling::new("What?", 10)).await?.text()),
        _ => Ok(context.roots(key).await?.len().to_string()),
    }
}

async fn work(job: Job, by_handler: bool, context: Context) -> Result<&'static str, ToolError> {
    if by_handler {
        context.start_task().await;
    }
    for turn in 0..job.yields {
        context.progress(turn.into(), None, Some("working"));
        go_on_later().await;
    }
    if job.asks {
        asked(&context, 0).await?;
    }
    if job.endless {
        std::future::pending::<()>().await;
    }
    Ok("done")
}
