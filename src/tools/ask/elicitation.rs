//! Asking the client's user (MCP client/elicitation).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::error::AskError;
use super::form::{Form, adapt};
use super::question::Question;
use crate::schema::OutputSchema;
use crate::tables::capabilities::Capability;
use crate::tables::versions::{Feature, Revision};

/// A question to the user of the client: a form to fill in, or a page to open.
#[derive(Debug, Clone, PartialEq)]
pub struct Elicitation {
    message: String,
    mode: Mode,
}

#[derive(Debug, Clone, PartialEq)]
enum Mode {
    Form(Value),
    Url { url: String, id: Option<String> },
}

impl Elicitation {
    /// A form. The client sees what is filled in, so nothing secret may be asked for.
    #[must_use]
    pub fn form(message: impl Into<String>, form: Form) -> Self {
        Self::schema(message, form.schema())
    }

    /// A form whose schema is written by hand: a flat object of texts, numbers, booleans and choices.
    #[must_use]
    pub fn schema(message: impl Into<String>, schema: Value) -> Self {
        Self { message: message.into(), mode: Mode::Form(schema) }
    }

    /// A page to open, for what the client must not see. That the user agrees says nothing of what happens there.
    #[must_use]
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { message: message.into(), mode: Mode::Url { url: url.into(), id: None } }
    }

    /// Names the elicitation, for [`crate::tools::Context::elicitation_complete`]. Without, a page gets a random name; revisions other than 2025-11-25 have no
    /// place for it.
    #[must_use]
    pub fn id(mut self, name: impl Into<String>) -> Self {
        if let Mode::Url { id, .. } = &mut self.mode {
            *id = Some(name.into());
        }
        self
    }
}

/// What the user did.
#[derive(Debug, Clone, PartialEq)]
pub enum Elicited {
    /// Filled the form in, or agreed to open the page. What was filled in has the fields that were asked for and no others.
    Accepted(Map<String, Value>),
    /// Said no.
    Declined,
    /// Went away without an answer.
    Cancelled,
}

impl Elicited {
    /// What was filled in; `None` unless it was accepted.
    #[must_use]
    pub fn content(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Accepted(content) => Some(content),
            Self::Declined | Self::Cancelled => None,
        }
    }

    /// Reads what was filled in as a type; `None` unless it was accepted.
    ///
    /// # Errors
    /// [`AskError::InvalidAnswer`] when it does not read as one.
    pub fn accepted<T: DeserializeOwned>(&self) -> Result<Option<T>, AskError> {
        let Some(content) = self.content() else { return Ok(None) };
        T::deserialize(content).map(Some).map_err(|fault| AskError::InvalidAnswer(fault.to_string()))
    }

    /// The word on the wire.
    #[must_use]
    pub const fn action(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "accept",
            Self::Declined => "decline",
            Self::Cancelled => "cancel",
        }
    }
}

impl Question for Elicitation {
    type Answer = Elicited;
    const METHOD: &'static str = "elicitation/create";

    fn needs(&self, _revision: Revision) -> Vec<Capability> {
        vec![match self.mode {
            Mode::Form(_) => Capability::ElicitationForm,
            Mode::Url { .. } => Capability::ElicitationUrl,
        }]
    }

    fn params(&self, revision: Revision) -> Result<Option<Value>, AskError> {
        if !revision.has(Feature::Elicitation) {
            return Err(AskError::NotInRevision { what: "elicitation", revision });
        }
        let modes = revision.has(Feature::ElicitationModes);
        match &self.mode {
            Mode::Form(schema) => {
                let schema = adapt(schema.clone(), revision)?;
                compile(&schema).map_err(AskError::InvalidQuestion)?;
                let mut params = json!({"message": self.message, "requestedSchema": schema});
                if modes {
                    params["mode"] = "form".into();
                }
                Ok(Some(params))
            }
            Mode::Url { .. } if !modes => {
                Err(AskError::NotInRevision { what: "elicitation by URL", revision })
            }
            Mode::Url { url, id } => {
                if !is_url(url) {
                    return Err(AskError::InvalidQuestion("the url is none".to_owned()));
                }
                let mut params = json!({"mode": "url", "message": self.message, "url": url});
                if revision.has(Feature::ElicitationIds) {
                    params["elicitationId"] = match id {
                        Some(id) => id.clone().into(),
                        None => random_id()?.into(),
                    };
                }
                Ok(Some(params))
            }
        }
    }

    fn read(&self, answer: &Value, revision: Revision) -> Result<Elicited, String> {
        match answer["action"].as_str() {
            Some("accept") => self.read_content(answer.get("content"), revision).map(Elicited::Accepted),
            Some("decline") => Ok(Elicited::Declined),
            Some("cancel") => Ok(Elicited::Cancelled),
            Some(_) | None => Err("action must be accept, decline or cancel".to_owned()),
        }
    }
}

