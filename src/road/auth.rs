//! Stage `auth`: who is asking (RFC 6750; MCP authorization). A wire check. On POST it runs after classify, so that its rejection can
//! carry the id.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::origin::OriginPassed;
use super::settings::Settings;
use crate::base::error::Error;
use crate::base::principal::Principal;
use crate::base::trace::looked_up;
use crate::reply::rejection::{Fault, Refusal};
use crate::tables::headers::Known;
use crate::tables::rejection::Rejection;
use crate::view::head::{Cardinality, RequestHead};

/// Checks bearer tokens. Implementations answer at once: what needs the network is fetched ahead of time, and while it cannot be had the
/// answer is [`AuthFault::Unavailable`].
pub trait Authenticator: Send + Sync + 'static {
    /// Names the principal a token stands for.
    ///
    /// # Errors
    /// [`AuthFault`], which decides the status.
    fn authenticate(&self, token: &[u8]) -> Result<Arc<Principal>, AuthFault>;
}

/// Why a token was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthFault {
    /// Unknown, expired, revoked or not for this server: 401.
    InvalidToken,
    /// Valid, but without these scopes (all that the call needs, separated by spaces): 403.
    InsufficientScope(String),
    /// Whether it is valid cannot be told right now: 503, so that clients do not throw it away.
    Unavailable {
        /// When to try again.
        retry_after_s: u32,
    },
}

/// Proof that the caller was judged, and who it is.
#[derive(Debug)]
pub struct Authed {
    principal: Option<Arc<Principal>>,
}

impl Authed {
    /// The principal; `None` where everybody is served.
    #[must_use]
    pub fn principal(&self) -> Option<&Arc<Principal>> {
        self.principal.as_ref()
    }

    /// Takes the principal out.
    pub(super) fn into_principal(self) -> Option<Arc<Principal>> {
        self.principal
    }
}

/// Judges `Authorization`.
///
/// # Errors
/// `unauthenticated`, `malformed_authorization`, `insufficient_scope`, `provider_error`.
pub fn check<'h>(
    settings: &Settings,
    head: &RequestHead<'h>,
    _passed: OriginPassed,
) -> Result<Authed, Refusal<'h>> {
    let Some(authenticator) = &settings.authenticator else { return Ok(Authed { principal: None }) };
    let value = match head.header(Known::Authorization) {
        Cardinality::Missing => return Err(missing()),
        Cardinality::Many => return Err(malformed("there is more than one; send one")),
        Cardinality::One(value) => value,
    };
    let token = bearer_token(value)?;
    looked_up("token");
    match authenticator.authenticate(token) {
        Ok(principal) => Ok(Authed { principal: Some(principal) }),
        Err(AuthFault::InvalidToken) => Err(challenge(
            Rejection::Unauthenticated,
            "the token is not valid here; send one that is",
            "Bearer realm=\"mcp\", error=\"invalid_token\", error_description=\"The token is not valid here\"".into(),
        )),
        Err(AuthFault::InsufficientScope(scope)) => Err(insufficient(&scope)),
        Err(AuthFault::Unavailable { retry_after_s }) => {
            let fault = Fault { retry_after: Some(retry_after_s), ..Fault::default() };
            Err(Refusal::fault(Rejection::ProviderError, fault))
        }
    }
}

/// Whether a body of this length is refused unread: strangers do not get to fill our memory.
#[must_use]
pub fn is_stranger(settings: &Settings, head: &RequestHead<'_>) -> bool {
    settings.authenticator.is_some() && matches!(head.header(Known::Authorization), Cardinality::Missing)
}

/// No credential at all: a challenge without an error (RFC 6750 3.1).
#[must_use]
pub fn missing() -> Refusal<'static> {
    challenge(
        Rejection::Unauthenticated,
        "send Authorization: Bearer with a token",
        "Bearer realm=\"mcp\"".into(),
    )
}

fn malformed(text: &'static str) -> Refusal<'static> {
    challenge(
        Rejection::MalformedAuthorization,
        text,
        "Bearer realm=\"mcp\", error=\"invalid_request\"".into(),
    )
}

fn insufficient(scope: &str) -> Refusal<'static> {
    // Scope tokens are visible ASCII without quote and backslash (RFC 6749 3.3); anything else stays out of the header.
    let clean: String =
        scope.chars().filter(|c| matches!(c, ' ' | '!' | '#'..='[' | ']'..='~')).take(1024).collect();
    let value = format!("Bearer realm=\"mcp\", error=\"insufficient_scope\", scope=\"{clean}\"");
    let text = if clean.is_empty() { "ask the operator which one" } else { &clean };
    challenge(Rejection::InsufficientScope, text, value.into())
}

fn challenge(rejection: Rejection, text: &str, value: Arc<str>) -> Refusal<'static> {
    Refusal::fault(rejection, Fault { text: text.to_owned(), challenge: Some(value), ..Fault::default() })
}

/// The token of `Bearer token68` (RFC 6750 2.1). Another scheme is as good as no credential; a bearer scheme with anything but one token
/// is malformed.
fn bearer_token(value: &[u8]) -> Result<&[u8], Refusal<'static>> {
    let scheme_end = memchr::memchr(b' ', value).unwrap_or(value.len());
    let (scheme, rest) = value.split_at(scheme_end);
    if !scheme.eq_ignore_ascii_case(b"bearer") {
        return Err(missing());
    }
    let token = rest.trim_ascii_start();
    let body = token.iter().rposition(|&byte| byte != b'=').map_or(0, |last| last + 1);
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(byte);
    if body == 0 || !token[..body].iter().all(fits) {
        return Err(malformed("write Bearer, one space, and the token"));
    }
    Ok(token)
}

