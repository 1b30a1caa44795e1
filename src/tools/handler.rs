//! The shapes of functions that can be handlers: with and without a [`Context`].

use super::HandlerFuture;
use super::context::Context;
use super::into_result::IntoToolResult;
use super::result::ToolResult;

/// An async function of the arguments, or of the arguments and a [`Context`]. `Shape` tells the two apart; it is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool's handler",
    note = "a handler is an async function or closure of (Arguments) or (Arguments, Context) that is Send + Sync + 'static; its future is Send and returns text, numbers, Content, Json, ToolResult, or a Result of one of these with ToolError"
)]
pub trait AsyncHandler<A, Shape>: Send + Sync + 'static {
    /// What it returns.
    type Output: IntoToolResult;

    /// Calls it.
    fn call(&self, arguments: A, context: Context) -> HandlerFuture;
}

/// A plain function of the arguments, or of the arguments and a [`Context`]. `Shape` tells the two apart; it is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool's handler",
    note = "a handler is a function or closure of (Arguments) or (Arguments, Context) that is Send + Sync + 'static and returns text, numbers, Content, Json, ToolResult, or a Result of one of these with ToolError"
)]
pub trait SyncHandler<A, Shape>: Send + Sync + 'static {
    /// What it returns.
    type Output: IntoToolResult;

    /// Calls it.
    fn call(&self, arguments: A, context: Context) -> ToolResult;
}

impl<F, A, R> AsyncHandler<A, (A,)> for F
where
    F: Fn(A) -> R + Send + Sync + 'static,
    R: Future<Output: IntoToolResult> + Send + 'static,
{
    type Output = R::Output;

    fn call(&self, arguments: A, _context: Context) -> HandlerFuture {
        boxed(self(arguments))
    }
}

impl<F, A, R> AsyncHandler<A, (A, Context)> for F
where
    F: Fn(A, Context) -> R + Send + Sync + 'static,
    R: Future<Output: IntoToolResult> + Send + 'static,
{
    type Output = R::Output;

    fn call(&self, arguments: A, context: Context) -> HandlerFuture {
        boxed(self(arguments, context))
    }
}

impl<F, A, R> SyncHandler<A, (A,)> for F
where
    F: Fn(A) -> R + Send + Sync + 'static,
    R: IntoToolResult,
{
    type Output = R;

    fn call(&self, arguments: A, _context: Context) -> ToolResult {
        self(arguments).into_tool_result()
    }
}

impl<F, A, R> SyncHandler<A, (A, Context)> for F
where
    F: Fn(A, Context) -> R + Send + Sync + 'static,
    R: IntoToolResult,
{
    type Output = R;

    fn call(&self, arguments: A, context: Context) -> ToolResult {
        self(arguments, context).into_tool_result()
    }
}

/// The one allocation of a call that is ready at once.
fn boxed(future: impl Future<Output: IntoToolResult> + Send + 'static) -> HandlerFuture {
    Box::pin(async move { future.await.into_tool_result() })
}
