//! The road in memory: structured requests, made of valid messages and what is done to them, with time passing in between. Oracles:
//! - a naive reading of the wire contract says which row refuses a request, if one does, and that is the row that is marked, counted
//!   once and answered with, in the right dialect, with the right id;
//! - whatever is refused touches nothing: not the sessions, not their idle time, not the tools;
//! - whatever passes is answered once: with its id, with what its lane has, on a stream only where one is taken;
//! - streams are framed as their revision has it, leave no event out, and tell of every change once, those that may be told;
//! - in the end nothing is left: no session, stream, listener or task, and nothing that is kept for one.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use tokio::runtime::Runtime;
use twolane_fuzz::run::Run;
use twolane_fuzz::script::Script;
use twolane_fuzz::world::Tools;

thread_local! {
    static TOOLS: Tools = Tools::default();
    /// Its time jumps when everything waits, and stands still otherwise.
    static RUNTIME: RefCell<Runtime> = RefCell::new(
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime"),
    );
}

fuzz_target!(|script: Script| {
    RUNTIME.with_borrow(|runtime| {
        TOOLS.with(|tools| runtime.block_on(async { Run::new(&script, tools).steps(&script.steps).await }));
    });
});
