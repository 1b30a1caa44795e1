//! A client that does everything right on HTTP/2, or just not, through the real loop, over a pipe in memory. Oracles:
//! - whatever the server sends is a valid frame where it may stand, its header blocks can be read, its windows are kept, its settings are
//!   acknowledged and pings answered, each once;
//! - a request that is none is not taken for one;
//! - every other one gets the answer that it gets over HTTP/1.1, once, as long as the connection is one: what another stream does wrong
//!   is no reason not to;
//! - only a client that has done something wrong, or keeps quiet for long, is told to go;
//! - the loop ends soon after the input does, and nothing is left of any stream.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use tokio::runtime::Runtime;
use twolane_fuzz::h2;
use twolane_fuzz::h2::script::Script;
use twolane_fuzz::world::Tools;

thread_local! {
    static TOOLS: Tools = Tools::default();
    static RUNTIME: RefCell<Runtime> = RefCell::new(
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime"),
    );
}

fuzz_target!(|script: Script| {
    RUNTIME.with_borrow(|runtime| TOOLS.with(|tools| runtime.block_on(h2::talk(&script, tools))));
});
