//! The turns of a conversation with a model, and the blocks that they consist of.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::error::AskError;
use crate::tables::versions::{Feature, Revision};
use crate::tools::content::{Content, Role};

/// What one side says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Turn {
    /// Who speaks.
    pub role: Role,
    /// What is said. The results of tools stand alone in a turn of the user.
    pub content: Vec<Block>,
}

impl Turn {
    /// The user says one thing.
    #[must_use]
    pub fn user(block: Block) -> Self {
        Self { role: Role::User, content: vec![block] }
    }

    /// The model says one thing.
    #[must_use]
    pub fn assistant(block: Block) -> Self {
        Self { role: Role::Assistant, content: vec![block] }
    }

    /// Adds a block.
    #[must_use]
    pub fn with(mut self, block: Block) -> Self {
        self.content.push(block);
        self
    }

    /// Reads `role` and `content`.
    pub(super) fn read(message: &Value, revision: Revision) -> Result<Self, String> {
        let role = match message["role"].as_str() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some(_) | None => return Err("role must be user or assistant".to_owned()),
        };
        let block = |value: &Value| {
            // Arrays would read as blocks, their elements as members.
            if !value.is_object() {
                return Err("content must be a block or, from 2025-11-25 on, an array of blocks".to_owned());
            }
            let block = Block::deserialize(value).map_err(|fault| format!("content: {fault}"))?;
            if block.is_about_tools() && !has_lists(revision) {
                return Err("content: this revision has no tools in sampling".to_owned());
            }
            Ok(block)
        };
        let content = match &message["content"] {
            Value::Array(blocks) if has_lists(revision) => {
                blocks.iter().map(block).collect::<Result<Vec<_>, _>>()?
            }
            other => vec![block(other)?],
        };
        Ok(Self { role, content })
    }
}

/// Whether a turn may have several blocks, and be about tools.
fn has_lists(revision: Revision) -> bool {
    revision.has(Feature::SamplingTools)
}

/// One piece of what is said. What else came with it (annotations, `_meta`) is in `more`, and goes back with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// What else came with it.
        #[serde(flatten)]
        more: Map<String, Value>,
    },
    /// An image.
    Image {
        /// Its bytes in base64.
        data: String,
        /// Its media type.
        mime_type: String,
        /// What else came with it.
        #[serde(flatten)]
        more: Map<String, Value>,
    },
    /// A sound.
    Audio {
        /// Its bytes in base64.
        data: String,
        /// Its media type.
        mime_type: String,
        /// What else came with it.
        #[serde(flatten)]
        more: Map<String, Value>,
    },
    /// The model wants a tool to be run.
    ToolUse {
        /// Names this use, for the result.
        id: String,
        /// The tool's name.
        name: String,
        /// Its arguments.
        input: Map<String, Value>,
        /// What else came with it.
        #[serde(flatten)]
        more: Map<String, Value>,
    },
    /// What a tool that was run came to.
    ToolResult {
        /// Which use it belongs to.
        tool_use_id: String,
        /// Content blocks as tools return them.
        content: Vec<Value>,
        /// What else came with it: `structuredContent`, `isError`.
        #[serde(flatten)]
        more: Map<String, Value>,
    },
}

impl Block {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), more: Map::new() }
    }

    /// An image: its bytes in base64, and its media type.
    #[must_use]
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image { data: data.into(), mime_type: mime_type.into(), more: Map::new() }
    }

    /// A sound: its bytes in base64, and its media type.
    #[must_use]
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio { data: data.into(), mime_type: mime_type.into(), more: Map::new() }
    }

    /// What the tool use of this id came to.
    #[must_use]
    pub fn tool_result(tool_use_id: impl Into<String>, content: &[Content]) -> Self {
        let value = |content: &Content| {
            let mut json = Vec::new();
            content.write(&mut json, Revision::NEWEST_LEGACY);
            serde_json::from_slice(&json).unwrap_or_default()
        };
        Self::ToolResult {
            tool_use_id: tool_use_id.into(),
            content: content.iter().map(value).collect(),
            more: Map::new(),
        }
    }

    /// The text of a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::Image { .. } | Self::Audio { .. } | Self::ToolUse { .. } | Self::ToolResult { .. } => None,
        }
    }

    const fn is_about_tools(&self) -> bool {
        matches!(self, Self::ToolUse { .. } | Self::ToolResult { .. })
    }
}

/// A whole conversation.
pub(super) struct Turns<'a>(pub(super) &'a [Turn]);

impl Turns<'_> {
    /// `messages`, as `revision` has them: where a message has one block, a turn of several becomes several messages.
    pub(super) fn write(&self, revision: Revision) -> Result<Value, AskError> {
        let fault = |fault: serde_json::Error| AskError::InvalidQuestion(fault.to_string());
        let mut messages = Vec::with_capacity(self.0.len());
        for turn in self.0 {
            let role = match turn.role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            if turn.content.iter().any(Block::is_about_tools) && !has_lists(revision) {
                return Err(AskError::NotInRevision { what: "sampling with tools", revision });
            }
            let mut blocks = Vec::with_capacity(turn.content.len());
            for block in &turn.content {
                blocks.push(serde_json::to_value(block).map_err(fault)?);
            }
            if blocks.len() != 1 && has_lists(revision) {
                messages.push(json!({"role": role, "content": blocks}));
            } else {
                messages.extend(blocks.into_iter().map(|block| json!({"role": role, "content": block})));
            }
        }
        Ok(messages.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_by_revision() {
        let turns = [Turn::user(Block::text("a")).with(Block::image("AA==", "image/png"))];
        let text = json!({"type": "text", "text": "a"});
        let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
        assert_eq!(
            Turns(&turns).write(Revision::V2025_11_25).unwrap(),
            json!([{"role": "user", "content": [text, image]}])
        );
        assert_eq!(
            Turns(&turns).write(Revision::V2025_06_18).unwrap(),
            json!([{"role": "user", "content": text}, {"role": "user", "content": image}])
        );
        let result = Block::tool_result("1", &[Content::text("3")]);
        let turns = [Turn::assistant(Block::audio("AA==", "audio/wav")), Turn::user(result)];
        assert_eq!(
            Turns(&turns).write(Revision::V2026_07_28).unwrap()[1],
            json!({"role": "user", "content":
                {"type": "tool_result", "toolUseId": "1", "content": [{"type": "text", "text": "3"}]}})
        );
        assert!(Turns(&turns).write(Revision::V2025_06_18).is_err());
    }
}
