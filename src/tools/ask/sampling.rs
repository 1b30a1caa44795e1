//! Asking the client's model (MCP client/sampling).

use serde_json::{Map, Value, json};

use super::error::AskError;
use super::question::Question;
use super::turn::{Block, Turn, Turns};
use crate::tables::capabilities::Capability;
use crate::tables::versions::{Feature, Revision};
use crate::tools::content::Role;
use crate::tools::spec::ToolSpec;

/// Which tools the model is to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it sees fit.
    Auto,
    /// At least one.
    Required,
    /// None.
    None,
}

/// What of the client's other context the model is to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncludeContext {
    /// Nothing.
    None,
    /// What comes from this server.
    ThisServer,
    /// What comes from all servers.
    AllServers,
}

/// A conversation for the client's model to go on with.
///
/// ```
/// use twolane::tools::Sampling;
///
/// let question = Sampling::new("What is the capital of France?", 100).system_prompt("Answer in one word.");
/// ```
#[derive(Debug, Clone)]
pub struct Sampling {
    turns: Vec<Turn>,
    /// The members that need no translation.
    params: Map<String, Value>,
    hints: Vec<Value>,
    priorities: Map<String, Value>,
    context: IncludeContext,
    tools: Vec<ToolSpec>,
    tool_choice: Option<ToolChoice>,
}

impl Sampling {
    /// A prompt, and the most tokens that the model may answer with.
    #[must_use]
    pub fn new(prompt: impl Into<String>, max_tokens: u32) -> Self {
        Self::conversation([Turn::user(Block::text(prompt))], max_tokens)
    }

    /// A conversation so far, and the most tokens that the model may answer with.
    #[must_use]
    pub fn conversation(turns: impl IntoIterator<Item = Turn>, max_tokens: u32) -> Self {
        let mut params = Map::new();
        params.insert("maxTokens".to_owned(), max_tokens.into());
        Self {
            turns: turns.into_iter().collect(),
            params,
            hints: Vec::new(),
            priorities: Map::new(),
            context: IncludeContext::None,
            tools: Vec::new(),
            tool_choice: None,
        }
    }

    /// Adds a turn.
    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// What the model is told beforehand. The client may change it or leave it out.
    #[must_use]
    pub fn system_prompt(self, text: impl Into<String>) -> Self {
        self.set("systemPrompt", text.into())
    }

    /// How freely the model chooses its words.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        self.set("temperature", temperature)
    }

    /// Texts at which the model stops.
    #[must_use]
    pub fn stop_sequences<T: Into<String>>(self, texts: impl IntoIterator<Item = T>) -> Self {
        self.set("stopSequences", texts.into_iter().map(Into::into).collect::<Vec<String>>())
    }

    /// What the model's provider is to get besides, an object.
    #[must_use]
    pub fn metadata(self, metadata: Map<String, Value>) -> Self {
        self.set("metadata", metadata)
    }

    /// Names a model, or a part of a name, that would do well. The first that fits counts.
    #[must_use]
    pub fn hint(mut self, name: impl Into<String>) -> Self {
        self.hints.push(json!({"name": name.into()}));
        self
    }

    /// How much a low price matters, from 0 to 1.
    #[must_use]
    pub fn cost_priority(self, priority: f64) -> Self {
        self.priority("costPriority", priority)
    }

    /// How much a quick answer matters, from 0 to 1.
    #[must_use]
    pub fn speed_priority(self, priority: f64) -> Self {
        self.priority("speedPriority", priority)
    }

    /// How much a clever answer matters, from 0 to 1.
    #[must_use]
    pub fn intelligence_priority(self, priority: f64) -> Self {
        self.priority("intelligencePriority", priority)
    }

    /// What of the client's other context the model is to see.
    #[must_use]
    pub fn include_context(mut self, context: IncludeContext) -> Self {
        self.context = context;
        self
    }

    /// Offers the model a tool; the server runs it and asks again with the result.
    #[must_use]
    pub fn tool(mut self, tool: ToolSpec) -> Self {
        self.tools.push(tool);
        self
    }

    /// Which tools the model is to use.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.params.insert(key.to_owned(), value.into());
        self
    }

    fn priority(mut self, key: &str, priority: f64) -> Self {
        self.priorities.insert(key.to_owned(), priority.clamp(0.0, 1.0).into());
        self
    }

    fn has_tools(&self) -> bool {
        !self.tools.is_empty() || self.tool_choice.is_some()
    }

    fn write_tools(&self, params: &mut Map<String, Value>, revision: Revision) -> Result<(), AskError> {
        let fault = |fault: serde_json::Error| AskError::InvalidQuestion(fault.to_string());
        let mut tools = Vec::with_capacity(self.tools.len());
        for tool in &self.tools {
            let mut json = Vec::new();
            tool.write(&mut json, revision);
            tools.push(serde_json::from_slice::<Value>(&json).map_err(fault)?);
        }
        params.insert("tools".to_owned(), tools.into());
        if let Some(choice) = self.tool_choice {
            let mode = match choice {
                ToolChoice::Auto => "auto",
                ToolChoice::Required => "required",
                ToolChoice::None => "none",
            };
            params.insert("toolChoice".to_owned(), json!({"mode": mode}));
        }
        Ok(())
    }
}

