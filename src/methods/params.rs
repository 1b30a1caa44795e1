//! What the params of every request have in common.

use crate::view::message::Params;
use crate::view::node::{Kind, Number};

/// The longest progress token, in bytes: it is repeated in every notification of its call.
const LONGEST_TOKEN: usize = 8192;

/// Checks `_meta` and the progress token in it: null counts as absent.
///
/// # Errors
/// A text that names the member and what it must be.
pub fn check_common(params: &Params<'_, '_>) -> Result<(), &'static str> {
    let Some(meta) = params.meta else { return Ok(()) };
    match meta.kind() {
        Kind::Object | Kind::Null => {}
        Kind::Bool | Kind::Integer | Kind::Float | Kind::String | Kind::Array => {
            return Err("params._meta must be an object");
        }
    }
    let Some(token) = params.fields.progress_token else { return Ok(()) };
    if token.as_str().is_some_and(|token| token.len() > LONGEST_TOKEN) {
        return Err("params._meta.progressToken is longer than 8192 bytes; send a shorter one");
    }
    match token.kind() {
        Kind::String | Kind::Integer | Kind::Null => Ok(()),
        Kind::Float if matches!(token.as_number(), Some(Number::F64(value)) if value.fract() == 0.0) => {
            Ok(())
        }
        Kind::Float | Kind::Bool | Kind::Array | Kind::Object => {
            Err("params._meta.progressToken must be a string or an integer")
        }
    }
}
