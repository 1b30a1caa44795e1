//! What the tests share: a server to talk to, two clients that send the same request and give the same response, tools that tell what
//! happened to them, and words for the messages that most tests send.

pub mod askers;
pub mod capture;
pub mod door;
pub mod gate;
pub mod http1;
pub mod http2;
pub mod lavish;
pub mod messages;
pub mod message;
pub mod party;
pub mod pieces;
pub mod read;
pub mod server;
pub mod source;
pub mod tools;

pub use http1::Http1;
pub use http2::Http2;
pub use lavish::{Visitor, able, lavish};
pub use message::{Framing, Request, Response};
pub use server::Server;
pub use source::Source;

/// A protocol that every request can be sent over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Http1,
    Http2,
}

impl Protocol {
    pub const BOTH: [Self; 2] = [Self::Http1, Self::Http2];
}

/// A connection over either protocol.
#[derive(Debug)]
pub enum Client {
    Http1(Http1),
    Http2(Http2),
}

impl Client {
    /// Sends a request and reads its whole answer.
    pub fn send(&mut self, request: &Request) -> Response {
        match self {
            Self::Http1(client) => client.send(request),
            Self::Http2(client) => client.send(request),
        }
    }
}