/// Tokens known from a file, kept as digests and compared in constant time.
pub struct StaticTokens {
    tokens: Vec<([u8; 32], Arc<Principal>)>,
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StaticTokens({} tokens)", self.tokens.len())
    }
}

impl StaticTokens {
    /// Reads one token a line, `TOKEN` or `NAME TOKEN`; empty lines and lines that begin with `#` are skipped. A token without a name
    /// gets the name `token-N`, N being its line.
    ///
    /// # Errors
    /// [`Error::Config`] names the line that cannot be read, never its text; a file without a token is an error too.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut tokens: Vec<([u8; 32], Arc<Principal>)> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let number = at + 1;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.split_ascii_whitespace();
            let (name, token) = match (words.next(), words.next(), words.next()) {
                (Some(token), None, _) => (format!("token-{number}"), token),
                (Some(name), Some(token), None) if !is_numbered(name) => (name.to_owned(), token),
                (Some(_), Some(_), None) => {
                    let rule = "names like token-1 are kept for tokens without a name";
                    return Err(Error::Config(format!("token file, line {number}: {rule}")));
                }
                (Some(_) | None, Some(_) | None, Some(_) | None) => {
                    return Err(Error::Config(format!(
                        "token file, line {number}: write TOKEN or NAME TOKEN"
                    )));
                }
            };
            if bearer_token(format!("Bearer {token}").as_bytes()).is_err() {
                let rule = "a token has letters, digits and -._~+/ and may end in =";
                return Err(Error::Config(format!("token file, line {number}: {rule}")));
            }
            let digest = Sha256::digest(token.as_bytes()).into();
            if tokens.iter().any(|(known, _)| *known == digest) {
                return Err(Error::Config(format!(
                    "token file, line {number}: the token stands there twice"
                )));
            }
            tokens.push((digest, Arc::new(Principal::new(name))));
        }
        if tokens.is_empty() {
            return Err(Error::Config("token file: it has no token, so nobody could get in".to_owned()));
        }
        Ok(Self { tokens })
    }
}

/// Whether a name is one that an unnamed token could get: two tokens would be one principal then.
fn is_numbered(name: &str) -> bool {
    name.strip_prefix("token-").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Authenticator for StaticTokens {
    fn authenticate(&self, token: &[u8]) -> Result<Arc<Principal>, AuthFault> {
        let digest: [u8; 32] = Sha256::digest(token).into();
        // Every entry is compared, so that neither the place nor the presence of a match shows in the time.
        let mut found = None;
        for (known, principal) in &self.tokens {
            if bool::from(known.ct_eq(&digest)) {
                found = Some(principal);
            }
        }
        found.cloned().ok_or(AuthFault::InvalidToken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_files() {
        let tokens = StaticTokens::parse("# who\n\nabc.DEF-1==\nalice s3cret~+/\n").unwrap();
        assert_eq!(tokens.authenticate(b"abc.DEF-1==").unwrap().subject, "token-3");
        assert_eq!(tokens.authenticate(b"s3cret~+/").unwrap().subject, "alice");
        for wrong in [&b"abc"[..], b"", b"abc.DEF-1=", b"alice"] {
            assert_eq!(tokens.authenticate(wrong), Err(AuthFault::InvalidToken));
        }
        for (bad, line) in [
            ("", "no token"),
            ("# x", "no token"),
            ("a b c", "line 1"),
            ("ok\nb\u{e9}d", "line 2"),
            ("x\nx", "line 2"),
            ("token-2 x", "line 1"),
        ] {
            let text = StaticTokens::parse(bad).unwrap_err().to_string();
            assert!(text.contains(line), "{text}");
            assert!(!text.contains("b\u{e9}d"), "the text of a token stays out of errors");
        }
        assert_eq!(format!("{tokens:?}"), "StaticTokens(2 tokens)");
    }

    #[test]
    fn bearer_syntax() {
        for (value, want) in [
            ("Bearer abc", Ok("abc")),
            ("bearer abc=", Ok("abc=")),
            ("BEARER  abc", Ok("abc")),
            ("Basic abc", Err(Rejection::Unauthenticated)),
            ("", Err(Rejection::Unauthenticated)),
            ("Bearerabc", Err(Rejection::Unauthenticated)),
            ("Bearer", Err(Rejection::MalformedAuthorization)),
            ("Bearer ", Err(Rejection::MalformedAuthorization)),
            ("Bearer a b", Err(Rejection::MalformedAuthorization)),
            ("Bearer =", Err(Rejection::MalformedAuthorization)),
            ("Bearer a=b", Err(Rejection::MalformedAuthorization)),
            ("Bearer a,b", Err(Rejection::MalformedAuthorization)),
        ] {
            let got = bearer_token(value.as_bytes()).map_err(|refusal| refusal.rejection);
            assert_eq!(got, want.map(str::as_bytes), "{value}");
        }
    }

    #[test]
    fn scopes_cannot_break_the_header() {
        let refusal = insufficient("tools:read \"x\"\r\nevil: 1\\");
        let crate::reply::rejection::Detail::Fault(fault) = refusal.detail else { panic!("a fault") };
        let value = fault.challenge.unwrap();
        assert!(value.ends_with("scope=\"tools:read xevil: 1\""), "{value}");
    }
}
