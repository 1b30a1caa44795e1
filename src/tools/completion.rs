//! Completion of the arguments of prompts and the variables of templates (MCP server/utilities/completion).

use std::pin::Pin;
use std::time::Duration;

use crate::tables::versions::{Feature, Revision};

use super::context::Context;
use super::function::AsyncFunction;
use super::handler_error::HandlerError;
use super::identity::Identity;
use super::members::Members;
use super::produced::{Produced, Work};
use super::prompt_arguments::PromptArguments;
use super::result::write_meta;
use super::running::Running;
use super::start::{failed, start};

/// The most values in one answer (2026-07-28, `CompleteResult`).
const MOST_VALUES: usize = 100;

/// What completions are called in errors.
const COMPLETION: &str = "Completion";

/// What somebody has typed so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CompletionInput {
    /// The argument or variable.
    pub argument: String,
    /// What was typed.
    pub value: String,
    /// Other arguments that are settled already. Clients of 2025-03-26 cannot tell.
    pub settled: PromptArguments,
}

impl CompletionInput {
    /// What was typed for an argument, with nothing settled before.
    #[must_use]
    pub fn new(argument: impl Into<String>, value: impl Into<String>) -> Self {
        Self { argument: argument.into(), value: value.into(), settled: PromptArguments::default() }
    }
}

/// Values that go on from what was typed, the best first.
///
/// ```
/// use twolane::tools::Completion;
///
/// let some = Completion::new(["python", "pytorch"]).total(10);
/// assert_eq!(some.values.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Completion {
    /// The values. Clients get the first hundred.
    pub values: Vec<String>,
    /// How many there are in all, where that is known.
    pub total: Option<u64>,
    /// Whether there are more than these, where that is known.
    pub has_more: Option<bool>,
}

impl Completion {
    /// These values; whether there are more is not said.
    #[must_use]
    pub fn new<V: Into<String>>(values: impl IntoIterator<Item = V>) -> Self {
        Self { values: values.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Says how many there are in all.
    #[must_use]
    pub fn total(mut self, total: u64) -> Self {
        self.total = Some(total);
        self
    }

    /// Says whether there are more than these.
    #[must_use]
    pub fn has_more(mut self, more: bool) -> Self {
        self.has_more = Some(more);
        self
    }

    /// Keeps to what one answer may carry, and says so.
    fn bounded(mut self) -> Self {
        if self.values.len() > MOST_VALUES {
            let given = self.values.len() as u64;
            self.total = Some(self.total.unwrap_or(given).max(given));
            self.has_more = Some(true);
            self.values.truncate(MOST_VALUES);
        }
        self
    }
}

/// Appends the members of a `CompleteResult`, without braces and with only what `revision` has.
pub fn write_completion(out: &mut Vec<u8>, completion: &Completion, revision: Revision, identity: &Identity) {
    let modern = revision.has(Feature::ModernResults);
    let mut members = Members::new(out);
    let inside = members.key("completion");
    inside.push(b'{');
    let mut inner = Members::new(inside);
    inner.value("values", &completion.values);
    if let Some(total) = completion.total {
        inner.value("total", &total);
    }
    inner.flag_if("hasMore", completion.has_more);
    inside.push(b'}');
    if modern {
        write_meta(&mut members, None, identity.server_info());
        members.text("resultType", "complete");
    }
}

/// What a handler of completions may return: texts, a [`Completion`], or a `Result` of one of these with [`HandlerError`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot complete an argument",
    note = "return a Vec of texts, Completion, or a Result of one of these with HandlerError; `?` turns every error into a HandlerError"
)]
pub trait IntoCompletion {
    /// Makes the completion.
    ///
    /// # Errors
    /// How the handler failed.
    fn into_completion(self) -> Result<Completion, HandlerError>;
}

impl IntoCompletion for Completion {
    fn into_completion(self) -> Result<Completion, HandlerError> {
        Ok(self)
    }
}

impl<V: Into<String>> IntoCompletion for Vec<V> {
    fn into_completion(self) -> Result<Completion, HandlerError> {
        Ok(Completion::new(self))
    }
}

impl<V: Into<String>, const N: usize> IntoCompletion for [V; N] {
    fn into_completion(self) -> Result<Completion, HandlerError> {
        Ok(Completion::new(self))
    }
}

impl<T: IntoCompletion> IntoCompletion for Result<T, HandlerError> {
    fn into_completion(self) -> Result<Completion, HandlerError> {
        self.and_then(IntoCompletion::into_completion)
    }
}

