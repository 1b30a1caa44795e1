//! The allowances of peers: which peer has spent how much of its own.
//!
//! The table never grows: it has places for `peer_table` peers, in sets of [`WAYS`] that share a lock. A peer whose allowance is whole is as
//! good as unknown, so its place is anybody's. Where no place of a set is anybody's, newcomers to it share one allowance among them until
//! there is one: known peers keep theirs, and what strangers get together stays bounded. It takes as many peers as there are places, each
//! of which has asked within the time that brings one request back, to fill the table.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use super::pace::{Pace, Spent, Toll, ns};
use super::settings::Settings;
use super::shared::Peer;
use crate::base::peer::PeerId;

/// Places in one set. More sets than few mean that places stay free while others are sought; more places take longer to look through.
const WAYS: usize = 16;

/// What each peer has spent.
pub(super) struct PeerRates {
    pace: Pace,
    limit_loopback: bool,
    /// Keyed at random, so that nobody can choose addresses that meet in one set.
    hasher: RandomState,
    sets: Box<[Mutex<Set>]>,
}

#[derive(Default)]
struct Set {
    places: [Place; WAYS],
    /// What newcomers have spent of the allowance that they share.
    strangers: Spent,
}

#[derive(Default)]
struct Place {
    peer: Option<PeerId>,
    spent: Spent,
}

impl Set {
    /// What was spent of the allowance that `peer` is held to.
    fn spent_of(&mut self, peer: PeerId, now: u64) -> &mut Spent {
        let known = self.places.iter().position(|place| place.peer == Some(peer));
        match known.or_else(|| self.places.iter().position(|place| place.spent.is_nothing(now))) {
            Some(at) => {
                let place = &mut self.places[at];
                place.peer = Some(peer);
                &mut place.spent
            }
            None => &mut self.strangers,
        }
    }
}

impl PeerRates {
    /// An empty table; `None` where rates are not limited.
    pub(super) fn new(settings: &Settings) -> Option<Self> {
        let pace = Pace::of(&settings.limits)?;
        let sets = usize::try_from(settings.limits.peer_table).unwrap_or(usize::MAX) / WAYS;
        Some(Self {
            pace,
            limit_loopback: settings.limit_loopback,
            hasher: RandomState::new(),
            sets: (0..sets.max(1)).map(|_| Mutex::default()).collect(),
        })
    }

    /// Charges a request to its peer.
    ///
    /// # Errors
    /// The wait of one that is to be shed.
    pub(super) fn enter(&self, peer: &Peer, now_ms: u64) -> Result<Toll, Toll> {
        self.charge(peer, now_ms, |spent, now| self.pace.enter(spent, now)).unwrap_or(Ok(Toll::NONE))
    }

    /// Charges the other messages of a body to its peer.
    pub(super) fn enter_rest(&self, peer: &Peer, now_ms: u64, messages: u64) -> Toll {
        self.charge(peer, now_ms, |spent, now| self.pace.enter_rest(spent, now, messages))
            .unwrap_or(Toll::NONE)
    }

