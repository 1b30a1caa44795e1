//! Values on a tape, for tests.

use crate::view::message::{JsonScratch, PADDING};
use crate::view::node::Value;

/// Parses `text` and lends the root.
pub(crate) fn with_value<R>(text: &str, then: impl FnOnce(Value<'_, '_>) -> R) -> R {
    let mut buf = text.as_bytes().to_vec();
    let len = buf.len();
    buf.resize(len + PADDING, 0);
    JsonScratch::new(128).parse(&mut buf, len, |document| match document {
        Ok(document) => then(document.root()),
        Err(_) => panic!("not JSON: {text}"),
    })
}
