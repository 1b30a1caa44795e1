//! The forms that a client shows its user: flat objects of texts, numbers, yes or no, and choices.

use serde_json::{Map, Value, json};

use super::error::AskError;
use crate::tables::versions::{Feature, Revision};

/// What a form asks for, field by field.
///
/// ```
/// use twolane::tools::{Field, Form, Format};
///
/// let form = Form::new()
///     .field("email", Field::string().format(Format::Email))
///     .optional("color", Field::one_of(["red", "green"]).default("red"));
/// assert_eq!(form.schema()["required"][0], "email");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Form {
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Form {
    /// A form without fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field that must be filled in.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, field: Field) -> Self {
        let name = name.into();
        self.required.push(name.clone().into());
        self.optional(name, field)
    }

    /// Adds a field that may be left empty.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, field: Field) -> Self {
        self.properties.insert(name.into(), Value::Object(field.0));
        self
    }

    /// The form as `requestedSchema`.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut schema = json!({"type": "object", "properties": self.properties});
        if !self.required.is_empty() {
            schema["required"] = self.required.clone().into();
        }
        schema
    }
}

/// What a text looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An address for mail.
    Email,
    /// A URI.
    Uri,
    /// `2025-12-31`.
    Date,
    /// `2025-12-31T23:59:59Z`.
    DateTime,
}

/// A field of a [`Form`].
#[derive(Debug, Clone, PartialEq)]
pub struct Field(Map<String, Value>);

impl Field {
    fn of(kind: &str) -> Self {
        Self(Map::new()).set("type", kind)
    }

    /// A text.
    #[must_use]
    pub fn string() -> Self {
        Self::of("string")
    }

    /// A number.
    #[must_use]
    pub fn number() -> Self {
        Self::of("number")
    }

    /// A number without a fraction.
    #[must_use]
    pub fn integer() -> Self {
        Self::of("integer")
    }

    /// Yes or no.
    #[must_use]
    pub fn boolean() -> Self {
        Self::of("boolean")
    }

    /// One of these.
    #[must_use]
    pub fn one_of<T: Into<String>>(choices: impl IntoIterator<Item = T>) -> Self {
        Self::string().set("enum", texts(choices))
    }

    /// One of these values, each with the words that people read.
    #[must_use]
    pub fn one_of_titled<V: Into<String>, T: Into<String>>(
        choices: impl IntoIterator<Item = (V, T)>,
    ) -> Self {
        Self::string().set("oneOf", titled(choices))
    }

    /// One of these values, with the words that people read in a list beside them: how it was done before 2025-11-25. Prefer
    /// [`Self::one_of_titled`], which is translated where it must be.
    #[must_use]
    pub fn one_of_named<V: Into<String>, T: Into<String>>(choices: impl IntoIterator<Item = (V, T)>) -> Self {
        let (values, names): (Vec<String>, Vec<String>) =
            choices.into_iter().map(|(value, name)| (value.into(), name.into())).unzip();
        Self::string().set("enum", values).set("enumNames", names)
    }

    /// Any number of these.
    #[must_use]
    pub fn any_of<T: Into<String>>(choices: impl IntoIterator<Item = T>) -> Self {
        Self::of("array").set("items", json!({"type": "string", "enum": texts(choices)}))
    }

    /// Any number of these values, each with the words that people read.
    #[must_use]
    pub fn any_of_titled<V: Into<String>, T: Into<String>>(
        choices: impl IntoIterator<Item = (V, T)>,
    ) -> Self {
        Self::of("array").set("items", json!({"anyOf": titled(choices)}))
    }

    /// The field's name for people.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.set("title", title.into())
    }

    /// What the field is for.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.set("description", description.into())
    }

    /// What stands in it at first.
    #[must_use]
    pub fn default(self, value: impl Into<Value>) -> Self {
        self.set("default", value)
    }

    /// The fewest characters of a text.
    #[must_use]
    pub fn min_length(self, characters: u32) -> Self {
        self.set("minLength", characters)
    }

    /// The most characters of a text.
    #[must_use]
    pub fn max_length(self, characters: u32) -> Self {
        self.set("maxLength", characters)
    }

    /// What a text looks like. Clients help with it; nobody vouches for it.
    #[must_use]
    pub fn format(self, format: Format) -> Self {
        self.set(
            "format",
            match format {
                Format::Email => "email",
                Format::Uri => "uri",
                Format::Date => "date",
                Format::DateTime => "date-time",
            },
        )
    }

    /// The smallest number.
    #[must_use]
    pub fn minimum(self, number: impl Into<Value>) -> Self {
        self.set("minimum", number)
    }

    /// The largest number.
    #[must_use]
    pub fn maximum(self, number: impl Into<Value>) -> Self {
        self.set("maximum", number)
    }

    /// The fewest choices.
    #[must_use]
    pub fn min_items(self, choices: u32) -> Self {
        self.set("minItems", choices)
    }

    /// The most choices.
    #[must_use]
    pub fn max_items(self, choices: u32) -> Self {
        self.set("maxItems", choices)
    }

    fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }
}

fn texts<T: Into<String>>(choices: impl IntoIterator<Item = T>) -> Vec<String> {
    choices.into_iter().map(Into::into).collect()
}

fn titled<V: Into<String>, T: Into<String>>(choices: impl IntoIterator<Item = (V, T)>) -> Vec<Value> {
    let choice = |(value, title): (V, T)| json!({"const": value.into(), "title": title.into()});
    choices.into_iter().map(choice).collect()
}

