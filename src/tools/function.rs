//! The shapes of functions that resources, prompts and completions are made of: with and without a [`Context`].

use super::context::Context;

/// What the handler of a resource with a URI of its own is given: nothing.
#[derive(Debug, Clone, Copy)]
pub struct Nothing;

/// An async function of the input, or of the input and a [`Context`]; of a [`Context`] or nothing where there is no input. `Shape` tells
/// them apart; it is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a handler here",
    note = "a handler is an async function or closure of its input, if it has one, and optionally a Context; it is Send + Sync + 'static, and so is its future"
)]
pub trait AsyncFunction<A, Shape>: Send + Sync + 'static {
    /// What it returns.
    type Output;

    /// Calls it.
    fn call(&self, input: A, context: Context) -> impl Future<Output = Self::Output> + Send + 'static;
}

/// A plain function of the input, or of the input and a [`Context`]; of a [`Context`] or nothing where there is no input. `Shape` tells
/// them apart; it is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a handler here",
    note = "a handler is a function or closure of its input, if it has one, and optionally a Context; it is Send + Sync + 'static"
)]
pub trait SyncFunction<A, Shape>: Send + Sync + 'static {
    /// What it returns.
    type Output;

    /// Calls it.
    fn call(&self, input: A, context: Context) -> Self::Output;
}

macro_rules! shapes {
    ($(<$($input:ident)?> $given:ty, $shape:ty, Fn($($argument:ty),*), |$self:ident, $a:ident, $c:ident| $call:expr;)+) => {$(
        impl<F, $($input,)? R> AsyncFunction<$given, $shape> for F
        where
            F: Fn($($argument),*) -> R + Send + Sync + 'static,
            R: Future + Send + 'static,
        {
            type Output = R::Output;

            fn call(&$self, $a: $given, $c: Context) -> impl Future<Output = R::Output> + Send + 'static {
                $call
            }
        }

        impl<F, $($input,)? R> SyncFunction<$given, $shape> for F
        where
            F: Fn($($argument),*) -> R + Send + Sync + 'static,
        {
            type Output = R;

            fn call(&$self, $a: $given, $c: Context) -> R {
                $call
            }
        }
    )+};
}

shapes! {
    <A> A, (A,), Fn(A), |self, input, _context| self(input);
    <A> A, (A, Context), Fn(A, Context), |self, input, context| self(input, context);
    <> Nothing, (), Fn(), |self, _input, _context| self();
    <> Nothing, (Context,), Fn(Context), |self, _input, context| self(context);
}
