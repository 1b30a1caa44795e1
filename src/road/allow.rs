//! Allow-lists for `Origin` and `Host`, compiled at start.

use crate::base::ascii::parse_decimal;

/// The names that a loopback server goes by.
const LOOPBACK: [&[u8]; 3] = [b"localhost", b"127.0.0.1", b"[::1]"];

/// A host name pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum HostPattern {
    /// This name.
    Exact(String),
    /// Any name that ends in this one, which begins with a dot.
    Suffix(String),
    /// Any name.
    Any,
}

impl HostPattern {
    fn parse(text: &str) -> Result<Self, String> {
        let name = text.to_ascii_lowercase();
        let (pattern, checked) =
            if let Some(suffix) = name.strip_prefix("*.").or_else(|| name.strip_prefix('.')) {
                (Self::Suffix(format!(".{suffix}")), suffix.to_owned())
            } else if name == "*" {
                return Ok(Self::Any);
            } else {
                (Self::Exact(name.trim_end_matches('.').to_owned()), name.clone())
            };
        let bracketed = checked.starts_with('[') && checked.ends_with(']');
        let fits = |c: char| {
            c.is_ascii_alphanumeric()
                || matches!(c, '-' | '.' | '_')
                || (bracketed && matches!(c, ':' | '[' | ']'))
        };
        if checked.is_empty() || !checked.chars().all(fits) {
            return Err(format!(
                "{text:?} is no host name; write a name, an address, [::1], or *.example.com"
            ));
        }
        Ok(pattern)
    }

    fn matches(&self, host: &[u8]) -> bool {
        let host = host.strip_suffix(b".").unwrap_or(host);
        match self {
            Self::Any => true,
            Self::Exact(name) => host.eq_ignore_ascii_case(name.as_bytes()),
            Self::Suffix(suffix) => {
                host.len() > suffix.len()
                    && host[host.len() - suffix.len()..].eq_ignore_ascii_case(suffix.as_bytes())
            }
        }
    }
}

/// One allowed `Host`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    host: HostPattern,
    port: Option<u16>,
}

impl HostRule {
    /// Reads `name`, `name:port`, `name:*`, `*.suffix` or `.suffix`; a rule without a port allows every port.
    ///
    /// # Errors
    /// A text that says what is wrong with the rule.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (host, port) = split_port(text.as_bytes()).ok_or_else(|| format!("{text:?} is no host"))?;
        let host = HostPattern::parse(&String::from_utf8_lossy(host))?;
        let port = match port {
            None | Some(b"*") => None,
            Some(digits) => {
                Some(parse_port(digits).ok_or_else(|| format!("{text:?} has a port that is no port"))?)
            }
        };
        Ok(Self { host, port })
    }

    /// Whether the rule allows this `Host` value or authority.
    #[must_use]
    pub fn matches(&self, authority: &[u8]) -> bool {
        let Some((host, port)) = split_authority(authority) else { return false };
        self.host.matches(host) && self.port.is_none_or(|wanted| port == Some(wanted))
    }
}

/// One allowed `Origin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginRule {
    /// `None`: any scheme.
    scheme: Option<String>,
    host: HostPattern,
    /// `None`: any port.
    port: Option<u16>,
}