    fn charge<T>(&self, peer: &Peer, now_ms: u64, charge: impl FnOnce(&mut Spent, u64) -> T) -> Option<T> {
        let peer = PeerId::of(peer.address?.ip(), self.limit_loopback)?;
        let hash = usize::try_from(self.hasher.hash_one(peer) & u64::from(u32::MAX)).unwrap_or(0);
        let now = ns(now_ms);
        let mut set = self.sets[hash % self.sets.len()].lock().unwrap_or_else(PoisonError::into_inner);
        Some(charge(set.spent_of(peer, now), now))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::net::{IpAddr, Ipv4Addr, SocketAddr};

    use proptest::prelude::*;

    use super::*;
    use crate::base::limits::Limits;

    fn table(places: u64, rate: u64, burst: u64) -> PeerRates {
        let limits = Limits { peer_rate: rate, peer_burst: burst, peer_table: places, ..Limits::default() };
        PeerRates::new(&Settings { limits, ..Settings::default() }).unwrap()
    }

    fn peer(number: u32) -> Peer {
        let address = IpAddr::V4(Ipv4Addr::from(0x0A00_0000 + number));
        Peer { address: Some(SocketAddr::new(address, 1)), on_loopback: false, worker: 0 }
    }

    fn admitted(table: &PeerRates, number: u32, now_ms: u64) -> bool {
        table.enter(&peer(number), now_ms) == Ok(Toll::NONE)
    }

    #[test]
    fn nobody_pays_for_others() {
        let table = table(16, 1, 2);
        for number in 0..16 {
            assert!(admitted(&table, number, 0) && admitted(&table, number, 0));
            assert!(!admitted(&table, number, 0));
        }
    }

    #[test]
    fn peers_without_an_address_and_on_the_loopback_are_free() {
        let local =
            |on: [u8; 4]| Peer { address: Some(SocketAddr::from((on, 1))), on_loopback: true, worker: 0 };
        let table = table(16, 1, 1);
        for peer in [Peer::default(), local([127, 0, 0, 1]), local([127, 9, 9, 9])] {
            assert!((0..10).all(|_| table.enter(&peer, 0) == Ok(Toll::NONE)));
        }
        let table = PeerRates { limit_loopback: true, ..table };
        assert_eq!(table.enter(&local([127, 0, 0, 1]), 0), Ok(Toll::NONE));
        assert_ne!(table.enter(&local([127, 0, 0, 1]), 0), Ok(Toll::NONE));
        assert_eq!(table.enter(&local([127, 0, 0, 2]), 0), Ok(Toll::NONE), "another one");
    }

    /// At the number of places, and above it.
    #[test]
    fn strangers_share_when_the_table_is_full() {
        let table = table(16, 1, 2);
        assert!((0..16).all(|number| admitted(&table, number, 0)));
        // Two for all that come now.
        assert!(admitted(&table, 16, 0) && admitted(&table, 17, 0));
        assert!(!admitted(&table, 18, 0) && !admitted(&table, 16, 0));
        // Those that have a place keep what is theirs.
        assert!((0..16).all(|number| admitted(&table, number, 0)));
        // A place is free as soon as its peer owes nothing. Until then one has come back for the others.
        assert!(admitted(&table, 19, 1_999) && !admitted(&table, 19, 1_999));
        assert!((20..36).all(|number| admitted(&table, number, 2_000)));
        assert!((20..36).all(|number| admitted(&table, number, 2_000)));
        assert!((20..36).all(|number| !admitted(&table, number, 2_000)));
    }

    #[test]
    fn the_table_has_the_size_that_is_set() {
        for (places, sets) in [(16, 1), (31, 1), (32, 2), (65_536, 4_096)] {
            assert_eq!(table(places, 1, 1).sets.len(), sets);
        }
        assert!(size_of::<Mutex<Set>>() <= 34 * WAYS, "as the setting says");
    }

    #[test]
    fn many_threads_admit_no_more_than_one() {
        let table = table(64, 1, 1_000);
        let total: usize = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| (0..500).filter(|_| admitted(&table, 1, 0)).count())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(total, 1_000);
    }

    proptest! {
        /// While no more peers come than one set has places, each is judged as if it had a table of its own.
        #[test]
        fn as_if_each_had_its_own(
            burst in 1_u64..5,
            asks in prop::collection::vec((0_u32..WAYS as u32, 0_u64..400), 1..300),
        ) {
            let table = table(WAYS as u64, 10, burst);
            let mut alone: HashMap<u32, Spent> = HashMap::new();
            let mut now = 0;
            for (number, gap) in asks {
                now += gap / 20;
                let spent = alone.entry(number).or_default();
                prop_assert_eq!(table.enter(&peer(number), now), table.pace.enter(spent, ns(now)));
            }
        }

        /// However many come: all together get no more than so many peers, and one more for each set, could have.
        #[test]
        fn a_crowd_gets_no_more_than_the_table(
            burst in 1_u64..5,
            asks in prop::collection::vec((0_u32..2_000, 0_u64..3), 1..800),
        ) {
            let table = table(32, 10, burst);
            let (mut total, mut now) = (0, 0);
            for (number, gap) in asks {
                now += gap;
                total += u64::from(admitted(&table, number, now));
                let most = (32 + 2) * burst + (32 + 2) * 10 * now / 1_000;
                prop_assert!(total <= most, "{total} of at most {most} after {now} ms");
            }
        }
    }
}