/// The schema as `revision` has it.
pub(super) fn adapt(mut schema: Value, revision: Revision) -> Result<Value, AskError> {
    let fault = |text: &str| AskError::InvalidQuestion(format!("requestedSchema {text}"));
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(fault("must have the type object"));
    }
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return Err(fault("needs properties, an object"));
    };
    for (name, property) in properties.iter_mut() {
        let kind = property.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(field) = property.as_object_mut() else {
            return Err(fault(&format!("has {name:?}, which is no object")));
        };
        match kind.as_str() {
            "string" | "number" | "integer" | "boolean" => {}
            "array" if choices_of(field) => {}
            _ => {
                let text = format!("has {name:?}, which is no text, number, boolean or choice");
                return Err(fault(&text));
            }
        }
        if !revision.has(Feature::ElicitationModes) {
            make_plain(field, &kind, revision)?;
        }
    }
    Ok(schema)
}

/// Whether a list is a list of choices.
fn choices_of(field: &Map<String, Value>) -> bool {
    field.get("items").is_some_and(|items| items["enum"].is_array() || items["anyOf"].is_array())
}

/// Before 2025-11-25 only yes or no had a default, words stood beside values, and one thing was chosen at a time.
fn make_plain(field: &mut Map<String, Value>, kind: &str, revision: Revision) -> Result<(), AskError> {
    if kind == "array" {
        return Err(AskError::NotInRevision { what: "field for several choices", revision });
    }
    if kind != "boolean" {
        field.shift_remove("default");
    }
    if let Some(Value::Array(choices)) = field.shift_remove("oneOf") {
        let of = |key: &str| choices.iter().map(|choice| choice[key].clone()).collect::<Vec<_>>();
        let (values, names) = (of("const"), of("title"));
        field.insert("enum".to_owned(), values.into());
        field.insert("enumNames".to_owned(), names.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_what_the_schema_allows() {
        let pairs = [("a", "A"), ("b", "B")];
        for (field, text) in [
            (
                Field::string().title("T").description("D").min_length(1).max_length(9).format(Format::Email),
                r#"{"type":"string","title":"T","description":"D","minLength":1,"maxLength":9,"format":"email"}"#,
            ),
            (Field::string().format(Format::DateTime), r#"{"type":"string","format":"date-time"}"#),
            (Field::string().format(Format::Date), r#"{"type":"string","format":"date"}"#),
            (Field::string().format(Format::Uri), r#"{"type":"string","format":"uri"}"#),
            (
                Field::integer().minimum(0).maximum(9).default(3),
                r#"{"type":"integer","minimum":0,"maximum":9,"default":3}"#,
            ),
            (Field::number().default(95.5), r#"{"type":"number","default":95.5}"#),
            (Field::boolean().default(true), r#"{"type":"boolean","default":true}"#),
            (Field::one_of(["a", "b"]).default("a"), r#"{"type":"string","enum":["a","b"],"default":"a"}"#),
            (
                Field::one_of_titled(pairs),
                r#"{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}"#,
            ),
            (Field::one_of_named(pairs), r#"{"type":"string","enum":["a","b"],"enumNames":["A","B"]}"#),
            (
                Field::any_of(["a", "b"]).min_items(1).max_items(2),
                r#"{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"maxItems":2}"#,
            ),
            (
                Field::any_of_titled(pairs).default(vec!["a"]),
                r#"{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]},"default":["a"]}"#,
            ),
        ] {
            let form = Form::new().field("f", field);
            assert_eq!(form.schema()["properties"]["f"].to_string(), text);
            let schema = adapt(form.schema(), Revision::V2025_11_25).unwrap();
            assert_eq!(schema, form.schema());
        }
    }

    #[test]
    fn required_fields_are_listed() {
        let form = Form::new().field("a", Field::string()).optional("b", Field::boolean());
        assert_eq!(
            form.schema().to_string(),
            r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"boolean"}},"required":["a"]}"#
        );
        assert_eq!(Form::new().schema().to_string(), r#"{"type":"object","properties":{}}"#);
    }

    #[test]
    fn older_revisions_get_what_they_know() {
        let form = Form::new()
            .field("text", Field::string().default("x"))
            .field("flag", Field::boolean().default(true))
            .field("choice", Field::one_of_titled([("a", "A")]).default("a"));
        let adapted = adapt(form.schema(), Revision::V2025_06_18).unwrap();
        assert_eq!(
            adapted["properties"],
            json!({
                "text": {"type": "string"},
                "flag": {"type": "boolean", "default": true},
                "choice": {"type": "string", "enum": ["a"], "enumNames": ["A"]},
            })
        );
        let several = Form::new().field("several", Field::any_of(["a"])).schema();
        assert!(adapt(several.clone(), Revision::V2026_07_28).is_ok());
        assert!(matches!(adapt(several, Revision::V2025_06_18), Err(AskError::NotInRevision { .. })));
    }

    #[test]
    fn schemas_of_another_shape_are_refused() {
        for schema in [
            json!(null),
            json!({}),
            json!({"type": "object"}),
            json!({"type": "array", "properties": {}}),
            json!({"type": "object", "properties": {"a": 1}}),
            json!({"type": "object", "properties": {"a": {"type": "object"}}}),
            json!({"type": "object", "properties": {"a": {}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}}),
        ] {
            let adapted = adapt(schema.clone(), Revision::V2026_07_28);
            assert!(matches!(adapted, Err(AskError::InvalidQuestion(_))), "{schema}");
        }
    }
}
