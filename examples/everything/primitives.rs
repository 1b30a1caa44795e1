//! Resources, prompts and completion, and tools that change lists.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use twolane::Builder;
use twolane::tools::{
    Content, Prompt, PromptArgument, PromptArguments, PromptMessage, Registry, Resource, ResourceTemplate,
    Typed, Variables,
};

use super::{Nothing, PNG};

/// Adds them all.
pub(super) fn add(server: Builder) -> Builder {
    let registry = server.registry().clone();
    prompts(resources(server))
        .tool(Typed::new("test_trigger_tool_change", "Changes the list of tools.", {
            let (registry, there) = (registry.clone(), AtomicBool::new(false));
            move |_: Nothing| {
                toggle_tool(&registry, &there);
                async { "The list of tools has changed." }
            }
        }))
        .tool(Typed::new("test_trigger_prompt_change", "Changes the list of prompts.", {
            let there = AtomicBool::new(false);
            move |_: Nothing| {
                toggle_prompt(&registry, &there);
                async { "The list of prompts has changed." }
            }
        }))
}

fn resources(server: Builder) -> Builder {
    server
        .resource(
            Resource::text(
                "test://static-text",
                "Static text",
                "This is the content of the static text resource.",
            )
            .description("A text that stays as it is.")
            .mime_type("text/plain"),
        )
        .resource(
            Resource::blob("test://static-binary", "Static image", PNG)
                .description("An image that stays as it is.")
                .mime_type("image/png"),
        )
        .resource(
            Resource::text("test://watched-resource", "Watched text", "Watch this.")
                .description("A text to subscribe to.")
                .mime_type("text/plain"),
        )
        .resource_template(
            ResourceTemplate::new("test://template/{id}/data", "Data", |variables: Variables| async move {
                let id = variables.get("id").unwrap_or_default();
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string()
            })
            .description("Data by its id.")
            .mime_type("application/json"),
        )
}

fn prompts(server: Builder) -> Builder {
    server
        .prompt(Prompt::new("test_simple_prompt", "Says something simple.", |_: PromptArguments| async {
            "This is a simple prompt for testing."
        }))
        .prompt(
            Prompt::new(
                "test_prompt_with_arguments",
                "Repeats its arguments.",
                |arguments: PromptArguments| async move {
                    let of = |name| arguments.get(name).unwrap_or_default().to_owned();
                    format!("Prompt with arguments: arg1='{}', arg2='{}'", of("arg1"), of("arg2"))
                },
            )
            .argument(PromptArgument::new("arg1").description("The first.").required())
            .argument(PromptArgument::new("arg2").description("The second.").required())
            .complete("arg1", ["test", "testing", "tested"])
            .complete("arg2", ["value"]),
        )
        .prompt(
            Prompt::new(
                "test_prompt_with_embedded_resource",
                "Carries a resource along.",
                |arguments: PromptArguments| async move {
                    let uri = arguments.get("resourceUri").unwrap_or_default();
                    let text = "Embedded resource content for testing.";
                    [
                        PromptMessage::user(Content::resource_text(uri, "text/plain", text)),
                        PromptMessage::user("Please process the embedded resource above."),
                    ]
                },
            )
            .argument(PromptArgument::new("resourceUri").description("What to carry.").required()),
        )
        .prompt(Prompt::new("test_prompt_with_image", "Shows an image.", |_: PromptArguments| async {
            [
                PromptMessage::user(Content::image(PNG, "image/png")),
                PromptMessage::user("Please analyze the image above."),
            ]
        }))
}

fn toggle_tool(registry: &Registry, there: &AtomicBool) {
    if there.fetch_xor(true, Ordering::AcqRel) {
        registry.remove("test_dynamic_tool");
    } else {
        let tool = || Typed::new("test_dynamic_tool", "Comes and goes.", |_: Nothing| async { "Here." });
        if let Err(error) = registry.replace(tool()) {
            eprintln!("{error}");
        }
    }
}

fn toggle_prompt(registry: &Registry, there: &AtomicBool) {
    if there.fetch_xor(true, Ordering::AcqRel) {
        registry.remove_prompt("test_dynamic_prompt");
    } else {
        let prompt =
            || Prompt::new("test_dynamic_prompt", "Comes and goes.", |_: PromptArguments| async { "Here." });
        if let Err(error) = registry.replace_prompt(prompt()) {
            eprintln!("{error}");
        }
    }
}