impl OriginRule {
    /// Reads `https://app.example.com`, `https://*.example.com`, `http://localhost:*`, `chrome-extension://*`, or `*` for any origin.
    ///
    /// # Errors
    /// A text that says what is wrong with the rule.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self { scheme: None, host: HostPattern::Any, port: None });
        }
        let (scheme, authority) = text.split_once("://").ok_or_else(|| {
            format!("{text:?} is no origin; write scheme://host, scheme://host:port, scheme://* or *")
        })?;
        if scheme.is_empty() || !scheme.bytes().all(is_scheme_byte) || authority.contains('/') {
            return Err(format!("{text:?} is no origin: an origin has a scheme and a host, and no path"));
        }
        let scheme = scheme.to_ascii_lowercase();
        let (host, port) =
            split_port(authority.as_bytes()).ok_or_else(|| format!("{text:?} is no origin"))?;
        let host = HostPattern::parse(&String::from_utf8_lossy(host))?;
        let port = match (port, &host) {
            (Some(b"*"), _) | (None, HostPattern::Any) => None,
            (Some(digits), _) => {
                Some(parse_port(digits).ok_or_else(|| format!("{text:?} has a port that is no port"))?)
            }
            (None, HostPattern::Exact(_) | HostPattern::Suffix(_)) => default_port(scheme.as_bytes()),
        };
        Ok(Self { scheme: Some(scheme), host, port })
    }

    /// Whether the rule allows this origin.
    #[must_use]
    pub fn matches(&self, origin: &Origin<'_>) -> bool {
        self.scheme.as_ref().is_none_or(|scheme| origin.scheme.eq_ignore_ascii_case(scheme.as_bytes()))
            && self.host.matches(origin.host)
            && self.port.is_none_or(|port| origin.port.or_else(|| default_port(origin.scheme)) == Some(port))
    }
}

/// An `Origin` value, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'h> {
    scheme: &'h [u8],
    host: &'h [u8],
    port: Option<u16>,
}

impl<'h> Origin<'h> {
    /// Reads `scheme://host[:port]` (RFC 6454 6.1). `null`, a path, user information or a second origin in the value is `None`.
    #[must_use]
    pub fn parse(value: &'h [u8]) -> Option<Self> {
        let at = memchr::memmem::find(value, b"://")?;
        let (scheme, rest) = (&value[..at], &value[at + 3..]);
        if !scheme.first()?.is_ascii_alphabetic() || !scheme.iter().copied().all(is_scheme_byte) {
            return None;
        }
        let (host, port) = split_authority(rest)?;
        Some(Self { scheme, host, port })
    }

    /// Whether the origin is a page served from this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        (self.scheme.eq_ignore_ascii_case(b"http") || self.scheme.eq_ignore_ascii_case(b"https"))
            && is_loopback_name(self.host)
    }
}

/// Whether an authority names this machine, with any port.
#[must_use]
pub fn is_loopback_authority(authority: &[u8]) -> bool {
    // As clients send it, so that nothing has to be taken apart.
    for name in LOOPBACK {
        match authority.strip_prefix(name) {
            Some([]) => return true,
            Some([b':', port @ ..]) if is_usual_port(port) => return true,
            Some(_) | None => {}
        }
    }
    split_authority(authority).is_some_and(|(host, _)| is_loopback_name(host))
}

/// Digits that are a port whatever they are: 59999 at most.
fn is_usual_port(port: &[u8]) -> bool {
    (matches!(port.len(), 1..=4) || (port.len() == 5 && port[0] < b'6'))
        && port.iter().all(u8::is_ascii_digit)
}

fn is_loopback_name(host: &[u8]) -> bool {
    LOOPBACK.iter().any(|name| host.eq_ignore_ascii_case(name))
}

fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

fn default_port(scheme: &[u8]) -> Option<u16> {
    if scheme.eq_ignore_ascii_case(b"https") {
        Some(443)
    } else if scheme.eq_ignore_ascii_case(b"http") {
        Some(80)
    } else {
        None
    }
}

fn parse_port(digits: &[u8]) -> Option<u16> {
    if digits.len() > 5 {
        return None;
    }
    parse_decimal(digits).and_then(|port| u16::try_from(port).ok())
}

/// Takes a port off the end. A colon inside brackets belongs to an IPv6 address.
fn split_port(authority: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let name_end = match authority.first()? {
        b'[' => memchr::memchr(b']', authority)? + 1,
        _ => memchr::memchr(b':', authority).unwrap_or(authority.len()),
    };
    let (host, rest) = authority.split_at(name_end);
    match rest {
        [] => Some((host, None)),
        [b':', port @ ..] => Some((host, Some(port))),
        _ => None,
    }
}

