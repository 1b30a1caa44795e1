//! Arguments that are mirrored into headers: schemas with annotations anywhere, calls with arguments and headers that fit, or nearly.
//! Oracles:
//! - a tool is registered exactly when its annotations stand where they may, are names of headers, each once, on a property of one of the
//!   three types;
//! - a call is refused exactly when a naive reading of the contract refuses it, with the row and the header that this gives;
//! - whatever passes runs the tool, or is told by its schema what is wrong with its arguments.
#![no_main]

use libfuzzer_sys::fuzz_target;
use twolane_fuzz::bound::{self, Script};

fuzz_target!(|script: Script| bound::check(&script));
