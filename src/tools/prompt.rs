//! Prompts: what lists say of them, and the functions they are made of (MCP server/prompts).

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::schema::Map;
use crate::tables::versions::{Feature, Revision};

use super::completion::{CompletionInput, Completions, IntoCompletion};
use super::context::Context;
use super::derive;
use super::function::{AsyncFunction, SyncFunction};
use super::handler_error::HandlerError;
use super::members::Members;
use super::produced::{Produced, Work};
use super::prompt_arguments::PromptArguments;
use super::prompt_result::{IntoPrompt, PromptResult};
use super::spec::{Icon, write_icons};
use super::start;

/// What prompts are called in errors.
pub(super) const PROMPT: &str = "Prompt";

/// What lists say of a prompt. Revisions get the members that they have.
#[derive(Debug, Clone, Default)]
pub(super) struct PromptSpec {
    pub(super) name: String,
    title: Option<String>,
    pub(super) description: String,
    pub(super) arguments: Vec<PromptArgument>,
    icons: Vec<Icon>,
    meta: Option<Map>,
    pub(super) timeout: Option<Duration>,
}

impl PromptSpec {
    /// Appends the prompt as `revision` lists it.
    pub(super) fn write(&self, out: &mut Vec<u8>, revision: Revision) {
        out.push(b'{');
        let mut members = Members::new(out);
        members.text("name", &self.name);
        if revision.has(Feature::Titles) {
            members.text_if("title", self.title.as_deref());
        }
        members.text_if("description", Some(&*self.description).filter(|text| !text.is_empty()));
        if !self.arguments.is_empty() {
            let list = members.key("arguments");
            list.push(b'[');
            for (at, argument) in self.arguments.iter().enumerate() {
                if at > 0 {
                    list.push(b',');
                }
                argument.write(list, revision);
            }
            list.push(b']');
        }
        write_icons(&mut members, &self.icons, revision);
        if let Some(meta) = self.meta.as_ref().filter(|_| revision.has(Feature::Meta)) {
            members.value("_meta", meta);
        }
        out.push(b'}');
    }
}

/// An argument that a prompt declares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PromptArgument {
    /// The name.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Whether the prompt cannot do without.
    pub required: bool,
}

impl PromptArgument {
    /// An argument that may be left out.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what it is.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Says that the prompt cannot do without.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    fn write(&self, out: &mut Vec<u8>, revision: Revision) {
        out.push(b'{');
        let mut members = Members::new(out);
        members.text("name", &self.name);
        if revision.has(Feature::Titles) {
            members.text_if("title", self.title.as_deref());
        }
        members.text_if("description", self.description.as_deref());
        members.flag_if("required", self.required.then_some(true));
        out.push(b'}');
    }
}

/// One use of a prompt, as its handler's surroundings see it.
pub(super) struct Use {
    pub(super) spec: Arc<PromptSpec>,
    pub(super) context: Context,
}

impl Use {
    fn finish(self, outcome: Result<PromptResult, HandlerError>) -> Produced {
        match outcome {
            Ok(mut result) => {
                if result.description.is_none() && !self.spec.description.is_empty() {
                    result.description = Some(self.spec.description.clone());
                }
                Produced::Prompt(Box::new(result))
            }
            Err(error) => start::failed(error, PROMPT, &self.spec.name, &self.context),
        }
    }
}

pub(super) type PromptCall = Box<dyn Fn(PromptArguments, Use) -> Work + Send + Sync>;

fn call_async<A, Shape, H>(handler: H, read: fn(PromptArguments) -> Result<A, HandlerError>) -> PromptCall
where
    A: 'static,
    H: AsyncFunction<A, Shape, Output: IntoPrompt>,
{
    Box::new(move |arguments, usage| match read(arguments) {
        Ok(input) => {
            let future = handler.call(input, usage.context.clone());
            Work::Future(Box::pin(async move {
                let outcome = future.await.into_prompt();
                usage.finish(outcome)
            }))
        }
        Err(error) => Work::Ready(usage.finish(Err(error))),
    })
}

fn call_blocking<A, Shape, H>(handler: H, read: fn(PromptArguments) -> Result<A, HandlerError>) -> PromptCall
where
    A: Send + 'static,
    H: SyncFunction<A, Shape, Output: IntoPrompt>,
{
    let handler = Arc::new(handler);
    Box::new(move |arguments, usage| match read(arguments) {
        Ok(input) => {
            let handler = Arc::clone(&handler);
            Work::Blocking(Box::new(move || {
                let outcome = handler.call(input, usage.context.clone()).into_prompt();
                usage.finish(outcome)
            }))
        }
        Err(error) => Work::Ready(usage.finish(Err(error))),
    })
}

/// A prompt. Its arguments are texts; clients that leave a required one out are told so before the handler is called.
///
/// ```
/// use twolane::tools::{Context, HandlerError, Prompt, PromptArgument, PromptArguments, PromptMessage, Registry};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Review {
///     /// The code to look at.
///     code: String,
///     language: Option<String>,
/// }
///
/// let registry = Registry::default();
/// registry.add_prompt(
///     Prompt::typed("review", "Asks for a code review.", |review: Review, _: Context| async move {
///         let language = review.language.as_deref().unwrap_or("code");
///         [PromptMessage::user(format!("Review this {language}:\n{}", review.code))]
///     })
///     .complete("language", ["Elixir", "Rust"]),
/// )?;
/// registry.add_prompt(
///     Prompt::new("greet", "Greets somebody.", |arguments: PromptArguments| async move {
///         let name = arguments.get("name").ok_or(HandlerError::invalid("who?"))?;
///         Ok(format!("Say hello to {name}."))
///     })
///     .argument(PromptArgument::new("name").description("Whom to greet.").required()),
/// )?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Prompt {
    pub(super) spec: PromptSpec,
    pub(super) call: PromptCall,
    pub(super) completions: Completions,
    pub(super) fault: Option<String>,
}

