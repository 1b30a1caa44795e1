//! Stage `limit`: rate limits, off unless the embedding program brings a limiter. A wire check, after auth: it needs the principal.

use std::net::IpAddr;
use std::sync::Arc;

use super::auth::Authed;
use super::settings::Settings;
use crate::base::principal::Principal;
use crate::reply::rejection::{Fault, Refusal};
use crate::tables::rejection::Rejection;
use crate::tables::routes::Verb;

/// Decides whether a caller may go on.
pub trait RateLimiter: Send + Sync + 'static {
    /// Takes one request from the caller's allowance.
    ///
    /// # Errors
    /// [`RetryAfter`] when there is none left.
    fn admit(&self, caller: Caller<'_>) -> Result<(), RetryAfter>;
}

/// Who is asking, as far as limits care.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Caller<'a> {
    /// The principal, where there is authentication.
    pub principal: Option<&'a Principal>,
    /// The peer's address, where it has one.
    pub address: Option<IpAddr>,
    /// The verb.
    pub verb: Verb,
}

/// When the next request would be admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryAfter {
    /// In milliseconds.
    pub ms: u64,
}

/// Proof that the limits were asked.
#[derive(Debug)]
pub struct Admitted {
    principal: Option<Arc<Principal>>,
}

impl Admitted {
    pub(super) fn into_principal(self) -> Option<Arc<Principal>> {
        self.principal
    }
}

/// Asks the limiter.
///
/// # Errors
/// `rate_limited`, with the waiting time in `Retry-After` and in `data.retryAfterMs`.
pub fn check(
    settings: &Settings,
    verb: Verb,
    address: Option<IpAddr>,
    authed: Authed,
) -> Result<Admitted, Refusal<'static>> {
    if let Some(limiter) = &settings.limiter {
        let caller = Caller { principal: authed.principal().map(AsRef::as_ref), address, verb };
        limiter.admit(caller).map_err(refuse)?;
    }
    Ok(Admitted { principal: authed.into_principal() })
}

fn refuse(retry: RetryAfter) -> Refusal<'static> {
    let fault = Fault {
        text: retry.ms.to_string(),
        data: Some(format!("{{\"retryAfterMs\":{}}}", retry.ms).into_bytes()),
        // Rounded up: a client that waits this long is admitted.
        retry_after: Some(u32::try_from(retry.ms.div_ceil(1000)).unwrap_or(u32::MAX).max(1)),
        challenge: None,
    };
    Refusal::fault(Rejection::RateLimited, fault)
}
