//! Tools from functions, their schemas from types.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::de::value::UnitDeserializer;
use serde_json::Value;

use crate::schema::Provenance;

use super::arguments::{ArgumentFault, Arguments};
use super::context::Context;
use super::derive;
use super::handler::{AsyncHandler, SyncHandler};
use super::into_result::IntoToolResult;
use super::spec::{ToolSpec, spec_setters};
use super::{Started, Tool};

/// How a call of a function becomes a [`Started`].
type Call = Box<dyn Fn(Arguments<'_, '_>, Context) -> Started + Send + Sync>;

/// A tool made of a function. Its input schema comes from the type of its arguments, its output schema from [`super::Json`] where the
/// function returns that.
///
/// ```
/// use twolane::tools::{Context, Json, Registry, ToolAnnotations, ToolError, Typed};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Pair { a: f64, b: f64 }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Text { text: String }
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Quotient { value: f64 }
///
/// async fn divide(pair: Pair, context: Context) -> Result<Json<Quotient>, ToolError> {
///     context.progress(1.0, Some(2.0), Some("looking at the divisor"));
///     if pair.b == 0.0 {
///         return Err(ToolError::new("b must not be 0"));
///     }
///     Ok(Json(Quotient { value: pair.a / pair.b }))
/// }
///
/// let registry = Registry::default();
/// registry.add(Typed::new("add", "Adds two numbers", |pair: Pair| async move { pair.a + pair.b }))?;
/// registry.add(Typed::new("divide", "Divides a by b", divide).annotations(ToolAnnotations::read_only()))?;
/// registry.add(Typed::blocking("parse", "Parses a number", |text: Text| Ok(text.text.parse::<i64>()?)))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Typed {
    spec: ToolSpec,
    call: Call,
}

impl Typed {
    /// A tool whose handler is async. It runs on the connection's task, so it must not block its thread; if it has to, use
    /// [`Self::blocking`]. Doc comments on the fields of `A` become descriptions for the model.
    pub fn new<A, Shape, H>(name: impl Into<String>, description: impl Into<String>, handler: H) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        H: AsyncHandler<A, Shape>,
    {
        Self::build::<A, H::Output>(name.into(), description.into(), |read| {
            Box::new(move |arguments, context| match read(arguments) {
                Ok(arguments) => Started::Future(handler.call(arguments, context)),
                Err(fault) => Started::Invalid(fault),
            })
        })
    }

    /// A tool whose handler may block its thread: it runs on the blocking pool.
    pub fn blocking<A, Shape, H>(name: impl Into<String>, description: impl Into<String>, handler: H) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        H: SyncHandler<A, Shape>,
    {
        let handler = Arc::new(handler);
        Self::build::<A, H::Output>(name.into(), description.into(), |read| {
            Box::new(move |arguments, context| match read(arguments) {
                Ok(arguments) => {
                    let handler = Arc::clone(&handler);
                    Started::Blocking(Box::new(move || handler.call(arguments, context)))
                }
                Err(fault) => Started::Invalid(fault),
            })
        })
    }

    /// A tool whose handler neither waits nor takes long: it runs at once on the connection's task, without a future.
    pub fn immediate<A, Shape, H>(name: impl Into<String>, description: impl Into<String>, handler: H) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        H: SyncHandler<A, Shape>,
    {
        Self::build::<A, H::Output>(name.into(), description.into(), |read| {
            Box::new(move |arguments, context| match read(arguments) {
                Ok(arguments) => Started::Ready(handler.call(arguments, context)),
                Err(fault) => Started::Invalid(fault),
            })
        })
    }

    fn build<A, O>(name: String, description: String, call: impl FnOnce(Read<A>) -> Call) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        O: IntoToolResult,
    {
        let derived = derive::input_schema::<A>();
        let mut spec = ToolSpec::new(name, description, derived.schema);
        spec.provenance = Provenance::Derived;
        spec.output_schema = O::output_schema().map(Value::Object);
        Self { spec, call: call(if derived.unit { read_unit } else { read }) }
    }

    spec_setters!();
}

/// How arguments are read.
type Read<A> = fn(Arguments<'_, '_>) -> Result<A, ArgumentFault>;

fn read<A: DeserializeOwned>(arguments: Arguments<'_, '_>) -> Result<A, ArgumentFault> {
    arguments.parse()
}

/// `()` and unit structs are written as null, yet arguments are always an object.
fn read_unit<A: DeserializeOwned>(_arguments: Arguments<'_, '_>) -> Result<A, ArgumentFault> {
    A::deserialize(UnitDeserializer::<serde::de::value::Error>::new())
        .map_err(|fault| ArgumentFault::refused("", &fault))
}

impl Tool for Typed {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: Arguments<'_, '_>, context: Context) -> Started {
        (self.call)(arguments, context)
    }
}

impl std::fmt::Debug for Typed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Typed").field("spec", &self.spec).finish_non_exhaustive()
    }
}
