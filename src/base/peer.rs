//! Who a peer is, as far as limits care.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The network of a translator's addresses, the last 32 bits of which are an IPv4 address.
const TRANSLATED: [u8; 8] = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0];

/// Whom a limit for each peer is held against: an IPv4 address, or the first 64 bits of an IPv6 address. Whoever has one IPv6 address has
/// all of its /64. An IPv4 address that comes through a translator (RFC 6052) is itself, and those of one link are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PeerId {
    /// An IPv4 address.
    V4(Ipv4Addr),
    /// The network of an IPv6 address.
    V6([u8; 8]),
    /// The interface of a link-local address.
    Link([u8; 8]),
}

impl PeerId {
    /// The peer behind an address. `None` for one that no limit is held against: one on the loopback, unless `limit_loopback` says so.
    #[must_use]
    pub fn of(address: IpAddr, limit_loopback: bool) -> Option<Self> {
        let address = address.to_canonical();
        if address.is_loopback() && !limit_loopback {
            return None;
        }
        Some(match address {
            IpAddr::V4(address) => Self::V4(address),
            IpAddr::V6(address) => {
                let [a, b, c, d, e, f, g, h, interface @ ..] = address.octets();
                let network = [a, b, c, d, e, f, g, h];
                match interface {
                    [0, 0, 0, 0, last @ ..] if network == TRANSLATED => Self::V4(Ipv4Addr::from(last)),
                    _ if address.is_unicast_link_local() => Self::Link(interface),
                    _ => Self::V6(network),
                }
            }
        })
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(address) => address.fmt(f),
            Self::Link(interface) => {
                let mut octets = [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
                octets[8..].copy_from_slice(interface);
                Ipv6Addr::from(octets).fmt(f)
            }
            Self::V6(network) => {
                let mut octets = [0; 16];
                octets[..8].copy_from_slice(network);
                write!(f, "{}/64", Ipv6Addr::from(octets))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(address: &str) -> Option<String> {
        PeerId::of(address.parse().unwrap(), false).map(|peer| peer.to_string())
    }

    #[test]
    fn addresses_and_their_peers() {
        for (address, want) in [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2::", "2001:db8:1:2::/64"),
            ("2001:db8:1:3::", "2001:db8:1:3::/64"),
            ("::192.0.2.1", "::/64"),
            ("64:ff9b::192.0.2.1", "192.0.2.1"),
            ("64:ff9b::1:192.0.2.1", "64:ff9b::/64"),
            ("64:ff9b:1::192.0.2.1", "64:ff9b:1::/64"),
            // That is not this machine.
            ("64:ff9b::127.0.0.1", "127.0.0.1"),
            ("fe80::1", "fe80::1"),
            ("fe80::1:2:3:4", "fe80::1:2:3:4"),
            ("febf:1::2", "fe80::2"),
            ("fec0::1", "fec0::/64"),
        ] {
            assert_eq!(peer(address).as_deref(), Some(want), "{address}");
        }
    }

    #[test]
    fn the_loopback_is_exempt_unless_told() {
        for address in ["127.0.0.1", "127.200.0.9", "::ffff:127.0.0.2", "::1"] {
            assert_eq!(peer(address), None, "{address}");
            assert!(PeerId::of(address.parse().unwrap(), true).is_some(), "{address}");
        }
        let two = |address: &str| PeerId::of(address.parse().unwrap(), true);
        assert_ne!(two("127.0.0.1"), two("127.0.0.2"));
        assert_eq!(two("127.0.0.1"), two("::ffff:127.0.0.1"));
    }
}
