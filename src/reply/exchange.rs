//! What one request leaves behind: the body of its answer, its mark, what the log says. Reused by the connection.

use crate::tables::rejection::Rejection;
use crate::tables::versions::Era;

/// The (rejecter, reason) pair kept on the exchange of a refused request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(pub Rejection);

impl Mark {
    /// The stage that refused.
    #[must_use]
    pub const fn rejecter(self) -> &'static str {
        self.0.row().rejecter.name()
    }

    /// Why.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        self.0.row().reason
    }
}

/// What the access log says of a request beyond its head. Filled only where a log is kept.
#[derive(Debug, Default)]
pub struct LogFields {
    /// Whether anyone reads these.
    pub enabled: bool,
    /// The protocol revision, as sent.
    pub protocol: String,
    /// The JSON-RPC method, as sent, cut at 128 bytes.
    pub method: String,
    /// The tool's, prompt's or resource's name, as sent, cut at 128 bytes.
    pub name: String,
}

impl LogFields {
    const CUT: usize = 128;

    fn put(field: &mut String, text: &str) {
        field.clear();
        field.push_str(&text[..text.floor_char_boundary(Self::CUT)]);
    }

    /// Notes the method.
    pub fn set_method(&mut self, method: &str) {
        if self.enabled {
            Self::put(&mut self.method, method);
        }
    }

    /// Notes the name.
    pub fn set_name(&mut self, name: &str) {
        if self.enabled {
            Self::put(&mut self.name, name);
        }
    }

    /// Notes the revision.
    pub fn set_protocol(&mut self, protocol: &str) {
        if self.enabled {
            Self::put(&mut self.protocol, protocol);
        }
    }
}

/// Working state of one request, reused for the next one on the same connection.
#[derive(Debug, Default)]
pub struct Exchange {
    /// The answer's body.
    pub body: Vec<u8>,
    /// The allowed `Origin` that CORS headers repeat; empty where there was none. Holds no CR, LF or NUL.
    pub cors: Vec<u8>,
    /// Set by a rejection, once.
    pub mark: Option<Mark>,
    /// The lane taken, once known.
    pub era: Option<Era>,
    /// For the access log.
    pub log: LogFields,
}

impl Exchange {
    /// An exchange; `log` says whether an access log is kept.
    #[must_use]
    pub fn new(log: bool) -> Self {
        Self { log: LogFields { enabled: log, ..LogFields::default() }, ..Self::default() }
    }

    /// Clears everything for the next request, keeping the storage.
    pub fn begin(&mut self) {
        self.body.clear();
        self.cors.clear();
        self.mark = None;
        self.era = None;
        self.log.protocol.clear();
        self.log.method.clear();
        self.log.name.clear();
    }

    /// Gives storage beyond `keep` bytes back, so that one large answer does not stay with an idle connection.
    pub fn shrink(&mut self, keep: usize) {
        if self.body.capacity() > keep {
            self.body = Vec::new();
        }
    }
}