/// A host and its port. The host has the characters of a name or of an address in brackets, and nothing else: no user information, no
/// path, no second value.
fn split_authority(authority: &[u8]) -> Option<(&[u8], Option<u16>)> {
    let (host, port) = split_port(authority)?;
    let port = match port {
        // RFC 3986 3.2.3: an empty port is the default one.
        None | Some(b"") => None,
        Some(digits) => Some(parse_port(digits)?),
    };
    let inner = host.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    let valid = match inner {
        Some(address) => {
            !address.is_empty()
                && address.iter().all(|&byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'))
        }
        None => {
            !host.is_empty()
                && host.iter().all(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
        }
    };
    valid.then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_origins() {
        for (value, want) in [
            ("http://localhost", true),
            ("http://localhost:6274", true),
            ("https://127.0.0.1:8080", true),
            ("http://[::1]:1", true),
            ("HTTP://LOCALHOST", true),
            ("http://localhost.evil.example", false),
            ("http://127.0.0.1.evil.example:8080", false),
            ("https://evil.example:8080", false),
            ("ws://localhost", false),
            ("http://localhost@evil.example", false),
            ("http://evil.example#localhost", false),
        ] {
            let loopback = Origin::parse(value.as_bytes()).is_some_and(|origin| origin.is_loopback());
            assert_eq!(loopback, want, "{value}");
        }
        for unparsable in [
            "null",
            "",
            "localhost",
            "http://",
            "http:///x",
            "http://a/b",
            "http://a b",
            "http://a:99999",
            "://a",
        ] {
            assert_eq!(Origin::parse(unparsable.as_bytes()), None, "{unparsable}");
        }
    }

    #[test]
    fn origin_rules() {
        for (rule, value, want) in [
            ("https://app.example", "https://app.example", true),
            ("https://app.example", "https://APP.example:443", true),
            ("https://app.example", "http://app.example", false),
            ("https://app.example", "https://app.example:8443", false),
            ("https://*.example.test", "https://a.b.example.test", true),
            ("https://*.example.test", "https://example.test", false),
            ("https://*.example.test", "https://evilexample.test", false),
            ("http://tool.test:*", "http://tool.test:99", true),
            ("http://tool.test:8000", "http://tool.test:8000", true),
            ("chrome-extension://*", "chrome-extension://abcdef", true),
            ("chrome-extension://*", "https://abcdef", false),
            ("*", "https://any.example:1", true),
        ] {
            let origin = Origin::parse(value.as_bytes()).unwrap();
            assert_eq!(OriginRule::parse(rule).unwrap().matches(&origin), want, "{rule} {value}");
        }
        for bad in ["app.example", "https://", "https://a/b", "://a", "https://a b", "https://a:x", ""] {
            assert!(OriginRule::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn host_rules() {
        for (rule, value, want) in [
            ("mcp.example.test", "mcp.example.test", true),
            ("mcp.example.test", "mcp.example.test:443", true),
            ("mcp.example.test", "MCP.Example.Test", true),
            ("mcp.example.test", "mcp.example.test.", true),
            ("mcp.example.test:*", "mcp.example.test", true),
            ("mcp.example.test:8080", "mcp.example.test", false),
            ("mcp.example.test:8080", "mcp.example.test:8080", true),
            (".example.test", "a.example.test:1", true),
            ("*.example.test", "example.test", false),
            ("[::1]", "[::1]:80", true),
            ("*", "anything:1", true),
            ("a.test", "b.test", false),
        ] {
            assert_eq!(HostRule::parse(rule).unwrap().matches(value.as_bytes()), want, "{rule} {value}");
        }
        for bad in ["", "a b", "a:b", "a/b", "[::1", "http://a"] {
            assert!(HostRule::parse(bad).is_err(), "{bad}");
        }
        for port in [
            "", "0", "1", "08", "8080", "05999", "59999", "60000", "65535", "65536", "99999", "123456",
            "8o80",
        ] {
            let judged = is_loopback_authority(format!("localhost:{port}").as_bytes());
            let right = port.len() < 6 && port.parse::<u16>().is_ok() || port.is_empty();
            assert_eq!(judged, right, "{port}");
        }
        for value in ["a@localhost", "localhost:80:80", "", "localhost:", "[::1"] {
            assert_eq!(is_loopback_authority(value.as_bytes()), value == "localhost:", "{value}");
        }
    }
}
