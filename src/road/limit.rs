//! Stage `limit`: rate limits, off unless `peer_rate` is set or the embedding program brings a limiter. A wire check, after auth: it needs the
//! principal.
//!
//! A request is charged to its peer at the door and judged here. So one that is refused before it comes here costs as much as any other. What
//! is beyond the peer's allowance costs tries at the door only, of which there are twice as many: so tokens cannot be guessed without end,
//! and a peer that goes on far beyond its allowance is shed at the door, and is yet served at its rate.

use std::net::IpAddr;
use std::sync::Arc;

use super::auth::Authed;
use super::pace::Toll;
use super::peer_rates::PeerRates;
use super::settings::Settings;
use super::shared::Peer;
use crate::base::clock::Clock;
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

/// Charges a request to its peer as it comes in.
///
/// # Errors
/// `overloaded`, for a peer that goes on far beyond its allowance.
pub(super) fn door(rates: Option<&PeerRates>, clock: &Clock, peer: &Peer) -> Result<Toll, Refusal<'static>> {
    let Some(rates) = rates else { return Ok(Toll::NONE) };
    rates.enter(peer, clock.now_ms()).map_err(|toll| {
        let text = "this peer is far beyond its rate (peer_rate, peer_burst)";
        Refusal::later(Rejection::Overloaded, text, seconds(toll.wait_ms().unwrap_or(0)))
    })
}

/// Judges what the request was charged, then asks the limiter.
///
/// # Errors
/// `rate_limited`, with the waiting time in `Retry-After` and in `data.retryAfterMs`.
pub fn check(
    settings: &Settings,
    verb: Verb,
    address: Option<IpAddr>,
    toll: Toll,
    authed: Authed,
) -> Result<Admitted, Refusal<'static>> {
    if let Some(ms) = toll.wait_ms() {
        return Err(refuse(RetryAfter { ms }));
    }
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
        retry_after: Some(seconds(retry.ms)),
        challenge: None,
    };
    Refusal::fault(Rejection::RateLimited, fault)
}

/// For `Retry-After`. Rounded up: a client that waits this long is admitted.
fn seconds(ms: u64) -> u32 {
    u32::try_from(ms.div_ceil(1000)).unwrap_or(u32::MAX).max(1)
}
