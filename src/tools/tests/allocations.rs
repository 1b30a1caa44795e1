//! What a warm call allocates: the handler's future, and what its result needs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use super::*;
use crate::tools::{Context, ToolError, Typed};

/// Counts per thread, so that tests beside this one do not disturb it.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system's allocator; the counter does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps `GlobalAlloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `GlobalAlloc`'s contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of one call, after a few that warm everything up.
fn count(tool: impl Tool, arguments: &str) -> usize {
    let entry = registered(tool);
    let mut slot = CallSlot::default();
    let mut out = Vec::with_capacity(4096);
    let message = format!("{{\"token\":\"t\",\"arguments\":{arguments}}}");
    with_value(&message, |params| {
        let mut last = 0;
        for _ in 0..4 {
            let before = COUNT.get();
            let info =
                CallInfo { progress_token: params.get("token"), client: Some(("client", "1.0")), ..info() };
            let context = slot.prepare(&info);
            let arguments = Arguments::read(params.get("arguments"));
            let mut running = entry.start(arguments, context, MINUTE);
            let Poll::Ready(result) = poll_once(&mut running) else { panic!("ready at once") };
            drop(running);
            out.clear();
            crate::tools::write_result(&mut out, &result, Revision::V2026_07_28, b"");
            drop(result);
            last = COUNT.get() - before;
        }
        last
    })
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Pair {
    a: f64,
    b: f64,
}

#[test]
fn a_call_that_is_ready_at_once_allocates_its_future_alone() {
    let arguments = r#"{"a":1,"b":2}"#;
    assert_eq!(count(Typed::new("t", "", |_: Pair| async { "static" }), arguments), 1);
    let fallible = |_: Pair, _: Context| async { Ok::<_, ToolError>("static") };
    assert_eq!(count(Typed::new("t", "", fallible), arguments), 1);
    assert_eq!(count(Typed::immediate("t", "", |_: Pair| "static"), arguments), 0);
    // The text is the handler's own.
    assert_eq!(count(Typed::new("t", "", |p: Pair| async move { p.a + p.b }), arguments), 2);
}

#[test]
fn validation_that_passes_allocates_nothing_more() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Bounded {
        #[schemars(range(min = 0, max = 10))]
        n: u32,
        #[schemars(length(max = 5))]
        list: Vec<u32>,
    }
    let plain = count(Typed::immediate("t", "", |_: Bounded| "static"), r#"{"n":5,"list":[]}"#);
    assert_eq!(plain, 0);
}
