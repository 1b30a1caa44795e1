//! A calculator: how little a tool takes.
//!
//! Run it with `cargo run --example calculator`, then point a client at http://127.0.0.1:8080/mcp.

mod shared;

use schemars::JsonSchema;
use serde::Deserialize;
use twolane::tools::{ToolError, Typed};

#[derive(Deserialize, JsonSchema)]
struct Operands {
    /// The left operand.
    a: f64,
    /// The right operand.
    b: f64,
}

async fn divide(operands: Operands) -> Result<f64, ToolError> {
    if operands.b == 0.0 {
        return Err(ToolError::new("b must not be 0"));
    }
    Ok(operands.a / operands.b)
}

fn main() -> Result<(), twolane::Error> {
    let server =
        twolane::Server::builder()
            .name("calculator", "1.0.0")
            .tool(Typed::new("add", "Adds two numbers.", |operands: Operands| async move {
                operands.a + operands.b
            }))
            .tool(Typed::new("multiply", "Multiplies two numbers.", |operands: Operands| async move {
                operands.a * operands.b
            }))
            .tool(Typed::new("divide", "Divides a by b.", divide));
    shared::serve(server)
}