impl Prompt {
    fn of(name: String, description: String, call: PromptCall) -> Self {
        let spec = PromptSpec { name, description, ..PromptSpec::default() };
        Self { spec, call, completions: Completions::default(), fault: None }
    }

    /// A prompt whose handler is async: a function of [`PromptArguments`], or of these and a [`Context`]. It runs on the connection's
    /// task, so it must not block its thread; if it has to, use [`Self::blocking`].
    pub fn new<Shape, H>(name: impl Into<String>, description: impl Into<String>, handler: H) -> Self
    where
        H: AsyncFunction<PromptArguments, Shape, Output: IntoPrompt>,
    {
        Self::of(name.into(), description.into(), call_async(handler, Ok))
    }

    /// A prompt whose handler may block its thread: it runs on the blocking pool.
    pub fn blocking<Shape, H>(name: impl Into<String>, description: impl Into<String>, handler: H) -> Self
    where
        H: SyncFunction<PromptArguments, Shape, Output: IntoPrompt>,
    {
        Self::of(name.into(), description.into(), call_blocking(handler, Ok))
    }

    /// A prompt whose arguments are the fields of a type: texts, or what reads from a text, such as an enum without data, whose values
    /// are then offered as completions. Optional fields may be left out; doc comments become descriptions.
    pub fn typed<A, Shape, H>(name: impl Into<String>, description: impl Into<String>, handler: H) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        H: AsyncFunction<A, Shape, Output: IntoPrompt>,
    {
        Self::of(name.into(), description.into(), call_async(handler, read::<A>)).declare::<A>()
    }

    /// As [`Self::typed`], with a handler that may block its thread.
    pub fn typed_blocking<A, Shape, H>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: H,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        H: SyncFunction<A, Shape, Output: IntoPrompt>,
    {
        Self::of(name.into(), description.into(), call_blocking(handler, read::<A>)).declare::<A>()
    }

    /// Declares the fields of a type as arguments.
    fn declare<A: JsonSchema>(mut self) -> Self {
        let schema = derive::input_schema::<A>().schema;
        let required = schema.get("required").and_then(Value::as_array);
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let Some(values) = texts(property) else {
                self.fault.get_or_insert_with(|| {
                    format!("argument {name:?} is no text; make it a String or an enum")
                });
                continue;
            };
            if !values.is_empty() {
                self.completions.add_values(name, values);
            }
            self.spec.arguments.push(PromptArgument {
                name: name.clone(),
                title: None,
                description: property.get("description").and_then(Value::as_str).map(str::to_owned),
                required: required.is_some_and(|required| required.iter().any(|other| other == name)),
            });
        }
        self
    }

    /// Declares an argument.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.spec.arguments.push(argument);
        self
    }

    /// Sets the name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.spec.title = Some(title.into());
        self
    }

    /// Adds an image.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.spec.icons.push(icon);
        self
    }

    /// Adds a member to the listing's `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.spec.meta.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    /// Bounds the time of a use, in place of `Limits::tool_timeout`.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.spec.timeout = Some(timeout);
        self
    }

    /// Completes an argument from these values: those that begin with what was typed, whatever the case of its ASCII letters.
    #[must_use]
    pub fn complete<V: Into<String>>(mut self, argument: &str, values: impl IntoIterator<Item = V>) -> Self {
        self.completions.add_values(argument, values);
        self
    }

    /// Completes an argument by an async function of [`CompletionInput`], or of this and a [`Context`].
    #[must_use]
    pub fn complete_with<Shape, H>(mut self, argument: &str, handler: H) -> Self
    where
        H: AsyncFunction<CompletionInput, Shape, Output: IntoCompletion>,
    {
        self.completions.add_handler(argument, handler);
        self
    }
}

/// Whether a schema is that of a text, and the only values that it may have. Empty: any.
fn texts(schema: &Value) -> Option<Vec<String>> {
    let one = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().filter(|value| !value.is_null()).map(one).collect();
    }
    // Enums whose variants have descriptions of their own.
    if let Some(variants) = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(key)?.as_array()) {
        let mut all = Vec::new();
        for variant in variants.iter().filter(|variant| variant.get("type").is_none_or(|kind| kind != "null"))
        {
            match variant.get("const") {
                Some(value) => all.push(one(value)?),
                None => all.extend(texts(variant)?),
            }
        }
        return Some(all);
    }
    match schema.get("type")? {
        Value::String(kind) => (kind == "string").then(Vec::new),
        Value::Array(kinds) => kinds.iter().all(|kind| kind == "string" || kind == "null").then(Vec::new),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// The most that is told of arguments that do not read, in bytes.
const LONGEST_FAULT: usize = 256;

/// Reads arguments into a type.
fn read<A: DeserializeOwned>(arguments: PromptArguments) -> Result<A, HandlerError> {
    let document: Map = arguments.iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
    let none = document.is_empty();
    // `()` and unit structs read from null.
    serde_json::from_value(Value::Object(document))
        .or_else(|fault| if none { A::deserialize(Value::Null).map_err(|_| fault) } else { Err(fault) })
        .map_err(|fault| {
            let fault = fault.to_string();
            // It may repeat what was sent.
            let told = &fault[..fault.floor_char_boundary(LONGEST_FAULT)];
            HandlerError::invalid(format!("params.arguments do not fit: {told}"))
        })
}

impl std::fmt::Debug for Prompt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prompt").field("spec", &self.spec).finish_non_exhaustive()
    }
}
