//! What can go wrong before a request is served: settings, sockets, registration.

use std::fmt;
use std::io;
use std::net::SocketAddr;

/// A fault found while building or starting a server. Nothing on the road of a request uses it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A setting is out of range or contradicts another; the text names it and says how to mend it.
    Config(String),
    /// A tool cannot be registered; the text names the tool and says how to mend it.
    Registration(String),
    /// An address cannot be bound.
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the operating system said.
        source: io::Error,
    },
    /// Input or output failed while starting (a token file, a worker thread).
    Io {
        /// What was being done.
        context: String,
        /// What the operating system said.
        source: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(text) | Self::Registration(text) => f.write_str(text),
            Self::Bind { address, source } => write!(f, "cannot listen on {address}: {source}"),
            Self::Io { context, source } => write!(f, "{context}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Config(_) | Self::Registration(_) => None,
            Self::Bind { source, .. } | Self::Io { source, .. } => Some(source),
        }
    }
}
