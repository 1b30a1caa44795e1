//! What a prompt comes to, and its members on the wire (MCP server/prompts, `GetPromptResult`).

use crate::schema::Map;
use crate::tables::versions::{Feature, Revision};

use super::content::{Content, Role};
use super::handler_error::HandlerError;
use super::identity::Identity;
use super::members::Members;
use super::result::write_meta;

/// A message of a prompt: who says it, and one block of content.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

impl PromptMessage {
    /// A message of the user.
    #[must_use]
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// A message of the model.
    #[must_use]
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

/// What a prompt comes to.
///
/// ```
/// use twolane::tools::{Content, PromptMessage, PromptResult};
///
/// let result = PromptResult::new([
///     PromptMessage::user("What is in this picture?"),
///     PromptMessage::user(Content::image([0x89, b'P', b'N', b'G'], "image/png")),
///     PromptMessage::assistant("I see"),
/// ]);
/// assert_eq!(result.messages.len(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PromptResult {
    /// What it is for, where the prompt's own description does not fit.
    pub description: Option<String>,
    /// The messages.
    pub messages: Vec<PromptMessage>,
    /// `_meta` of the result.
    pub meta: Option<Box<Map>>,
}

impl PromptResult {
    /// A result with these messages.
    #[must_use]
    pub fn new(messages: impl IntoIterator<Item = PromptMessage>) -> Self {
        Self { messages: messages.into_iter().collect(), ..Self::default() }
    }

    /// Says what it is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds a member to `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.meta.get_or_insert_default().insert(key.into(), value.into());
        self
    }
}

/// Appends the members of a `GetPromptResult`, without braces and with only what `revision` has.
pub fn write_prompt(out: &mut Vec<u8>, result: &PromptResult, revision: Revision, identity: &Identity) {
    let modern = revision.has(Feature::ModernResults);
    let mut members = Members::new(out);
    members.text_if("description", result.description.as_deref());
    let messages = members.key("messages");
    messages.push(b'[');
    for (at, message) in result.messages.iter().enumerate() {
        if at > 0 {
            messages.push(b',');
        }
        messages.push(b'{');
        let mut inner = Members::new(messages);
        inner.text("role", message.role.name());
        message.content.write(inner.key("content"), revision);
        messages.push(b'}');
    }
    messages.push(b']');
    write_meta(&mut members, result.meta.as_deref(), if modern { identity.server_info() } else { b"" });
    if modern {
        members.text("resultType", "complete");
    }
}

/// What a prompt's handler may return: text or [`Content`] (a message of the user), messages, a whole [`PromptResult`], or a `Result` of
/// one of these with [`HandlerError`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a prompt comes to",
    note = "return text, Content, PromptMessage, several PromptMessages, PromptResult, or a Result of one of these with HandlerError; `?` turns every error into a HandlerError"
)]
pub trait IntoPrompt {
    /// Makes the result.
    ///
    /// # Errors
    /// How the handler failed.
    fn into_prompt(self) -> Result<PromptResult, HandlerError>;
}

impl IntoPrompt for PromptResult {
    fn into_prompt(self) -> Result<PromptResult, HandlerError> {
        Ok(self)
    }
}

impl IntoPrompt for PromptMessage {
    fn into_prompt(self) -> Result<PromptResult, HandlerError> {
        Ok(PromptResult::new([self]))
    }
}

impl IntoPrompt for Vec<PromptMessage> {
    fn into_prompt(self) -> Result<PromptResult, HandlerError> {
        Ok(PromptResult { messages: self, ..PromptResult::default() })
    }
}

impl<const N: usize> IntoPrompt for [PromptMessage; N] {
    fn into_prompt(self) -> Result<PromptResult, HandlerError> {
        Ok(PromptResult::new(self))
    }
}

impl IntoPrompt for Content {
    fn into_prompt(self) -> Result<PromptResult, HandlerError> {
        PromptMessage::user(self).into_prompt()
    }
}

impl IntoPrompt for String {
    fn into_prompt(self) -> Result<PromptResult, HandlerError> {
        PromptMessage::user(self).into_prompt()
    }
}

impl IntoPrompt for &'static str {
    fn into_prompt(self) -> Result<PromptResult, HandlerError> {
        PromptMessage::user(self).into_prompt()
    }
}

impl<T: IntoPrompt> IntoPrompt for Result<T, HandlerError> {
    fn into_prompt(self) -> Result<PromptResult, HandlerError> {
        self.and_then(IntoPrompt::into_prompt)
    }
}