/// What the model answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sampled {
    /// Who speaks: the assistant, as a rule.
    pub role: Role,
    /// What it says, block by block.
    pub content: Vec<Block>,
    /// The model's name.
    pub model: String,
    /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a word of the provider's own.
    pub stop_reason: Option<String>,
}

impl Sampled {
    /// The texts, one after another.
    #[must_use]
    pub fn text(&self) -> String {
        self.content.iter().filter_map(Block::as_text).collect()
    }

    /// The answer as a turn, to go on with the conversation.
    #[must_use]
    pub fn turn(&self) -> Turn {
        Turn { role: self.role, content: self.content.clone() }
    }
}

impl Question for Sampling {
    type Answer = Sampled;
    const METHOD: &'static str = "sampling/createMessage";

    fn needs(&self, revision: Revision) -> Vec<Capability> {
        let mut needs = vec![Capability::Sampling];
        if self.has_tools() {
            needs.push(Capability::SamplingTools);
        }
        // Before it could be declared, everybody took it.
        if self.context != IncludeContext::None && revision.has(Feature::SamplingTools) {
            needs.push(Capability::SamplingContext);
        }
        needs
    }

    fn params(&self, revision: Revision) -> Result<Option<Value>, AskError> {
        if self.has_tools() && !revision.has(Feature::SamplingTools) {
            return Err(AskError::NotInRevision { what: "sampling with tools", revision });
        }
        if self.turns.is_empty() {
            return Err(AskError::InvalidQuestion("there are no messages".to_owned()));
        }
        let mut params = Map::new();
        params.insert("messages".to_owned(), Turns(&self.turns).write(revision)?);
        params.extend(self.params.clone());
        let mut preferences = self.priorities.clone();
        if !self.hints.is_empty() {
            preferences.insert("hints".to_owned(), self.hints.clone().into());
        }
        if !preferences.is_empty() {
            params.insert("modelPreferences".to_owned(), preferences.into());
        }
        let context = match self.context {
            IncludeContext::None => None,
            IncludeContext::ThisServer => Some("thisServer"),
            IncludeContext::AllServers => Some("allServers"),
        };
        if let Some(context) = context {
            params.insert("includeContext".to_owned(), context.into());
        }
        if self.has_tools() {
            self.write_tools(&mut params, revision)?;
        }
        Ok(Some(params.into()))
    }

