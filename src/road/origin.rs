//! Stage `origin`: is the request meant for this server, and does it come from a page that may ask? (streamable HTTP, security; DNS
//! rebinding). A wire check, and the first: nothing has been parsed yet.

use super::allow::{Origin, is_loopback_authority};
use super::settings::Settings;
use crate::reply::Exchange;
use crate::reply::rejection::Refusal;
use crate::tables::headers::Known;
use crate::tables::rejection::Rejection;
use crate::view::head::{Cardinality, RequestHead};

/// Proof that `Origin` and `Host` were judged.
#[derive(Debug)]
pub struct OriginPassed(());

/// Judges `Origin`, then `Host`. An allowed origin is noted on the exchange, so that its answer carries CORS headers, whatever it is.
///
/// # Errors
/// `duplicated_origin`, `origin_not_allowed`, `host_not_allowed`.
pub fn check<'h>(
    settings: &Settings,
    head: &RequestHead<'h>,
    exchange: &mut Exchange,
) -> Result<OriginPassed, Refusal<'h>> {
    match head.header(Known::Origin) {
        Cardinality::Missing => {}
        Cardinality::Many => return Err(Refusal::plain(Rejection::DuplicatedOrigin)),
        Cardinality::One(value) => {
            if !origin_allowed(settings, value) {
                return Err(Refusal::quoting(Rejection::OriginNotAllowed, value));
            }
            exchange.cors.extend_from_slice(value);
        }
    }
    match host(head) {
        Some(value) if !host_allowed(settings, value) => {
            Err(Refusal::quoting(Rejection::HostNotAllowed, value))
        }
        // A browser always says which host it means, so a request that does not is none of a rebound page's.
        Some(_) | None => Ok(OriginPassed(())),
    }
}

/// The authority a request is for: that of the target where it has one (RFC 9112 3.2.2), else `Host`. HTTP/1.1 heads with several hosts
/// never get here.
fn host<'h>(head: &RequestHead<'h>) -> Option<&'h [u8]> {
    head.authority().or(match head.header(Known::Host) {
        Cardinality::One(value) => Some(value),
        Cardinality::Missing => None,
        // Not allowed by any rule.
        Cardinality::Many => Some(b","),
    })
}

/// `null`, an empty value and anything that is not one origin parse to none and are refused.
fn origin_allowed(settings: &Settings, value: &[u8]) -> bool {
    Origin::parse(value).is_some_and(|origin| {
        (settings.loopback && origin.is_loopback())
            || settings.origins.iter().any(|rule| rule.matches(&origin))
    })
}

fn host_allowed(settings: &Settings, value: &[u8]) -> bool {
    if settings.loopback {
        is_loopback_authority(value) || settings.hosts.iter().any(|rule| rule.matches(value))
    } else {
        settings.hosts.is_empty() || settings.hosts.iter().any(|rule| rule.matches(value))
    }
}
