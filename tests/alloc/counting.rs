//! An allocator that counts by thread, and on demand remembers where from it was called.

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static TRACING: Cell<bool> = const { Cell::new(false) };
    static PLACES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on unchanged to the system's allocator. Growing takes the default way through `alloc`, so it counts too.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // The thread's storage is gone while the thread ends.
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        if TRACING.try_with(|tracing| tracing.replace(false)) == Ok(true) {
            remember(layout);
        }
        // SAFETY: the caller keeps `GlobalAlloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `GlobalAlloc`'s contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Notes one allocation. What it allocates itself is counted but not noted: tracing is off meanwhile.
#[cold]
fn remember(layout: Layout) {
    let trace = Backtrace::force_capture().to_string();
    let ours: Vec<&str> =
        trace.lines().map(str::trim).filter(|line| line.contains("twolane")).take(12).collect();
    let place = format!("  {} bytes\n    {}\n", layout.size(), ours.join("\n    "));
    PLACES.with_borrow_mut(|places| places.push(place));
    TRACING.set(true);
}

/// How often this thread has allocated.
pub fn count() -> usize {
    COUNT.get()
}

/// Runs something and tells where it allocates on this thread.
pub fn traced<R>(run: impl FnOnce() -> R) -> (R, String) {
    TRACING.set(true);
    let result = run();
    TRACING.set(false);
    (result, PLACES.take().concat())
}
