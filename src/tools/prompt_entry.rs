//! A registered prompt with everything worked out for it, and the start of its use.

use std::sync::Arc;
use std::time::Duration;

use crate::tables::versions::Revision;

use super::completion::Completions;
use super::context::Context;
use super::list::Listed;
use super::prompt::{PROMPT, Prompt, PromptCall, PromptSpec, Use};
use super::prompt_arguments::PromptArguments;
use super::running::Running;
use super::start::start;

/// A registered prompt.
pub struct PromptEntry {
    spec: Arc<PromptSpec>,
    call: PromptCall,
    completions: Completions,
    listed: Vec<Box<[u8]>>,
}

impl PromptEntry {
    /// Checks a prompt.
    ///
    /// # Errors
    /// Why it cannot be registered and how to mend it.
    pub(super) fn compile(prompt: Prompt) -> Result<Self, String> {
        let Prompt { spec, call, completions, fault } = prompt;
        let refused = |text: String| format!("prompt {:?} cannot be registered: {text}", spec.name);
        if let Some(fault) = fault {
            return Err(refused(fault));
        }
        if spec.name.is_empty() {
            return Err(refused("it has no name; give it one".to_owned()));
        }
        for (at, argument) in spec.arguments.iter().enumerate() {
            if argument.name.is_empty() {
                return Err(refused("one of its arguments has no name; give it one".to_owned()));
            }
            if spec.arguments[..at].iter().any(|other| other.name == argument.name) {
                return Err(refused(format!("argument {:?} is declared twice; rename one", argument.name)));
            }
        }
        completions
            .check(|name| spec.arguments.iter().any(|argument| argument.name == name))
            .map_err(refused)?;
        let render = |&revision| {
            let mut out = Vec::new();
            spec.write(&mut out, revision);
            out.into_boxed_slice()
        };
        let listed = Revision::ALL.iter().map(render).collect();
        Ok(Self { spec: Arc::new(spec), call, completions, listed })
    }

    /// The first required argument that was left out.
    #[must_use]
    pub fn missing(&self, arguments: &PromptArguments) -> Option<&str> {
        let lacks = |name: &&str| arguments.get(name).is_none();
        self.spec.arguments.iter().filter(|argument| argument.required).map(|a| a.name.as_str()).find(lacks)
    }

    /// How its arguments are completed.
    #[must_use]
    pub fn completions(&self) -> &Completions {
        &self.completions
    }

    /// Starts a use. `timeout` holds for prompts that declare none.
    pub fn start(&self, arguments: PromptArguments, context: Context, timeout: Duration) -> Running {
        let timeout = self.spec.timeout.unwrap_or(timeout);
        start(PROMPT, &self.spec.name, context, timeout, |context| {
            (self.call)(arguments, Use { spec: Arc::clone(&self.spec), context })
        })
    }
}

impl Listed for PromptEntry {
    const MEMBER: &'static str = "prompts";
    const TAG: u8 = b'p';

    fn key(&self) -> &str {
        &self.spec.name
    }

    fn listed(&self, revision: Revision) -> &[u8] {
        &self.listed[revision.index()]
    }
}

impl std::fmt::Debug for PromptEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PromptEntry").field("spec", &self.spec).finish_non_exhaustive()
    }
}
