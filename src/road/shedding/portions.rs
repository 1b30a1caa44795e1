//! What everybody has had in the present turn, kept in a table of fixed size: who shares both of its places with others seems to have had
//! what they have. Asked only while a worker has too much to do.

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;

use super::turns::Had;
use crate::base::peer::PeerId;

const PLACES: usize = 4_096;
/// What an address may have been admitted in a turn to have had little.
const FEW: u32 = 4;

/// A count, and the turn that it is of.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    turn: u32,
    admitted: u32,
}

/// The portions of one worker's turn.
#[derive(Debug)]
pub(super) struct Portions {
    hasher: RandomState,
    counts: Box<[Count]>,
}

/// Where a connection and its address are counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    connection: [usize; 2],
    address: [usize; 2],
}

impl Portions {
    pub(super) fn new() -> Self {
        Self { hasher: RandomState::new(), counts: vec![Count::default(); PLACES].into_boxed_slice() }
    }

    /// The places of a peer. Those without an address share theirs.
    pub(super) fn places(&self, peer: Option<SocketAddr>) -> Places {
        Places {
            connection: self.pair(&peer),
            address: self.pair(&peer.map(|peer| PeerId::of(peer.ip(), true))),
        }
    }

    fn pair(&self, key: &impl std::hash::Hash) -> [usize; 2] {
        let hash = self.hasher.hash_one(key);
        let place = |bits: u64| usize::try_from(bits).unwrap_or(0) % PLACES;
        [place(hash & 0xffff_ffff), place(hash >> 32)]
    }

    pub(super) fn had(&self, turn: u32, places: Places) -> Had {
        if self.admitted(turn, places.address) < FEW {
            Had::Little
        } else if self.admitted(turn, places.connection) == 0 {
            Had::Nothing
        } else {
            Had::Something
        }
    }

    pub(super) fn add(&mut self, turn: u32, places: Places) {
        for place in places.connection.into_iter().chain(places.address) {
            if let Some(count) = self.counts.get_mut(place) {
                let before = if count.turn == turn { count.admitted } else { 0 };
                *count = Count { turn, admitted: before.saturating_add(1) };
            }
        }
    }

    fn admitted(&self, turn: u32, places: [usize; 2]) -> u32 {
        let of = |place: usize| self.counts.get(place).filter(|count| count.turn == turn);
        places.into_iter().map(|place| of(place).map_or(0, |count| count.admitted)).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ip: &str, port: u16) -> Option<SocketAddr> {
        Some(SocketAddr::new(ip.parse().unwrap(), port))
    }

    #[test]
    fn connections_and_addresses_are_counted_by_turn() {
        let mut portions = Portions::new();
        let (one, same, other) = (at("10.0.0.1", 1), at("10.0.0.1", 2), at("10.0.0.2", 1));
        for turn in [1, 2] {
            for _ in 0..FEW {
                assert_eq!(portions.had(turn, portions.places(one)), Had::Little);
                portions.add(turn, portions.places(one));
            }
            assert_eq!(portions.had(turn, portions.places(one)), Had::Something);
            // Who shares an address with a flood has had nothing itself; who does not, little.
            assert_eq!(portions.had(turn, portions.places(same)), Had::Nothing);
            assert_eq!(portions.had(turn, portions.places(other)), Had::Little);
        }
    }

    #[test]
    fn peers_without_an_address_have_one_together() {
        let mut portions = Portions::new();
        (0..FEW).for_each(|_| portions.add(7, portions.places(None)));
        assert_eq!(portions.had(7, portions.places(None)), Had::Something);
    }
}