impl Elicitation {
    fn read_content(
        &self,
        content: Option<&Value>,
        revision: Revision,
    ) -> Result<Map<String, Value>, String> {
        let schema = match &self.mode {
            Mode::Form(schema) => adapt(schema.clone(), revision).map_err(|error| error.text())?,
            Mode::Url { .. } => return Ok(Map::new()),
        };
        let mut content = match content.filter(|content| !content.is_null()) {
            Some(Value::Object(content)) => content.clone(),
            None => Map::new(),
            Some(_) => return Err("content must be an object".to_owned()),
        };
        content.retain(|key, _| schema["properties"].get(key).is_some());
        let content = Value::Object(content);
        compile(&schema)?.check(&content).map_err(|faults| faults.to_string())?;
        match content {
            Value::Object(content) => Ok(content),
            _ => Ok(Map::new()),
        }
    }
}

fn compile(schema: &Value) -> Result<OutputSchema, String> {
    OutputSchema::compile(schema.as_object().ok_or("requestedSchema must be an object")?)
}

/// A scheme, a colon and something: what the page is, the client decides.
fn is_url(url: &str) -> bool {
    let scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    url.split_once(':').is_some_and(|(before, after)| {
        before.starts_with(|c: char| c.is_ascii_alphabetic())
            && before.chars().all(scheme)
            && !after.is_empty()
            && !after.contains(|c: char| c.is_whitespace() || c.is_control())
    })
}

fn random_id() -> Result<String, AskError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|_| AskError::InvalidQuestion("there is no randomness for a name".to_owned()))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::ask::form::Field;

    fn name() -> Elicitation {
        Elicitation::form(
            "Who?",
            Form::new()
                .field("name", Field::string().min_length(2))
                .optional("age", Field::integer().minimum(18)),
        )
    }

    #[test]
    fn questions_by_revision() {
        let params =
            |elicitation: &Elicitation, revision| Question::params(elicitation, revision).map(Option::unwrap);
        let older = params(&name(), Revision::V2025_06_18).unwrap();
        assert_eq!((older.get("mode"), &older["message"]), (None, &json!("Who?")));
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            assert_eq!(params(&name(), revision).unwrap()["mode"], "form");
        }
        let page = Elicitation::url("Log in", "https://example.com/?a=b");
        assert_eq!(
            params(&page, Revision::V2026_07_28).unwrap(),
            json!({"mode": "url", "message": "Log in", "url": "https://example.com/?a=b"})
        );
        let first = params(&page, Revision::V2025_11_25).unwrap();
        assert_eq!(first["elicitationId"].as_str().unwrap().len(), 22);
        assert_ne!(params(&page, Revision::V2025_11_25).unwrap(), first);
        assert_eq!(params(&page.clone().id("x"), Revision::V2025_11_25).unwrap()["elicitationId"], "x");
        for (elicitation, revision) in
            [(&name(), Revision::V2025_03_26), (&page, Revision::V2025_03_26), (&page, Revision::V2025_06_18)]
        {
            let refused = params(elicitation, revision);
            assert!(matches!(refused, Err(AskError::NotInRevision { .. })), "{refused:?}");
        }
        for url in ["", "example.com", "://x", "https:", "https://a b", "1a:b"] {
            let refused = params(&Elicitation::url("", url), Revision::V2026_07_28);
            assert!(matches!(refused, Err(AskError::InvalidQuestion(_))), "{url}");
        }
    }

    #[test]
    fn answers_are_what_was_asked_for() {
        let read = |answer: Value| name().read(&answer, Revision::V2026_07_28);
        let accepted =
            read(json!({"action": "accept", "content": {"name": "Al", "age": 30, "x": {}}})).unwrap();
        assert_eq!(
            accepted.content(),
            json!({"name": "Al", "age": 30}).as_object(),
            "no more than was asked for"
        );
        assert_eq!(read(json!({"action": "decline", "content": 5})), Ok(Elicited::Declined));
        assert_eq!(read(json!({"action": "cancel"})), Ok(Elicited::Cancelled));
        for bad in [
            json!(5),
            json!(null),
            json!({}),
            json!({"action": "Accept"}),
            json!({"action": true}),
            json!({"action": "accept"}),
            json!({"action": "accept", "content": null}),
            json!({"action": "accept", "content": [1]}),
            json!({"action": "accept", "content": {"name": 5}}),
            json!({"action": "accept", "content": {"name": "A"}}),
            json!({"action": "accept", "content": {"name": "Al", "age": 17}}),
            json!({"action": "accept", "content": {"name": "Al", "age": 18.5}}),
            json!({"action": "accept", "content": {"age": 18}}),
        ] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
        let page = Elicitation::url("", "https://example.com");
        let agreed = page.read(&json!({"action": "accept", "content": {"a": 1}}), Revision::V2026_07_28);
        assert_eq!(agreed, Ok(Elicited::Accepted(Map::new())));
    }

    #[test]
    fn contents_read_as_types() {
        #[derive(serde::Deserialize, Debug, PartialEq)]
        struct Person {
            name: String,
        }
        let accepted =
            Elicited::Accepted(json!({"name": "Al"}).as_object().cloned().expect("it is an object"));
        assert_eq!(accepted.accepted::<Person>(), Ok(Some(Person { name: "Al".to_owned() })));
        assert_eq!(Elicited::Declined.accepted::<Person>(), Ok(None));
        assert!(matches!(accepted.accepted::<Vec<u8>>(), Err(AskError::InvalidAnswer(_))));
    }
}
