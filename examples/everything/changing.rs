//! Tools that change what the server offers. What comes and goes stands at the end of its list.

use twolane::tools::{Prompt, PromptArguments, Registry, ToolError, Typed};
use twolane::{Builder, Error};

use crate::content::Nothing;

const DYNAMIC_TOOL: &str = "test_dynamic_tool";
const DYNAMIC_PROMPT: &str = "test_dynamic_prompt";

fn toggle_tool(registry: &Registry) -> Result<&'static str, Error> {
    registry.edit(|edit| {
        if edit.remove(DYNAMIC_TOOL) {
            return Ok("The dynamic tool is gone.");
        }
        edit.add(Typed::new(DYNAMIC_TOOL, "Comes and goes.", |_: Nothing| async { "I am here now." }))?;
        Ok("The dynamic tool is there.")
    })
}

fn toggle_prompt(registry: &Registry) -> Result<&'static str, Error> {
    registry.edit(|edit| {
        if edit.remove_prompt(DYNAMIC_PROMPT) {
            return Ok("The dynamic prompt is gone.");
        }
        let here = |_: PromptArguments| async { "I am here now." };
        edit.add_prompt(Prompt::new(DYNAMIC_PROMPT, "Comes and goes.", here))?;
        Ok("The dynamic prompt is there.")
    })
}

pub(crate) fn register(server: Builder) -> Builder {
    let [tools, prompts] = [(); 2].map(|()| server.registry().clone());
    server
        .tool(Typed::immediate(
            "test_trigger_tool_change",
            "Changes the list of tools.",
            move |_: Nothing| toggle_tool(&tools).map_err(ToolError::from),
        ))
        .tool(Typed::immediate(
            "test_trigger_prompt_change",
            "Changes the list of prompts.",
            move |_: Nothing| toggle_prompt(&prompts).map_err(ToolError::from),
        ))
}
