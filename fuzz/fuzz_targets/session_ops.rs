//! Operations on the store of legacy sessions, in any order: sessions opened, used, ended and swept away, streams opened, read, cut, left
//! and come back to, calls cancelled, questions asked and answered, changes told. Time is a number. Oracles:
//! - a naive model of all of it: which sessions there are, what each reader gets next, what is found again, which calls are cancelled, who
//!   may run on without a client, which questions wait;
//! - every change is told of once there is somebody to tell, every update of a resource exactly once, and to subscribers alone;
//! - under tight bounds less may be found again, but nothing else, and never out of order;
//! - in the end nothing is kept.
#![no_main]

use libfuzzer_sys::fuzz_target;
use twolane_fuzz::ops::{self, Script};

fuzz_target!(|script: Script| ops::play(&script));
