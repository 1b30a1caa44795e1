//! The command line's parts.

pub(crate) mod args;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod logging;
pub(crate) mod print;
pub(crate) mod serve;
