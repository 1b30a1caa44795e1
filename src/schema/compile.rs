//! A tool's input schema, compiled once at registration and run over the tape.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value as Document;

use crate::view::node::Value;

use super::bindings::{self, HeaderBinding};
use super::faults::Faults;
use super::tape::{TapeJson, TapeNode};
use super::{Map, lint, shallow, typing};

/// The largest compiled pattern, in bytes.
const PATTERN_SIZE: usize = 1 << 20;

/// Where an input schema comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Derived from the Rust type that the arguments are deserialised into.
    Derived,
    /// Written by hand; nothing but the validator knows what it says.
    HandWritten,
}

/// A compiled input schema.
#[derive(Debug)]
pub struct InputSchema {
    validator: Validator<TapeJson>,
    schema: Document,
    bindings: Vec<HeaderBinding>,
    needs_validator: bool,
}

impl InputSchema {
    /// Compiles an input schema.
    ///
    /// # Errors
    /// A sentence that names the fault and says how to mend it: a shape that clients cannot load, an annotation that cannot be
    /// mirrored, an invalid keyword, a reference that leaves the document, a pattern that needs backtracking.
    pub fn compile(schema: &Map, provenance: Provenance) -> Result<Self, String> {
        lint::lint_input(schema)?;
        let bindings = bindings::extract(schema)?;
        let needs_validator = match provenance {
            Provenance::Derived => !typing::expresses(schema),
            Provenance::HandWritten => true,
        };
        let schema = Document::Object(schema.clone());
        let validator = build(&schema, "input schema")?;
        Ok(Self { validator, schema, bindings, needs_validator })
    }

    /// The arguments that are mirrored into headers, in document order.
    #[must_use]
    pub fn bindings(&self) -> &[HeaderBinding] {
        &self.bindings
    }

    /// Whether the validator says anything that deserialising the arguments does not. Where it does not, a typed tool runs it only to
    /// explain a failure.
    #[must_use]
    pub fn needs_validator(&self) -> bool {
        self.needs_validator
    }

    /// Whether `arguments` are valid. `None` stands for arguments that were left out, and is the empty object.
    #[must_use]
    pub fn is_valid(&self, arguments: Option<Value<'_, '_>>) -> bool {
        self.validator.is_valid(node(arguments))
    }

    /// What is wrong with `arguments`. Empty when they are valid, and when they are too large for every fault to be found: then only
    /// the outermost object is looked at.
    #[must_use]
    pub fn faults(&self, arguments: Option<Value<'_, '_>>) -> Faults {
        match (arguments, &self.schema) {
            (Some(value), Document::Object(schema)) if !shallow::is_small(value) => {
                shallow::faults(schema, value)
            }
            _ => Faults::collect(self.validator.iter_errors(node(arguments)), &self.schema, || {
                node(arguments).document()
            }),
        }
    }
}

fn node<'a>(arguments: Option<Value<'a, 'a>>) -> TapeNode<'a> {
    arguments.map_or(TapeNode::Empty, TapeNode::Tape)
}

/// Builds a validator that fetches nothing and never backtracks.
pub(super) fn build<F: jsonschema::json::Json>(
    schema: &Document,
    what: &str,
) -> Result<Validator<F>, String> {
    if Draft::default().detect(schema) == Draft::Unknown {
        return Err(format!(
            "the {what} declares a dialect that is not supported (`$schema`); leave `$schema` out for JSON Schema 2020-12, or name \
             draft 2020-12, 2019-09, 7, 6 or 4"
        ));
    }
    jsonschema::options_for::<F>()
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_SIZE))
        .offline()
        .build(schema)
        .map_err(|error| build_fault(&error, what))
}

fn build_fault(error: &jsonschema::ValidationError<'_>, what: &str) -> String {
    use jsonschema::error::ValidationErrorKind as K;
    let place = match error.instance_path().as_str() {
        "" => "its root",
        path => path,
    };
    match error.kind() {
        K::Referencing(fault) => format!(
            "the {what} has a reference that cannot be resolved ({fault}); nothing is fetched, so put the schema under `$defs` and \
             refer to it with \"#/$defs/…\""
        ),
        K::Format { format } if format == "regex" => format!(
            "the {what} has a pattern at {place} that cannot be used: {}; look-around and back-references are not supported, since \
             patterns must run in linear time",
            error.instance()
        ),
        _ => format!("the {what} is not valid at {place}: {error}"),
    }
}