type CompletionFuture = Pin<Box<dyn Future<Output = Result<Completion, HandlerError>> + Send>>;

enum Completer {
    Values(Vec<String>),
    Handler(Box<dyn Fn(CompletionInput, Context) -> CompletionFuture + Send + Sync>),
}

/// How the arguments of one prompt, or the variables of one template, are completed.
#[derive(Default)]
pub struct Completions(Vec<(Box<str>, Completer)>);

impl Completions {
    pub(super) fn add_values<V: Into<String>>(
        &mut self,
        argument: &str,
        values: impl IntoIterator<Item = V>,
    ) {
        self.add(argument, Completer::Values(values.into_iter().map(Into::into).collect()));
    }

    pub(super) fn add_handler<Shape, H>(&mut self, argument: &str, handler: H)
    where
        H: AsyncFunction<CompletionInput, Shape, Output: IntoCompletion>,
    {
        let call = move |input, context| -> CompletionFuture {
            let future = handler.call(input, context);
            Box::pin(async move { future.await.into_completion() })
        };
        self.add(argument, Completer::Handler(Box::new(call)));
    }

    fn add(&mut self, argument: &str, completer: Completer) {
        self.0.retain(|(other, _)| **other != *argument);
        self.0.push((argument.into(), completer));
    }

    /// Whether anything is completed.
    #[must_use]
    pub fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether all that is completed is there.
    pub(super) fn check(&self, known: impl Fn(&str) -> bool) -> Result<(), String> {
        match self.0.iter().find(|(argument, _)| !known(argument)) {
            Some((argument, _)) => {
                Err(format!("it completes {argument:?}, which it does not have; name one that it has"))
            }
            None => Ok(()),
        }
    }

    /// Starts a completion. An argument that nothing completes has no values.
    pub fn start(&self, input: CompletionInput, context: Context, timeout: Duration) -> Running {
        let completer = self.0.iter().find(|(argument, _)| **argument == *input.argument);
        let name = input.argument.clone();
        start(COMPLETION, &name, context, timeout, |context| match completer {
            None => Work::Ready(Produced::Completion(Box::default())),
            Some((_, Completer::Values(values))) => {
                Work::Ready(Produced::Completion(Box::new(matching(values, &input.value))))
            }
            Some((argument, Completer::Handler(call))) => {
                let argument = argument.clone();
                let future = call(input, context.clone());
                Work::Future(Box::pin(async move {
                    match future.await {
                        Ok(completion) => Produced::Completion(Box::new(completion.bounded())),
                        Err(error) => failed(error, COMPLETION, &argument, &context),
                    }
                }))
            }
        })
    }
}

/// The values that begin with what was typed, whatever the case of ASCII letters.
fn matching(values: &[String], typed: &str) -> Completion {
    let fits = |value: &&String| {
        value.as_bytes().get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed.as_bytes()))
    };
    let all: Vec<String> = values.iter().filter(fits).cloned().collect();
    let total = all.len() as u64;
    Completion::new(all).total(total).has_more(false).bounded()
}

impl std::fmt::Debug for Completions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(argument, _)| argument)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_filtered_by_what_was_typed() {
        let values = ["Paris", "park", "London", "pé"].map(str::to_owned);
        let found = |typed| matching(&values, typed).values;
        assert_eq!(found("PAR"), ["Paris", "park"]);
        assert_eq!(found("").len(), 4);
        assert_eq!(found("pé"), ["pé"]);
        assert_eq!(found("parks"), Vec::<String>::new());
        let one = matching(&values, "l");
        assert_eq!((one.total, one.has_more), (Some(1), Some(false)));
    }

    #[test]
    fn a_hundred_values_and_no_more() {
        for (count, total, more) in [(99, None, None), (100, None, None), (101, Some(101), Some(true))] {
            let completion = Completion::new((0..count).map(|at: u32| at.to_string())).bounded();
            assert_eq!(completion.values.len(), count.min(100) as usize);
            assert_eq!((completion.total, completion.has_more), (total, more), "{count}");
        }
        let known = Completion::new(vec!["x"; 101]).total(5000).has_more(false).bounded();
        assert_eq!((known.total, known.has_more), (Some(5000), Some(true)));
        let list: Vec<String> = (0..150).map(|at| format!("v{at}")).collect();
        let completion = matching(&list, "V");
        assert_eq!(
            (completion.values.len(), completion.total, completion.has_more),
            (100, Some(150), Some(true))
        );
    }
}
