//! A registered tool with everything compiled for it, and the start of a call.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::schema::{Faults, InputSchema, OutputSchema};
use crate::tables::versions::Revision;

use super::arguments::{ArgumentFault, Arguments};
use super::context::Context;
use super::list::Listed;
use super::polled::polling;
use super::produced::{Payload, Subject, log_panic};
use super::result::ToolResult;
use super::running::Running;
use super::spec::{TaskSupport, ToolSpec};
use super::{Started, Tool};

/// A registered tool.
pub struct Entry {
    tool: Box<dyn Tool>,
    name: Box<str>,
    timeout: Option<Duration>,
    required_capabilities: Vec<String>,
    tasks: TaskSupport,
    input: InputSchema,
    output: Option<OutputSchema>,
    /// As listed, by [`Revision::index`].
    listed: Vec<Box<[u8]>>,
}

impl Entry {
    /// Checks and compiles a tool.
    ///
    /// # Errors
    /// Why it cannot be registered and how to mend it.
    pub(super) fn compile(tool: Box<dyn Tool>) -> Result<Self, String> {
        let spec = tool.spec();
        let name = spec.name.clone();
        let fault = |text: String| format!("tool {name:?} cannot be registered: {text}");
        check_name(&name).map_err(fault)?;
        let (input, output) = compile_schemas(spec).map_err(fault)?;
        if spec.description.is_empty() {
            tracing::warn!(tool = name, "a tool has no description; models choose tools by it");
        }
        let listed = Revision::ALL.iter().map(|&revision| render(spec, revision)).collect();
        let (timeout, required_capabilities) = (spec.timeout, spec.required_capabilities.clone());
        let tasks = spec.tasks;
        Ok(Self { tool, name: name.into(), timeout, required_capabilities, tasks, input, output, listed })
    }

    /// The tool's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The compiled input schema, with the header bindings.
    #[must_use]
    pub fn input(&self) -> &InputSchema {
        &self.input
    }

    /// The compiled output schema.
    #[must_use]
    pub fn output(&self) -> Option<&OutputSchema> {
        self.output.as_ref()
    }

    /// The client capabilities that a modern request must declare.
    #[must_use]
    pub fn required_capabilities(&self) -> &[String] {
        &self.required_capabilities
    }

    /// How long a call may take, where the tool says so.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Whether calls may become tasks.
    #[must_use]
    pub fn tasks(&self) -> TaskSupport {
        self.tasks
    }

    /// Starts a call. Arguments that do not fit come back as a result with `isError`, like everything else that goes wrong here.
    /// `timeout` holds for tools that declare none.
    pub fn start(
        self: &Arc<Self>,
        arguments: Arguments<'_, '_>,
        context: Context,
        timeout: Duration,
    ) -> Running {
        let work = Subject::work(self, self.begin(arguments, &context));
        Running::new(Subject::Tool(Arc::clone(self)), context, work, self.timeout.unwrap_or(timeout))
    }

    fn begin(&self, arguments: Arguments<'_, '_>, context: &Context) -> Started {
        if self.input.needs_validator() && !self.input.is_valid(arguments.value()) {
            let fault = ArgumentFault::unexplained();
            return Started::Ready(self.refuse(&self.explain(arguments, fault)));
        }
        let call = AssertUnwindSafe(|| self.tool.call(arguments, context.clone()));
        match polling(&self.name, || catch_unwind(call)) {
            Ok(Started::Invalid(fault)) => Started::Ready(self.refuse(&self.explain(arguments, fault))),
            Ok(started @ (Started::Ready(_) | Started::Future(_) | Started::Blocking(_))) => started,
            Err(payload) => Started::Ready(self.panicked(payload)),
        }
    }

    /// The schema names every fault at once, the deserialiser its first one; where the schema sees none, that one is told.
    fn explain(&self, arguments: Arguments<'_, '_>, fault: ArgumentFault) -> Faults {
        let faults = self.input.faults(arguments.value());
        if faults.is_empty() { fault.into() } else { faults }
    }

    /// The result for arguments that do not fit.
    pub(super) fn refuse(&self, faults: &Faults) -> ToolResult {
        let mut text = format!("Invalid arguments for tool \"{}\":", self.name);
        let between = if faults.list.len() == 1 && !faults.more { ' ' } else { '\n' };
        let _ = write!(text, "{between}{faults}");
        ToolResult::error(text)
    }

    /// The result of a tool that panicked while it was started.
    fn panicked(&self, payload: Payload) -> ToolResult {
        log_panic("Tool", &self.name, payload);
        ToolResult::error(format!("Tool \"{}\" failed unexpectedly", self.name))
    }

    /// Holds a result against the output schema: clients may rely on it, so one that breaks it is a failure of the tool.
    pub(super) fn check_output(&self, result: ToolResult) -> ToolResult {
        let Some(output) = self.output.as_ref().filter(|_| !result.is_error) else { return result };
        let faults = match &result.structured {
            Some(content) => match output.check(content) {
                Ok(()) => return result,
                Err(faults) => faults.to_string(),
            },
            None => "there is no structured content".to_owned(),
        };
        tracing::error!(tool = &*self.name, %faults, "a tool's result does not match its output schema");
        ToolResult::error(format!(
            "Tool \"{}\" returned a result that does not match its output schema",
            self.name
        ))
    }
}

impl Listed for Entry {
    const MEMBER: &'static str = "tools";
    const TAG: u8 = b't';

    fn key(&self) -> &str {
        &self.name
    }

    fn listed(&self, revision: Revision) -> &[u8] {
        &self.listed[revision.index()]
    }
}

impl From<ArgumentFault> for Faults {
    fn from(fault: ArgumentFault) -> Self {
        Self { list: vec![fault.0], more: false }
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if (1..=128).contains(&name.len()) && name.bytes().all(allowed) {
        return Ok(());
    }
    Err("a name has 1 to 128 characters of A-Z, a-z, 0-9, `_`, `-` and `.`; rename it".to_owned())
}

fn compile_schemas(spec: &ToolSpec) -> Result<(InputSchema, Option<OutputSchema>), String> {
    let Some(input) = spec.input_schema.as_object() else {
        return Err(
            "its input schema is no JSON object; use {\"type\": \"object\"} for a tool without arguments"
                .to_owned(),
        );
    };
    let input = InputSchema::compile(input, spec.provenance)?;
    let output = match &spec.output_schema {
        None => None,
        Some(serde_json::Value::Object(schema)) => Some(OutputSchema::compile(schema)?),
        Some(_) => {
            return Err(
                "its output schema is no JSON object; leave it out where anything may come".to_owned()
            );
        }
    };
    Ok((input, output))
}

fn render(spec: &ToolSpec, revision: Revision) -> Box<[u8]> {
    let mut out = Vec::new();
    spec.write(&mut out, revision);
    out.into_boxed_slice()
}
