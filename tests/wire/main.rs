//! Everything with a socket, in one binary: real servers, and clients that look at every byte.

#![allow(unreachable_pub, reason = "nothing is exported from a test binary")]

#[allow(dead_code, reason = "a harness offers what a failing test will be mended with")]
mod support;
mod harness;

// Bytes, connections, and what travels over them.
mod framing;
mod heads;
mod hostile;
mod limits;
mod connection;
// Other systems have one loopback address, and so one peer.
#[cfg(target_os = "linux")]
mod peers;
mod ends;
mod tools;
mod paging;
mod resources;
mod prompts;
mod completion;
mod offers;
mod mirrored;
mod streams;
mod logging;
mod rounds;
mod asking;
mod long_answers;
mod listen;
mod listen_resources;
mod get_streams;
mod crowd;
mod resuming;
mod cancelling;
mod subscribing;
mod frames;
mod http2;
mod malformed2;
mod patience2;
mod h2;
mod sessions;
mod lifecycle;
mod features;
mod together;
mod browser;
mod auth;
mod access;
mod cli;
mod heads2;
mod unheard;
mod drain;
mod panics;
mod clocks;
mod gone;
mod secrets;
mod reflected;
mod internals;
mod strangers;

// The rejection table.
mod place;
mod draft;
mod rejections;
mod order;
mod overload;
mod bindings;
mod sweep;
mod untouched;
mod ids;
mod eras;
mod splits;
mod ceilings;
mod fields;
mod bodies;
mod params;
mod batches;

// What servers offer.
mod tasks;
