//! Stage `origin`: is the request meant for this server, and does it come from a page that may ask? (streamable HTTP, security; DNS
//! rebinding). A wire check, and the first: nothing has been parsed yet.

use super::allow::{Origin, is_loopback_authority};
use super::settings::Settings;
use super::shared::Peer;
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
    peer: &Peer,
    exchange: &mut Exchange,
) -> Result<OriginPassed, Refusal<'h>> {
    match head.header(Known::Origin) {
        Cardinality::Missing => {}
        Cardinality::Many => return Err(Refusal::plain(Rejection::DuplicatedOrigin)),
        Cardinality::One(value) => {
            if !origin_allowed(settings, peer, value) {
                return Err(Refusal::quoting(Rejection::OriginNotAllowed, value));
            }
            exchange.cors.extend_from_slice(value);
        }
    }
    match host(head) {
        Some(value) if !host_allowed(settings, peer, value) => {
            Err(Refusal::quoting(Rejection::HostNotAllowed, value))
        }
        // A browser always says which host it means, so a request that does not is none of a rebound page's.
        Some(_) | None => Ok(OriginPassed(())),
    }
}

/// Notes an allowed origin for the answers that are given without judging it: another path, a server that drains.
#[cold]
pub fn note(settings: &Settings, head: &RequestHead<'_>, peer: &Peer, exchange: &mut Exchange) {
    if let Cardinality::One(value) = head.header(Known::Origin)
        && origin_allowed(settings, peer, value)
    {
        exchange.cors.extend_from_slice(value);
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
fn origin_allowed(settings: &Settings, peer: &Peer, value: &[u8]) -> bool {
    Origin::parse(value).is_some_and(|origin| {
        (peer.on_loopback && origin.is_loopback())
            || settings.origins.iter().any(|rule| rule.matches(&origin))
    })
}

fn host_allowed(settings: &Settings, peer: &Peer, value: &[u8]) -> bool {
    if peer.on_loopback {
        is_loopback_authority(value) || settings.hosts.iter().any(|rule| rule.matches(value))
    } else {
        settings.hosts.is_empty() || settings.hosts.iter().any(|rule| rule.matches(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::head::HeadBuilder;

    fn judge(host: &str, origin: Option<&str>, on_loopback: bool, hosts: &[&str]) -> Result<(), Rejection> {
        let hosts = hosts.iter().map(|rule| super::super::allow::HostRule::parse(rule).unwrap()).collect();
        let settings = Settings { hosts, ..Settings::default() };
        let mut lines = Vec::new();
        let mut head = HeadBuilder::new(&mut lines).method(b"GET").target(b"/mcp", None);
        head.field(b"host", host.as_bytes());
        if let Some(origin) = origin {
            head.field(b"origin", origin.as_bytes());
        }
        let index = head.finish();
        let peer = Peer { address: None, on_loopback, worker: 0 };
        check(&settings, &RequestHead::new(&lines, &index), &peer, &mut Exchange::new(false))
            .map(|_| ())
            .map_err(|refusal| refusal.rejection)
    }

    /// A server may listen on loopback and elsewhere: what reaches the one is judged as strictly as if the other were not there.
    #[test]
    fn the_listener_decides_what_is_allowed_by_default() {
        let (local, page) = ("http://localhost:1", "https://app.example");
        for (host, origin, on_loopback, hosts, want) in [
            ("127.0.0.1:8080", Some(local), true, &[][..], Ok(())),
            ("evil.example", None, true, &[], Err(Rejection::HostNotAllowed)),
            ("mcp.example", None, true, &["mcp.example"], Ok(())),
            ("localhost", Some(page), true, &[], Err(Rejection::OriginNotAllowed)),
            ("anything.example", None, false, &[], Ok(())),
            ("anything.example", None, false, &["mcp.example"], Err(Rejection::HostNotAllowed)),
            ("localhost", None, false, &["mcp.example"], Err(Rejection::HostNotAllowed)),
            ("mcp.example", Some(local), false, &[], Err(Rejection::OriginNotAllowed)),
        ] {
            assert_eq!(
                judge(host, origin, on_loopback, hosts),
                want,
                "{host} {origin:?} {on_loopback} {hosts:?}"
            );
        }
    }
}
