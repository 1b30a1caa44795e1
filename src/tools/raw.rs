//! Tools whose schema is written by hand.

use serde_json::Value;

use super::arguments::Arguments;
use super::context::Context;
use super::handler::{AsyncHandler, SyncHandler};
use super::into_result::IntoToolResult;
use super::spec::{ToolSpec, spec_setters};
use super::{Started, Tool};

use std::sync::Arc;

/// A tool with a JSON Schema of its own and arguments as a document. The schema is listed untouched, and arguments are validated
/// against it before the handler is called.
///
/// ```
/// use serde_json::{Value, json};
/// use twolane::tools::{RawTool, Registry};
///
/// let schema = json!({
///     "type": "object",
///     "properties": {"city": {"type": "string", "minLength": 1}},
///     "required": ["city"],
///     "additionalProperties": false
/// });
/// let registry = Registry::default();
/// registry.add(RawTool::new("greet", "Greets a city", schema, |arguments: Value| async move {
///     format!("Hello {}", arguments["city"].as_str().unwrap_or_default())
/// }))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RawTool {
    spec: ToolSpec,
    call: Box<dyn Fn(Value, Context) -> Started + Send + Sync>,
}

impl RawTool {
    /// A tool whose handler is async.
    pub fn new<Shape, H>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        handler: H,
    ) -> Self
    where
        H: AsyncHandler<Value, Shape>,
    {
        let mut spec = ToolSpec::new(name, description, input_schema);
        spec.output_schema = H::Output::output_schema().map(Value::Object);
        Self {
            spec,
            call: Box::new(move |arguments, context| Started::Future(handler.call(arguments, context))),
        }
    }

    /// A tool whose handler may block its thread: it runs on the blocking pool.
    pub fn blocking<Shape, H>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        handler: H,
    ) -> Self
    where
        H: SyncHandler<Value, Shape>,
    {
        let mut spec = ToolSpec::new(name, description, input_schema);
        spec.output_schema = H::Output::output_schema().map(Value::Object);
        let handler = Arc::new(handler);
        let call = move |arguments, context| {
            let handler = Arc::clone(&handler);
            Started::Blocking(Box::new(move || handler.call(arguments, context)))
        };
        Self { spec, call: Box::new(call) }
    }

    spec_setters!();
}

impl Tool for RawTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: Arguments<'_, '_>, context: Context) -> Started {
        (self.call)(arguments.to_json(), context)
    }
}

impl std::fmt::Debug for RawTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawTool").field("spec", &self.spec).finish_non_exhaustive()
    }
}
