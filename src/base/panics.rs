//! What is left of a panic in code that is not ours.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops what somebody has panicked with. That may panic as well, and so may what it panics with then: the last is leaked rather than
/// dropped, since nobody knows where it would end.
pub fn discard(payload: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}
