//! The request headers that the server reads. Each has a slot in the head index; all others are skipped.

macro_rules! known_headers {
    ($($(#[doc = $doc:literal])+ $variant:ident = $lower:literal, $canonical:literal;)+) => {
        /// A request header the server reads.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Known { $($(#[doc = $doc])+ $variant,)+ }

        impl Known {
            /// Every known header, in slot order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The name in lower case, as HTTP/2 sends it.
            #[must_use]
            pub const fn lower(self) -> &'static str { match self { $(Self::$variant => $lower,)+ } }

            /// The name as the specifications spell it.
            #[must_use]
            pub const fn canonical(self) -> &'static str { match self { $(Self::$variant => $canonical,)+ } }

            /// The slot number.
            #[must_use]
            pub const fn slot(self) -> usize { self as usize }

            /// Finds a header by name, in any case. `name` is a token (RFC 9110 5.1).
            #[inline]
            #[must_use]
            pub fn find(name: &[u8]) -> Option<Self> {
                // The length tells most names apart, and a comparison of a known length needs no loop.
                match name.len() {
                    $(length::$variant if is_spelling::<{ length::$variant }>(name, $lower) => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        #[expect(non_upper_case_globals, reason = "named after the headers")]
        mod length {
            $(pub(super) const $variant: usize = $lower.len();)+
        }
    };
}

known_headers! {
    /// `Host` (RFC 9110 7.2); on HTTP/2 it stands in for a missing `:authority`.
    Host = "host", "Host";
    /// `Origin` (RFC 6454 7).
    Origin = "origin", "Origin";
    /// `Content-Type`.
    ContentType = "content-type", "Content-Type";
    /// `Content-Length`.
    ContentLength = "content-length", "Content-Length";
    /// `Content-Encoding`.
    ContentEncoding = "content-encoding", "Content-Encoding";
    /// `Transfer-Encoding`.
    TransferEncoding = "transfer-encoding", "Transfer-Encoding";
    /// `Connection`.
    Connection = "connection", "Connection";
    /// `Expect`.
    Expect = "expect", "Expect";
    /// `Accept`.
    Accept = "accept", "Accept";
    /// `Authorization`.
    Authorization = "authorization", "Authorization";
    /// `MCP-Protocol-Version`.
    ProtocolVersion = "mcp-protocol-version", "MCP-Protocol-Version";
    /// `Mcp-Session-Id`.
    SessionId = "mcp-session-id", "Mcp-Session-Id";
    /// `Last-Event-ID`.
    LastEventId = "last-event-id", "Last-Event-ID";
    /// `Mcp-Method`.
    Method = "mcp-method", "Mcp-Method";
    /// `Mcp-Name`.
    Name = "mcp-name", "Mcp-Name";
    /// `Access-Control-Request-Method`: marks a CORS preflight.
    RequestMethod = "access-control-request-method", "Access-Control-Request-Method";
    /// `Access-Control-Request-Headers`.
    RequestHeaders = "access-control-request-headers", "Access-Control-Request-Headers";
    /// `Upgrade`.
    Upgrade = "upgrade", "Upgrade";
}

/// Whether `name`, a token, is `lower` in any case. Setting one bit puts letters into lower case and makes no other token character a
/// letter or a hyphen.
#[inline]
fn is_spelling<const LENGTH: usize>(name: &[u8], lower: &str) -> bool {
    let (Ok(name), Ok(lower)) =
        (<&[u8; LENGTH]>::try_from(name), <&[u8; LENGTH]>::try_from(lower.as_bytes()))
    else {
        return false;
    };
    let mut differs = 0;
    for at in 0..LENGTH {
        differs |= (name[at] | 0x20) ^ lower[at];
    }
    differs == 0
}

/// The prefix of headers that mirror tool arguments, in lower case.
pub const PARAM_PREFIX: &str = "mcp-param-";
/// The same as the specification spells it.
pub const PARAM_PREFIX_CANONICAL: &str = "Mcp-Param-";

const _: () = assert!(Known::COUNT <= 32, "slots are counted in a u32");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_token_is_found() {
        for &known in Known::ALL {
            for at in 0..known.lower().len() {
                for byte in (0..=255).filter(|&byte| crate::base::ascii::is_tchar(byte)) {
                    let mut name = known.lower().as_bytes().to_vec();
                    name[at] = byte;
                    let same = name.eq_ignore_ascii_case(known.lower().as_bytes());
                    assert_eq!(Known::find(&name) == Some(known), same, "{}", name.escape_ascii());
                }
            }
        }
    }

    #[test]
    fn every_name_is_found_in_any_case() {
        for &known in Known::ALL {
            assert_eq!(Known::find(known.lower().as_bytes()), Some(known));
            assert_eq!(Known::find(known.canonical().as_bytes()), Some(known));
            assert_eq!(Known::find(known.lower().to_uppercase().as_bytes()), Some(known));
            assert!(known.canonical().eq_ignore_ascii_case(known.lower()));
        }
        assert_eq!(Known::find(b""), None);
        assert_eq!(Known::find(b"mcp-param-region"), None);
        assert_eq!(Known::find(b"hosu"), None);
        assert_eq!(Known::find(b"content_length"), None);
        assert_eq!(Known::find(b"content-lengti"), None);
        assert_eq!(Known::find(b"xontent-length"), None);
        assert_eq!(Known::find(&[b'a'; 300]), None);
    }
}
