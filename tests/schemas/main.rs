//! The checks of params and envelopes against the official JSON schemas of every revision: messages that fit the schema, and messages
//! that nearly do, are judged by both. What differs on purpose stands in `deviations`, and nowhere else.
//!
//! The schemas are not part of this repository. They come from the folder that `TWOLANE_SCHEMAS` names (`<revision>/schema.json` in it,
//! as in the specification's repository), else from the conformance suite where `tests/conformance/run` has installed it. Without
//! either the tests pass and say so, unless `TWOLANE_REQUIRE_SCHEMAS` is set.

#![allow(unreachable_pub, reason = "nothing is exported from a test binary")]

#[path = "../wire/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "what the tests over sockets share is more than is wanted here")]
mod support;

mod answers;
mod bundle;
mod choices;
mod deviations;
mod envelopes;
mod instances;
mod mutations;
mod official;
mod params;
