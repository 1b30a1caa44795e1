//! Tools that ask their client.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use twolane::Capability;
use twolane::server::Builder;
use twolane::tools::{
    AskError, Context, Elicitation, Elicited, Field, Form, RawTool, Sampling, ToolError, ToolSpec, Typed,
};

/// What happened to the tools. Clones tell the same.
#[derive(Debug, Clone, Default)]
pub struct Askers {
    /// How often an effect that must happen once has happened.
    pub effects: Arc<AtomicU64>,
    /// How often the handler of `two_steps` has begun.
    pub rounds: Arc<AtomicU64>,
    /// How many handlers have been dropped or come to their end.
    pub gone: Arc<AtomicU64>,
    /// What `ask_when_let` was told.
    pub told: Arc<Mutex<Vec<String>>>,
}

struct Gone(Arc<AtomicU64>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

pub fn name_form() -> Form {
    Form::new().field("name", Field::string().min_length(1))
}

fn said(answer: &Elicited, key: &str) -> String {
    match answer.content() {
        Some(content) => content[key].as_str().unwrap_or("?").to_owned(),
        None => answer.action().to_owned(),
    }
}

fn told(error: AskError) -> String {
    format!("{error:?}").split([' ', '(']).next().unwrap_or_default().to_owned()
}

impl Askers {
    pub fn register(&self, builder: Builder) -> Builder {
        self.late(self.several(self.single(builder)))
    }

    fn single(&self, builder: Builder) -> Builder {
        let gone = Arc::clone(&self.gone);
        builder
            .tool(Typed::new("ask_name", "Asks for a name.", move |_: Value, context: Context| {
                let gone = Gone(Arc::clone(&gone));
                async move {
                    let _gone = gone;
                    let answer = context.elicit("user_name", Elicitation::form("Who?", name_form())).await?;
                    Ok::<_, ToolError>(format!("Hello, {}!", said(&answer, "name")))
                }
            }))
            .tool(Typed::new("ask_model", "Asks the model.", |_: Value, context: Context| async move {
                let answer = context.sample("capital", Sampling::new("What is the capital?", 100)).await?;
                Ok::<_, ToolError>(format!("{}: {}", answer.model, answer.text()))
            }))
            .tool(Typed::new("ask_roots", "Asks for folders.", |_: Value, context: Context| async move {
                let roots = context.roots("folders").await?;
                let uris: Vec<String> = roots.into_iter().map(|root| root.uri).collect();
                Ok::<_, ToolError>(uris.join(" "))
            }))
            .tool(Typed::new("ask_page", "Opens a page.", |_: Value, context: Context| async move {
                let page = Elicitation::url("Log in", "https://example.com/in").id("in-1");
                let answer = context.elicit("page", page).await?;
                context.elicitation_complete("in-1");
                Ok::<_, ToolError>(answer.action().to_owned())
            }))
            .tool(Typed::new(
                "ask_with_tools",
                "Lends the model a tool.",
                |_: Value, context: Context| async move {
                    let add = ToolSpec::new("add", "Adds.", json!({"type": "object"}));
                    let answer = context.sample("model", Sampling::new("1 + 1?", 100).tool(add)).await?;
                    Ok::<_, ToolError>(answer.text())
                },
            ))
            .tool(Typed::new(
                "ask_bravely",
                "Tells why it got no answer.",
                |_: Value, context: Context| async move {
                    match context.elicit("user_name", Elicitation::form("Who?", name_form())).await {
                        Ok(answer) => said(&answer, "name"),
                        Err(error) => told(error),
                    }
                },
            ))
            .tool(Typed::new(
                "ask_what_it_can",
                "Asks what the client takes.",
                |_: Value, context: Context| async move {
                    if context.client_supports(Capability::ElicitationForm) {
                        let answer = context.elicit("name", Elicitation::form("Who?", name_form())).await?;
                        return Ok::<_, ToolError>(said(&answer, "name"));
                    }
                    Ok(context.sample("model", Sampling::new("Who?", 100)).await?.text())
                },
            ))
    }

    fn late(&self, builder: Builder) -> Builder {
        let askers = self.clone();
        builder.tool(Typed::new("ask_when_let", "Asks a while later.", move |_: Value, context: Context| {
            let askers = askers.clone();
            async move {
                askers.rounds.fetch_add(1, Ordering::SeqCst);
                let _gone = Gone(Arc::clone(&askers.gone));
                tokio::time::sleep(Duration::from_millis(700)).await;
                let asked = context.elicit("user_name", Elicitation::form("Who?", name_form())).await;
                let told = match asked {
                    Ok(answer) => said(&answer, "name"),
                    Err(error) => told(error),
                };
                askers.told.lock().unwrap().push(told);
            }
        }))
    }

    fn several(&self, builder: Builder) -> Builder {
        let (effects, rounds) = (Arc::clone(&self.effects), Arc::clone(&self.rounds));
        builder
            .tool(Typed::new(
                "ask_all",
                "Asks three things at once.",
                |_: Value, context: Context| async move {
                    let (name, model, roots) = tokio::join!(
                        context.elicit("name", Elicitation::form("Who?", name_form())),
                        context.sample("model", Sampling::new("Hi", 100)),
                        context.roots("roots"),
                    );
                    Ok::<_, ToolError>(format!("{} {} {}", said(&name?, "name"), model?.text(), roots?.len()))
                },
            ))
            .tool(RawTool::new(
                "two_steps",
                "Asks one thing after the other, and does something once in between.",
                json!({"type": "object"}),
                move |_: Value, context: Context| {
                    let (effects, rounds) = (Arc::clone(&effects), Arc::clone(&rounds));
                    async move {
                        rounds.fetch_add(1, Ordering::SeqCst);
                        let first = context.elicit("step1", Elicitation::form("Who?", name_form())).await?;
                        let number = context
                            .once("effect", async {
                                tokio::time::sleep(Duration::from_millis(5)).await;
                                effects.fetch_add(1, Ordering::SeqCst) + 1
                            })
                            .await?;
                        let seen: u64 = context.state().unwrap_or(0);
                        context.keep_state(&(seen + 1))?;
                        let form = Form::new().field("color", Field::one_of(["red", "blue"]));
                        let second = context.elicit("step2", Elicitation::form("Color?", form)).await?;
                        let (name, color) = (said(&first, "name"), said(&second, "color"));
                        Ok::<_, ToolError>(format!("{name} {color} effect {number} seen {seen}"))
                    }
                },
            ))
            .tool(Typed::new(
                "tell_and_ask",
                "Reports, then asks.",
                |_: Value, context: Context| async move {
                    context.progress(1.0, None, Some("about to ask"));
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    let answer = context.elicit("user_name", Elicitation::form("Who?", name_form())).await?;
                    Ok::<_, ToolError>(said(&answer, "name"))
                },
            ))
            .tool(Typed::new("wait_and_ask", "Waits, then asks.", |_: Value, context: Context| async move {
                tokio::time::sleep(Duration::from_millis(5)).await;
                let answer = context.elicit("user_name", Elicitation::form("Who?", name_form())).await?;
                Ok::<_, ToolError>(said(&answer, "name"))
            }))
            .tool(Typed::new(
                "ask_impatiently",
                "Asks and does not wait.",
                |_: Value, context: Context| async move {
                    let asked = context.elicit("user_name", Elicitation::form("Who?", name_form()));
                    match tokio::time::timeout(Duration::from_millis(20), asked).await {
                        Ok(Ok(answer)) => said(&answer, "name"),
                        Ok(Err(error)) => told(error),
                        Err(_) => "no patience".to_owned(),
                    }
                },
            ))
            .tool(Typed::blocking(
                "ask_blocking",
                "Asks from its own thread.",
                |_: Value, context: Context| {
                    let asked = context.elicit("user_name", Elicitation::form("Who?", name_form()));
                    match tokio::runtime::Handle::current().block_on(asked) {
                        Ok(answer) => said(&answer, "name"),
                        Err(error) => told(error),
                    }
                },
            ))
            .tool(Typed::new(
                "remember",
                "Has much to remember.",
                |args: Value, context: Context| async move {
                    let bytes = args["bytes"].as_u64().unwrap_or(0);
                    context.keep_state(&"x".repeat(usize::try_from(bytes).unwrap_or(0)))?;
                    context.roots("folders").await?;
                    let kept: String = context.state().unwrap_or_default();
                    Ok::<_, ToolError>(kept.len().to_string())
                },
            ))
    }
}