    fn read(&self, answer: &Value, revision: Revision) -> Result<Sampled, String> {
        if !answer.is_object() {
            return Err("it must be an object with role, content and model".to_owned());
        }
        let Turn { role, content } = Turn::read(answer, revision)?;
        let model = answer["model"].as_str().ok_or("model must be a string")?.to_owned();
        let stop_reason = match &answer["stopReason"] {
            Value::Null => None,
            Value::String(reason) => Some(reason.clone()),
            _ => return Err("stopReason must be a string".to_owned()),
        };
        Ok(Sampled { role, content, model, stop_reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(sampling: &Sampling, revision: Revision) -> Result<Value, AskError> {
        sampling.params(revision).map(Option::unwrap)
    }

    #[test]
    fn a_prompt_is_a_message() {
        for &revision in Revision::ALL {
            assert_eq!(
                params(&Sampling::new("Hi", 100), revision).unwrap().to_string(),
                r#"{"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"maxTokens":100}"#
            );
        }
    }

    #[test]
    fn every_member_has_its_place() {
        let sampling = Sampling::new("Hi", 1)
            .system_prompt("S")
            .temperature(0.5)
            .stop_sequences(["x"])
            .metadata(Map::new())
            .hint("claude")
            .cost_priority(-1.0)
            .speed_priority(0.25)
            .intelligence_priority(7.0)
            .include_context(IncludeContext::ThisServer);
        let mut params = params(&sampling, Revision::V2025_03_26).unwrap();
        params.as_object_mut().unwrap().shift_remove("messages");
        assert_eq!(
            params,
            json!({
                "maxTokens": 1, "systemPrompt": "S", "temperature": 0.5, "stopSequences": ["x"], "metadata": {},
                "modelPreferences": {
                    "hints": [{"name": "claude"}], "costPriority": 0.0, "speedPriority": 0.25, "intelligencePriority": 1.0,
                },
                "includeContext": "thisServer",
            })
        );
        assert_eq!(sampling.needs(Revision::V2025_06_18), [Capability::Sampling]);
        assert_eq!(
            sampling.needs(Revision::V2025_11_25),
            [Capability::Sampling, Capability::SamplingContext]
        );
    }

    #[test]
    fn tools_where_the_revision_has_them() {
        let tool = ToolSpec::new("add", "Adds.", json!({"type": "object"}));
        let sampling = Sampling::new("Hi", 1).tool(tool).tool_choice(ToolChoice::Required);
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let params = params(&sampling, revision).unwrap();
            assert_eq!(
                (&params["tools"][0]["name"], &params["toolChoice"]),
                (&json!("add"), &json!({"mode": "required"}))
            );
            assert_eq!(sampling.needs(revision), [Capability::Sampling, Capability::SamplingTools]);
        }
        let refused = params(&sampling, Revision::V2025_06_18);
        assert!(matches!(refused, Err(AskError::NotInRevision { .. })), "{refused:?}");
        let empty = params(&Sampling::conversation([], 1), Revision::V2026_07_28);
        assert!(matches!(empty, Err(AskError::InvalidQuestion(_))), "{empty:?}");
    }

    #[test]
    fn answers_are_read() {
        let read = |answer: Value| Sampling::new("Hi", 1).read(&answer, Revision::V2026_07_28);
        let block = json!({"type": "text", "text": "Paris", "_meta": {"a": 1}});
        let good = json!({"role": "assistant", "content": block, "model": "m", "stopReason": "endTurn"});
        let sampled = read(good.clone()).unwrap();
        assert_eq!((&*sampled.text(), &*sampled.model, sampled.role), ("Paris", "m", Role::Assistant));
        assert_eq!(sampled.stop_reason.as_deref(), Some("endTurn"));
        let mut next = Sampling::new("Hi", 1).turn(sampled.turn());
        next = next.turn(Turn::user(Block::text("And of Spain?")));
        let messages = params(&next, Revision::V2026_07_28).unwrap()["messages"].take();
        assert_eq!(messages[1], json!({"role": "assistant", "content": block}), "what it carried stays");
        for (key, bad) in [
            ("role", json!("system")),
            ("role", json!(null)),
            ("content", json!(null)),
            ("content", json!("Paris")),
            ("content", json!({"type": "text"})),
            ("content", json!({"type": "text", "text": 1})),
            ("content", json!({"type": "video"})),
            ("content", json!({"type": "image", "data": "AA=="})),
            ("content", json!({"type": "tool_use", "id": "1", "name": "add"})),
            ("content", json!([{"type": "text", "text": "a"}, 5])),
            ("model", json!(1)),
            ("model", json!(null)),
            ("stopReason", json!(1)),
        ] {
            let mut answer = good.clone();
            answer[key] = bad.clone();
            assert!(read(answer).is_err(), "{key}: {bad}");
        }
        assert!(read(json!(5)).is_err() && read(json!([])).is_err());
        let mut answer = good;
        answer["content"] = json!([block, {"type": "tool_use", "id": "1", "name": "add", "input": {}}]);
        assert_eq!(read(answer.clone()).unwrap().content.len(), 2);
        assert!(
            Sampling::new("Hi", 1).read(&answer, Revision::V2025_06_18).is_err(),
            "several blocks came later"
        );
    }
}
