//! A tool's output schema, and whether structured content keeps to it.

use jsonschema::Validator;
use jsonschema::json::SerdeJson;
use serde_json::Value;

use super::faults::Faults;
use super::{Map, compile, lint};

/// A compiled output schema.
#[derive(Debug)]
pub struct OutputSchema {
    validator: Validator<SerdeJson>,
    schema: Value,
}

impl OutputSchema {
    /// Compiles an output schema.
    ///
    /// # Errors
    /// A sentence that names the fault and says how to mend it.
    pub fn compile(schema: &Map) -> Result<Self, String> {
        lint::lint_output(schema)?;
        let schema = Value::Object(schema.clone());
        let validator = compile::build(&schema, "output schema")?;
        Ok(Self { validator, schema })
    }

    /// Checks structured content.
    ///
    /// # Errors
    /// The first thing that is wrong with it. The validator keeps a copy of every value at fault, so they are not all collected.
    pub fn check(&self, content: &Value) -> Result<(), Faults> {
        if self.validator.is_valid(content) {
            return Ok(());
        }
        let first = self.validator.validate(content).err();
        Err(Faults::collect(first.into_iter(), &self.schema, || content.clone()))
    }
}
