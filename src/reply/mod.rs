//! Bytes out: what an answer is, before a connection gives it a framing.
//!
//! The road fills an [`Exchange`] and returns a [`Reply`]; connections turn the pair into HTTP/1.x or HTTP/2. Nothing here knows which.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod envelope;
pub mod exchange;
pub mod head;
pub mod json;
pub mod rejection;
pub mod sse;

use std::sync::Arc;

pub use exchange::{Exchange, LogFields, Mark};

/// The status line and headers of an answer. Its body, if it has one, stands in [`Exchange::body`].
#[derive(Debug)]
#[must_use = "a reply that is dropped is a request without an answer"]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// What the body is.
    pub content: Content,
    /// Whether an HTTP/1.x connection must close after this answer, whatever was asked.
    pub close: bool,
    /// Headers beyond the usual ones.
    pub extra: Extra,
}

impl Reply {
    /// 202 without a body: the answer to every notification and client response that is taken.
    pub const fn accepted() -> Self {
        Self { status: 202, content: Content::Empty, close: false, extra: Extra::NONE }
    }

    /// A JSON answer whose body stands in the exchange.
    pub const fn json(status: u16) -> Self {
        Self { status, content: Content::Json, close: false, extra: Extra::NONE }
    }

    /// An answer without a body.
    pub const fn empty(status: u16) -> Self {
        Self { status, content: Content::Empty, close: false, extra: Extra::NONE }
    }
}

/// What the body of an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// No body.
    Empty,
    /// One JSON value.
    Json,
    /// An event stream that is complete already: one message, framed.
    EventStream,
}

/// The verbs an `Allow` header lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allow {
    /// `POST`: the legacy lane is off or the version is modern.
    Post,
    /// `GET, POST, DELETE`.
    All,
}

impl Allow {
    /// The header's value.
    #[must_use]
    pub const fn value(self) -> &'static str {
        match self {
            Self::Post => "POST",
            Self::All => "GET, POST, DELETE",
        }
    }
}

/// The length of a session id in characters: 32 bytes in unpadded URL-safe base64.
pub const SESSION_ID_LEN: usize = 43;

/// A session id as it stands on the wire.
pub type SessionText = [u8; SESSION_ID_LEN];

/// Headers that only some answers have.
#[derive(Debug, Default)]
pub struct Extra {
    /// `Allow`.
    pub allow: Option<Allow>,
    /// `WWW-Authenticate`.
    pub challenge: Option<Arc<str>>,
    /// `Retry-After`, in seconds.
    pub retry_after: Option<u32>,
    /// `Mcp-Session-Id`.
    pub session: Option<SessionText>,
    /// Whether the answer is to a CORS preflight.
    pub preflight: bool,
}

impl Extra {
    /// None of them.
    pub const NONE: Self =
        Self { allow: None, challenge: None, retry_after: None, session: None, preflight: false };
}
