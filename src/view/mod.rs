//! Zero-copy views of a request: the head as offsets, the body as a tape.

pub mod head;
