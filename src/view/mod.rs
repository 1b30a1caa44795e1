//! Zero-copy views of a request: the head as offsets, the body as a tape.

pub mod head;
pub mod node;
pub mod message;
pub mod id;
pub mod de;
