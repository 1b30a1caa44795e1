//! What is wrong with a value, in words a model can act on: where, what was expected, what came.

use std::fmt;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::walk::join;

/// The most faults listed at once.
pub const MOST: usize = 10;
/// The longest text of one part of a fault, in bytes.
const LONGEST: usize = 200;
/// The longest piece of a string value that is repeated, in bytes.
const LONGEST_STRING: usize = 60;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// A JSON pointer (RFC 6901) to the value; empty for the root.
    pub path: String,
    /// What the schema asks for.
    pub expected: String,
    /// What was there.
    pub got: String,
}

impl Fault {
    /// A fault, its parts cut to a bounded length.
    #[must_use]
    pub fn new(path: impl Into<String>, expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self { path: cut(path.into()), expected: cut(expected.into()), got: cut(got.into()) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "(root)" } else { &self.path };
        write!(f, "{path}: expected {}, got {}", self.expected, self.got)
    }
}

/// Up to [`MOST`] faults of one value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults {
    /// The faults, in the order they were found.
    pub list: Vec<Fault>,
    /// Whether there are more.
    pub more: bool,
}

impl Faults {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Collects what a validator found. `schema` is the whole schema, for the types of missing properties; `root` makes the whole
    /// value, where an error does not carry all of it.
    pub(super) fn collect<'i>(
        errors: impl Iterator<Item = ValidationError<'i>>,
        schema: &Value,
        root: impl Fn() -> Value,
    ) -> Self {
        let mut faults = Self::default();
        for error in errors {
            if faults.list.len() >= MOST {
                faults.more = true;
                break;
            }
            describe(&error, schema, &root, &mut faults.list);
        }
        faults.more |= faults.list.len() > MOST;
        faults.list.truncate(MOST);
        faults
    }
}

/// One fault on the same line, several one per line.
impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.list.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            fault.fmt(f)?;
        }
        if self.more { f.write_str("\n(more faults are not listed)") } else { Ok(()) }
    }
}

fn describe(error: &ValidationError<'_>, schema: &Value, root: impl Fn() -> Value, out: &mut Vec<Fault>) {
    let path = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let expected = required_type(error, schema, name)
                .map_or_else(|| "a value (required)".to_owned(), |name| format!("{name} (required)"));
            out.push(Fault::new(join(path, name), expected, "nothing"));
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            unexpected_members(
                path,
                error.instance(),
                |name| unexpected.iter().any(|other| other == name),
                out,
            );
        }
        // `additionalProperties: false` without `properties`: the error carries the first member's value alone.
        ValidationErrorKind::FalseSchema
            if error.schema_path().as_str().ends_with("/additionalProperties") =>
        {
            unexpected_members(path, root().pointer(path).unwrap_or(&Value::Null), |_| true, out);
        }
        ValidationErrorKind::PropertyNames { error: inner } => {
            out.push(Fault::new(
                path,
                format!("names of properties to be {}", expected(inner)),
                got(inner.instance()),
            ));
        }
        _ => out.push(Fault::new(path, expected(error), got(error.instance()))),
    }
}

fn unexpected_members(
    path: &str,
    object: &Value,
    is_unexpected: impl Fn(&str) -> bool,
    out: &mut Vec<Fault>,
) {
    let members = object.as_object().into_iter().flatten();
    for (name, value) in members.filter(|(name, _)| is_unexpected(name)).take(MOST + 1) {
        out.push(Fault::new(join(path, name), "no property of this name", got(value)));
    }
}

