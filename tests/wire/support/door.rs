//! Who the tests' servers let in, and how often they were asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use twolane::base::principal::Principal;
use twolane::road::auth::{AuthFault, Authenticator};
use twolane::road::limit::{Caller, RateLimiter, RetryAfter};

/// Tokens are names: `alice` and `bob` are let in, `busy` too but has no allowance left, `weak` lacks a scope, and `down` cannot be checked.
/// Nobody else is known. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct Keys(Arc<AtomicU64>);

impl Keys {
    /// How often the authenticator was asked.
    pub fn asked(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Authenticator for Keys {
    fn authenticate(&self, token: &[u8]) -> Result<Arc<Principal>, AuthFault> {
        self.0.fetch_add(1, Ordering::SeqCst);
        match token {
            b"alice" | b"bob" | b"busy" => {
                Ok(Arc::new(Principal::new(std::str::from_utf8(token).expect("one of three names"))))
            }
            b"weak" => Err(AuthFault::InsufficientScope("tools:call".to_owned())),
            b"down" => Err(AuthFault::Unavailable { retry_after_s: 3 }),
            _ => Err(AuthFault::InvalidToken),
        }
    }
}

/// Lets everybody through but the principal `busy`, who has to wait 1500 ms. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct Meter(Arc<AtomicU64>);

impl Meter {
    /// How often the limiter was asked.
    pub fn asked(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl RateLimiter for Meter {
    fn admit(&self, caller: Caller<'_>) -> Result<(), RetryAfter> {
        self.0.fetch_add(1, Ordering::SeqCst);
        match caller.principal {
            Some(principal) if principal.subject == "busy" => Err(RetryAfter { ms: 1500 }),
            Some(_) | None => Ok(()),
        }
    }
}
