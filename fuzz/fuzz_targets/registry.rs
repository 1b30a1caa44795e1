//! Tools, resources and prompts that come, go and are replaced while they are called, listed and listened for. Oracles:
//! - a naive model of the lists: what is taken cannot be added, what is not there cannot be removed, and the generation counts what changed;
//! - a call gets what was there when it came, whatever takes its place while it goes on, and one for what is not there says so;
//! - pages are those of the list as it is, go on behind the place that their cursor names, and end where the list does;
//! - every listener is told of each list once for each time that changes are announced, if it asked for it.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use tokio::runtime::Runtime;
use twolane_fuzz::churn::{self, Script};

thread_local! {
    static RUNTIME: RefCell<Runtime> = RefCell::new(
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime"),
    );
}

fuzz_target!(|script: Script| {
    RUNTIME.with_borrow(|runtime| runtime.block_on(async { churn::play(&script) }));
});