/// The type of the property that is missing, where the schema that asks for it says so.
fn required_type(error: &ValidationError<'_>, schema: &Value, name: &str) -> Option<String> {
    let parent = error.schema_path().as_str().strip_suffix("/required")?;
    match schema.pointer(parent)?.get("properties")?.get(name)?.get("type")? {
        Value::String(name) => Some(name.clone()),
        Value::Array(names) => Some(names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")),
        _ => None,
    }
}

/// What the schema asks for, as the object of "expected".
fn expected(error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as K;
    match error.kind() {
        K::Type { kind: TypeKind::Single(name) } => name.as_str().to_owned(),
        K::Type { kind: TypeKind::Multiple(names) } => {
            names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" or ")
        }
        K::Enum { options } => one_of(options),
        K::Constant { expected_value } => expected_value.to_string(),
        K::Pattern { pattern } => format!("a string that matches the pattern {pattern}"),
        K::Format { format } => format!("a string in the format {format}"),
        K::AnyOf { context } | K::OneOfNotValid { context } => alternatives(error, context),
        K::OneOfMultipleValid { .. } => "a value that fits exactly one of the alternatives".to_owned(),
        K::Not { .. } => "a value that is not excluded by the schema".to_owned(),
        K::Contains => "an array with a fitting item".to_owned(),
        K::UniqueItems => "an array without duplicates".to_owned(),
        K::FalseSchema => "no value here".to_owned(),
        K::ContentEncoding { content_encoding } => format!("a string in {content_encoding} encoding"),
        K::ContentMediaType { content_media_type } => format!("a string that holds {content_media_type}"),
        K::AdditionalItems { limit } => format!("at most {limit} items"),
        K::UnevaluatedItems { .. } => "an array without further items".to_owned(),
        kind => bound(kind).unwrap_or_else(|| format!("a value that satisfies `{}`", kind.keyword())),
    }
}

/// What the keywords with a limit ask for.
fn bound(kind: &ValidationErrorKind) -> Option<String> {
    use ValidationErrorKind as K;
    Some(match kind {
        K::Minimum { limit } => format!("a number of at least {limit}"),
        K::Maximum { limit } => format!("a number of at most {limit}"),
        K::ExclusiveMinimum { limit } => format!("a number above {limit}"),
        K::ExclusiveMaximum { limit } => format!("a number below {limit}"),
        K::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        K::MinLength { limit } => format!("a string of at least {limit} characters"),
        K::MaxLength { limit } => format!("a string of at most {limit} characters"),
        K::MinItems { limit } => format!("an array of at least {limit} items"),
        K::MaxItems { limit } => format!("an array of at most {limit} items"),
        K::MinProperties { limit } => format!("an object with at least {limit} properties"),
        K::MaxProperties { limit } => format!("an object with at most {limit} properties"),
        _ => return None,
    })
}

fn one_of(options: &Value) -> String {
    let Some(options) = options.as_array() else { return options.to_string() };
    let mut text = "one of ".to_owned();
    for (at, option) in options.iter().enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        if text.len() > LONGEST - 40 {
            text.push_str(&format!("… ({} in all)", options.len()));
            break;
        }
        text.push_str(&option.to_string());
    }
    text
}

/// The alternatives joined by "or" where each failed at this very value, else how many there are.
fn alternatives(error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>]) -> String {
    let here = error.instance_path().as_str();
    let mut parts: Vec<String> = Vec::new();
    for branch in context {
        match branch.first() {
            Some(first) if branch.len() == 1 && first.instance_path().as_str() == here => {
                let part = match first.kind() {
                    ValidationErrorKind::Required { property } => format!("an object with {property}"),
                    _ => expected(first),
                };
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
            _ => return format!("a value that fits one of {} alternatives", context.len()),
        }
    }
    parts.join(" or ")
}

/// What came, as the object of "got": the type, and the value where it is short.
pub(crate) fn got(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("boolean {value}"),
        Value::Number(value) => format!("number {value}"),
        Value::String(value) => got_string(value),
        Value::Array(items) => format!("array of {} items", items.len()),
        Value::Object(members) => format!("object with {} properties", members.len()),
    }
}

/// A string as the object of "got", quoted and cut.
pub(crate) fn got_string(value: &str) -> String {
    let end = value.floor_char_boundary(LONGEST_STRING);
    let quoted = Value::String(value[..end].to_owned());
    if end < value.len() {
        format!("string {quoted}… ({} bytes)", value.len())
    } else {
        format!("string {quoted}")
    }
}

fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text
}
