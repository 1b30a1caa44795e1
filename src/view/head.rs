//! Request heads as offsets into the bytes they came in (RFC 9112 sections 2 to 5): nothing is copied and nothing is allocated.
//!
//! HTTP/1 heads are read by [`HeadParser`]; HTTP/2 fills the same [`HeadIndex`] through [`HeadBuilder`]. Either is read through
//! [`RequestHead`].

mod span;
mod target;
mod host;
mod index;
mod request;
mod memo;
mod parser;
mod builder;
#[cfg(test)]
mod tests;

pub use builder::HeadBuilder;
pub use index::HeadIndex;
pub use parser::HeadParser;
pub use request::{Cardinality, Lines, RequestHead};

/// The protocol version of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HttpVersion {
    /// HTTP/1.0: connections close unless asked to stay.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2.
    Http2,
}

/// Why a head cannot be read. The connection ends after the answer: where the next request starts is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadFault {
    /// The status of the answer: 400, 414, 431 or 505.
    pub status: u16,
    /// One line for the peer: what is wrong.
    pub text: &'static str,
}

impl HeadFault {
    const fn bad(text: &'static str) -> Self {
        Self { status: 400, text }
    }

    const NO_METHOD: Self = Self::bad("a request starts with a method name; this is not HTTP");
    const BLANK_LINES: Self = Self::bad("too many empty lines before the request line");
    const BARE_LF: Self = Self::bad("a line of the request head ends in LF alone, lines end in CR LF");
    const STRAY_CR: Self = Self::bad("a CR in the request head is not followed by LF");
    const REQUEST_LINE: Self = Self::bad("the request line is not `method target HTTP/1.1`");
    const METHOD: Self = Self::bad("the method name has a character that is not allowed there");
    const CONNECT: Self = Self::bad("CONNECT asks for a tunnel, and this server is no proxy");
    const TARGET_BYTE: Self = Self::bad("the request target has a character that must be percent-encoded");
    const TARGET_FORM: Self = Self::bad("the request target is neither a path nor an http or https URL");
    const TARGET_AUTHORITY: Self = Self::bad("the authority in the request target is not valid");
    const VERSION: Self = Self::bad("the request line does not end in an HTTP version");
    const FIELD_NAME: Self = Self::bad("a header line has no valid name before its colon");
    const FIELD_VALUE: Self = Self::bad("a header value has a control character");
    const FIELD: Self = Self::bad("a header line cannot be read");
    const NO_HOST: Self = Self::bad("an HTTP/1.1 request needs a Host header");
    const MANY_HOSTS: Self = Self::bad("more than one Host header");
    const HOST: Self = Self::bad("the Host header is not a host with an optional port");
    const LONG_LINE: Self = Self { status: 414, text: "the request line is longer than this server reads" };
    const LONG_FIELD: Self = Self { status: 431, text: "a header line is longer than this server reads" };
    const MANY_FIELDS: Self = Self { status: 431, text: "more header lines than this server reads" };
    const LONG_HEAD: Self = Self { status: 431, text: "the request head is longer than this server reads" };
    const UNSERVED_VERSION: Self =
        Self { status: 505, text: "only HTTP/1.0, HTTP/1.1 and HTTP/2 are served" };
}
