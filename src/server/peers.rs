//! How many connections each peer has open, over all workers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::peer::PeerId;

/// Workers that accept at the same time seldom meet in one.
const SHARDS: usize = 16;

type Counts = HashMap<PeerId, u64>;

/// The counts. A peer stands here only while it has a connection open, so that there are never more than connections.
#[derive(Debug)]
pub(super) struct Peers {
    /// 0 is no bound.
    most: u64,
    limit_loopback: bool,
    hasher: RandomState,
    shards: [Mutex<Counts>; SHARDS],
}

/// One of a peer's connections, given back when dropped.
#[derive(Debug)]
pub(super) struct Held(Option<(Arc<Peers>, PeerId)>);

impl Peers {
    pub(super) fn new(most: u64, limit_loopback: bool) -> Self {
        Self { most, limit_loopback, hasher: RandomState::new(), shards: Default::default() }
    }

    /// Counts a new connection of the peer at `address`. `None` when it has as many as it may.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Held> {
        let peer = Some(address).filter(|_| self.most > 0);
        let Some(peer) = peer.and_then(|address| PeerId::of(address, self.limit_loopback)) else {
            return Some(Held(None));
        };
        let mut counts = self.counts(peer);
        let count = counts.entry(peer).or_insert(0);
        if *count >= self.most {
            return None;
        }
        *count += 1;
        drop(counts);
        Some(Held(Some((Arc::clone(self), peer))))
    }

    fn counts(&self, peer: PeerId) -> MutexGuard<'_, Counts> {
        let hash = self.hasher.hash_one(peer).to_le_bytes()[0];
        self.shards[usize::from(hash) % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some((peers, peer)) = &self.0 else { return };
        if let Entry::Occupied(mut count) = peers.counts(*peer).entry(*peer) {
            match *count.get() {
                0 | 1 => drop(count.remove()),
                more => {
                    count.insert(more - 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    fn peers(most: u64) -> Arc<Peers> {
        Arc::new(Peers::new(most, false))
    }

    fn kept(peers: &Peers) -> usize {
        peers.shards.iter().map(|shard| shard.lock().unwrap().len()).sum()
    }

    const ONE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    #[test]
    fn below_at_and_above_the_bound() {
        let peers = peers(3);
        let mut held: Vec<_> = (0..3).map(|_| peers.admit(ONE).unwrap()).collect();
        assert!(peers.admit(ONE).is_none());
        let others = [peers.admit(OTHER), peers.admit(OTHER), peers.admit(OTHER)];
        assert!(others.iter().all(Option::is_some), "another peer has its own");
        assert_eq!(kept(&peers), 2);
        held.pop();
        held.push(peers.admit(ONE).unwrap());
        assert!(peers.admit(ONE).is_none());
        drop((held, others));
        assert_eq!(kept(&peers), 0, "whoever has no connection is forgotten");
        assert!(peers.admit(ONE).is_some());
    }

    #[test]
    fn addresses_of_one_peer_count_together() {
        let at = |text: &str| text.parse::<IpAddr>().unwrap();
        let peers = peers(2);
        let _held = [peers.admit(at("2001:db8::1")).unwrap(), peers.admit(at("2001:db8::ffff:2")).unwrap()];
        assert!(peers.admit(at("2001:db8::3")).is_none());
        assert!(peers.admit(at("2001:db8:0:1::3")).is_some(), "the next network");
        let _mapped = [peers.admit(at("::ffff:192.0.2.1")).unwrap(), peers.admit(ONE).unwrap()];
        assert!(peers.admit(ONE).is_none());
    }

    #[test]
    fn no_bound_and_the_loopback_are_not_counted() {
        let peers = peers(1);
        for address in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
            let held: Vec<_> = (0..10).map(|_| peers.admit(address).unwrap()).collect();
            assert_eq!(kept(&peers), 0);
            drop(held);
        }
        let unbound = self::peers(0);
        let held: Vec<_> = (0..10).map(|_| unbound.admit(ONE).unwrap()).collect();
        assert_eq!(kept(&unbound), 0);
        drop(held);
        let strict = Arc::new(Peers::new(1, true));
        let _held = strict.admit(IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap();
        assert!(strict.admit(IpAddr::V4(Ipv4Addr::LOCALHOST)).is_none());
    }

    #[test]
    fn threads_share_one_count() {
        let peers = peers(50);
        let most = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| (0..1_000).filter_map(|_| peers.admit(ONE)).collect::<Vec<_>>()))
                .collect();
            // Nobody gives back before all have asked.
            let held: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            held.iter().map(Vec::len).sum::<usize>()
        });
        assert_eq!(most, 50);
        assert_eq!(kept(&peers), 0);
    }
}
